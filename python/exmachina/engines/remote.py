"""Workers of a Dask cluster as an engine: units go out some at a time, and come back in order, whoever dies meanwhile.

Dask itself runs a unit again whose worker has died. Here is what it leaves to others: a unit all of whose workers died,
one whose worker hangs or comes late, and a scheduler that restarts or has gone.
"""

import logging
import pickle
import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from hashlib import sha256
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from distributed import Client, Future, KilledWorker

from exmachina import _core
from exmachina.engines.engine import Computed, Engine, Work
from exmachina.engines.staff import Staff
from exmachina.engines.worker import Report, program, run, sent
from exmachina.errors import ClusterError

__all__ = ["Remote"]

S = TypeVar("S")
U = TypeVar("U")
R = TypeVar("R")

log = logging.getLogger("exmachina.engines")
POLL_S = 0.2
"""How often is looked whether to stop, or whether somebody is late."""
INTRODUCTION_S = 5.0
"""So long is waited for workers to say who they are once the first has."""
AHEAD = 2
"""Units that are out for each place: the next one is there when a worker has done one."""
LATE_S = 60.0
"""A unit that is out for so long, and for this many times as long as any took, goes to another worker as well."""
LATE_TIMES = 10.0
MOST_LOSSES = 10
"""A unit that was lost so often is given up: whoever computes it may die of it."""


class Remote(Engine):
    """Workers of a Dask cluster."""

    unit_s = 2.0

    def __init__(self, client: Client, here: _core.Workers, threads: int | None, staff: Staff) -> None:
        """`threads` are those of each worker, all its processors if none."""
        self.client, self.here, self.asked_threads, self.staff = client, here, threads, staff
        self.longest_s = self.spent_s = 0.0
        self.kept: tuple[str, Future[Any]] | None = None
        self.task = sent(run)

    def keep(self, shared: bytes) -> Future[Any]:
        """What all units of a call share: it stays with workers that had it until a call shares something else."""
        # A name of its own, as Dask expects of tasks with one that they take equally long.
        key = f"shared-{sha256(shared).hexdigest()}"
        if self.kept is None or self.kept[0] != key or self.kept[1].status not in {"pending", "finished"}:
            self.kept = (key, self.client.submit(bytes, shared, key=key))
        return self.kept[1]

    @property
    def words(self) -> str:
        """Where it is, who is there, and the dashboard."""
        scheduler = self.client.scheduler.address if self.client.scheduler is not None else "cluster"
        return f"{scheduler}: {self.workers} workers; dashboard at {self.client.dashboard_link}"

    @property
    def workers(self) -> int:
        """Those that are there."""
        return self.staff.count

    @property
    def elsewhere_s(self) -> float:
        """That of workers' processes while they had a unit."""
        return self.spent_s

    @property
    def places(self) -> int:
        """One for each thread of Dask's; and one where all workers have died, for whoever comes next."""
        return max(1, self.staff.places)

    @property
    def threads(self) -> int:
        """On how many threads a worker computes a unit."""
        return self.asked_threads or self.staff.processors

    def wait_for_workers(self) -> None:
        """Waits for the first one, and a moment for those that are there already.

        Raises:
            ClusterError: If nobody comes, or one of another version is there.
        """
        deadline = None
        while deadline is None or not (self.staff.all_known or time.monotonic() > deadline):
            self.staff.look()
            if self.workers and deadline is None:
                deadline = time.monotonic() + INTRODUCTION_S
            time.sleep(POLL_S / 4)
        log.info("%s", self.words)

    def map(
        self, work: Work[S, U, R], shared: S, units: Iterable[U], stopping: threading.Event | None = None
    ) -> Iterator[Computed[U, R]]:
        """See `Engine.map`."""
        out, rest, all_out = _Out(self, pickle.dumps(shared)), iter(units), False
        arrived: dict[int, Computed[U, R]] = {}
        following = 0
        try:
            while stopping is None or not stopping.is_set():
                while not all_out and out.count < AHEAD * self.places:
                    unit = next(rest, out)
                    if unit is out:
                        all_out = True
                    else:
                        out.send(pickle.dumps((work, unit)), unit)
                if all_out and out.count == 0:
                    return
                arrived.update(out.some())
                while following in arrived:
                    yield arrived.pop(following)
                    following += 1
        finally:
            out.cancel()


@dataclass
class _Unit:
    """A unit that is out: the same work may be with several workers."""

    task: bytes
    unit: Any
    since: float = field(default_factory=time.monotonic)
    futures: list[Future[Any]] = field(default_factory=list)
    losses: int = 0


class _Out:
    """What is out of the units of one call."""

    def __init__(self, engine: Remote, shared: bytes) -> None:
        self.engine, self.client, self.shared = engine, engine.client, shared
        self.key = sha256(shared).hexdigest()[:8]
        self.out: dict[int, _Unit] = {}
        self.total = 0
        self.done: SimpleQueue[tuple[int, Future[Any]]] = SimpleQueue()

    @property
    def count(self) -> int:
        return len(self.out)

    def send(self, task: bytes, unit: object) -> None:
        """Sends the next unit."""
        self.out[self.total] = _Unit(task, unit)
        self.total += 1
        self._submit(self.total - 1, self.engine.keep(self.shared))

    def _submit(self, number: int, shared: Future[Any] | bytes) -> None:
        self.engine.staff.check()
        one, to = self.out[number], self.engine.staff.trusted()
        future = self.client.submit(
            self.engine.task, program(), one.task, shared, self.engine.asked_threads, pure=False, workers=to
        )
        one.futures.append(future)
        one.since = time.monotonic()
        future.add_done_callback(lambda done: self.done.put((number, done)))

    def some(self) -> Iterator[tuple[int, Computed[Any, Any]]]:
        """What has come back, after a moment at most."""
        try:
            number, future = self.done.get(timeout=POLL_S)
            while True:
                report = self._report(number, future)
                if report is not None:
                    yield number, self._computed(number, report)
                number, future = self.done.get_nowait()
        except Empty:
            self._hurry()
        self.engine.staff.look()

    def _computed(self, number: int, report: Report) -> Computed[Any, Any]:
        one = self.out.pop(number)
        log.info("%s: unit %d of %s, %.2f s", report.worker, number, self.key, report.seconds)
        self.engine.longest_s = max(self.engine.longest_s, report.seconds)
        self.engine.spent_s += report.cpu_s
        self._drop(one)
        return Computed(one.unit, report.result, report.seconds)

    def _report(self, number: int, future: Future[Any]) -> Report | None:
        """What a unit gave; none if it is to be computed again, or was before."""
        one = self.out.get(number)
        if one is None or future not in one.futures:
            return None
        one.futures.remove(future)
        try:
            report: Report = pickle.loads(future.result(timeout=LATE_S))
        except (KilledWorker, CancelledError, OSError, TimeoutError) as error:
            # Its workers died, the scheduler restarted, or whoever has the result has gone or hangs.
            one.losses += 1
            log.info("unit %d of %s: lost, time %d: %s", number, self.key, one.losses, _line(error))
            if one.losses >= MOST_LOSSES:
                raise ClusterError(
                    f"cluster: one unit was lost {one.losses} times, at last by: {_line(error)}"
                ) from None
            if not one.futures:
                self._submit(number, self.engine.keep(self.shared))
            return None
        return report

    def _hurry(self) -> None:
        """Sends units that are late to another worker, with all that they need, whoever hangs meanwhile."""
        now, late_s = time.monotonic(), max(LATE_S, LATE_TIMES * self.engine.longest_s)
        late = [number for number, one in self.out.items() if now - one.since > late_s]
        if not late:
            return
        self.engine.staff.suspect([future.key for number in late for future in self.out[number].futures])
        for number in late:
            log.info("unit %d of %s: late, sent again", number, self.key)
            self._submit(number, self.shared)

    def _drop(self, one: _Unit) -> None:
        for future in one.futures:
            future.release()

    def cancel(self) -> None:
        """Drops what is out."""
        for one in self.out.values():
            self._drop(one)
        self.out.clear()


def _line(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"
