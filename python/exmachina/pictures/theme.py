"""How every chart looks: one Vega-Lite configuration, and the parts that charts share."""

import textwrap
from collections.abc import Iterable, Mapping
from typing import Any

import altair as alt

from exmachina.pictures.style import GRID, GROUND, INK, MARKS, MUTED, Kind

__all__ = ["CONFIG", "DASHES", "FONT", "colours_by", "fills_by", "heading", "layered", "marks_by", "scale_of"]

FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
"""The first comes with vl-convert, so that files are the same on every machine; the others are as wide."""
DASHES = (5, 4)
CONFIG: dict[str, Any] = {
    "font": FONT,
    "background": GROUND,
    "padding": 10,
    "view": {"stroke": None},
    "axis": {
        "domainColor": MUTED,
        "gridColor": GRID,
        "labelColor": MUTED,
        "labelFontSize": 11,
        "labelOverlap": True,
        "tickColor": GRID,
        "tickSize": 4,
        "titleColor": INK,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titlePadding": 8,
    },
    "concat": {"spacing": 28},
    "legend": {
        "labelColor": INK,
        "labelFontSize": 11,
        "labelLimit": 320,
        "symbolOpacity": 1,
        "titleColor": INK,
        "titleFontSize": 11,
        "titleFontWeight": "normal",
    },
    "text": {"color": INK, "fontSize": 11},
    "title": {
        "anchor": "start",
        "color": INK,
        "fontSize": 14,
        "frame": "group",
        "offset": 10,
        "subtitleColor": MUTED,
        "subtitleFontSize": 11,
        "subtitlePadding": 5,
    },
}
LETTER = 0.52
"""Mean width of a letter, in font sizes."""
HEADING, SUBHEADING, PANEL = 14, 11, 12


def heading(title: str, pixels: float, subtitle: str = "", *, size: int = HEADING) -> alt.TitleParams:
    """A title, and smaller words below it, in lines that are no longer than so many pixels."""
    lines = textwrap.wrap(title, int(pixels / (LETTER * size)))
    # No subtitle is something else than an empty one, which takes room.
    below = textwrap.wrap(subtitle, int(pixels / (LETTER * SUBHEADING))) or alt.Undefined
    return alt.TitleParams(lines, subtitle=below, fontSize=size)


def layered(layers: Iterable[alt.Chart], size: tuple[int, int], title: str = "") -> alt.LayerChart:
    """Layers over each other, of so many pixels, with words above them if there are any."""
    chart = alt.layer(*layers)
    assert isinstance(chart, alt.LayerChart), "no layer has facets"
    chart = chart.properties(width=size[0], height=size[1])
    return chart.properties(title=heading(title, size[0], size=PANEL)) if title else chart


def colours_by(field: str, colours: Mapping[str, str], *, legend: alt.Legend | None = None) -> alt.Color:
    """The colour of a mark by the name in a field; no legend if none is given."""
    return alt.Color(field, type="nominal", scale=scale_of(colours), legend=legend)


def fills_by(field: str, colours: Mapping[str, str]) -> alt.Fill:
    """The same for what a line encloses."""
    return alt.Fill(field, type="nominal", scale=scale_of(colours), legend=None)


def marks_by(field: str, kinds: Mapping[str, Kind], *, legend: alt.Legend | None = None) -> alt.Shape:
    """The shape of a mark by the name in a field, which says what kind of scheme that is."""
    scale = alt.Scale(domain=list(kinds), range=[MARKS[kind] for kind in kinds.values()])
    return alt.Shape(field, type="nominal", scale=scale, legend=legend)


def scale_of(colours: Mapping[str, str]) -> alt.Scale:
    """Colours by name."""
    return alt.Scale(domain=list(colours), range=list(colours.values()))
