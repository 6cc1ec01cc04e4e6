"""A climb: of rule tables that differ in one thing each, the best are tried again, and what holds stays, together.

There are too many rules to learn what goes with what. What one change gains is small, and is seen where many of them
meet the same networks; so each step tries many, and keeps all that are ahead thrice. A few of them may do together what
none does alone, such as keep flows apart; so some steps try what there is without one of those that were taken.
"""

import math
import random
from collections.abc import Sequence
from itertools import accumulate
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from exmachina.schemes import Table
from exmachina.seeds import named_seed
from exmachina.stats import Floats
from exmachina.steadying.candidates import Change, Clearance, Undo, changes
from exmachina.steadying.lost import LOOKED_UP, hunting, lost_on, shares
from exmachina.steadying.trial import Trial, Trying

__all__ = ["Climb"]

UNDOES = 5
"""Every so many steps changes are undone, if any were taken."""
TRIED_AGAIN = 16
"""One of so many candidates is tried again, at most."""
Candidate: TypeAlias = Change | Undo


class Climb:
    """One rule table on its way."""

    def __init__(self, trial: Trial) -> None:
        self.trial = trial
        self.stream = random.Random(named_seed(trial.options.seed, "candidates"))
        self.table = trial.begun
        self.clearance = Clearance.of(trial.begun, trial.models[0])
        self.taken: list[Change] = []
        assert trial.options.candidates is not None  # settled
        assert trial.options.size is not None
        self.candidates, self.size = trial.options.candidates, trial.options.size
        self.best = max(1, self.candidates // TRIED_AGAIN)
        self.shares: list[float] = []

    def step(self, number: int, known: dict[str, Any] | None) -> dict[str, Any]:
        """Takes a step, or again one that is known, and says what it found."""
        options = self.trial.options
        looks = options.lost > 0 or (options.hunted > 0 and options.disturbed > 0)
        if number == 0 or (looks and number % LOOKED_UP == 0):
            lost = lost_on(self.trial, self.table, number) if looks else None
            self.shares = shares(self.trial, self.table, lost)
            self.trial = hunting(self.trial, lost) if lost is not None else self.trial
        drawn = self._drawn(number)
        line = known or self._tried(drawn, number)
        self.taken, self.table = self._together([drawn[k] for k in line["order"]])[-1]
        return line

    def _drawn(self, number: int) -> Sequence[Candidate]:
        """A step's candidates."""
        if number % UNDOES == UNDOES - 1 and self.taken:
            undone = [Undo(change) for change in dict.fromkeys(self.taken)]
            return sorted(undone, key=lambda _: self.stream.random())[: self.candidates]
        return changes(
            self.table, self.clearance, self.shares, size=self.size, count=self.candidates, stream=self.stream
        )

    def _tried(self, drawn: Sequence[Candidate], number: int) -> dict[str, Any]:
        """What of it is ahead: on the step's networks, on other ones, and together on others yet."""
        worth, states = self._worth([self._with(one) for one in drawn], number, "step")
        order, gain = _ahead(worth)[: self.best], float(worth.max(initial=-math.inf))
        again = None
        if order:
            worth, _ = self._worth([self._with(drawn[k]) for k in order], number, "again")
            order, again = [order[k] for k in _ahead(worth)], float(worth.max())
        if len(order) > 1:
            together = [table for _, table in self._together([drawn[k] for k in order])]
            worth, _ = self._worth(together[1:], number, "together")
            again = float(worth.max())
            order = order[: int(np.argmax(worth)) + 1 if again > 0 else 0]
        found = {"step": number + 1, "taken": len(order), "gain": gain, "gain_again": again}
        return found | states.row(0, named=True) | {"order": order}

    def _worth(self, tables: Sequence[Table], number: int, trying: Trying) -> tuple[Floats, pl.DataFrame]:
        """By how much each is worth more than what there is; and what states did to that."""
        worth, states = self.trial.worth([self.table, *tables], number, trying)
        return worth[1:] - worth[0], states

    def _with(self, one: Candidate) -> Table:
        return self._together([one])[-1][1]

    def _together(self, some: Sequence[Candidate]) -> list[tuple[list[Change], Table]]:
        """What there is, with the first of them, with the first two, and so on: the changes, and the table."""
        return list(accumulate(some, self._after, initial=(self.taken, self.table)))

    def _after(self, so_far: tuple[list[Change], Table], one: Candidate) -> tuple[list[Change], Table]:
        """With one more change, or one less; what cannot be then is not in it."""
        taken, table = so_far
        if isinstance(one, Change):
            return [*taken, one], one.of(table, self.clearance) or table
        left = [change for change in taken if change != one.change]
        return left, self._made(left)

    def _made(self, taken: Sequence[Change]) -> Table:
        table = self.trial.begun
        for change in taken:
            table = change.of(table, self.clearance) or table
        return table


def _ahead(worth: Floats) -> list[int]:
    """Who is worth more than what there is, the best first."""
    return [int(k) for k in np.argsort(-worth, kind="stable") if worth[k] > 0]
