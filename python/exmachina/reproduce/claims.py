"""From measured numbers to claims; what becomes of one is decided in `verdicts.py`."""

from collections.abc import Iterator, Mapping

import numpy as np

from exmachina.reproduce.cast import ALGORITHMS, PUBLISHED, Cast
from exmachina.reproduce.experiment import ClaimSpec, Experiment
from exmachina.reproduce.measuring import Measurer, operands
from exmachina.reproduce.running import Ran
from exmachina.reproduce.verdicts import Claim

__all__ = ["claims_of"]


def claims_of(
    experiment: Experiment, ran: Ran, cast: Cast, numbers: Mapping[tuple[str, str], float]
) -> Iterator[Claim]:
    """All claims of an experiment, those on RemyCCs with both kinds of tables, where both are at hand."""
    theirs = {name: table.name for name, table in cast.published.items()}
    published = frozenset(theirs.values())
    for spec in experiment.claims:
        algorithms = _algorithms(experiment, spec)
        ours = Measurer(ran.cases, numbers=numbers, excluded=published)
        yield _claim(spec, spec.id, ours, "ours" if algorithms else "", ran)
        if algorithms and algorithms <= set(theirs):
            own = frozenset(name for name in cast.ours if name in PUBLISHED)
            beside = Measurer(ran.cases, lambda name: theirs.get(name, name), numbers, own)
            yield _claim(spec, f"{spec.id}-published", beside, "published", ran)


def _algorithms(experiment: Experiment, spec: ClaimSpec) -> set[str]:
    """The algorithms that a claim is about: those that it names, and those of a case whose senders have their own."""
    parts = [spec.measure, *(part for form in spec.measure.values() if isinstance(form, list) for part in form)]
    cases = {part["case"] for part in parts if isinstance(part, Mapping) and "case" in part}
    groups = [experiment.cases[case].scenario.get("senders") for case in cases]
    own = {sender.get("scheme") for group in groups if isinstance(group, list) for sender in group}
    return {name for name in operands(spec.measure) | own if name in ALGORITHMS}


def _claim(spec: ClaimSpec, name: str, measurer: Measurer, tables: str, ran: Ran) -> Claim:
    notes = [spec.note] if spec.note else []
    value: float | None = None
    low = high = None
    try:
        found = measurer.measure(spec.measure)
    except KeyError as error:
        notes.insert(0, f"Not measured: {error.args[0]} is not at hand.")
    else:
        if np.isfinite(found.value):
            value, low, high = found.value, found.low, found.high
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
        reading=spec.reading or 0.0,
        better=spec.better,
        above=spec.above,
        below=spec.below,
        note=" ".join(notes),
        tables=tables,
    )
