"""Networks on which flows are lost: what they are like, others like them, and which rules are used there.

One network of five hundred may be where flows are lost, and no step's few dozen have it. So many are looked through
every so often; from then on each step has others like those that were found, and who finds a way out there is seen.
Those of earlier looks stay a while: what a change mends in one place another may break again.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from exmachina import _core
from exmachina.disturbing import disturb_on
from exmachina.interrupts import interruptible
from exmachina.networks import Model
from exmachina.schemes import Table
from exmachina.seeds import named_seed
from exmachina.stats import Floats

if TYPE_CHECKING:
    from exmachina.steadying.trial import Trial

__all__ = ["LOOKED_UP", "Lost", "hunting", "like", "lost_on", "shares"]

LOOKED_UP = 10
"""After so many steps it is looked up again where flows are lost."""
USED_ON, USED_S, RARELY = 16, 60.0, 0.25
LOST_ON, LOST_STATES = 80, 3
USED_THERE = 80
"""Networks at most of those on which flows are lost, the worst, that uses are counted on."""
OF_ONE = 50
"""So many are drawn for each that is to be like one of those that were found."""
ROOMIEST = 1e9
"""Packets that an infinite buffer counts as."""


@dataclass(frozen=True)
class Lost:
    """Networks on which a table loses flows: not back, or with too little; the worst first."""

    networks: _core.Specimens
    places: tuple[int, ...]
    """Among them."""


def lost_on(trial: "Trial", table: Table, number: int) -> Lost:
    """Those of the networks that are looked through."""
    model, options = trial.models[0], trial.options
    seed, many = named_seed(options.seed, "lost", number), max(LOST_ON, options.hunted)
    found = disturb_on([table], model, range(many), states=LOST_STATES, seed=seed, engine=trial.engine).frame
    lost = pl.col("stays") + pl.col("uneven") + pl.col("states") - pl.col("back")
    worst = found.with_row_index("place").filter(lost > 0)
    worst = worst.sort(pl.col("stays") + pl.col("uneven"), lost, descending=True, maintain_order=True)
    return Lost(model.held_out(seed, many, False), tuple(worst["place"]))


def hunting(trial: "Trial", lost: Lost) -> "Trial":
    """The same, with networks like these from now on: as many as a step disturbs, half of them like those before."""
    most = trial.options.disturbed
    if trial.options.hunted == 0 or most == 0:
        return trial
    new, old = _alike(lost.networks.only(list(lost.places))), trial.hunted
    kept = min(len(old), max(most // 2, most - len(new)))
    return replace(trial, hunted=(*new[: most - kept], *old[:kept]))


def like(model: Model, found: tuple[tuple[float, ...], ...], many: int, seed: int, *, after: int) -> list[int]:
    """Numbers of so many networks of a draw, after its first: each the nearest to one of those, in turn.

    Near is by how many senders there are, RTTs, rates and buffers, each by how far apart the draw has them.
    """
    drawn = np.array(_alike(model.held_out(seed, after + OF_ONE * many, False))[after:])
    apart = np.std(drawn, axis=0)
    drawn, those = drawn / np.where(apart > 0, apart, 1.0), np.array(found) / np.where(apart > 0, apart, 1.0)
    taken: list[int] = []
    for k in range(many):
        away = np.sum((drawn - those[k % len(those)]) ** 2, axis=1)
        away[taken] = np.inf
        taken.append(int(np.argmin(away)))
    return [after + place for place in taken]


def _alike(networks: _core.Specimens) -> tuple[tuple[float, ...], ...]:
    """The logarithms of what networks are like."""
    numbers = np.array(networks.numbers(), dtype=float)
    return tuple(tuple(row) for row in np.log(np.clip(numbers, 1.0 / ROOMIEST, ROOMIEST)).tolist())


def shares(trial: "Trial", table: Table, lost: Lost | None) -> list[float]:
    """How likely rules are to be chosen, summed up: by the root of their uses, a fifth of it all alike.

    As much of it as options ask is by their uses on networks where flows are lost.
    """
    seed, lost_share = trial.options.seed, trial.options.lost
    roots = np.sqrt(_uses(trial, table, trial.models[0].held_out(named_seed(seed, "uses"), USED_ON, True)))
    chosen = roots / max(roots.sum(), 1.0) + RARELY / len(roots)
    places = sorted(lost.places[:USED_THERE]) if lost is not None and lost_share > 0 else []
    if lost is not None and places:
        there = np.sqrt(sum(_uses(trial, table, lost.networks.part(k, k + 1)) for k in places))
        if there.any():
            chosen = (1 - lost_share) * chosen / chosen.sum() + lost_share * there / there.sum()
    return [float(share) for share in np.cumsum(chosen)]


def _uses(trial: "Trial", table: Table, networks: _core.Specimens) -> Floats:
    """How often each rule is used there."""
    workers = trial.engine.here
    rules = interruptible(lambda stop: _core.usage(table, networks, USED_S, workers, stop)).rules
    return np.array([float(rule.uses) for rule in rules])
