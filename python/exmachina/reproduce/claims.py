"""From measured numbers to claims that hold or not."""

from collections.abc import Iterator, Mapping

import numpy as np

from exmachina.reproduce.cast import ALGORITHMS, PUBLISHED, Cast
from exmachina.reproduce.experiment import ClaimSpec, Experiment
from exmachina.reproduce.measuring import Measurer, operands
from exmachina.reproduce.outcome import Claim
from exmachina.reproduce.running import Ran

__all__ = ["claims_of", "holds"]


def holds(kind: str, paper: float, ours: float, tolerance: float) -> bool:
    """Whether a number is what the paper claims: near it, or as good; tolerance is a share of the paper's number."""
    slack = tolerance * abs(paper)
    if kind == "near":
        return abs(ours - paper) <= slack
    if kind == "at-least":
        return ours >= paper - slack
    if kind == "at-most":
        return ours <= paper + slack
    return ours >= paper


def claims_of(
    experiment: Experiment, ran: Ran, cast: Cast, numbers: Mapping[tuple[str, str], float]
) -> Iterator[Claim]:
    """All claims of an experiment, those on RemyCCs with both kinds of tables, where both are at hand."""
    theirs = {name: table.name for name, table in cast.published.items()}
    published = frozenset(theirs.values())
    for spec in experiment.claims:
        algorithms = {name for name in operands(spec.measure) if name in ALGORITHMS}
        ours = Measurer(ran.cases, numbers=numbers, excluded=published)
        yield _claim(spec, spec.id, ours, "ours" if algorithms else "", ran)
        if algorithms and algorithms <= set(theirs):
            own = frozenset(name for name in cast.ours if name in PUBLISHED)
            beside = Measurer(ran.cases, lambda name: theirs.get(name, name), numbers, own)
            yield _claim(spec, f"{spec.id}-published", beside, "published", ran)


def _claim(spec: ClaimSpec, name: str, measurer: Measurer, tables: str, ran: Ran) -> Claim:
    notes = [spec.note] if spec.note else []
    value: float | None = None
    low = high = held = None
    try:
        found = measurer.measure(spec.measure)
    except KeyError as error:
        notes.insert(0, f"Not measured: {error.args[0]} is not at hand.")
    else:
        if np.isfinite(found.value):
            value, low, high = found.value, found.low, found.high
            held = holds(spec.kind, spec.paper, value, spec.tolerance)
        else:
            notes.insert(0, "Not measured: it did not come to a finite number.")
    if ran.link_note and ran.is_cellular(spec.measure.get("case", "")):
        notes.append(ran.link_note)
    return Claim(
        id=name,
        text=spec.text,
        source=spec.source,
        kind=spec.kind,
        paper=spec.paper,
        ours=value,
        low=low,
        high=high,
        unit=spec.unit,
        tolerance=spec.tolerance,
        held=held,
        note=" ".join(notes),
        tables=tables,
    )
