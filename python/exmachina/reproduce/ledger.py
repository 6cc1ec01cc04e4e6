"""The ledger of claims: the paper's number, ours, by how much they differ, the verdict; as data and as Markdown."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from exmachina.files import write_atomically
from exmachina.reproduce.outcome import Outcome
from exmachina.reproduce.verdicts import RULE, Claim, Verdict

__all__ = [
    "GROUPS",
    "Tally",
    "by_how_much",
    "difference",
    "interval_words",
    "ledger_frame",
    "ledger_markdown",
    "number",
    "paper_words",
    "quantity",
    "reading_words",
    "tally",
    "whose",
    "write_ledger",
]

DASH = "–"
COMPARED = {"at-least": "≥", "at-most": "≤", "order": ">"}
"""What stands before the paper's value where it is not a number to meet."""
PLURAL = {Verdict.DIFFERS: "differ"}
"""Verdicts in words where there may be several."""
WHOSE = {"ours": "ours", "published": "published", "robust": "robust", "": "none"}
GROUPS = {
    "published": "the authors' published tables",
    "ours": "ours, each designed for the networks of the paper's model",
    "robust": "our robust ones, for the same ranges in the world as it is",
    "": "schemes that people wrote, no table",
}
"""With whose tables claims are measured, in the order in which they are counted."""
SEEN = (
    "*in training*: the table's model has such networks (but for the buffer, if that is named as new; the transports "
    "of evaluations, with their repairs and timers, are in no training). *In choosing*: results on them were looked at "
    "when it was decided which table to take, or to go on with. *New* is in what they lie outside the training's "
    "ranges. The authors' training is as the papers tell of it; by what they chose is not known."
)
"""What the column `seen` of the ledger says."""
WHOLE = 999.5
"""From here on three digits are no more than the whole number."""


@dataclass(frozen=True)
class Tally:
    """How many claims came to what."""

    counts: dict[Verdict, int] = field(default_factory=dict)

    def __getitem__(self, verdict: Verdict) -> int:
        """How many came to this."""
        return self.counts.get(verdict, 0)

    @property
    def all(self) -> int:
        """All claims."""
        return sum(self.counts.values())

    def __str__(self) -> str:
        """The counts in words; that nothing was left out goes without saying."""
        told = [verdict for verdict in Verdict if verdict is not Verdict.UNMEASURED or self[verdict]]
        return ", ".join(f"{self[verdict]} {PLURAL.get(verdict, verdict)}" for verdict in told)


def tally(claims: Iterable[Claim]) -> Tally:
    """Counts of the verdicts."""
    verdicts = [claim.verdict for claim in claims]
    return Tally({verdict: verdicts.count(verdict) for verdict in Verdict})


def difference(claim: Claim) -> float | None:
    """By how much ours is above the paper's, as a share of the paper's; `None` if there is no such share.

    The value of an order is no number of the paper's, and there is nothing to be off.
    """
    if claim.ours is None or claim.paper == 0 or claim.kind == "order":
        return None
    share = (claim.ours - claim.paper) / abs(claim.paper)
    return share if math.isfinite(share) else None


def by_how_much(claim: Claim) -> str:
    """The difference in words: a share where there is one, else in the claim's unit."""
    share = difference(claim)
    if share is not None:
        return _signed(f"{100 * share:,.0f} %")
    if claim.ours is None or not math.isfinite(claim.ours) or claim.kind == "order":
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
    """What the paper says: `1.7 ×`, `≥ 1.7 ×`."""
    return f"{COMPARED.get(claim.kind, '')} {quantity(claim.paper, claim.unit)}".strip()


def reading_words(claim: Claim) -> str:
    """How well the paper's number can be read, without unit: `± 0.05`; nothing where it is not read, or exact."""
    return f"± {number(claim.reading)}" if claim.reading else ""


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
        experiment, paper, id, claim, source, kind, unit, paper_value, reading (in `unit`), better, above, below (what
        the claim asks for: see `Claim`), ours, low, high (in `unit`), difference (a share of the paper's value),
        verdict, tables, seen, scale, note; null where not measured.
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
            "reading": claim.reading,
            "better": claim.better,
            "above": claim.above,
            "below": claim.below,
            "ours": claim.ours,
            "low": claim.low,
            "high": claim.high,
            "difference": difference(claim),
            "verdict": claim.verdict.value,
            "tables": claim.tables,
            "seen": claim.seen,
            "scale": outcome.scale,
            "note": claim.note,
        }
        for outcome in outcomes
        for claim in outcome.claims
    ]
    return pl.DataFrame(rows, schema=SCHEMA)


SCHEMA = {
    **dict.fromkeys(("experiment", "paper", "id", "claim", "source", "kind", "unit"), pl.String()),
    **dict.fromkeys(("paper_value", "reading"), pl.Float64()),
    "better": pl.String(),
    **dict.fromkeys(("above", "below", "ours", "low", "high", "difference"), pl.Float64()),
    **dict.fromkeys(("verdict", "tables", "seen", "scale", "note"), pl.String()),
}


def write_ledger(outcomes: Sequence[Outcome], path: Path) -> Path:
    """Writes the ledger as CSV."""
    write_atomically(path, ledger_frame(outcomes).write_csv().encode())
    return path


def ledger_markdown(outcomes: Sequence[Outcome]) -> str:
    """The ledger for docs: the rule, the counts, then a table for each paper."""
    lines = ["What a verdict means:", "", *(f"- *{verdict}*: {words}" for verdict, words in RULE.items()), ""]
    lines += ["What tables had seen of a claim's networks:", "", SEEN, ""]
    lines += _counts([claim for outcome in outcomes for claim in outcome.claims])
    for paper in dict.fromkeys(outcome.paper for outcome in outcomes):
        pairs = [(outcome, claim) for outcome in outcomes if outcome.paper == paper for claim in outcome.claims]
        if not pairs:
            continue
        lines += [
            "",
            f"### {_plain(paper)}: {tally(claim for _, claim in pairs)}",
            "",
            "| | claim | where | paper | read | ours | 95 % | off by | tables | seen | note |",
            "|---|---|---|---:|---:|---:|---:|---:|---|---|---|",
        ]
        lines += [_line(outcome, claim) for outcome, claim in pairs]
    return "\n".join(lines) + "\n"


def _counts(claims: Sequence[Claim]) -> list[str]:
    """A table of the verdicts, by whose tables claims were measured with."""
    lines = [f"| measured with | {' | '.join(Verdict)} | all |", f"|---|{'---:|' * (len(Verdict) + 1)}"]
    groups = {words: [claim for claim in claims if claim.tables == name] for name, words in GROUPS.items()}
    for words, own in {**groups, "all": claims}.items():
        counts = tally(own)
        lines.append(f"| {words} | {' | '.join(str(counts[verdict]) for verdict in Verdict)} | {counts.all} |")
    return lines


def _line(outcome: Outcome, claim: Claim) -> str:
    cells = [
        f"**{claim.verdict}**" if claim.verdict is Verdict.FAILED else claim.verdict.value,
        _plain(claim.text),
        _plain(f"{claim.source} ({outcome.id})"),
        _plain(paper_words(claim)),
        reading_words(claim),
        _plain(quantity(claim.ours, claim.unit, zeros=True)),
        interval_words(claim),
        by_how_much(claim),
        _plain(whose(claim)),
        _plain(claim.seen),
        _plain(claim.note),
    ]
    return f"| {' | '.join(cells)} |"


def _plain(text: str) -> str:
    """Text that Markdown shows as it is, within one cell of a table."""
    return re.sub(r"([\\|*_`\[\]<>#~])", r"\\\1", " ".join(text.split()))
