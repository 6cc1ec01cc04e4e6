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
from dataclasses import replace
from hashlib import sha256
from typing import Unpack

from exmachina import _core
from exmachina.designing.batches import Batches
from exmachina.designing.options import Budget, DesignOptions, DesignSettings
from exmachina.designing.outcome import Design, DesignStopped, Progress
from exmachina.designing.outputs import DesignFiles, resumed
from exmachina.engines import Engine, opened
from exmachina.errors import OptionError, told_as
from exmachina.files import alone, write_atomically, write_parquet
from exmachina.frames import frame_of
from exmachina.interrupts import interruptible
from exmachina.networks import Model, ModelLike
from exmachina.schemes import Table, TableLike, size_words

__all__ = ["design"]

REFRESH_S = 0.2
"""How often a display is told how things stand, and the clock is looked at."""


def design(
    model: ModelLike,
    output: str | os.PathLike[str] | None = None,
    options: DesignOptions | None = None,
    *,
    start: TableLike | Sequence[TableLike] | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    **settings: Unpack[DesignSettings],
) -> Design:
    """Designs a rule table for a model; or several together, where its senders have different names (`Model.classes`).

    With `output`, the table is written there at the end, its history beside it (`.history.parquet`), and after every
    step a checkpoint (`.checkpoint`) from which `resume` goes on. Of several tables, that of the senders NAME is
    written to the output's name with `-NAME` before its ending.

    >>> exmachina.design("known-1x", "mine.dna", rounds=1).table
    Table('mine', 2 rules)

    Args:
        model: A model, the path of a model file, or the name of a model that comes with the program.
        output: Where to write the table (`.dna`); nothing is written if not given.
        options: Budget, procedure, who computes, and what becomes of an earlier design at `output`.
        start: A table to begin with, instead of one rule, as a table, path or name; or one for each name of senders.
            A law where the model asks for laws.
        on_progress: Called five times a second, in this thread.
        **settings: Fields of `DesignOptions`, which go before those of `options`.

    Raises:
        InputError: If something given is not possible; then nothing has been written.
        ClusterError: If a cluster cannot be used; `resume` goes on from the last step.
        DesignStopped: At ctrl-C, once the state has been saved; its `design` is what was found so far.
    """
    chosen, model = replace(options or DesignOptions(), **settings), Model.of(model).whole()
    files = None if output is None else DesignFiles(output, model.classes)
    starts = _starts(start)
    with nullcontext() if files is None else alone(files.lock, f"{output}: this output"):
        designer = _designer(model, files, starts, chosen)
        with opened(chosen) as engine:
            run = _Run(designer, model, engine, chosen, files)
            interrupted = run.until_done(on_progress)
            result = run.save()
    if interrupted:
        raise _stopped(result, files)
    return result


def _starts(start: TableLike | Sequence[TableLike] | None) -> list[Table]:
    if start is None:
        return []
    if isinstance(start, str) or not isinstance(start, Sequence):
        return [Table.of(start)]
    return [Table.of(one) for one in start]


def _designer(model: Model, files: DesignFiles | None, starts: list[Table], options: DesignOptions) -> _core.Designer:
    """A search at its beginning, or where its checkpoint has it."""
    if not options.resume:
        if files is not None and not options.force:
            files.refuse_leftovers()
        with told_as(OptionError):
            return _core.Designer(model, options.search, options.seed, starts, [_known_by(table) for table in starts])
    if files is None:
        raise OptionError("resume: expected an output, whose checkpoint to go on from")
    if starts:
        raise OptionError("start: expected no table beside resume; the checkpoint has one")
    return resumed(files, model, options.search, options.seed)


def _known_by(table: Table) -> str:
    """What the finished table says of one that it began with: its name, and a digest that `sha256sum` gives too."""
    return f"{table.name} sha256:{sha256(table.dna).hexdigest()}"


class _Run:
    """A search in a thread of its own, watched from this one."""

    def __init__(
        self,
        designer: _core.Designer,
        model: Model,
        engine: Engine,
        budget: Budget,
        files: DesignFiles | None,
    ) -> None:
        self.designer, self.model, self.engine = designer, model, engine
        self.budget, self.files = budget, files
        self.began = time.monotonic()
        self.at_begin, self.law = designer.progress(), designer.law
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
        others = Batches(self.engine, self.stopping) if self.engine.workers else None
        try:
            while not self.stopping.is_set() and not self._used_up():
                if self.designer.step(self.engine.here, others) and self.files is not None:
                    write_atomically(self.files.checkpoint, self.designer.checkpoint().encode(), durable=False)
        except BaseException as failure:
            self.failure = failure

    def _used_up(self) -> bool:
        now = self.designer.progress()
        return self.budget.used_up(now.step, now.cpu_s, time.monotonic() - self.began)

    def progress(self) -> Progress:
        """How it stands."""
        now, wall_s = self.designer.progress(), time.monotonic() - self.began
        per_s = 1 / wall_s if wall_s > 0 else 0.0
        return Progress(
            step=now.step,
            rules=now.rules,
            size=size_words(now.rules, law=self.law),
            score=now.score,
            starved_share=now.starved_share,
            cpu_s=now.cpu_s,
            packets=now.packets,
            doing=now.doing,
            wall_s=wall_s,
            packets_per_s=(now.packets - self.at_begin.packets) * per_s,
            left_s=self.budget.left_s(now.cpu_s, wall_s, (now.cpu_s - self.at_begin.cpu_s) * per_s),
            workers=self.engine.workers,
        )

    def _answer(self) -> _core.Answer:
        """The tables, and how they measure: not at all where no step was done, or ctrl-C comes before that is known."""
        unmeasured = _core.Stop()
        unmeasured.set()
        if self.designer.progress().step > 0:
            with suppress(KeyboardInterrupt):
                return interruptible(lambda stop: self.designer.answer(self.engine.here, stop))
        return self.designer.answer(self.engine.here, unmeasured)

    def save(self) -> Design:
        """Writes all files of the design."""
        files, history = self.files, frame_of(self.designer.history())
        answer = self._answer()
        tables = {
            one.name: Table(one.dna, "design.dna" if files is None else str(files.tables[one.name]))
            for one in answer.tables
        }
        if files is not None:
            write_atomically(files.checkpoint, self.designer.checkpoint().encode())
            write_parquet(files.history, history, {"model": self.model.text})
            for name, table in tables.items():
                write_atomically(files.tables[name], table.dna)
        return Design(tables, history, answer.score, answer.starved_share, self.progress())


def _stopped(result: Design, files: DesignFiles | None) -> DesignStopped:
    if files is None:
        return DesignStopped("Stopped.", result)
    written = " and ".join(map(str, files.tables.values()))
    what = "table so far is" if len(files.tables) == 1 else "tables so far are"
    return DesignStopped(f"Stopped; the {what} in {written}. To go on: the same command with --resume.", result)
