"""Other ways to do the work of a measured design: otherwise ordered, put together, or several designs side by side."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

import numpy as np
from schedule_simulated import NONE, SENDING, Floats, Outcome, Overhead, Schedule, Stage, Step

STEPS = 60
"""Of each line, where there are several."""
Steps = list[Step]


@dataclass(frozen=True)
class Variant:
    """A way to do it."""

    name: str
    words: str
    """What is otherwise than now."""
    change: Callable[[Steps], Steps] = lambda steps: steps
    lines: int = 1
    """Designs side by side."""
    overhead: Overhead = SENDING

    def on(self, cores: int, steps: Steps) -> Outcome:
        """So many cores."""
        changed = self.change(steps)
        return Schedule(_lines(changed, self.lines), cores, self.overhead).run()


def _lines(steps: Steps, count: int) -> Sequence[Steps]:
    """Several designs: the measured one, each from another of its steps on."""
    if count == 1:
        return [steps]
    starts = [number * len(steps) // count for number in range(count)]
    return [(steps[start:] + steps[:start])[:STEPS] for start in starts]


def aside(steps: Steps) -> Steps:
    """The measurement of a table, which is its step's last stage, is done beside what follows; long runs first."""
    return [replace(step, stages=tuple(_longest_first(stage) for stage in step.stages)) for step in steps]


def _longest_first(stage: Stage) -> Stage:
    return replace(stage, pieces=np.sort(stage.pieces)[::-1], aside=stage.is_measurement)


def larger(times: int) -> Callable[[Steps], Steps]:
    """Generations of so many times the candidates: those of so many generations in one."""

    def change(steps: Steps) -> Steps:
        groups = [steps[first : first + times] for first in range(0, len(steps), times)]
        return aside([_one_generation(group) for group in groups])

    return change


def _one_generation(steps: Steps) -> Step:
    """Several as one; what is done on one core in each is done on one core for all."""
    merged = together(steps)
    rest, *others = merged.stages
    return replace(merged, stages=(Stage(rest.pieces.sum(keepdims=True)), *others))


def together(steps: Steps) -> Step:
    """Several steps as one: their first stages side by side, then their second ones, and so on."""
    stages = [
        Stage(np.concatenate([stage.pieces for stage in level]), is_measurement=measured)
        for measured in (False, True)
        for level in _levels([[one for one in step.stages if one.is_measurement == measured] for step in steps])
    ]
    return replace(steps[0], stages=tuple(stages))


def _levels(lines: list[list[Stage]]) -> list[list[Stage]]:
    return [[stage for stage in level if stage is not None] for level in zip_longest(*lines)]


def speculating(depth: int) -> Callable[[Steps], Steps]:
    """Races begin with so many at once, on the table as it is: those after one that gains are for nothing."""

    def change(steps: Steps) -> Steps:
        found, first = [], 0
        while first < len(steps):
            window = steps[first : first + depth]
            kept = next((number + 1 for number, one in enumerate(window) if one.gains), len(window))
            found.append(_begun(together(window[:kept]), window[kept:]))
            first += kept
        return aside(found)

    return change


def _begun(step: Step, wasted: Steps) -> Step:
    """A step beside which others are begun: the first stages of these are wasted with its first."""
    if not wasted:
        return step
    gone: Floats = np.concatenate([stage.pieces for one in wasted for stage in one.stages if not stage.is_measurement])
    first, *others = step.stages
    return replace(step, stages=(replace(first, wasted=gone), *others))


AS_IT_IS = "one design"
BOTH = (
    Variant("nothing to send", "one design, if sending work cost nothing", overhead=NONE),
    Variant(AS_IT_IS, "as it is"),
    Variant("longest first", "the same, long runs before short ones, and measurements beside the next steps", aside),
)
SIDE_BY_SIDE = (
    Variant("8 designs", "eight designs side by side, longest first", aside, 8),
    Variant("32 designs", "thirty-two of them", aside, 32),
)
VARIANTS = {
    "generations": (
        *BOTH,
        Variant("4 x candidates", "longest first, and four generations in one", larger(4)),
        Variant("16 x candidates", "and sixteen in one", larger(16)),
        *SIDE_BY_SIDE,
        Variant("8 designs, 4 x candidates", "eight designs side by side, four generations in one", larger(4), 8),
    ),
    "races": (
        *BOTH,
        Variant("8 races at once", "longest first, and eight races begun on the table as it is", speculating(8)),
        *SIDE_BY_SIDE,
    ),
}
"""By what the steps are."""
