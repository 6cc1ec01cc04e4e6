"""The ledger of claims: the paper's number, ours, by how much they differ, held or not; as data and as Markdown."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import polars as pl

from exmachina.files import write_atomically
from exmachina.reproduce.outcome import Claim, Outcome

__all__ = [
    "Tally",
    "Verdict",
    "by_how_much",
    "difference",
    "interval_words",
    "ledger_frame",
    "ledger_markdown",
    "number",
    "paper_words",
    "quantity",
    "tally",
    "verdict",
    "whose",
    "write_ledger",
]

DASH = "–"
COMPARED = {"near": "≈", "at-least": "≥", "at-most": "≤", "order": "≥"}
WHOSE = {"ours": "ours", "published": "published", "": "neither"}
WHOLE = 999.5
"""From here on three digits are no more than the whole number."""


class Verdict(Enum):
    """What became of a claim; the value is for people."""

    FAILED = "not held"
    UNMEASURED = "not measured"
    HELD = "held"


@dataclass(frozen=True)
class Tally:
    """How many claims came to what."""

    held: int
    failed: int
    unmeasured: int

    @property
    def measured(self) -> int:
        """Claims that could be measured."""
        return self.held + self.failed

    @property
    def all(self) -> int:
        """All claims."""
        return self.measured + self.unmeasured

    def __str__(self) -> str:
        """The counts in words."""
        return f"{self.held} held, {self.failed} not held, {self.unmeasured} not measured"


def verdict(claim: Claim) -> Verdict:
    """What became of a claim."""
    if claim.held is None:
        return Verdict.UNMEASURED
    return Verdict.HELD if claim.held else Verdict.FAILED


def tally(claims: Iterable[Claim]) -> Tally:
    """Counts of the verdicts."""
    verdicts = [verdict(claim) for claim in claims]
    return Tally(*(verdicts.count(each) for each in (Verdict.HELD, Verdict.FAILED, Verdict.UNMEASURED)))


def difference(claim: Claim) -> float | None:
    """By how much ours is above the paper's, as a share of the paper's; `None` if there is no such share."""
    if claim.ours is None or claim.paper == 0:
        return None
    share = (claim.ours - claim.paper) / abs(claim.paper)
    return share if math.isfinite(share) else None


def by_how_much(claim: Claim) -> str:
    """The difference in words: a share where there is one, else in the claim's unit."""
    share = difference(claim)
    if share is not None:
        return _signed(f"{100 * share:,.0f} %")
    if claim.ours is None or not math.isfinite(claim.ours):
        return DASH
    return _signed(quantity(claim.ours - claim.paper, claim.unit))


def _signed(text: str) -> str:
    if re.match(r"[-−]?0( |$)", text):
        return text.lstrip("-−")
    return text.replace("-", "−", 1) if text[0] in "-−" else f"+{text}"


def number(value: float | None, *, zeros: bool = False) -> str:
    """Three digits, or the whole number where that has more; with `zeros`, also those at the end that are 0."""
    if value is None or not math.isfinite(value):
        return DASH
    if abs(value) >= WHOLE:
        text = f"{value:,.0f}"
    else:
        text = f"{value:#.3g}".rstrip(".") if zeros and value else f"{value:.3g}"
    return text.replace("-", "−", 1) if value < 0 else text


def quantity(value: float | None, unit: str, *, zeros: bool = False) -> str:
    """A number with its unit; "x", a ratio, becomes "×"."""
    text = number(value, zeros=zeros)
    unit = "×" if unit == "x" else unit
    return text if text == DASH or not unit else f"{text} {unit}"


def paper_words(claim: Claim) -> str:
    """What the paper asks for: `≥ 1.7 ×`."""
    return f"{COMPARED.get(claim.kind, '')} {quantity(claim.paper, claim.unit)}".strip()


def interval_words(claim: Claim) -> str:
    """The confidence interval, without unit; nothing if there is none."""
    if claim.low is None or claim.high is None:
        return ""
    return f"{number(claim.low, zeros=True)} {DASH} {number(claim.high, zeros=True)}"


def whose(claim: Claim) -> str:
    """With whose tables it was measured."""
    return WHOSE.get(claim.tables, claim.tables)


def ledger_frame(outcomes: Sequence[Outcome]) -> pl.DataFrame:
    """The ledger as data, one row per claim, in the catalogue's order.

    Returns:
        experiment, paper, id, claim, source, kind, unit, paper_value, ours, low, high (in `unit`), difference (a share
        of the paper's value), tolerance (likewise), held, tables, scale, note; null where not measured.
    """
    rows = [
        {
            "experiment": outcome.id,
            "paper": outcome.paper,
            "id": claim.id,
            "claim": claim.text,
            "source": claim.source,
            "kind": claim.kind,
            "unit": claim.unit,
            "paper_value": claim.paper,
            "ours": claim.ours,
            "low": claim.low,
            "high": claim.high,
            "difference": difference(claim),
            "tolerance": claim.tolerance,
            "held": claim.held,
            "tables": claim.tables,
            "scale": outcome.scale,
            "note": claim.note,
        }
        for outcome in outcomes
        for claim in outcome.claims
    ]
    return pl.DataFrame(rows, schema=SCHEMA)


SCHEMA = {
    **dict.fromkeys(("experiment", "paper", "id", "claim", "source", "kind", "unit"), pl.String()),
    **dict.fromkeys(("paper_value", "ours", "low", "high", "difference", "tolerance"), pl.Float64()),
    "held": pl.Boolean(),
    **dict.fromkeys(("tables", "scale", "note"), pl.String()),
}


def write_ledger(outcomes: Sequence[Outcome], path: Path) -> Path:
    """Writes the ledger as CSV."""
    write_atomically(path, ledger_frame(outcomes).write_csv().encode())
    return path


def ledger_markdown(outcomes: Sequence[Outcome]) -> str:
    """The ledger for docs: the counts, then a table for each paper."""
    lines = [f"{tally(claim for outcome in outcomes for claim in outcome.claims)}."]
    for paper in dict.fromkeys(outcome.paper for outcome in outcomes):
        pairs = [(outcome, claim) for outcome in outcomes if outcome.paper == paper for claim in outcome.claims]
        if not pairs:
            continue
        lines += [
            "",
            f"### {_plain(paper)}: {tally(claim for _, claim in pairs)}",
            "",
            "| | claim | where | paper | ours | 95 % | off by | tables | note |",
            "|---|---|---|---:|---:|---:|---:|---|---|",
        ]
        lines += [_line(outcome, claim) for outcome, claim in pairs]
    return "\n".join(lines) + "\n"


def _line(outcome: Outcome, claim: Claim) -> str:
    ruling = verdict(claim)
    cells = [
        f"**{ruling.value}**" if ruling is Verdict.FAILED else ruling.value,
        _plain(claim.text),
        _plain(f"{claim.source} ({outcome.id})"),
        _plain(paper_words(claim)),
        _plain(quantity(claim.ours, claim.unit, zeros=True)),
        interval_words(claim),
        by_how_much(claim),
        _plain(whose(claim)),
        _plain(claim.note),
    ]
    return f"| {' | '.join(cells)} |"


def _plain(text: str) -> str:
    """Text that Markdown shows as it is, within one cell of a table."""
    return re.sub(r"([\\|*_`\[\]<>#~])", r"\\\1", " ".join(text.split()))
