"""Where the values of a passport's axes are drawn, and from where to where designed ranges are shaded."""

from collections.abc import Mapping
from dataclasses import dataclass

import altair as alt
import numpy as np
import polars as pl

from exmachina.networks import Span
from exmachina.pictures.axes import Side, span
from exmachina.probing import Axis, Passport

__all__ = ["Places", "designed_words", "places_of", "shades_of"]

LEAST_SHADE = 7.0
"""Of a designed range, pixels."""
ZERO = 3.0
"""Zero stands so many times below the least value of a logarithmic axis."""


@dataclass(frozen=True)
class Places:
    """Where the values of an axis of numbers are drawn."""

    side: Side
    at: Mapping[float, float]
    zero: float | None
    """Where 0 is, on a logarithmic axis that has it."""

    @classmethod
    def of(cls, axis: Axis, values: list[float], pixels: float) -> "Places":
        """On an axis of so many pixels."""
        if axis.scale == "linear":
            return cls(span(np.array(values), pixels), {value: value for value in values}, None)
        least = min(value for value in values if value > 0)
        at = {value: value if value > 0 else least / ZERO for value in values}
        zero = least / ZERO if 0 in at else None
        return cls(span(np.array(list(at.values())), pixels, log=True), at, zero)

    def axis(self) -> alt.Axis:
        """Labels of the axis, with one at 0."""
        if self.zero is None:
            return self.side.axis()
        known = self.side.axis().to_dict()
        values = [self.zero, *(at for at in known["values"] if at > ZERO / 2 * self.zero)]
        words = f"datum.value < {1.01 * self.zero} ? '0' : format(datum.value, '{known['format']}')"
        return alt.Axis(values=values, labelExpr=words)

    def band(self, designed: Span) -> tuple[float, float] | None:
        """From where to where a range is shaded; none where all of it is beyond the end of the axis."""
        low, high = (self._pixels(end) for end in (designed.low, designed.high))
        if low > self.side.pixels or high < 0:
            return None
        widened = max(0.0, LEAST_SHADE - (high - low)) / 2
        ends = np.array([max(0.0, low - widened), min(self.side.pixels, high + widened)])
        start, end = map(float, self.side.value(ends))
        return start, end

    def _pixels(self, value: float) -> float:
        if np.isinf(value):
            return self.side.pixels  # at the end of the axis, wherever that is
        if self.side.log and value <= 0:
            return float(self.side.place(np.array([self.zero]))[0]) if self.zero is not None else 0.0
        return float(self.side.place(np.array([value]))[0])


def places_of(passport: Passport, axis: Axis, pixels: float) -> Places:
    """Of the values that were probed."""
    values = passport.frame.filter(axis=axis.name)["value"].drop_nulls().unique().sort()
    return Places.of(axis, values.to_list(), pixels)


def shades_of(passport: Passport, axis: Axis, pixels: float) -> pl.DataFrame:
    """The ranges that are shaded: name, from and to, as places on the axis."""
    places = places_of(passport, axis, pixels)
    bands = {
        name: places.band(designed)
        for name, ranges in passport.designed.items()
        if (designed := axis.span(ranges)) is not None
    }
    known = [(name, *band) for name, band in bands.items() if band is not None]
    schema = {"name": pl.String, "from": pl.Float64, "to": pl.Float64}
    return pl.DataFrame(known, schema=schema, orient="row")


def designed_words(passport: Passport, axis: Axis) -> str:
    """For what each table was designed, in words; empty where nothing is known."""
    words = []
    for name, ranges in passport.designed.items():
        if axis.scale == "names":
            beside = ranges.neighbours if axis.field is not None else None
            told = None if beside is None else ", ".join(beside) or "none"
        else:
            designed = axis.span(ranges)
            told = None if designed is None else designed.words().replace("inf", "∞")
        words += [] if told is None else [f"{name}: {told}"]
    return f"Designed for: {'; '.join(words)}." if words else ""
