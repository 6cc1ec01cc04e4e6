"""The demonstration: design, score, explain, and one page and one picture that show it."""

import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path

import matplotlib as mpl
import polars as pl

from exmachina.designing import Budget, Design, DesignOptions, Progress, design
from exmachina.errors import ModelError
from exmachina.files import make_folder, write_atomically
from exmachina.inspection import Inspection, inspect
from exmachina.networks import Model
from exmachina.pictures import charts, figures, report
from exmachina.pictures.cloud import clouds_of, scheme_colours
from exmachina.pictures.slices import slice_of
from exmachina.pictures.style import network_words
from exmachina.pictures.timeline import timeline_of
from exmachina.schemes import Table, signed
from exmachina.scoring import REFERENCE, ScoreReport, score

__all__ = ["Demo", "run_demo"]

DESIGN_S = 150.0
"""So that all is done in three minutes."""
DESIGNED, START = "designed", "one-rule start"


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
        budget: Of the design; 150 s if none is given.
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
    write_atomically(result.picture, _picture(result))
    return result


def _levels(demo: Demo, colours: dict[str, str]) -> tuple[float, dict[str, tuple[float, str]]]:
    """The reference, and the scores of all schemes that were not designed here."""
    means = dict(demo.report.summary.select("scheme", "score").iter_rows())
    return means[REFERENCE], {s: (means[s], colours[s]) for s in means if s not in (REFERENCE, DESIGNED)}


def _page(demo: Demo) -> str:
    model, summary = demo.report.model, demo.report.summary
    colours = scheme_colours(summary["scheme"].to_list())
    rows = {row["scheme"]: row for row in summary.iter_rows(named=True)}
    mine, reference, progress = rows[DESIGNED], rows[REFERENCE], demo.design.progress
    facts = [
        (signed(mine["score"], 2), f"score; {signed(reference['score'], 2)} is the reference"),
        (f"{mine['normalised_throughput'] * 100:.0f} %", "of an equal share of the link"),
        (f"{mine['queueing_delay_ms']:.1f} ms", "queueing delay, one packet's own time included"),
        (f"{len(demo.design.table)}", "rules"),
        (f"{progress.cpu_s:.0f} s", "of CPU time for the design"),
        (f"{progress.packets / 1e6:,.0f} M", "packets simulated"),
    ]
    lead = (
        f"{model.description}: from this description alone, a search over simulations wrote the congestion-control "
        "algorithm on this page. No human chose a rule of it."
    )
    body = [
        report.tiles(facts),
        report.columns(
            report.section(
                "While it searched",
                "How far it was from senders that know everything, on networks that it does not train on.",
                report.chart(charts.score_curve_chart(demo.design.history, *_levels(demo, colours))),
            ),
            report.section(
                "Throughput and delay",
                "A dot is a run, an ellipse one standard deviation, a circle the median. Delay shrinks to the right, "
                "so better is to the top right.",
                report.chart(charts.cloud_chart(clouds_of(demo.report.specimens))),
            ),
        ),
        report.section(
            "On networks that it has not seen",
            f"{demo.report.frame['specimen'].n_unique()} fresh draws, the same for all, {model.duration_s:g} s each. "
            f"{_score_words(model)} AIMD slows down for losses only, so on an infinite buffer it gets one of 1 BDP.",
            report.chart(charts.score_chart(summary, colours)),
            report.table_of_scores(summary, colours),
        ),
        *report.inspection_sections(demo.inspection),
        report.section("What it was asked for", "The whole model file.", f"<pre>{escape(model.text)}</pre>"),
    ]
    return report.page("An algorithm designed in minutes", "exmachina demo", lead, body)


def _score_words(model: Model) -> str:
    """What the score of a model is."""
    what = model.objective
    if (what.alpha, what.beta, what.throughput, what.loss_weight, what.deliveries) != (1, 1, "share", 0, "all"):
        return "The score is the model's objective, a mean over the senders that received something."
    return (
        f"The score is log2(throughput / equal share) − {what.delta:g} · log2(delay / minimum RTT), a mean over the "
        "senders that received something: doubling a throughput adds 1."
    )


def _picture(demo: Demo) -> bytes:
    colours = scheme_colours(demo.report.summary["scheme"].to_list())
    with mpl.rc_context(figures.STYLE):
        figure = figures.new_figure(15, 13.5)
        progress = demo.design.progress
        figure.suptitle(
            f"An algorithm of {len(demo.design.table)} rules, designed in {progress.cpu_s:.0f} CPU-seconds from this "
            f"description: “{demo.report.model.description}”",
            fontsize=13,
            weight="bold",
        )
        rows = figure.add_gridspec(3, 1, height_ratios=[1, 1, 1.15])
        top, middle, bottom = (rows[i].subgridspec(n, m) for i, (n, m) in enumerate([(1, 3), (1, 3), (3, 1)]))
        figures.draw_score_curve(figure.add_subplot(top[0]), demo.design.history, *_levels(demo, colours))
        figures.draw_scores(figure.add_subplot(top[1]), demo.report.summary, colours)
        plane = figure.add_subplot(top[2])
        figures.draw_clouds(plane, clouds_of(demo.report.specimens))
        plane.legend(loc="lower left")
        figures.draw_rules(figure.add_subplot(middle[0]), demo.inspection.usage)
        figures.draw_slice(
            [figure.add_subplot(middle[i]) for i in (1, 2)], slice_of(demo.inspection.table, demo.inspection.sample)
        )
        axes = [figure.add_subplot(bottom[i]) for i in range(3)]
        network = network_words(dict(demo.inspection.network))
        figures.draw_timeline(axes, timeline_of(demo.inspection.record), network)
        return figures.png(figure)
