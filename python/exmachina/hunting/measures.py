"""What a network can be bad in, for a scheme that all senders but a neighbour run."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import exp
from typing import Literal

import polars as pl

from exmachina.errors import OptionError
from exmachina.probing import measured
from exmachina.schemes import percent

__all__ = ["MEASURES", "OMNISCIENT", "Measure", "measure_named"]

OMNISCIENT = "omniscient"
"""The reference, which knows at every moment who else is on."""
LONG = 0.5
"""Whoever is on for less than this part of a run has no share that could be called starved."""
PACKET_MBPS_S = 0.01

Values = Callable[[pl.DataFrame, int, float], pl.DataFrame]


@dataclass(frozen=True)
class Measure:
    """One of them; larger is worse."""

    name: str
    title: str
    values: Values
    """Of the flows of an evaluation, the number of senders that run the scheme, and what delay counts: scheme, run,
    value. Runs in which there is nothing to measure have no row."""
    beside: Literal["rivals", "omniscient", "nobody"]
    """Who has to run on the same network before it can be told."""
    behind: bool
    """Whether it is how far the value is below the best of those beside."""
    words: Callable[[float, str], str]
    """How bad so much of it is, for whom."""
    patience: float = 1.0
    """How many times as long its runs are: what is unfair at the beginning need not stay so."""

    def harm(self, means: Mapping[str, float], scheme: str) -> float | None:
        """How bad a network is for a scheme, of the means over runs; none where there was nothing to measure."""
        own = means.get(scheme)
        others = [value for name, value in means.items() if name != scheme]
        if own is None or (self.behind and not others):
            return None
        return max(others) - own if self.behind else own


def _scores(flows: pl.DataFrame, senders: int, delta: float) -> pl.DataFrame:
    """ln(throughput) - delta ln(RTT), as passports have it."""
    return measured(flows, senders, delta).select("scheme", "run", value="score")


def _queue(flows: pl.DataFrame, senders: int, delta: float) -> pl.DataFrame:
    """ln(RTT over that of an empty network)."""
    return measured(flows, senders, delta).select("scheme", "run", value=pl.col("delay").log())


def _starvation(flows: pl.DataFrame, senders: int, _: float) -> pl.DataFrame:
    """ln(mean / least throughput) of the senders that are on for most of the time; nothing is one packet."""
    longest_s = pl.col("on_s").max().over("contender", "run")
    long = flows.filter((pl.col("sender") < senders) & (pl.col("on_s") >= LONG * longest_s) & (pl.col("on_s") > 0))
    share = pl.max_horizontal("throughput_mbps", PACKET_MBPS_S / pl.col("on_s"))
    runs = long.group_by("run", scheme="contender", maintain_order=True)
    return runs.agg(value=(share.mean() / share.min()).log()).select("scheme", "run", "value")


def _waste(flows: pl.DataFrame, senders: int, _: float) -> pl.DataFrame:
    """The share of packets that had been sent before."""
    runs = flows.filter(pl.col("sender") < senders).group_by("run", scheme="contender", maintain_order=True)
    sums = runs.agg(pl.col("retransmitted_packets").sum(), pl.col("sent_packets").sum())
    sent = sums.filter(pl.col("sent_packets") > 0)
    return sent.select("scheme", "run", value=pl.col("retransmitted_packets") / pl.col("sent_packets"))


def _idle(flows: pl.DataFrame, _: int, __: float) -> pl.DataFrame:
    """What all senders together deliver less than those of the reference, as a share."""
    runs = flows.group_by("run", scheme="contender", maintain_order=True)
    sums = runs.agg(pl.col("delivered_mbytes").sum()).sort("run", maintain_order=True)
    most = pl.col("delivered_mbytes").filter(pl.col("scheme") == OMNISCIENT).first().over("run")
    known = sums.with_columns(most=most).filter(pl.col("most") > 0)
    return known.select("scheme", "run", value=1 - pl.col("delivered_mbytes") / pl.col("most"))


ALL = (
    Measure(
        "regret",
        "score behind the best of the others",
        _scores,
        "rivals",
        True,
        lambda harm, who: f"the score of {who} is {harm:.2f} behind that of the best of the others",
    ),
    Measure(
        "starvation",
        "ln(mean / least throughput) of senders that are alike",
        _starvation,
        "nobody",
        False,
        lambda harm, who: f"the least of the senders with {who} has {percent(exp(-harm))} of their mean throughput",
        patience=2.5,
    ),
    Measure(
        "queue",
        "ln(RTT over that of an empty network)",
        _queue,
        "nobody",
        False,
        lambda harm, who: f"senders with {who} have {exp(harm):.3g} times the RTT of an empty network",
    ),
    Measure(
        "waste",
        "share of packets sent again",
        _waste,
        "nobody",
        False,
        lambda harm, who: f"senders with {who} send {percent(harm)} of their packets a second time",
    ),
    Measure(
        "idle",
        "share of the link left unused",
        _idle,
        "omniscient",
        False,
        lambda harm, who: f"with {who}, {percent(harm)} less is delivered than by omniscient senders",
    ),
)
MEASURES = {measure.name: measure for measure in ALL}
"""By name."""


def measure_named(name: str) -> Measure:
    """The measure of this name.

    Raises:
        OptionError: If there is none.
    """
    if name not in MEASURES:
        raise OptionError(f"measure: expected one of {', '.join(MEASURES)}, got {name}")
    return MEASURES[name]
