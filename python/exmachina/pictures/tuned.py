"""Tuning as charts: what generations of candidates were worth, and on how many networks the law is ahead of whom."""

import altair as alt
import polars as pl

from exmachina.pictures.style import MUTED
from exmachina.pictures.theme import heading, layered
from exmachina.tuning import Tuned

__all__ = ["tuned_chart"]

SIZE = 330, 220
"""Of a chart, pixels."""
BLUE = "#0f6fde"


def tuned_chart(tuned: Tuned) -> alt.HConcatChart:
    """The worth of generations, and the shares before and after."""
    title = f"{tuned.begun.name} tuned beside {', '.join(tuned.rivals)}"
    below = (
        f"Left: of each generation the mean over its candidates, on networks of its own, and the best and the worst of "
        f"them. Right: shares of {tuned.options.checks} networks whose draws chose nothing; gray as it was, blue now."
    )
    chart: alt.HConcatChart = alt.hconcat(_generations(tuned.generations), _shares(tuned.ahead))
    return chart.properties(title=heading(title, 2 * SIZE[0] + 60, below, size=18), spacing=40)


def _generations(generations: pl.DataFrame) -> alt.LayerChart:
    worth = pl.col("worth")
    each = generations.group_by("generation", maintain_order=True).agg(
        mean=worth.mean(), best=worth.max(), worst=worth.min()
    )
    x = alt.X("generation:Q", title="generation", axis=alt.Axis(tickMinStep=1))
    scale = alt.Scale(zero=False)
    chart = alt.Chart(each.with_columns(pl.col("generation") + 1))
    band = chart.mark_area(color=BLUE, opacity=0.15).encode(
        x, alt.Y("worst:Q", scale=scale, title="smooth share of rivals"), alt.Y2("best:Q")
    )
    line = chart.mark_line(color=BLUE, point=True).encode(x, alt.Y("mean:Q", scale=scale))
    return layered([band, line], SIZE)


def _shares(ahead: pl.DataFrame) -> alt.LayerChart:
    x = alt.X("share:Q", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%"), title="networks ahead of")
    y = alt.Y("rival:N", sort=ahead["rival"].to_list(), title=None)
    chart = alt.Chart(ahead.drop_nulls("share"))
    before = chart.mark_point(size=90, color=MUTED, filled=True).encode(
        alt.X("share_before:Q", scale=alt.Scale(domain=[0, 1])), y
    )
    between = chart.mark_rule(color=MUTED).encode(x, alt.X2("share_before:Q"), y)
    now = chart.mark_point(size=110, color=BLUE, filled=True).encode(x, y)
    return layered([between, before, now], SIZE)
