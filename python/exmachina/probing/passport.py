"""What a probe gave: numbers along each axis, the ranges that tables were designed for, and knife edges of these."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from exmachina.files import make_folder, write_atomically, write_parquet
from exmachina.networks import Ranges
from exmachina.probing.axes import Axis
from exmachina.probing.base import Base
from exmachina.probing.measures import summarised

__all__ = ["Passport"]

FILES = ("points.parquet", "summary.csv", "edges.csv", "equilibria.csv")


@dataclass(frozen=True)
class Passport:
    """How schemes do along some axes.

    >>> passport = exmachina.probe("known-1x", axes=["acks"], rivals=["cubic"], runs=1)
    >>> passport.summary["scheme"].unique(maintain_order=True).to_list()
    ['known-1x', 'cubic']
    """

    base: Base
    """The network that all axes go through."""
    delta: float
    """How much delay counts against throughput."""
    seed: int
    schemes: tuple[str, ...]
    """Their names, those asked for first, then the rivals."""
    axes: tuple[Axis, ...]
    designed: Mapping[str, Ranges]
    """What tables were designed for, by scheme, of those whose file says so."""
    frame: pl.DataFrame
    """One row per scheme, axis, value and run: scheme, axis, value (none where it is a name), label (the value in
    words), inside (whether the scheme was designed for it; none where that is not known), run, score (mean over senders
    of ln(throughput) - delta ln(delay), 0 for an equal share without a queue), throughput (over an equal share of the
    link), delay (RTT over that of an empty network), senders_on, starved_senders."""
    edges: pl.DataFrame
    """Knife edges of the tables: scheme, and what `exmachina.inspection.knife_edges` gives."""
    equilibria: pl.DataFrame
    """States of a lone flow that hold themselves: scheme, and what `exmachina.inspection.equilibria` gives, on the
    networks that a table was designed for, else on that of the base."""

    @property
    def summary(self) -> pl.DataFrame:
        """One row per scheme, axis and value, of all runs.

        Columns: scheme, axis, value, label, inside, runs, score (the mean) and score_error (its standard error),
        throughput and delay (geometric means), starved_share (of the senders that were on).
        """
        return summarised(self.frame)

    def paths(self, folder: str | os.PathLike[str]) -> list[Path]:
        """What `save` writes."""
        return [Path(folder) / name for name in FILES]

    def save(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Writes, each atomically, `points.parquet`, `summary.csv`, `edges.csv` and `equilibria.csv`.

        Returns:
            Their paths.

        Raises:
            InputError: If the folder cannot be created or is read-only.
        """
        points, *tables = self.paths(make_folder(folder))
        facts = {"base": self.base.words, "delta": str(self.delta), "seed": str(self.seed)}
        write_parquet(points, self.frame, facts)
        for path, frame in zip(tables, (self.summary, self.edges, self.equilibria), strict=True):
            write_atomically(path, frame.write_csv().encode())
        return [points, *tables]
