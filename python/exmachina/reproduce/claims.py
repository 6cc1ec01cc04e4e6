"""From measured numbers to claims; what becomes of one is decided in `verdicts.py`."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from exmachina.reproduce.cast import ALGORITHMS, Cast
from exmachina.reproduce.experiment import ClaimSpec, Experiment
from exmachina.reproduce.measuring import Measurer, operands
from exmachina.reproduce.running import Ran
from exmachina.reproduce.seen import cases_of, seen_words
from exmachina.reproduce.verdicts import Claim, Verdict

__all__ = ["claims_of", "why_missed"]


def claims_of(
    experiment: Experiment, ran: Ran, cast: Cast, numbers: Mapping[tuple[str, str], float]
) -> Iterator[Claim]:
    """All claims of an experiment, those on RemyCCs with each kind of tables that has all that they name."""
    for spec in experiment.claims:
        algorithms = _algorithms(experiment, spec)
        alike = []
        for kind, tables in cast.kinds.items():
            if kind == "ours" or (algorithms and algorithms <= set(tables)):
                name = spec.id if kind == "ours" else f"{spec.id}-{kind}"
                measurer = _measurer(kind, cast, ran, numbers)
                own = {one: tables[one] for one in sorted(algorithms & set(tables))}
                seen = seen_words(experiment, spec.measure, own, ran, published=kind == "published")
                alike.append(_claim(spec, name, measurer, kind if algorithms else "", seen, ran))
        for claim in alike:
            yield replace(claim, note=" ".join(filter(None, (claim.note, why_missed(claim, alike)))))


def why_missed(claim: Claim, alike: Sequence[Claim]) -> str:
    """Why a claim is not reproduced, as far as the same claim with the authors' tables tells.

    Args:
        claim: Any; nothing is said of one that is not missed.
        alike: The same claim with each kind of tables.
    """
    if claim.verdict is not Verdict.FAILED:
        return ""
    others = [one for one in alike if one is not claim]
    theirs = next((one.verdict for one in others if one.tables == "published"), Verdict.UNMEASURED)
    if theirs is Verdict.UNMEASURED:
        return "Why it is missed, we do not know."
    if theirs is Verdict.FAILED:
        return "The published tables miss it, too, on the same networks; why, we do not know."
    return "The published tables do not miss it, on the same networks: it is what ours do."


def _measurer(kind: str, cast: Cast, ran: Ran, numbers: Mapping[tuple[str, str], float]) -> Measurer:
    """Measures with the tables of a kind in place of ours; those that stand for the same do not count beside them."""
    labels = {name: table.name for name, table in cast.kinds[kind].items() if kind != "ours"}
    others = {
        table.name
        for other, tables in cast.kinds.items()
        for name, table in tables.items()
        if other != kind and (other != "ours" or name in labels)
    }
    return Measurer(ran.cases, lambda name: labels.get(name, name), numbers, frozenset(others))


def _algorithms(experiment: Experiment, spec: ClaimSpec) -> set[str]:
    """The algorithms that a claim is about: those that it names, and those of a case whose senders have their own."""
    groups = [experiment.cases[case].scenario.get("senders") for case in cases_of(experiment, spec.measure)]
    own = {sender.get("scheme") for group in groups if isinstance(group, list) for sender in group}
    return {name for name in operands(spec.measure) | own if name in ALGORITHMS}


def _claim(spec: ClaimSpec, name: str, measurer: Measurer, tables: str, seen: str, ran: Ran) -> Claim:  # noqa: PLR0917
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
        seen=seen,
    )
