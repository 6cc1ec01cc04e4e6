"""Pictures for print: a `Drawing` by matplotlib."""

import math
from typing import Literal

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from exmachina.pictures.figures import STYLE, new_figure
from exmachina.pictures.slices import log_ticks
from exmachina.pictures.style import INK, MUTED
from exmachina.pictures.tradeoff import draw_tradeoff
from exmachina.reproduce.plot import Axis, Drawing, Line, Panel

__all__ = ["draw"]

CLOUD_INCHES = 8.5, 6.0
LEGEND_INCHES = 2.0


def draw(drawing: Drawing) -> Figure:
    """A picture."""
    with mpl.rc_context(STYLE):
        count = len(drawing.panels)
        columns = min(count, drawing.columns)
        rows = math.ceil(count / columns)
        names = _legend(drawing)
        width, height = CLOUD_INCHES if count == 1 and drawing.panels[0].clouds else drawing.panel_inches
        if all(panel.sideways for panel in drawing.panels):
            height = 1.3 + 0.36 * max(len(panel.x.ticks or []) for panel in drawing.panels)
        figure = new_figure(columns * width + (LEGEND_INCHES if names else 0), rows * height)
        grid = figure.subplots(rows, columns, squeeze=False, sharey=drawing.shared_y)
        for axes, panel in zip(grid.flat, drawing.panels, strict=False):
            _draw_frame(axes, panel)
        for axes in list(grid.flat)[count:]:
            axes.set_visible(False)
        figure.suptitle(drawing.title, x=0.01, ha="left", fontsize=12.5, weight="bold")
        if names:
            figure.legend(handles=names, loc="outside right center", fontsize=9, alignment="left")
        if drawing.footnote:
            figure.supxlabel(drawing.footnote, x=0.99, ha="right", fontsize=7, color=MUTED)
        for axes, panel in zip(grid.flat, drawing.panels, strict=False):
            _draw_panel(axes, panel)
        figure.draw_without_rendering()
        figure.set_layout_engine("none")  # found once, and not again for each file
        return figure


def _legend(drawing: Drawing) -> list[Line2D]:
    """One entry for each name, highest line first."""
    lines: dict[str, Line] = {}
    for panel in drawing.panels:
        for line in panel.lines:
            if line.legend:
                lines.setdefault(line.name, line)
    return [_handle(line) for line in lines.values()]


def _handle(line: Line) -> Line2D:
    hollow = line.mode == "rings"
    return Line2D(
        [],
        [],
        color=line.colour,
        label=line.name,
        linewidth=0 if line.mode in ("dots", "rings") else max(1.8, line.width),
        linestyle=_style(line),
        marker="o" if line.mode in ("dots", "rings", "marked") else "",
        markersize=6,
        markerfacecolor="white" if hollow else line.colour,
    )


def _style(line: Line) -> tuple[float, tuple[float, float]] | Literal["-"]:
    return (0, (4, 2.5)) if line.dash else "-"


def _draw_frame(axes: Axes, panel: Panel) -> None:
    axes.set_title(panel.title, fontsize=10.5)
    if panel.clouds:
        return
    if panel.sideways:
        axes.set_xlabel(panel.y.label)
        return
    _scale(axes, panel.x, "x")
    _scale(axes, panel.y, "y")


def _scale(axes: Axes, side: Axis, which: str) -> None:
    scale, label, limits = (getattr(axes, f"set_{which}{part}") for part in ("scale", "label", "lim"))
    scale("log" if side.log else "linear")
    label(side.label)
    if side.limits is not None:
        limits(*(side.limits[::-1] if side.reversed else side.limits))
    elif side.reversed:
        getattr(axes, f"invert_{which}axis")()


def _draw_panel(axes: Axes, panel: Panel) -> None:
    if panel.clouds:
        draw_tradeoff(axes, panel.clouds, frontier=panel.frontier)
        axes.set_title(panel.title, fontsize=10.5)
        axes.set_ylabel(panel.y.label)
        return
    _draw_bands(axes, panel)
    if panel.sideways:
        _draw_sideways(axes, panel)
        return
    for at in panel.rules:
        axes.axvline(at, color=MUTED, linewidth=0.9, linestyle=(0, (2, 2)))
    for line in panel.lines:
        _draw_line(axes, line)
    for note in panel.notes:
        arrow = None if note.to is None else {"arrowstyle": "->", "color": note.colour, "linewidth": 0.9}
        axes.annotate(
            note.text,
            (note.x, note.y) if note.to is None else note.to,
            xytext=(note.x, note.y),
            ha=note.align,
            va="center",
            fontsize=8.5,
            color=note.colour,
            arrowprops=arrow,
        )
    _ticks(axes, panel.x, "x")
    _ticks(axes, panel.y, "y")


def _draw_bands(axes: Axes, panel: Panel) -> None:
    """Shades, and below each other a bar and the name of each."""
    place = axes.get_xaxis_transform()
    for row, band in enumerate(panel.bands):
        axes.axvspan(band.low, band.high, color=band.colour, alpha=0.06, linewidth=0, zorder=0)
        height = 0.03 + 0.06 * row
        axes.plot([band.low, band.high], [height] * 2, color=band.colour, linewidth=2, transform=place, zorder=1.2)
        middle = math.sqrt(band.low * band.high) if panel.x.log else (band.low + band.high) / 2
        words = f"designed range of {band.label}"
        axes.text(middle, height + 0.008, words, transform=place, ha="center", fontsize=7, color=band.colour)


def _draw_sideways(axes: Axes, panel: Panel) -> None:
    for at in panel.rules:
        axes.axvline(at, color=MUTED, linewidth=0.9, linestyle=(0, (2, 2)))
    for line in panel.lines:
        if line.low is not None and line.high is not None:
            spread = np.abs(np.stack([line.y - line.low, line.high - line.y]))
            axes.errorbar(line.y, line.x, xerr=spread, fmt="none", color=line.colour, capsize=3, linewidth=1.3)
        face = "white" if line.mode == "rings" else line.colour
        order = 2.5 if line.mode == "rings" else 3
        axes.plot(line.y, line.x, "o", color=line.colour, markerfacecolor=face, markersize=line.size, zorder=order)
    ticks = panel.x.ticks or []
    axes.set_yticks([at for at, _ in ticks], labels=[label for _, label in ticks])
    axes.tick_params(axis="y", labelcolor=INK, length=0)
    axes.set_ylim(max((at for at, _ in ticks), default=0) + 0.7, -0.7)
    axes.set_xlim(left=0 if axes.get_xlim()[0] > 0 else None)
    axes.grid(visible=False, axis="y")


def _draw_line(axes: Axes, line: Line) -> None:
    if line.low is not None and line.high is not None:
        if line.mode in ("dots", "rings"):
            spread = np.abs(np.stack([line.y - line.low, line.high - line.y]))
            axes.errorbar(line.x, line.y, yerr=spread, fmt="none", color=line.colour, capsize=3, linewidth=1.1)
        else:
            axes.fill_between(line.x, line.low, line.high, color=line.colour, alpha=0.16, linewidth=0)
    if line.mode == "area" and line.low is not None and line.high is not None:
        axes.plot(line.x, line.low, color=line.colour, linewidth=1)
        axes.plot(line.x, line.high, color=line.colour, linewidth=1)
        return
    if line.mode in ("dots", "rings"):
        face = "white" if line.mode == "rings" else line.colour
        big = len(line.x) > 1000  # noqa: PLR2004 (an SVG file of so many would not open)
        axes.plot(line.x, line.y, "o", color=line.colour, markerfacecolor=face, markersize=line.size, rasterized=big)
        return
    axes.plot(
        line.x,
        line.y,
        color=line.colour,
        linewidth=line.width,
        linestyle=_style(line),
        drawstyle="steps-post" if line.mode == "steps" else "default",
        marker="o" if line.mode == "marked" else "",
        markersize=line.size,
    )


def _ticks(axes: Axes, side: Axis, which: Literal["x", "y"]) -> None:
    own = getattr(axes, f"{which}axis")
    low, high = sorted(getattr(axes, f"get_{which}lim")())
    ticks = side.ticks
    if ticks is None and side.log:
        ticks = [(at, label) for at, label in log_ticks(low, high) if low <= at <= high]
    if ticks is not None:
        own.set_ticks([at for at, _ in ticks], labels=[label for _, label in ticks])
        own.set_ticks([], minor=True)
    axes.tick_params(labelcolor=INK if which == "y" and side.ticks else MUTED, axis=which)
