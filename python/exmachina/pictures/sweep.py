"""A sweep as a chart: curves over one field, or of two a heat map for each scheme."""

from collections.abc import Sequence

import altair as alt
import numpy as np
import polars as pl

from exmachina.pictures.axes import Floats, log_ticks, span
from exmachina.pictures.marks import legend_row, marks
from exmachina.pictures.places import Places
from exmachina.pictures.style import INK, family_colours
from exmachina.pictures.theme import heading, layered
from exmachina.schemes import digits
from exmachina.sweeping import Measure, Sweep, Value, are_numbers, words_of

__all__ = ["DRAWN", "sweep_chart"]

DRAWN = 2
"""Fields, at most: a page has no more dimensions."""
SIZE = 380, 280
"""Of a chart of curves, pixels."""
CELL, NARROWEST, WIDEST = 46, 150, 420
"""Of a heat map: side of a cell, and the least and the most of a side of the map, pixels."""
WRITTEN = 34
"""A cell that is at least so wide has its number in it, pixels."""
COLUMNS = 4
LABELS = "label", "label2"
"""The values of the fields in words: columns without dots, which charts would take for paths."""
WIDE = 8
"""Values whose ends are this many times apart are drawn on a logarithmic axis,"""
DECADES = 4
"""which has so many decades, at most: what is less is drawn at its lower end."""


def sweep_chart(found: Sweep) -> alt.VConcatChart:
    """The measures of a sweep over one field or two."""
    words = f"{found.description or found.name}, with other values of {' and '.join(found.over)}"
    if len(found.over) == 1:
        below = "Whiskers are 95 % confidence intervals. Hollow: some senders were on and got nothing."
        charts = [_curves(found, measure) for measure in found.measures]
        rows: list[alt.LayerChart | alt.HConcatChart | alt.ConcatChart] = [legend_row(_colours(found))]
        rows.append(alt.hconcat(*charts))
        width = len(charts) * SIZE[0]
    else:
        below = "Means at each point."
        rows = [_maps(found, measure) for measure in found.measures]
        width = min(COLUMNS, len(found.schemes)) * NARROWEST
    chart: alt.VConcatChart = alt.vconcat(*rows).resolve_scale(color="independent")
    return chart.properties(title=heading(words, max(width, 2 * WIDEST), below), spacing=14)


def _colours(found: Sweep) -> dict[str, str]:
    return family_colours(found.schemes)


def _curves(found: Sweep, measure: Measure) -> alt.LayerChart:
    """One measure over the only field."""
    ((field, values),) = found.over.items()
    x, at = _across(field, values)
    half = pl.lit(0.0) if measure.half_width is None else pl.col(measure.half_width).fill_null(0.0).fill_nan(0.0)
    y, rows = pl.col("value"), _rows(found, measure)
    floor = _floor(rows["value"].to_numpy())
    rows = rows.with_columns(y=y, low=y - half, high=y + half, hollow=pl.col("starved") > 0)
    if floor is not None:
        rows = rows.with_columns(pl.col("y", "low", "high").clip(lower_bound=floor))
    ends = rows.select(pl.concat([pl.col("low"), pl.col("high")])).to_series().to_numpy()
    up = span(ends, SIZE[1], log=floor is not None, margin=0.06)
    if at is not None:
        rows = rows.with_columns(x=pl.col(field).replace_strict(at, return_dtype=pl.Float64))
    tooltip = [
        alt.Tooltip("name:N", title="scheme"),
        alt.Tooltip("label:N", title=field),
        alt.Tooltip("value:Q", title=measure.title, format=".4~r"),
        alt.Tooltip("starved:Q", title="senders that got nothing"),
    ]
    place = x, alt.Y("y:Q", scale=up.scale(), axis=up.axis(), title=measure.title)
    whiskers = measure.half_width is not None
    layers = marks(rows.drop(field), place, _colours(found), tooltip, whiskers=whiskers, linked=at is not None)
    return layered(layers, SIZE)


def _rows(found: Sweep, measure: Measure) -> pl.DataFrame:
    """Where a measure is known: name, value, half its interval, starved, each swept field, and in words `LABELS`."""
    half = [] if measure.half_width is None else [measure.half_width]
    rows = found.summary.filter(pl.col(measure.column).is_not_null())
    named = rows.select(*found.over, *half, name=found.who, value=measure.column, starved="starved_senders")
    labels = zip(found.over.items(), LABELS, strict=False)
    return named.with_columns(_words(field, values).alias(label) for (field, values), label in labels)


def _words(field: str, values: Sequence[Value]) -> pl.Expr:
    """The values of a column as they are written."""
    if are_numbers(values):
        return pl.col(field).replace_strict({float(value): words_of(value) for value in values})
    return pl.col(field)


def _across(field: str, values: Sequence[Value]) -> tuple[alt.X, dict[float, float] | None]:
    """The channel across, and where numbers are on it; words stand beside each other."""
    if not are_numbers(values):
        return alt.X(
            "label:N", sort=[words_of(value) for value in values], axis=alt.Axis(labelAngle=0), title=field
        ), None
    numbers = np.array(values, dtype=np.float64)
    places = Places.of(numbers.tolist(), SIZE[0], log=_is_wide(numbers))
    return alt.X("x:Q", scale=places.side.scale(), axis=places.axis(), title=field), dict(places.at)


def _is_wide(values: Floats) -> bool:
    """Whether a logarithmic axis shows more."""
    if not len(values) or values.min() < 0:
        return False
    above = values[values > 0]
    return bool(len(above) and above.max() >= WIDE * above.min())


def _floor(values: Floats) -> float | None:
    """Where a logarithmic axis of values begins; none where a linear one is better."""
    return float(max(values.min(), values.max() / 10**DECADES)) if _is_wide(values) else None


def _maps(found: Sweep, measure: Measure) -> alt.ConcatChart:
    """One measure over both fields: a heat map for each scheme, all with the same colours."""
    rows, (across, up) = _rows(found, measure), found.over
    width, height = (min(WIDEST, max(NARROWEST, CELL * len(values))) for values in found.over.values())
    orders = [[words_of(value) for value in values] for values in found.over.values()]
    floor = _floor(rows["value"].to_numpy())
    shades = rows["value"] if floor is None else rows["value"].clip(lower_bound=floor)
    low, high = (float(shades.to_numpy().min()), float(shades.to_numpy().max())) if len(shades) else (0.0, 1.0)
    middle = (low + high) / 2 if floor is None else (low * high) ** 0.5
    scale = alt.Scale(scheme="viridis", domain=[low, high], type="linear" if floor is None else "log")
    legend = alt.Legend(title=None, format="~g", gradientLength=min(height, 200), gradientThickness=12)
    if floor is not None:
        legend.values = [at for at, _ in log_ticks(low, high)]
    written = [f"< {digits(low, 2)}" if value < low else digits(value, 3) for value in rows["value"]]
    rows = rows.drop(*found.over).with_columns(shade=shades, written=pl.Series(written, dtype=pl.String))
    tooltip = [
        alt.Tooltip("name:N", title="scheme"),
        alt.Tooltip("label:N", title=across),
        alt.Tooltip("label2:N", title=up),
        alt.Tooltip("value:Q", title=measure.title, format=".4~r"),
        alt.Tooltip("starved:Q", title="senders that got nothing"),
    ]
    panels = []
    for name in found.schemes:
        base = alt.Chart(rows.filter(name=name)).encode(
            alt.X("label:N", sort=orders[0], axis=alt.Axis(labelAngle=0), title=across),
            alt.Y("label2:N", sort=orders[1][::-1], title=up),
        )
        layers = [base.mark_rect().encode(alt.Color("shade:Q", scale=scale, legend=legend), tooltip=tooltip)]
        if width / len(orders[0]) >= WRITTEN:
            # Viridis begins dark.
            ink = alt.condition(f"datum.shade > {middle!r}", alt.value(INK), alt.value("white"))
            layers.append(base.mark_text(fontSize=10).encode(text="written:N", color=ink))
        panels.append(layered(layers, (width, height), name))
    chart: alt.ConcatChart = alt.concat(*panels, columns=COLUMNS)
    return chart.properties(title=heading(measure.title, WIDEST, size=13))
