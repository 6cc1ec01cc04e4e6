"""The chart of an evaluation: throughput against queueing delay, as the papers draw it (Remy'13 §5.2)."""

from itertools import pairwise

import altair as alt
import numpy as np
import polars as pl

from exmachina.evaluation import Results
from exmachina.pictures.axes import Floats, Plane, Side, span
from exmachina.pictures.cloud import Cloud, clouds_of_flows, frontier_of
from exmachina.pictures.style import MUTED
from exmachina.pictures.theme import colours_by, fills_by, heading, layered

__all__ = ["THROUGHPUT", "plane_of", "results_chart", "tradeoff_chart"]

THROUGHPUT = "throughput (Mbit/s)"
DELAY = "queueing delay (ms), less to the right"
WIDTH, HEIGHT = 640, 430
DOTS = 400
"""Runs of a scheme that are drawn: more do not show."""


def results_chart(results: Results) -> alt.LayerChart:
    """An evaluation as a chart."""
    count = results.flows["run"].n_unique()
    words = f"{count} run{'s' * (count != 1)} of {results.duration_s:g} s. A dot is the median of a run's senders, a "
    words += "circle that of all, an ellipse one standard deviation of the dots"
    words += "; the grey line is the efficient frontier." if results.alternatives else "."
    chart = tradeoff_chart(clouds_of_flows(results.senders_on), frontier=results.alternatives)
    return chart.properties(title=heading(results.description or results.name, WIDTH, words))


def tradeoff_chart(
    clouds: list[Cloud],
    *,
    frontier: bool = True,
    throughput: str = THROUGHPUT,
    size: tuple[int, int] = (WIDTH, HEIGHT),
    like: list[Cloud] | None = None,
    title: str = "",
) -> alt.LayerChart:
    """Runs, 1-sigma ellipses, medians with their names, and the efficient frontier; delay grows to the left.

    Args:
        clouds: One for each scheme.
        frontier: Whether to draw the line through the medians that no other beats.
        throughput: What is up.
        size: Of the plane, pixels.
        like: Other clouds, drawn beside these, so that both have the same throughputs up.
        title: Above it.
    """
    plane = plane_of(clouds, size, like)
    medians = np.array([cloud.median for cloud in clouds]).reshape(-1, 2)
    corners = np.array(frontier_of(clouds) if frontier else []).reshape(-1, 2)
    colours = {cloud.scheme: cloud.colour for cloud in clouds}
    place, colour = plane.channels(DELAY, throughput), colours_by("name", colours)

    line = alt.Chart(_frame([("frontier", corners)])).mark_line(color=MUTED, strokeWidth=1.3)
    dots = alt.Chart(_dots(clouds)).mark_circle(size=9)
    outlines = [(cloud.scheme, cloud.outline) for cloud in clouds if cloud.outline is not None]
    ellipses = alt.Chart(_frame(outlines)).mark_line(interpolate="linear-closed", strokeWidth=1.4, fillOpacity=0.1)
    circles = alt.Chart(_frame([(cloud.scheme, np.array([cloud.median])) for cloud in clouds]))
    tooltip = [
        alt.Tooltip("name:N", title="scheme"),
        alt.Tooltip("x:Q", title="median queueing delay (ms)", format=".3~r"),
        alt.Tooltip("y:Q", title=f"median {throughput.partition(' (')[0]}", format=".3~r"),
    ]
    layers = [
        line.encode(*place, order="order:Q"),
        dots.encode(*place, colour, opacity=alt.Opacity("opacity:Q", scale=None, legend=None)),
        ellipses.encode(*place, colour, fills_by("name", colours), order="order:Q"),
        circles.mark_circle(size=110, opacity=1, stroke="white", strokeWidth=1.5).encode(
            *place, colour, tooltip=tooltip
        ),
        *plane.named(medians, [cloud.scheme for cloud in clouds], place, colour, avoid=_avoided(clouds, corners)),
    ]
    return layered(layers, size, title)


def plane_of(clouds: list[Cloud], size: tuple[int, int], like: list[Cloud] | None = None) -> Plane:
    """Axes with room for everything that is drawn."""
    points = [_drawn(cloud) for cloud in clouds] or [np.array([[1.0, 0.0], [10.0, 1.0]])]
    beside = points + [_drawn(cloud) for cloud in like or []]
    x = span(np.concatenate(points)[:, 0], size[0], log=True, reverse=True)
    up = np.concatenate(beside)[:, 1]
    y = span(up, size[1])
    return Plane(x, Side(max(0.0, y.start), y.end, y.pixels) if up.min() >= 0 else y)


def _drawn(cloud: Cloud) -> Floats:
    """All points of a cloud."""
    outline = np.empty((0, 2)) if cloud.outline is None else cloud.outline
    return np.concatenate([np.stack([cloud.delay_ms, cloud.throughput], axis=1), outline, [cloud.median]])


def _avoided(clouds: list[Cloud], corners: Floats) -> Floats:
    """Points along the ellipses and the frontier, which names should not cover."""
    ellipses = [cloud.outline for cloud in clouds if cloud.outline is not None]
    # Of a line on a logarithmic axis, evenly: along the logarithm.
    sides = [
        np.stack([np.geomspace(a[0], b[0], 60), np.linspace(a[1], b[1], 60)], axis=1) for a, b in pairwise(corners)
    ]
    return np.concatenate([corners, *ellipses, *sides])


def _dots(clouds: list[Cloud]) -> pl.DataFrame:
    """Runs, the paler the more of them there are."""
    frames = []
    for cloud in clouds:
        step = -(-len(cloud.delay_ms) // DOTS)
        dots = np.stack([cloud.delay_ms, cloud.throughput], axis=1)[:: max(1, step)]
        opacity = float(np.clip(40 / max(1, len(dots)), 0.15, 0.6))
        frames.append(_frame([(cloud.scheme, dots)]).with_columns(opacity=pl.lit(opacity)))
    return pl.concat([_frame([]).with_columns(opacity=pl.lit(1.0)), *frames])


def _frame(points: list[tuple[str, Floats]]) -> pl.DataFrame:
    """Points with their names, in order."""
    empty = pl.DataFrame(schema={"name": pl.String, "x": pl.Float64, "y": pl.Float64, "order": pl.Int64})
    frames = [
        pl.DataFrame({"name": [name] * len(at), "x": at[:, 0], "y": at[:, 1], "order": range(len(at))}, empty.schema)
        for name, at in points
    ]
    return pl.concat([empty, *frames])
