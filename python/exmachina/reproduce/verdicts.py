"""What becomes of a claim: one rule, which every place that shows verdicts prints.

A claim has a kind:

- `number`: the paper gives a number. `reading` is how far what it prints may be from what its authors measured, in the
  claim's unit: half a unit of the last digit that a text prints, or the hundredth part of a figure's axis; where all
  there is are words ("half", "without affecting"), a comment or the note says what is taken for them. `better` is the
  side on which beyond the paper's number is better for its algorithm, if the claim is about a side. `above` or `below`
  is the claim's direction, where it has one: a gain is above 1 whatever its size.
- `at-least`, `at-most`: the paper's words are a bound ("more than doubles", "within 3 %").
- `order`: the paper says that something is more than something else, and not by how much. Ours is a ratio, which must
  be above 1, or a difference, which must be above 0.

An interval is of our runs alone. The papers' numbers come from runs, too, and how far chance moved these is not known.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypeAlias

__all__ = ["RULE", "Better", "Claim", "ClaimKind", "Verdict"]

ClaimKind: TypeAlias = Literal["number", "at-least", "at-most", "order"]
Better: TypeAlias = Literal["higher", "lower"]


class Verdict(StrEnum):
    """What became of a claim.

    >>> exmachina.Verdict("not reproduced").name
    'FAILED'
    """

    REPRODUCED = "reproduced"
    BETTER = "better"
    DIFFERS = "differs"
    FAILED = "not reproduced"
    UNMEASURED = "not measured"


RULE = {
    Verdict.REPRODUCED: (
        "the paper's number is within our 95 % interval, widened by the error of reading it (half a unit of the last "
        "digit that its text prints, a hundredth of the axis if it was read off a figure); where there is no interval, "
        "within that error of ours. Where the paper gives a bound, ours is on its side; where it says that one thing "
        "is more than another, it is."
    ),
    Verdict.BETTER: (
        "the claim is about a side, such as more throughput or less delay of the paper's algorithm, and ours is beyond "
        "the paper's number on that side."
    ),
    Verdict.DIFFERS: (
        "neither; “off by” says by how much. The claim's direction, if it has one, holds: a gain is a gain. What has "
        "none, such as the throughput of one scheme, can only differ."
    ),
    Verdict.FAILED: "the direction, the order or the bound of the claim is missed, by however little.",
    Verdict.UNMEASURED: "a table or a result that it needs is not at hand.",
}
"""The rule in words, in the order in which verdicts are counted."""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A sentence of a paper with a number in it, and what we measured.

    >>> {claim.verdict for claim in exmachina.reproduce("fig6", output="out")[0].claims} <= set(exmachina.Verdict)
    True

    Attributes:
        id: Unique in the whole catalogue, such as "table-1-dumbbell-throughput-cubic".
        text: What is claimed, in our words: "RemyCC 0.1 has 1.7 times the median throughput of Cubic".
        source: Where: "Remy'13, §1".
        kind: "number", "at-least", "at-most", or "order" (something is more than something else; `ours` is the ratio or
            the difference that says so, and `paper` is what it must be above: 1 or 0).
        paper: The paper's number or bound, in `unit`.
        ours: Ours; `None` if it could not be measured, and then `note` says why.
        low, high: Bootstrap confidence interval of ours, 95 %; `None` where there is nothing to draw from.
        unit: "Mbit/s", "ms", "x" (a ratio), "" ...
        reading: How far the paper's number may be from what is printed or drawn, in `unit`; 0 for bounds and orders.
        better: "higher" or "lower", if the claim is about a side.
        above, below: The claim's direction, if it has one: ours must be beyond this.
        note: What a reader should know of it: what of it is ours, which link it ran on.
        tables: "ours", "published" or "robust": with which algorithms it was measured ("" if none is in it).
        seen: Whether its networks were in training these, in choosing them, or neither, and what of them is new.
    """

    id: str
    text: str
    source: str
    kind: ClaimKind
    paper: float
    ours: float | None
    low: float | None = None
    high: float | None = None
    unit: str = ""
    reading: float = 0.0
    better: Better | None = None
    above: float | None = None
    below: float | None = None
    note: str = ""
    tables: str = "ours"
    seen: str = ""

    @property
    def verdict(self) -> Verdict:
        """What became of it, by the rule of `RULE`."""
        if self.ours is None:
            return Verdict.UNMEASURED
        if self.kind == "number":
            return self._of_number(self.ours)
        held = {"at-least": self.ours >= self.paper, "at-most": self.ours <= self.paper}
        return Verdict.REPRODUCED if held.get(self.kind, self.ours > self.paper) else Verdict.FAILED

    def _of_number(self, ours: float) -> Verdict:
        """Of a claim with a number: it may be reproduced by chance, so that comes before its direction."""
        low = ours if self.low is None else self.low
        high = ours if self.high is None else self.high
        if low - self.paper <= self.reading and self.paper - high <= self.reading:
            return Verdict.REPRODUCED
        if (self.above is not None and ours <= self.above) or (self.below is not None and ours >= self.below):
            return Verdict.FAILED
        beyond = {"higher": ours > self.paper, "lower": ours < self.paper}
        return Verdict.BETTER if self.better and beyond[self.better] else Verdict.DIFFERS
