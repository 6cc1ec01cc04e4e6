"""Steadying as charts: what disturbed states did at each step, and what they do beside what they did before."""

import altair as alt
import polars as pl

from exmachina.pictures.style import MUTED
from exmachina.pictures.theme import heading, layered
from exmachina.steadying import Steadied

__all__ = ["steadied_chart"]

SIZE = 330, 220
"""Of a chart, pixels."""
LEAST = 0.01
BLUE, RED = "#0f6fde", "#d1495b"
SHARES = {"not back": RED, "below half of a share": MUTED, "stays there": BLUE}


def steadied_chart(steadied: Steadied) -> alt.HConcatChart:
    """Shares of states that are lost: along the steps, and before and after."""
    below = (
        "Left: of what there was at each step (of a law: its candidates), on states of that step. Right: by networks "
        "and states that chose nothing; gray as it was, blue now. The score on "
        f"{steadied.compared} is {steadied.gain.mean:+.3f} ± {steadied.gain.half_width:.3f} against what it was."
    )
    title = f"{steadied.begun.name}, disturbed: what is lost"
    chart: alt.HConcatChart = alt.hconcat(_steps(steadied.steps), _checks(steadied.checks))
    return chart.properties(title=heading(title, 2 * SIZE[0] + 60, below, size=18), spacing=40)


def _lost(frame: pl.DataFrame, index: str) -> pl.DataFrame:
    """One row per share of states that are lost; none of steps that disturbed nothing."""
    lost = frame.select(index, (1 - pl.col("back")).alias("not back"), "below", "stays")
    named = lost.rename({"below": "below half of a share", "stays": "stays there"})
    return named.unpivot(index=index, variable_name="what", value_name="share").drop_nulls()


def _scale(lost: pl.DataFrame) -> alt.Scale:
    """From nothing; where nothing is lost, too."""
    return alt.Scale(domain=[0, max([LEAST, *lost["share"]])])


def _steps(steps: pl.DataFrame) -> alt.LayerChart:
    colour = alt.Scale(domain=list(SHARES), range=list(SHARES.values()))
    lost = _lost(steps, "step")
    line = alt.Chart(lost).mark_line(point=True)
    encoded = line.encode(
        alt.X("step:Q", title="step", axis=alt.Axis(tickMinStep=1, format="d")),
        alt.Y("share:Q", title="share of states", axis=alt.Axis(format="%"), scale=_scale(lost)),
        alt.Color("what:N", scale=colour, title=None, legend=alt.Legend(orient="top")),
    )
    return layered([encoded], SIZE)


def _checks(checks: pl.DataFrame) -> alt.LayerChart:
    both = _lost(checks.with_row_index("number"), "number")
    now, before = (both.filter(number=number) for number in (0, 1))
    frame = now.join(before.select("what", share_before="share"), on="what")
    x = alt.X("share:Q", axis=alt.Axis(format="%"), title="share of states", scale=_scale(both))
    y = alt.Y("what:N", sort=list(SHARES), title=None)
    chart = alt.Chart(frame)
    was = chart.mark_point(size=90, color=MUTED, filled=True).encode(alt.X("share_before:Q", scale=_scale(both)), y)
    between = chart.mark_rule(color=MUTED).encode(x, alt.X2("share_before:Q"), y)
    after = chart.mark_point(size=110, color=BLUE, filled=True).encode(x, y)
    return layered([between, was, after], SIZE)
