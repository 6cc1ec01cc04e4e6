"""Rule tables: what a RemyCC does at every memory (Remy'13 §4.1-4.2), as `.dna` files hold them."""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self, TypeAlias

import polars as pl

from exmachina import _core
from exmachina.errors import TableError, told_as
from exmachina.files import ALGORITHMS, check_output, find, write_atomically
from exmachina.schemes.law import Law
from exmachina.schemes.rulewords import size_words

__all__ = ["Table", "TableLike"]


class Table(_core.Table):
    """A rule table, ours or the authors'. `Table(dna, file)` reads the bytes of a `.dna` file.

    >>> table = exmachina.Table.load("known-1x")
    >>> table.save("mine.dna")
    >>> exmachina.Table.load("mine.dna").rules == table.rules
    True

    Attributes:
        name: What to call it in results: the file's name without its ending.
        dna: The bytes of a `.dna` file with this table.
        signals: The signals that its rules look at.
        rules: For each rule the bounds of its box, `lower` and `upper` (all signals, in the order of
            `exmachina.SIGNALS`, times in ms), and its `action` (multiple, increment_packets, intersend_ms).
        provenance: What a design of ours needs to be repeated: version, model (text), search (JSON), seed and
            score (training, per specimen; `None` where nobody received anything). `None` in other tables.
        law: What flows follow in place of the rules: numbers by name (`exmachina.Law`). `None` where there are rules; a
            law has a single one, which says how it begins.
        config: The networks that the authors' file says it was designed for; `None` if it does not say.

    Raises:
        TableError: If the bytes are no rule table.
    """

    name: str

    def __new__(cls, dna: bytes, file: str = "table.dna") -> Self:
        """Reads the bytes; `file` is for messages and for the name."""
        with told_as(TableError):
            table = super().__new__(cls, dna, file)
        table.name = Path(file).name.removesuffix(".dna")
        return table

    def __reduce__(self) -> tuple[type[Self], tuple[bytes, str], dict[str, Any]]:
        return type(self), (self.dna, "table.dna"), self.__dict__

    def __repr__(self) -> str:
        return f"Table({self.name!r}, {self.size})"

    @property
    def size(self) -> str:
        """In words: how many rules, or that it is a law."""
        return size_words(len(self), law=self.law is not None)

    @classmethod
    def of(cls, source: "TableLike") -> "Table":
        """A table as it is; else what `load` makes of the path or name."""
        return source if isinstance(source, Table) else cls.load(source)

    @classmethod
    def load(cls, source: str | os.PathLike[str]) -> Self:
        """Reads a `.dna` file, or an algorithm that comes with the program, by its name: see `exmachina.algorithms`.

        Raises:
            FileError: If the file cannot be read.
            UnknownNameError: If there is no algorithm of this name.
            TableError: If it is no rule table.
        """
        return cls(*find(ALGORITHMS, source))

    @classmethod
    def single(cls, signals: list[str], multiple: float, increment: int, intersend_ms: float, name: str) -> Self:
        """A table of one rule: the same action at every memory.

        Raises:
            TableError: If a signal or a value is not possible.
        """
        with told_as(TableError):
            return cls(_core.Table.single_dna(signals, multiple, increment, intersend_ms), name)

    @classmethod
    def of_law(cls, law: Law, name: str) -> Self:
        """A law.

        Raises:
            TableError: If a number is out of its range.
        """
        with told_as(TableError):
            return cls(_core.Table.law_dna(law), name)

    def with_law(self, law: Law, name: str) -> Self:
        """Another law for what this table was designed for.

        Where its provenance is known, what was changed by hand is part of it, beside what came last (a design, or
        tuning), and it has no score.

        >>> begun = exmachina.Table.of("internet-1")
        >>> table = begun.with_law({**begun.law, "first_window": 10 * 65536}, "ten-first")
        >>> table.provenance.model == begun.provenance.model
        True

        Raises:
            TableError: If a number is out of its range.
        """
        before = dict(self.law or {})
        changed = {number: value for number, value in law.items() if before.get(number) != value}
        with told_as(TableError):
            return type(self)(self.with_law_dna(law, self._by_hand(changed)), name)

    def with_actions(self, actions: Sequence[_core.Action], name: str) -> Self:
        """The same table with other actions, one for each of its rules; provenance as of `with_law`.

        >>> table = exmachina.Table.of("known-1x")
        >>> slower = [exmachina.Action(a.multiple, a.increment_packets, 2 * a.intersend_ms) for a in table.actions]
        >>> table.with_actions(slower, "slower").rules[0].lower == table.rules[0].lower
        True

        Raises:
            TableError: If there are not as many as rules, one is out of range, or this is a law.
        """
        changed = {
            f"rule {number}": [then.multiple, then.increment_packets, then.intersend_ms]
            for number, (now, then) in enumerate(zip(self.actions, actions, strict=False))
            if now != then
        }
        with told_as(TableError):
            return type(self)(self.with_actions_dna(actions, self._by_hand(changed)), name)

    def with_edge(self, signal: str, at: float, times: float, name: str) -> Self:
        """The same rules, split elsewhere: one of its `edges` so many times as far from where the signal is at rest.

        At rest the RTT ratio is 1, and all others are 0. Provenance is as of `with_law`.

        >>> table = exmachina.Table.of("known-1x")
        >>> signal, at = table.edges[0]
        >>> table.with_edge(signal, at, 1.01, "wider").edges[0][1] > at
        True

        Raises:
            TableError: If it is not split there, or the next edge is nearer than that.
        """
        with told_as(TableError):
            return type(self)(self.with_edge_dna(signal, at, times, self._by_hand({f"{signal} {at}": times})), name)

    def _by_hand(self, changed: Mapping[str, Any]) -> str | None:
        """How this was made, and what was changed since."""
        if self.provenance is None:
            return None
        known = json.loads(self.provenance.search)
        last = known.get("tuned", known)
        last["by_hand"] = last.get("by_hand", {}) | changed
        return json.dumps(known)

    @property
    def actions(self) -> list[_core.Action]:
        """What each rule does."""
        return [rule.action for rule in self.rules]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a `.dna` file, atomically.

        Raises:
            InputError: If the folder is missing or read-only.
        """
        write_atomically(check_output(path), self.dna)

    @property
    def frame(self) -> pl.DataFrame:
        """One row per rule: its number, the bounds of its box on each signal of the table, its action."""
        rules = self.rules
        columns: dict[str, list[float] | list[int]] = {"rule": list(range(len(rules)))}
        for axis, signal in enumerate(_core.SIGNALS):
            if signal in self.signals:
                columns[f"{signal}_from"] = [rule.lower[axis] for rule in rules]
                columns[f"{signal}_to"] = [rule.upper[axis] for rule in rules]
        columns["multiple"] = [rule.action.multiple for rule in rules]
        columns["increment_packets"] = [rule.action.increment_packets for rule in rules]
        columns["intersend_ms"] = [rule.action.intersend_ms for rule in rules]
        return pl.DataFrame(columns)


TableLike: TypeAlias = Table | str | os.PathLike[str]
"""A table, its path, or the name of an algorithm that comes with the program."""
