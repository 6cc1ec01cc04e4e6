"""Algorithms that come with the program: rule tables by name, how each was made, and what it is worth.

`algorithms/NAME.dna` is the table, `algorithms/NAME.json` what is known of it; `validation/algorithms.py` writes both.
"""

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from exmachina.files import ALGORITHMS, shipped_files, unknown
from exmachina.networks import Model
from exmachina.schemes.table import Table

__all__ = ["Algorithm", "Choosing", "Rival", "algorithms"]


@dataclass(frozen=True)
class Rival:
    """What another scheme got on the same held-out specimens."""

    name: str
    """Such as "cubic/sfqcodel"; of a published table: its file's name."""
    score: float
    score_ci95: float
    """Half of the 95 % interval, as all of these."""
    lead: float
    """The algorithm's score less this one's, paired by specimen, where both have one."""
    lead_ci95: float
    starved_share: float
    """Share of its senders that were on and received nothing, of those that were on: they are in no score."""
    unpaired: int
    """Specimens that are not in the lead, because under one of the two nobody received anything there."""


@dataclass(frozen=True)
class Choosing:
    """What decided that it was this table: which one of several to take, or whether to go on with a design.

    A search chooses besides, by specimens of its model that it does not train on; none of the held-out ones is there.
    """

    by: str
    """On which networks tables were compared, in a person's words."""
    experiments: tuple[str, ...]
    """Those of `exmachina reproduce` whose networks were looked at for it, by id, or one case of them, as `ID/CASE`."""
    held_out: bool
    """Whether scores on its held-out specimens were."""
    diary: str
    """The heading of docs/designs.md that tells of it, as an anchor."""


class Algorithm:
    """An algorithm that comes with the program.

    >>> one = exmachina.Algorithm("known-1x")
    >>> one.score < one.reference
    True

    Attributes:
        name: By which scenarios and the command line know it.

    Raises:
        UnknownNameError: If there is none of this name.
    """

    def __init__(self, name: str) -> None:
        known = shipped_files(ALGORITHMS, ".json")
        if name not in known:
            raise unknown("algorithm", name, known)
        self.name = name
        self._facts: dict[str, Any] = json.loads(known[name].read_text(encoding="utf-8"))

    def __repr__(self) -> str:
        return f"Algorithm({self.name!r})"

    @property
    def metadata(self) -> dict[str, Any]:
        """All that is known of it: see `docs/algorithms.md`."""
        return self._facts

    @cached_property
    def table(self) -> Table:
        """Its rules."""
        return Table.load(self.name)

    @cached_property
    def model(self) -> Model:
        """What it was designed for."""
        return Model.load(self._facts["model"])

    @property
    def description(self) -> str:
        """What it is for, in a person's words."""
        return self.model.description

    @property
    def rules(self) -> int:
        """How many it has."""
        return int(self._facts["rules"])

    @property
    def size(self) -> str:
        """The same in words, or that it is a law."""
        return self.table.size

    @property
    def cpu_s(self) -> float:
        """CPU-seconds that its design took, those of designs that it began with included."""
        return float(self._facts["design"]["cpu_s"])

    @property
    def choosing(self) -> Choosing:
        """What decided that it was this table."""
        facts = self._facts["choosing"]
        return Choosing(**{**facts, "experiments": tuple(facts["experiments"])})

    @property
    def score(self) -> float:
        """Mean per held-out specimen of its model; no design has seen these."""
        return float(self._facts["held_out"]["score"])

    @property
    def score_ci95(self) -> float:
        """Half of the 95 % interval of the score."""
        return float(self._facts["held_out"]["score_ci95"])

    @property
    def starved_share(self) -> float:
        """Share of the senders that were on and received nothing, of those that were on: they are in no score."""
        return float(self._facts["held_out"]["starved_share"])

    @property
    def reference(self) -> float:
        """What omniscient senders get on the same specimens."""
        return float(self._facts["held_out"]["reference"])

    @property
    def published(self) -> Rival | None:
        """The authors' table for the same networks, where they published one."""
        facts = self._facts["published"]
        return None if facts is None else Rival(**facts)

    @property
    def rivals(self) -> list[Rival]:
        """Schemes that people wrote, in the transport of the papers' ns-2."""
        return [Rival(**facts) for facts in self._facts["schemes"]]

    @property
    def history(self) -> pl.DataFrame:
        """How the design went: cpu_s, rules, score (per specimen, on specimens that no step trained on)."""
        return pl.DataFrame(self._facts["design"]["history"])


def algorithms() -> list[Algorithm]:
    """The algorithms that come with the program, in order of name.

    >>> "general-1" in [one.name for one in exmachina.algorithms()]
    True
    """
    return [Algorithm(name) for name in shipped_files(ALGORITHMS)]
