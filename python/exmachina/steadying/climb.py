"""A climb: of a few rule tables that differ in what a few rules do, the best is tried again, and stays if it is ahead.

There are too many rules to learn what goes with what; so most steps find nothing, and what they find is small.
"""

import random
from typing import Any

import numpy as np

from exmachina.schemes import Table
from exmachina.seeds import named_seed
from exmachina.steadying.candidates import Rules
from exmachina.steadying.trial import Trial, shares

__all__ = ["Climb"]

LOOKED_UP = 10
"""After so many steps it is looked up again which rules are used where flows are lost."""


class Climb:
    """One rule table on its way."""

    def __init__(self, trial: Trial) -> None:
        self.trial = trial
        self.stream = random.Random(named_seed(trial.options.seed, "candidates"))
        self.now = Rules(trial.begun, [])

    @property
    def table(self) -> Table:
        """Where it is."""
        return self.now.table

    def step(self, number: int, known: dict[str, Any] | None) -> dict[str, Any]:
        """Takes a step, or again one that is known, and says what it found."""
        options, now = self.trial.options, self.now
        if number == 0 or (options.lost > 0 and number % LOOKED_UP == 0):
            now = Rules(now.table, shares(self.trial, now.table, number))
        assert options.candidates is not None  # settled
        assert options.size is not None
        drawn = [now.elsewhere(options.size, self.stream) for _ in range(options.candidates)]
        line = known or self._tried([now, *drawn], number)
        self.now = [now, *drawn][line["taken"]]
        return line

    def _tried(self, drawn: list[Rules], number: int) -> dict[str, Any]:
        """What there is, and others: is the best of them ahead on other networks, too?"""
        tables = [each.table for each in drawn]
        worth, states = self.trial.worth(tables, number, again=False)
        best = int(np.argmax(worth))
        again = None
        if best > 0:
            second, _ = self.trial.worth([tables[0], tables[best]], number, again=True)
            again = float(second[1] - second[0])
        return {
            "step": number + 1,
            "taken": best if again is not None and again > 0 else 0,
            "gain": float(worth[best] - worth[0]),
            "gain_again": again,
            **states.row(0, named=True),
        }
