"""The picture of a trace: sequence numbers, windows, round-trip times and queues, one above the other."""

import matplotlib as mpl
import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from exmachina.evaluation import Trace
from exmachina.pictures.figures import STYLE, new_figure
from exmachina.pictures.style import MUTED, SENDERS

__all__ = ["trace_figure"]

MOST_DOTS = 40_000
"""Of a panel; more do not show."""
POINTS = 2_000
"""Of a line."""
MOST_NAMED = 8
"""So many senders or links are named."""
RED = "#b42318"


def trace_figure(trace: Trace) -> Figure:
    """A trace as a picture."""
    with mpl.rc_context(STYLE):
        figure = new_figure(11, 11.5)
        panels = figure.subplots(4, 1, sharex=True, gridspec_kw={"height_ratios": [1.5, 1, 1, 1]})
        sequence, window, rtt, queue = panels
        _draw_sequence(sequence, trace.senders)
        _draw_windows(window, trace.senders)
        _draw_rtts(rtt, trace.senders)
        _draw_queues(queue, trace.hops)
        sequence.set_title(f"{trace.scheme}: {trace.description or trace.name}; run {trace.run}")
        queue.set_xlim(0, trace.duration_s)
        queue.set_xlabel("time (s)")
        return figure


def _of_senders(events: pl.DataFrame) -> list[tuple[int, str, pl.DataFrame]]:
    """For each sender its number, its colour, and its events."""
    parts = events.partition_by("sender", maintain_order=True, as_dict=True)
    numbers = sorted(key[0] for key in parts)
    return [(number, SENDERS[number % len(SENDERS)], parts[number,]) for number in numbers]


def _draw_sequence(axes: Axes, events: pl.DataFrame) -> None:
    """Packets as they are sent; those that were sent before are crosses."""
    sent = events.filter(pl.col("event") == "send")
    senders = _of_senders(sent)
    for number, colour, own in senders:
        first = _thinned(own.filter(~pl.col("retransmission")), MOST_DOTS // len(senders))
        axes.plot(
            first["time_s"], first["seq"], ".", color=colour, markersize=2, label=f"sender {number}", rasterized=True
        )
        again = own.filter(pl.col("retransmission"))
        axes.plot(again["time_s"], again["seq"], "x", color=colour, markersize=5, markeredgewidth=1, rasterized=True)
    axes.plot([], [], "x", color=MUTED, markersize=5, label="sent again")
    if len(senders) <= MOST_NAMED:
        axes.legend(loc="upper left", ncols=3, markerscale=1.5)
    axes.set_ylabel("packet")


def _draw_windows(axes: Axes, events: pl.DataFrame) -> None:
    """The window of each sender while it is on, and its slow-start threshold, dashed."""
    top = 1.0
    for _, colour, own in _of_senders(events):
        line = _thinned(own.filter(pl.col("event") != "send"), POINTS, keep=pl.col("event").is_in(["start", "stop"]))
        on = line["event"].to_numpy() != "stop"
        time_s, window = line["time_s"].to_numpy(), line["window"].cast(pl.Float64).to_numpy()
        axes.step(time_s, np.where(on, window, np.nan), where="post", color=colour, linewidth=1.3)
        ssthresh = line["ssthresh"].fill_null(float("nan")).to_numpy()
        axes.step(
            time_s,
            np.where(on & np.isfinite(ssthresh), ssthresh, np.nan),
            where="post",
            color=colour,
            linewidth=0.9,
            linestyle=(0, (3, 2)),
            alpha=0.8,
        )
        top = max(top, float(np.max(window[on], initial=0.0)))
    # A threshold may be far above all windows, and a rate-based scheme may have a window that means nothing.
    axes.set_ylim(0, 1.1 * top)
    if top > 1e5:  # noqa: PLR2004
        axes.set_yscale("log")
        axes.set_ylim(1, 2 * top)
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.set_ylabel("window, and ssthresh\ndashed (packets)")


def _draw_rtts(axes: Axes, events: pl.DataFrame) -> None:
    """The RTT that each packet met."""
    known = events.filter((pl.col("event") == "ack") & pl.col("rtt_ms").is_not_null())
    senders = _of_senders(known)
    for _, colour, own in senders:
        dots = _thinned(own, MOST_DOTS // len(senders))
        axes.plot(dots["time_s"], dots["rtt_ms"], ".", color=colour, markersize=1.5, rasterized=True)
    axes.set_ylabel("RTT (ms)")


def _draw_queues(axes: Axes, events: pl.DataFrame) -> None:
    """Packets at each link, the one on it included, and those dropped."""
    hops = sorted(events["hop"].unique())
    for hop in hops:
        own = events.filter(pl.col("hop") == hop)
        colour = MUTED if len(hops) == 1 else SENDERS[(hop + 2) % len(SENDERS)]
        end: float = own["time_s"][-1] or 1.0
        bins = (pl.col("time_s") * (POINTS / end)).floor().alias("bin")
        line = own.group_by(bins, maintain_order=True).agg(pl.first("time_s"), pl.max("backlog"))
        axes.fill_between(line["time_s"], line["backlog"], step="post", color=colour, alpha=0.35, linewidth=0)
        axes.step(line["time_s"], line["backlog"], where="post", color=colour, linewidth=0.9, label=f"link {hop}")
    dropped = events.filter(pl.col("event") == "drop")
    if len(dropped) > 0:
        axes.plot(dropped["time_s"], dropped["backlog"], "x", color=RED, markersize=5, label="dropped", rasterized=True)
    if len(dropped) > 0 or 1 < len(hops) <= MOST_NAMED:
        axes.legend(loc="upper right", ncols=4)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("queue (packets)")


def _thinned(frame: pl.DataFrame, most: int, keep: pl.Expr | None = None) -> pl.DataFrame:
    """Every so-many-th row, and those to keep in any case."""
    step = -(-len(frame) // max(1, most))
    chosen = pl.int_range(pl.len()) % max(1, step) == 0
    return frame.filter(chosen if keep is None else chosen | keep)
