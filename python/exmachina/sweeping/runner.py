"""Running a sweep: all points are read, so that a mistake is found before an hour's work, then simulated one by one."""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from typing import Unpack

import polars as pl

from exmachina.engines import opened
from exmachina.errors import OptionError, SchemeError, Stopped
from exmachina.evaluation import Evaluation, NetworkLike, network_of, outside_words
from exmachina.files import alone, make_folder
from exmachina.networks import Model, Ranges, stated
from exmachina.schemes import SchemeLike
from exmachina.sweeping.options import SweepOptions, SweepSettings
from exmachina.sweeping.points import Over, Point, over_of, points_of
from exmachina.sweeping.results import EVALUATED, SCORED, Sweep
from exmachina.sweeping.simulator import Simulator
from exmachina.sweeping.values import Value, Values, are_numbers, words_of

__all__ = ["Sweeping", "sweep"]


@dataclass(frozen=True)
class Sweeping:
    """How a sweep stands.

    >>> def show(now):
    ...     assert 0 <= now.share <= 1 and now.points == 2
    >>> _ = exmachina.sweep("r4", ["cubic"], over={"link.loss": [0, 0.01]}, runs=1, duration_s=1, on_progress=show)
    """

    at: str
    """The point, in words."""
    done: int
    """Points finished."""
    points: int
    """In all."""
    share: float
    """Of all runs that is finished, 0 to 1, those of an earlier call included."""
    wall_s: float
    """Seconds since the call."""
    left_s: float | None
    """Seconds left, at the pace so far; none at the beginning."""


def sweep(
    network: NetworkLike,
    schemes: Sequence[SchemeLike] | None = None,
    options: SweepOptions | None = None,
    *,
    over: Mapping[str, Values],
    output: str | os.PathLike[str] | None = None,
    on_progress: Callable[[Sweeping], None] | None = None,
    **settings: Unpack[SweepSettings],
) -> Sweep:
    """Evaluates schemes on a scenario, or scores them on a model, at each combination of other values of some fields.

    All points have the same seed, and what is not swept is drawn alike.

    >>> grid = {"link.rate_mbps": "1:100:log:3", "senders.count": [1, 2]}
    >>> found = exmachina.sweep("r4", ["cubic"], over=grid, runs=1, duration_s=1)
    >>> len(found.summary)
    6

    Args:
        network: A scenario, whose schemes run packet by packet, or a model, on whose held-out networks they are scored;
            the path of one's file, or the name of one that comes with the program.
        schemes: Names, paths of tables, tables, classes; those of the scenario if not given. A model has none.
        options: Runs, seconds, seed, and who computes.
        over: Values by field, such as `{"link.rate_mbps": [1, 10], "links[0].loss": "0,0.001:0.1:log:5"}`; see
            `exmachina.sweeping.Values`. A field is named as in messages: any that the file has or could have.
        output: A folder, created if missing: results are written there at the end (see `Sweep.save`), and finished
            runs are kept there meanwhile, so that the same call goes on where one was interrupted, and one with more
            values, schemes or runs simulates what is new.
        on_progress: Called some times a second.
        **settings: Fields of `SweepOptions`, which go before those of `options`.

    Raises:
        InputError: If something given is not possible: before anything is simulated, if it is a field or a value.
        ClusterError: If a cluster cannot be used; finished runs have been kept.
        Stopped: At ctrl-C, once finished runs have been kept.
    """
    chosen, base, fields = replace(options or SweepOptions(), **settings), network_of(network), over_of(over)
    for name in ("duration_s", "seed"):
        if name in fields and getattr(chosen, name) is not None:
            raise OptionError(f"over: {name}: expected it to be swept or given, not both")
    points = points_of(base, fields)
    if isinstance(base, Model) and not schemes:
        raise SchemeError("schemes: expected at least one; a model has none of its own")
    warnings = _outside(base, points, schemes)
    folder = None if output is None else make_folder(output)
    lock = nullcontext() if folder is None else alone(folder / ".lock", f"{folder}: this folder")
    with lock, opened(chosen) as engine:
        walked = _walked(base, fields, points, Simulator(schemes, chosen, engine, folder), on_progress)
        found = replace(walked, warnings=warnings)
        if folder is not None:
            found.save(folder)
    return found


def _walked(
    base: Model | Evaluation,
    over: Over,
    points: Sequence[Point],
    simulator: Simulator,
    on_progress: Callable[[Sweeping], None] | None,
) -> Sweep:
    """From point to point."""
    pace, found = _Pace(len(points), on_progress), []
    try:
        for done, point in enumerate(points):
            frames = simulator.run(point.network, partial(pace.tell, point.words, done))
            found.append([_placed(frame, point, over) for frame in frames])
            pace.tell(point.words, done, 1.0)
    except Stopped:
        raise
    except KeyboardInterrupt:
        raise Stopped.keeping(simulator.folder) from None
    # Columns in which a point has nothing but nulls are of no type there.
    rows, summary = (pl.concat(frames, how="vertical_relaxed") for frames in zip(*found, strict=True))
    scenario = isinstance(base, Evaluation)
    return Sweep(
        name=base.name,
        description=base.description,
        text=base.text,
        over=over,
        measures=EVALUATED if scenario else SCORED,
        who="label" if scenario else "scheme",
        frame=rows,
        summary=summary,
    )


@dataclass(frozen=True)
class _Pace:
    """How fast it goes."""

    points: int
    on_progress: Callable[[Sweeping], None] | None
    began: float = field(default_factory=time.monotonic)

    def tell(self, at: str, done: int, share: float) -> None:
        """At a point, with so many done before it and a share of it."""
        if self.on_progress is None:
            return
        wall_s, overall = time.monotonic() - self.began, (done + share) / self.points
        left_s = wall_s * (1 - overall) / overall if overall else None
        self.on_progress(Sweeping(at, done + int(share == 1), self.points, overall, wall_s, left_s))


def _placed(frame: pl.DataFrame, point: Point, over: Over) -> pl.DataFrame:
    """Rows of a point, with its place before all else: numbers where all values of a field are, words otherwise."""
    return frame.select(*(_column(name, point.at[name], values) for name, values in over.items()), pl.all())


def _column(name: str, value: Value, values: Sequence[Value]) -> pl.Expr:
    return pl.lit(float(value) if are_numbers(values) else words_of(value)).alias(name)


def _outside(
    base: Model | Evaluation, points: Sequence[Point], schemes: Sequence[SchemeLike] | None
) -> tuple[str, ...]:
    """What is said of tables that meet something else somewhere than what they were designed for.

    Raises:
        SchemeError: If there is no such scheme.
    """
    evaluation = base if isinstance(base, Evaluation) else Evaluation(base.text, f"{base.name}.toml")
    met: Ranges = reduce(Ranges.united, (stated(point.network.text) for point in points))
    return outside_words(evaluation.changed(schemes), met)
