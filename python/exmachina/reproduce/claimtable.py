"""Claims as a table of a page: what the paper says, what we measured, and a mark that shows how far apart they are.

Every cell of a table that sorts has its key in `data-sort`: a number, or nothing where there is none.
"""

import math
from collections.abc import Sequence
from html import escape

from exmachina.reproduce.ledger import (
    Verdict,
    by_how_much,
    difference,
    interval_words,
    number,
    paper_words,
    quantity,
    tally,
    verdict,
    whose,
)
from exmachina.reproduce.outcome import Claim, Outcome

__all__ = ["anchor", "badge", "claims_table", "ledger_board", "mark"]

SPAN = 3.0
"""The mark of a claim goes, logarithmically, from the paper's value over this to that times this; the page says so."""
WIDTH, HEIGHT = 132, 22
MIDDLE = HEIGHT / 2
INSET = 6
"""Room at both ends of the mark for what is out of range."""
SIGNS = {Verdict.HELD: "✓", Verdict.FAILED: "✗", Verdict.UNMEASURED: "?"}
CLASSES = {Verdict.HELD: "held", Verdict.FAILED: "failed", Verdict.UNMEASURED: "unmeasured"}
ORDER = {Verdict.FAILED: 0, Verdict.UNMEASURED: 1, Verdict.HELD: 2}
COLUMNS = [
    ("verdict", "verdict", "tight"),
    ("claim", "claim", "wide"),
    ("paper", "paper", "number"),
    ("ours", "ours (95 %)", "number"),
    ("off", "off by", "number"),
    ("mark", "ours / paper", ""),
    ("tables", "tables", "tight"),
    ("note", "note", "wide"),
]
UNSORTED = ("mark", "note")
"""Columns without an order of their own: the mark is that of `off`."""


def anchor(name: str) -> str:
    """A name as an HTML id: letters, digits, dots and dashes."""
    return "".join(c if c.isascii() and (c.isalnum() or c in "-.") else "_" for c in name)


def badge(ruling: Verdict) -> str:
    """A verdict as sign, word and colour."""
    sign = f'<span aria-hidden="true">{SIGNS[ruling]}</span>'
    return f'<span class="badge {CLASSES[ruling]}">{sign} {ruling.value.capitalize()}</span>'


def ledger_board(outcomes: Sequence[Outcome]) -> str:
    """All claims, with what searches and filters them."""
    pairs = [(claim, outcome) for outcome in outcomes for claim in outcome.claims]
    counts = tally(claim for claim, _ in pairs)
    views = [("", "All", counts.all), ("held", "Held", counts.held), ("failed", "Not held", counts.failed)]
    views.append(("unmeasured", "Not measured", counts.unmeasured))
    chips = "".join(
        f'<button type="button" class="chip" data-show="{name}" aria-pressed="{"false" if name else "true"}">'
        f"{words} <b>{count}</b></button>"
        for name, words, count in views
    )
    kinds = {claim.tables: whose(claim) for claim, _ in pairs}
    choices = "".join(f'<option value="{escape(key or "none")}">{escape(kinds[key])}</option>' for key in sorted(kinds))
    choose = (
        f'<label class="pick">Tables <select name="tables"><option value="">all</option>{choices}</select></label>'
        if len(kinds) > 1
        else ""
    )
    tools = (
        '<div class="tools"><input type="search" placeholder="Search claims" aria-label="Search claims">'
        f'<div class="chips" role="group" aria-label="Which claims">{chips}</div>{choose}'
        '<label class="pick narrow">Sort by <select name="sort"></select></label>'
        '<output aria-live="polite"></output></div>'
    )
    return f'<div class="board ledger">{tools}{claims_table(pairs, "All claims", linked=True)}</div>'


def claims_table(pairs: Sequence[tuple[Claim, Outcome]], caption: str, *, linked: bool = False) -> str:
    """Claims, each with the outcome that it is from.

    Args:
        pairs: Claims.
        caption: For those who hear the page.
        linked: Whether each claim links to where it is from; else it is where links lead to.
    """
    head = "".join(
        f'<th scope="col" role="columnheader" class="{key} {style}"'
        + ("" if key in UNSORTED else f' data-key="{key}"')
        + f">{escape(words)}</th>"
        for key, words, style in COLUMNS
    )
    rows = "".join(_row(claim, outcome, linked=linked) for claim, outcome in pairs)
    # On a phone each row becomes a card, and a table that is no table for CSS needs its roles said.
    return (
        f'<div class="scroll"><table class="claims" role="table"><caption>{escape(caption)}</caption>'
        f'<thead role="rowgroup"><tr role="row">{head}</tr></thead><tbody role="rowgroup">{rows}</tbody></table></div>'
    )


def _row(claim: Claim, outcome: Outcome, *, linked: bool) -> str:
    ruling, share = verdict(claim), difference(claim)
    here = anchor(f"claim-{claim.id}")
    where = escape(claim.source)
    if linked:
        where += f' · <a href="#{here}">{escape(outcome.id)}</a>'
    tolerance = "" if claim.kind == "order" else f"<small>± {100 * claim.tolerance:.3g} %</small>"
    ours, interval = quantity(claim.ours, claim.unit, zeros=True), interval_words(claim)
    cells = [
        (ORDER[ruling], badge(ruling)),
        (None, f"{escape(claim.text)}<small>{where}</small>"),
        (claim.paper, f"{escape(paper_words(claim))}{tolerance}"),
        (claim.ours, escape(ours) + (f"<small>{interval}</small>" if interval else "")),
        (share, escape(by_how_much(claim))),
        (None, mark(claim)),
        (None, escape(whose(claim))),
        (None, escape(claim.note)),
    ]
    body = "".join(
        f'<td role="cell" class="{key} {style}" data-label="{escape(words)}"{_sort_key(value)}>{html}</td>'
        for (key, words, style), (value, html) in zip(COLUMNS, cells, strict=True)
    )
    name = "" if linked else f' id="{here}"'
    return (
        f'<tr role="row"{name} data-verdict="{CLASSES[ruling]}" data-tables="{escape(claim.tables or "none")}" '
        f'data-words="{escape(f"{claim.id} {outcome.id} {outcome.paper} {outcome.title}")}">{body}</tr>'
    )


def _sort_key(value: float | None) -> str:
    return f' data-sort="{value!r}"' if value is not None and math.isfinite(value) else ""


def mark(claim: Claim) -> str:
    """Ours over the paper's, with its interval, over the range that counts as held: a drawing, or nothing."""
    if claim.ours is None or claim.paper <= 0:
        return ""
    ratio = claim.ours / claim.paper
    low, high = _held_range(claim)
    from_x, to_x = _across(low), _across(high)
    shapes = [
        f'<line class="track" x1="{INSET}" x2="{WIDTH - INSET}" y1="{MIDDLE}" y2="{MIDDLE}"/>',
        f'<rect class="range" x="{from_x:.1f}" y="3" width="{to_x - from_x:.1f}" height="{HEIGHT - 6}" rx="3"/>',
        f'<line class="paper" x1="{_across(1):.1f}" x2="{_across(1):.1f}" y1="2" y2="{HEIGHT - 2}"/>',
    ]
    if claim.low is not None and claim.high is not None:
        ends = [_across(end / claim.paper) for end in (claim.low, claim.high)]
        shapes.append(f'<line class="interval" x1="{ends[0]:.1f}" x2="{ends[1]:.1f}" y1="{MIDDLE}" y2="{MIDDLE}"/>')
    shapes.append(_dot(ratio))
    words = f"{number(ratio)} times the paper's"
    return (
        f'<svg class="mark {CLASSES[verdict(claim)]}" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        f'role="img" aria-label="{words}"><title>{words}</title>{"".join(shapes)}</svg>'
    )


def _held_range(claim: Claim) -> tuple[float, float]:
    """Ratios of ours to the paper's that count as held."""
    below = 1.0 if claim.kind == "order" else 1 - claim.tolerance
    above = 1 + claim.tolerance
    return (0.0 if claim.kind == "at-most" else below), (math.inf if claim.kind in ("at-least", "order") else above)


def _across(ratio: float) -> float:
    """Where a ratio is in the mark, px; at an end where it is out of range."""
    share = math.log(ratio, SPAN) if 0 < ratio < math.inf else math.copysign(1, ratio - 1)
    return INSET + (WIDTH - 2 * INSET) * (1 + max(-1.0, min(1.0, share))) / 2


def _dot(ratio: float) -> str:
    """The dot of ours; an arrow where it is out of range."""
    x = _across(ratio)
    if 1 / SPAN <= ratio <= SPAN:
        return f'<circle cx="{x:.1f}" cy="{MIDDLE}" r="4.5"/>'
    tip = x + math.copysign(INSET, ratio - 1)
    back = x - math.copysign(3, ratio - 1)
    return f'<path d="M{tip:.1f} {MIDDLE}L{back:.1f} {MIDDLE - 5}V{MIDDLE + 5}Z"/>'
