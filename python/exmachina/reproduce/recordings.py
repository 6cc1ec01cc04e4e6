"""Pictures of runs packet by packet: sequence plots (Remy'13, figure 6), queues over time (Tao'14, figure 8).

The papers show one run. Here many are drawn over each other, in which a flow comes or goes at different moments: their
mean, and between which values most of them are.
"""

from collections.abc import Iterator
from typing import Literal

import altair as alt
import numpy as np
import polars as pl

from exmachina.evaluation import Trace
from exmachina.pictures.axes import Plane, Side
from exmachina.pictures.style import INK, MUTED
from exmachina.pictures.theme import DASHES, heading, layered
from exmachina.reproduce.cast import colours_of, shown
from exmachina.reproduce.data import Floats
from exmachina.reproduce.experiment import Experiment, FigureSpec
from exmachina.reproduce.panels import Curve, curve_layers, grid, uprights
from exmachina.reproduce.running import Conditions, Ran, recorded

__all__ = ["queue", "sequence"]

SEQUENCE, QUEUE = (330, 240), (640, 150)
"""Sizes of panels, pixels."""
Numbers = dict[tuple[str, str], float]

MOST = 5.0, 95.0
"""Between these percentiles is what is drawn of runs, besides their mean."""
PACKET_MBIT = 0.01
"""1250 bytes."""
FULL = 0.75
"""A sender at this share of the rate that it has alone, or more, has taken over: half of it would be its share."""
ALONE_RTTS = 10
"""So much at the end of the run says what rate it has alone."""
BEFORE, AFTER, STEPS = 12, 8, 10
"""RTTs that are shown around the moment at which the other flow leaves, and points of each."""
QUEUE_BIN_S = 0.02
ALONE_FROM_S = 1.0
"""The queue settles first."""


def _recorded(experiment: Experiment, ran: Ran, conditions: Conditions) -> Iterator[tuple[str, list[Trace]]]:
    """The runs of each contender of each case, and what it is called."""
    for case in ran.evaluations:
        for scheme in ran.schemes[case]:
            found = recorded(experiment, case, scheme, ran, conditions.scale)
            yield found[0].scheme, found


def sequence(
    experiment: Experiment, figure: FigureSpec, ran: Ran, conditions: Conditions
) -> tuple[alt.ConcatChart | None, Numbers]:
    """The packets of a flow that begins beside another one, which leaves midway: their slope is the sending rate.

    All panels have the same axes, on which half of the rate is half of the slope: time in RTTs, and packets in those
    that the flow sends in an RTT when it is alone.
    """
    scenario = experiment.scenario_of(next(iter(experiment.cases)), conditions.scale)
    link_mbps, rtt_s = scenario["link"]["rate_mbps"], scenario["path"]["rtt_ms"] / 1e3
    at = np.linspace(-BEFORE, AFTER, (BEFORE + AFTER) * STEPS + 1)
    plane = Plane(Side(-BEFORE, AFTER, SEQUENCE[0]), Side(0.0, AFTER + BEFORE, SEQUENCE[1]))
    panels, numbers, count = [], {}, 0
    for label, traces in _recorded(experiment, ran, conditions):
        runs = [_Watched.of(found, _mover(experiment), rtt_s) for found in traces]
        rtts = np.array([run.rtts_until_full for run in runs])
        alone, count = float(np.mean([run.alone_mbps for run in runs])), len(runs)
        numbers["rtts_until_full", label] = float(np.median(rtts))
        numbers["share_before", label] = float(np.mean([run.share_before for run in runs]))
        sent = np.stack([run.sent(at) for run in runs])
        start = float(sent[:, 0].mean())
        mean, (low, high) = sent.mean(axis=0) - start, np.percentile(sent - start, MOST, axis=0)
        curve = Curve(shown(label), colours_of([label])[label], at, mean, low, high)
        title = heading(
            f"{shown(label)}: alone, {100 * alone / link_mbps:.0f} % of the link", SEQUENCE[0], _turn(rtts), size=12
        )
        panels.append(layered(_sequence_layers(plane, curve), SEQUENCE).properties(title=title))
    words = (
        f"{count} runs, in each of which the other flow stops at another moment: their mean, and where nine of ten "
        "are. Dashed: half of the rate that the flow has alone, and all of it."
    )
    return _apart(grid(experiment, figure, panels, words=words)), numbers


class _Watched:
    """What one run has to say of the flow that stays."""

    def __init__(self, sent_s: Floats, left_s: float, rtt_s: float) -> None:
        self.sent_s, self.left_s, self.rtt_s = sent_s, left_s, rtt_s
        end_s = float(sent_s.max())
        self.alone_mbps = _rate(sent_s, end_s - ALONE_RTTS * rtt_s, end_s)
        self.share_before = _rate(sent_s, left_s - 10 * rtt_s, left_s) / self.alone_mbps
        self.rtts_until_full = _rtts_until(FULL * self.alone_mbps, sent_s, left_s, rtt_s)

    @classmethod
    def of(cls, found: Trace, mover: int, rtt_s: float) -> "_Watched":
        """Of a run in which the flow of `mover` sends its last packet when it leaves."""
        others = found.senders.filter((pl.col("event") == "send") & (pl.col("sender") != mover))
        return cls(others["time_s"].to_numpy(), float(_sent_s(found, mover).max()), rtt_s)

    def sent(self, at: Floats) -> Floats:
        """Packets sent since the other flow left, in RTTs of what the flow sends alone, so many RTTs after that."""
        until = np.searchsorted(self.sent_s, self.left_s + at * self.rtt_s).astype(np.float64)
        packets = until - np.searchsorted(self.sent_s, self.left_s)
        return np.asarray(packets * PACKET_MBIT / (self.alone_mbps * self.rtt_s))


def _sequence_layers(plane: Plane, curve: Curve) -> list[alt.Chart]:
    """The paper's picture: the sequence, and the slopes of half of the rate and of all of it."""
    titles = "RTTs since the other flow stopped", "sequence number (RTTs' worth)"
    place = plane.channels(*titles)
    at_left = float(np.interp(0.0, curve.x, curve.y))
    slopes = []
    for share, end, colour in ((0.5, -BEFORE, MUTED), (1.0, AFTER, INK)):
        line = pl.DataFrame({"x": [0.0, end], "y": [at_left, at_left + share * end]})
        mark = alt.Chart(line).mark_line(color=colour, strokeDash=DASHES, strokeWidth=1.3, clip=True)
        slopes.append(mark.encode(*place))
    return [
        uprights(plane, [0.0]),
        *curve_layers(plane, [curve], titles, names={curve.name: curve.colour}, area=0.3, marks=False, legend=False),
        *slopes,
        _note("beside another flow", plane, (-0.3, 0.94), "right", place),
        _note("alone", plane, (0.3, 0.06), "left", place),
    ]


def _turn(rtts: Floats) -> str:
    """When the flow begins to send as it does alone, over runs."""
    low, middle, high = np.percentile(rtts, [MOST[0], 50, MOST[1]], method="nearest")
    if np.isinf(middle):
        return f"It never sends as it does alone in {np.isinf(rtts).sum()} of {len(rtts)} runs"
    if high == 0:
        return "It sends as it does alone already before"
    most = "the end" if np.isinf(high) else f"{high:.1f}"
    return f"It sends as it does alone {middle:.1f} RTTs later (nine of ten: {low:.1f} to {most})"


def _note(
    words: str, plane: Plane, at: tuple[float, float], align: Literal["left", "right"], place: tuple[alt.X, alt.Y]
) -> alt.Chart:
    """Words beside a place: x, and a share of the height."""
    text = alt.Chart(pl.DataFrame({"x": [at[0]], "y": [plane.y.end * at[1]], "words": [words]}))
    mark = text.mark_text(align=align, dx=3 if align == "left" else -3, color=MUTED, fontSize=11)
    noted: alt.Chart = mark.encode(*place, text="words:N")
    return noted


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
    start_s, stop_s = figure.ranges["tcp"]
    first_s, last_s = figure.ranges["shown"]
    edges = np.arange(first_s, last_s, QUEUE_BIN_S)
    found: dict[str, Floats] = {}
    for label, traces in _recorded(experiment, ran, conditions):
        late_s = [float(_sent_s(trace, _mover(experiment)).min()) - start_s for trace in traces]
        found[label] = np.stack([_queue(trace.hops, edges + late) for trace, late in zip(traces, late_s, strict=True)])
    time_s, colours = edges[:-1], colours_of(found)
    alone = (time_s > ALONE_FROM_S) & (time_s < start_s)
    beside = (time_s >= start_s) & (time_s < stop_s)
    numbers: Numbers = {}
    for label, packets in found.items():
        numbers["queue_alone", label] = float(packets[:, alone].mean())
        numbers["queue_beside_tcp", label] = float(packets[:, beside].mean())
    curves = []
    for label, packets in found.items():
        low, high = np.percentile(packets, MOST, axis=0)
        curves.append(Curve(shown(label), colours[label], time_s, packets.mean(axis=0), low, high))
    top = 1.05 * max((float(curve.high.max()) for curve in curves if curve.high is not None), default=1.0)
    plane = Plane(Side(float(edges[0]), float(edges[-1]), QUEUE[0]), Side(0.0, top, QUEUE[1]))
    panels: list[alt.LayerChart] = []
    for curve in curves:
        titles = "time (s)" if len(panels) + 1 == len(curves) else "", "queue (packets)"
        drawn = curve_layers(
            plane, [curve], titles, names={curve.name: curve.colour}, area=0.3, marks=False, legend=False
        )
        note = _note("TCP is on", plane, (stop_s, 0.93), "right", plane.channels(*titles))
        panels.append(layered([uprights(plane, [start_s, stop_s]), *drawn, note], QUEUE, curve.name))
    count = max(map(len, found.values()), default=0)
    words = f"{count} runs, in each of which TCP comes at another moment: their mean, and where nine of ten are."
    return _apart(grid(experiment, figure, panels, columns=1, words=words)), numbers


def _apart(chart: alt.ConcatChart | None) -> alt.ConcatChart | None:
    """Panels of which each has its own colour."""
    return chart and chart.resolve_scale(color="independent", strokeDash="independent")


def _mover(experiment: Experiment) -> int:
    """The sender whose flow comes or goes."""
    assert experiment.moments is not None, "an experiment of recorded runs says what moves"
    return experiment.moments.sender


def _sent_s(found: Trace, sender: int) -> Floats:
    """When a sender sent its packets."""
    sent = found.senders.filter((pl.col("event") == "send") & (pl.col("sender") == sender))
    return sent["time_s"].to_numpy()


def _queue(hops: pl.DataFrame, edges: Floats) -> Floats:
    """The mean queue between each two times (s), in packets."""
    time_s, backlog = hops["time_s"].to_numpy(), hops["backlog"].to_numpy().astype(np.float64)
    # The integral of a step function, at the edges of bins, by interpolation.
    area = np.concatenate([[0.0], np.cumsum(backlog[:-1] * np.diff(time_s))])
    return np.asarray(np.diff(np.interp(edges, time_s, area)) / QUEUE_BIN_S)
