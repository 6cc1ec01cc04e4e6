"""What tuning gave: the law, how it came about, and on how many networks it is ahead of whom."""

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from exmachina.files import make_folder, write_atomically, write_parquet
from exmachina.schemes import Table
from exmachina.stats import Floats, Interval
from exmachina.tuning.options import TuneOptions

__all__ = ["GENERATIONS", "Tuned", "ahead_of"]

GENERATIONS, AHEAD = "generations.parquet", "ahead.csv"


@dataclass(frozen=True)
class Tuned:
    """A law that was tuned.

    >>> few = exmachina.TuneOptions(generations=1, candidates=4, networks=1, checks=2)
    >>> tuned = exmachina.tune("internet-1", ["r4"], few, rivals=["cubic", "vegas"])
    >>> tuned.table.name, tuned.ahead["rival"].to_list()
    ('internet-1-tuned', ['cubic', 'vegas'])
    """

    table: Table
    begun: Table
    """As it was."""
    rivals: tuple[str, ...]
    scenarios: tuple[str, ...]
    """The names of their files."""
    options: TuneOptions
    delta: float
    generations: pl.DataFrame
    """What each generation of candidates was worth: generation, candidate, worth (the mean over networks of the smooth
    share of rivals that it is ahead of)."""
    ahead: pl.DataFrame
    """By networks whose draws chose nothing; see `ahead_of`."""
    gain: Interval
    """Of the score, on the same networks, over the law as it was: the mean, and half of its 95 % interval."""
    key: str
    """What the generations follow from."""
    cpu_s: float
    """CPU time of this process and of earlier calls as far as they have got; that of workers is not in it."""

    def paths(self, folder: str | os.PathLike[str]) -> list[Path]:
        """What `save` writes."""
        return [Path(folder) / name for name in (f"{self.table.name}.dna", GENERATIONS, AHEAD)]

    def save(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Writes, each atomically, the law (`NAME-tuned.dna`), `generations.parquet` and `ahead.csv`.

        Returns:
            Their paths.

        Raises:
            InputError: If the folder cannot be created or is read-only.
        """
        law, generations, ahead = self.paths(make_folder(folder))
        self.table.save(law)
        write_parquet(generations, self.generations, {"key": self.key, "cpu_s": str(self.cpu_s)})
        write_atomically(ahead, self.ahead.write_csv().encode())
        return [law, generations, ahead]


def ahead_of(scores: Floats, rivals: tuple[str, ...]) -> pl.DataFrame:
    """On how many networks a law is ahead of each rival, and on how many it was before it was tuned.

    Args:
        scores: One row per network: of the law, of the law as it was, of each rival; NaN where nothing was measured.
        rivals: Their labels.

    Returns:
        rival, networks (where all three were measured), share_before and share (of those networks, where the law's
        score is the higher; none of none).
    """
    rows = []
    for number, rival in enumerate(rivals):
        leads = scores[:, :2] - scores[:, 2 + number, np.newaxis]
        leads = leads[~np.isnan(leads).any(axis=1)]
        now, before = (leads > 0).mean(axis=0) if len(leads) else (None, None)
        rows.append({"rival": rival, "networks": len(leads), "share_before": before, "share": now})
    kinds = {"rival": pl.String, "networks": pl.Int64, "share_before": pl.Float64, "share": pl.Float64}
    return pl.DataFrame(rows, schema=kinds)
