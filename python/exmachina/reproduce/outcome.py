"""What an experiment came to: its pictures, its tables, and each claim of the paper beside our number.

Experiments make these (`running.py`), the report shows them (`ledger.py`, `page.py`); neither knows more of the other.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

__all__ = ["Claim", "Outcome", "Picture", "TableOf"]


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper with a number in it, and what we measured.

    >>> {claim.held for claim in exmachina.reproduce("fig6", output="out")[0].claims} <= {True, False, None}
    True

    Attributes:
        id: Unique in the whole catalogue, such as "r4-gain-cubic".
        text: What is claimed, in our words: "RemyCC 0.1 has 1.7 times the median throughput of Cubic".
        source: Where: "Remy'13, table 1".
        kind: "near" (ours is the paper's number, give or take `tolerance`), "at-least" or "at-most" (ours is as good as
            the paper's or better, give or take `tolerance`), or "order" (no number: something is larger than something
            else; `ours` is the ratio or the share that says so, `paper` is the least that counts).
        paper: The paper's number, in `unit`.
        ours: Ours; `None` if it could not be measured, and then `note` says why.
        low, high: Bootstrap confidence interval of ours, 95 %; `None` where there is nothing to draw from.
        unit: "Mbit/s", "ms", "x" (a ratio), "" ...
        tolerance: Share of the paper's number by which ours may be off; 0.15 if nothing is said.
        held: Whether it holds; `None` if not measured.
        note: What a reader should know of it: why it does not hold, which link it ran on.
        tables: "ours" or "published": whose algorithms it was measured with ("" if no algorithm of either is in it).
    """

    id: str
    text: str
    source: str
    kind: str
    paper: float
    ours: float | None
    low: float | None
    high: float | None
    unit: str
    tolerance: float
    held: bool | None
    note: str = ""
    tables: str = "ours"


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
    """

    name: str
    title: str
    rows: pl.DataFrame


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
