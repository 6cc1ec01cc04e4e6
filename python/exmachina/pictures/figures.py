"""Pictures for print and for a README: the same views as the pages, drawn with matplotlib."""

import io
from collections.abc import Mapping
from typing import Any

import matplotlib as mpl
import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.colors import TwoSlopeNorm
from matplotlib.figure import Figure

from exmachina.inspection import Inspection
from exmachina.pictures.cloud import Cloud
from exmachina.pictures.slices import Slice, log_ticks, slice_of
from exmachina.pictures.style import GRID, INK, MUTED, SENDERS, network_words
from exmachina.pictures.timeline import Timeline, timeline_of
from exmachina.schemes import action_words, signed

__all__ = [
    "draw_clouds",
    "draw_rules",
    "draw_score_curve",
    "draw_scores",
    "draw_slice",
    "draw_timeline",
    "inspection_figure",
    "png",
    "svg",
]

STYLE: Any = {
    "axes.axisbelow": True,
    "axes.edgecolor": MUTED,
    "axes.grid": True,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.8,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 11.5,
    "axes.titleweight": "bold",
    "axes.titlepad": 8,
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "grid.color": GRID,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "text.color": INK,
    # A name is text, whatever dollars are in it.
    "text.parse_math": False,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
}
DPI = 130


def new_figure(width: float, height: float) -> Figure:
    """An empty picture in our style; sizes in inches."""
    return Figure(figsize=(width, height), dpi=DPI, layout="constrained")


def png(figure: Figure) -> bytes:
    """A picture as a PNG file. The same figure always gives the same bytes."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", metadata={"Software": "exmachina"})
    return buffer.getvalue()


def svg(figure: Figure) -> bytes:
    """A picture as an SVG file, text as outlines: no font is needed. The same figure always gives the same bytes."""
    buffer = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "exmachina"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": "exmachina"})
    return buffer.getvalue()


def inspection_figure(inspection: Inspection) -> bytes:
    """An inspection as a PNG file."""
    with mpl.rc_context(STYLE):
        figure = new_figure(13, 10.5)
        figure.suptitle(f"{inspection.table.name}: {len(inspection.table)} rules", fontsize=15, weight="bold")
        grid = figure.add_gridspec(2, 1, height_ratios=[1, 1.15])
        top, bottom = grid[0].subgridspec(1, 3, width_ratios=[1, 1, 1]), grid[1].subgridspec(3, 1)
        draw_rules(figure.add_subplot(top[0]), inspection.usage)
        draw_slice(
            [figure.add_subplot(top[1]), figure.add_subplot(top[2])], slice_of(inspection.table, inspection.sample)
        )
        axes = [figure.add_subplot(bottom[row]) for row in range(3)]
        draw_timeline(axes, timeline_of(inspection.record), network_words(dict(inspection.network)))
        return png(figure)


def draw_score_curve(
    axes: Axes, history: pl.DataFrame, reference: float, levels: Mapping[str, tuple[float, str]]
) -> None:
    """What is missing to the reference over CPU time, and levels (name: score and colour) to compare it with."""
    for name, (level, colour) in levels.items():
        axes.axhline(reference - level, color=colour, linewidth=1, linestyle=(0, (4, 3)))
        at = (1, reference - level)
        axes.annotate(name, at, xycoords=("axes fraction", "data"), ha="right", va="bottom", color=colour, fontsize=8.5)
    missing = np.maximum(reference - history["score"].to_numpy(), 1e-3)
    axes.step(history["cpu_s"].to_numpy(), missing, where="post", color=SENDERS[0], linewidth=2)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.invert_yaxis()
    ends = axes.get_ylim()
    ticks = log_ticks(min(ends), max(ends))
    axes.set_yticks([at for at, _ in ticks], labels=[label for _, label in ticks])
    axes.set_yticks([], minor=True)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.set_xlabel("CPU time (s)")
    axes.set_ylabel("score below the omniscient reference")
    axes.set_title("While it searched")


def draw_scores(axes: Axes, summary: pl.DataFrame, colours: Mapping[str, str]) -> None:
    """Scores with their 95 % confidence intervals, the best on top."""
    ordered = summary.drop_nulls("score").sort("score")
    middle = (ordered["score"][0] + ordered["score"][-1]) / 2
    for row, line in enumerate(ordered.iter_rows(named=True)):
        colour, left = colours[line["scheme"]], line["score"] < middle
        axes.errorbar(line["score"], row, xerr=line["score_ci95"], fmt="o", color=colour, capsize=4, markersize=8)
        axes.annotate(
            f"{line['scheme']}  {signed(line['score'], 2)}",
            (line["score"], row),
            xytext=(-4 if left else 4, 10),
            textcoords="offset points",
            ha="left" if left else "right",
            fontsize=9,
            color=colour,
        )
    axes.set_yticks([])
    axes.set_ylim(-0.5, len(ordered) - 0.2)
    axes.margins(x=0.08)
    axes.spines["left"].set_visible(False)
    axes.set_xlabel("score per held-out specimen (mean and 95 % interval)")
    axes.set_title("Score on networks that it has not seen")


def draw_clouds(axes: Axes, clouds: list[Cloud], *, ylabel: str = "throughput / equal share") -> None:
    """Throughput against queueing delay, better to the top right: runs, 1-sigma ellipses, medians."""
    for cloud in clouds:
        alpha = float(np.clip(30 / max(1, len(cloud.delay_ms)), 0.12, 0.5))
        axes.plot(cloud.delay_ms, cloud.throughput, ".", color=cloud.colour, alpha=alpha, markersize=3, linewidth=0)
    for cloud in clouds:
        if cloud.outline is not None:
            axes.fill(cloud.outline[:, 0], cloud.outline[:, 1], color=cloud.colour, alpha=0.12, linewidth=0)
            axes.plot(cloud.outline[:, 0], cloud.outline[:, 1], color=cloud.colour, linewidth=1.3)
        axes.plot(*cloud.median, "o", color=cloud.colour, markersize=8, markeredgecolor="white", label=cloud.scheme)
    axes.set_xscale("log")
    axes.invert_xaxis()
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.set_xlabel("queueing delay (ms), less to the right")
    axes.set_ylabel(ylabel)
    axes.set_title("Throughput and delay: better is top right")


def draw_timeline(axes: list[Axes], timeline: Timeline, network: str) -> None:
    """Windows, sending rates and the queue over time, one above the other."""
    window, rate, queue = axes
    for sender, (time_s, packets) in enumerate(timeline.windows):
        colour = SENDERS[sender % len(SENDERS)]
        window.plot(time_s, packets, color=colour, linewidth=1.3, label=f"sender {sender + 1}")
        rate.step(*timeline.rates[sender], where="mid", color=colour, linewidth=1.2)
    queue.fill_between(*timeline.queue, color=MUTED, alpha=0.5, linewidth=0)
    if len(timeline.windows) <= len(SENDERS):
        window.legend(loc="upper right", ncols=4, bbox_to_anchor=(1, 1.2))
    for panel, label in zip(axes, ["window (packets)", "sending (Mbit/s)", "queue (packets)"], strict=True):
        panel.set_ylabel(label)
        panel.set_xlim(0, timeline.end_s)
        panel.set_ylim(bottom=0)
    window.tick_params(labelbottom=False)
    rate.tick_params(labelbottom=False)
    queue.set_xlabel("time (s)")
    window.set_title(f"On one network: {network}")


def draw_slice(axes: list[Axes], view: Slice) -> None:
    """The action over two signals: change of the window, and time between sends."""
    most = max(1.0, float(np.abs(view.window_change).max()))
    maps = [
        (
            view.window_change,
            f"Change of a window of {view.window:g} packets",
            "RdBu",
            TwoSlopeNorm(0, -most, most),
        ),
        (view.intersend_ms, "Least time between sends (ms)", "viridis_r", None),
    ]
    for panel, (values, title, colours, norm) in zip(axes, maps, strict=True):
        panel.grid(visible=False)
        mesh = panel.pcolormesh(
            view.x.drawn, view.y.drawn, values, cmap=colours, norm=norm, shading="nearest", rasterized=True
        )
        panel.plot(*view.visited.T, ".", color=INK, alpha=0.15, markersize=2)
        panel.set(xlabel=view.x.label, ylabel=view.y.label)
        panel.set_xscale("log" if view.x.log else "linear")
        panel.set_yscale("log" if view.y.log else "linear")
        for axis, sides in [(view.x, panel.xaxis), (view.y, panel.yaxis)]:
            if axis.ticks:
                sides.set_ticks([at for at, _ in axis.ticks], labels=[label for _, label in axis.ticks])
                sides.set_ticks([], minor=True)
        panel.set_xlim(view.x.drawn[0], view.x.drawn[-1])
        panel.set_ylim(view.y.drawn[0], view.y.drawn[-1])
        panel.set_title(title)
        assert panel.figure is not None
        panel.figure.colorbar(mesh, ax=panel, pad=0.02, aspect=30)


def draw_rules(axes: Axes, usage: pl.DataFrame, most: int = 10) -> None:
    """The most used rules, with what they do."""
    top = usage.head(most).reverse()
    axes.barh(range(len(top)), top["share"] * 100, color=SENDERS[0], alpha=0.25, height=0.72)
    for row, rule in enumerate(top.iter_rows(named=True)):
        axes.annotate(
            f"{action_words(rule)}   {100 * rule['share']:.3g} %",
            (0, row),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
        )
    axes.set_yticks(range(len(top)), [f"rule {rule}" for rule in top["rule"]])
    axes.set_xlim(left=0)
    axes.set_xlabel("share of all uses (%)")
    axes.set_title("The rules most used, and what they do")
