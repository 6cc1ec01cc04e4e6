"""Scenarios with contenders, which all meet the same networks, traffic and losses (Remy'13 §5, Tao'14 §4)."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self, TypeAlias, Unpack, cast

import polars as pl

from exmachina import _core
from exmachina.errors import InputError, MachineError, ScenarioError, SchemeError, told_as
from exmachina.evaluation.options import RunOptions, RunSettings
from exmachina.files import (
    ALGORITHMS,
    SCENARIOS,
    FinishedRuns,
    digest,
    find,
    is_table_file,
    read_file,
    shipped_files,
    simulated,
)
from exmachina.frames import frame_of
from exmachina.interrupts import interruptible
from exmachina.schemes import Contender, SchemeLike, Table, contender_of, distinct

__all__ = ["Evaluation", "ScenarioLike", "shipped_scenarios"]


MOST_TRACE_BYTES = 512 << 20
"""Of a recording: days of a fast link."""


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """A scenario and its contenders. `Evaluation(text, file)` reads the text of a TOML file.

    >>> exmachina.Evaluation.load("r4").changed(["cubic", "known-1x/codel"], runs=1).contenders
    ['cubic', 'known-1x/codel']

    Raises:
        ScenarioError: If the text is no scenario: file, line, field, and what was expected.
        FileError: If a file that it names cannot be read.
        SchemeError: If a contender cannot run there.
    """

    text: str
    """The whole file."""
    file: str = "scenario.toml"
    """Its name. Tables and traces that the text names are relative to its folder, but for those in `files`."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """What the tables and traces hold, by the names that the text gives them. Algorithms that come with the program go
    by theirs."""
    chosen: tuple[Contender, ...] | None = None
    """The contenders, where they are not the scenario's."""
    options: RunOptions = field(default_factory=RunOptions)
    """Runs, seconds and seed, where they are not the scenario's."""
    _inner: _core.Evaluation = field(init=False)

    def __post_init__(self) -> None:
        with told_as(ScenarioError):
            core = _core.Evaluation(self.text, self.file, list(shipped_files(ALGORITHMS)))
            files = _load(core, Path(self.file).parent, self.files)
        core = core.with_settings(self.options.runs, self.options.duration_s, self.options.seed)
        if self.chosen is not None:
            core = _with_schemes(core, self.chosen)
        # What follows from the other fields; files are not read again when some of these change.
        object.__setattr__(self, "files", files)
        object.__setattr__(self, "_inner", core)

    def __reduce__(self) -> tuple[type[Self], tuple[Any, ...]]:
        return type(self), (self.text, self.file, dict(self.files), self.chosen, self.options)

    def __repr__(self) -> str:
        return f"Evaluation({self.name!r}, contenders={self.contenders})"

    @classmethod
    def of(cls, source: "ScenarioLike") -> "Evaluation":
        """An evaluation as it is; else what `load` makes of the path, name or text."""
        return source if isinstance(source, Evaluation) else cls.load(source)

    @classmethod
    def load(cls, source: str | os.PathLike[str]) -> Self:
        """Reads a scenario file, or a scenario that comes with the program, by its name; or a text of several lines.

        Raises:
            FileError: If a file cannot be read.
            UnknownNameError: If there is no scenario of this name.
            ScenarioError: If it is none.
        """
        if isinstance(source, str) and "\n" in source:
            return cls(source)
        data, file = find(SCENARIOS, source)
        try:
            return cls(data.decode(), file)
        except UnicodeDecodeError:
            raise ScenarioError(f"{file}: expected a TOML file in UTF-8") from None

    @property
    def name(self) -> str:
        """As in the file, or the file's own name."""
        return self._inner.name

    @property
    def description(self) -> str:
        """In a person's words; may be empty."""
        return self._inner.description

    @property
    def contenders(self) -> list[str]:
        """What they are called."""
        return self._inner.contenders

    @property
    def runs(self) -> int:
        """Runs of each contender."""
        return self._inner.runs

    @property
    def grid_points(self) -> int | None:
        """Number of networks, if all values are exact or listed; `None` if they are drawn."""
        return self._inner.grid_points

    @property
    def duration_s(self) -> float:
        """Simulated seconds of each run."""
        return self._inner.duration_s

    @property
    def seed(self) -> int:
        """The root of everything random."""
        return self._inner.seed

    def changed(self, schemes: Sequence[SchemeLike] | None = None, **settings: Unpack[RunSettings]) -> "Evaluation":
        """The same scenario with other contenders or settings; what is not given stays as it is.

        Args:
            schemes: The contenders. Paths of tables are relative to the working folder.
            **settings: Fields of `RunOptions`.

        Raises:
            InputError: If something given is not possible.
        """
        given = cast(RunSettings, {name: value for name, value in settings.items() if value is not None})
        chosen = self.chosen if schemes is None else tuple(distinct(map(contender_of, schemes)))
        return replace(self, chosen=chosen, options=replace(self.options, **given))

    def flows_of(
        self, contender: int, first_run: int, last_run: int, workers: _core.Workers, stop: _core.Stop
    ) -> pl.DataFrame:
        """The flows of some runs of a contender: one row per run and sender, as in `Results.flows`."""
        return self.named(frame_of(self._inner.run(contender, first_run, last_run, workers, stop)), contender)

    def only(self, contenders: Sequence[int]) -> "Evaluation":
        """The same with some of its contenders alone."""
        if len(contenders) == len(self.contenders):
            return self
        everyone = self.chosen or [contender_of(label) for label in self.contenders]
        return replace(self, chosen=tuple(everyone[i] for i in contenders))

    def record_of(
        self, contender: int, run: int, duration_s: float, max_rows: int
    ) -> tuple[pl.DataFrame, pl.DataFrame]:
        """One run packet by packet: the events of the senders, and those at the hops."""
        # A class is called in this thread: there ctrl-C reaches it.
        if self.is_class(contender):
            found = self._inner.record(contender, run, duration_s, max_rows)
        else:
            found = interruptible(lambda _: self._inner.record(contender, run, duration_s, max_rows))
        return frame_of(found.senders), frame_of(found.hops)

    def named(self, flows: pl.DataFrame, contender: int) -> pl.DataFrame:
        """Flows of the core, with the schemes' names instead of their numbers."""
        names = dict(enumerate(self._inner.scheme_names))
        return flows.with_columns(
            pl.lit(self.contenders[contender]).alias("contender"),
            pl.col("scheme").replace_strict(names, return_dtype=pl.String),
        ).select("contender", "run", "sender", "scheme", pl.exclude("contender", "run", "sender", "scheme"))

    @property
    def tables(self) -> dict[str, Table]:
        """The rule tables among the schemes of senders, by what results call them."""
        chosen = {contender.label: contender.scheme for contender in self.chosen or ()}
        shipped = list(shipped_files(ALGORITHMS))
        found = {}
        for label in self._inner.scheme_names:
            name = _core.SchemeAndQueue.of(label, shipped).scheme
            scheme = chosen.get(label, self.files.get(name))
            if isinstance(scheme, bytes) and (is_table_file(name) or name in shipped):
                scheme = Table(scheme, name)
            if isinstance(scheme, Table):
                found[label] = scheme
        return found

    def check_measurable(self, stack: "_core.Stack") -> None:
        """Refuses what only a simulation can run, and schemes that these hosts have not.

        Raises:
            ScenarioError: The field, and what was expected.
        """
        with told_as(ScenarioError):
            _core.check_measurable(self._inner, self.file, stack)

    def measured(
        self, contender: int, run: int, stack: "_core.Stack", records: bool, stop: _core.Stop
    ) -> tuple[pl.DataFrame, list[tuple[str, bytes]]]:
        """A run of a contender in real time: its flows with how late packets were, and what its hosts wrote down."""
        with told_as(MachineError):
            made = _core.measure(self._inner, contender, run, stack, records, stop)
        flows = self.named(frame_of(made.flows), contender).with_columns(
            late_mean_ms=pl.lit(made.late_mean_ms),
            late_p99_ms=pl.lit(made.late_p99_ms),
            late_p999_ms=pl.lit(made.late_p999_ms),
            late_max_ms=pl.lit(made.late_max_ms),
        )
        return flows, made.records

    def finished_runs(self, contender: int, folder: Path | None, *, made_by: str = "") -> FinishedRuns:
        """What is kept in a folder of a contender's runs; `made_by` is what they were made by, if not by simulation."""
        label = self.contenders[contender]
        # What the scenario's own contenders are, its text and files tell.
        content = b"" if self.chosen is None else self.chosen[contender].content
        key = None
        if content is not None:
            files = [part for name, data in sorted(self.files.items()) for part in (name, data)]
            parts = (self.text, self.duration_s, self.seed, label, content, *files)
            key = digest(*parts, made_by) if made_by else simulated(*parts)
        return FinishedRuns(folder, label, key)

    def is_class(self, contender: int) -> bool:
        """Whether a contender is a class of Python's."""
        return self.chosen is not None and self.chosen[contender].is_class


ScenarioLike: TypeAlias = Evaluation | str | os.PathLike[str]
"""An evaluation, the path of a scenario file, the name of a scenario that comes with the program, or a text of several
lines."""


def _load(core: _core.Evaluation, folder: Path, files: Mapping[str, bytes]) -> dict[str, bytes]:
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


def _with_schemes(core: _core.Evaluation, chosen: Sequence[Contender]) -> _core.Evaluation:
    try:
        return core.with_schemes(chosen)
    except InputError as error:
        raise SchemeError(f"schemes: {error.problem}") from None


def shipped_scenarios() -> list[Evaluation]:
    """The scenarios that come with the program, in order of name.

    >>> [scenario.name for scenario in exmachina.shipped_scenarios()][:2]
    ['bbr-mix', 'parking-lot']
    """
    return [Evaluation.load(name) for name in shipped_files(SCENARIOS)]
