"""A search for the worst network as charts: how bad the networks were that it tried, along each axis of its limits."""

import altair as alt
import numpy as np
import polars as pl

from exmachina.hunting import Worst
from exmachina.pictures.axes import span
from exmachina.pictures.places import Places
from exmachina.pictures.style import MUTED
from exmachina.pictures.theme import DASHES, heading, layered
from exmachina.probing import AXES, Axis

__all__ = ["worst_chart"]

SIZE = 215, 120
"""Of a chart, pixels."""
COLUMNS = 4
RED, BLUE = "#b42318", "#0f6fde"


def worst_chart(found: Worst) -> alt.VConcatChart:
    """The harm of all networks that were tried, along each axis."""
    axes = [AXES[name] for name in found.limits.free]
    charts = [_axis_chart(found, axis, first=not i % COLUMNS) for i, axis in enumerate(axes)]
    rows = [alt.hconcat(*charts[i : i + COLUMNS]) for i in range(0, len(charts), COLUMNS)]
    below = (
        f"Each dot is a network that was tried, by {found.options.draws} draws of traffic. Red: the worst, reduced to "
        f"what matters: {found.network.words}. Dashes: what is plain."
    )
    width = min(COLUMNS, len(charts)) * (SIZE[0] + 70)
    chart: alt.VConcatChart = alt.vconcat(*rows)
    title = f"The worst network for {found.scheme}: {found.words}"
    return chart.properties(title=heading(title, width, below, size=18), spacing=14)


def _axis_chart(found: Worst, axis: Axis, *, first: bool) -> alt.LayerChart:
    """Along one axis, with words at the left of the first in a row."""
    tried = found.trials.drop_nulls("harm").select("harm", value=axis.name)
    harms = [*tried["harm"], *([] if found.harm is None else [found.harm])]
    up = span(np.array(harms, dtype=np.float64), SIZE[1], margin=0.06)
    y = alt.Y("harm:Q", scale=up.scale(), axis=alt.Axis(tickCount=4), title="harm" if first else None)
    special = [axis.of(found.network), found.limits.plain_value(axis.name)]
    if axis.scale == "names":
        order = sorted({*tried["value"], *map(str, special)})
        x = alt.X("value:N", sort=order, axis=alt.Axis(labelAngle=0, grid=False), title=None)
        worst, plain = special
    else:
        values = [float(value) for value in (*tried["value"], *special)]
        places = Places.of(sorted(set(values)), SIZE[0], log=axis.scale == "log")
        x = alt.X("value:Q", scale=places.side.scale(), axis=places.axis(), title=None)
        tried = tried.with_columns(pl.col("value").replace_strict(places.at, return_dtype=pl.Float64))
        worst, plain = (places.at[float(value)] for value in special)
    dots = alt.Chart(tried).mark_circle(size=10, opacity=0.45, color=BLUE).encode(x, y)
    line = alt.Chart(pl.DataFrame({"value": [plain]})).mark_rule(color=MUTED, strokeDash=DASHES).encode(x)
    marked = alt.Chart(pl.DataFrame({"value": [worst], "harm": [found.harm]}))
    chart = layered([line, dots, marked.mark_point(size=90, color=RED, strokeWidth=2).encode(x, y)], SIZE)
    return chart.properties(title=heading(axis.title, SIZE[0], size=12))
