"""A recorded run as lines over time, few enough points to draw."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

__all__ = ["Timeline", "timeline_of"]

Floats = npt.NDArray[np.float64]

BINS = 900
"""Points of a line, at most about twice as many."""
RATE_BINS = 150
MBIT_PER_PACKET = 0.01


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
