"""The picture of an evaluation: throughput against queueing delay, as the papers draw it (Remy'13 §5.2)."""

from itertools import pairwise

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

from exmachina.evaluation import Results
from exmachina.pictures.cloud import Cloud, Floats, clouds_of_flows, frontier_of
from exmachina.pictures.figures import STYLE, draw_clouds, new_figure
from exmachina.pictures.labels import place_labels
from exmachina.pictures.slices import log_ticks
from exmachina.pictures.style import MUTED

__all__ = ["draw_tradeoff", "tradeoff_figure"]

THROUGHPUT = "throughput (Mbit/s, mean of the senders)"
LEADER_POINTS = 10.0
"""A label further from its median than this has a line to it."""
FONT_POINTS = 9.5
NARROW = 3
"""Fewer than this many labels on the axis of delay are no scale."""
FINE = (1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9)
"""Then there are these in each decade."""


def tradeoff_figure(results: Results) -> Figure:
    """An evaluation as a picture."""
    with mpl.rc_context(STYLE):
        figure = new_figure(8.5, 6)
        axes = figure.add_subplot()
        alternatives = results.alternatives
        draw_tradeoff(axes, clouds_of_flows(results.senders_on), frontier=alternatives)
        axes.set_title(results.description or results.name)
        count = results.flows["run"].n_unique()
        words = (
            f"{count} run{'s' * (count != 1)} of {results.duration_s:g} s. A dot is a run, a circle the median of all "
        )
        words += "senders, an ellipse one standard deviation"
        words += "; the grey line is the efficient frontier." if alternatives else "."
        figure.supxlabel(words, x=0.99, ha="right", fontsize=7, color=MUTED)
        return figure


def draw_tradeoff(axes: Axes, clouds: list[Cloud], *, frontier: bool = True) -> None:
    """Clouds, a label at each median, and the efficient frontier through the medians."""
    draw_clouds(axes, clouds, ylabel=THROUGHPUT)
    if not clouds:
        return
    corners = np.array(frontier_of(clouds)) if frontier else np.empty((0, 2))
    axes.plot(*corners.T, color=MUTED, linewidth=1.2, zorder=1.5)
    _ticks(axes)
    _label_medians(axes, clouds, corners)


def _ticks(axes: Axes) -> None:
    """Labels on the axis of delay at 1, 2 and 5 in each decade: a cloud may be narrower than one."""
    right, left = sorted(axes.get_xlim())
    ticks = [at for at, _ in log_ticks(right, left) if right <= at <= left]
    if len(ticks) < NARROW:
        decades = 10.0 ** np.arange(np.floor(np.log10(right)), np.log10(left) + 1)
        ticks = [at for at in np.outer(decades, FINE).ravel().tolist() if right <= at <= left]
    axes.set_xticks(ticks, labels=[f"{at:g}" for at in ticks])
    axes.set_xticks([], minor=True)


def _label_medians(axes: Axes, clouds: list[Cloud], frontier: Floats) -> None:
    figure = axes.get_figure(root=True)
    assert figure is not None
    figure.draw_without_rendering()  # settles where the axes are
    points = axes.transData.transform([cloud.median for cloud in clouds])
    drafts = [axes.text(0, 0, cloud.scheme, fontsize=FONT_POINTS, weight="bold") for cloud in clouds]
    boxes = [draft.get_window_extent() for draft in drafts]
    for draft in drafts:
        draft.remove()
    sizes = np.array([(box.width, box.height) for box in boxes])
    pixels = figure.dpi / 72
    frame = axes.get_window_extent()
    places = place_labels(
        points,
        sizes,
        (frame.x0, frame.y0, frame.x1, frame.y1),
        lines=_dots(axes, clouds, frontier),
        gap=9 * pixels,
    )
    for cloud, point, place, size in zip(clouds, points, places, sizes, strict=True):
        away = float(np.linalg.norm(np.maximum(np.abs(place - point) - size / 2, 0))) / pixels
        axes.annotate(
            cloud.scheme,
            cloud.median,
            xytext=tuple((place - point) / pixels),
            textcoords="offset points",
            ha="center",
            va="center",
            fontsize=FONT_POINTS,
            weight="bold",
            color=cloud.colour,
            arrowprops={"arrowstyle": "-", "color": cloud.colour, "linewidth": 0.7} if away > LEADER_POINTS else None,
            path_effects=[withStroke(linewidth=2.5, foreground="white", alpha=0.8)],
            in_layout=False,
        )


def _dots(axes: Axes, clouds: list[Cloud], frontier: Floats) -> Floats:
    """Dots along the ellipses and the frontier, in pixels."""
    ellipses = [axes.transData.transform(cloud.outline) for cloud in clouds if cloud.outline is not None]
    corners = axes.transData.transform(frontier) if len(frontier) else frontier
    sides = [np.linspace(a, b, 60) for a, b in pairwise(corners)]
    return np.concatenate([corners, *ellipses, *sides])
