"""Pictures of one number for each scheme, beside the paper's: rows of dots with their intervals."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import altair as alt
import polars as pl

from exmachina.pictures.style import CROSS, INK, MARKS, MUTED, Kind
from exmachina.pictures.theme import layered
from exmachina.reproduce.cast import colours_of, kinds_of, shown
from exmachina.reproduce.data import QUANTITIES, CaseData
from exmachina.reproduce.experiment import Experiment, FigureSpec
from exmachina.reproduce.measuring import Measured, Measurer
from exmachina.reproduce.panels import INTERVAL, grid
from exmachina.reproduce.running import Ran

__all__ = ["compare", "gains"]

THEIRS = "the paper's number"
WIDTH, ROW, PART = 420, 16, 14
"""Width, and height of the space around a row and of each scheme in it, pixels."""


@dataclass(frozen=True)
class _Dot:
    """A number in a row, and the paper's if that has it."""

    row: str
    name: str
    colour: str
    kind: Kind
    value: float
    low: float | None = None
    high: float | None = None
    theirs: float | None = None

    @classmethod
    def of(cls, row: str, label: str, found: Measured, theirs: float | None = None) -> "_Dot":
        colour, kind = colours_of([label])[label], kinds_of([label])[label]
        return cls(row, shown(label), colour, kind, found.value, found.low, found.high, theirs)


def compare(experiment: Experiment, figure: FigureSpec, ran: Ran) -> alt.ConcatChart | None:
    """Numbers by case or statistic of each contender, with intervals, and the paper's as far as claims have it."""
    panels = []
    for spec in figure.panels:
        quantity = spec.quantity or figure.quantity
        cases = [case for case in spec.cases or list(ran.cases) if case in ran.cases]
        rows = [(case, *row) for case in cases for row in (spec.statistics or {"": figure.statistic}).items()]
        dots: list[_Dot] = []
        for case, words, statistic in rows:
            title = words or (experiment.cases[case].title if len(cases) > 1 else "")
            for label, contender, senders in _parts(ran.cases[case]):
                measure = {statistic: quantity, "of": contender, **({"sender": senders} if senders else {})}
                found = Measurer({"main": ran.cases[case]}).measure(measure)
                dots.append(_Dot.of(title or shown(label), label, found, _claimed(experiment, case, measure)))
        panels.append(_rows(dots, figure.y_label or QUANTITIES[quantity], spec.title))
    return _panels(experiment, figure, panels)


def _claimed(experiment: Experiment, case: str, measure: dict[str, Any]) -> float | None:
    """The paper's number, if a claim of the experiment measures the same."""
    usual = {"case": next(iter(experiment.cases)), "sender": []}
    for claim in experiment.claims:
        found = usual | claim.measure
        senders = found["sender"] if isinstance(found["sender"], list) else [found["sender"]]
        if found | {"sender": senders} == usual | measure | {"case": case}:
            return claim.paper
    return None


def _panels(experiment: Experiment, figure: FigureSpec, panels: list[alt.LayerChart]) -> alt.ConcatChart | None:
    """One below the other, each with its own schemes."""
    chart = grid(experiment, figure, panels, columns=1, words=INTERVAL)
    return chart and chart.resolve_scale(color="independent", shape="independent")


def gains(experiment: Experiment, figure: FigureSpec, ran: Ran) -> alt.ConcatChart | None:
    """What our scheme and its published counterpart have of what each other one has; the paper's number beside."""
    panels = [
        _gains(spec.title, case, experiment, figure, ran)
        for spec in figure.panels
        for case in spec.cases or ran.cases
        if case in ran.cases
    ]
    return _panels(experiment, figure, panels)


def _gains(title: str, case: str, experiment: Experiment, figure: FigureSpec, ran: Ran) -> alt.LayerChart:
    data = ran.cases[case]
    mine = [label for label in data.contenders if label == figure.scheme or label.startswith("published")]
    measurer, dots = Measurer({"main": data}), []

    def gain(label: str, name: str) -> dict[str, Any]:
        return {"ratio": [name, label] if figure.inverse else [label, name], figure.statistic: figure.quantity}

    for name in (label for label in data.contenders if label not in mine):
        theirs = _claimed(experiment, case, gain(figure.scheme, name))
        # The paper's is of its own table.
        found = {label: measurer.measure(gain(label, name)) for label in mine}
        dots += [_Dot.of(shown(name), label, found[label], theirs if label == mine[-1] else None) for label in mine]
    return _rows(dots, figure.y_label, title, upright=1.0)


def _rows(dots: list[_Dot], quantity: str, title: str, *, upright: float | None = None) -> alt.LayerChart:
    """Rows from the top down, with a line of each scheme in them; `upright` is a line to compare with."""
    rows, looks = list(dict.fromkeys(dot.row for dot in dots)), {dot.name: (dot.colour, dot.kind) for dot in dots}
    frame = pl.DataFrame([vars(dot) for dot in dots], infer_schema_length=None)
    frame = frame.with_columns(pl.col("value", "low", "high", "theirs").cast(pl.Float64))
    theirs = frame.drop_nulls("theirs")
    alone = rows == list(looks)
    names, marks = [*looks, THEIRS], [*(MARKS[kind] for _, kind in looks.values()), CROSS]
    explained = [*([] if alone else looks), *([] if theirs.is_empty() else [THEIRS])]
    legend = alt.Legend(title=None, values=explained) if explained else None
    # The crosses of the legend stand for those of all schemes.
    colour = alt.Color(
        "name:N", scale=alt.Scale(domain=names, range=[*(c for c, _ in looks.values()), INK]), legend=legend
    )
    shape = alt.Shape("name:N", scale=alt.Scale(domain=names, range=marks), legend=legend)
    y = alt.Y("row:N", title=None, scale=alt.Scale(domain=rows, paddingInner=0.3)).axis(
        domain=False, ticks=False, grid=False, labelColor=INK, labelLimit=300
    )
    part = alt.Undefined if alone else alt.YOffset("name:N", scale=alt.Scale(domain=list(looks)))
    x = alt.X("value:Q", title=quantity).scale(zero=True)
    tooltip = [alt.Tooltip("name:N", title="scheme"), alt.Tooltip("theirs:Q", title=THEIRS, format=".4~r")]
    tooltip += [alt.Tooltip(side, type="quantitative", format=".4~r") for side in ("value", "low", "high")]
    base = alt.Chart(frame).encode(y=y, yOffset=part, color=colour)
    layers = [
        base.mark_rule(strokeWidth=1.6).encode(x=alt.X("low:Q", title=quantity), x2="high"),
        base.mark_point(size=70, opacity=1, filled=True).encode(x=x, shape=shape, tooltip=tooltip),
    ]
    if not theirs.is_empty():
        cross = alt.Chart(theirs).mark_point(shape=CROSS, size=90, strokeWidth=2, opacity=1)
        layers.append(
            cross.encode(x=alt.X("theirs:Q", title=quantity), y=y, yOffset=part, color=colour, tooltip=tooltip)
        )
    if upright is not None:
        layers.insert(0, alt.Chart().mark_rule(color=MUTED, strokeDash=[2, 2]).encode(x=alt.datum(upright)))
    height = len(rows) * (ROW + PART * (1 if alone else len(looks)))
    return layered(layers, (WIDTH, height), title)


def _parts(data: CaseData) -> Iterable[tuple[str, str, list[int]]]:
    """What is compared in a case: contenders, or the schemes of each mix; label, contender and senders."""
    rows = data.flows.select("contender", "scheme", "sender").unique(maintain_order=True)
    for (contender, scheme), group in rows.group_by("contender", "scheme", maintain_order=True):
        alone = rows.filter(rows["contender"] == contender)["scheme"].n_unique() == 1
        yield (
            (str(contender), str(contender), [])
            if alone
            else (str(scheme).removesuffix(".dna"), str(contender), group["sender"].to_list())
        )
