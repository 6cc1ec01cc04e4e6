"""What steadying gave: the algorithm, how it came about, and what it does beside what it was."""

import json
import os
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from exmachina.files import make_folder, write_atomically, write_parquet
from exmachina.networks import Model
from exmachina.schemes import Table
from exmachina.stats import Interval
from exmachina.steadying.options import SteadyOptions

__all__ = ["STEPS", "Steadied"]

STEPS, CHECKS = "steps.parquet", "checks.csv"


@dataclass(frozen=True)
class Steadied:
    """An algorithm that was taken to where flows come back.

    >>> few = exmachina.SteadyOptions(steps=1, candidates=1, specimens=4, disturbed=2, states=2, checks=2)
    >>> steadied = exmachina.steady("known-1x", options=few, seconds_each=5)
    >>> steadied.table.name, steadied.checks["scheme"].to_list()
    ('known-1x-steady', ['known-1x-steady', 'known-1x'])
    """

    table: Table
    begun: Table
    """As it was."""
    models: tuple[Model, ...]
    """Whose networks were disturbed, and others whose scores counted."""
    options: SteadyOptions
    steps: pl.DataFrame
    """One row per step: step (from 1), taken (how many changes of a table; of a law which candidate is the best, from
    1), of a table gain (of the best candidate over what there was) and gain_again (on the last networks on which any
    were tried; none where nobody was ahead), and of what there was (of a law: in the mean of its candidates), on the
    states of the step, the shares back, below and stays, and what flows lack; order, numbers from 0: which candidates
    were taken, or of a law all, the best first."""
    checks: pl.DataFrame
    """By networks and states that chose nothing, one row for it and one for what it was: scheme, score (by weight
    the mean over models), back, below, stays, lacks, uneven (as of `Disturbed.summary`)."""
    gain: Interval
    """Of the score there, over what it was: the mean, and half of its 95 % interval."""
    key: str
    """What the steps follow from."""
    steps_s: tuple[float, ...]
    """CPU-seconds of each step in the process that took it; those of workers are not in it."""

    @property
    def cpu_s(self) -> float:
        """What all steps took, in CPU-seconds."""
        return sum(self.steps_s)

    @property
    def compared(self) -> str:
        """On how many networks it was compared, in words: of the model, or of each that counts."""
        each = f" of each of {len(self.models)} models" if len(self.models) > 1 else ""
        return f"{self.options.checks} networks{each}"

    def paths(self, folder: str | os.PathLike[str]) -> list[Path]:
        """What `save` writes."""
        return [Path(folder) / name for name in (f"{self.table.name}.dna", STEPS, CHECKS)]

    def save(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Writes, each atomically, the algorithm (`NAME-steady.dna`), `steps.parquet` and `checks.csv`.

        Returns:
            Their paths.

        Raises:
            InputError: If the folder cannot be created or is read-only.
        """
        table, steps, checks = self.paths(make_folder(folder))
        self.table.save(table)
        write_parquet(steps, self.steps, {"key": self.key, "steps_s": json.dumps(self.steps_s)})
        write_atomically(checks, self.checks.write_csv().encode())
        return [table, steps, checks]
