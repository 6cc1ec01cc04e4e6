"""Series of runs, cut into units: as many runs at a time as take whoever computes them a moment."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from exmachina.engines.engine import Computed, Engine

__all__ = ["Part", "Parts"]

ROUNDS = 2
"""Units that there are at least for each place, of what is left: all of them are busy until near the end."""


@dataclass(frozen=True)
class Part:
    """Some runs of a series."""

    series: int
    first: int
    last: int
    """Not included."""


class Parts:
    """Units of several series, one after another. Sizes grow with what is learnt; results do not depend on them."""

    def __init__(self, engine: Engine, series: Sequence[tuple[int, int]]) -> None:
        """`series` says from which run each goes to which, which is not included."""
        self.engine, self.series = engine, series
        self.now, self.size = 0, 1

    def __iter__(self) -> Iterator[Part]:
        left = sum(last - first for first, last in self.series)
        for number, (first, last) in enumerate(self.series):
            self.now, self.size, at = number, self.engine.threads, first
            while at < last:
                share = -(-left // (ROUNDS * self.engine.places))
                end = min(last, at + min(self.size, max(share, self.engine.threads)))
                yield Part(self.now, at, end)
                left, at = left - (end - at), end

    def learn(self, computed: Computed[Part, Any]) -> None:
        """Makes units larger if this one took less than they should."""
        part = computed.unit
        if part.series == self.now and computed.seconds < self.engine.unit_s / 2:
            self.size = max(self.size, 2 * (part.last - part.first))
