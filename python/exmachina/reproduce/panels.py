"""What the papers' pictures are made of: curves with their intervals, ranges of training, panels in a grid."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import altair as alt
import numpy as np
import polars as pl

from exmachina.pictures.axes import Plane, Side, span
from exmachina.pictures.style import MUTED
from exmachina.pictures.theme import DASHES, heading, scale_of
from exmachina.reproduce.cast import shown
from exmachina.reproduce.data import Floats
from exmachina.reproduce.experiment import Experiment, FigureSpec

__all__ = ["INTERVAL", "Curve", "bands", "curve_layers", "grid", "plane_of", "uprights"]

INTERVAL = "Areas and bars are 95 % bootstrap intervals over runs."
PANEL = 430, 300
"""Pixels."""
SOLID = (1, 0)
BAR = 15
"""Height of the bar and the name of a range, pixels."""
WIDEST = 900
"""A title gets no wider, pixels."""


@dataclass(frozen=True)
class Curve:
    """Points of one scheme, in order; `low` and `high` are of its intervals."""

    name: str
    colour: str
    x: Floats
    y: Floats
    low: Floats | None = None
    high: Floats | None = None
    dashed: bool = False


def grid(
    experiment: Experiment, figure: FigureSpec, panels: Sequence[alt.LayerChart], *, columns: int = 2, words: str = ""
) -> alt.ConcatChart | None:
    """Panels beside and below each other under the figure's title; nothing if there is no panel.

    Args:
        experiment: Has a title where the figure has none.
        figure: The figure.
        panels: Each with its size.
        columns: So many panels side by side, at most.
        words: What a reader should know of all panels.
    """
    if not panels:
        return None
    columns = min(columns, len(panels))
    width = min(WIDEST, sum(int(panel.width) for panel in panels[:columns]) + 150)
    chart = alt.concat(*panels, columns=columns)
    return chart.properties(title=heading(figure.title or experiment.title, width, words))


def plane_of(
    curves: Sequence[Curve], *, log: bool = False, y_range: Sequence[float] | None = None, size: tuple[int, int] = PANEL
) -> Plane:
    """Axes of curves: x from the first point to the last, y with a margin if its range is not given."""
    x = np.concatenate([curve.x for curve in curves])
    sides = [side for curve in curves for side in (curve.y, curve.low, curve.high) if side is not None]
    y = span(np.concatenate(sides), size[1], margin=0.06)
    if y_range is not None:
        y = Side(float(y_range[0]), float(y_range[1]), size[1])
    return Plane(Side(float(x.min()), float(x.max()), size[0], log), y)


def curve_layers(
    plane: Plane,
    curves: Sequence[Curve],
    titles: tuple[str, str],
    *,
    names: Mapping[str, str],
    area: float = 0.15,
    marks: bool = True,
    bars: bool = False,
    legend: bool = True,
) -> list[alt.Chart]:
    """Curves as layers: areas of intervals, lines, and dots that say what they are.

    Args:
        plane: The axes.
        curves: At least one.
        titles: Of x and of y.
        names: All names of the figure with their colours: one legend stands for all panels.
        area: How opaque areas are.
        marks: Whether there are dots.
        bars: Whether intervals are bars at each point, and no area.
        legend: Whether there is one; without, there is one curve in the panel, and it is drawn through.
    """
    place = plane.channels(*titles)
    frame = _frame(curves)
    dashed = {curve.name for curve in curves if curve.dashed} | {name for name in names if name.endswith("published")}
    key = alt.Legend(title=None, symbolSize=200, symbolType="stroke") if legend else None
    dash = alt.Scale(domain=list(names), range=[DASHES if legend and name in dashed else SOLID for name in names])
    dashes = alt.StrokeDash("name:N", scale=dash, legend=key)
    colour = alt.Color("name:N", scale=scale_of(names), legend=key)
    base = alt.Chart(frame)
    between = base.mark_rule(strokeWidth=1.4, clip=True) if bars else base.mark_area(opacity=area, clip=True)
    between = between.transform_filter("isValid(datum.low)")
    layers = [
        between.encode(place[0], alt.Y("low", type="quantitative", scale=plane.y.scale()), y2="high", color=colour),
        base.mark_line(strokeWidth=2, clip=True).encode(*place, colour, dashes),
    ]
    if marks:
        tooltip = [
            alt.Tooltip("name:N", title="scheme"),
            alt.Tooltip("x:Q", title=titles[0], format=".4~r"),
            *(alt.Tooltip(f"{side}:Q", title=title, format=".4~r") for side, title in
              [("y", titles[1]), ("low", "interval from"), ("high", "to")]),
        ]  # fmt: skip
        layers.append(base.mark_circle(size=28, opacity=1, clip=True).encode(*place, colour, tooltip=tooltip))
    return layers


def _frame(curves: Sequence[Curve]) -> pl.DataFrame:
    frames = []
    for curve in curves:
        low, high = (np.full(len(curve.x), np.nan) if end is None else end for end in (curve.low, curve.high))
        sides = {"x": curve.x, "y": curve.y, "low": low, "high": high}
        frames.append(
            pl.DataFrame({"name": [curve.name] * len(curve.x), **sides}).cast(dict.fromkeys(sides, pl.Float64))
        )
    return pl.concat(frames).with_columns(pl.col(pl.Float64).round_sig_figs(6).fill_nan(None))


def bands(plane: Plane, figure: FigureSpec, colours: Mapping[str, str]) -> list[alt.Chart]:
    """The ranges that algorithms were designed for: a shade, and at the bottom a bar with a name for each."""
    rows: list[dict[str, object]] = []
    for scheme, (low, high) in figure.ranges.items():
        if scheme not in colours:
            continue
        ends = np.clip([low, high], plane.x.start, plane.x.end)
        middle = float(plane.x.value(plane.x.place(ends).mean(keepdims=True))[0])
        foot = plane.y.pixels - 5 - BAR * len(rows)
        rows.append(
            {
                "low": float(ends[0]),
                "high": float(ends[1]),
                "middle": middle,
                "colour": colours[scheme],
                "words": f"designed range of {shown(scheme)}",
                "foot": foot,
            }
        )
    if not rows:
        return []
    named = alt.Chart(pl.DataFrame(rows))
    base = named.encode(color=alt.Color("colour:N", scale=None))
    x = alt.X("low", type="quantitative", scale=plane.x.scale(), axis=plane.x.axis())
    height = alt.Y("foot:Q", scale=None)
    return [
        base.mark_rect(opacity=0.07).encode(x, x2="high"),
        base.mark_rule(strokeWidth=2.5).encode(x, height, x2="high"),
        named.mark_text(dy=-7, fontSize=9).encode(
            alt.X("middle", type="quantitative", scale=plane.x.scale()), height, text="words:N"
        ),
    ]


def uprights(plane: Plane, at: Sequence[float]) -> alt.Chart:
    """Vertical lines."""
    x = alt.X("x", type="quantitative", scale=plane.x.scale(), axis=plane.x.axis())
    lines = alt.Chart(pl.DataFrame({"x": list(at)})).mark_rule(color=MUTED, strokeDash=[2, 2])
    upright: alt.Chart = lines.encode(x)
    return upright
