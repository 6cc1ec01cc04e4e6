"""Pictures of one number for each scheme, beside the paper's: rows of dots with their intervals."""

from collections.abc import Iterable
from dataclasses import dataclass

import altair as alt
import polars as pl

from exmachina.pictures.style import INK, MUTED
from exmachina.pictures.theme import layered, scale_of
from exmachina.reproduce.cast import colours_of, shown
from exmachina.reproduce.data import QUANTITIES, CaseData
from exmachina.reproduce.experiment import Experiment, FigureSpec
from exmachina.reproduce.measuring import Measured, Measurer
from exmachina.reproduce.panels import INTERVAL, grid
from exmachina.reproduce.running import Ran

__all__ = ["compare", "gains"]

THEIRS = "the paper's number"
WIDTH, ROW = 420, 24
"""Pixels."""


@dataclass(frozen=True)
class _Dot:
    """A number in a row; an empty row if there is none."""

    row: str
    name: str = ""
    colour: str = INK
    value: float | None = None
    low: float | None = None
    high: float | None = None

    @classmethod
    def of(cls, row: str, name: str, colour: str, found: Measured) -> "_Dot":
        return cls(row, name, colour, found.value, found.low, found.high)


def compare(experiment: Experiment, figure: FigureSpec, ran: Ran) -> alt.ConcatChart | None:
    """A number per case and contender with its interval, beside the paper's."""
    panels = []
    for spec in figure.panels:
        cases = [case for case in spec.cases or list(ran.cases) if case in ran.cases]
        dots: list[_Dot] = []
        for number, case in enumerate(cases):
            data, title = ran.cases[case], experiment.cases[case].title
            if number:
                dots.append(_Dot(" " * number))
            for label, contender, senders in _parts(data):
                found = Measurer({"main": data}).measure(
                    {figure.statistic: figure.quantity, "of": contender, **({"sender": senders} if senders else {})}
                )
                row = f"{shown(label)} – {title}" if title and len(cases) > 1 else shown(label)
                dots.append(_Dot.of(row, shown(label), colours_of([label])[label], found))
                paper = figure.reference.get(case, {}).get(label.removeprefix("published "))
                if paper is not None:
                    dots.append(_Dot(row, THEIRS, value=paper))
        panels.append(_rows(dots, figure.y_label or QUANTITIES[figure.quantity], spec.title, named={}))
    return grid(experiment, figure, panels, columns=1, words=INTERVAL)


def gains(experiment: Experiment, figure: FigureSpec, ran: Ran) -> alt.ConcatChart | None:
    """What our scheme and its published counterpart have of what each other one has; the paper's number beside."""
    panels = [
        _gains(spec.title, case, figure, ran)
        for spec in figure.panels
        for case in spec.cases or ran.cases
        if case in ran.cases
    ]
    return grid(experiment, figure, panels, words=INTERVAL)


def _gains(title: str, case: str, figure: FigureSpec, ran: Ran) -> alt.LayerChart:
    data, paper = ran.cases[case], figure.reference.get(case, {})
    mine = [label for label in data.contenders if label == figure.scheme or label.startswith("published")]
    colours, measurer = colours_of(mine), Measurer({"main": data})
    dots = []
    for label in mine:
        for name in paper:
            pair = [name, label] if figure.inverse else [label, name]
            found = measurer.measure({"ratio": pair, figure.statistic: figure.quantity})
            dots.append(_Dot.of(shown(name), shown(label), colours[label], found))
    dots += [_Dot(shown(name), THEIRS, value=number) for name, number in paper.items()]
    named = {shown(label): colours[label] for label in mine}
    return _rows(dots, figure.y_label, title, named=named, width=300, upright=1.0)


def _rows(
    dots: list[_Dot],
    quantity: str,
    title: str,
    *,
    named: dict[str, str],
    width: int = WIDTH,
    upright: float | None = None,
) -> alt.LayerChart:
    """Rows from the top down; in the legend are `named` and the paper's number; `upright` is a line to compare with."""
    rows = list(dict.fromkeys(dot.row for dot in dots))
    frame = pl.DataFrame([vars(dot) for dot in dots], infer_schema_length=None)
    frame = frame.filter(pl.col("value").is_not_null()).with_columns(pl.col("value", "low", "high").cast(pl.Float64))
    names = named | {dot.name: dot.colour for dot in dots if dot.name}
    explained = [*named, *([THEIRS] if THEIRS in names else [])]
    hollow = alt.Undefined if named else "white"
    legend = alt.Legend(title=None, values=explained, symbolFillColor=hollow) if explained else None
    colour = alt.Color("name:N", scale=scale_of(names), legend=legend)
    y = alt.Y("row:N", title=None, scale=alt.Scale(domain=rows)).axis(
        domain=False, ticks=False, grid=False, labelColor=INK, labelLimit=300
    )
    x = alt.X("value:Q", title=quantity).scale(zero=True)
    tooltip = [alt.Tooltip("name:N", title="scheme")]
    tooltip += [alt.Tooltip(side, type="quantitative", format=".4~r") for side in ("value", "low", "high")]
    ours = alt.Chart(frame.filter(pl.col("name") != THEIRS)).encode(y=y, color=colour)
    layers = [
        ours.mark_rule(strokeWidth=1.6).encode(x=alt.X("low:Q", title=quantity), x2="high"),
        ours.mark_circle(size=70, opacity=1).encode(x=x, tooltip=tooltip),
    ]
    theirs = frame.filter(pl.col("name") == THEIRS)
    if not theirs.is_empty():
        ring = alt.Chart(theirs).mark_point(size=110, opacity=1)
        layers.insert(0, ring.encode(x=x, y=y, color=colour, tooltip=tooltip[:2]))
    if upright is not None:
        layers.insert(0, alt.Chart().mark_rule(color=MUTED, strokeDash=[2, 2]).encode(x=alt.datum(upright)))
    return layered(layers, (width, ROW * len(rows)), title)


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
