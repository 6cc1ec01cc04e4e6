"""Scoring schemes side by side on held-out specimens (Remy'13 §4.3, §5.1).

Every scheme meets the same networks and the same traffic, which no design for the model has seen, so that
differences are taken pair by pair.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeAlias

import polars as pl

from exmachina import _core
from exmachina.checks import check_seconds, check_seed
from exmachina.errors import InputError
from exmachina.frames import frame_of
from exmachina.interrupts import interruptible
from exmachina.networks import Model
from exmachina.schemes import Table
from exmachina.scoring.report import AIMD, AIMD_BDP, REFERENCE, ScoreReport, named

__all__ = ["designed_for", "distinct_names", "parts", "score"]

MAX_SPECIMENS = 1_000_000


def score(
    tables: Table | Sequence[Table | Sequence[Table]],
    model: Model,
    *,
    specimens: int = 1000,
    seconds_each: float | None = None,
    seed: int | None = None,
    threads: int | None = None,
    aimd: bool = False,
    in_world: bool = False,
    on_progress: Callable[[str, float], None] | None = None,
) -> ScoreReport:
    """Scores tables, and the omniscient reference, on the same held-out specimens of a model.

    Args:
        tables: One table or several; the first is the one that others are compared to. Where the model's senders have
            different names (`Model.classes`), a table is run by all of them; a list of tables, one for each name in
            order, is one scheme.
        model: The model; its own networks are drawn, with seeds that no design uses.
        specimens: How many; for a model that is a grid, rounded up so that each point has equally many.
        seconds_each: Simulated seconds of each; the model's if not given.
        seed: Of the held-out specimens; the model's if not given.
        threads: As many as there are processors if not given. The result does not depend on it.
        aimd: Whether to score an AIMD sender, too; where the buffer is infinite, on a buffer of one bandwidth-delay
            product.
        in_world: Whether the networks have what those of training have besides (`[design.world]`); else they are as the
            model states them.
        on_progress: Called with the scheme under way and the share that is done, 0 to 1.

    Raises:
        InputError: If a value is not possible.
    """
    entries = _entries(tables, model)
    if not entries and not aimd:
        raise InputError("tables: expected at least one")
    seconds_each = model.duration_s if seconds_each is None else seconds_each
    seed = model.seed if seed is None else seed
    _check(specimens, seconds_each, seed)
    workers = _core.Workers(threads)
    held_out = model.held_out(seed, specimens, in_world)
    runs = _runs(entries, held_out, aimd)
    frames = []
    for index, run in enumerate(runs):
        report = _reporter(on_progress, run[0], index, len(runs) + 1)
        frames.append(_evaluate(run, seconds_each, workers, report))
    reference = interruptible(lambda stop: _core.reference(held_out, seconds_each, workers, stop))
    frames.append(named(REFERENCE, frame_of(reference)))
    return ScoreReport(model, seconds_each, seed, pl.concat(frames))


def designed_for(tables: Sequence[Table | list[Table]]) -> Model:
    """The model that the first of these tables was designed for.

    Raises:
        InputError: If it does not say.
    """
    if not tables:
        raise InputError("tables: expected at least one")
    table = tables[0] if isinstance(tables[0], Table) else tables[0][0]
    made = table.provenance
    if made is None:
        raise InputError(f"model: expected one; {table.name} does not say what it was designed for")
    return Model(made["model"], f"{table.name}.toml")


Run: TypeAlias = tuple[str, Table | list[Table] | str, _core.Specimens]


def _entries(tables: Table | Sequence[Table | Sequence[Table]], model: Model) -> list[Table | list[Table]]:
    """What is scored, one by one: tables, and lists with one for each name of senders."""
    given = [tables] if isinstance(tables, Table) else list(tables)
    entries = [entry if isinstance(entry, Table) else list(entry) for entry in given]
    for entry in entries:
        if isinstance(entry, list) and len(entry) != len(model.classes):
            names = ", ".join(model.classes)
            what = f"one for each of {names} together" if names else "one by one: all senders of the model run the same"
            raise InputError(f"tables: expected {what}; got {len(entry)} together")
    return entries


def _runs(entries: list[Table | list[Table]], held_out: _core.Specimens, aimd: bool) -> list[Run]:
    runs: list[Run] = [(name, entry, held_out) for name, entry in zip(distinct_names(entries), entries, strict=True)]
    if aimd and held_out.network(0)["buffer_packets"] is None:
        runs.append((AIMD_BDP, "aimd", held_out.with_buffer_bdp(1)))
    elif aimd:
        runs.append((AIMD, "aimd", held_out))
    return runs


def distinct_names(entries: Sequence[Table | list[Table]]) -> list[str]:
    """The names of tables, or of several together; a name that others have, too, is numbered."""
    taken = {REFERENCE, AIMD, AIMD_BDP}
    names = []
    for entry in entries:
        own = entry.name if isinstance(entry, Table) else " + ".join(table.name for table in entry)
        name, number = own, 1
        while name in taken:
            number += 1
            name = f"{own} ({number})"
        taken.add(name)
        names.append(name)
    return names


def _check(specimens: int, seconds_each: float, seed: int) -> None:
    if not 1 <= specimens <= MAX_SPECIMENS:
        raise InputError(f"specimens: expected from 1 to {MAX_SPECIMENS}, got {specimens}")
    check_seconds("seconds-each", seconds_each)
    check_seed(seed)


def _evaluate(
    run: Run,
    seconds_each: float,
    workers: _core.Workers,
    report: Callable[[float], None],
) -> pl.DataFrame:
    """Runs a scheme in batches, so that a display moves and ctrl-C is heard."""
    name, scheme, networks = run
    frames, done = [], 0
    for part in parts(networks, workers):
        report(done / len(networks))
        frames.append(frame_of(interruptible(partial(_core.evaluate, scheme, part, seconds_each, workers))))
        done += len(part)
    return named(name, pl.concat(frames))


def parts(networks: _core.Specimens, workers: _core.Workers) -> Iterator[_core.Specimens]:
    """All of them, so many at a time that a display moves and every thread has work."""
    batch = max(4 * workers.threads, len(networks) // 50)
    for first in range(0, len(networks), batch):
        yield networks.part(first, min(first + batch, len(networks)))


def _reporter(
    on_progress: Callable[[str, float], None] | None, name: str, index: int, count: int
) -> Callable[[float], None]:
    def report(share: float) -> None:
        if on_progress is not None:
            on_progress(name, (index + share) / count)

    return report
