"""What schemes got at some values, as layers of a chart: dots, lines from one to the next, and whiskers."""

from collections.abc import Iterable, Mapping, Sequence

import altair as alt
import numpy as np
import polars as pl

from exmachina.pictures.style import GROUND, kind_of
from exmachina.pictures.theme import colours_by, fills_by, marks_by

__all__ = ["legend_row", "marks"]


def marks(
    data: pl.DataFrame,
    place: tuple[alt.X, alt.Y],
    colours: Mapping[str, str],
    tooltip: Sequence[alt.Tooltip],
    *,
    whiskers: bool,
    linked: bool,
) -> list[alt.Chart]:
    """Dots in the shapes of their kinds, hollow where some senders got nothing.

    Args:
        data: One row per scheme and value: name, what `place` encodes (upwards `y`), hollow, and what `tooltip` says;
            with whiskers, from low to high.
        place: The channels across and upwards.
        colours: Of names.
        tooltip: What a dot says of itself.
        whiskers: Whether there are.
        linked: Whether values stand in an order, and a line goes from each to the next.
    """
    x, y = place
    base = alt.Chart(data).encode(x, colours_by("name", colours))
    shape, layers = _shape(colours), []
    if whiskers:
        ends = base.mark_rule(strokeWidth=1, opacity=0.5).transform_calculate(y="datum.low")
        layers.append(ends.encode(y.copy(), y2="high:Q"))
    if linked:
        layers.append(base.mark_line(strokeWidth=1.8).encode(y))
    # Two layers, for a colour and a condition on it do not go together.
    for hollow, fill in ((False, fills_by("name", colours)), (True, alt.value(GROUND))):
        dots = base.transform_filter(f"datum.hollow === {str(hollow).lower()}")
        dots = dots.mark_point(size=24, opacity=1, strokeWidth=1.4)
        layers.append(dots.encode(y, shape, fill=fill, tooltip=list(tooltip)))
    return layers


def legend_row(colours: Mapping[str, str]) -> alt.LayerChart:
    """The names of schemes, in a row."""
    starts = np.cumsum([0.0, *(28 + 8.0 * len(name) for name in colours)])
    data = pl.DataFrame({"name": list(colours), "x": starts[:-1]})
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[0.0, float(starts[-1])]))
    base = alt.Chart(data).encode(x)
    dots = base.mark_point(size=90, opacity=1, filled=True).encode(colours_by("name", colours), _shape(colours))
    words = base.mark_text(align="left", dx=12, fontSize=13, fontWeight="bold").encode(text="name:N")
    chart = alt.layer(dots, words)
    assert isinstance(chart, alt.LayerChart)
    return chart.properties(width=float(starts[-1]), height=18)


def _shape(names: Iterable[str]) -> alt.Shape:
    return marks_by("name", {name: kind_of(name) for name in names})
