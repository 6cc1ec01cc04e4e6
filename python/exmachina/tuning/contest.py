"""Laws and rivals on the same networks: scores, and what a law's are worth beside those of rivals."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from exmachina.engines import Engine
from exmachina.evaluation import Evaluation, evaluate
from exmachina.probing import measured
from exmachina.schemes import SchemeLike, Table, contender_of, distinct
from exmachina.stats import Floats

__all__ = ["Contest", "worths"]

STEEPEST = 30.0
"""So many scales ahead or behind are all of a network, or nothing of it."""
PULL = 0.1
"""Of a network, for each unit of the score that a law is ahead of its best rival or behind it, up to one: far behind
all of them, where no share would tell, nearer is better."""


@dataclass(frozen=True)
class Contest:
    """Where laws are compared with rivals."""

    scenarios: Sequence[Evaluation]
    rivals: Sequence[SchemeLike]
    delta: float
    engine: Engine

    def scores(self, laws: Sequence[Table], numbers: Sequence[int], seeds: Sequence[int]) -> Floats:
        """The mean score of each law's senders, and of each rival's, on networks of these scenarios with these seeds.

        Returns:
            One row per network, one column per law and then per rival; NaN where there was nothing to measure.
        """
        return np.array([self._row(self.scenarios[k], laws, seed) for k, seed in zip(numbers, seeds, strict=True)])

    def _row(self, scenario: Evaluation, laws: Sequence[Table], seed: int) -> list[float]:
        everyone = [*laws, *self.rivals]
        flows = evaluate(scenario, everyone, runs=1, seed=seed, cluster=self.engine).flows
        # Whoever a scenario places beside is no contender.
        own = flows.filter(pl.col("scheme") == pl.col("contender"))
        senders = int(flows["sender"].max()) + 1  # type: ignore[arg-type]
        known = dict(measured(own, senders, self.delta).select("scheme", "score").iter_rows())
        # A rival may be called as a law is: results tell them apart as these do.
        return [known.get(one.label, np.nan) for one in distinct(map(contender_of, everyone))]


def worths(scores: Floats, laws: int, scale: float) -> Floats:
    """What each law is worth on each network: how many of the rivals it is ahead of, as a smooth share.

    Args:
        scores: As `Contest.scores` gives them.
        laws: So many columns are laws.
        scale: Of the score; see `TuneOptions`.

    Returns:
        One row per network, one column per law: 0 to 1, and up to `PULL` more or less; where a law has no score, or no
        rival has one, 0.
    """
    own, rivals = scores[:, :laws, np.newaxis], np.nan_to_num(scores[:, np.newaxis, laws:], nan=-np.inf)
    ahead = np.clip((own - rivals) / scale, -STEEPEST, STEEPEST)
    share = np.mean(1 / (1 + np.exp(-ahead)), axis=2)
    pull = PULL * np.clip((own - rivals.max(axis=2, keepdims=True))[:, :, 0], -1, 1)
    nobody = np.isinf(rivals).all(axis=2)
    return np.where(np.isnan(scores[:, :laws]) | nobody, 0.0, share + pull)
