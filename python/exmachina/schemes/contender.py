"""What people name as a scheme, found: a name, the path of a table, a table, or a class of one's own."""

import os
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any, TypeAlias

from exmachina import _core
from exmachina.errors import SchemeError
from exmachina.files import ALGORITHMS, is_table_file, shipped_files
from exmachina.schemes.table import Table

__all__ = ["Contender", "SchemeLike", "contender_of", "distinct"]

SchemeLike: TypeAlias = str | os.PathLike[str] | Table | type[Any]
"""A name such as "cubic", "cubic/sfqcodel" or "general-1", the path of a table, a table, or a class like
`exmachina.Scheme`."""


@dataclass(frozen=True)
class Contender:
    """What every sender runs that has no scheme of its own."""

    name: str
    scheme: str | Table | tuple[Table, ...] | type[Any]
    """The name of a scheme that is built in; a table, or one for each name of a model's senders; or a class."""
    queue: str | None = None
    """The discipline of every queue, such as "codel"; the network's if none."""

    @property
    def label(self) -> str:
        """What results call it."""
        return self.name if self.queue is None else f"{self.name}/{self.queue}"

    @property
    def is_class(self) -> bool:
        """Whether it is a class, of which nobody knows what it calls."""
        return isinstance(self.scheme, type)

    @property
    def content(self) -> bytes | None:
        """What it is, where its label does not tell: a table. None for a class."""
        if self.is_class:
            return None
        return self.scheme.dna if isinstance(self.scheme, Table) else b""


def contender_of(scheme: SchemeLike) -> Contender:
    """The contender that is meant.

    Names go before files: of schemes that are built in, then of algorithms that come with the program. Paths are
    relative to the working folder.

    Raises:
        FileError: If a file cannot be read.
        TableError: If it is no rule table.
        SchemeError: If what is given is no scheme. That a plain word is none is found by whoever runs it.
    """
    if isinstance(scheme, Table):
        return Contender(scheme.name, scheme)
    if isinstance(scheme, type):
        return Contender(scheme.__name__, scheme)
    if not isinstance(scheme, str | os.PathLike):
        raise SchemeError(f"schemes: expected names, paths, tables or classes, got {scheme!r}")
    shipped = shipped_files(ALGORITHMS)
    taken = _core.SchemeAndQueue.of(os.fspath(scheme), list(shipped))
    name, queue = taken.scheme, taken.queue
    if _core.is_scheme(name):
        return Contender(name, name, queue)
    if name in shipped:
        return Contender(name, Table.load(name), queue)
    if "/" not in name and not is_table_file(name) and not Path(name).exists():
        return Contender(name, name, queue)
    table = Table.load(name)
    return Contender(table.name, table, queue)


def distinct(given: Iterable[Contender], taken: Collection[str] = ()) -> list[Contender]:
    """Contenders of which no label is there twice: the names of later ones are numbered."""
    labels, told_apart = set(taken), []
    for contender in given:
        numbers = count(2)
        one = contender
        while one.label in labels:
            one = replace(contender, name=f"{contender.name} ({next(numbers)})")
        labels.add(one.label)
        told_apart.append(one)
    return told_apart
