"""What a sweep gave: rows and means with the swept values beside them, and files."""

import json
import os
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from exmachina.evaluation import COUNTED
from exmachina.files import make_folder, write_atomically, write_parquet
from exmachina.sweeping.points import Over

__all__ = ["EVALUATED", "SCORED", "Measure", "Sweep"]


@dataclass(frozen=True)
class Measure:
    """A number of each scheme at each point."""

    column: str
    """Of `Sweep.summary`."""
    half_width: str | None
    """The column with half of its 95 % confidence interval, if there is one."""
    title: str
    """With its unit."""


EVALUATED = (
    Measure("counted_mbps_mean", "counted_mbps_ci95", COUNTED["counted_mbps"]),
    Measure("counted_delay_ms_mean", "counted_delay_ms_ci95", COUNTED["counted_delay_ms"]),
)
"""Of a scenario."""
SCORED = (
    Measure("score", "score_ci95", "score"),
    Measure("normalised_throughput", None, "throughput / equal share"),
    Measure("delay_ratio", None, "RTT / minimum RTT"),
)
"""Of a model."""


@dataclass(frozen=True)
class Sweep:
    """Schemes at each point of a sweep.

    >>> found = exmachina.sweep("r4", ["cubic"], over={"link.loss": [0, 0.01]}, runs=1, duration_s=1)
    >>> found.summary.select("link.loss", "label").rows()
    [(0.0, 'cubic'), (0.01, 'cubic')]
    """

    name: str
    """Of the scenario or model."""
    description: str
    text: str
    """Of its file, before anything is changed."""
    over: Over
    """The values of each swept field."""
    measures: tuple[Measure, ...]
    """What is printed and drawn: of a scenario throughput and queueing delay, of a model the score and its parts."""
    who: str
    """The column with the names of schemes: `label` of a scenario, `scheme` of a model."""
    frame: pl.DataFrame
    """A column for each swept field, then those of `Results.flows` or, of a model, `ScoreReport.frame`."""
    summary: pl.DataFrame
    """One row per point and scheme: a column for each swept field, then those of `Results.summary` or, of a model,
    `ScoreReport.summary`."""
    warnings: tuple[str, ...] = ()
    """One line for each rule table that meets networks outside the range that its file says it was designed for."""

    @property
    def schemes(self) -> list[str]:
        """Their names, in order."""
        names: list[str] = self.summary[self.who].unique(maintain_order=True).to_list()
        return names

    def paths(self, folder: str | os.PathLike[str]) -> list[Path]:
        """What `save` writes."""
        rows = "flows.parquet" if self.measures is EVALUATED else "scores.parquet"
        return [Path(folder) / rows, Path(folder) / "summary.csv"]

    def save(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Writes, each atomically, `flows.parquet` or, of a model, `scores.parquet`, and `summary.csv`.

        Returns:
            Their paths.

        Raises:
            InputError: If the folder cannot be created or is read-only.
        """
        rows, summary = self.paths(make_folder(folder))
        write_parquet(rows, self.frame, {"network": self.text, "over": json.dumps(dict(self.over))})
        write_atomically(summary, self.summary.write_csv().encode())
        return [rows, summary]
