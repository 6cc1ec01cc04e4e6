"""An engine for tests that computes as others do: some units at once, and not in their order."""

import threading
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from exmachina import _core
from exmachina.engines import Computed, InThisThread

__all__ = ["Others"]


class Others(InThisThread):
    """Three workers of two threads: of each three units, the last is computed first. Takes so long as it is told."""

    unit_s = 2.0
    places = 3
    threads = 2

    def __init__(self, seconds_of_a_run: float = 0.1) -> None:
        super().__init__()
        self.seconds_of_a_run = seconds_of_a_run
        self.units: list[Any] = []
        self.closed = False

    def map(
        self, work: Any, shared: Any, units: Iterable[Any], stopping: threading.Event | None = None
    ) -> Iterator[Any]:
        waiting = iter(units)
        while some := list(islice(waiting, self.places)):
            assert stopping is None or not stopping.is_set()
            self.units += some
            results = {unit: work(shared, unit, self.here, _core.Stop()) for unit in reversed(some)}
            for unit in some:
                yield Computed(unit, results[unit], self.seconds_of_a_run * (unit.last - unit.first))

    def close(self) -> None:
        self.closed = True
