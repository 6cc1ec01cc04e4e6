"""Networks on which flows are lost: what they are like, and which rules are used there.

One network of five hundred may be where flows are lost, and no step's few dozen have it. So many are looked through
every so often; from then on each step has others like those that were found, and who finds a way out there is seen.
Those of earlier looks stay a while: what a change mends in one place another may break again.
"""

from dataclasses import dataclass, replace

import numpy as np

from exmachina import _core
from exmachina.disturbing import disturb_on
from exmachina.interrupts import interruptible
from exmachina.schemes import Table
from exmachina.seeds import named_seed
from exmachina.stats import Floats
from exmachina.steadying.likeness import likeness
from exmachina.steadying.trial import Trial, cost_of_states

__all__ = ["LOOKED_UP", "Lost", "hunting", "lost_on", "shares"]

LOOKED_UP = 10
"""After so many steps it is looked up again where flows are lost."""
USED_ON, USED_S, RARELY = 16, 60.0, 0.25
LOST_ON, LOST_STATES = 80, 3
USED_THERE = 80
"""Networks at most of those on which flows are lost, the worst, that uses are counted on."""


@dataclass(frozen=True)
class Lost:
    """Networks on which states cost a table something, as `Trial.worth` counts it; the worst first."""

    networks: _core.Specimens
    places: tuple[int, ...]
    """Among them."""


def lost_on(trial: Trial, table: Table, number: int) -> Lost:
    """Those of the networks that are looked through."""
    model, options = trial.models[0], trial.options
    seed, many = named_seed(options.seed, "lost", number), options.hunted or LOST_ON
    found = disturb_on([table], model, range(many), states=LOST_STATES, seed=seed, engine=trial.engine).frame
    worst = found.with_row_index("place").filter(cost_of_states() > 0)
    worst = worst.sort(cost_of_states(), descending=True, maintain_order=True)
    return Lost(model.held_out(seed, many, False), tuple(worst["place"]))


def hunting(trial: Trial, lost: Lost) -> Trial:
    """The same, with networks like these from now on: as many as a step disturbs, half of them like those before.

    Of what there was before, whatever look it is from, as much stays: there is less of a look the longer it is ago.
    """
    most = trial.options.disturbed
    if trial.options.hunted == 0 or most == 0:
        return trial
    new, old = likeness(lost.networks.part(lost.places)), trial.hunted
    kept = min(len(old), max(most // 2, most - len(new)))
    return replace(trial, hunted=(*new[: most - kept], *(old[k * len(old) // kept] for k in range(kept))))


def shares(trial: Trial, table: Table, lost: Lost | None) -> list[float]:
    """How likely rules are to be chosen, summed up: by the root of their uses, a fifth of it all alike.

    As much of it as options ask is by their uses on networks where flows are lost.
    """
    seed, lost_share = trial.options.seed, trial.options.lost
    roots = np.sqrt(_uses(trial, table, trial.models[0].held_out(named_seed(seed, "uses"), USED_ON, True)))
    chosen = roots / max(roots.sum(), 1.0) + RARELY / len(roots)
    places = sorted(lost.places[:USED_THERE]) if lost is not None and lost_share > 0 else []
    if lost is not None and places:
        there = np.sqrt(sum(_uses(trial, table, lost.networks.part([k])) for k in places))
        if there.any():
            chosen = (1 - lost_share) * chosen / chosen.sum() + lost_share * there / there.sum()
    return [float(share) for share in np.cumsum(chosen)]


def _uses(trial: Trial, table: Table, networks: _core.Specimens) -> Floats:
    """How often each rule is used there."""
    workers = trial.engine.here
    rules = interruptible(lambda stop: _core.usage(table, networks, USED_S, workers, stop)).rules
    return np.array([float(rule.uses) for rule in rules])
