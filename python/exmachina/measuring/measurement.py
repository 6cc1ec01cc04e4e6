"""What a measurement gave: results as a simulation's, and how late packets were."""

import os
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from exmachina.evaluation import Results
from exmachina.files import make_folder, write_atomically

__all__ = ["LATENESS", "Measurement"]

FILE = "lateness.csv"
LATENESS = ("attempts", "late_mean_ms", "late_p99_ms", "late_p999_ms", "late_max_ms")
"""The columns that rows of a measurement have beside those of a simulation."""


@dataclass(frozen=True)
class Measurement:
    """What a number of contenders got on the same networks, between real hosts.

    >>> results = exmachina.evaluate("r4-today", ["cubic"], runs=1, duration_s=1)
    >>> [path.name for path in exmachina.Measurement(results, results.flows.clear()).paths("out")]
    ['flows.parquet', 'summary.csv', 'lateness.csv']
    """

    results: Results
    """As of an evaluation: rows with the same columns, summaries, warnings. A packet's RTT is the time that it takes
    through the path. What only a sender knows is not measured: `reductions` and samples of RTTs are null, of QUIC
    `timeouts`, too; packets that it sent again are those that it took for lost."""
    lateness: pl.DataFrame
    """One row per contender and run: attempts (that it took), and by how much packets were handed over, and timers of
    QUIC ran, later than they should: late_mean_ms, late_p99_ms and late_p999_ms (which one in a hundred and in a
    thousand exceeds), late_max_ms."""

    def paths(self, folder: str | os.PathLike[str]) -> list[Path]:
        """What `save` writes."""
        return [*self.results.paths(folder), Path(folder) / FILE]

    def save(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Writes, each atomically, what `Results.save` writes, and `lateness.csv`.

        Returns:
            Their paths.

        Raises:
            InputError: If the folder cannot be created or is read-only.
        """
        written = self.results.save(make_folder(folder))
        write_atomically(Path(folder) / FILE, self.lateness.write_csv().encode())
        return [*written, Path(folder) / FILE]
