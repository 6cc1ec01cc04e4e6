"""Where numbers are drawn along an axis, and ranges of them: 0 has a place on a logarithmic one, too."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import altair as alt
import numpy as np

from exmachina.networks import Span
from exmachina.pictures.axes import Side, span

__all__ = ["Places"]

LEAST_SHADE = 7.0
"""Of a designed range, pixels."""
ZERO = 3.0
"""Zero stands so many times below the least value of a logarithmic axis."""


@dataclass(frozen=True)
class Places:
    """Where the values of an axis are drawn."""

    side: Side
    at: Mapping[float, float]
    zero: float | None
    """Where 0 is, on a logarithmic axis that has it."""

    @classmethod
    def of(cls, values: Sequence[float], pixels: float, *, log: bool) -> "Places":
        """On an axis of so many pixels; of a logarithmic one, values are at least 0, and not all of them are 0."""
        if not log:
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
