"""Which rule tables of an evaluation meet networks outside the range that they were designed for."""

import tomllib

from exmachina import _core
from exmachina.evaluation.scenario import Evaluation
from exmachina.files import ALGORITHMS, shipped_files
from exmachina.networks import Ranges, outside
from exmachina.schemes import Table, designed_range

__all__ = ["outside_words"]


def outside_words(evaluation: Evaluation, networks: Ranges) -> tuple[str, ...]:
    """One line for each table of an evaluation that says what it was designed for, and meets something else here."""
    words = [outside(name, designed_range(table), networks) for name, table in _tables(evaluation).items()]
    return tuple(word for word in words if word is not None)


def _tables(evaluation: Evaluation) -> dict[str, Table]:
    """The tables that senders run there, by what results call them."""
    shipped = list(shipped_files(ALGORITHMS))
    found = {one.label: one.scheme for one in evaluation.chosen or () if isinstance(one.scheme, Table)}
    written = _schemes_of_senders(evaluation.text)
    if evaluation.chosen is None:
        written += evaluation.contenders
    for name in written:
        file = _core.SchemeAndQueue.of(name, shipped).scheme
        if file in evaluation.files:
            found.setdefault(name, Table(evaluation.files[file], f"{file.removesuffix('.dna')}.dna"))
    return found


def _schemes_of_senders(text: str) -> list[str]:
    try:
        senders = tomllib.loads(text).get("senders", {})
    except tomllib.TOMLDecodeError:
        return []
    groups = senders if isinstance(senders, list) else [senders]
    return [group["scheme"] for group in groups if "scheme" in group]
