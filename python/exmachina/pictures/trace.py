"""The chart of a trace: sequence numbers, windows, round-trip times and queues, one above the other."""

import altair as alt
import polars as pl

from exmachina.evaluation import Trace
from exmachina.pictures.style import CROSS, MUTED, SENDERS
from exmachina.pictures.theme import DASHES, colours_by, heading, layered

__all__ = ["trace_chart"]

MOST_DOTS = 12_000
"""Of a panel; more do not show."""
POINTS = 2_000
"""Of a line."""
MOST_NAMED = 8
"""So many senders or links are named."""
WIDTH, TALL, LOW = 900, 240, 150
"""Of panels, pixels; the first is tall."""
RED = "#b42318"
HUGE_PACKETS = 1e5
"""A larger window is on a logarithmic axis: it is a rate-based scheme's, and means nothing."""


def trace_chart(trace: Trace) -> alt.VConcatChart:
    """A trace as a chart."""
    senders = sorted(trace.senders["sender"].unique().to_list())
    colours = {f"sender {number}": SENDERS[number % len(SENDERS)] for number in senders}
    legend = alt.Legend(orient="top", title=None) if 1 <= len(colours) <= MOST_NAMED else None
    named, colour = colours_by("name", colours, legend=legend), colours_by("name", colours)
    events = trace.senders.with_columns(name=pl.format("sender {}", "sender"))
    time = alt.X("time_s:Q", title=None, axis=alt.Axis(labels=False)).scale(domain=[0, trace.duration_s], nice=False)
    panels = [
        layered(_sequence(events, time, named), (WIDTH, TALL)),
        layered(_windows(events, time, colour), (WIDTH, LOW)),
        layered(_rtts(events, time, colour), (WIDTH, LOW)),
        layered(_queues(trace.hops, time.copy().title("time (s)").axis(labels=True)), (WIDTH, LOW)),
    ]
    title = f"{trace.scheme}: {trace.description or trace.name}; run {trace.run}"
    chart: alt.VConcatChart = alt.vconcat(*panels, spacing=14).resolve_scale(color="independent")
    return chart.properties(title=heading(title, WIDTH))


def _sequence(events: pl.DataFrame, time: alt.X, colour: alt.Color) -> list[alt.Chart]:
    """Packets as they are sent; those that were sent before are crosses."""
    sent = events.filter(pl.col("event") == "send").select("time_s", "seq", "name", "retransmission")
    again = alt.Chart(sent.filter("retransmission")).mark_point(shape=CROSS, size=40, strokeWidth=1.2)
    y = alt.Y("seq:Q", title="packet; crosses: sent again")
    first = alt.Chart(_thinned(sent.filter(~pl.col("retransmission")), MOST_DOTS)).mark_circle(size=4, opacity=1)
    return [layer.encode(time, y, colour) for layer in (first, again)]


def _windows(events: pl.DataFrame, time: alt.X, colour: alt.Color) -> list[alt.Chart]:
    """The window of each sender while it is on, and its slow-start threshold, dashed."""
    known = events.filter(pl.col("event") != "send")
    ends = pl.col("event").is_in(["start", "stop"])
    parts = [_thinned(own, POINTS, keep=ends) for own in known.partition_by("name", maintain_order=True)]
    lines = pl.concat([known.clear(), *parts])
    on, threshold = pl.col("event") != "stop", pl.col("ssthresh")
    lines = lines.select(
        "time_s",
        "name",
        window=pl.when(on).then(pl.col("window").cast(pl.Float64)),
        ssthresh=pl.when(on & threshold.is_finite()).then(threshold),
    )
    top = float(lines["window"].fill_null(0.0).to_numpy().max(initial=1.0))
    # A threshold may be far above all windows.
    scale = alt.Scale(domain=[0, 1.1 * top]) if top <= HUGE_PACKETS else alt.Scale(type="log", domain=[1, 2 * top])
    base = alt.Chart(lines)
    thin = base.mark_line(interpolate="step-after", strokeWidth=0.9, strokeDash=DASHES, opacity=0.8, clip=True)
    title = ["window, and ssthresh", "dashed (packets)"]
    return [
        base.mark_line(interpolate="step-after", strokeWidth=1.4, clip=True).encode(
            time, alt.Y("window:Q", title=title, scale=scale), colour
        ),
        thin.encode(time, alt.Y("ssthresh:Q", title=title, scale=scale), colour),
    ]


def _rtts(events: pl.DataFrame, time: alt.X, colour: alt.Color) -> list[alt.Chart]:
    """The RTT that each packet met."""
    known = events.filter((pl.col("event") == "ack") & pl.col("rtt_ms").is_not_null())
    dots = _thinned(known.select("time_s", "rtt_ms", "name"), MOST_DOTS)
    rtt = alt.Y("rtt_ms:Q", title="RTT (ms)").scale(zero=False)
    return [alt.Chart(dots).mark_circle(size=4, opacity=1).encode(time, rtt, colour)]


def _queues(hops: pl.DataFrame, time: alt.X) -> list[alt.Chart]:
    """Packets at each link, the one on it included, and those dropped."""
    numbers = sorted(hops["hop"].unique().to_list())
    bins = (pl.col("time_s") * (POINTS / (hops["time_s"].to_numpy().max(initial=0.0) or 1.0))).floor().alias("bin")
    lines = hops.group_by("hop", bins, maintain_order=True).agg(pl.first("time_s"), pl.max("backlog"))
    lines = lines.with_columns(name=pl.format("link {}", "hop"))
    one = len(numbers) == 1
    colours = {f"link {n}": MUTED if one else SENDERS[(n + 2) % len(SENDERS)] for n in numbers} | {"dropped": RED}
    dropped = hops.filter(pl.col("event") == "drop").select("time_s", "backlog", name=pl.lit("dropped"))
    named = len(numbers) <= MOST_NAMED and (not one or not dropped.is_empty())
    colour = colours_by("name", colours, legend=alt.Legend(orient="top", title=None) if named else None)
    y = alt.Y("backlog:Q", title="queue (packets)", stack=None)
    areas = alt.Chart(lines.select("time_s", "backlog", "name"))
    crosses = alt.Chart(dropped).mark_point(shape=CROSS, size=40, strokeWidth=1.2)
    return [
        areas.mark_area(interpolate="step-after", opacity=0.35, line={"strokeWidth": 1}).encode(time, y, colour),
        crosses.encode(time, y, colour),
    ]


def _thinned(frame: pl.DataFrame, most: int, keep: pl.Expr | None = None) -> pl.DataFrame:
    """Every so-many-th row, and those to keep in any case."""
    step = max(1, -(-len(frame) // most))
    chosen = pl.int_range(pl.len()) % step == 0
    return frame.filter(chosen if keep is None else chosen | keep)
