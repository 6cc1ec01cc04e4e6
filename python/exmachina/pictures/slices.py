"""What a table does: its action over a plane through memory space, and the chart of that."""

from dataclasses import dataclass

import altair as alt
import numpy as np
import numpy.typing as npt
import polars as pl

from exmachina import _core
from exmachina.pictures.axes import Side, log_ticks
from exmachina.pictures.style import INK
from exmachina.pictures.theme import layered
from exmachina.schemes import Table, rules_at

__all__ = ["Axis", "Slice", "slice_chart", "slice_of"]

Floats = npt.NDArray[np.float64]

POINTS = 160
"""Of each axis."""
WIDE = 8
"""A range whose ends are this many times apart is drawn on a logarithmic axis."""
IN_STEP = 0.9
"""Signals with a rank correlation from here on move in step, and a picture over both shows little."""
RATIO = "rtt_ratio"
BAND = 0.13
"""Share of an axis of ratios that shows a ratio of 1."""
GOLDEN = (5**0.5 - 1) / 2
DOTS = 1500
"""Of the memory that was visited."""
WIDTH, HEIGHT = 330, 270


@dataclass(frozen=True)
class Axis:
    """One axis of a picture of memory space."""

    signal: str
    label: str
    memory: Floats
    """Values of the signal, shape (POINTS,); ms, but for rtt_ratio."""
    drawn: Floats
    """Where they are drawn: as they are, but an rtt_ratio as per cent above 1, with a band below for 1 itself."""
    log: bool
    """Whether the axis is logarithmic."""
    ticks: list[tuple[float, str]]
    """Where something is written beside it, and what."""

    def place(self, memory: Floats) -> Floats:
        """Where values of the signal are drawn; those beyond an end at that end, those in the band all over it."""
        if self.signal != RATIO:
            return np.clip(memory, self.drawn[0], self.drawn[-1])
        above, edge = 100 * (memory - 1), self.drawn[self.memory > 1][0]
        spread = np.arange(len(memory)) * GOLDEN % 1
        band = self.drawn[0] * (edge / self.drawn[0]) ** spread
        drawn: Floats = np.where(above < edge, band, np.minimum(above, self.drawn[-1]))
        return drawn


@dataclass(frozen=True)
class Slice:
    """The action of a table over two signals, the others at their medians."""

    x: Axis
    y: Axis
    rule: npt.NDArray[np.int64]
    """Number of the rule, shape (rows, columns)."""
    window_change: Floats
    """What the action adds to a window of `window` packets, shape (rows, columns)."""
    intersend_ms: Floats
    """Least time between two sends, ms, shape (rows, columns)."""
    window: float
    """The median window when a rule was used, packets."""
    at: dict[str, float]
    """Where the other signals of the table are held."""
    visited: Floats
    """Where some of the memory that was visited is drawn, shape (points, 2)."""


def slice_of(table: Table, sample: pl.DataFrame) -> Slice:
    """The slice through the two signals that the rules in `sample` look at most.

    Args:
        table: The table.
        sample: Uses of its rules: rule, window_packets, and memory.
    """
    moving = sample.filter(pl.col(RATIO) > 0)
    moving = sample if moving.is_empty() else moving
    x, y = (_axis(signal, moving[signal].to_numpy()) for signal in _most_used_signals(table, moving))
    point = {signal: _median(moving[signal]) for signal in _core.SIGNALS}
    memory = np.broadcast_to([point[s] for s in _core.SIGNALS], (POINTS, POINTS, len(_core.SIGNALS))).copy()
    memory[:, :, _core.SIGNALS.index(x.signal)] = x.memory[None, :]
    memory[:, :, _core.SIGNALS.index(y.signal)] = y.memory[:, None]
    rule = rules_at(table, memory)
    does = [one.action for one in table.rules]
    actions = np.array([(one.multiple, one.increment_packets, one.intersend_ms) for one in does], dtype=np.float64)
    window = _median(moving["window_packets"])
    dots = moving.gather_every(max(1, len(moving) // DOTS))
    return Slice(
        x=x,
        y=y,
        rule=rule,
        window_change=np.trunc(np.maximum(0, actions[rule, 0] * window + actions[rule, 1])) - window,
        intersend_ms=actions[rule, 2],
        window=window,
        at={s: point[s] for s in table.signals if s not in (x.signal, y.signal)},
        visited=np.stack([axis.place(dots[axis.signal].to_numpy()) for axis in (x, y)], axis=1),
    )


def _most_used_signals(table: Table, sample: pl.DataFrame) -> tuple[str, str]:
    """The signal that most of the rules in use are bounded on, and the next one that does not move in step with it.

    Ties go to signals that are cut more often.
    """
    counts = np.bincount(sample["rule"].to_numpy(), minlength=len(table))
    lowers = np.array([rule.lower for rule in table.rules])
    uppers = np.array([rule.upper for rule in table.rules])
    bounded = counts @ ((lowers > lowers.min(axis=0)) | (uppers < uppers.max(axis=0)))
    cuts = [len(np.unique(column)) for column in lowers.T]
    axes = [_core.SIGNALS.index(signal) for signal in table.signals]
    first, *others = [_core.SIGNALS[axis] for axis in sorted(axes, key=lambda axis: (-bounded[axis], -cuts[axis]))]
    others += [signal for signal in ("ack_ewma", RATIO) if signal not in (first, *others)]
    apart = [signal for signal in others if abs(_correlation(sample, first, signal)) < IN_STEP]
    second = (apart or others)[0]
    # The ratio reads best upwards.
    return (second, first) if first == RATIO else (first, second)


def _correlation(sample: pl.DataFrame, one: str, other: str) -> float:
    """Of the ranks, so that it does not matter how an axis is drawn; 0 where one does not move."""
    value = sample.select(pl.corr(one, other, method="spearman")).item()
    return float(value) if value is not None and np.isfinite(value) else 0.0


def _axis(signal: str, values: Floats) -> Axis:
    """Where the values are: from their 1st percentile to the 99th, logarithmic if they spread widely."""
    if signal == RATIO:
        return _ratio_axis(values)
    lo, hi = np.percentile(values, [1, 99])
    if hi <= lo:
        lo, hi = lo * 0.9, hi * 1.1 + 1e-9
    log = bool(lo > 0 and hi / lo > WIDE)
    memory = np.geomspace(lo, hi, POINTS) if log else np.linspace(lo, hi, POINTS)
    return Axis(signal, f"{signal} (ms)", memory, memory, log, log_ticks(lo, hi) if log else [])


def _ratio_axis(values: Floats) -> Axis:
    """Per cent above 1, logarithmic: the ratio is 1 much of the time, and rules tell it from hardly more."""
    above = 100 * (values[values > 1] - 1)
    lo, hi = np.percentile(above, [2, 99]) if len(above) else (0.1, 10.0)
    lo = max(float(lo), 1e-3)
    hi = max(float(hi), 10 * lo)
    drawn = np.geomspace(lo * (lo / hi) ** BAND, hi, POINTS)
    memory = np.where(drawn < lo, 1.0, 1 + drawn / 100)
    none = (float(np.sqrt(drawn[0] * lo)), "0")
    return Axis(RATIO, "RTT above its minimum (%)", memory, drawn, log=True, ticks=[none, *log_ticks(lo, hi)])


def _median(values: pl.Series) -> float:
    median = values.median()
    return float(median) if isinstance(median, int | float) else 0.0


def slice_chart(
    view: Slice, values: Floats, *, diverging: bool, unit: str, size: tuple[int, int] = (WIDTH, HEIGHT)
) -> alt.LayerChart:
    """One part of the action over two signals, and dots where memory has been.

    Args:
        view: The slice.
        values: `window_change` or `intersend_ms` of it.
        diverging: Whether they are on both sides of 0: blue above it, red below.
        unit: Of the values.
        size: Pixels.
    """
    most = max(1.0, float(np.abs(values).max()))
    scale = (
        alt.Scale(scheme="redblue", domain=[-most, most]) if diverging else alt.Scale(scheme="viridis", reverse=True)
    )
    legend = alt.Legend(title=unit, gradientLength=size[1] - 30, gradientThickness=12)
    x, y = _channel("x", view.x), _channel("y", view.y)
    tooltip = [alt.Tooltip("rule:Q"), alt.Tooltip("value:Q", title=unit, format=".4~r")]
    boxes = alt.Chart(_boxes(view, values)).mark_rect(clip=True).encode(x=x, y=y, x2="x2", y2="y2")
    dots = pl.DataFrame({"x": view.visited[:, 0], "y": view.visited[:, 1]})
    layers = [
        boxes.encode(alt.Color("value:Q", scale=scale, legend=legend), tooltip=tooltip),
        alt.Chart(dots).mark_circle(color=INK, size=5, opacity=0.2, tooltip=None, clip=True).encode(x=x, y=y),
    ]
    return layered(layers, size)


def _boxes(view: Slice, values: Floats) -> pl.DataFrame:
    """A box for each rule: as a rule is a box of memory, what a plane cuts of it is a rectangle."""
    across, up = _edges(view.x), _edges(view.y)
    rows = []
    for rule in np.unique(view.rule):
        ys, xs = np.nonzero(view.rule == rule)
        sides = {"x": across[xs.min()], "x2": across[xs.max() + 1], "y": up[ys.min()], "y2": up[ys.max() + 1]}
        rows.append({"rule": int(rule), "value": float(values[ys[0], xs[0]]), **sides})
    return pl.DataFrame(rows)


def _edges(axis: Axis) -> Floats:
    """Where cells around drawn points end: half-way, and at the ends of the axis; shape (POINTS + 1,)."""
    drawn = np.log(axis.drawn) if axis.log else axis.drawn
    edges = np.concatenate([drawn[:1], (drawn[1:] + drawn[:-1]) / 2, drawn[-1:]])
    return np.exp(edges) if axis.log else edges


def _channel(side: str, axis: Axis) -> alt.X | alt.Y:
    ends = [float(end) for end in axis.drawn[[0, -1]]]
    scale = Side(ends[0], ends[1], 1.0, axis.log).scale()
    labels = alt.Axis(grid=False) if not axis.ticks else _named_ticks(axis.ticks)
    kind = alt.X if side == "x" else alt.Y
    return kind(side, type="quantitative", scale=scale, axis=labels, title=axis.label)


def _named_ticks(ticks: list[tuple[float, str]]) -> alt.Axis:
    """An axis with something else than its numbers beside it: one of them stands for a ratio of 1."""
    names = "".join(f"abs(datum.value / {at!r} - 1) < 1e-6 ? '{name}' : " for at, name in ticks)
    return alt.Axis(grid=False, values=[at for at, _ in ticks], labelExpr=f"{names}''")
