"""A passport as charts: along each axis what schemes get, with the range shaded that tables were designed for."""

from typing import Literal

import altair as alt
import polars as pl

from exmachina.pictures.axes import span
from exmachina.pictures.marks import legend_row, marks
from exmachina.pictures.passport_axes import places_of, shades_of
from exmachina.pictures.style import MUTED, family_colours
from exmachina.pictures.theme import DASHES, fills_by, heading, layered
from exmachina.probing import Axis, Passport

__all__ = ["MEASURES", "WORDS", "Measure", "axis_chart", "colours_of", "passport_chart"]

Measure = Literal["score", "throughput", "delay"]

MEASURES: tuple[Measure, ...] = ("score", "throughput", "delay")
SIZE = 215, 150
"""Of a chart of the picture, pixels."""
COLUMNS = 4
WORDS: dict[Measure, str] = {
    "score": "score",
    "throughput": "throughput / equal share",
    "delay": "RTT / that of an empty network",
}
SHADE = 0.13
"""Opacity of a designed range."""
WHISKERS = 2.0
"""Standard errors to each side."""


def colours_of(passport: Passport) -> dict[str, str]:
    """A colour for each scheme."""
    return family_colours(passport.schemes)


def passport_chart(passport: Passport) -> alt.VConcatChart:
    """The scores along all axes, as one picture."""
    colours = colours_of(passport)
    words = ["" if i % COLUMNS else WORDS["score"] for i in range(len(passport.axes))]
    charts = [
        axis_chart(passport, axis, "score", SIZE, beside) for axis, beside in zip(passport.axes, words, strict=True)
    ]
    rows = [alt.hconcat(*charts[i : i + COLUMNS]) for i in range(0, len(charts), COLUMNS)]
    below = (
        f"Around {passport.base.words} (dashes). Score: mean of ln(throughput) - {passport.delta:g} ln(RTT), relative "
        "to an equal share of an empty network. Shaded in a table's colour: what it was designed for. "
        "Hollow: some senders got nothing."
    )
    width = min(COLUMNS, len(charts)) * (SIZE[0] + 70)
    legend = legend_row(colours)
    chart: alt.VConcatChart = alt.vconcat(legend, *rows)
    first, *others = passport.schemes
    title = f"{first} beside {' and '.join(others)}" if others else first
    return chart.properties(title=heading(title, width, below, size=18), spacing=14)


def axis_chart(
    passport: Passport, axis: Axis, measure: Measure, size: tuple[int, int], title: str = ""
) -> alt.LayerChart:
    """One measure along one axis, with words beside it; of the score, whiskers of two standard errors to each side."""
    data, colours, scored = _data(passport, axis, measure, size), colours_of(passport), measure == "score"
    ends = data.select(pl.concat([pl.col("low"), pl.col("high")]) if scored else pl.col("y")).to_series()
    up = span(ends.to_numpy(), size[1], log=not scored, margin=0.06)
    y = alt.Y("y:Q", scale=up.scale(), axis=alt.Axis(tickCount=5) if scored else up.axis(), title=title or None)
    x, behind = _by_name(passport, axis) if axis.scale == "names" else _by_number(passport, axis, size)
    tooltip = [
        alt.Tooltip("name:N", title="scheme"),
        alt.Tooltip("label:N", title=axis.title),
        alt.Tooltip("y:Q", title=WORDS[measure], format=".3~r"),
        alt.Tooltip("starved_share:Q", title="senders that got nothing", format=".0%"),
    ]
    layers = marks(data, (x, y), colours, tooltip, whiskers=scored, linked=axis.scale != "names")
    chart = layered([*behind, *layers], size)
    return chart.properties(title=heading(axis.title, size[0], size=12))


def _data(passport: Passport, axis: Axis, measure: Measure, size: tuple[int, int]) -> pl.DataFrame:
    """One row per scheme and value: name, label, x (of numbers), y, low, high, hollow."""
    rows = passport.summary.filter(axis=axis.name)
    if axis.scale != "names":
        at = places_of(passport, axis, size[0]).at
        rows = rows.with_columns(x=pl.col("value").replace_strict(at, return_dtype=pl.Float64))
    error = WHISKERS * pl.col("score_error").fill_null(0.0).fill_nan(0.0)
    places = ["x"] if "x" in rows.columns else []
    return rows.select(
        "label",
        "starved_share",
        *places,
        name="scheme",
        y=measure,
        low=pl.col("score") - error,
        high=pl.col("score") + error,
        hollow=pl.col("starved_share") > 0,
    )


def _by_number(passport: Passport, axis: Axis, size: tuple[int, int]) -> tuple[alt.X, list[alt.Chart]]:
    """The channel across, and what stands behind: designed ranges, and dashes where the base is."""
    places = places_of(passport, axis, size[0])
    x = alt.X("x:Q", scale=places.side.scale(), axis=places.axis(), title=None)
    shades = alt.Chart(shades_of(passport, axis, size[0])).mark_rect(opacity=SHADE)
    across = alt.X("from:Q", scale=places.side.scale(), axis=places.axis(), title=None)
    value = axis.of(passport.base)
    assert not isinstance(value, str)
    base = alt.Chart(pl.DataFrame({"x": [places.at[value]]})).mark_rule(color=MUTED, strokeDash=DASHES, strokeWidth=1)
    return x, [shades.encode(across, fills_by("name", colours_of(passport)), x2="to:Q"), base.encode(x)]


def _by_name(passport: Passport, axis: Axis) -> tuple[alt.X, list[alt.Chart]]:
    """The same of an axis of names, in the order in which they were probed."""
    order = passport.frame.filter(axis=axis.name)["label"].unique(maintain_order=True).to_list()
    x = alt.X("label:N", sort=order, axis=alt.Axis(labelAngle=0, grid=False), title=None)
    inside = passport.frame.filter((pl.col("axis") == axis.name) & pl.col("inside"))
    shades = inside.select("label", name="scheme").unique(maintain_order=True)
    bands = alt.Chart(shades).mark_rect(opacity=SHADE)
    return x, [bands.encode(x, fills_by("name", colours_of(passport)))]
