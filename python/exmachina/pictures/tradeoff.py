"""The chart of an evaluation: throughput against queueing delay, as the papers draw it (Remy'13 §5.2)."""

from collections.abc import Mapping
from itertools import pairwise

import altair as alt
import numpy as np
import polars as pl

from exmachina.evaluation import Results
from exmachina.pictures.axes import Floats, Plane, Side, octaves, span
from exmachina.pictures.cloud import Cloud, clouds_of_flows, frontier_of
from exmachina.pictures.style import CROSS, GROUND, MUTED
from exmachina.pictures.theme import colours_by, fills_by, heading, layered, marks_by

__all__ = ["THROUGHPUT", "plane_of", "plane_words", "results_chart", "tradeoff_chart"]

THROUGHPUT = "throughput (Mbit/s)"
DELAY = "queueing delay (ms), less to the right"
WORDS = "A dot is the median of a run's senders, a large mark that of all, an ellipse {sigma} of the dots"
FRONTIER = "; the grey line is the efficient frontier"
WIDTH, HEIGHT = 640, 430
DOTS = 200
"""Of a scheme that are drawn: more do not show."""
MARK = 110
"""Of a median: its area, square pixels."""
HEAVY = 12
"""A cross is to be covered as little as so many dots of a line."""
ARROW = 26.0, 12.0
"""Length of the arrow towards what is better, and how far it is from the corner, pixels."""
CORNER = 80, 44
"""Room for it and its word, pixels."""


def results_chart(results: Results) -> alt.LayerChart:
    """An evaluation as a chart."""
    count = results.flows["run"].n_unique()
    words = f"{count} run{'s' * (count != 1)} of {results.duration_s:g} s. {plane_words(frontier=results.alternatives)}"
    chart = tradeoff_chart(clouds_of_flows(results.senders_on), frontier=results.alternatives)
    return chart.properties(title=heading(results.description or results.name, WIDTH, words))


def plane_words(sigma: float = 1.0, *, frontier: bool = True) -> str:
    """What a reader has to know of a plane."""
    size = "one standard deviation" if sigma == 1 else f"{sigma:g} standard deviations"
    return f"{WORDS.format(sigma=size)}{FRONTIER * frontier}."


def tradeoff_chart(
    clouds: list[Cloud],
    *,
    frontier: bool = True,
    throughput: str = THROUGHPUT,
    size: tuple[int, int] = (WIDTH, HEIGHT),
    like: list[Cloud] | None = None,
    elsewhere: Mapping[str, tuple[float, float]] | None = None,
    title: str = "",
) -> alt.LayerChart:
    """Dots, 1-sigma ellipses, medians with their names, and the efficient frontier; delay grows to the left.

    The axes reach as far as ellipses and medians; single dots may be further out, and are not drawn.

    Args:
        clouds: One for each scheme.
        frontier: Whether to draw the line through the medians that no other beats.
        throughput: What is up.
        size: Of the plane, pixels.
        like: Other clouds, drawn beside these, so that both have the same throughputs up.
        elsewhere: Where somebody else has a scheme's median, delay (ms) and throughput: a cross.
        title: Above it.
    """
    crosses = {name: at for name, at in (elsewhere or {}).items() if any(cloud.scheme == name for cloud in clouds)}
    plane = plane_of(clouds, size, like, np.array(list(crosses.values())).reshape(-1, 2))
    medians = np.array([cloud.median for cloud in clouds]).reshape(-1, 2)
    corners = np.array(frontier_of(clouds) if frontier else []).reshape(-1, 2)
    colours = {cloud.scheme: cloud.colour for cloud in clouds}
    marks = marks_by("name", {cloud.scheme: cloud.kind for cloud in clouds})
    x, y = plane.channels(DELAY, throughput)
    powers = octaves(plane.x)
    place = x.axis(values=powers, format="~r") if len(powers) > 1 else x, y
    colour = colours_by("name", colours)

    avoid = np.concatenate([_avoided(clouds, corners, plane), *[[at] * HEAVY for at in crosses.values()]])
    line = alt.Chart(_frame([("frontier", corners)])).mark_line(color=MUTED, strokeWidth=1.3)
    dots = alt.Chart(_dots(clouds)).mark_point(size=9, filled=True, clip=True)
    outlines = [(cloud.scheme, cloud.outline) for cloud in clouds if cloud.outline is not None]
    ellipses = alt.Chart(_rounded(_frame(outlines))).mark_line(
        interpolate="linear-closed", strokeWidth=1.4, fillOpacity=0.1
    )
    large = alt.Chart(_frame([(cloud.scheme, np.array([cloud.median])) for cloud in clouds]))
    tooltip = [
        alt.Tooltip("name:N", title="scheme"),
        alt.Tooltip("x:Q", title="median queueing delay (ms)", format=".3~r"),
        alt.Tooltip("y:Q", title=f"median {throughput.partition(' (')[0]}", format=".3~r"),
    ]
    layers = [
        *_better(plane, clouds),
        line.encode(*place, order="order:Q"),
        dots.encode(*place, colour, marks, opacity=alt.Opacity("opacity:Q", scale=None, legend=None)),
        ellipses.encode(*place, colour, fills_by("name", colours), order="order:Q"),
        *_elsewhere(crosses, place, colour),
        large.mark_point(size=MARK, filled=True, opacity=1, stroke=GROUND, strokeWidth=1.5).encode(
            *place, fills_by("name", colours), marks, tooltip=tooltip
        ),
        *plane.named(medians, [cloud.scheme for cloud in clouds], place, colour, avoid=avoid),
    ]
    return layered(layers, size, title)


def _better(plane: Plane, clouds: list[Cloud]) -> list[alt.Chart]:
    """The paper's arrow in the corner, to where both are better; nothing if somebody is there already."""
    drawn = plane.pixels(np.concatenate([np.empty((0, 2)), *map(_drawn, clouds)]))
    if (drawn > np.array([plane.x.pixels, plane.y.pixels]) - CORNER).all(axis=1).any():
        return []
    length, gap = ARROW
    right, top = plane.x.pixels - gap, gap
    ends = pl.DataFrame({"x": [right - length], "y": [top + length], "x2": [right], "y2": [top]})
    x, y = alt.X("x:Q", scale=None), alt.Y("y:Q", scale=None)
    shaft = alt.Chart(ends).mark_rule(color=MUTED, strokeWidth=1.5).encode(x, y, alt.X2("x2"), alt.Y2("y2"))
    head = alt.Chart(ends).mark_point(shape="triangle", angle=45, size=60, filled=True, color=MUTED, opacity=1)
    words = alt.Chart(ends).mark_text(align="right", baseline="middle", dx=-4, color=MUTED, fontSize=11)
    return [
        shaft,
        head.encode(alt.X("x2:Q", scale=None), alt.Y("y2:Q", scale=None)),
        words.encode(x, alt.Y("y:Q", scale=None), text=alt.value("better")),
    ]


def _elsewhere(
    crosses: Mapping[str, tuple[float, float]], place: tuple[alt.X, alt.Y], colour: alt.Color
) -> list[alt.Chart]:
    """Crosses, and nothing if there is none."""
    if not crosses:
        return []
    frame = _frame([(name, np.array([at])) for name, at in crosses.items()])
    cross = alt.Chart(frame).mark_point(shape=CROSS, size=90, strokeWidth=2, opacity=1)
    return [cross.encode(*place, colour)]


def plane_of(
    clouds: list[Cloud], size: tuple[int, int], like: list[Cloud] | None = None, more: Floats | None = None
) -> Plane:
    """Axes with room for ellipses and medians, and for all dots where there is no ellipse; `more` points besides."""
    points = [_drawn(cloud) for cloud in clouds] or [np.array([[1.0, 0.0], [10.0, 1.0]])]
    points += [] if more is None else [more]
    beside = points + [_drawn(cloud) for cloud in like or []]
    x = span(np.concatenate(points)[:, 0], size[0], log=True, reverse=True)
    up = np.concatenate(beside)[:, 1]
    y = span(up, size[1], margin=0.06)
    return Plane(x, Side(max(0.0, y.start), y.end, y.pixels))


def _drawn(cloud: Cloud) -> Floats:
    """What has to be within the axes."""
    dots = np.stack([cloud.delay_ms, cloud.throughput], axis=1) if cloud.outline is None else cloud.outline
    return np.concatenate([dots, [cloud.median]])


def _avoided(clouds: list[Cloud], corners: Floats, plane: Plane) -> Floats:
    """Points along the ellipses, the frontier and the arrow, which names should not cover."""
    ellipses = [cloud.outline for cloud in clouds if cloud.outline is not None]
    # Of a line on a logarithmic axis, evenly: along the logarithm.
    sides = [
        np.stack([np.geomspace(a[0], b[0], 60), np.linspace(a[1], b[1], 60)], axis=1) for a, b in pairwise(corners)
    ]
    width, height = CORNER
    across, up = np.meshgrid(plane.x.pixels - np.arange(0, width, 8), plane.y.pixels - np.arange(0, height, 6))
    arrow = np.stack([plane.x.value(across.ravel()), plane.y.value(up.ravel())], axis=1)
    return np.concatenate([corners, *ellipses, *sides, arrow])


def _dots(clouds: list[Cloud]) -> pl.DataFrame:
    """The paler the more of them there are."""
    frames = []
    for cloud in clouds:
        step = -(-len(cloud.delay_ms) // DOTS)
        dots = np.stack([cloud.delay_ms, cloud.throughput], axis=1)[:: max(1, step)]
        opacity = float(np.clip(40 / max(1, len(dots)), 0.15, 0.6))
        frames.append(_rounded(_frame([(cloud.scheme, dots)])).drop("order").with_columns(opacity=pl.lit(opacity)))
    return pl.concat([_frame([]).drop("order").with_columns(opacity=pl.lit(1.0)), *frames])


def _rounded(points: pl.DataFrame) -> pl.DataFrame:
    """To a tenth of a pixel, or so."""
    return points.with_columns(pl.col("x", "y").round_sig_figs(4))


def _frame(points: list[tuple[str, Floats]]) -> pl.DataFrame:
    """Points with their names, in order."""
    empty = pl.DataFrame(schema={"name": pl.String, "x": pl.Float64, "y": pl.Float64, "order": pl.Int64})
    frames = [
        pl.DataFrame({"name": [name] * len(at), "x": at[:, 0], "y": at[:, 1], "order": range(len(at))}, empty.schema)
        for name, at in points
    ]
    return pl.concat([empty, *frames])
