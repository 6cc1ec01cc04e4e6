"""Pictures of one run packet by packet: sequence plots (Remy'13, figure 6), queues over time (Tao'14, figure 8)."""

import altair as alt
import numpy as np
import polars as pl

from exmachina.evaluation import Trace
from exmachina.pictures.axes import Plane, Side
from exmachina.pictures.style import INK, MUTED
from exmachina.pictures.theme import DASHES, layered
from exmachina.reproduce.cast import colours_of, shown
from exmachina.reproduce.data import Floats
from exmachina.reproduce.experiment import Experiment, FigureSpec
from exmachina.reproduce.panels import grid, uprights
from exmachina.reproduce.running import Conditions, Ran, recorded

__all__ = ["queue", "sequence"]

SEQUENCE, QUEUE = (400, 240), (640, 150)
"""Sizes of panels, pixels."""
SLOPES = "Dashed: half of the rate that the flow has alone, and that rate."
Numbers = dict[tuple[str, str], float]

WATCHED = 1
"""The sender that is drawn; the other one is what leaves."""
PACKET_MBIT = 0.01
"""1250 bytes."""
FULL = 0.75
"""A sender at this share of the rate that it has alone, or more, has taken over: half of it would be its share."""
ALONE_RTTS = 10
"""So much at the end of the run says what rate it has alone."""
QUEUE_BIN_S = 0.02
WORDS_S = 1.2
"""Room for words before TCP stops."""
ALONE_FROM_S = 1.0
"""The queue settles first."""


def traces_of(ran: Ran, conditions: Conditions) -> list[tuple[str, Trace]]:
    """One run of each contender of each case."""
    return [
        (case, recorded(evaluation, scheme, conditions))
        for case, evaluation in ran.evaluations.items()
        for scheme in ran.schemes[case]
    ]


def sequence(
    experiment: Experiment, figure: FigureSpec, ran: Ran, conditions: Conditions
) -> tuple[alt.ConcatChart | None, Numbers]:
    """The packets of a flow that begins beside another one, which leaves midway: their slope is the sending rate."""
    scenario = experiment.scenario_of(next(iter(experiment.cases)), conditions.scale)
    link_mbps, rtt_s = scenario["link"]["rate_mbps"], scenario["path"]["rtt_ms"] / 1e3
    panels, numbers = [], {}
    for _, found in traces_of(ran, conditions):
        sent = found.senders.filter((pl.col("event") == "send") & (pl.col("sender") == WATCHED))
        other = found.senders.filter((pl.col("event") == "send") & (pl.col("sender") != WATCHED))
        left_s = float(other["time_s"].to_numpy().max())
        times, seq = sent["time_s"].to_numpy(), sent["seq"].to_numpy().astype(np.float64)
        end_s = float(times.max())
        alone = _rate(times, end_s - ALONE_RTTS * rtt_s, end_s)
        rtts = _rtts_until(FULL * alone, times, left_s, rtt_s)
        numbers["rtts_until_full", found.scheme] = rtts
        numbers["share_before", found.scheme] = _rate(times, left_s - 10 * rtt_s, left_s) / alone
        panel = _sequence_panel(found.scheme, times, seq, left_s, rtt_s, alone, rtts)
        share = f"{shown(found.scheme)}, which alone takes {100 * alone / link_mbps:.0f} % of the link"
        panels.append(layered(panel, SEQUENCE, share))
    return grid(experiment, figure, panels, words=SLOPES), numbers


def _sequence_panel(  # noqa: PLR0917
    scheme: str, times: Floats, seq: Floats, left_s: float, rtt_s: float, rate_mbps: float, rtts: float
) -> list[alt.Chart]:
    """The paper's picture: dots, and the slopes of the rate that it has alone, and of half of it."""
    first, last = left_s - 12 * rtt_s, left_s + 8 * rtt_s
    inside = (times >= first) & (times <= last)
    times, seq = times[inside], seq[inside]
    seq = seq - seq[0]
    at_left = float(np.interp(left_s, times, seq))
    per_s = rate_mbps / PACKET_MBIT
    turn_s = left_s + rtts * rtt_s if np.isfinite(rtts) else left_s + rtt_s
    at_turn = float(np.interp(turn_s, times, seq))
    top = float(seq.max())
    plane = Plane(Side(first, last, SEQUENCE[0]), Side(0.0, 1.05 * top, SEQUENCE[1]))
    place = plane.channels("time (s)", "sequence number (packets)")

    def slope(start_s: float, end_s: float, through: tuple[float, float], per_s: float, colour: str) -> alt.Chart:
        ends = np.array([start_s, end_s])
        line = pl.DataFrame({"x": ends, "y": through[1] + per_s * (ends - through[0])})
        mark = alt.Chart(line).mark_line(color=colour, strokeDash=DASHES, strokeWidth=1.3, clip=True)
        drawn: alt.Chart = mark.encode(*place)
        return drawn

    dots = alt.Chart(pl.DataFrame({"x": times, "y": seq})).mark_circle(size=5, opacity=1, clip=True)
    return [
        uprights(plane, [left_s]),
        dots.encode(*place, color=alt.value(colours_of([scheme])[scheme])),
        slope(first, left_s, (left_s, at_left), 0.5 * per_s, MUTED),
        slope(turn_s, last, (turn_s, at_turn), per_s, INK),
        *note("one competing flow", (first + 0.3 * rtt_s, 0.6 * top), place),
        *note("the competing flow stops", (left_s - 6.5 * rtt_s, 0.85 * top), place, (left_s, at_left)),
        *note(_turn_words(rtts), (left_s + 1.6 * rtt_s, 0.2 * top), place, (turn_s, at_turn)),
    ]


def _turn_words(rtts: float) -> str:
    if np.isinf(rtts):
        return "and it never sends\nas it does alone"
    if rtts > 0:
        return f"{rtts:.1f} RTTs later it begins\nto send as it does alone"
    return "and it sends already\nas it does alone"


def note(
    words: str, at: tuple[float, float], place: tuple[alt.X, alt.Y], to: tuple[float, float] | None = None
) -> list[alt.Chart]:
    """Words that begin at a place, with a line from there to another."""
    x2, y2 = at if to is None else to
    base = alt.Chart(pl.DataFrame({"x": [at[0]], "y": [at[1]], "x2": [x2], "y2": [y2], "words": [words]}))
    text = base.mark_text(align="left", dx=3, color=MUTED, fontSize=10, lineBreak="\n", baseline="bottom")
    line = base.mark_rule(color=MUTED, strokeWidth=0.9, clip=True).encode(*place, x2="x2", y2="y2")
    return [text.encode(*place, text="words:N")] if to is None else [line, text.encode(*place, text="words:N")]


def _rate(times: Floats, start_s: float, end_s: float) -> float:
    """Sent between two times, Mbit/s."""
    return float(((times >= start_s) & (times < end_s)).sum()) * PACKET_MBIT / (end_s - start_s)


def _rtts_until(rate_mbps: float, times: Floats, left_s: float, rtt_s: float) -> float:
    """RTTs from when the others sent their last packet to the beginning of the first RTT with this rate.

    Infinite if that does not come.
    """
    for start_s in np.arange(left_s, float(times.max()) - rtt_s, rtt_s / 50):
        if _rate(times, start_s, start_s + rtt_s) >= rate_mbps:
            return float((start_s - left_s) / rtt_s)
    return float("inf")


def queue(
    experiment: Experiment, figure: FigureSpec, ran: Ran, conditions: Conditions
) -> tuple[alt.ConcatChart | None, Numbers]:
    """The queue over time; TCP is on from 5 s to 10 s."""
    drawn: list[tuple[str, str, Floats, Floats]] = []
    numbers: Numbers = {}
    traces = traces_of(ran, conditions)
    colours = colours_of(dict.fromkeys(found.scheme for _, found in traces))
    start_s, stop_s = (figure.ranges["tcp"][i] for i in (0, 1))
    for _, found in traces:
        time_s, packets = _queue(found.hops, found.duration_s)
        drawn.append((shown(found.scheme), colours[found.scheme], time_s, packets))
        alone = (time_s > ALONE_FROM_S) & (time_s < start_s)
        beside = (time_s >= start_s) & (time_s < stop_s)
        numbers["queue_alone", found.scheme] = float(packets[alone].mean())
        numbers["queue_beside_tcp", found.scheme] = float(packets[beside].mean())
    top = 1.05 * max((float(packets.max()) for *_, packets in drawn), default=1.0)
    plane = Plane(Side(0.0, float(figure.ranges["shown"][1]), QUEUE[0]), Side(0.0, top, QUEUE[1]))
    panels: list[alt.LayerChart] = []
    for name, colour, time_s, packets in drawn:
        place = plane.channels("time (s)" if len(panels) + 1 == len(drawn) else "", "queue (packets)")
        line = alt.Chart(pl.DataFrame({"x": time_s, "y": packets})).mark_line(interpolate="step-after", clip=True)
        panel = [
            uprights(plane, [start_s, stop_s]),
            line.encode(*place, color=alt.value(colour), strokeWidth=alt.value(1.3)),
            *note("TCP is on", (stop_s - WORDS_S, 0.9 * top), place),
        ]
        panels.append(layered(panel, QUEUE, name))
    return grid(experiment, figure, panels, columns=1), numbers


def _queue(hops: pl.DataFrame, end_s: float) -> tuple[Floats, Floats]:
    """Time (s) and the mean queue in packets of each bin."""
    time_s, backlog = hops["time_s"].to_numpy(), hops["backlog"].to_numpy().astype(np.float64)
    edges = np.arange(0, end_s + QUEUE_BIN_S, QUEUE_BIN_S)
    # The integral of a step function, at the edges of bins, by interpolation.
    area = np.concatenate([[0.0], np.cumsum(backlog[:-1] * np.diff(time_s))])
    at = np.interp(edges, time_s, area)
    return edges[:-1], np.diff(at) / QUEUE_BIN_S
