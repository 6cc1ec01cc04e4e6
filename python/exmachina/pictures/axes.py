"""Axes whose ends are known when a chart is described, so that labels can be placed by the pixel before it is drawn."""

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt
import numpy as np
import numpy.typing as npt
import polars as pl

from exmachina.pictures.labels import place_labels
from exmachina.pictures.style import GROUND

__all__ = ["Floats", "Plane", "Side", "log_ticks", "octaves", "span"]

Floats = npt.NDArray[np.float64]

MANY = 300
"""An axis whose ends are this many times apart has no room for more than its powers of ten."""
NARROW = 3
"""Fewer than this many labels are no scale."""
FINER = (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9)
"""Then there are these in each decade, the first that are enough."""
MOST = 6
"""Labels of an axis that is shorter than all these."""
MOST_OCTAVES = 8
LETTER, LINE = 0.6, 1.25
"""Width of a letter and height of a line of a bold label, in font sizes."""
LARGE = 2e4
"""Axes that go further have k and M in their numbers."""
GAP = 9.0
"""Between a point and a label beside it, pixels."""
LEADER = 12.0
"""A label further from its point than this has a line to it, pixels."""
FONT = 12
"""Of names beside points, pixels."""
NAME = {"name": pl.String}


@dataclass(frozen=True)
class Side:
    """One axis: the values at its ends, and its length."""

    start: float
    """At the left, or at the bottom; above `end` where the axis is reversed."""
    end: float
    pixels: float
    log: bool = False

    def place(self, values: Floats) -> Floats:
        """Pixels from the start."""
        start, end = self._ends()
        at = np.log10(values) if self.log else values
        placed: Floats = (at - start) / (end - start) * self.pixels
        return placed

    def value(self, placed: Floats) -> Floats:
        """What is at so many pixels from the start."""
        start, end = self._ends()
        found = np.asarray(start + placed / self.pixels * (end - start), dtype=np.float64)
        return np.asarray(10**found) if self.log else found

    def _ends(self) -> tuple[float, float]:
        return (float(np.log10(self.start)), float(np.log10(self.end))) if self.log else (self.start, self.end)

    def scale(self) -> alt.Scale:
        """The scale of the chart's axis."""
        domain = [self.start, self.end]
        if self.log:
            return alt.Scale(type="log", domain=domain, nice=False)
        return alt.Scale(domain=domain, nice=False, zero=False)

    def axis(self) -> alt.Axis:
        """Labels at 1, 2 and 5 in each decade of a logarithmic axis; at more where it is shorter than one."""
        if not self.log:
            return alt.Axis(tickCount=6)
        low, high = sorted((self.start, self.end))
        ticks = [at for at, _ in log_ticks(low, high)]
        for digits in FINER:
            if len(ticks) < NARROW:
                ticks = _at_digits(low, high, digits)
        if len(ticks) < NARROW:
            step = 10.0 ** np.floor(np.log10((high - low) / NARROW))
            step *= next(times for times in (1, 2, 5, 10) if (high - low) / (times * step) <= MOST)
            ticks = (step * np.arange(np.ceil(low / step), high / step)).tolist()
        return alt.Axis(values=ticks, format="~s" if high > LARGE else "~r")


def span(values: Floats, pixels: float, *, log: bool = False, reverse: bool = False, margin: float = 0.04) -> Side:
    """An axis for values, with a margin at both ends, as a share of its length."""
    known = values[np.isfinite(values)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (1.0, 10.0)
    if log:
        low, high = np.log10(low), np.log10(high)
    more = margin * (high - low) or 0.1 * max(1.0, abs(low))
    low, high = low - more, high + more
    ends = (10**low, 10**high) if log else (low, high)
    first, last = map(float, ends[::-1] if reverse else ends)
    return Side(first, last, pixels, log)


@dataclass(frozen=True)
class Plane:
    """Two axes."""

    x: Side
    y: Side

    def pixels(self, points: Floats) -> Floats:
        """Where points are drawn, from the lower left corner; shape (n, 2)."""
        return np.stack([self.x.place(points[:, 0]), self.y.place(points[:, 1])], axis=1)

    def labels(
        self, points: Floats, words: Sequence[str], *, size: float, lines: Floats | None = None
    ) -> tuple[Floats, Floats]:
        """Where labels of points go.

        Args:
            points: Shape (n, 2).
            words: Of each point, one line.
            size: Of the font, pixels.
            lines: Points that are better not covered, shape (m, 2).

        Returns:
            The centres of labels, and the ends of lines to them: those are the points themselves where a label is
            beside its point. Both have the shape (n, 2).
        """
        if not len(points):
            return points, points
        at = self.pixels(points)
        sizes = np.array([(LETTER * size * len(text), LINE * size) for text in words])
        frame = (0.0, 0.0, self.x.pixels, self.y.pixels)
        dots = None if lines is None else self.pixels(lines)
        centres = place_labels(at, sizes, frame, lines=dots, gap=GAP)
        # A line ends at the nearest side of its label.
        ends = np.clip(at, centres - sizes / 2, centres + sizes / 2)
        near = np.linalg.norm(ends - at, axis=1) <= LEADER
        ends = np.where(near[:, None], at, ends)
        return self._values(centres), self._values(ends)

    def channels(self, across: str, up: str) -> tuple[alt.X, alt.Y]:
        """What encodes the columns `x` and `y`, with titles."""
        x, y = self.x, self.y
        return (
            alt.X("x", type="quantitative", scale=x.scale(), axis=x.axis(), title=across),
            alt.Y("y", type="quantitative", scale=y.scale(), axis=y.axis(), title=up),
        )

    def named(
        self,
        points: Floats,
        names: Sequence[str],
        place: tuple[alt.X, alt.Y],
        colour: alt.Color,
        *,
        avoid: Floats | None = None,
        size: float = FONT,
    ) -> list[alt.Chart]:
        """Names of points as layers of a chart, where they cover neither each other nor a point.

        Args:
            points: Shape (n, 2).
            names: Of each point.
            place: The channels of the other layers.
            colour: Of lines to names that are far, by the column `name`; names are as dark as all text.
            avoid: As `lines` of `labels`.
            size: Of the font, pixels.
        """
        centres, ends = self.labels(points, names, size=size, lines=avoid)
        at = {"name": names, "x": centres[:, 0], "y": centres[:, 1]}
        lines = {"name": names, "x": ends[:, 0], "y": ends[:, 1], "x2": points[:, 0], "y2": points[:, 1]}
        leaders = alt.Chart(pl.DataFrame(lines, schema_overrides=NAME)).mark_rule(strokeWidth=0.8)
        words = alt.Chart(pl.DataFrame(at, schema_overrides=NAME))
        halo = words.mark_text(fontSize=size, fontWeight="bold", stroke=GROUND, strokeWidth=3, opacity=0.8)
        return [
            leaders.encode(*place, colour, x2="x2", y2="y2"),
            halo.encode(*place, color=alt.value(GROUND), text="name:N"),
            words.mark_text(fontSize=size, fontWeight="bold").encode(*place, text="name:N"),
        ]

    def _values(self, placed: Floats) -> Floats:
        return np.stack([self.x.value(placed[:, 0]), self.y.value(placed[:, 1])], axis=1)


def log_ticks(low: float, high: float) -> list[tuple[float, str]]:
    """Round numbers between the ends of a logarithmic axis, not too many of them."""
    digits = (1, 2, 5) if high / low < MANY else (1,)
    return [(number, f"{number:g}") for number in _at_digits(low, high, digits)]


def octaves(side: Side) -> list[float]:
    """The powers of two of an axis, as Remy'13 labels its delays; every other one, or fewer, where there are many."""
    low, high = sorted((side.start, side.end))
    powers = np.arange(np.ceil(np.log2(low)), np.floor(np.log2(high)) + 1)
    step = -(-len(powers) // MOST_OCTAVES) or 1
    return [float(2.0**power) for power in powers if power % step == 0]


def _at_digits(low: float, high: float, digits: Sequence[float]) -> list[float]:
    """These numbers, and these times powers of ten, between two ends."""
    decades = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
    numbers = [digit * 10.0**decade for decade in decades for digit in digits]
    return [number for number in numbers if low <= number <= high]
