"""An evolution: laws around one differ in all their numbers, and their order says where to go, and how far.

A law has a few dozen numbers, of which several have to move together before more flows come back: a generation of
laws, ordered by what they are worth, tells which (CMA-ES, as where laws are designed). No law is taken for its luck on
a step's networks: what comes of it is the mean of where the later half of the generations were.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from exmachina import _core
from exmachina.schemes import Table
from exmachina.seeds import named_seed
from exmachina.steadying.lost import LOOKED_UP, hunting, lost_on
from exmachina.steadying.trial import Trial

__all__ = ["Evolution"]


class Evolution:
    """One law on its way."""

    def __init__(self, trial: Trial) -> None:
        self.trial, options = trial, trial.options
        places = _core.law_places(trial.begun)
        assert places is not None  # checked by the caller
        assert options.size is not None  # settled
        self.core = _core.Evolution(places, options.size, named_seed(options.seed, "candidates"))
        self.centres: list[Sequence[float]] = [places]

    @property
    def table(self) -> Table:
        """The law at the mean of the centres of the later half of the generations."""
        later = self.centres[(len(self.centres) + 1) // 2 :] or self.centres
        return self._at([float(place) for place in np.mean(later, axis=0)], self.trial.begun.name)

    def step(self, number: int, known: dict[str, Any] | None) -> dict[str, Any]:
        """Learns from a generation, or again from one that is known, and says what came of it."""
        options = self.trial.options
        if options.hunted > 0 and options.disturbed > 0 and number % LOOKED_UP == 0:
            self.trial = hunting(self.trial, lost_on(self.trial, self.table, number))
        candidates = options.candidates
        assert candidates is not None  # settled
        drawn = self.core.draw(candidates)
        line = known or self._tried(drawn, number)
        self.core.learn(line["order"])
        self.centres.append(self.core.mean)
        return line

    def _tried(self, drawn: Sequence[Sequence[float]], number: int) -> dict[str, Any]:
        """The order of a generation, and what states did to its laws in the mean."""
        worth, states = self.trial.worths([self._at(places, f"law {k}") for k, places in enumerate(drawn)], number)
        order = [int(k) for k in np.argsort(-worth, kind="stable")]
        return {
            "step": number + 1,
            "taken": order[0] + 1,
            **states.select(pl.mean("back", "below", "stays", "lacks")).row(0, named=True),
            "order": order,
        }

    def _at(self, places: Sequence[float], name: str) -> Table:
        begun = self.trial.begun
        law = Table(_core.law_at_places(begun, places, None), name).law
        assert law is not None
        return begun.with_law(law, name)
