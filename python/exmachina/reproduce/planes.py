"""The plane of throughput and delay, as both papers draw it (Remy'13 §5.1)."""

import altair as alt
import polars as pl

from exmachina.pictures.cloud import clouds_of_flows
from exmachina.pictures.tradeoff import plane_words, tradeoff_chart
from exmachina.reproduce.cast import colours_of, kinds_of, published_label, shown
from exmachina.reproduce.data import QUANTITIES, CaseData
from exmachina.reproduce.experiment import Experiment, FigureSpec, PanelSpec
from exmachina.reproduce.panels import grid
from exmachina.reproduce.running import Ran

__all__ = ["plane"]

ALONE, BESIDE = (640, 430), (460, 360)
"""Size of the only plane, and of one of several, pixels."""
DELAY = "counted_delay_ms"
SHORTEST_MS = 0.1
"""Shorter queueing delays are drawn here: a logarithm has no end."""


def plane(experiment: Experiment, figure: FigureSpec, ran: Ran) -> alt.ConcatChart | None:
    """Clouds of senders, ellipses, medians and the frontier, delay growing to the left; crosses: the paper's."""
    clouds = {}
    for spec in figure.panels:
        frame = _frame(spec, figure, ran)
        if frame.is_empty():
            continue
        labels = frame["label"].unique(maintain_order=True).to_list()
        colours = {shown(label): colour for label, colour in colours_of(labels).items()}
        kinds = {shown(label): kind for label, kind in kinds_of(labels).items()}
        named = frame.with_columns(pl.col("label").map_elements(shown, return_dtype=pl.String))
        clouds[spec.title] = clouds_of_flows(named, figure.quantity, colours=colours, kinds=kinds, sigma=figure.sigma)
    size = ALONE if len(clouds) == 1 else BESIDE
    every = [cloud for panel in clouds.values() for cloud in panel]
    throughput = figure.y_label or QUANTITIES[figure.quantity]
    theirs = {spec.title: _theirs(experiment, spec, figure, ran) for spec in figure.panels}
    panels = [
        tradeoff_chart(
            panel,
            frontier=figure.frontier,
            throughput=throughput,
            size=size,
            like=every,
            elsewhere=theirs[title],
            title=title,
        )
        for title, panel in clouds.items()
    ]
    words = plane_words(figure.sigma, frontier=figure.frontier)
    words += " Crosses: the paper's medians." if any(theirs.values()) else ""
    chart = grid(experiment, figure, panels, words=words)
    return chart if chart is None else chart.resolve_scale(color="independent", fill="independent", shape="independent")


def _theirs(experiment: Experiment, spec: PanelSpec, figure: FigureSpec, ran: Ran) -> dict[str, tuple[float, float]]:
    """The paper's medians, delay and throughput, of schemes of which claims have both; by what is drawn beside them.

    Those of its RemyCCs stand beside the published tables, and beside ours where those are not at hand.
    """
    cases = spec.cases or list(experiment.cases)
    drawn = {label for case in cases if case in ran.cases for label in ran.cases[case].contenders}
    found: dict[str, dict[str, float]] = {}
    for claim in experiment.claims:
        measure = claim.measure
        of, quantity = measure.get("of"), measure.get("median")
        if claim.kind == "number" and isinstance(of, str) and measure.get("case", cases[0]) in cases:
            found.setdefault(of, {})[str(quantity)] = claim.paper
    return {
        shown(published_label(of) if published_label(of) in drawn else of): (of_it[DELAY], of_it[figure.quantity])
        for of, of_it in found.items()
        if {DELAY, figure.quantity} <= set(of_it)
    }


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
