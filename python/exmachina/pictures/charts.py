"""Interactive pictures for pages: the same views as `figures`, drawn with plotly."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go
import polars as pl
from plotly.subplots import make_subplots

from exmachina.pictures.cloud import Cloud, frontier_of
from exmachina.pictures.slices import Axis, Slice, log_ticks
from exmachina.pictures.style import GRID, INK, MUTED, SENDERS
from exmachina.pictures.timeline import Timeline
from exmachina.schemes import signed

__all__ = [
    "cloud_chart",
    "score_chart",
    "score_curve_chart",
    "slice_chart",
    "styled",
    "timeline_chart",
    "tradeoff_chart",
]

DOTS = 300
"""Runs of a scheme that are drawn, so that a phone can."""


def styled(figure: go.Figure, height: int, **layout: Any) -> go.Figure:
    """Gives a figure our look."""
    figure.update_layout(
        height=height,
        margin={"l": 56, "r": 16, "t": 30, "b": 48},
        font={"family": "system-ui, sans-serif", "size": 13, "color": INK},
        plot_bgcolor="rgba(0,0,0,0)",
        paper_bgcolor="rgba(0,0,0,0)",
        hoverlabel={"font_size": 13},
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.02, "x": 0},
        **layout,
    )
    figure.update_xaxes(gridcolor=GRID, zeroline=False, linecolor=MUTED, ticks="outside", tickcolor=GRID)
    figure.update_yaxes(gridcolor=GRID, zeroline=False, ticks="outside", tickcolor=GRID)
    return figure


def score_curve_chart(history: pl.DataFrame, reference: float, levels: Mapping[str, tuple[float, str]]) -> go.Figure:
    """What is missing to the reference over CPU time, and levels (name: score and colour) to compare it with."""
    figure = go.Figure()
    figure.add_scatter(
        x=history["cpu_s"].to_numpy(),
        y=np.maximum(reference - history["score"].to_numpy(), 1e-3),
        customdata=history.select("step", "rules", "packets", "score").to_numpy(),
        mode="lines",
        line={"shape": "hv", "color": SENDERS[0], "width": 2.5},
        hovertemplate="%{x:.1f} CPU-seconds, step %{customdata[0]}<br>score %{customdata[3]:.3f}, "
        "%{customdata[1]} rules<br>%{customdata[2]:.3s} packets simulated<extra></extra>",
    )
    ends = [float(cpu_s) for cpu_s in history["cpu_s"].to_numpy()[[0, -1]]]
    for name, (level, colour) in levels.items():
        figure.add_scatter(
            x=ends,
            y=[reference - level] * 2,
            mode="lines+text",
            text=[name, ""],
            textposition="top right",
            textfont={"color": colour},
            line={"color": colour, "width": 1.2, "dash": "dash"},
            hoverinfo="skip",
        )
    figure.update_xaxes(title="CPU time (s)", type="log", dtick=1)
    ticks = [tick for decade in (0.001, 0.01, 0.1, 1) for tick in log_ticks(decade, 9 * decade)]
    figure.update_yaxes(
        title="score below the reference",
        type="log",
        autorange="reversed",
        tickvals=[at for at, _ in ticks],
        ticktext=[label for _, label in ticks],
    )
    return styled(figure, 440, showlegend=False)


def score_chart(summary: pl.DataFrame, colours: Mapping[str, str]) -> go.Figure:
    """Scores with their 95 % confidence intervals, the best on top."""
    figure = go.Figure()
    for line in summary.drop_nulls("score").sort("score").iter_rows(named=True):
        figure.add_scatter(
            x=[line["score"]],
            y=[line["scheme"]],
            error_x={"array": [line["score_ci95"]], "thickness": 1.5, "width": 6},
            mode="markers+text",
            text=signed(line["score"], 2),
            cliponaxis=False,
            textposition="top center",
            marker={"size": 11, "color": colours[line["scheme"]]},
            textfont={"color": colours[line["scheme"]]},
            hovertemplate="%{y}: %{x:.3f} ± " + f"{line['score_ci95']:.3f}<extra></extra>",
        )
    rows = len(summary)
    figure.update_yaxes(automargin=True, showgrid=False, range=[-0.5, rows - 0.3])
    figure.update_xaxes(title="score")
    return styled(figure, 90 + 56 * rows, showlegend=False)


def tradeoff_chart(clouds: list[Cloud], *, frontier: bool = True) -> go.Figure:
    """The clouds of an evaluation, throughput in Mbit/s, with the efficient frontier and a label at each median."""
    figure = cloud_chart(clouds, "throughput (Mbit/s, mean of the senders)", " Mbit/s")
    if frontier:
        corners = np.array(frontier_of(clouds)).reshape(-1, 2)
        line = {"color": MUTED, "width": 1.4}
        figure.add_scatter(
            x=corners[:, 0], y=corners[:, 1], mode="lines", line=line, name="efficient frontier", hoverinfo="skip"
        )
    for cloud in clouds:
        figure.add_annotation(
            x=np.log10(cloud.median[0]),
            y=cloud.median[1],
            text=cloud.scheme,
            font={"color": cloud.colour},
            showarrow=False,
            yshift=14,
        )
    return figure


def cloud_chart(
    clouds: list[Cloud], title: str = "throughput / equal share", unit: str = " of an equal share"
) -> go.Figure:
    """Throughput against queueing delay, better to the top right: runs, 1-sigma ellipses, medians."""
    figure = go.Figure()
    for cloud in clouds:
        step = max(1, len(cloud.delay_ms) // DOTS)
        shared = {"legendgroup": cloud.scheme, "name": cloud.scheme}
        figure.add_scatter(
            x=cloud.delay_ms[::step],
            y=cloud.throughput[::step],
            mode="markers",
            marker={"size": 4, "color": cloud.colour, "opacity": 0.2},
            hoverinfo="skip",
            showlegend=False,
            **shared,
        )
        if cloud.outline is not None:
            figure.add_scatter(
                x=cloud.outline[:, 0],
                y=cloud.outline[:, 1],
                mode="lines",
                line={"color": cloud.colour, "width": 1.6},
                fill="toself",
                fillcolor=f"{cloud.colour}22",
                hoverinfo="skip",
                showlegend=False,
                **shared,
            )
    for cloud in clouds:
        figure.add_scatter(
            x=[cloud.median[0]],
            y=[cloud.median[1]],
            mode="markers",
            marker={"size": 13, "color": cloud.colour, "line": {"color": "white", "width": 1.5}},
            hovertemplate=f"{cloud.scheme}<br>median queueing delay %{{x:.3g}} ms"
            f"<br>median throughput %{{y:.2f}}{unit}<extra></extra>",
            legendgroup=cloud.scheme,
            name=cloud.scheme,
        )
    figure.update_xaxes(title="queueing delay (ms)", type="log", autorange="reversed", dtick=1)
    figure.update_yaxes(title=title)
    return styled(figure, 440)


def timeline_chart(timeline: Timeline) -> go.Figure:
    """Windows, sending rates and the queue over time, one above the other."""
    figure = make_subplots(rows=3, cols=1, shared_xaxes=True, vertical_spacing=0.05)
    for sender, (time_s, packets) in enumerate(timeline.windows):
        line = {"color": SENDERS[sender % len(SENDERS)], "width": 1.6}
        shared: dict[str, Any] = {"name": f"sender {sender + 1}", "legendgroup": sender}
        figure.add_scatter(x=_rounded(time_s), y=packets, line=line, row=1, col=1, **shared)
        middle, mbps = timeline.rates[sender]
        step = {**line, "shape": "hvh"}
        figure.add_scatter(x=_rounded(middle), y=_rounded(mbps), line=step, row=2, col=1, showlegend=False, **shared)
    time_s, packets = timeline.queue
    fill = {"fill": "tozeroy", "fillcolor": "#66708555", "line": {"color": MUTED, "width": 1}}
    figure.add_scatter(x=_rounded(time_s), y=packets, name="queue", showlegend=False, row=3, col=1, **fill)
    for row, title in enumerate(["window (packets)", "sending (Mbit/s)", "queue (packets)"], start=1):
        figure.update_yaxes(title=title, rangemode="tozero", row=row, col=1)
    figure.update_xaxes(range=[0, timeline.end_s])
    figure.update_xaxes(title="time (s)", row=3, col=1)
    return styled(figure, 620, hovermode="x unified")


def slice_chart(view: Slice, values: np.ndarray[Any, Any], *, diverging: bool, unit: str) -> go.Figure:
    """One part of the action over two signals."""
    most = max(1.0, float(np.abs(values).max()))
    scale = {"colorscale": "RdBu", "zmin": -most, "zmax": most} if diverging else {"colorscale": "Viridis_r"}
    figure = go.Figure()
    figure.add_heatmap(
        x=_rounded(view.x.drawn),
        y=_rounded(view.y.drawn),
        z=values,
        customdata=view.rule,
        hovertemplate=f"{view.x.label}: %{{x:.4g}}<br>{view.y.label}: %{{y:.4g}}"
        f"<br>%{{z:.4g}} {unit}<br>rule %{{customdata}}<extra></extra>",
        colorbar={"thickness": 12, "outlinewidth": 0, "title": {"text": unit, "side": "right"}},
        **scale,
    )
    figure.add_scatter(
        x=view.visited[:, 0],
        y=view.visited[:, 1],
        mode="markers",
        marker={"size": 3, "color": INK, "opacity": 0.25},
        hoverinfo="skip",
    )
    styled(figure, 420, showlegend=False)
    for axis, update in [(view.x, figure.update_xaxes), (view.y, figure.update_yaxes)]:
        update(title=axis.label, type="log" if axis.log else "linear", range=_range(axis))
        if axis.ticks:
            update(tickvals=[at for at, _ in axis.ticks], ticktext=[label for _, label in axis.ticks])
    return figure


def _range(axis: Axis) -> list[float]:
    ends = axis.drawn[[0, -1]]
    return [float(end) for end in (np.log10(ends) if axis.log else ends)]


def _rounded(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Four digits are enough for a screen, and make a page smaller."""
    with np.errstate(divide="ignore", invalid="ignore"):
        digits = 4 - np.ceil(np.log10(np.abs(values)))
    scale = 10.0 ** np.where(np.isfinite(digits), digits, 0)
    return np.round(values * scale) / scale
