"""Rule tables: what a RemyCC does at every memory (Remy'13 §4.1-4.2), as `.dna` files hold them."""

import os
from pathlib import Path
from typing import Self

import polars as pl

from exmachina import _core
from exmachina.errors import InputError
from exmachina.files import check_output, read_file, write_atomically
from exmachina.shipped import shipped_files

__all__ = ["Table"]

SHIPPED = ("algorithms", ".dna")
"""Where those are that come with the program, and how their files end."""


class Table(_core.Table):
    """A rule table, ours or the authors'. `Table(dna, file)` reads the bytes of a `.dna` file.

    Attributes:
        name: What to call it in results: the file's name without its ending.
        dna: The bytes of a `.dna` file with this table.
        signals: The signals that its rules look at.
        rules: For each rule the lower and upper bounds of its box (six signals, in the order of `exmachina.SIGNALS`,
            times in ms) and its action (multiple, increment in packets, intersend in ms).
        provenance: What a design of ours needs to be repeated: "version", "model" (text), "search" (JSON), "seed" and
            "score" (training, per specimen). `None` in other tables.
        config: The networks that the authors' file says it was designed for; `None` if it does not say.

    Raises:
        InputError: If the bytes are no rule table.
    """

    name: str

    def __new__(cls, dna: bytes, file: str = "table.dna") -> Self:
        """Reads the bytes; `file` is for messages and for the name."""
        table = super().__new__(cls, dna, file)
        table.name = Path(file).name.removesuffix(".dna")
        return table

    @classmethod
    def load(cls, source: str | os.PathLike[str]) -> Self:
        """Reads a `.dna` file, or an algorithm that comes with the program, by its name: see `exmachina.algorithms`.

        Raises:
            InputError: If there is no such file or algorithm, or it is no rule table.
        """
        path = Path(source)
        if path.suffix == ".dna" or len(path.parts) != 1 or path.exists():
            return cls(read_file(path), str(path))
        shipped = shipped_files(*SHIPPED)
        if str(source) in shipped:
            return cls(shipped[str(source)].read_bytes(), f"{source}.dna")
        known = "".join(f", {name}" for name in shipped)
        raise InputError(f"{source}: there is no such table; expected a .dna file{known}")

    @classmethod
    def single(cls, signals: list[str], multiple: float, increment: int, intersend_ms: float, name: str) -> Self:
        """A table of one rule: the same action at every memory.

        Raises:
            InputError: If a signal or a value is not possible.
        """
        return cls(_core.Table.single_dna(signals, multiple, increment, intersend_ms), name)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a `.dna` file, atomically.

        Raises:
            InputError: If the folder is missing or read-only.
        """
        write_atomically(check_output(path), self.dna)

    @property
    def frame(self) -> pl.DataFrame:
        """One row per rule: its number, the bounds of its box on each signal of the table, its action."""
        columns: dict[str, list[float] | list[int]] = {"rule": list(range(len(self)))}
        for axis, signal in enumerate(_core.SIGNALS):
            if signal in self.signals:
                columns[f"{signal}_from"] = [lower[axis] for lower, _, _ in self.rules]
                columns[f"{signal}_to"] = [upper[axis] for _, upper, _ in self.rules]
        columns["multiple"] = [action[0] for _, _, action in self.rules]
        columns["increment_packets"] = [action[1] for _, _, action in self.rules]
        columns["intersend_ms"] = [action[2] for _, _, action in self.rules]
        return pl.DataFrame(columns)
