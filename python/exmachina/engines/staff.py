"""The workers of a cluster: who is there, who may compute, and how long nobody was."""

import logging
import pickle
import time
from collections.abc import Callable, Iterable
from typing import Any

from distributed import Client, Future

from exmachina.engines.worker import Identity, identity, program, refusal, sent
from exmachina.errors import ClusterError

__all__ = ["Staff"]

log = logging.getLogger("exmachina.engines")
LOOK_EVERY_S = 1.0
REFILL_EVERY_S = 20.0
"""Dask starts a process again that has died, but not one that died while it started; nor jobs."""
ANSWER_S = 10.0
"""A scheduler that does not answer for so long is asked again."""
GONE_S = 60.0
"""After so long without an answer a scheduler has gone."""
SUSPECT_S = 300.0
"""A worker that was late is sent nothing for so long, after which Dask itself has dropped one that hangs."""
NOBODY_S = 300.0
"""After so long without a worker nobody will come."""


class Staff:
    """The workers that a scheduler knows. Each is asked who it is before others count on it."""

    def __init__(self, client: Client, refill: Callable[[], object] | None, *, patient: bool) -> None:
        """`refill` asks for workers in place of those that are missing, where they are the client's own."""
        self.client, self.refill, self.patient = client, refill, patient
        self.dask_threads: dict[str, int] = {}
        self.asked: dict[str, Future[Any]] = {}
        self.known: dict[str, Identity] = {}
        self.suspects: dict[str, float] = {}
        self.looked = -LOOK_EVERY_S
        self.refilled = time.monotonic()
        self.answered = self.manned = time.monotonic()

    @property
    def count(self) -> int:
        """Workers of the same program."""
        return len(self.known)

    @property
    def places(self) -> int:
        """Units that they compute at once."""
        return sum(self.dask_threads[address] for address in self.known)

    @property
    def processors(self) -> int:
        """Of the smallest of them."""
        return min((one.processors for one in self.known.values()), default=1)

    @property
    def all_known(self) -> bool:
        """Whether all that are there have said who they are."""
        return set(self.dask_threads) == set(self.known)

    def look(self) -> None:
        """Sees who is there, now and then.

        Raises:
            ClusterError: If the scheduler has gone, nobody has been there for long, or somebody has another program.
        """
        now = time.monotonic()
        if now - self.looked < (LOOK_EVERY_S if self.known else 0.0):
            return
        self.looked = now
        self.check()
        try:
            self._see(self.client.nthreads(callback_timeout=ANSWER_S))
        except (OSError, TimeoutError):
            # It may be on its way back; Dask's client looks for it.
            if time.monotonic() - self.answered > GONE_S:
                raise self._gone() from None
        if self.refill is not None and time.monotonic() - self.refilled > REFILL_EVERY_S:
            self.refilled = time.monotonic()
            self.refill()
        if not self.patient and time.monotonic() - self.manned > NOBODY_S:
            raise ClusterError(
                f"cluster: no worker in {NOBODY_S:.0f} s; what is finished is kept: start some, and go on"
            )

    def _see(self, dask_threads: dict[str, int]) -> None:
        self.answered = time.monotonic()
        if dask_threads.keys() != self.dask_threads.keys():
            log.info("workers there: %d", len(dask_threads))
        self.dask_threads = dict(dask_threads)
        self.known = {address: one for address, one in self.known.items() if address in dask_threads}
        self.asked = {address: one for address, one in self.asked.items() if address in dask_threads}
        for address in sorted(dask_threads.keys() - self.known.keys()):
            self._ask(address)
        if dask_threads:
            self.manned = self.answered

    def _ask(self, address: str) -> None:
        """Asks a worker who it is, or hears what it says."""
        future = self.asked.get(address)
        if future is None or future.status in {"cancelled", "lost"}:
            self.asked[address] = self.client.submit(
                sent(identity), pure=False, workers=[address], allow_other_workers=False, priority=1000
            )
        elif future.status == "error":
            raise refusal(address, f"none ({future.exception()})", program())
        elif future.status == "finished":
            try:
                one: Identity = pickle.loads(future.result(timeout=ANSWER_S))
            except Exception:  # it has gone meanwhile
                del self.asked[address]
                return
            if one.program != program():
                raise refusal(f"{address} on {one.host}", one.program, program())
            self.known[address] = one
            log.info("worker %s: %s, %d processors", address, one.host, one.processors)

    def check(self) -> None:
        """Raises ClusterError if the scheduler has gone for good."""
        if self.client.status in {"closing", "closed"}:
            raise self._gone()

    @staticmethod
    def _gone() -> ClusterError:
        return ClusterError("cluster: the scheduler has gone; what is finished is kept: start it again, and go on")

    def suspect(self, keys: Iterable[object]) -> None:
        """Sends nothing more, for a while, to workers that have one of these tasks in hand."""
        wanted, until = set(keys), time.monotonic() + SUSPECT_S
        try:
            processing = self.client.processing()
        except (OSError, TimeoutError):
            return
        hanging = [address for address, having in processing.items() if wanted & set(having)]
        self.suspects.update(dict.fromkeys(hanging, until))
        log.info("workers that are late: %s", ", ".join(hanging) or "none")

    def trusted(self) -> list[str] | None:
        """The workers to send to; all that there are, if none."""
        now = time.monotonic()
        self.suspects = {address: until for address, until in self.suspects.items() if until > now}
        others = sorted(self.known.keys() - self.suspects.keys())
        return others if others and self.suspects else None
