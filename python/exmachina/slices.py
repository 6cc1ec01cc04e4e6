"""A picture of what a table does: its action over a plane through memory space."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from exmachina import _core
from exmachina.table import Table

__all__ = ["Slice", "rules_at", "slice_of"]

Floats = npt.NDArray[np.float64]

POINTS = 160
"""Of each axis."""
DOTS = 1500
"""Of the memory that was visited."""


@dataclass(frozen=True)
class Slice:
    """The action of a table over two signals, the others at their medians."""

    x_signal: str
    y_signal: str
    x: Floats
    """Values of the x signal, shape (columns,); ms, but for rtt_ratio."""
    y: Floats
    """Values of the y signal, shape (rows,)."""
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
    """Some of the memory that was visited, shape (points, 2)."""

    @property
    def log_x(self) -> bool:
        """Whether the x axis is logarithmic."""
        return _is_log(self.x)

    @property
    def log_y(self) -> bool:
        """Whether the y axis is logarithmic."""
        return _is_log(self.y)


def slice_of(table: Table, sample: pl.DataFrame) -> Slice:
    """The slice through the two signals that the rules in `sample` look at most.

    Args:
        table: The table.
        sample: Uses of its rules: rule, window_packets, and memory.
    """
    moving = sample.filter(pl.col("rtt_ratio") > 0)
    moving = sample if moving.is_empty() else moving
    x_signal, y_signal = _most_used_signals(table, moving)
    x, y = _axis(moving[x_signal].to_numpy()), _axis(moving[y_signal].to_numpy())
    point = {signal: _median(moving[signal]) for signal in _core.SIGNALS}
    memory = np.broadcast_to([point[s] for s in _core.SIGNALS], (len(y), len(x), len(_core.SIGNALS))).copy()
    memory[:, :, _core.SIGNALS.index(x_signal)] = x[None, :]
    memory[:, :, _core.SIGNALS.index(y_signal)] = y[:, None]
    rule = rules_at(table, memory)
    actions = np.array([action for _, _, action in table.rules], dtype=np.float64)
    window = _median(moving["window_packets"])
    dots = moving.gather_every(max(1, len(moving) // DOTS)).select(x_signal, y_signal)
    return Slice(
        x_signal=x_signal,
        y_signal=y_signal,
        x=x,
        y=y,
        rule=rule,
        window_change=np.trunc(np.maximum(0, actions[rule, 0] * window + actions[rule, 1])) - window,
        intersend_ms=actions[rule, 2],
        window=window,
        at={s: point[s] for s in table.signals if s not in (x_signal, y_signal)},
        visited=dots.to_numpy(),
    )


def rules_at(table: Table, memory: Floats) -> npt.NDArray[np.int64]:
    """The number of the rule at each memory; memory beyond the domain is clamped to it.

    Args:
        table: The table.
        memory: Shape (..., 6), signals in the order of `exmachina.SIGNALS`, times in ms.
    """
    found = np.zeros(memory.shape[:-1], dtype=np.int64)
    lowers = np.array([lower for lower, _, _ in table.rules])
    uppers = np.array([upper for _, upper, _ in table.rules])
    lowers = np.where(lowers == lowers.min(axis=0), -np.inf, lowers)
    uppers = np.where(uppers == uppers.max(axis=0), np.inf, uppers)
    for rule, (lower, upper) in enumerate(zip(lowers, uppers, strict=True)):
        found[np.all((lower <= memory) & (memory < upper), axis=-1)] = rule
    return found


def _most_used_signals(table: Table, sample: pl.DataFrame) -> tuple[str, str]:
    """The signals that most of the rules in use are bounded on; ties go to those that are cut most often."""
    counts = np.bincount(sample["rule"].to_numpy(), minlength=len(table))
    lowers = np.array([lower for lower, _, _ in table.rules])
    uppers = np.array([upper for _, upper, _ in table.rules])
    bounded = (lowers > lowers.min(axis=0)) | (uppers < uppers.max(axis=0))
    cuts = [len(np.unique(lowers[:, axis])) for axis in range(len(_core.SIGNALS))]
    weight = counts @ bounded
    order = sorted(table.signals, key=lambda s: (-weight[_core.SIGNALS.index(s)], -cuts[_core.SIGNALS.index(s)]))
    order += [s for s in ("ack_ewma", "rtt_ratio") if s not in order]
    # The ratio reads best upwards.
    first, second = order[:2]
    return (second, first) if first == "rtt_ratio" else (first, second)


def _axis(values: Floats) -> Floats:
    """Where the values are: from their 1st percentile to the 99th, logarithmic if they spread widely."""
    lo, hi = np.percentile(values, [1, 99])
    if hi <= lo:
        lo, hi = lo * 0.9, hi * 1.1 + 1e-9
    if lo > 0 and hi / lo > 8:  # noqa: PLR2004
        return np.geomspace(lo, hi, POINTS)
    return np.linspace(lo, hi, POINTS)


def _is_log(axis: Floats) -> bool:
    return bool(axis[0] > 0 and not np.isclose(axis[1] - axis[0], axis[-1] - axis[-2]))


def _median(values: pl.Series) -> float:
    median = values.median()
    return float(median) if isinstance(median, int | float) else 0.0
