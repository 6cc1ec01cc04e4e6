"""Charts of scores: while a design searched, and on networks that it has not seen."""

from collections.abc import Mapping

import altair as alt
import numpy as np
import polars as pl

from exmachina.pictures.axes import Plane, span
from exmachina.pictures.style import SENDERS
from exmachina.pictures.theme import DASHES, colours_by, layered
from exmachina.schemes import signed

__all__ = ["score_chart", "score_curve_chart"]

LEAST = 1e-3
"""Less is missing to the reference: drawn here, as a logarithm has no end."""
WIDTH, HEIGHT = 420, 300
ROW = 44
"""Height of a scheme's score, pixels."""


def score_curve_chart(
    history: pl.DataFrame,
    reference: float,
    levels: Mapping[str, tuple[float, str]],
    *,
    size: tuple[int, int] = (WIDTH, HEIGHT),
) -> alt.LayerChart:
    """What is missing to the reference over CPU time, less is up; levels to compare it with.

    Args:
        history: Of a design: cpu_s, score, step, rules, packets.
        reference: Score of the reference.
        levels: Names, each with its score and its colour.
        size: Pixels.
    """
    steps = history.select(
        "step", "rules", "packets", "score", x="cpu_s", y=(reference - pl.col("score")).clip(lower_bound=LEAST)
    )
    missing = {name: max(reference - level, LEAST) for name, (level, _) in levels.items()}
    up = np.concatenate([steps["y"].to_numpy(), list(missing.values())])
    plane = Plane(
        span(steps["x"].to_numpy(), size[0], log=True), span(up, size[1], log=True, reverse=True, margin=0.08)
    )
    place = plane.channels("CPU time (s)", "score below the omniscient reference")
    compared = pl.DataFrame(
        {"name": list(missing), "y": list(missing.values())}, schema_overrides={"name": pl.String, "y": pl.Float64}
    )
    colour = colours_by("name", {name: colour for name, (_, colour) in levels.items()})
    ends = np.array([(plane.x.end, level) for level in missing.values()]).reshape(-1, 2)
    stairs = np.stack([np.repeat(steps["x"].to_numpy(), 2)[1:], np.repeat(steps["y"].to_numpy(), 2)[:-1]], axis=1)
    across = plane.x.value(np.linspace(0, size[0], 100))
    avoid = np.concatenate([stairs, *(np.stack([across, np.full(100, level)], axis=1) for level in missing.values())])
    found = {"step": ",", "rules": ",", "packets": ".3~s", "score": ".3f"}
    tooltip = [alt.Tooltip("x:Q", title="CPU time (s)", format=",.1f")]
    tooltip += [alt.Tooltip(name, type="quantitative", format=form) for name, form in found.items()]
    curve = alt.Chart(steps).encode(*place)
    layers = [
        alt.Chart(compared).mark_rule(strokeDash=DASHES, strokeWidth=1.2).encode(place[1], colour),
        curve.mark_line(interpolate="step-after", color=SENDERS[0], strokeWidth=2.2),
        curve.mark_circle(color=SENDERS[0], size=24, opacity=1).encode(tooltip=tooltip),
        *plane.named(ends, list(missing), place, colour, avoid=avoid),
    ]
    return layered(layers, size)


def score_chart(summary: pl.DataFrame, colours: Mapping[str, str], *, width: int = WIDTH) -> alt.LayerChart:
    """Scores with their 95 % confidence intervals, the best on top.

    Args:
        summary: Of a score report; schemes without a score are left out.
        colours: By scheme.
        width: Pixels.
    """
    rows = summary.drop_nulls("score").sort("score", descending=True)
    half = pl.col("score_ci95").fill_nan(0.0).fill_null(0.0)
    words = pl.col("score").map_elements(lambda score: signed(score, 2), return_dtype=pl.String)
    data = rows.select("scheme", "score", low=pl.col("score") - half, high=pl.col("score") + half, words=words)
    ends = data.select(pl.concat([pl.col("low"), pl.col("high")]).alias("end"))["end"].to_numpy()
    y = alt.Y("scheme:N", sort=None, title=None, axis=alt.Axis(grid=False, domain=False, ticks=False, labelLimit=200))
    x = alt.X("score:Q", title="score per held-out specimen (mean and 95 % interval)")
    x = x.scale(span(ends, width, margin=0.08).scale()).axis(tickCount=6)
    colour = colours_by("scheme", colours)
    tooltip = [
        alt.Tooltip("scheme:N"),
        *(alt.Tooltip(name, type="quantitative", format=".3f") for name in ("score", "low", "high")),
    ]
    base = alt.Chart(data).encode(y=y, color=colour)
    layers = [
        base.mark_rule(strokeWidth=1.6).encode(x=x.copy(), x2="high:Q").transform_calculate(score="datum.low"),
        base.mark_circle(size=90, opacity=1).encode(x=x, tooltip=tooltip),
        alt.Chart(data).mark_text(dy=-13, fontWeight="bold").encode(x=x, y=y, text="words:N"),
    ]
    return layered(layers, (width, ROW * max(1, len(data))))
