"""A climb: of rule tables that differ in one thing each, the best are tried again, and what holds stays, together.

There are too many rules to learn what goes with what. What one change gains is small, and is seen where many of them
meet the same networks; so each step tries many, and keeps all that are ahead thrice.
"""

import math
import random
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np
import polars as pl

from exmachina.schemes import Table
from exmachina.seeds import named_seed
from exmachina.stats import Floats
from exmachina.steadying.candidates import Change, changes
from exmachina.steadying.trial import Trial, Trying, shares

__all__ = ["Climb"]

LOOKED_UP = 10
"""After so many steps it is looked up again which rules are used where flows are lost."""
TRIED_AGAIN = 16
"""One of so many candidates is tried again, at most."""


class Climb:
    """One rule table on its way."""

    def __init__(self, trial: Trial) -> None:
        self.trial = trial
        self.stream = random.Random(named_seed(trial.options.seed, "candidates"))
        self.table = trial.begun
        self.shares: list[float] = []

    def step(self, number: int, known: dict[str, Any] | None) -> dict[str, Any]:
        """Takes a step, or again one that is known, and says what it found."""
        options = self.trial.options
        if number == 0 or (options.lost > 0 and number % LOOKED_UP == 0):
            self.shares = shares(self.trial, self.table, number)
        assert options.candidates is not None  # settled
        assert options.size is not None
        drawn = changes(self.table, self.shares, options.size, options.candidates, self.stream)
        line = known or self._tried(drawn, number)
        self.table = self._together([drawn[k] for k in line["order"]])[-1]
        return line

    def _tried(self, drawn: Sequence[Change], number: int) -> dict[str, Any]:
        """What of it is ahead: on the step's networks, on other ones, and together on others yet."""
        worth, states = self._worth([self._with(change) for change in drawn], number, "step")
        order, gain = _ahead(worth)[: max(1, len(drawn) // TRIED_AGAIN)], float(worth.max(initial=-math.inf))
        again = None
        if order:
            worth, _ = self._worth([self._with(drawn[k]) for k in order], number, "again")
            order, again = [order[k] for k in _ahead(worth)], float(worth.max())
        if len(order) > 1:
            worth, _ = self._worth(self._together([drawn[k] for k in order])[1:], number, "together")
            again = float(worth.max())
            order = order[: int(np.argmax(worth)) + 1 if again > 0 else 0]
        found = {"step": number + 1, "taken": len(order), "gain": gain, "gain_again": again}
        return found | states.row(0, named=True) | {"order": order}

    def _worth(self, tables: Sequence[Table], number: int, trying: Trying) -> tuple[Floats, pl.DataFrame]:
        """By how much each is worth more than what there is; and what states did to that."""
        worth, states = self.trial.worth([self.table, *tables], number, trying)
        return worth[1:] - worth[0], states

    def _with(self, change: Change) -> Table:
        return self._together([change])[-1]

    def _together(self, some: Sequence[Change]) -> list[Table]:
        """What there is, with the first of them, with the first two, and so on; what cannot be then is not in it."""
        return list(accumulate(some, lambda table, change: change.of(table) or table, initial=self.table))


def _ahead(worth: Floats) -> list[int]:
    """Who is worth more than what there is, the best first."""
    return [int(k) for k in np.argsort(-worth, kind="stable") if worth[k] > 0]
