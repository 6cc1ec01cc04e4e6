"""The networks within limits, as points of a unit cube and choices."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from exmachina.errors import OptionError
from exmachina.hunting.limits import Limits
from exmachina.networks import Span
from exmachina.probing import AXES, Axis, Base

__all__ = ["Space"]

Point = tuple[NDArray[np.float64], tuple[int, ...]]
"""A point of the cube, and of each axis of names the number of the choice."""
END = 0.05
"""This part of a side of the cube is the end of an axis, at either end: ends are met as any other value is."""
NONE_AT_ALL = 0.25
"""The same of a logarithmic axis that begins at 0, which is met as often as this."""
DIGITS = 3


class Space:
    """The cube of an axis each of numbers, and the choices of axes of names."""

    def __init__(self, limits: Limits) -> None:
        self.limits, self.plain = limits, limits.plain
        free = [(AXES[name], limits.reaches[name]) for name in limits.free]
        self.numbers: list[tuple[Axis, Span]] = [(axis, reach) for axis, reach in free if isinstance(reach, Span)]
        self.names: list[tuple[Axis, tuple[str, ...]]] = [
            (axis, reach) for axis, reach in free if isinstance(reach, tuple)
        ]
        if not free:
            raise OptionError(f"limits: {limits.file}: expected an axis with more than one value")

    @property
    def population(self) -> int:
        """How many points a generation of a climb has (Hansen's default for so many dimensions)."""
        return 4 + int(3 * np.log(len(self.numbers) + len(self.names)))

    @property
    def choices(self) -> list[int]:
        """How many there are, of each axis of names."""
        return [len(names) for _, names in self.names]

    def network(self, point: Point) -> Base:
        """The network that a point stands for: values of three digits, as its scenario has them."""
        network, (cube, chosen) = self.plain, point
        for (axis, span), share in zip(self.numbers, cube, strict=True):
            network = axis.at(network, value_at(axis, span, float(share)))
        for (axis, names), number in zip(self.names, chosen, strict=True):
            network = axis.at(network, names[number])
        return self.limits.with_room(network)

    def scattered(self, count: int, seed: int) -> list[Point]:
        """So many points, evenly spread along each axis (a Latin hypercube)."""
        from scipy.stats import qmc  # noqa: PLC0415 (takes a while to load)

        sides = len(self.numbers) + len(self.names)
        drawn = qmc.LatinHypercube(sides, rng=seed).random(count)
        split = len(self.numbers)
        return [(row[:split], self._chosen(row[split:])) for row in drawn]

    def _chosen(self, shares: Sequence[float] | NDArray[np.float64]) -> tuple[int, ...]:
        return tuple(int(share * many) for share, many in zip(shares, self.choices, strict=True))


def value_at(axis: Axis, span: Span, share: float) -> float:
    """The value at this part of the side of an axis."""
    if axis.scale == "linear":
        inner = (share - END) / (1 - 2 * END)
        value = span.low + (span.high - span.low) * min(1.0, max(0.0, inner))
    else:
        first, least = (END, span.low) if span.low > 0 else (NONE_AT_ALL, _least(axis, span))
        if span.low == 0 and share < NONE_AT_ALL:
            return 0.0
        inner = min(1.0, max(0.0, (share - first) / (1 - END - first)))
        value = least * (span.high / least) ** inner
    if axis.whole:
        return float(round(value))
    return min(span.high, max(span.low, float(f"{value:.{DIGITS}g}")))


def _least(axis: Axis, span: Span) -> float:
    """Of an axis that begins at 0, the least value beside that: the least that a passport has."""
    values = [value for value in axis.values(Base(), []) if not isinstance(value, str) and 0 < value < span.high]
    return min(values, default=span.high / 10)
