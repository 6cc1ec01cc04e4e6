"""What the schemes of people get on the specimens that rule tables are scored on: same networks, same traffic.

Rule tables are scored in the design simulator. People's schemes need retransmissions and timeouts, so they run in the
transport of evaluations, with the settings of the papers' ns-2. They slow down for losses, so where a queue is infinite
they get one of five bandwidth-delay products, as in Tao'14.

What they get is accounted for and scored by the same code as what tables get (`crates/sim/src/outcome.rs`). Where the
objective has a price for lost packets, packets sent are all transmissions of the transport, repeated ones included, and
packets delivered count once each.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import polars as pl

from exmachina import _core
from exmachina.errors import InputError
from exmachina.frames import frame_of
from exmachina.interrupts import interruptible
from exmachina.scoring.report import ScoreReport, named
from exmachina.scoring.scorer import parts

__all__ = ["BUFFER_BDP", "with_schemes"]

BUFFER_BDP = 5.0
"""Of a queue that is infinite in the model (Tao'14, figure 2)."""
TRANSPORT = '\n[transport]\npreset = "tao14"\n'


def with_schemes(report: ScoreReport, schemes: Sequence[str], *, threads: int | None = None) -> ScoreReport:
    """A report with more schemes, by their names in evaluations, on its own specimens.

    Args:
        report: Scores of tables.
        schemes: Such as "cubic/sfqcodel".
        threads: As many as there are processors if not given. The result does not depend on it.

    Raises:
        InputError: If there is no such scheme.
    """
    workers = _core.Workers(threads)
    specimens = report.model.held_out(report.seed, report.frame["specimen"].n_unique())
    evaluation = _same_specimens(report, specimens, schemes)
    frames = [report.frame]
    for number, name in enumerate(schemes):
        for part in parts(specimens, workers):
            run = partial(evaluation.scored, number, part, workers)
            frames.append(named(name, frame_of(interruptible(run))))
    return replace(report, frame=pl.concat(frames))


def _same_specimens(report: ScoreReport, specimens: _core.Specimens, schemes: Sequence[str]) -> _core.Evaluation:
    """An evaluation whose run r is specimen r: it draws networks and traffic from the same streams."""
    model = report.model
    evaluation = _core.Evaluation(model.text + TRANSPORT, f"{model.name}.toml", [])
    evaluation = evaluation.with_settings(
        len(specimens) // (model.grid_points or 1), report.seconds_each, specimens.seed
    )
    try:
        return evaluation.with_buffer_bdp(BUFFER_BDP).with_schemes(list(schemes))
    except InputError as error:
        raise InputError(f"schemes: {error.problem}") from None
