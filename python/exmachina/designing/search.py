"""Designing a rule table for a model (Remy'13 §4.3): budgets, checkpoints, history, and stopping well.

The search itself is the core's and knows no clock and no files. Here it runs step by step in a thread of its own.
After every step the checkpoint is replaced in one go, so that a kill at any moment loses at most one step, and a
resumed design ends with the same bytes as an undisturbed one.
"""

import os
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from hashlib import sha256
from math import inf
from pathlib import Path
from typing import Literal

import polars as pl

from exmachina import _core
from exmachina.checks import check_seed
from exmachina.errors import InputError, Stopped
from exmachina.files import alone, check_output, read_file, write_atomically, write_parquet
from exmachina.frames import frame_of
from exmachina.interrupts import interruptible
from exmachina.networks import Model
from exmachina.schemes import Table

__all__ = ["Design", "DesignStopped", "Progress", "design"]

MOST_CHECKPOINT_BYTES = 1 << 30
REFRESH_S = 0.2
"""How often a display is told how things stand, and the clock is looked at."""


@dataclass(frozen=True)
class Progress:
    """How a design stands."""

    step: int
    """Steps of the search so far, those before a resume included."""
    rules: int
    score: float | None
    """Of the best table so far: mean per specimen, as `score` has it, on networks of the model itself (not of
    `[[also]]`) that no step trains on, but by which the best table is chosen. None until measured."""
    starved_share: float | None
    """Share of the senders there that were on and received nothing: they are in no score."""
    cpu_s: float
    """CPU-seconds so far, those before a resume included."""
    packets: int
    """Packets simulated so far, those before a resume included."""
    doing: str
    """What the search is at, in words."""
    wall_s: float
    """Seconds since this call began."""
    packets_per_s: float
    """Packets simulated per second since this call began."""
    left_s: float | None
    """Seconds left, where a budget tells."""


@dataclass(frozen=True)
class Design:
    """What a design gave."""

    tables: dict[str, Table]
    """The tables by the names of the senders that run them; one without a name where all run the same."""
    history: pl.DataFrame
    """The time-to-score curve, one row per measurement: step, cpu_s, packets (simulated), rules, score,
    starved_share."""
    score: float | None
    """Of these tables: mean per specimen, as `score` has it, on those networks of the model that `progress` is measured
    on. None where nobody received anything there."""
    starved_share: float
    """Share of the senders there that were on and received nothing: they are in no score."""
    progress: Progress
    """How it stood at the end."""

    @property
    def table(self) -> Table:
        """The table; the first one, where several were designed together."""
        return next(iter(self.tables.values()))


class DesignStopped(Stopped):
    """Ctrl-C during a design."""

    def __init__(self, message: str, design: Design) -> None:
        super().__init__(message)
        self.design = design
        """What was found so far."""

    def __reduce__(self) -> tuple[type["DesignStopped"], tuple[str, Design]]:
        return DesignStopped, (str(self), self.design)


@dataclass(frozen=True)
class Budget:
    """When to stop; `None` everywhere: at ctrl-C."""

    seconds: float | None
    cpu_seconds: float | None
    rounds: int | None

    def check(self) -> None:
        for field, value in [
            ("seconds", self.seconds),
            ("cpu-seconds", self.cpu_seconds),
            ("rounds", self.rounds),
        ]:
            if value is not None and not 0 < value < inf:
                raise InputError(f"{field}: expected a number above 0, got {value:g}")
        if sum(value is not None for value in (self.seconds, self.cpu_seconds, self.rounds)) > 1:
            raise InputError("budget: expected at most one of seconds, cpu-seconds, rounds")

    def used_up(self, step: int, cpu_s: float, wall_s: float) -> bool:
        return (
            (self.seconds is not None and wall_s >= self.seconds)
            or (self.cpu_seconds is not None and cpu_s >= self.cpu_seconds)
            or (self.rounds is not None and step >= self.rounds)
        )

    def left_s(self, cpu_s: float, wall_s: float, cpu_per_s: float) -> float | None:
        if self.seconds is not None:
            return max(0.0, self.seconds - wall_s)
        if self.cpu_seconds is not None and cpu_per_s > 0:
            return max(0.0, self.cpu_seconds - cpu_s) / cpu_per_s
        return None


class DesignFiles:
    """The files of a design: NAME.dna, NAME.dna.checkpoint, NAME.dna.history.parquet.

    Where several tables are designed together, there is a NAME-CLASS.dna for each, and no NAME.dna.
    """

    def __init__(self, output: str | os.PathLike[str], classes: list[str]) -> None:
        path = check_output(output, suffixes=(".dna",))
        self.tables = {name: path.with_name(f"{path.stem}-{name}.dna") if name else path for name in classes}
        self.checkpoint = Path(f"{path}.checkpoint")
        self.history = Path(f"{path}.history.parquet")
        self.lock = Path(f"{path}.lock")

    def refuse_leftovers(self) -> None:
        """Stops where results of an earlier design would be lost."""
        if self.checkpoint.exists():
            raise InputError(
                f"{self.checkpoint} is there from an earlier design: --resume goes on with it, --force starts over"
            )
        for table in self.tables.values():
            if table.exists():
                raise InputError(f"{table} exists: choose another name, or replace it with --force")


def design(
    model: Model | str | os.PathLike[str],
    output: str | os.PathLike[str] | None = None,
    *,
    search: Literal["default", "paper"] = "default",
    seconds: float | None = None,
    cpu_seconds: float | None = None,
    rounds: int | None = None,
    threads: int | None = None,
    seed: int | None = None,
    start: Table | Sequence[Table] | None = None,
    resume: bool = False,
    force: bool = False,
    on_progress: Callable[[Progress], None] | None = None,
) -> Design:
    """Designs a rule table for a model; or several together, where its senders have different names (`Model.classes`).

    With `output`, the table is written there at the end, its history beside it (`.history.parquet`), and after every
    step a checkpoint (`.checkpoint`) from which `resume` goes on. Of several tables, that of the senders NAME is
    written to the output's name with `-NAME` before its ending.

    Args:
        model: A model, the path of a model file, or the name of a model that comes with the program.
        output: Where to write the table (`.dna`); nothing is written if not given.
        search: "default", or "paper" for the five steps of Remy'13 §4.3.
        seconds: Stop after so many seconds of this call.
        cpu_seconds: Stop after so many CPU-seconds, those before a resume included.
        rounds: Stop after so many steps of the search, those before a resume included.
        threads: As many as there are processors if not given. The result does not depend on it.
        seed: Of everything random in the search; the model's if not given.
        start: A table to begin with, instead of one rule; or one for each name of senders.
        resume: Whether to go on from the checkpoint of `output`.
        force: Whether to replace what an earlier design left at `output`.
        on_progress: Called five times a second, in this thread.

    Raises:
        InputError: If something given is not possible; then nothing has been written.
        DesignStopped: At ctrl-C, once the state has been saved; its `design` is what was found so far.
    """
    model = model if isinstance(model, Model) else Model.load(model)
    budget = Budget(seconds, cpu_seconds, rounds)
    budget.check()
    workers = _core.Workers(threads)
    files = None if output is None else DesignFiles(output, model.classes)
    starts = [] if start is None else [start] if isinstance(start, Table) else list(start)
    with nullcontext() if files is None else alone(files.lock, f"{output}: this output"):
        if resume:
            designer = resumed(files, model, search, seed, starts)
        else:
            if seed is not None:
                check_seed(seed)
            if files is not None and not force:
                files.refuse_leftovers()
            designer = _core.Designer(model, search, seed, starts, [_known_by(table) for table in starts])
        run = _Run(designer, model, workers, budget, files)
        interrupted = run.until_done(on_progress)
        result = run.save()
    if interrupted:
        raise _stopped(result, files)
    return result


def _known_by(table: Table) -> str:
    """What the finished table says of one that it began with: its name, and a digest that `sha256sum` gives too."""
    return f"{table.name} sha256:{sha256(table.dna).hexdigest()}"


def resumed(
    files: DesignFiles | None, model: Model, search: str, seed: int | None, starts: list[Table]
) -> _core.Designer:
    if files is None:
        raise InputError("resume: expected an output, whose checkpoint to go on from")
    if starts:
        raise InputError("start: expected no table beside resume; the checkpoint has one")
    if not files.checkpoint.exists():
        raise InputError(f"{files.checkpoint}: there is no such checkpoint; leave out --resume to start")
    try:
        text = read_file(files.checkpoint, most_bytes=MOST_CHECKPOINT_BYTES).decode()
    except UnicodeDecodeError:
        raise InputError(f"{files.checkpoint}: not a checkpoint") from None
    designer = _core.Designer.resume(text, str(files.checkpoint))
    if designer.model_text != model.text:
        raise InputError(f"{files.checkpoint}: belongs to another model; --resume needs the model it began with")
    if designer.search != search:
        raise InputError(f"{files.checkpoint}: was begun with --search {designer.search}; go on with the same")
    if seed is not None and designer.seed != seed:
        raise InputError(f"{files.checkpoint}: was begun with --seed {designer.seed}; go on with the same")
    return designer


class _Run:
    """A search in a thread of its own, watched from this one."""

    def __init__(
        self,
        designer: _core.Designer,
        model: Model,
        workers: _core.Workers,
        budget: Budget,
        files: DesignFiles | None,
    ) -> None:
        self.designer, self.model, self.workers, self.budget, self.files = (
            designer,
            model,
            workers,
            budget,
            files,
        )
        self.began = time.monotonic()
        self.at_begin = designer.progress()
        self.stopping = threading.Event()
        self.failure: BaseException | None = None

    def until_done(self, on_progress: Callable[[Progress], None] | None) -> bool:
        """Runs until the budget is used up, the search is finished or ctrl-C; whether it was ctrl-C."""
        thread = threading.Thread(target=self._steps, name="exmachina-design")
        thread.start()
        interrupted = False
        try:
            while thread.is_alive():
                thread.join(REFRESH_S)
                if self._used_up():
                    self._stop()
                if on_progress is not None:
                    on_progress(self.progress())
        except KeyboardInterrupt:
            interrupted = True
        finally:
            self._stop()
            thread.join()
        if self.failure is not None:
            raise self.failure
        return interrupted

    def _stop(self) -> None:
        self.stopping.set()
        self.designer.stop()

    def _steps(self) -> None:
        try:
            while not self.stopping.is_set() and not self._used_up():
                if self.designer.step(self.workers) and self.files is not None:
                    write_atomically(self.files.checkpoint, self.designer.checkpoint().encode(), durable=False)
        except BaseException as failure:
            self.failure = failure

    def _used_up(self) -> bool:
        now = self.designer.progress()
        return self.budget.used_up(now["step"], now["cpu_s"], time.monotonic() - self.began)

    def progress(self) -> Progress:
        """How it stands."""
        now, wall_s = self.designer.progress(), time.monotonic() - self.began
        per_s = 1 / wall_s if wall_s > 0 else 0.0
        return Progress(
            **now,
            wall_s=wall_s,
            packets_per_s=(now["packets"] - self.at_begin["packets"]) * per_s,
            left_s=self.budget.left_s(now["cpu_s"], wall_s, (now["cpu_s"] - self.at_begin["cpu_s"]) * per_s),
        )

    def _answer(self) -> tuple[list[tuple[str, bytes]], float | None, float]:
        """The tables, and how they measure: not at all where no step was done, or ctrl-C comes before that is known."""
        unmeasured = _core.Stop()
        unmeasured.set()
        if self.designer.progress()["step"] > 0:
            with suppress(KeyboardInterrupt):
                return interruptible(lambda stop: self.designer.answer(self.workers, stop))
        return self.designer.answer(self.workers, unmeasured)

    def save(self) -> Design:
        """Writes all files of the design."""
        files, history = self.files, frame_of(self.designer.history())
        dnas, score, starved_share = self._answer()
        tables = {name: Table(dna, "design.dna" if files is None else str(files.tables[name])) for name, dna in dnas}
        if files is not None:
            write_atomically(files.checkpoint, self.designer.checkpoint().encode())
            write_parquet(files.history, history, {"model": self.model.text})
            for name, table in tables.items():
                write_atomically(files.tables[name], table.dna)
        return Design(tables, history, score, starved_share, self.progress())


def _stopped(result: Design, files: DesignFiles | None) -> DesignStopped:
    if files is None:
        return DesignStopped("Stopped.", result)
    written = " and ".join(map(str, files.tables.values()))
    what = "table so far is" if len(files.tables) == 1 else "tables so far are"
    return DesignStopped(f"Stopped; the best {what} in {written}. To go on: the same command with --resume.", result)
