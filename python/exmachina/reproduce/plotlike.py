"""Pictures for the report: a `Drawing` as a plotly figure in JSON form, with values on hover."""

import json
import math
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from exmachina.pictures.charts import styled, tradeoff_chart
from exmachina.pictures.slices import log_ticks
from exmachina.pictures.style import MUTED
from exmachina.reproduce.plot import Axis, Drawing, Line, Panel

__all__ = ["chart"]

MOST_POINTS = 1500
"""Of a line: more do not show, and make pages slow."""
PANEL_PIXELS, MANY_PIXELS = 420, 300
"""The height of a panel, and of one of many."""
MANY = 3


def chart(drawing: Drawing) -> dict[str, Any]:
    """A picture as `{"data": [...], "layout": {...}}`."""
    count = len(drawing.panels)
    figure = make_subplots(
        rows=count, cols=1, subplot_titles=[p.title for p in drawing.panels] if count > 1 else None,
        vertical_spacing=0.25 / count,
    )  # fmt: skip
    named: set[str] = set()
    for row, panel in enumerate(drawing.panels, start=1):
        if panel.clouds:
            _add_clouds(figure, panel, row, named)
        else:
            _add_lines(figure, panel, row, named)
    height = (PANEL_PIXELS if count < MANY else MANY_PIXELS) * count + 60
    figure.update_annotations(font_size=12)
    styled(figure, height, showlegend=True)
    figure.update_layout(legend={"y": 1.0 + 30 / height, "yanchor": "bottom"}, margin={"t": 60})
    found: dict[str, Any] = json.loads(figure.to_json())
    found["layout"].pop("template", None)
    return {"data": found["data"], "layout": found["layout"]}


def _add_clouds(figure: go.Figure, panel: Panel, row: int, named: set[str]) -> None:
    """A plane, by the chart that evaluations have."""
    plane = tradeoff_chart(panel.clouds, frontier=panel.frontier)
    for trace in plane.data:
        if trace.name in named:
            trace.showlegend = False
        elif trace.showlegend is not False:
            named.add(trace.name)
        figure.add_trace(trace, row=row, col=1)
    for words in plane.layout.annotations:
        figure.add_annotation(words, row=row, col=1)
    figure.update_xaxes(plane.layout.xaxis.to_plotly_json(), row=row, col=1, overwrite=False, selector=None)
    figure.update_xaxes(matches=None, row=row, col=1)
    figure.update_yaxes(title=panel.y.label, row=row, col=1)


def _add_lines(figure: go.Figure, panel: Panel, row: int, named: set[str]) -> None:
    if panel.sideways:
        _add_sideways(figure, panel, row, named)
        for at in panel.rules:
            figure.add_vline(x=at, line={"color": MUTED, "width": 1, "dash": "dot"}, row=row, col=1)
        return
    for line in panel.lines:
        _add_line(figure, line, row, show=line.legend and line.name not in named)
        named.add(line.name)
    _add_marks(figure, panel, row)
    figure.update_xaxes(_side(panel.x), row=row, col=1)
    figure.update_yaxes(_side(panel.y), row=row, col=1)


def _add_marks(figure: go.Figure, panel: Panel, row: int) -> None:
    """Bands, rules and notes; last, because plotly puts none of them into a subplot that has no line yet."""
    number = "" if row == 1 else str(row)
    for height, band in enumerate(panel.bands):
        ends = {"x0": band.low, "x1": band.high}
        figure.add_vrect(**ends, fillcolor=band.colour, opacity=0.09, line_width=0, layer="below", row=row, col=1)
        middle = math.sqrt(band.low * band.high) if panel.x.log else (band.low + band.high) / 2
        figure.add_annotation(
            x=math.log10(middle) if panel.x.log else middle, y=0.01 + 0.05 * height, showarrow=False,
            text=f"designed range of {band.label}", font={"size": 10, "color": band.colour}, yanchor="bottom",
            row=row, col=1, yref=f"y{number} domain",
        )  # fmt: skip
    for at in panel.rules:
        figure.add_vline(x=at, line={"color": MUTED, "width": 1, "dash": "dot"}, row=row, col=1)
    for note in panel.notes:
        shared: dict[str, Any] = {
            "text": note.text.replace("\n", "<br>"),
            "font": {"size": 11, "color": note.colour},
            "xanchor": note.align,
            "align": "left",
        }
        if note.to is None:
            figure.add_annotation(x=note.x, y=note.y, showarrow=False, row=row, col=1, **shared)
        else:
            figure.add_annotation(
                x=note.to[0], y=note.to[1], ax=note.x, ay=note.y, axref=f"x{number}", ayref=f"y{number}",
                arrowwidth=1, arrowhead=2, arrowcolor=note.colour, row=row, col=1, **shared,
            )  # fmt: skip


def _add_sideways(figure: go.Figure, panel: Panel, row: int, named: set[str]) -> None:
    for line in panel.lines:
        error = None
        if line.low is not None and line.high is not None:
            error = {"array": np.abs(line.high - line.y), "arrayminus": np.abs(line.y - line.low), "width": 4}
        symbol = "circle-open" if line.mode == "rings" else "circle"
        figure.add_scatter(
            x=line.y, y=line.x, error_x=error, mode="markers", name=line.name, row=row, col=1,
            marker={"size": line.size + 3, "color": line.colour, "symbol": symbol},
            showlegend=line.legend and line.name not in named, hovertemplate="%{x:.4g}",
        )  # fmt: skip
        if line.legend:
            named.add(line.name)
    ticks = panel.x.ticks or []
    labels = [label.replace("\n", "<br>") for _, label in ticks]
    figure.update_yaxes(
        tickvals=[at for at, _ in ticks], ticktext=labels, autorange="reversed", automargin=True, row=row, col=1
    )
    figure.update_xaxes(title=panel.y.label, rangemode="tozero", row=row, col=1)


def _add_line(figure: go.Figure, line: Line, row: int, *, show: bool) -> None:
    step = max(1, math.ceil(len(line.x) / MOST_POINTS))
    x, y = line.x[::step], line.y[::step]
    low, high = (None if side is None else side[::step] for side in (line.low, line.high))
    shared: dict[str, Any] = {"name": line.name, "legendgroup": line.name}
    joined = line.mode not in ("dots", "rings")
    if low is not None and high is not None and joined:
        figure.add_scatter(
            x=np.concatenate([x, x[::-1]]), y=np.concatenate([high, low[::-1]]), mode="lines", fill="toself",
            fillcolor=f"{line.colour}29", line={"width": 0}, hoverinfo="skip", row=row, col=1,
            showlegend=show and line.mode == "area", **shared,
        )  # fmt: skip
    if line.mode == "area":
        return
    error = None
    if low is not None and high is not None and not joined:
        error = {"array": np.abs(high - y), "arrayminus": np.abs(y - low), "thickness": 1.3, "width": 4}
    figure.add_scatter(
        x=x, y=y, error_y=error, row=row, col=1, showlegend=show,
        mode={"line": "lines", "steps": "lines", "marked": "lines+markers"}.get(line.mode, "markers"),
        marker={"size": line.size + 2, "color": line.colour,
                "symbol": "circle-open" if line.mode == "rings" else "circle"},
        line={"color": line.colour, "width": line.width, "dash": "dash" if line.dash else "solid",
              "shape": "hv" if line.mode == "steps" else "linear"},
        hovertemplate="%{x:.4g}: %{y:.4g}", **shared,
    )  # fmt: skip


def _side(side: Axis) -> dict[str, Any]:
    found: dict[str, Any] = {"title": {"text": side.label}, "type": "log" if side.log else "linear"}
    limits = side.limits
    if limits is not None:
        ends = [math.log10(end) for end in limits] if side.log else list(limits)
        found["range"] = ends[::-1] if side.reversed else ends
    elif side.reversed:
        found["autorange"] = "reversed"
    ticks = side.ticks
    if ticks is None and side.log and limits is not None:
        ticks = log_ticks(*limits)
    if ticks is not None:
        found["tickvals"], found["ticktext"] = [at for at, _ in ticks], [label for _, label in ticks]
    return found
