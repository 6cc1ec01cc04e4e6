"""The plane of throughput and delay, as both papers draw it (Remy'13 §5.1)."""

import altair as alt
import polars as pl

from exmachina.pictures.cloud import clouds_of_flows
from exmachina.pictures.tradeoff import tradeoff_chart
from exmachina.reproduce.cast import colours_of, shown
from exmachina.reproduce.data import QUANTITIES, CaseData
from exmachina.reproduce.experiment import Experiment, FigureSpec, PanelSpec
from exmachina.reproduce.panels import grid
from exmachina.reproduce.running import Ran

__all__ = ["plane"]

ALONE, BESIDE = (640, 430), (460, 360)
"""Size of the only plane, and of one of several, pixels."""
SHORTEST_MS = 0.1
"""Shorter queueing delays are drawn here: a logarithm has no end."""


def plane(experiment: Experiment, figure: FigureSpec, ran: Ran) -> alt.ConcatChart | None:
    """Clouds of runs, ellipses, medians and the frontier, delay growing to the left."""
    clouds = {}
    for spec in figure.panels:
        frame = _frame(spec, figure, ran)
        if frame.is_empty():
            continue
        labels = frame["label"].unique(maintain_order=True).to_list()
        colours = {shown(label): colour for label, colour in colours_of(labels).items()}
        named = frame.with_columns(pl.col("label").map_elements(shown, return_dtype=pl.String))
        clouds[spec.title] = clouds_of_flows(named, figure.quantity, colours=colours, sigma=figure.sigma)
    size = ALONE if len(clouds) == 1 else BESIDE
    every = [cloud for panel in clouds.values() for cloud in panel]
    throughput = figure.y_label or QUANTITIES[figure.quantity]
    panels = [
        tradeoff_chart(panel, frontier=figure.frontier, throughput=throughput, size=size, like=every, title=title)
        for title, panel in clouds.items()
    ]
    ellipse = "one standard deviation" if figure.sigma == 1 else f"{figure.sigma:g} standard deviations"
    words = f"A dot is the median of a run's senders, a circle that of all, an ellipse {ellipse} of the dots"
    words += "; the grey line is the efficient frontier." if figure.frontier else "."
    chart = grid(experiment, figure, panels, words=words)
    return chart if chart is None else chart.resolve_scale(color="independent", fill="independent")


def _frame(spec: PanelSpec, figure: FigureSpec, ran: Ran) -> pl.DataFrame:
    """One row per run and sender that was on: its label, queueing delay and throughput."""
    frames = [
        _of_case(ran.cases[case], figure.quantity, each_sender=spec.each_sender)
        for case in spec.cases or ran.cases
        if case in ran.cases
    ]
    if not frames:
        return pl.DataFrame({"label": []})
    frame = pl.concat(frames)
    found = frame.filter(pl.col("label") != "omniscient")["counted_delay_ms"].min()
    shortest = max(SHORTEST_MS, float(found)) if isinstance(found, float) else SHORTEST_MS
    none = pl.col("label") == "omniscient"
    return frame.with_columns(
        counted_delay_ms=pl.when(none).then(0.8 * shortest).otherwise(pl.col("counted_delay_ms").clip(SHORTEST_MS))
    )


def _of_case(data: CaseData, quantity: str, *, each_sender: bool) -> pl.DataFrame:
    on = data.flows.filter(pl.col("on_s") > 0)
    on = _beside(on) if each_sender else on.with_columns(label="contender")
    return on.select("label", "run", quantity, "counted_delay_ms")


def _beside(flows: pl.DataFrame) -> pl.DataFrame:
    """Labels for each sender of a mix: its scheme, and who the other one is if that is another one."""
    own = pl.col("scheme").str.strip_suffix(".dna")
    senders = flows.with_columns(own=own).select("contender", "own").unique(maintain_order=True)
    others = {
        (contender, one): next((other for other in group["own"] if one not in (other, contender)), "")
        for (contender,), group in senders.group_by("contender", maintain_order=True)
        for one in group["own"]
    }
    words = pl.struct("contender", own.alias("own")).map_elements(
        lambda row: " beside ".join(filter(None, [row["own"], others[row["contender"], row["own"]]])),
        return_dtype=pl.String,
    )
    return flows.with_columns(label=words)
