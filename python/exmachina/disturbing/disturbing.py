"""Disturbing tables: flows' windows and memories are set elsewhere, and what comes of it is watched.

A score says how well a table does from where its flows begin. On a real network there are other beginnings: a path
changes under a flow, a clock jumps, a burst of others leaves. A table may have states from which it never returns.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Unpack

import polars as pl

from exmachina import _core
from exmachina.disturbing.options import DisturbOptions, DisturbSettings
from exmachina.disturbing.report import Disturbed
from exmachina.engines import Engine, Part, Parts, opened
from exmachina.errors import SchemeError
from exmachina.frames import frame_of
from exmachina.networks import Model, ModelLike
from exmachina.schemes import Table, TableLike, contender_of, distinct
from exmachina.scoring import designed_for

__all__ = ["disturb", "disturb_on"]


def disturb(
    tables: TableLike | Sequence[TableLike],
    model: ModelLike | None = None,
    options: DisturbOptions | None = None,
    *,
    on_progress: Callable[[str, float], None] | None = None,
    **settings: Unpack[DisturbSettings],
) -> Disturbed:
    """Sets flows elsewhere, and says how many are back 20 RTTs (at least 2 s) later.

    On held-out networks of a model all senders run a table for ever. Once they have settled, the window and the
    averages of every flow are multiplied by independent factors of 1/32 to 32, log-uniform. They are *back* if
    throughput and mean RTT, over 20 RTTs (at least 2 s) that begin as long after that, are within 10 % of what they are
    undisturbed. A flow is *below* if it then has less than half of an equal share (of several links: of its part of
    what all have under proportional fairness), and *stays* there if it has, too, over five times as long after that.
    Networks are as the model states them, with a microsecond of jitter; tables meet the same states.

    >>> found = exmachina.disturb(["known-1x", "known-10x"], "known-1x", specimens=3, states=8)
    >>> found.summary.columns[:5]
    ['scheme', 'networks', 'back', 'below', 'stays']

    Args:
        tables: One or several: names of algorithms, paths of files, tables. Where the model's senders have different
            names (`Model.classes`), all of them run it.
        model: A model, the path of a model file, or the name of a model that comes with the program; what the first
            table was designed for if not given.
        options: How many networks and states, which, and who computes.
        on_progress: Called with the table under way and the share that is done, 0 to 1.
        **settings: Fields of `DisturbOptions`, which go before those of `options`.

    Raises:
        InputError: If something given is not possible.
        ClusterError: If a cluster cannot be used.
    """
    chosen = replace(options or DisturbOptions(), **settings)
    given = [tables] if isinstance(tables, str) or not isinstance(tables, Sequence) else list(tables)
    if not given:
        raise SchemeError("tables: expected at least one")
    loaded = [Table.of(table) for table in given]
    network = designed_for(loaded) if model is None else Model.of(model)
    seed = network.seed if chosen.seed is None else chosen.seed
    numbers = range(chosen.skip, chosen.skip + chosen.specimens)
    with opened(chosen) as engine:
        return disturb_on(loaded, network, numbers, states=chosen.states, seed=seed, engine=engine, tell=on_progress)


def disturb_on(
    tables: Sequence[Table],
    model: Model,
    numbers: Sequence[int],
    *,
    states: int,
    seed: int,
    engine: Engine,
    tell: Callable[[str, float], None] | None = None,
) -> Disturbed:
    """The same on those of a model's networks that have these numbers."""
    names = [entry.label for entry in distinct(map(contender_of, tables))]
    task = _Task(model, tuple(tables), tuple(names), seed, tuple(numbers), states)
    parts = Parts(engine, [(0, len(numbers))] * len(tables))
    frames, done = [], 0
    for computed in engine.map(_rows, task, parts):
        part = computed.unit
        parts.learn(computed)
        frames.append(computed.result)
        done += part.last - part.first
        if tell is not None:
            tell(names[part.series], done / (len(tables) * len(numbers)))
    return Disturbed(model, seed, states, pl.concat(frames))


@dataclass(frozen=True)
class _Task:
    """What is disturbed: all that rows follow from, and no network."""

    model: Model
    tables: tuple[Table, ...]
    names: tuple[str, ...]
    seed: int
    numbers: tuple[int, ...]
    states: int

    def __reduce__(self) -> tuple[type["_Task"], tuple[Any, ...]]:
        return _Task, (self.model, self.tables, self.names, self.seed, self.numbers, self.states)

    @cached_property
    def networks(self) -> _core.Specimens:
        """Those of the numbers."""
        return self.model.held_out(self.seed, max(self.numbers) + 1, False).part(self.numbers)


def _rows(task: _Task, part: Part, workers: _core.Workers, stop: _core.Stop) -> pl.DataFrame:
    """A unit of work: one row per network, with the table's name before all else."""
    table, networks = task.tables[part.series], task.networks.part(range(part.first, part.last))
    frame = frame_of(_core.disturb(table, networks, task.states, workers, stop))
    return frame.select(pl.lit(task.names[part.series]).alias("scheme"), pl.all())
