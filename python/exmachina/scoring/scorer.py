"""Scoring schemes side by side on held-out specimens (Remy'13 §4.3, §5.1).

Every scheme meets the same networks and the same traffic, which no design for the model has seen, so that
differences are taken pair by pair.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeAlias, Unpack

import polars as pl

from exmachina import _core
from exmachina.checks import workers_of
from exmachina.errors import OptionError, SchemeError
from exmachina.frames import frame_of
from exmachina.interrupts import interruptible
from exmachina.networks import Model, ModelLike, outside, stated, trained
from exmachina.schemes import Contender, SchemeLike, Table, TableLike, contender_of, designed_range, distinct
from exmachina.scoring.options import ScoreOptions, ScoreSettings
from exmachina.scoring.report import AIMD, AIMD_BDP, REFERENCE, ScoreReport
from exmachina.scoring.transport import in_transport

if TYPE_CHECKING:
    from exmachina._core import Column

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
        options: How many networks, and which.
        on_progress: Called with the scheme under way and the share that is done, 0 to 1.
        **settings: Fields of `ScoreOptions`, which go before those of `options`.

    Raises:
        InputError: If something given is not possible.
    """
    chosen = replace(options or ScoreOptions(), **settings)
    model = Model.of(model)
    entries = _entries(schemes, model)
    if not entries and not chosen.aimd:
        raise SchemeError("schemes: expected at least one")
    seconds_each = model.duration_s if chosen.seconds_each is None else chosen.seconds_each
    seed = model.seed if chosen.seed is None else chosen.seed
    workers = workers_of(chosen.threads)
    held_out = model.held_out(seed, chosen.specimens, chosen.in_world)
    runs = [_run_of(entry, model, held_out, seconds_each, chosen) for entry in entries]
    runs += [_aimd(held_out, seconds_each)] if chosen.aimd else []
    frames = []
    for index, run in enumerate(runs):
        frames.append(run.rows(workers, _reporter(on_progress, run.name, index, len(runs) + 1)))
    reference = interruptible(lambda stop: _core.reference(held_out, seconds_each, workers, stop))
    frames.append(_named(REFERENCE, frame_of(reference)))
    return ScoreReport(model, seconds_each, seed, pl.concat(frames), _outside(entries, model, in_world=chosen.in_world))


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


@dataclass(frozen=True)
class _Run:
    """A scheme on the networks that it is scored on."""

    name: str
    networks: _core.Specimens
    compute: Callable[[_core.Specimens, _core.Workers, _core.Stop], "list[Column]"]

    def rows(self, workers: _core.Workers, report: Callable[[float], None]) -> pl.DataFrame:
        """One row per specimen and sender, simulated in batches, so that a display moves and ctrl-C is heard."""
        frames, done = [], 0
        for part in _parts(self.networks, workers):
            report(done / len(self.networks))
            frames.append(frame_of(interruptible(partial(self.compute, part, workers))))
            done += len(part)
        return _named(self.name, pl.concat(frames))


def _run_of(
    entry: Contender, model: Model, held_out: _core.Specimens, seconds_each: float, options: ScoreOptions
) -> _Run:
    tables = entry.scheme
    if entry.queue is None and isinstance(tables, Table | tuple):
        return _in_design(entry.label, tables, held_out, seconds_each)
    if options.in_world:
        raise SchemeError(f"in-world: expected tables, which alone run on the networks of training; got {entry.label}")
    evaluation = in_transport(entry, model, held_out, seconds_each)
    return _Run(entry.label, held_out, lambda part, workers, stop: evaluation.scored(0, part, workers, stop))


def _in_design(
    name: str, scheme: Table | tuple[Table, ...] | Literal["aimd"], networks: _core.Specimens, seconds_each: float
) -> _Run:
    return _Run(name, networks, lambda part, workers, stop: _core.evaluate(scheme, part, seconds_each, workers, stop))


def _aimd(held_out: _core.Specimens, seconds_each: float) -> _Run:
    if held_out.network(0)["buffer_packets"] is None:
        return _in_design(AIMD_BDP, "aimd", held_out.with_buffer_bdp(1), seconds_each)
    return _in_design(AIMD, "aimd", held_out, seconds_each)


def _parts(networks: _core.Specimens, workers: _core.Workers) -> Iterator[_core.Specimens]:
    """All of them, so many at a time that a display moves and every thread has work."""
    batch = max(4 * workers.threads, len(networks) // 50)
    for first in range(0, len(networks), batch):
        yield networks.part(first, min(first + batch, len(networks)))


def _named(name: str, frame: pl.DataFrame) -> pl.DataFrame:
    """The rows of a scheme, with its name before all else."""
    return frame.select(pl.lit(name).alias("scheme"), pl.all())


def _reporter(
    on_progress: Callable[[str, float], None] | None, name: str, index: int, count: int
) -> Callable[[float], None]:
    def report(share: float) -> None:
        if on_progress is not None:
            on_progress(name, (index + share) / count)

    return report
