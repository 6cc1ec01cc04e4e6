"""The protocol of those who compute, and those of this process.

Work is a function and units of it. What comes of a unit depends on the unit alone, so that any engine gives the same,
however many units are computed at once and whoever computes them, and in the order of the units.
"""

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeAlias, TypeVar

from exmachina import _core
from exmachina.interrupts import interruptible

__all__ = ["Computed", "Engine", "Here", "InThisThread", "Work"]

S = TypeVar("S")
U = TypeVar("U")
R = TypeVar("R")

Work: TypeAlias = Callable[[S, U, _core.Workers, _core.Stop], R]
"""Computes a unit from what all units share, on some threads, until it is told to stop: a function of a module, which
others can import."""


@dataclass(frozen=True)
class Computed(Generic[U, R]):
    """What came of a unit."""

    unit: U
    result: R
    seconds: float
    """What it took whoever computed it."""


class Engine(ABC):
    """Somebody who computes.

    >>> with exmachina.opened(exmachina.EngineOptions(threads=1)) as engine:
    ...     engine.workers, engine.places, engine.threads
    (0, 1, 1)
    """

    unit_s: float
    """A unit should take about so long, s."""
    here: _core.Workers
    """This process's own threads, for what is not worth handing on."""

    @property
    def words(self) -> str:
        """What a person should know of it at the beginning; may be empty."""
        return ""

    @property
    def workers(self) -> int:
        """How many others there are now; none where this process computes."""
        return 0

    @property
    def elsewhere_s(self) -> float:
        """CPU time that others have spent on units, s."""
        return 0.0

    @property
    def places(self) -> int:
        """How many units are computed at once."""
        return 1

    @property
    def threads(self) -> int:
        """On how many threads each."""
        return self.here.threads

    @abstractmethod
    def map(
        self, work: Work[S, U, R], shared: S, units: Iterable[U], stopping: threading.Event | None = None
    ) -> Iterator[Computed[U, R]]:
        """Computes units, and gives what comes of them in their order.

        Args:
            work: Computes a unit.
            shared: What all units need; others are sent it once.
            units: Asked for one by one, when there is room for the next.
            stopping: Once it is set, what is under way is dropped and no more comes.

        Raises:
            ClusterError: If others should compute, and cannot.
        """

    def close(self) -> None:  # noqa: B027 (most have nothing to do)
        """Lets go of what it holds."""


class Here(Engine):
    """This process's threads: one unit at a time, on all of them."""

    unit_s = 0.3

    def __init__(self, workers: _core.Workers) -> None:
        self.here = workers

    def map(
        self, work: Work[S, U, R], shared: S, units: Iterable[U], stopping: threading.Event | None = None
    ) -> Iterator[Computed[U, R]]:
        """See `Engine.map`; ctrl-C is heard in the middle of a unit."""
        for unit in units:
            if stopping is not None and stopping.is_set():
                return
            began = time.monotonic()
            result = interruptible(partial(work, shared, unit, self.here))
            yield Computed(unit, result, time.monotonic() - began)


class InThisThread(Engine):
    """The thread that asks: for what calls a person's classes, which ctrl-C reaches there."""

    unit_s = 0.3

    def __init__(self) -> None:
        self.here = _core.Workers(1)

    def map(
        self, work: Work[S, U, R], shared: S, units: Iterable[U], stopping: threading.Event | None = None
    ) -> Iterator[Computed[U, R]]:
        """See `Engine.map`."""
        for unit in units:
            if stopping is not None and stopping.is_set():
                return
            began = time.monotonic()
            result = work(shared, unit, self.here, _core.Stop())
            yield Computed(unit, result, time.monotonic() - began)
