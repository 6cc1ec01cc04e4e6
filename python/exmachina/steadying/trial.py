"""What candidates are worth: their scores, less what disturbed states cost, and less what was not to be given up.

What is lost is taken for a standard error more than it seems, and what fewer lost states gain, where candidates are
tried again, for one less: of some candidates the luckiest would give up more, and seem to gain more.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
import polars as pl

from exmachina.disturbing import Disturbed, disturb_on
from exmachina.engines import Engine
from exmachina.errors import OptionError
from exmachina.networks import Model
from exmachina.schemes import Table
from exmachina.scoring import ScoreReport, score
from exmachina.seeds import named_seed
from exmachina.stats import Floats, Interval
from exmachina.steadying.likeness import like
from exmachina.steadying.options import SteadyOptions

__all__ = ["Trial", "Trying", "cost_of_states"]

BELOW, STAYS, LACKS, BACK, TOO_MUCH, STARVED = 0.5, 2.0, 0.5, 0.997, 10.0, 5.0
"""What a state costs in which a flow is below half of its share, one in which it stays there, and as much as it lacks
there of three quarters of its share: half of a share is seldom, and who comes near it is on the way; so many are to be
back; what costs that is lost besides what may be; and a sender that received nothing, which no score has in it, as in
the search (`policy_search.rs`)."""
Trying: TypeAlias = Literal["step", "again", "together"]
"""On which networks: a step's, or others, where its best are tried again, and then together."""
STEP: Trying = "step"
SHARES = "back", "below", "stays", "lacks", "uneven"
QUARTERS = 4
PARTS = 5
"""Networks are disturbed in so many turns: who is behind after one is in none that follows."""
BY = ("senders", "rate_mbps", "min_rtt_ms")
AGAIN = 4
"""Times as many networks as a step's, for its best: whether flows share a network well is one of few things, alike in
most of its states."""


@dataclass(frozen=True)
class Trial:
    """Networks and states that all candidates of a step meet."""

    models: Sequence[Model]
    """The first is disturbed; of the scores on all, each in its world and by its weight, the mean counts."""
    begun: Table
    options: SteadyOptions
    engine: Engine
    hunted: tuple[tuple[float, ...], ...] = ()
    """What networks are like on which flows are lost: as many like them are disturbed as of all."""

    def worth(self, tables: Sequence[Table], number: int, trying: Trying) -> tuple[Floats, pl.DataFrame]:
        """Of each on a step's networks, or on four times as many others, where its best go "again" or "together".

        On a step's networks other models do not count, but those of `[[also]]`: most of what is tried is found there.
        Whoever is behind the first by its score alone, or once some states have cost it, is disturbed no further.
        On others what states cost the others is a standard error of its difference to the first more.

        Returns:
            Shape (tables,), less than all else where nobody received anything, and where it is behind the first and not
            tried again; and the summary of disturbed states of the first.

        Raises:
            OptionError: If nobody received anything where all run what it began with.
        """
        seed = named_seed(self.options.seed, trying, number)
        if trying != STEP:
            return self._again(tables, seed)
        scores = self._own()._bounded(tables, self.options.specimens, seed)
        states = self.states(tables[:1], self.options.disturbed, seed)
        worth = scores[0] - _cost_of(states)[0]
        return np.array([worth, *(scores[1:] - self._costs(tables[1:], seed, scores[1:] - worth))]), states

    def _again(self, tables: Sequence[Table], seed: int) -> tuple[Floats, pl.DataFrame]:
        """The same on more networks, and for sure."""
        scores = self._bounded(tables, AGAIN * self.options.specimens, seed)
        networks = AGAIN * self.options.disturbed
        if networks == 0:
            return scores, self.states(tables[:1], 0, seed)
        found = self._disturbed(tables, self._numbers(networks, seed), seed)
        costs = _costs_each(found.frame)
        return scores - _cost_of(found.summary) - _error(costs - costs[:1]), found.summary.head(1)

    def _own(self) -> "Trial":
        """With the models that count where most of what is tried is found."""
        return replace(self, models=[model for k, model in enumerate(self.models) if k == 0 or model.entry is not None])

    def worths(self, tables: Sequence[Table], number: int) -> tuple[Floats, pl.DataFrame]:
        """Of each on this step's networks, all of them disturbed to the end, and what states did to each.

        Returns:
            Shape (tables,), less than all else where nobody received anything; and the summary of disturbed states.

        Raises:
            OptionError: If nobody received anything where all run what it began with.
        """
        seed = named_seed(self.options.seed, STEP, number)
        scores = self._bounded(tables, self.options.specimens, seed)
        states = self.states(tables, self.options.disturbed, seed)
        return scores - _cost_of(states), states

    def _bounded(self, tables: Sequence[Table], specimens: int, seed: int) -> Floats:
        """The score of each, less what is lost besides what may be; less than all else if it has none."""
        scores, errors, in_each = self._scores([*tables, self.begun], specimens, seed)
        in_all = scores[-1] - scores + errors
        for lost, allowed in ((in_all, self.options.gives), (in_each, self.options.gives_each)):
            if allowed is not None:
                scores = scores - TOO_MUCH * np.maximum(0.0, lost - allowed)
        return np.where(np.isnan(scores), -np.inf, scores)[: len(tables)]

    def _costs(self, tables: Sequence[Table], seed: int, most: Floats) -> Floats:
        """What disturbed states cost each; infinite where it is as much as that, which some of them tell."""
        numbers, each = self._numbers(self.options.disturbed, seed), self.options.states
        if not numbers:
            return np.where(most > 0, 0.0, np.inf)
        costs, counts = np.zeros(len(tables)), np.zeros((len(SHARES), len(tables)))
        networks = left_over = len(numbers)
        for part in np.array_split(numbers, min(PARTS, networks)):
            left = np.flatnonzero(costs < most)
            if len(left) == 0:
                break
            those = [tables[int(k)] for k in left]
            frame = self._disturbed(those, part.tolist(), seed).frame
            left_over -= len(part)
            sums = frame.group_by("scheme", maintain_order=True).agg(pl.sum(*SHARES))
            counts[:, left] += sums.drop("scheme").to_numpy().T
            back, below, stays, lacks, uneven = counts[:, left]
            # All that is to come may be back.
            back = back + each * left_over
            states = networks * each
            costs[left] = _cost(back / states, below / states, stays / states, lacks / states, uneven / networks)
        return np.where(costs < most, costs, np.inf)

    def states(self, tables: Sequence[Table], specimens: int, seed: int) -> pl.DataFrame:
        """What disturbed states do to each; nothing is known where there are none."""
        if specimens == 0:
            names = {"scheme": [table.name for table in tables]}
            return pl.DataFrame(names).with_columns(pl.lit(None, pl.Float64).alias(share) for share in SHARES)
        return self._disturbed(tables, self._numbers(specimens, seed), seed).summary

    def _numbers(self, many: int, seed: int) -> list[int]:
        """Of so many networks, after as many like those on which flows are lost, if any are known."""
        found = like(self.models[0], self.hunted, many, seed, after=many) if self.hunted and many else []
        return [*found, *range(many)]

    def _disturbed(self, tables: Sequence[Table], numbers: Sequence[int], seed: int) -> Disturbed:
        """On those of the networks of the seed."""
        states, model = self.options.states, self.models[0]
        return disturb_on(tables, model, numbers, states=states, seed=seed, engine=self.engine)

    def reports(self, tables: Sequence[Table], specimens: int, seed: int) -> list[ScoreReport]:
        """Scores on the same networks of each model, in the world that it trains in."""
        return [
            score(
                tables,
                model,
                specimens=specimens,
                seconds_each=self.seconds_each(model),
                seed=seed,
                in_world=True,
                cluster=self.engine,
            )
            for model in self.models
        ]

    def seconds_each(self, model: Model) -> float:
        """Of an entry of `[[also]]`, as many times those of options as its runs are of the model's in a design."""
        times = 1.0 if model.entry is None else model.duration_s / self.models[0].duration_s
        return times * self.options.seconds_each

    def gain(self, both: Sequence[Table], specimens: int, seed: int) -> tuple[list[float], Interval]:
        """The scores of two, by weight the means over models; and of the first over the second."""
        reports, weights = self.reports(both, specimens, seed), np.array([model.weight for model in self.models])
        names = "score", "difference", "difference_ci95"
        known = np.array([report.summary.head(2).select(names).to_numpy() for report in reports])
        scores, behind, halves = (weights[:, None] * known[:, :, k] for k in range(len(names)))
        half_width = float(np.sqrt(np.sum(halves[:, 1] ** 2))) / len(reports)
        return np.mean(scores, axis=0).tolist(), Interval(-float(np.mean(behind[:, 1])), half_width)

    def _scores(self, tables: Sequence[Table], specimens: int, seed: int) -> tuple[Floats, Floats, Floats]:
        """Of each the mean over models, its difference's standard error, and the most it is behind anywhere.

        Both are against the last; anywhere is on the other models, and in quarters of the first one's networks by
        senders, rate and RTT, where they differ in them.
        """
        reports = self.reports(tables, specimens, seed)
        weights = np.array([[model.weight] for model in self.models])
        each = np.array([self._priced(report, len(tables)) for report in reports])
        behind_in = [_behind(report, len(tables)) for report in reports]
        errors = np.sqrt(np.sum((weights * [_error(behind) for behind in behind_in]) ** 2, axis=0)) / len(reports)
        first = reports[0].specimens.partition_by("scheme", maintain_order=True)[0]
        quarters = [
            behind_in[0][:, quarter]
            for by in BY
            if first[by].n_unique() > 1
            for quarter in np.array_split(np.argsort(first[by].to_numpy(), kind="stable"), QUARTERS)
        ]
        means = [_mean(behind) for behind in (*quarters, *behind_in[1:])]
        return np.mean(weights * each, axis=0), errors, np.max(means or [np.zeros(len(tables))], axis=0)

    def _priced(self, report: ScoreReport, tables: int) -> Floats:
        """The score of each on a model's networks, less what senders cost that received nothing."""
        priced = pl.col("score") - STARVED * pl.col("starved_share")
        scores = report.summary.head(tables).select(priced).to_series().to_numpy()
        if np.isnan(scores[-1]):
            many = report.specimens["specimen"].n_unique()
            where = f"{many} networks of {report.model.name}, {report.seconds_each:g} s each"
            raise OptionError(f"{self.begun.name}: nobody received anything in {where}; expected somebody to")
        return scores


def _cost(back: Any, below: Any, stays: Any, lacks: Any, uneven: Any) -> Any:
    """What shares of states, and of networks that are uneven undisturbed, cost: numbers or arrays."""
    return BELOW * (below + uneven) + STAYS * stays + LACKS * lacks + np.maximum(0.0, BACK - back)


def cost_of_states() -> pl.Expr:
    """What the states of a network cost, summed up, where it counts at once that one is not back."""
    below, states = pl.col("below") + pl.col("states") * pl.col("uneven"), pl.col("states")
    return BELOW * below + STAYS * pl.col("stays") + LACKS * pl.col("lacks") + states - pl.col("back")


def _costs_each(frame: pl.DataFrame) -> Floats:
    """The same for a state, on the mean of each network, shape (tables, networks)."""
    cost = cost_of_states() / pl.col("states")
    costs: Floats = np.array(
        [one.select(cost).to_series() for one in frame.partition_by("scheme", maintain_order=True)]
    )
    return costs


def _cost_of(states: pl.DataFrame) -> Floats:
    """What disturbed states cost each; nothing where there are none."""
    cost: Floats = _cost(*states.select(SHARES).to_numpy().T)
    return np.nan_to_num(cost)


def _behind(report: ScoreReport, tables: int) -> Floats:
    """How far each table is behind the last on each network, shape (tables, networks); NaN where nobody was on."""
    schemes = report.specimens.partition_by("scheme", maintain_order=True)[:tables]
    own: Floats = np.array([scheme["score"].to_numpy() for scheme in schemes])
    behind: Floats = own[-1:] - own
    return behind


def _mean(values: Floats) -> Floats:
    """The means of rows, over what is not NaN."""
    means: Floats = np.nansum(values, axis=1) / np.maximum(1, (~np.isnan(values)).sum(axis=1))
    return means


def _error(values: Floats) -> Floats:
    """The standard errors of the means of rows."""
    many = np.maximum(2, (~np.isnan(values)).sum(axis=1, keepdims=True))
    away = values - np.nansum(values, axis=1, keepdims=True) / many
    errors: Floats = np.sqrt(np.nansum(away**2, axis=1) / (many * (many - 1))[:, 0])
    return errors
