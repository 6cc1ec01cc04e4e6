"""Schemes on one network of a sweep: evaluated, or of a model scored, where their runs are not kept from earlier."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from exmachina.engines import Engine
from exmachina.evaluation import Evaluation, evaluate
from exmachina.files import FinishedRuns, digest
from exmachina.networks import Model
from exmachina.schemes import SchemeLike, contender_of, distinct
from exmachina.scoring import ScoreOptions, ScoreReport, score
from exmachina.sweeping.options import SweepOptions

__all__ = ["Simulator"]

Tell = Callable[[float], None]
"""Told the share that is finished, 0 to 1."""


@dataclass(frozen=True)
class Simulator:
    """What is the same at all points."""

    schemes: Sequence[SchemeLike] | None
    options: SweepOptions
    engine: Engine
    folder: Path | None
    """Where finished runs are kept."""

    def run(self, network: Model | Evaluation, tell: Tell) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The rows and the summary of all schemes on a network."""
        if isinstance(network, Model):
            report = self._scored(network, tell)
            return report.frame, report.summary
        results = evaluate(
            network,
            self.schemes,
            self.options,
            cluster=self.engine,
            cache=self.folder,
            on_progress=lambda now: tell(now.done / now.runs),
        )
        return results.flows, results.summary

    def _scored(self, model: Model, tell: Tell) -> ScoreReport:
        given, chosen = self.schemes or (), self.options
        specimens = ScoreOptions.specimens if chosen.runs is None else chosen.runs
        seconds_each = model.duration_s if chosen.duration_s is None else chosen.duration_s
        seed = model.seed if chosen.seed is None else chosen.seed
        options = ScoreOptions(specimens=specimens, seconds_each=seconds_each, seed=seed)
        drawn = digest(model.text, specimens, seconds_each, seed)
        own, reference = [], pl.DataFrame()
        for done, (scheme, one) in enumerate(zip(given, distinct(map(contender_of, given)), strict=True)):
            tell(done / len(given))
            rows = self._rows(scheme, drawn, model, options)
            named = pl.col("scheme") == rows["scheme"][0]
            own.append(rows.filter(named).with_columns(scheme=pl.lit(one.label)))
            reference = rows.filter(~named)
        return ScoreReport(model, seconds_each, seed, pl.concat([*own, reference]))

    def _rows(self, scheme: SchemeLike, drawn: str, model: Model, options: ScoreOptions) -> pl.DataFrame:
        """Those of a scheme and of the reference, kept or simulated: all networks of a scheme are one piece of work."""
        one = contender_of(scheme)
        key = None if one.content is None else digest(drawn, one.label, one.content)
        kept = FinishedRuns(self.folder, one.label, key)
        if not kept.count:
            kept.add(score(scheme, model, options, cluster=self.engine).frame, options.specimens)
            kept.keep()
        return kept.rows
