"""What the schemes of people get on the specimens that rule tables are scored on: same networks, same traffic.

Rule tables are scored in the design simulator. People's schemes need retransmissions and timeouts, so they run in the
transport of evaluations, with the settings of the papers' ns-2. They slow down for losses, so where a queue is infinite
they get one of five bandwidth-delay products, as in Tao'14.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import inf

import polars as pl

from exmachina import _core
from exmachina.errors import InputError
from exmachina.frames import frame_of
from exmachina.interrupts import interruptible
from exmachina.model import Model
from exmachina.scoring import ScoreReport

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
        run = partial(evaluation.run, number, 0, evaluation.runs, workers)
        frames.append(_scored(name, frame_of(interruptible(run)), report.model, specimens).select(report.frame.columns))
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


def _scored(name: str, flows: pl.DataFrame, model: Model, specimens: _core.Specimens) -> pl.DataFrame:
    """Flows of an evaluation in the columns of a score report."""
    frame = flows.with_columns(
        pl.col("sent_packets", "delivered_packets").cast(pl.Float64),
        scheme=pl.lit(name),
        specimen=pl.col("run").cast(pl.UInt64),
        delay_ratio=pl.col("mean_rtt_ms") / pl.col("min_rtt_ms"),
    )
    share = model.objective[3] == "share"
    measures = ("normalised_throughput", "delay_ratio") if share else ("throughput_mbps", "mean_rtt_ms")
    senders: dict[int, list[tuple[float, float] | None]] = {}
    for specimen, on_s, throughput, delay in frame.select("specimen", "on_s", *measures).iter_rows():
        got = (throughput, inf if delay is None else delay) if on_s > 0 else None
        senders.setdefault(specimen, []).append(got)
    scores = {specimen: specimens.score(specimen, got) for specimen, got in senders.items()}
    return frame.with_columns(specimen_score=pl.col("specimen").replace_strict(scores, return_dtype=pl.Float64))
