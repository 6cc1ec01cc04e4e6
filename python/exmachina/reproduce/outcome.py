"""What an experiment came to: its pictures, its tables, and each claim of the paper beside our number.

Experiments make these (`running.py`), the report shows them (`ledger.py`, `page.py`); neither knows more of the other.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from exmachina.reproduce.verdicts import Claim

__all__ = ["Outcome", "Picture", "TableOf"]


@dataclass(frozen=True)
class Picture:
    """One figure, as files and, for the report, as an interactive one.

    Attributes:
        name: "fig4".
        caption: One or two sentences: what to see.
        png, svg: Files.
        chart: The Vega-Lite specification that they were drawn from, with values on hover.
    """

    name: str
    caption: str
    png: Path
    svg: Path
    chart: dict[str, Any] | None = None


@dataclass(frozen=True)
class TableOf:
    """One table, for people: column names with units; at most a few hundred rows.

    Attributes:
        name: "fig4-summary".
        title: "Median throughput and queueing delay".
        rows: The table.
        csv: Its file, once it is written.
    """

    name: str
    title: str
    rows: pl.DataFrame
    csv: Path | None = None


@dataclass(frozen=True)
class Outcome:
    """All of one experiment.

    >>> exmachina.reproduce("fig6", output="out")[0].title
    'Figure 6: a flow takes over what another one leaves'

    Attributes:
        id: "fig4", "tao-fig2", "table-1": what `exmachina reproduce` is given.
        paper: "Remy'13", "Tao'14" or "beyond".
        title: "Figure 4: dumbbell, 8 senders, 100 kB transfers".
        about: What the experiment asks and what the paper found, two to four sentences.
        method: How it was run: scenario, schemes, runs, seconds, seed, version; name and value pairs.
        scale: "quick" or "paper".
        cpu_s: CPU time that its simulations took when they were run, in seconds.
        pictures, tables, claims: What came of it.
        warnings: Such as "ran on the synthetic cellular link: no trace was given".
        parquet: The results, one row per run and sender.
    """

    id: str
    paper: str
    title: str
    about: str
    method: dict[str, str]
    scale: str
    cpu_s: float
    pictures: list[Picture] = field(default_factory=list)
    tables: list[TableOf] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    parquet: list[Path] = field(default_factory=list)
