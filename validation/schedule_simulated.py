"""How long a design takes on so many cores: its measured pieces of work, put on cores by list scheduling.

A design is a line of stages. The pieces of a stage go to whichever core is free first, in their order; a stage begins
when the one before it has ended, and where it is sent to other machines, a moment later.
"""

import heapq
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

NODE_CORES = 16
"""Of a machine. A design that has no more than these sends nothing."""


@dataclass(frozen=True)
class Overhead:
    """What it costs to do work elsewhere."""

    trip_s: float = 0.005
    """From the end of a stage until the next one has come to other machines."""
    message_s: float = 0.001
    """Of whoever hands out work, for each machine that gets some, one after the other."""

    def of(self, pieces: int, cores: int) -> float:
        """Before a stage of so many pieces begins, s."""
        if cores <= NODE_CORES:
            return 0.0
        return self.trip_s + self.message_s * -(-min(pieces, cores) // NODE_CORES)


SENDING, NONE = Overhead(), Overhead(0.0, 0.0)
NOBODY = -1
"""Waits for what is done."""


@dataclass(frozen=True)
class Stage:
    """Work that can be done side by side."""

    pieces: Floats
    """CPU time of each, s."""
    is_measurement: bool = False
    """Of the table, after a step: what is found has no part in the search."""
    aside: bool = False
    """Nothing waits for it: it is done where a core has nothing else to do."""
    wasted: Floats | None = None
    """More of it, for nothing: done where a core has nothing else to do, and given up when the stage ends."""


@dataclass(frozen=True)
class Step:
    """A step of the search."""

    stages: tuple[Stage, ...]
    """Each waits for the one before it."""
    gains: bool
    """Whether the table was another one after it: then what would have come next is not what was begun."""


@dataclass
class Outcome:
    """What came of a simulation."""

    seconds: float = 0.0
    useful_s: float = 0.0
    """CPU time of what was done, without what was wasted."""
    cores: int = 1

    @property
    def speedup(self) -> float:
        """Times as fast as on one core."""
        return self.useful_s / self.seconds

    @property
    def efficiency(self) -> float:
        """The share of the cores' time that is used, and not wasted."""
        return self.speedup / self.cores


class _Line:
    """One design, on its way."""

    def __init__(self, steps: Iterable[Step]) -> None:
        self.stages = chain.from_iterable(step.stages for step in steps)
        self.left = 0


class Schedule:
    """List scheduling of several lines on the same cores."""

    def __init__(self, lines: Sequence[Iterable[Step]], cores: int, overhead: Overhead) -> None:
        self.lines, self.cores, self.overhead = [_Line(steps) for steps in lines], cores, overhead
        self.ready: deque[tuple[int, float]] = deque()
        self.aside: deque[tuple[int, float]] = deque()
        self.wasted: deque[tuple[int, float]] = deque()
        # When; a number, so that what is at once has an order; the line; of a piece that ends, how long it took and
        # whether it is of use; else the stage that has come.
        self.events: list[tuple[float, int, int, float, bool, Stage | None]] = []
        self.count, self.free, self.now = 0, cores, 0.0

    def run(self) -> Outcome:
        """Until the first line has ended: then cores begin to stand idle for want of more steps, which says nothing."""
        outcome = Outcome(cores=self.cores)
        done = not all(self._send(number) for number in range(len(self.lines)))
        while not done:
            self._start()
            self.now, _, number, took, useful, stage = heapq.heappop(self.events)
            if stage is not None:
                self._arrive(number, stage)
                continue
            self.free += 1
            outcome.useful_s += took * useful
            if number != NOBODY:
                self.lines[number].left -= 1
                done = self.lines[number].left == 0 and not self._send(number)
        running = [(end, took) for end, _, _, took, useful, stage in self.events if stage is None and useful]
        outcome.useful_s += sum(took - (end - self.now) for end, took in running)
        outcome.seconds = self.now
        return outcome

    def _start(self) -> None:
        while self.free and (queue := self.ready or self.aside or self.wasted):
            number, took = queue.popleft()
            self.free -= 1
            self._push(self.now + took, number, took, queue is not self.wasted, None)

    def _send(self, number: int) -> bool:
        """The next stage of a line is on its way; whether there is one."""
        self.wasted.clear()
        for stage in self.lines[number].stages:
            if stage.aside:
                self.aside.extend((NOBODY, took) for took in stage.pieces.tolist())
                continue
            self._push(self.now + self.overhead.of(len(stage.pieces), self.cores), number, 0.0, False, stage)
            return True
        return False

    def _arrive(self, number: int, stage: Stage) -> None:
        self.lines[number].left = len(stage.pieces)
        self.ready.extend((number, took) for took in stage.pieces.tolist())
        if stage.wasted is not None:
            self.wasted.extend((NOBODY, took) for took in stage.wasted.tolist())

    def _push(self, when: float, number: int, took: float, useful: bool, stage: Stage | None) -> None:
        self.count += 1
        heapq.heappush(self.events, (when, self.count, number, took, useful, stage))
