"""The network that a probe starts from: one link and senders that are alike, every quantity at one value."""

from dataclasses import dataclass
from math import isinf
from typing import Any

import tomli_w

from exmachina.networks import Model, Ranges, Span, dumbbell
from exmachina.schemes import digits

__all__ = ["Base"]

CYCLES, LEAST_S, LEAST_RTTS = 8.0, 20.0, 60.0
"""A run takes as many on- and off-times, seconds and RTTs as all of these ask,"""
MOST_PACKETS, LEAST_CYCLES = 500e3, 3.0
"""but on a link that would carry more packets than this: there it takes at least this many cycles, and those RTTs."""
PACKET_BITS = 10_000
DIGITS = 3


@dataclass(frozen=True, kw_only=True)
class Base:
    """One network."""

    rate_mbps: float = 20.0
    rtt_ms: float = 100.0
    """Without a queue."""
    senders: int = 2
    buffer_bdp: float = 2.0
    """Drop tail."""
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
        many = f"{self.senders} sender{'s' * (self.senders != 1)}"
        on = f"on {digits(self.on_s, 3)} s, off {digits(self.off_s, 3)} s" if self.off_s else "always on"
        words = [f"{digits(self.rate_mbps, 3)} Mbit/s", f"{digits(self.rtt_ms, 3)} ms", many]
        words += [f"{digits(self.buffer_bdp, 3)} BDP of buffer"]
        words += [f"{digits(self.jitter_ms, 3)} ms of jitter"] if self.jitter_ms else []
        words += [f"{digits(100 * self.loss, 3)} % of loss"] if self.loss else []
        acks = "an ACK for each packet" if self.ack_packets == 1 else f"an ACK for {self.ack_packets} packets"
        words += [acks, on] + ([f"one {self.neighbour} beside"] if self.neighbour else [])
        return ", ".join(words)

    def scenario(self, runs: int, seed: int) -> str:
        """The text of a scenario without contenders; senders with numbers from `senders` on are the neighbour."""
        on: Any = {"on": {"seconds": self.on_s}, "off": {"seconds": self.off_s}} if self.off_s else {"on": "forever"}
        groups: list[dict[str, Any]] = [{"count": self.senders}]
        if self.neighbour is not None:
            groups.append({"count": 1, "scheme": self.neighbour, "workload": {"on": "forever"}})
        link = {"rate_mbps": self.rate_mbps, "buffer": {"bdp": self.buffer_bdp}, "loss": self.loss}
        acks = {"delayed_ack_ms": 0} if self.ack_packets == 1 else {"ack_packets": self.ack_packets}
        return tomli_w.dumps(
            {
                "runs": runs,
                "duration_s": self.duration_s,
                "seed": seed,
                # Such a link has drop tail, unless a contender brings a queue of its own.
                "link": link,
                "path": {"rtt_ms": self.rtt_ms, "jitter_ms": min(self.jitter_ms, self.rtt_ms)},
                "senders": groups,
                "workload": on,
                "transport": {"preset": "today", **acks},
            }
        )

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


def _known(span: Span | None) -> bool:
    return span is not None and not isinf(span.low)


def _round(span: Span) -> float:
    return float(f"{span.middle:.{DIGITS}g}")
