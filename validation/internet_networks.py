"""The networks of `internet.py`: drawn like access links, Wi-Fi, cellular links, satellites and datacenters.

A network depends on its suite's seed, its kind and its number alone: not on how many there are, nor on the version of
any library. What is drawn is within what was asked for: 5 to 1000 Mbit/s, 0.2 to 700 ms, a microsecond to 10 ms of
jitter, up to 1 % of loss, room for 0.5 to 5 BDP, 1 to 32 senders. No recording of a real link is used.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TypeVar

from exmachina import Evaluation

T = TypeVar("T")

SUITES = {"choosing": 20_140_817, "held-out": 577_215_664, "third": 1_618_033_988, "tuning": 1_414_213_562}
"""Root seeds. At the first whoever designs may look; by the last laws are tuned (`tuned.py`). What the second and third
give chooses nothing: no table, no setting of a search, no number in this file. The second was looked at again after
each new table; of the third no network was run before 2026-11-25."""
BESIDE = "beside"
"""Not a kind of the suites: one flow of an algorithm and one of another, on a link of their own."""

SENDERS = {1: 0.30, 2: 0.25, 3: 0.12, 4: 0.12, 6: 0.08, 8: 0.06, 16: 0.04, 32: 0.03}
WORKLOADS = {"seconds": 0.5, "bytes": 0.2, "web": 0.1, "forever": 0.2}
LEAST_S, LEAST_RTTS = 30.0, 100.0
"""A run lasts as long as both ask,"""
MOST_PACKETS = 2.5e6
"""but for links that would carry more than this in the former."""
DATACENTER_S = 5.0
BESIDE_S = 60.0
PACKET_BITS = 8 * 1250
OPPORTUNITY_BITS = 8 * 1500
RECORDING_MS = 5000
LEAST_TRANSFER_BYTES = 50_000.0


class Draws:
    """Random numbers by name. Only `random.Random.random` is used, whose sequence Python guarantees for a seed."""

    def __init__(self, *name: object) -> None:
        """The name of the stream."""
        data = " ".join(map(str, ("exmachina internet", *name))).encode()
        self._random = random.Random(int.from_bytes(sha256(data).digest()))

    def uniform(self, low: float, high: float) -> float:
        """Evenly between these."""
        return low + (high - low) * self._random.random()

    def log_uniform(self, low: float, high: float) -> float:
        """Evenly in the logarithm: as often in each decade."""
        drawn: float = low * (high / low) ** self._random.random()
        return min(high, max(low, drawn))

    def one_of(self, shares: Mapping[T, float]) -> T:
        """One of these, each as often as its share says."""
        left = self._random.random() * sum(shares.values())
        for one, share in shares.items():
            left -= share
            if left < 0:
                return one
        return next(reversed(list(shares)))

    def chance(self, probability: float) -> bool:
        """Whether it happens."""
        return self._random.random() < probability

    def seed(self) -> int:
        """A seed for the simulator."""
        return int(self._random.random() * 2**53)


@dataclass(frozen=True, kw_only=True)
class Link:
    """What differs between kinds."""

    rate_mbps: float
    """On the mean."""
    rtt_ms: float
    jitter_ms: float
    loss: float
    words: str
    """What there is to say of how it carries packets."""
    lines: str
    """Of `[link]`, by which it carries them."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """The recordings that those name."""


@dataclass(frozen=True, kw_only=True)
class Network:
    """One network, and the scenario that runs it."""

    suite: str
    kind: str
    number: int
    link: Link
    buffer_bdp: float
    senders: int
    sort: str
    """Of workload: one of `WORKLOADS`."""
    workload: str
    """In words."""
    duration_s: float
    text: str
    """Of the scenario, without contenders."""

    @property
    def words(self) -> str:
        """What it is, on a line."""
        link = self.link
        loss = f", {100 * link.loss:.2g} % loss" if link.loss else ""
        many = "1 sender" if self.senders == 1 else f"{self.senders} senders"
        return (
            f"{link.words}{link.rate_mbps:.3g} Mbit/s, {link.rtt_ms:.3g} ms, jitter {link.jitter_ms:.2g} ms{loss}, "
            f"{self.buffer_bdp:.2g} BDP, {many}, {self.workload}"
        )

    def evaluation(self) -> Evaluation:
        """To be run with contenders."""
        return Evaluation(self.text, f"{self.kind}-{self.number}.toml", self.link.files)


def constant(rate_mbps: float) -> str:
    """A link of one rate."""
    return f"rate_mbps = {rate_mbps:.5g}"


def access(draws: Draws) -> Link:
    """DSL, cable and fibre: a constant rate, a clean path."""
    rate_mbps = draws.log_uniform(5, 1000)
    return Link(
        rate_mbps=rate_mbps,
        rtt_ms=draws.log_uniform(5, 150),
        jitter_ms=draws.log_uniform(0.001, 1),
        loss=draws.log_uniform(1e-5, 1e-3) if draws.chance(0.5) else 0.0,
        words="",
        lines=constant(rate_mbps),
    )


def wifi(draws: Draws) -> Link:
    """Wi-Fi: much jitter, and in half of them packets come in batches, as frames are aggregated while others send."""
    rate_mbps = draws.log_uniform(10, 300)
    rtt_ms = draws.log_uniform(5, 150)
    jitter_ms = min(draws.log_uniform(0.1, 10), rtt_ms)
    loss = draws.log_uniform(1e-5, 5e-3) if draws.chance(0.5) else 0.0
    batch_ms = draws.log_uniform(2, 20)
    in_batches = draws.chance(0.5)
    lines, files, words = constant(rate_mbps), {}, ""
    if in_batches:
        lines, words = 'trace = "batches"', f"batches each {batch_ms:.2g} ms, "
        files["batches"] = batches(draws, rate_mbps, batch_ms)
    return Link(
        rate_mbps=rate_mbps, rtt_ms=rtt_ms, jitter_ms=jitter_ms, loss=loss, words=words, lines=lines, files=files
    )


def batches(draws: Draws, rate_mbps: float, batch_ms: float) -> bytes:
    """A recording made up: after each pause, of half to one and a half times `batch_ms`, all that was due in it."""
    times, now_ms, given = [], 0.0, 0
    while now_ms < RECORDING_MS:
        now_ms += draws.uniform(0.5, 1.5) * batch_ms
        whole_ms = max(1, round(now_ms))
        due = int(rate_mbps * 1e3 * whole_ms / OPPORTUNITY_BITS)
        times += [whole_ms] * (due - given)
        given = max(given, due)
    return "".join(f"{ms}\n" for ms in times).encode()


def cellular(draws: Draws) -> Link:
    """LTE and 5G: a rate that wanders, and in half of them outages."""
    rate_mbps = draws.log_uniform(5, 100)
    most_mbps = rate_mbps * draws.uniform(2.5, 6)
    spread, memory_s = draws.uniform(0.2, 0.7), draws.log_uniform(0.5, 10)
    outages = draws.uniform(0.05, 0.3) if draws.chance(0.5) else 0.0
    return Link(
        rate_mbps=rate_mbps,
        rtt_ms=draws.log_uniform(20, 150),
        jitter_ms=draws.log_uniform(0.1, 5),
        loss=draws.log_uniform(1e-5, 1e-3) if draws.chance(0.3) else 0.0,
        words=f"wanders by {spread:.2g} in {memory_s:.2g} s, {outages:.2g} outages a second, ",
        lines=wandering(rate_mbps, most_mbps, spread, memory_s, outages),
    )


def wandering(rate_mbps: float, most_mbps: float, spread: float, memory_s: float, outages: float) -> str:
    """The schema's synthetic cellular link; outages per second, of 150 ms on the mean."""
    return (
        f"cellular = {{ mean_mbps = {rate_mbps:.5g}, max_mbps = {most_mbps:.5g}, spread = {spread:.4g}, "
        f"memory_s = {memory_s:.4g}, outage_per_s = {outages:.4g}, outage_mean_s = 0.15 }}"
    )


def satellite(draws: Draws) -> Link:
    """Half are geostationary, half in low orbits with a rate that wanders; both lose packets."""
    if draws.chance(0.5):
        rate_mbps, rtt_ms = draws.log_uniform(5, 100), draws.uniform(500, 700)
        words, lines = "geostationary, ", constant(rate_mbps)
    else:
        rate_mbps, rtt_ms = draws.log_uniform(20, 300), draws.log_uniform(30, 80)
        words = "low orbit, "
        lines = wandering(rate_mbps, 2 * rate_mbps, draws.uniform(0.05, 0.3), 15.0, 0.0)
    return Link(
        rate_mbps=rate_mbps,
        rtt_ms=rtt_ms,
        jitter_ms=draws.log_uniform(0.1, 10),
        loss=draws.log_uniform(1e-5, 1e-2),
        words=words,
        lines=lines,
    )


def datacenter(draws: Draws) -> Link:
    """Short and fast, without loss."""
    rate_mbps, rtt_ms = draws.log_uniform(100, 1000), draws.log_uniform(0.2, 2)
    jitter_ms = min(draws.log_uniform(0.001, 0.1), rtt_ms / 2)
    return Link(rate_mbps=rate_mbps, rtt_ms=rtt_ms, jitter_ms=jitter_ms, loss=0.0, words="", lines=constant(rate_mbps))


KINDS: dict[str, Callable[[Draws], Link]] = {
    "access": access,
    "wifi": wifi,
    "lte": cellular,
    "satellite": satellite,
    "datacenter": datacenter,
}


def network(suite: str, kind: str, number: int) -> Network:
    """A network of a suite; of `BESIDE`, one for two flows, the second of them with the `SCHEME` of its text."""
    draws = Draws(SUITES[suite], kind, number)
    if kind == BESIDE:
        return for_two(draws, suite, number)
    link = KINDS[kind](draws)
    buffer_bdp, senders = draws.log_uniform(0.5, 5), draws.one_of(SENDERS)
    sort, words, workload = traffic(draws, link.rate_mbps / senders, short=kind == "datacenter")
    duration_s = DATACENTER_S if kind == "datacenter" else duration_of(link)
    return Network(
        suite=suite,
        kind=kind,
        number=number,
        link=link,
        buffer_bdp=buffer_bdp,
        senders=senders,
        sort=sort,
        workload=words,
        duration_s=duration_s,
        text=scenario(
            link, buffer_bdp, duration_s, draws.seed(), f"[senders]\ncount = {senders}\n[workload]\n{workload}\n"
        ),
    )


def duration_of(link: Link) -> float:
    """How long a run takes, s."""
    least_s = LEAST_RTTS * link.rtt_ms / 1e3
    return max(least_s, min(LEAST_S, MOST_PACKETS * PACKET_BITS / (link.rate_mbps * 1e6)))


def for_two(draws: Draws, suite: str, number: int) -> Network:
    """Two flows that never end, at drop tail: 10-200 Mbit/s, 20-200 ms, 0.5-5 BDP."""
    rate_mbps = draws.log_uniform(10, 200)
    link = Link(
        rate_mbps=rate_mbps,
        rtt_ms=draws.log_uniform(20, 200),
        jitter_ms=draws.log_uniform(0.001, 1),
        loss=0.0,
        words="",
        lines=f'queue = "droptail"\n{constant(rate_mbps)}',
    )
    buffer_bdp = draws.log_uniform(0.5, 5)
    senders = '[[senders]]\ncount = 1\n[[senders]]\ncount = 1\nscheme = "SCHEME"\n[workload]\non = "forever"\n'
    return Network(
        suite=suite,
        kind=BESIDE,
        number=number,
        link=link,
        buffer_bdp=buffer_bdp,
        senders=2,
        sort="forever",
        workload="always on",
        duration_s=BESIDE_S,
        text=scenario(link, buffer_bdp, BESIDE_S, draws.seed(), senders),
    )


def scenario(link: Link, buffer_bdp: float, duration_s: float, seed: int, senders: str) -> str:
    """The scenario's text: today's transport, with its delayed ACKs."""
    # Jitter of a whole RTT, rounded up, would be more than that.
    jitter_ms = min(float(f"{link.jitter_ms:.4g}"), float(f"{link.rtt_ms:.5g}"))
    return (
        f"runs = 1\nduration_s = {duration_s:.4g}\nseed = {seed}\n"
        f"[link]\n{link.lines}\nbuffer = {{ bdp = {buffer_bdp:.4g} }}\nloss = {link.loss:.4g}\n"
        f"[path]\nrtt_ms = {link.rtt_ms:.5g}\njitter_ms = {jitter_ms:g}\n"
        f'{senders}[transport]\npreset = "today"\n'
    )


def traffic(draws: Draws, share_mbps: float, *, short: bool) -> tuple[str, str, str]:
    """When senders send: its sort, in words, and as `[workload]`."""
    sort = draws.one_of(WORKLOADS)
    on_s = draws.log_uniform(*((0.1, 2) if short else (1, 10)))
    off_s = draws.log_uniform(*((0.02, 0.5) if short else (0.2, 3)))
    off = f"off = {{ seconds = {off_s:.4g} }}"
    if sort == "seconds":
        return sort, f"on {on_s:.2g} s, off {off_s:.2g} s", f"on = {{ seconds = {on_s:.4g} }}\n{off}"
    if sort == "bytes":
        mean = max(LEAST_TRANSFER_BYTES, on_s / 2 * share_mbps * 1e6 / 8)
        return sort, f"{mean / 1e6:.2g} MB, off {off_s:.2g} s", f"on = {{ bytes = {mean:.4g} }}\n{off}"
    if sort == "web":
        return sort, f"Web, off {off_s:.2g} s", f"on = {{ icsi = {{ extra_bytes = 16384 }} }}\n{off}"
    return sort, "always on", f'on = "forever"\n{off}'


def networks(suite: str, kinds: Sequence[str], count: int) -> list[Network]:
    """The first so many of each kind."""
    return [network(suite, kind, number) for kind in kinds for number in range(count)]
