"""Claims as `templates/claims.html` has them: what the paper says, what we measured, and a mark that compares them."""

import math
from collections.abc import Sequence
from typing import Any

from exmachina.pictures.pages import part
from exmachina.reproduce.ledger import (
    Tally,
    by_how_much,
    difference,
    interval_words,
    number,
    paper_words,
    quantity,
    reading_words,
    tally,
    whose,
)
from exmachina.reproduce.outcome import Outcome
from exmachina.reproduce.verdicts import Claim, Verdict

__all__ = ["COLUMNS", "anchor", "badges", "claim_rows", "claims_table", "kinds_of", "mark", "style", "views_of"]

SPAN = 3.0
"""The mark of a claim goes, logarithmically, from the paper's value over this to that times this; the page says so."""
WIDTH, HEIGHT = 132, 22
MIDDLE = HEIGHT / 2
INSET = 6
"""Room at both ends of the mark for what is out of range."""
SIGNS = {
    Verdict.REPRODUCED: "✓",
    Verdict.BETTER: "▲",
    Verdict.DIFFERS: "≠",
    Verdict.FAILED: "✗",
    Verdict.UNMEASURED: "?",
}
ORDER = [Verdict.FAILED, Verdict.DIFFERS, Verdict.UNMEASURED, Verdict.REPRODUCED, Verdict.BETTER]
"""What a person looks for comes first."""
COLUMNS = [
    ("verdict", "verdict", "tight", True),
    ("claim", "claim", "wide", True),
    ("paper", "paper", "number", True),
    ("ours", "ours (95 %)", "number", True),
    ("off", "off by", "number", True),
    ("mark", "ours / paper", "", False),
    ("tables", "tables", "tight", True),
    ("seen", "seen by them", "wide", True),
    ("note", "note", "wide", False),
]
"""Key, words, style, and whether rows sort by it; the order of the mark is that of `off`."""


def anchor(name: str) -> str:
    """A name as an HTML id: letters, digits, dots and dashes."""
    return "".join(c if c.isascii() and (c.isalnum() or c in "-.") else "_" for c in name)


def style(verdict: Verdict) -> str:
    """A verdict's name for style sheets and addresses."""
    return verdict.name.lower()


def badges(counts: Tally) -> list[dict[str, Any]]:
    """How many claims came to what, as signs with numbers; verdicts that nothing came to are left out."""
    return [_badge(verdict) | {"count": counts[verdict]} for verdict in Verdict if counts[verdict]]


def _badge(verdict: Verdict) -> dict[str, Any]:
    return {"style": style(verdict), "sign": SIGNS[verdict], "word": verdict.value.capitalize()}


def views_of(outcomes: Sequence[Outcome]) -> list[tuple[str, str, int]]:
    """By which verdicts claims are shown: a verdict, its words, and how many there are."""
    counts = tally(claim for outcome in outcomes for claim in outcome.claims)
    views = [(style(verdict), verdict.value.capitalize(), counts[verdict]) for verdict in Verdict]
    return [("", "All", counts.all), *views]


def kinds_of(outcomes: Sequence[Outcome]) -> list[tuple[str, str]]:
    """Whose tables claims are about, with words."""
    kinds = {claim.tables: whose(claim) for outcome in outcomes for claim in outcome.claims}
    return [(key or "none", kinds[key]) for key in sorted(kinds)]


def claims_table(pairs: Sequence[tuple[Claim, Outcome]], caption: str, *, linked: bool = False) -> str:
    """Claims, each with the outcome that it is from, as HTML.

    Args:
        pairs: Claims.
        caption: For those who hear the page.
        linked: Whether each claim links to where it is from; else it is where links lead to.
    """
    return part("claims.html", "table", COLUMNS, claim_rows(pairs), caption, linked)


def claim_rows(pairs: Sequence[tuple[Claim, Outcome]]) -> list[dict[str, Any]]:
    """Rows of the table of claims, each claim with the outcome that it is from."""
    return [_row(claim, outcome) for claim, outcome in pairs]


def _row(claim: Claim, outcome: Outcome) -> dict[str, Any]:
    share = difference(claim)
    keys = {"verdict": ORDER.index(claim.verdict), "paper": claim.paper, "ours": claim.ours, "off": share}
    return {
        "anchor": anchor(f"claim-{claim.id}"),
        "experiment": outcome.id,
        "verdict": _badge(claim.verdict),
        "words": f"{claim.id} {outcome.id} {outcome.paper} {outcome.title}",
        "text": claim.text,
        "source": claim.source,
        "paper": paper_words(claim),
        "reading": reading_words(claim),
        "ours": quantity(claim.ours, claim.unit, zeros=True),
        "interval": interval_words(claim),
        "off": by_how_much(claim),
        "mark": _mark(claim),
        "tables": whose(claim),
        "tables_key": claim.tables or "none",
        "seen": claim.seen,
        "note": claim.note,
        "sort_keys": {key: repr(at) for key, at in keys.items() if at is not None and math.isfinite(at)},
    }


def mark(claim: Claim) -> str:
    """Ours over the paper's, with its interval, over the range that its interval must reach: a drawing, or nothing."""
    return part("claims.html", "mark", _mark(claim)).strip()


def _mark(claim: Claim) -> dict[str, Any] | None:
    """The numbers of that drawing."""
    if claim.ours is None or claim.paper <= 0:
        return None
    ratio = claim.ours / claim.paper
    from_x, to_x = map(_across, _range(claim))
    interval = None
    if claim.low is not None and claim.high is not None:
        interval = [f"{_across(end / claim.paper):.1f}" for end in (claim.low, claim.high)]
    return {
        "style": style(claim.verdict),
        "words": f"{number(ratio)} times the paper's",
        "width": WIDTH,
        "height": HEIGHT,
        "middle": MIDDLE,
        "track": [INSET, WIDTH - INSET],
        "range": [f"{from_x:.1f}", f"{max(1.0, to_x - from_x):.1f}"],
        "paper": f"{_across(1):.1f}",
        "interval": interval,
        "dot": f"{_across(ratio):.1f}",
        "arrow": _arrow(ratio),
    }


def _range(claim: Claim) -> tuple[float, float]:
    """Ratios of ours to the paper's that are the paper's: what may have been read, or the side of a bound."""
    if claim.kind == "number":
        share = claim.reading / claim.paper
        return 1 - share, 1 + share
    return (0.0, 1.0) if claim.kind == "at-most" else (1.0, math.inf)


def _across(ratio: float) -> float:
    """Where a ratio is in the mark, px; at an end where it is out of range."""
    share = math.log(ratio, SPAN) if 0 < ratio < math.inf else math.copysign(1, ratio - 1)
    return INSET + (WIDTH - 2 * INSET) * (1 + max(-1.0, min(1.0, share))) / 2


def _arrow(ratio: float) -> str:
    """What takes the place of the dot of ours where it is out of range."""
    if 1 / SPAN <= ratio <= SPAN:
        return ""
    x = _across(ratio)
    tip = x + math.copysign(INSET, ratio - 1)
    back = x - math.copysign(3, ratio - 1)
    return f"M{tip:.1f} {MIDDLE}L{back:.1f} {MIDDLE - 5}V{MIDDLE + 5}Z"
