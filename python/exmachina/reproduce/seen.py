"""Whether the networks of a claim were in the training of the tables that it is held to, in choosing them, or neither.

Training is computed: the networks of the claim against those of the model that is in a table's file. What a table was
chosen by is recorded with the algorithms that come with the program (`schemes.Choosing`); it is not known of others.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache, reduce
from typing import Any

from exmachina.networks import Model, Ranges, Span, new, stated
from exmachina.reproduce.experiment import Experiment
from exmachina.reproduce.running import Ran
from exmachina.schemes import Algorithm, Table, algorithms, designed_range

__all__ = ["cases_of", "seen_words"]

NARROWED = {"rate_mbps": "rate_mbps", "senders": "senders", "min_rtt_ms": "rtt_ms"}
"""Coordinates of a grid, and the range that a part of the grid is a part of."""
BUFFER = ("buffer",)
"""A network that is new in nothing else is one of the training's, but that it drops packets, or drops them earlier."""


def cases_of(experiment: Experiment, measure: Mapping[str, Any]) -> list[str]:
    """The cases that a measure is of: those that it names, or the first."""
    parts = [measure, *(part for form in measure.values() if isinstance(form, list) for part in form)]
    named = [part["case"] for part in parts if isinstance(part, Mapping) and "case" in part]
    return list(dict.fromkeys(named)) or [next(iter(experiment.cases))]


def seen_words(
    experiment: Experiment, measure: Mapping[str, Any], tables: Mapping[str, Table], ran: Ran, *, published: bool
) -> str:
    """Whether the networks of a claim were in training or choosing, in words; nothing if there are no tables in it.

    Args:
        experiment: That of the claim.
        measure: Of the claim.
        tables: What it is held to, by the names that experiments know.
        ran: What was run.
        published: Whether these are the authors' tables.
    """
    cases = cases_of(experiment, measure)
    places = {experiment.id, *(f"{experiment.id}/{case}" for case in cases)}
    texts = [ran.evaluations[case].text for case in cases if case in ran.evaluations]
    if not texts or not tables:
        return ""
    networks = _part(reduce(Ranges.united, map(stated, texts)), measure.get("at", {}))
    words = {}
    for name, table in tables.items():
        # What the papers say of the authors' training is what our model of the same name has.
        training = stated(Model.load(name).text) if published else designed_range(table)
        words[name] = "not known" if training is None else _of_table(places, name, table, training, networks)
    alike = set(words.values())
    return alike.pop() if len(alike) == 1 else "; ".join(f"{name}: {text}" for name, text in words.items())


def _part(networks: Ranges, at: Mapping[str, Any]) -> Ranges:
    """The networks that a claim is about, of those of a grid."""
    parts = {NARROWED[name]: Span(low, high) for name, (low, high) in at.items()}
    inside: dict[str, Any] = {
        field: Span(max(part.low, whole.low), min(part.high, whole.high))
        for field, part in parts.items()
        if (whole := getattr(networks, field)) is not None
    }
    return replace(networks, **inside)


def _of_table(places: set[str], name: str, table: Table, training: Ranges, networks: Ranges) -> str:
    """Of one table: `in training`, `in choosing`, both, or `neither`, with what is new to it.

    `places` are what its choosing may call these networks.
    """
    shipped = _shipped().get(table.dna)
    alike = [] if shipped is None else shipped.metadata["together"]
    beside = tuple(one for one in networks.neighbours or () if one.removesuffix(".dna") not in (name, *alike))
    found = new(training, replace(networks, neighbours=beside))
    trained = "in training" if set(found) <= set(BUFFER) else ""
    chosen = "in choosing" if shipped is not None and places & set(shipped.choosing.experiments) else ""
    where = " and ".join(filter(None, (trained, chosen))) or ("not in training" if shipped is None else "neither")
    return f"{where} (new: {'; '.join(found)})" if found else where


@cache
def _shipped() -> dict[bytes, Algorithm]:
    """The algorithms that come with the program, by what is in their files."""
    return {one.table.dna: one for one in algorithms()}
