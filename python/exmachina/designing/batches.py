"""Batches of a search's runs, made by workers of an engine. What they hold is the core's business: here it is bytes."""

import threading
from collections.abc import Iterator, Sequence

from exmachina import _core
from exmachina.engines import Engine

__all__ = ["Batches"]

UNIT_S = 4.0
"""The largest units take a worker about so long, s; the last ones of a batch are smaller."""


class Batches:
    """Others who make the runs of large batches (`_core.Elsewhere`)."""

    def __init__(self, engine: Engine, stopping: threading.Event) -> None:
        self.engine, self.stopping = engine, stopping
        self.pace = 1.0
        """CPU time that the core expects of a batch, over what the last one took. Only sizes follow from it."""

    def size(self) -> tuple[int, float]:
        """For how many to cut a batch, and the most of a unit, in CPU time that the core expects."""
        return self.engine.places, UNIT_S * self.engine.threads * self.pace

    def run(self, shared: bytes, units: Sequence[tuple[bytes, int]], cost_s: float) -> Iterator[bytes]:
        """What came of units, in order; ends early once the search is stopped."""
        spent_s = 0.0
        for computed in self.engine.map(_unit, shared, units, self.stopping):
            spent_s += computed.seconds * self.engine.threads
            yield computed.result
        if spent_s > 0 and not self.stopping.is_set():
            self.pace = cost_s / spent_s


def _unit(shared: bytes, unit: tuple[bytes, int], workers: _core.Workers, stop: _core.Stop) -> bytes:
    return _core.run_unit(shared, unit[0], workers, stop)
