"""Pictures of one run packet by packet: sequence plots (Remy'13, figure 6), queues over time (Tao'14, figure 8)."""

from dataclasses import replace

import numpy as np
import polars as pl

from exmachina.evaluation import Trace
from exmachina.pictures.style import MUTED
from exmachina.reproduce.cast import colours_of, shown
from exmachina.reproduce.data import Floats
from exmachina.reproduce.experiment import Experiment, FigureSpec
from exmachina.reproduce.plot import Axis, Drawing, Line, Note, Panel
from exmachina.reproduce.running import Conditions, Ran, recorded

__all__ = ["queue", "sequence"]

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
ALONE_FROM_S = 1.0
"""The queue settles first."""


def traces_of(ran: Ran, conditions: Conditions) -> list[tuple[str, Trace]]:
    """One run of each contender of each case."""
    return [
        (case, recorded(evaluation, scheme, conditions))
        for case, evaluation in ran.evaluations.items()
        for scheme in ran.schemes[case]
    ]


def sequence(experiment: Experiment, figure: FigureSpec, ran: Ran, conditions: Conditions) -> tuple[Drawing, Numbers]:
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
        panels.append(replace(panel, title=share))
    drawing = Drawing(figure.name, figure.title or experiment.title, figure.caption, panels, panel_inches=(5.4, 3.4))
    return drawing, numbers


def _sequence_panel(  # noqa: PLR0917
    scheme: str, times: Floats, seq: Floats, left_s: float, rtt_s: float, rate_mbps: float, rtts: float
) -> Panel:
    """The paper's picture: dots, and the slopes of the rate that it has alone, and of half of it."""
    first, last = left_s - 12 * rtt_s, left_s + 8 * rtt_s
    inside = (times >= first) & (times <= last)
    times, seq = times[inside], seq[inside]
    seq = seq - seq[0]
    at_left = float(np.interp(left_s, times, seq))
    per_s = rate_mbps / PACKET_MBIT
    before = np.array([first, left_s])
    turn_s = left_s + rtts * rtt_s if np.isfinite(rtts) else left_s + rtt_s
    at_turn = float(np.interp(turn_s, times, seq))
    after = np.array([turn_s, last])
    lines = [
        Line("packets of the watched flow", colours_of([scheme])[scheme], times, seq, mode="dots", size=1.6),
        Line("half of its rate alone", MUTED, before, at_left + 0.5 * per_s * (before - left_s), dash=True, width=1.2),
        Line("its rate alone", "#1b2430", after, at_turn + per_s * (after - turn_s), dash=True, width=1.2),
    ]
    top = float(seq.max())
    if np.isinf(rtts):
        gap = "and it never sends\nas it does alone"
    else:
        gap = (
            f"{rtts:.1f} RTTs later it begins\nto send as it does alone"
            if rtts > 0
            else "and it sends already\nas it does alone"
        )
    notes = [
        Note(first + 0.3 * rtt_s, 0.6 * top, "one competing flow"),
        Note(left_s - 4.5 * rtt_s, 0.85 * top, "the competing flow stops", (left_s, at_left)),
        Note(left_s + 1.6 * rtt_s, 0.2 * top, gap, (turn_s, at_turn)),
    ]
    axis = Axis("time (s)", limits=(first, last))
    return Panel(
        shown(scheme),
        axis,
        Axis("sequence number (packets)", limits=(0, 1.05 * top)),
        lines,
        notes=notes,
        rules=[left_s],
    )


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


def queue(experiment: Experiment, figure: FigureSpec, ran: Ran, conditions: Conditions) -> tuple[Drawing, Numbers]:
    """The queue over time; TCP is on from 5 s to 10 s."""
    by_case: dict[str, list[Line]] = {}
    numbers: Numbers = {}
    traces = traces_of(ran, conditions)
    colours = colours_of(dict.fromkeys(found.scheme for _, found in traces))
    start_s, stop_s = (figure.ranges["tcp"][i] for i in (0, 1))
    for case, found in traces:
        time_s, packets = _queue(found.hops, found.duration_s)
        line = Line(shown(found.scheme), colours[found.scheme], time_s, packets, mode="steps", width=1.3, legend=False)
        by_case.setdefault(case, []).append(line)
        alone = (time_s > ALONE_FROM_S) & (time_s < start_s)
        beside = (time_s >= start_s) & (time_s < stop_s)
        numbers["queue_alone", found.scheme] = float(packets[alone].mean())
        numbers["queue_beside_tcp", found.scheme] = float(packets[beside].mean())
    drawn = [(experiment.cases[case].title, line) for case, lines in by_case.items() for line in lines]
    top = 1.05 * max((float(line.y.max()) for _, line in drawn), default=1.0)
    x, y = Axis("time (s)", limits=(0, figure.ranges["shown"][1])), Axis("queue (packets)", limits=(0, top))
    words = Note((start_s + stop_s) / 2, 0.96 * top, "TCP is on", align="center")
    panels = [
        Panel(
            line.name,
            x if line is drawn[-1][1] else Axis("", limits=x.limits),
            y,
            [line],
            notes=[words],
            rules=[start_s, stop_s],
        )
        for _, line in drawn
    ]
    drawing = Drawing(
        figure.name, figure.title or experiment.title, figure.caption, panels, columns=1, panel_inches=(8.5, 2.4)
    )
    return drawing, numbers


def _queue(hops: pl.DataFrame, end_s: float) -> tuple[Floats, Floats]:
    """Time (s) and the mean queue in packets of each bin."""
    time_s, backlog = hops["time_s"].to_numpy(), hops["backlog"].to_numpy().astype(np.float64)
    edges = np.arange(0, end_s + QUEUE_BIN_S, QUEUE_BIN_S)
    # The integral of a step function, at the edges of bins, by interpolation.
    area = np.concatenate([[0.0], np.cumsum(backlog[:-1] * np.diff(time_s))])
    at = np.interp(edges, time_s, area)
    return edges[:-1], np.diff(at) / QUEUE_BIN_S
