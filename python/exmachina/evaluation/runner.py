"""Simulating the contenders of an evaluation, as far as their runs are not kept from earlier.

Runs are simulated some at a time, so that a display moves and ctrl-C is heard; what comes out does not depend on how
many those are, nor on the number of threads.
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
from exmachina.checks import workers_of
from exmachina.errors import SchemeError, Stopped
from exmachina.evaluation.options import EvaluationOptions, EvaluationSettings
from exmachina.evaluation.outside import outside_words
from exmachina.evaluation.results import Results
from exmachina.evaluation.scenario import Evaluation, ScenarioLike
from exmachina.files import FinishedRuns, alone, make_folder
from exmachina.networks import stated
from exmachina.schemes import SchemeLike

__all__ = ["Standing", "evaluate"]

CHUNK_S = 0.3
"""Target duration of one call of the simulator, s."""


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
        options: Runs, seconds, seed and threads.
        output: A folder, created if missing.
        cache: Another folder to keep finished runs in, created if missing; `output` if not given. Several evaluations
            can share it.
        on_progress: Called about three times a second.
        **settings: Fields of `EvaluationOptions`, which go before those of `options`.

    Raises:
        InputError: If something given is not possible.
        Stopped: At ctrl-C, once finished runs have been kept.
    """
    chosen = replace(options or EvaluationOptions(), **settings)
    evaluation = Evaluation.of(scenario).changed(
        schemes, runs=chosen.runs, duration_s=chosen.duration_s, seed=chosen.seed
    )
    if not evaluation.contenders:
        raise SchemeError(f"{evaluation.name}: schemes: expected at least one, in the scenario or given")
    workers = workers_of(chosen.threads)
    folder = None if output is None else make_folder(output)
    kept = folder if cache is None else make_folder(cache)
    with nullcontext() if folder is None else alone(folder / ".lock", f"{folder}: this folder"):
        results = _results(evaluation, kept, workers, on_progress)
        if folder is not None:
            results.save(folder)
    return results


def _results(
    evaluation: Evaluation,
    kept: Path | None,
    workers: _core.Workers,
    on_progress: Callable[[Standing], None] | None,
) -> Results:
    """Simulates what is not kept."""
    finished = [evaluation.finished_runs(i, kept) for i in range(len(evaluation.contenders))]
    pace = _Pace(evaluation, finished, on_progress)
    try:
        for contender, own in enumerate(finished):
            _simulate(evaluation, contender, own, workers, pace)
    except KeyboardInterrupt:
        raise Stopped.keeping(kept) from None
    finally:
        for own in finished:
            own.keep()
    return Results(
        name=evaluation.name,
        description=evaluation.description,
        text=evaluation.text,
        duration_s=evaluation.duration_s,
        seed=evaluation.seed,
        grid_points=evaluation.grid_points,
        flows=pl.concat([own.first(evaluation.runs) for own in finished]),
        outside=outside_words(evaluation, stated(evaluation.text)),
    )


class _Pace:
    """How fast it goes: what a display is told, and how many runs the simulator gets at a time."""

    def __init__(
        self, evaluation: Evaluation, finished: list[FinishedRuns], tell: Callable[[Standing], None] | None
    ) -> None:
        self.evaluation, self.finished, self.tell = evaluation, finished, tell
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
            )
        )


def _simulate(evaluation: Evaluation, contender: int, own: FinishedRuns, workers: _core.Workers, pace: _Pace) -> None:
    """Simulates the runs of a contender that are missing, some at a time: as many as take a moment."""
    label, chunk = evaluation.contenders[contender], workers.threads
    pace.report(label)
    while own.count < evaluation.runs:
        began = time.monotonic()
        last = min(own.count + chunk, evaluation.runs)
        part = evaluation.flows_of(contender, own.count, last, workers)
        own.add(part, last - own.count)
        pace.packets += int(part["sent_packets"].sum())
        pace.report(label)
        if time.monotonic() - began < CHUNK_S / 2:
            chunk *= 2
    own.keep()
