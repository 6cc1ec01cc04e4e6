"""The chart of how the senders of an evaluation spread: the share of them with at most so much throughput, or delay."""

from collections.abc import Mapping

import altair as alt
import numpy as np
import polars as pl

from exmachina.evaluation import Results
from exmachina.pictures.axes import Floats, Plane, Side, span
from exmachina.pictures.cloud import clouds_of_flows
from exmachina.pictures.theme import colours_by, heading, layered

__all__ = ["cdf_chart"]

SIZE = 380, 300
"""Of each panel, pixels."""
SHARE = "share of senders with at most so much"


def cdf_chart(results: Results) -> alt.HConcatChart:
    """Cumulative distributions over runs, of each contender; what counts of a run is the median of its senders."""
    clouds = clouds_of_flows(results.senders_on)
    colours = {cloud.scheme: cloud.colour for cloud in clouds}
    count = results.flows["run"].n_unique()
    words = f"{count} run{'s' * (count != 1)} of {results.duration_s:g} s; of each, the median of its senders."
    throughputs = _panel("throughput (Mbit/s)", {cloud.scheme: cloud.throughput for cloud in clouds}, colours)
    delays = _panel("queueing delay (ms)", {cloud.scheme: cloud.delay_ms for cloud in clouds}, colours, log=True)
    chart: alt.HConcatChart = alt.hconcat(throughputs, delays)
    return chart.properties(title=heading(results.description or results.name, 2 * SIZE[0], words))


def _panel(
    words: str, values: Mapping[str, Floats], colours: Mapping[str, str], *, log: bool = False
) -> alt.LayerChart:
    """One staircase for each contender."""
    across = span(np.concatenate([np.empty(0), *values.values()]), SIZE[0], log=log)
    stairs = [_stairs(name, own, across) for name, own in values.items()]
    empty = pl.DataFrame(schema={"name": pl.String, "x": pl.Float64, "y": pl.Float64})
    lines = alt.Chart(pl.concat([empty, *stairs])).mark_line(interpolate="step-after", strokeWidth=1.8)
    colour = colours_by("name", colours, legend=alt.Legend(title=None, symbolType="stroke", symbolSize=200))
    place = Plane(across, Side(0.0, 1.0, SIZE[1])).channels(words, SHARE)
    return layered([lines.encode(*place, colour, tooltip=alt.Tooltip("name:N", title="scheme"))], SIZE)


def _stairs(name: str, values: Floats, across: Side) -> pl.DataFrame:
    """From no sender, at one end of the axis, to all of them at the other."""
    x = np.concatenate([[across.start], np.sort(values), [across.end]])
    y = np.concatenate([np.arange(len(values) + 1) / len(values), [1.0]])
    return pl.DataFrame({"name": [name] * len(x), "x": x, "y": y})
