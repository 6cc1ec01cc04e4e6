"""The demonstration: design, score, explain, and one page and one picture that show it."""

import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import altair as alt
import polars as pl

from exmachina.designing import Budget, Design, DesignOptions, Progress, design
from exmachina.errors import ModelError
from exmachina.files import make_folder, write_atomically
from exmachina.inspection import Inspection, inspect
from exmachina.networks import Model
from exmachina.pictures.cloud import clouds_of
from exmachina.pictures.inspection import explained as explained_chart
from exmachina.pictures.pages import explained, fill, table_of_scores
from exmachina.pictures.render import save, spec_of
from exmachina.pictures.scores import score_chart, score_curve_chart
from exmachina.pictures.style import family_colours
from exmachina.pictures.theme import heading
from exmachina.pictures.tradeoff import tradeoff_chart
from exmachina.schemes import Table, signed
from exmachina.scoring import REFERENCE, ScoreReport, score

__all__ = ["Demo", "run_demo"]

DESIGN_S = 90.0
"""So that all is done in two minutes, and within five with what is compiled before on a fresh machine."""
DESIGNED, START = "designed", "one-rule start"
SHARE = "throughput / equal share"
PLANE, SCORES = (350, 300), 320
"""Size of the curve and of the plane, and width of the scores, pixels."""
WIDE = 1300
"""Of the whole picture, pixels."""


@dataclass(frozen=True)
class Demo:
    """What a demonstration gave."""

    design: Design
    report: ScoreReport
    inspection: Inspection
    page: Path
    """One self-contained HTML file."""
    picture: Path
    """A PNG file."""


def run_demo(
    folder: str | os.PathLike[str] = "out",
    *,
    model: str | os.PathLike[str] = "demo",
    budget: Budget | None = None,
    specimens: int = 1000,
    threads: int | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> Demo:
    """Designs for a model, scores the result against the rule it began with, AIMD and the reference, and shows it.

    Args:
        folder: Where to write `demo.html`, `demo.png`, `demo.dna` and the results behind them; created if missing.
        model: What to design for.
        budget: Of the design; 90 s if none is given.
        specimens: How many held-out networks to score on.
        threads: As many as there are processors if not given.
        on_progress: Called five times a second during the design.

    Raises:
        InputError: If something given is not possible.
        DesignStopped: At ctrl-C, once the design has been saved.
    """
    if budget is None or budget == Budget():
        budget = Budget(seconds=DESIGN_S)
    folder, loaded = make_folder(folder), Model.load(model)
    designed = design(
        loaded,
        folder / "demo.dna",
        DesignOptions(**asdict(budget), threads=threads, force=True),
        on_progress=on_progress,
    )
    table = Table(designed.table.dna, DESIGNED)
    first = loaded.start_action
    start = Table.single(loaded.signals, first.multiple, first.increment_packets, first.intersend_ms, name=START)
    scores = score([table, start], loaded, specimens=specimens, threads=threads, aimd=True)
    if scores.summary["score"].null_count() > 0:
        names = ", ".join(scores.summary.filter(pl.col("score").is_null())["scheme"])
        raise ModelError(
            f"{loaded.name}: nobody receives anything in {loaded.duration_s:g} s under {names}: a longer "
            "design.duration_s may help"
        )
    scores.save(folder / "demo.parquet")
    inspection = inspect(table, loaded, threads=threads)
    result = Demo(designed, scores, inspection, folder / "demo.html", folder / "demo.png")
    write_atomically(result.page, _page(result).encode())
    save(_picture(result), result.picture)
    return result


@dataclass(frozen=True)
class _Charts:
    """What both the page and the picture show of a design."""

    curve: alt.LayerChart
    plane: alt.LayerChart
    scores: alt.LayerChart


def _charts(demo: Demo) -> _Charts:
    summary = demo.report.summary
    colours = family_colours(summary["scheme"])
    means = dict(summary.select("scheme", "score").iter_rows())
    levels = {scheme: (means[scheme], colours[scheme]) for scheme in means if scheme not in (REFERENCE, DESIGNED)}
    return _Charts(
        score_curve_chart(demo.design.history, means[REFERENCE], levels, size=PLANE),
        tradeoff_chart(clouds_of(demo.report.frame), frontier=False, throughput=SHARE, size=PLANE),
        score_chart(summary, colours, width=SCORES),
    )


def _page(demo: Demo) -> str:
    model, summary = demo.report.model, demo.report.summary
    colours = family_colours(summary["scheme"])
    rows = {row["scheme"]: row for row in summary.iter_rows(named=True)}
    mine, reference, progress = rows[DESIGNED], rows[REFERENCE], demo.design.progress
    size, what = demo.design.table.size.split()
    facts = [
        (signed(mine["score"], 2), f"score; {signed(reference['score'], 2)} is the reference"),
        (f"{mine['normalised_throughput'] * 100:.0f} %", "of an equal share of the link"),
        (f"{mine['queueing_delay_ms']:.1f} ms", "queueing delay, one packet's own time included"),
        (size, what),
        (f"{progress.cpu_s:.0f} s", "of CPU time for the design"),
        (f"{progress.packets / 1e6:,.0f} M", "packets simulated"),
    ]
    lead = (
        f"{model.description}: from this description alone, a search over simulations wrote the congestion-control "
        "algorithm on this page. No human chose a rule of it."
    )
    charts = _charts(demo)
    return fill(
        "demo.html",
        title="An algorithm designed in minutes",
        kicker="exmachina demo",
        lead=lead,
        facts=facts,
        curve=spec_of(charts.curve),
        plane=spec_of(charts.plane),
        score_chart=spec_of(charts.scores),
        scored=f"{demo.report.frame['specimen'].n_unique()} fresh draws, the same for all, {model.duration_s:g} s "
        f"each. {_score_words(model)} AIMD slows down for losses only, so on an infinite buffer it gets one of 1 BDP.",
        table=table_of_scores(summary, colours),
        seen=explained(demo.inspection),
        model=model.text,
    )


def _score_words(model: Model) -> str:
    """What the score of a model is."""
    what = model.objective
    if (what.alpha, what.beta, what.throughput, what.loss_weight, what.deliveries) != (1, 1, "share", 0, "all"):
        return "The score is the model's objective, a mean over the senders that received something."
    return (
        f"The score is log2(throughput / equal share) − {what.delta:g} · log2(delay / minimum RTT), a mean over the "
        "senders that received something: doubling a throughput adds 1."
    )


def _picture(demo: Demo) -> alt.VConcatChart:
    title = (
        f"An algorithm of {demo.design.table.size}, designed in {demo.design.progress.cpu_s:.0f} CPU-seconds "
        f"from this description: “{demo.report.model.description}”"
    )
    charts, (width, _) = _charts(demo), PLANE
    top = alt.hconcat(
        charts.curve.properties(title=heading("While it searched", width)),
        charts.scores.properties(title=heading("Score on networks that it has not seen", width)),
        charts.plane.properties(title=heading("Throughput and delay: better is top right", width)),
    ).resolve_scale(color="independent")
    whole: alt.VConcatChart = alt.vconcat(top, *explained_chart(demo.inspection)).resolve_scale(color="independent")
    return whole.properties(title=heading(title, WIDE, size=17))
