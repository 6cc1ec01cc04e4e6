"""A recorded run over time: window, sending rate and queue as lines, few enough points to draw, and their chart."""

import warnings
from dataclasses import dataclass

import altair as alt
import numpy as np
import numpy.typing as npt
import polars as pl

from exmachina.pictures.style import MUTED, SENDERS
from exmachina.pictures.theme import colours_by

__all__ = ["Timeline", "timeline_chart", "timeline_of"]

Floats = npt.NDArray[np.float64]

BINS = 900
"""Points of a line, at most about twice as many."""
RATE_BINS = 150
MBIT_PER_PACKET = 0.01
WIDTH, HEIGHT = 760, 110
"""Of each of its charts."""


@dataclass(frozen=True)
class Timeline:
    """Window, sending rate and queue over time."""

    windows: list[tuple[Floats, Floats]]
    """By sender: time (s) and window (packets); NaN where the sender is off."""
    rates: list[tuple[Floats, Floats]]
    """By sender: middle of a bin (s) and what it sent in it (Mbit/s)."""
    queue: tuple[Floats, Floats]
    """Time (s) and the longest queue of each bin (packets, the one on the link included)."""
    end_s: float


def timeline_of(record: pl.DataFrame) -> Timeline:
    """The lines of a run that was recorded by `exmachina.record`."""
    highest = record["time_s"].max()
    end_s = float(highest) if isinstance(highest, float) else 1.0
    senders = sorted(record["sender"].unique())
    by_sender = [record.filter(pl.col("sender") == sender) for sender in senders]
    return Timeline(
        windows=[_window(events, end_s) for events in by_sender],
        rates=[_rate(events, end_s) for events in by_sender],
        queue=_queue(record, end_s),
        end_s=end_s,
    )


def _window(events: pl.DataFrame, end_s: float) -> tuple[Floats, Floats]:
    # An ACK of an earlier flow has no number, and leaves the window as it is.
    of_flow = (pl.col("event") != "ack") | pl.col("seq").is_not_null()
    known = events.filter(pl.col("event").is_in(["start", "ack", "stop"]) & of_flow)
    thin = (
        known.with_columns(
            window=pl.when(pl.col("event") == "stop").then(None).otherwise(pl.col("window_packets")),
            bin=(pl.col("time_s") * (BINS / end_s)).floor(),
            flow=(pl.col("event") == "start").cum_sum(),
        )
        .group_by("flow", "bin", pl.col("window").is_null().alias("off"), maintain_order=True)
        .agg(pl.last("time_s"), pl.last("window"))
    )
    return thin["time_s"].to_numpy(), thin["window"].cast(pl.Float64).fill_null(float("nan")).to_numpy()


def _rate(events: pl.DataFrame, end_s: float) -> tuple[Floats, Floats]:
    sent = events.filter(pl.col("event").is_in(["send", "drop"]))["time_s"].to_numpy()
    counts, edges = np.histogram(sent, bins=RATE_BINS, range=(0, end_s))
    width = edges[1] - edges[0]
    return (edges[:-1] + edges[1:]) / 2, counts * (MBIT_PER_PACKET / width)


def _queue(record: pl.DataFrame, end_s: float) -> tuple[Floats, Floats]:
    thin = (
        record.group_by((pl.col("time_s") * (BINS / end_s)).floor().alias("bin"), maintain_order=True)
        .agg(pl.first("time_s"), pl.max("queue_packets"))
        .sort("time_s")
    )
    return thin["time_s"].to_numpy(), thin["queue_packets"].cast(pl.Float64).to_numpy()


def timeline_chart(timeline: Timeline, *, width: int = WIDTH) -> alt.VConcatChart:
    """Windows, sending rates and the queue over time, one above the other.

    On a page, dragging moves all of them in time, and the wheel zooms while shift is pressed.
    """
    names = [f"sender {number + 1}" for number in range(len(timeline.windows))]
    colours = {name: SENDERS[number % len(SENDERS)] for number, name in enumerate(names)}
    legend = alt.Legend(orient="top", title=None, symbolType="stroke") if len(names) <= len(SENDERS) else None
    time = alt.X("time_s:Q", title=None, axis=alt.Axis(labels=False)).scale(domain=[0, timeline.end_s], nice=False)
    colour = colours_by("name", colours, legend=legend)
    windows = alt.Chart(_frame(names, timeline.windows)).mark_line(strokeWidth=1.4, clip=True)
    rates = alt.Chart(_frame(names, timeline.rates)).mark_line(strokeWidth=1.3, interpolate="step", clip=True)
    queue = alt.Chart(_frame(["queue"], [timeline.queue])).mark_area(color=MUTED, opacity=0.5, clip=True)
    panels = [
        windows.encode(time, alt.Y("value:Q", title="window (packets)"), colour),
        rates.encode(time, alt.Y("value:Q", title="sending (Mbit/s)"), colour),
        queue.encode(time.copy().title("time (s)").axis(labels=True), alt.Y("value:Q", title="queue (packets)")),
    ]
    # Named, as Altair would number them on from those of the last chart.
    moved = alt.selection_interval(name="time", bind="scales", encodings=["x"], zoom="wheel![event.shiftKey]")
    named = zip(("windows", "rates", "queue"), panels, strict=True)
    sized = (panel.properties(name=name, width=width, height=HEIGHT) for name, panel in named)
    with warnings.catch_warnings():
        # That one selection stands for all three views is what is meant.
        warnings.filterwarnings("ignore", "Automatically deduplicated selection parameter")
        return alt.vconcat(*sized, spacing=12).add_params(moved)


def _frame(names: list[str], lines: list[tuple[Floats, Floats]]) -> pl.DataFrame:
    """Lines with their names; null where there is a gap."""
    frames = [
        pl.DataFrame({"name": [name] * len(time_s), "time_s": time_s, "value": value})
        for name, (time_s, value) in zip(names, lines, strict=True)
    ]
    return pl.concat(frames).with_columns(pl.col("time_s", "value").round_sig_figs(5).fill_nan(None))
