"""Scoring schemes side by side on held-out specimens (Remy'13 §4.3, §5.1).

Every scheme meets the same networks and the same traffic, which no design for the model has seen, so that
differences are taken pair by pair.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias, Unpack

import polars as pl

from exmachina import _core
from exmachina.engines import Parts, opened
from exmachina.errors import OptionError, SchemeError
from exmachina.networks import Model, ModelLike, outside, stated, trained
from exmachina.schemes import Contender, SchemeLike, Table, TableLike, contender_of, designed_range, distinct
from exmachina.scoring.options import ScoreOptions, ScoreSettings
from exmachina.scoring.report import AIMD, AIMD_BDP, REFERENCE, ScoreReport
from exmachina.scoring.task import Task, rows

__all__ = ["Scored", "designed_for", "score"]

Scored: TypeAlias = SchemeLike | Sequence[TableLike]
"""A scheme as for `exmachina.evaluate`; or tables that are run together, one for each name of a model's senders."""


def score(
    schemes: Scored | Sequence[Scored],
    model: ModelLike,
    options: ScoreOptions | None = None,
    *,
    on_progress: Callable[[str, float], None] | None = None,
    **settings: Unpack[ScoreSettings],
) -> ScoreReport:
    """Scores schemes, and the omniscient reference, on the same held-out specimens of a model.

    Rule tables run in the design simulator. Schemes of people, and tables over a queue of their own, run in the
    transport of the papers' ns-2, over a queue of five bandwidth-delay products where the model's is infinite.

    >>> report = exmachina.score(["known-1x", "cubic/sfqcodel"], "known-1x", specimens=4, seconds_each=2)
    >>> report.save("scores.parquet")

    Args:
        schemes: One or several: names, paths of tables, tables; the first is the one that others are compared to. Where
            the model's senders have different names (`Model.classes`), a table is run by all of them; a list of tables,
            one for each name in order, is one scheme.
        model: A model, the path of a model file, or the name of a model that comes with the program; its own networks
            are drawn, with seeds that no design uses.
        options: How many networks, which, and who computes.
        on_progress: Called with the scheme under way and the share that is done, 0 to 1.
        **settings: Fields of `ScoreOptions`, which go before those of `options`.

    Raises:
        InputError: If something given is not possible.
        ClusterError: If a cluster cannot be used.
    """
    chosen = replace(options or ScoreOptions(), **settings)
    model = Model.of(model)
    entries = _entries(schemes, model)
    if not entries and not chosen.aimd:
        raise SchemeError("schemes: expected at least one")
    seconds_each = model.duration_s if chosen.seconds_each is None else chosen.seconds_each
    seed = model.seed if chosen.seed is None else chosen.seed
    task = Task(model, tuple(entries), seed, chosen.specimens, seconds_each, chosen.aimd, chosen.in_world)
    names = [run.name for run in task.runs]
    frames = []
    with opened(chosen) as engine:
        parts = Parts(engine, [(0, len(task.held_out))] * len(names))
        done, all_runs = 0, len(names) * len(task.held_out)
        _tell(on_progress, names[0], 0.0)
        for computed in engine.map(rows, task, parts):
            part = computed.unit
            parts.learn(computed)
            frames.append(computed.result)
            done += part.last - part.first
            _tell(on_progress, names[part.series], done / all_runs)
    return ScoreReport(model, seconds_each, seed, pl.concat(frames), _outside(entries, model, in_world=chosen.in_world))


def _tell(on_progress: Callable[[str, float], None] | None, name: str, share: float) -> None:
    if on_progress is not None:
        on_progress(name, share)


def _outside(entries: Sequence[Contender], model: Model, *, in_world: bool) -> tuple[str, ...]:
    """What to say of tables that were designed for other networks."""
    networks, told = trained(model.text) if in_world else stated(model.text), []
    for entry in entries:
        tables = entry.scheme if isinstance(entry.scheme, tuple) else (entry.scheme,)
        told += [outside(table.name, designed_range(table), networks) for table in tables if isinstance(table, Table)]
    return tuple(dict.fromkeys(words for words in told if words is not None))


def designed_for(schemes: Sequence[Scored]) -> Model:
    """The model that the first of these schemes was designed for.

    Raises:
        SchemeError: If there is none.
        OptionError: If it does not say.
    """
    if not schemes:
        raise SchemeError("schemes: expected at least one")
    first = schemes[0]
    one = contender_of(first if isinstance(first, str) or not isinstance(first, Sequence) else first[0])
    scheme = one.scheme
    if isinstance(scheme, str) and not _core.is_scheme(scheme):
        scheme = Table.load(scheme)  # which says what there is, if there is no such name
    made = scheme.provenance if isinstance(scheme, Table) else None
    if made is None:
        raise OptionError(f"model: expected one; {one.label} does not say what it was designed for")
    return Model(made.model, f"{one.name}.toml")


def _entries(schemes: Scored | Sequence[Scored], model: Model) -> list[Contender]:
    """What is scored, one by one."""
    given = [schemes] if isinstance(schemes, str) or not isinstance(schemes, Sequence) else list(schemes)
    entries = [
        contender_of(one) if isinstance(one, str) or not isinstance(one, Sequence) else _together(one, model)
        for one in given
    ]
    for entry in entries:
        if entry.is_class:
            raise SchemeError(f"schemes: expected names, paths or tables, got the class {entry.name}: use evaluate")
    return distinct(entries, {REFERENCE, AIMD, AIMD_BDP})


def _together(tables: Sequence[TableLike], model: Model) -> Contender:
    """One table for each name of senders."""
    if len(tables) != len(model.classes):
        names = ", ".join(model.classes)
        what = f"one for each of {names} together" if names else "one by one: all senders of the model run the same"
        raise SchemeError(f"tables: expected {what}; got {len(tables)} together")
    loaded = tuple(Table.of(table) for table in tables)
    return Contender(" + ".join(table.name for table in loaded), loaded)
