"""Evaluations: schemes side by side on the networks of a scenario (Remy'13 §5, Tao'14 §4).

Every contender meets the same networks, traffic and losses. Runs are simulated some at a time, so that a display moves
and ctrl-C is heard; what comes out does not depend on how many those are, nor on the number of threads.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self, TypeAlias

import polars as pl

from exmachina import _core
from exmachina.checks import check_seconds, check_seed
from exmachina.errors import InputError
from exmachina.files import (
    ALGORITHMS,
    SCENARIOS,
    FinishedRuns,
    digest,
    find,
    is_table_file,
    read_file,
    shipped_files,
)
from exmachina.frames import frame_of
from exmachina.interrupts import interruptible
from exmachina.schemes import Table

__all__ = ["Evaluation", "SchemeLike", "shipped_scenarios"]

SchemeLike: TypeAlias = str | os.PathLike[str] | Table | type[Any]
"""A name such as "cubic", "cubic/sfqcodel" or "general-1", the path of a table, a table, or a class like
`exmachina.Scheme`."""

MAX_RUNS = 1_000_000
MOST_TRACE_BYTES = 512 << 20
"""Of a recording: days of a fast link."""


@dataclass(frozen=True)
class Contender:
    """What every sender runs that has no scheme of its own."""

    label: str
    """What results call it."""
    content: bytes | None
    """What it is, where its label does not tell: a table. None for a class, of which nobody knows what it calls."""
    own: bool = False
    """Whether it is a class."""


class Evaluation:
    """A scenario and its contenders. `Evaluation(text, file)` reads the text of a TOML file.

    Tables and traces that it names are relative to the folder of `file`, but for those that `files` holds by the name
    that the text gives them; algorithms that come with the program go by their names.

    Attributes:
        name: As in the file, or the file's own name.
        description: In a person's words; may be empty.
        text: The whole file.
        contenders: What they are called.
        runs: Runs of each contender.
        grid_points: Number of networks, if all values are exact or listed; `None` if they are drawn.
        duration_s: Simulated seconds of each run.
        seed: The root of everything random.

    Raises:
        InputError: If the text is no scenario: file, line, field, and what was expected.
    """

    def __init__(
        self, text: str, file: str = "scenario.toml", files: Mapping[str, bytes] = MappingProxyType({})
    ) -> None:
        self._core = _core.Evaluation(text, file, list(shipped_files(ALGORITHMS)))
        self._files = _load(self._core, Path(file).parent, files)
        self._contenders = [Contender(label, b"") for label in self._core.contenders]

    @classmethod
    def load(cls, source: str | os.PathLike[str]) -> Self:
        """Reads a scenario file, or a scenario that comes with the program, by its name; or a text of several lines.

        Raises:
            InputError: If there is no such file or scenario, or it is none.
        """
        if isinstance(source, str) and "\n" in source:
            return cls(source)
        data, file = find(SCENARIOS, source)
        try:
            return cls(data.decode(), file)
        except UnicodeDecodeError:
            raise InputError(f"{file}: expected a TOML file in UTF-8") from None

    @property
    def name(self) -> str:
        """As in the file, or the file's own name."""
        return self._core.name

    @property
    def description(self) -> str:
        """In a person's words; may be empty."""
        return self._core.description

    @property
    def text(self) -> str:
        """The whole file."""
        return self._core.text

    @property
    def contenders(self) -> list[str]:
        """What they are called."""
        return [contender.label for contender in self._contenders]

    @property
    def runs(self) -> int:
        """Runs of each contender."""
        return self._core.runs

    @property
    def grid_points(self) -> int | None:
        """Number of networks, if all values are exact or listed."""
        return self._core.grid_points

    @property
    def duration_s(self) -> float:
        """Simulated seconds of each run."""
        return self._core.duration_s

    @property
    def seed(self) -> int:
        """The root of everything random."""
        return self._core.seed

    def changed(
        self,
        schemes: Sequence[SchemeLike] | None = None,
        *,
        runs: int | None = None,
        duration_s: float | None = None,
        seed: int | None = None,
    ) -> "Evaluation":
        """The same scenario with other contenders or settings; what is not given stays as it is.

        Args:
            schemes: The contenders. Paths of tables are relative to the working folder.
            runs: Runs of each contender, for each point if the scenario is a grid.
            duration_s: Simulated seconds of each run.
            seed: The root of everything random.

        Raises:
            InputError: If something given is not possible.
        """
        if runs is not None and not 1 <= runs <= MAX_RUNS:
            raise InputError(f"runs: expected from 1 to {MAX_RUNS}, got {runs}")
        if duration_s is not None:
            check_seconds("duration", duration_s)
        if seed is not None:
            check_seed(seed)
        other = object.__new__(Evaluation)
        other._files = self._files
        other._contenders = self._contenders
        other._core = self._core.with_settings(runs, duration_s, seed)
        if schemes is not None:
            pairs = [_contender(scheme) for scheme in schemes]
            labels = _distinct([contender.label for contender, _ in pairs])
            try:
                named = [(label, scheme) for label, (_, scheme) in zip(labels, pairs, strict=True)]
                other._core = other._core.with_schemes(named)
            except InputError as error:
                raise InputError(f"schemes: {error.problem}") from None
            _load(other._core, Path())
            other._contenders = [
                Contender(label, contender.content, contender.own)
                for label, (contender, _) in zip(labels, pairs, strict=True)
            ]
        return other

    def flows_of(self, contender: int, first_run: int, last_run: int, workers: _core.Workers) -> pl.DataFrame:
        """The flows of some runs of a contender: one row per run and sender, as in `Results.flows`."""
        # A class is called in this thread: there ctrl-C reaches it.
        if self._contenders[contender].own:
            columns = self._core.run(contender, first_run, last_run, workers, _core.Stop())
        else:
            columns = interruptible(lambda stop: self._core.run(contender, first_run, last_run, workers, stop))
        return self.named(frame_of(columns), contender)

    def record_of(
        self, contender: int, run: int, duration_s: float, max_rows: int
    ) -> tuple[pl.DataFrame, pl.DataFrame]:
        """One run packet by packet: the events of the senders, and those at the hops."""
        if self._contenders[contender].own:
            senders, hops = self._core.record(contender, run, duration_s, max_rows)
        else:
            senders, hops = interruptible(lambda _: self._core.record(contender, run, duration_s, max_rows))
        return frame_of(senders), frame_of(hops)

    def named(self, flows: pl.DataFrame, contender: int) -> pl.DataFrame:
        """Flows of the core, with the schemes' names instead of their numbers."""
        names = dict(enumerate(self._core.scheme_names))
        return flows.with_columns(
            pl.lit(self.contenders[contender]).alias("contender"),
            pl.col("scheme").replace_strict(names, return_dtype=pl.String),
        ).select("contender", "run", "sender", "scheme", pl.exclude("contender", "run", "sender", "scheme"))

    def finished_runs(self, contender: int, folder: Path | None) -> FinishedRuns:
        """What is kept in a folder of a contender's runs."""
        who = self._contenders[contender]
        key = None
        if who.content is not None:
            files = [part for name, data in sorted(self._files.items()) for part in (name, data)]
            key = digest(self.text, self.duration_s, self.seed, who.label, who.content, *files)
        return FinishedRuns(folder, who.label, key)


def _load(core: _core.Evaluation, folder: Path, files: Mapping[str, bytes] = MappingProxyType({})) -> dict[str, bytes]:
    """Hands the core what its scenario names: what is given, algorithms that come with the program, and files."""
    shipped = shipped_files(ALGORITHMS)
    loaded = {}
    for name in core.files:
        if name in files:
            loaded[name] = files[name]
        else:
            most = ALGORITHMS.most_bytes if is_table_file(name) else MOST_TRACE_BYTES
            file = shipped.get(name)
            loaded[name] = read_file(folder / name, most_bytes=most) if file is None else file.read_bytes()
        core.load(name, loaded[name])
    return loaded


def _contender(scheme: SchemeLike) -> tuple[Contender, str | Table | type[Any]]:
    """A contender, and what the core is handed for it."""
    if isinstance(scheme, Table):
        return Contender(scheme.name, scheme.dna), scheme
    if isinstance(scheme, type):
        return Contender(scheme.__name__, None, own=True), scheme
    if not isinstance(scheme, str | os.PathLike):
        raise InputError(f"schemes: expected names, paths, tables or classes, got {scheme!r}")
    text = os.fspath(scheme)
    path, queue = _table_and_queue(text)
    if path is None:
        algorithm = shipped_files(ALGORITHMS).get(text.partition("/")[0])
        return Contender(text, b"" if algorithm is None else algorithm.read_bytes()), text
    # Relative to the working folder, as a person means it, and not to that of the scenario.
    table = Table.load(path)
    return Contender(table.name + queue, table.dna), table


def _table_and_queue(text: str) -> tuple[str | None, str]:
    """The file of a contender that is one, and what follows it: nothing, or a stroke and a queue."""
    if is_table_file(text):
        return text, ""
    path, stroke, queue = text.rpartition("/")
    return (path, stroke + queue) if is_table_file(path) else (None, "")


def _distinct(labels: list[str]) -> list[str]:
    """Labels of which none is twice: later ones are numbered, before their queues, which stay at the end."""
    taken: set[str] = set()
    for i, label in enumerate(labels):
        name, number = label, 1
        head, stroke, queue = label.rpartition("/")
        while name in taken:
            number += 1
            name = f"{head} ({number}){stroke}{queue}" if head else f"{label} ({number})"
        taken.add(name)
        labels[i] = name
    return labels


def shipped_scenarios() -> list[Evaluation]:
    """The scenarios that come with the program, in order of name."""
    return [Evaluation.load(name) for name in shipped_files(SCENARIOS)]
