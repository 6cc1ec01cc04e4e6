"""One network: a link, and senders that are alike but for what is said otherwise, every quantity at one value."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isinf
from typing import Any

import tomli_w

from exmachina.evaluation import Evaluation
from exmachina.networks import Model, Ranges, Span, dumbbell
from exmachina.schemes import SchemeLike, digits

__all__ = ["Base"]

CYCLES, LEAST_S, LEAST_RTTS = 8.0, 20.0, 60.0
"""A run takes as many on- and off-times, seconds and RTTs as all of these ask,"""
MOST_PACKETS, LEAST_CYCLES = 500e3, 3.0
"""but on a link that would carry more packets than this: there it takes at least this many cycles, and those RTTs."""
PACKET_BITS = 10_000
DIGITS = 3
PLAIN_QUEUE = "droptail"
ACK_DELAY_MS = 40.0
"""That an ACK waits at most, as today's receivers have it."""
MEMORY_S = 1.0
"""Of a rate that wanders,"""
PEAK = 4.0
"""which is never more than so many times its mean."""
OUTAGE_S = 0.15
"""Mean length of an outage."""
LATE_RTTS = 0.25
"""So many RTTs a packet is late that comes out of order."""
STALLS_PER_S = 2.0
FAST = 10.0
"""A path that stalls has so many times the rate of the link."""


@dataclass(frozen=True, kw_only=True)
class Base:
    """One network.

    >>> exmachina.probing.Base(rate_mbps=10, senders=1, jitter_ms=5).words
    '10 Mbit/s, 100 ms, 1 sender, 2 BDP of buffer, 5 ms of jitter, an ACK for 2 packets, on 2 s, off 2 s'
    """

    rate_mbps: float = 20.0
    rtt_ms: float = 100.0
    """Without a queue."""
    senders: int = 2
    buffer_bdp: float = 2.0
    """Room at the link, in products of its rate and the RTT."""
    jitter_ms: float = 0.0
    loss: float = 0.0
    """A probability."""
    ack_packets: int = 2
    """That one ACK answers, at most."""
    on_s: float = 2.0
    """Mean of an exponential."""
    off_s: float = 2.0
    """The same; 0: senders are on for ever."""
    neighbour: str | None = None
    """A scheme that one more flow runs, for ever."""
    ack_delay_ms: float = ACK_DELAY_MS
    """That an ACK waits for more packets, at most."""
    clock_ms: float = 0.0
    """How coarse the senders' clocks are."""
    rtt_spread: float = 1.0
    """The second half of the senders are so many times as far."""
    stall_ms: float = 0.0
    """The paths of the second half stop delivering twice a second, for so long on the mean."""
    rate_wander: float = 0.0
    """Standard deviation of the logarithm of the link's rate, which changes within a second."""
    outages_per_s: float = 0.0
    """Of the link, of 150 ms on the mean."""
    reordered: float = 0.0
    """The probability that a packet is a quarter of an RTT late, and others pass it."""
    queue: str = PLAIN_QUEUE
    """The link's queue discipline; a contender with one of its own has that."""

    @classmethod
    def within(cls, ranges: Ranges) -> "Base":
        """The middle of ranges; what is not known, or has no end, is as in any other base.

        Receivers answer every second packet, as today's do, and have to be asked for anything else by their axis.
        """
        names = ("rate_mbps", "rtt_ms", "buffer_bdp", "jitter_ms", "loss", "on_s", "off_s")
        spans = {name: getattr(ranges, name) for name in names}
        values: dict[str, Any] = {name: _round(span) for name, span in spans.items() if _known(span)}
        if ranges.senders is not None:
            values["senders"] = max(1, round(ranges.senders.middle))
        if ranges.on_s is not None and isinf(ranges.on_s.low):
            values["off_s"] = 0.0
        elif "off_s" in values and ranges.on_s is None:
            values["on_s"] = values["off_s"]  # transfers of bytes, which take nobody knows how long
        return cls(**values)

    @property
    def duration_s(self) -> float:
        """Simulated seconds of a run."""
        cycle_s, rtts_s = self.on_s + self.off_s, LEAST_RTTS * self.rtt_ms / 1e3
        wanted_s = max(LEAST_S, rtts_s, CYCLES * cycle_s)
        affordable_s = MOST_PACKETS * PACKET_BITS / (self.rate_mbps * 1e6)
        return max(min(wanted_s, affordable_s), rtts_s, LEAST_CYCLES * cycle_s if self.off_s else 0.0)

    @property
    def words(self) -> str:
        """The network, on a line."""
        on = f"on {digits(self.on_s, 3)} s, off {digits(self.off_s, 3)} s" if self.off_s else "always on"
        acks = "an ACK for each packet" if self.ack_packets == 1 else f"an ACK for {self.ack_packets} packets"
        many = f"{self.senders} sender{'s' * (self.senders != 1)}"
        told: list[tuple[bool, str]] = [
            (True, f"{digits(self.rate_mbps, 3)} Mbit/s"),
            (True, f"{digits(self.rtt_ms, 3)} ms"),
            (True, many),
            (self.rtt_spread != 1, f"half of them {digits(self.rtt_spread, 3)} times as far"),
            (True, f"{digits(self.buffer_bdp, 3)} BDP of buffer"),
            (self.queue != PLAIN_QUEUE, f"queue {self.queue}"),
            (self.rate_wander > 0, f"a rate that wanders by {digits(self.rate_wander, 3)}"),
            (self.outages_per_s > 0, f"{digits(self.outages_per_s, 3)} outages a second"),
            (self.jitter_ms > 0, f"{digits(self.jitter_ms, 3)} ms of jitter"),
            (self.stall_ms > 0, f"stalls of {digits(self.stall_ms, 3)} ms on half of the paths"),
            (self.loss > 0, f"{digits(100 * self.loss, 3)} % of loss"),
            (self.reordered > 0, f"{digits(100 * self.reordered, 3)} % out of order"),
            (True, acks),
            (self.ack_delay_ms != ACK_DELAY_MS, f"which waits for {digits(self.ack_delay_ms, 3)} ms"),
            (self.clock_ms > 0, f"clocks of {digits(self.clock_ms, 3)} ms"),
            (True, on),
            (self.neighbour is not None, f"one {self.neighbour} beside"),
        ]
        return ", ".join(word for there, word in told if there)

    def scenario(self, runs: int, seed: int, duration_s: float | None = None) -> str:
        """The text of a scenario without contenders; senders with numbers from `senders` on are the neighbour."""
        return tomli_w.dumps(self.tables(runs, seed, self.duration_s if duration_s is None else duration_s))

    def refuse(self, schemes: Sequence[SchemeLike]) -> None:
        """Raises SchemeError if one of these cannot run: before anything is simulated or written."""
        Evaluation(self.scenario(1, 1)).changed(schemes)

    def tables(self, runs: int, seed: int, duration_s: float) -> dict[str, Any]:
        """What the scenario holds."""
        on: Any = {"on": {"seconds": self.on_s}, "off": {"seconds": self.off_s}} if self.off_s else {"on": "forever"}
        acks: dict[str, Any] = {"delayed_ack_ms": 0} if self.ack_packets == 1 else {"ack_packets": self.ack_packets}
        if self.ack_packets > 1 and self.ack_delay_ms != ACK_DELAY_MS:
            acks["delayed_ack_ms"] = self.ack_delay_ms
        path: dict[str, Any] = {"rtt_ms": self.rtt_ms, "jitter_ms": min(self.jitter_ms, self.rtt_ms)}
        if self.clock_ms:
            path["clock_ms"] = min(self.clock_ms, self.rtt_ms)
        if self.reordered:
            path["reordering"] = {"probability": self.reordered, "delay_ms": LATE_RTTS * self.rtt_ms}
        links = [self._link(), *([self._stalling()] if self.stall_ms else [])]
        return {
            "runs": runs,
            "duration_s": duration_s,
            "seed": seed,
            **({"links": links} if self.stall_ms else {"link": links[0]}),
            "path": path,
            "senders": self._groups(),
            "workload": on,
            "transport": {"preset": "today", **acks},
        }

    def _link(self) -> dict[str, Any]:
        """Where the queue is. Such a link has drop tail, unless a contender brings a queue of its own."""
        rate: dict[str, Any] = {"rate_mbps": self.rate_mbps}
        if self.rate_wander or self.outages_per_s:
            rate = {"cellular": _cellular(self.rate_mbps, self.rate_wander, self.outages_per_s, OUTAGE_S)}
        name = {"name": "link"} if self.stall_ms else {}
        queue = {} if self.queue == PLAIN_QUEUE else {"queue": self.queue}
        return {**name, **rate, "buffer": {"bdp": self.buffer_bdp}, "loss": self.loss, **queue}

    def _stalling(self) -> dict[str, Any]:
        """Fast, but for its stalls."""
        stalls = _cellular(FAST * self.rate_mbps, 0.0, STALLS_PER_S, self.stall_ms / 1e3)
        return {"name": "stalls", "cellular": stalls, "buffer": "infinite", "queue": PLAIN_QUEUE}

    def _groups(self) -> list[dict[str, Any]]:
        """Senders: the near ones, those that are farther or whose paths stall, and the neighbour."""
        near: dict[str, Any] = {"links": ["link"]} if self.stall_ms else {}
        far: dict[str, Any] = {"links": ["link", "stalls"]} if self.stall_ms else {}
        if self.rtt_spread != 1:
            far["rtt_ms"] = self.rtt_ms * self.rtt_spread
        distant = self.senders // 2 if far else 0
        groups = [{"count": self.senders - distant, **near}]
        groups += [{"count": distant, **far}] if distant else []
        if self.neighbour is not None:
            groups.append({"count": 1, "scheme": self.neighbour, "workload": {"on": "forever"}, **near})
        return groups

    def model(self) -> Model:
        """The same as a model, as far as those can say it."""
        off_s = self.off_s or 1e-3 * self.on_s
        return dumbbell(
            rate_mbps=self.rate_mbps,
            rtt_ms=self.rtt_ms,
            senders=self.senders,
            on_s=self.on_s,
            off_s=off_s,
            buffer_bdp=self.buffer_bdp,
        )


def _cellular(rate_mbps: float, spread: float, outages_per_s: float, outage_s: float) -> dict[str, float]:
    """A link of this mean rate, outages counted in."""
    return {
        "mean_mbps": rate_mbps,
        "max_mbps": PEAK * rate_mbps,
        "spread": spread,
        "memory_s": MEMORY_S,
        "outage_per_s": outages_per_s,
        "outage_mean_s": outage_s,
    }


def _known(span: Span | None) -> bool:
    return span is not None and not isinf(span.low)


def _round(span: Span) -> float:
    return float(f"{span.middle:.{DIGITS}g}")
