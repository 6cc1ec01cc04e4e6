"""Simulating the contenders of an evaluation, as far as their runs are not kept from earlier.

Runs are simulated some at a time, so that a display moves and ctrl-C is heard, and others can take a part of them; what
comes out does not depend on how many those are, nor on who simulates them, or on how many threads.
"""

import os
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Unpack

import polars as pl

from exmachina import _core
from exmachina.engines import Engine, InThisThread, Part, Parts, opened
from exmachina.errors import SchemeError, Stopped
from exmachina.evaluation.counted import counted
from exmachina.evaluation.options import EvaluationOptions, EvaluationSettings
from exmachina.evaluation.outside import outside_words
from exmachina.evaluation.results import Results
from exmachina.evaluation.scenario import Evaluation, ScenarioLike
from exmachina.files import FinishedRuns, alone, make_folder
from exmachina.networks import stated
from exmachina.schemes import SchemeLike

__all__ = ["Standing", "evaluate", "results_of"]


@dataclass(frozen=True)
class Standing:
    """How an evaluation stands.

    >>> def show(now):
    ...     assert 0 <= now.done <= now.runs == 1
    >>> _ = exmachina.evaluate("r4", ["cubic"], runs=1, duration_s=1, on_progress=show)
    """

    contender: str
    """Whose runs are simulated."""
    done: int
    """Runs finished, of all contenders, those of an earlier call included."""
    runs: int
    """Runs in all, of all contenders."""
    packets: int
    """Packets simulated since this call began."""
    packets_per_s: float
    """The same per second."""
    wall_s: float
    """Seconds since this call began."""
    left_s: float | None
    """Seconds left, at the pace so far; none at the beginning."""
    workers: int = 0
    """Workers that are there, where others than this process compute."""


def evaluate(
    scenario: ScenarioLike,
    schemes: Sequence[SchemeLike] | None = None,
    options: EvaluationOptions | None = None,
    *,
    output: str | os.PathLike[str] | None = None,
    cache: str | os.PathLike[str] | None = None,
    on_progress: Callable[[Standing], None] | None = None,
    **settings: Unpack[EvaluationSettings],
) -> Results:
    """Simulates contenders on the networks of a scenario.

    With `output`, results are written there at the end (see `Results.save`), and finished runs are kept there
    meanwhile: an evaluation that was interrupted goes on where it was if it is called again, one with more runs or
    more schemes simulates what is new. Runs of classes are not kept.

    >>> results = exmachina.evaluate("r4", ["cubic", "known-1x"], runs=2, duration_s=1)
    >>> results.summary["label"].to_list()
    ['cubic', 'known-1x']

    Args:
        scenario: An evaluation, the path of a scenario file, or the name of a scenario that comes with the program.
        schemes: The contenders: names, paths of tables, tables, classes; those of the scenario if not given.
        options: Runs, seconds, seed, and who computes.
        output: A folder, created if missing.
        cache: Another folder to keep finished runs in, created if missing; `output` if not given. Several evaluations
            can share it.
        on_progress: Called about three times a second.
        **settings: Fields of `EvaluationOptions`, which go before those of `options`.

    Raises:
        InputError: If something given is not possible.
        ClusterError: If a cluster cannot be used; finished runs have been kept.
        Stopped: At ctrl-C, once finished runs have been kept.
    """
    chosen = replace(options or EvaluationOptions(), **settings)
    evaluation = Evaluation.of(scenario).changed(
        schemes, runs=chosen.runs, duration_s=chosen.duration_s, seed=chosen.seed
    )
    if not evaluation.contenders:
        raise SchemeError(f"{evaluation.name}: schemes: expected at least one, in the scenario or given")
    folder = None if output is None else make_folder(output)
    kept = folder if cache is None else make_folder(cache)
    lock = nullcontext() if folder is None else alone(folder / ".lock", f"{folder}: this folder")
    with lock, opened(chosen) as engine:
        results = _results(evaluation, kept, engine, on_progress)
        if folder is not None:
            results.save(folder)
    return results


def _results(
    evaluation: Evaluation, kept: Path | None, engine: Engine, on_progress: Callable[[Standing], None] | None
) -> Results:
    """Simulates what is not kept."""
    everyone = range(len(evaluation.contenders))
    finished = [evaluation.finished_runs(i, kept) for i in everyone]
    pace = _Pace(evaluation, finished, engine, on_progress)
    classes = [i for i in everyone if evaluation.is_class(i)]
    try:
        for computing, which in [(engine, [i for i in everyone if i not in classes]), (InThisThread(), classes)]:
            if which:
                _simulate(evaluation.only(which), [finished[i] for i in which], computing, pace)
    except KeyboardInterrupt:
        raise Stopped.keeping(kept) from None
    finally:
        for own in finished:
            own.keep()
    return results_of(evaluation, pl.concat([own.first(evaluation.runs) for own in finished]))


def results_of(evaluation: Evaluation, flows: pl.DataFrame) -> Results:
    """The results of an evaluation whose runs gave these flows, wherever they were made."""
    return Results(
        name=evaluation.name,
        description=evaluation.description,
        text=evaluation.text,
        duration_s=evaluation.duration_s,
        seed=evaluation.seed,
        grid_points=evaluation.grid_points,
        flows=counted(flows, evaluation.text),
        outside=outside_words(evaluation, stated(evaluation.text)),
    )


class _Pace:
    """How fast it goes: what a display is told."""

    def __init__(
        self,
        evaluation: Evaluation,
        finished: list[FinishedRuns],
        engine: Engine,
        tell: Callable[[Standing], None] | None,
    ) -> None:
        self.evaluation, self.finished, self.engine, self.tell = evaluation, finished, engine, tell
        self.began = time.monotonic()
        self.earlier = self._done()
        self.packets = 0

    def _done(self) -> int:
        return sum(min(own.count, self.evaluation.runs) for own in self.finished)

    def report(self, contender: str) -> None:
        if self.tell is None:
            return
        wall_s = time.monotonic() - self.began
        done, runs = self._done(), self.evaluation.runs * len(self.finished)
        now = done - self.earlier
        self.tell(
            Standing(
                contender=contender,
                done=done,
                runs=runs,
                packets=self.packets,
                packets_per_s=self.packets / wall_s if wall_s > 0 else 0.0,
                wall_s=wall_s,
                left_s=wall_s * (runs - done) / now if now else None,
                workers=self.engine.workers,
            )
        )


def _simulate(evaluation: Evaluation, finished: list[FinishedRuns], engine: Engine, pace: _Pace) -> None:
    """Simulates the runs of these contenders that are missing, some at a time: as many as take a moment."""
    parts = Parts(engine, [(own.count, evaluation.runs) for own in finished])
    pace.report(evaluation.contenders[0])
    for computed in engine.map(_flows, evaluation, parts):
        part, flows = computed.unit, computed.result
        parts.learn(computed)
        finished[part.series].add(flows, part.last - part.first)
        pace.packets += int(flows["sent_packets"].sum())
        pace.report(evaluation.contenders[part.series])


def _flows(evaluation: Evaluation, part: Part, workers: _core.Workers, stop: _core.Stop) -> pl.DataFrame:
    """A unit of work: some runs of a contender."""
    return evaluation.flows_of(part.series, part.first, part.last, workers, stop)
