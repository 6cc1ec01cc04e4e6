"""From where to where the quantities of networks go: what a model or a scenario says, and what was trained with.

Texts are those that the core has read and found right; here only their ends are looked up.
"""

import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from math import inf, isinf
from typing import Any

__all__ = ["Ranges", "Span", "new", "outside", "stated", "trained"]

PACKET_BITS = 10_000
PER_ACK = {"today": 2, "remy13": 1, "tao14": 1}
"""Packets that one ACK answers, by preset."""
NEIGHBOURS = {"cubic": "cubic", "newreno": "newreno", "bbr": "bbr3"}
"""Fields of `design.world`, and the schemes that they put beside one's own."""
ROUNDING = 1e-9
Document = Mapping[str, Any]


@dataclass(frozen=True)
class Span:
    """The least and the largest value of a quantity; infinite where there is no end."""

    low: float
    high: float

    def holds(self, other: "Span") -> bool:
        """Whether the other lies in this one, but for rounding."""
        return self.low * (1 - ROUNDING) <= other.low and other.high <= self.high * (1 + ROUNDING)

    @property
    def middle(self) -> float:
        """What is as many times the least value as the largest is of it; where the least is 0, halfway."""
        if self.low == self.high or isinf(self.high):
            return self.low
        return float((self.low * self.high) ** 0.5) if self.low > 0 else (self.low + self.high) / 2

    def words(self, times: float = 1.0) -> str:
        """Such as `10-20`, in another unit if asked."""
        low, high = (f"{times * end:.4g}" for end in (self.low, self.high))
        return low if low == high else f"{low}-{high}"


@dataclass(frozen=True, kw_only=True)
class Ranges:
    """The ranges of networks; none where it is not known.

    >>> exmachina.networks.stated(exmachina.Model.load("general-1").text).rate_mbps
    Span(low=10.0, high=20.0)
    """

    rate_mbps: Span | None = None
    rtt_ms: Span | None = None
    """Without a queue."""
    senders: Span | None = None
    links: Span | None = None
    """Bottlenecks of a network."""
    buffer_bdp: Span | None = None
    jitter_ms: Span | None = None
    loss: Span | None = None
    """A probability."""
    ack_packets: Span | None = None
    """That one ACK answers, at most."""
    on_s: Span | None = None
    """Means, where senders are on for a time."""
    on_bytes: Span | None = None
    """Means, where they are on until so much is sent."""
    off_s: Span | None = None
    neighbours: tuple[str, ...] | None = None
    """Schemes that were beside in some of the networks."""

    @property
    def duty(self) -> Span | None:
        """The share of the time that a sender is on, from the means."""
        if self.on_s is None or self.off_s is None:
            return None
        return Span(_duty(self.on_s.low, self.off_s.high), _duty(self.on_s.high, self.off_s.low))

    def united(self, other: "Ranges") -> "Ranges":
        """From the lower of both lower ends to the higher of both higher ones."""
        both = {
            field.name: _united(getattr(self, field.name), getattr(other, field.name))
            for field in fields(self)
            if field.name != "neighbours"
        }
        names = (*(self.neighbours or ()), *(other.neighbours or ()))
        return Ranges(**both, neighbours=tuple(dict.fromkeys(names)))


def _united(one: Span | None, other: Span | None) -> Span | None:
    return None if one is None or other is None else Span(min(one.low, other.low), max(one.high, other.high))


def _duty(on_s: float, off_s: float) -> float:
    return 1.0 if isinf(on_s) else on_s / (on_s + off_s)


@cache
def stated(text: str) -> Ranges:
    """What the text of a model or scenario says of its networks; nothing where it is no TOML that Python can read."""
    try:
        return _of(tomllib.loads(text))
    except tomllib.TOMLDecodeError:
        return Ranges()


@cache
def trained(text: str) -> Ranges:
    """What a design for a model meets: its networks, what `design.world` adds to them, and those of `[[also]]`."""
    try:
        model = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return Ranges()
    world = model.get("design", {}).get("world", {})
    found = _in_world(_of(model), world)
    for entry in model.get("also", []):
        links = {"link", "links"} if {"link", "links"} & entry.keys() else set()
        rest = {name: table for name, table in model.items() if name not in links}
        found = found.united(_in_world(_of({**rest, **entry}), entry.get("world", world)))
    return found


def _of(document: Document) -> Ranges:
    """Of one scenario."""
    links = document["links"] if "links" in document else [document.get("link", {})]
    senders = document.get("senders", {})
    groups: Sequence[Document] = senders if isinstance(senders, list) else [senders]
    path = document.get("path", {})
    rate = _all(_span(link.get("rate_mbps")) for link in links)
    rtt = _all(_rtt(group, path, links) for group in groups)
    workloads = [document.get("workload"), *(group.get("workload") for group in groups)]
    workload: Document = next((one for one in workloads if one), {})
    beside = [group["scheme"] for group in groups if "scheme" in group]
    if any((count := _span(group.get("aimd"))) is not None and count.high > 0 for group in groups):
        beside.append("aimd")
    return Ranges(
        rate_mbps=rate,
        rtt_ms=rtt,
        senders=_senders(groups, path),
        links=Span(len(links), len(links)),
        buffer_bdp=_all(_buffer(link.get("buffer", "infinite"), rate, rtt) for link in links),
        jitter_ms=_span(path.get("jitter_ms", 0)),
        loss=_all(_span(link.get("loss", 0)) for link in links),
        ack_packets=_acks(document.get("transport")),
        on_s=_period(workload.get("on")),
        on_bytes=_size(workload.get("on")),
        off_s=_period(workload.get("off")),
        neighbours=tuple(dict.fromkeys(beside)),
    )


def _in_world(ranges: Ranges, world: Document) -> Ranges:
    """With imperfections, as `crates/scenario/src/imperfections.rs` adds them."""
    given = {name: span for name, value in world.items() if (span := _span(value)) is not None}
    none = Span(0, 0)
    buffer, spread = given.get("buffer_bdp", none), given.get("rtt_spread", Span(1, 1)).high ** 0.5
    rooms = [room for room in _values(world.get("buffer_bdp", 0)) if room > 0] if buffer.high > 0 else []
    beside = [scheme for field, scheme in NEIGHBOURS.items() if given.get(field, none).high > 0]
    least = _least_room(rooms, ranges.buffer_bdp)
    return Ranges(
        rate_mbps=ranges.rate_mbps,
        rtt_ms=_changed(ranges.rtt_ms, lambda low, high: (low / spread, high * spread)),
        senders=ranges.senders,
        links=ranges.links,
        buffer_bdp=least if buffer.low > 0 else _united(ranges.buffer_bdp, least or ranges.buffer_bdp),
        jitter_ms=_united(ranges.jitter_ms, given.get("jitter_ms", none)),
        loss=_united(ranges.loss, given.get("loss", none)),
        ack_packets=_united(ranges.ack_packets, given.get("ack_packets", Span(1, 1))),
        on_s=_times(ranges.on_s, given.get("on_times", Span(1, 1))),
        on_bytes=_times(ranges.on_bytes, given.get("on_times", Span(1, 1))),
        off_s=ranges.off_s,
        neighbours=tuple(dict.fromkeys([*(ranges.neighbours or ()), *beside])),
    )


def _least_room(rooms: Sequence[float], own: Span | None) -> Span | None:
    """Rooms that the world gives, none of which is larger than the network's own."""
    if not rooms or own is None:
        return None
    return Span(min(*rooms, own.low), min(max(rooms), own.high))


def _changed(span: Span | None, change: Callable[[float, float], tuple[float, float]]) -> Span | None:
    return None if span is None else Span(*change(span.low, span.high))


def _times(span: Span | None, factor: Span) -> Span | None:
    return _changed(span, lambda low, high: (low * min(1.0, factor.low), high * max(1.0, factor.high)))


def _values(written: Any) -> list[float]:
    """The numbers of a quantity: of a list all values, of a range its ends."""
    if isinstance(written, Mapping):
        numbers = [numbers for numbers in written.values() if isinstance(numbers, list)]
        return [float(number) for number in numbers[0]] if numbers else []
    return [float(written)] if isinstance(written, int | float) else []


def _span(written: Any) -> Span | None:
    """The ends of a quantity: a number, or `{ uniform = [lo, hi] }`, log_uniform, list, grid, log_grid."""
    values = _values(written)
    return Span(min(values), max(values)) if values else None


def _all(spans: Iterable[Span | None]) -> Span | None:
    """From the least end to the largest; none if one is not known."""
    known = list(spans)
    if not known or None in known:
        return None
    ends = [end for span in known if span is not None for end in (span.low, span.high)]
    return Span(min(ends), max(ends))


def _rtt(group: Document, path: Document, links: Sequence[Document]) -> Span | None:
    """Of a group of senders: its own, the path's, or twice the delays of its links."""
    for written in (group.get("rtt_ms"), path.get("rtt_ms")):
        if written is not None:
            return _span(written)
    if "rtt_ms_each" in path:
        return _span({"list": path["rtt_ms_each"]})
    route = group.get("links", [link.get("name") for link in links])
    delays = [_span(link.get("delay_ms")) for link in links if link.get("name") in route]
    rtt_ms = 2 * sum(delay.low for delay in delays if delay is not None)
    return None if None in delays else Span(rtt_ms, rtt_ms)


def _senders(groups: Sequence[Document], path: Document) -> Span | None:
    """How many there are in a network, of all groups."""
    each = path.get("rtt_ms_each")
    counts = [_span(group.get("count", len(each) if each else None)) for group in groups]
    if None in counts:
        return None
    known = [count for count in counts if count is not None]
    return Span(sum(count.low for count in known), sum(count.high for count in known))


def _buffer(written: Any, rate: Span | None, rtt: Span | None) -> Span | None:
    if written == "infinite":
        return Span(inf, inf)
    if "bdp" in written:
        return _span(written["bdp"])
    room = written["packets"] * PACKET_BITS if "packets" in written else 8 * written.get("bytes", 0)
    if rate is None or rtt is None:
        return None
    return Span(room / (1e3 * rate.high * rtt.high), room / (1e3 * rate.low * rtt.low))


def _acks(transport: Document | None) -> Span:
    """Of a scenario without a transport of its own: of a model, an ACK for each packet."""
    if transport is None:
        return Span(1, 1)
    packets = transport.get("ack_packets", PER_ACK[transport.get("preset", "today")])
    if transport.get("delayed_ack_ms") == 0:
        packets = 1
    return Span(packets, packets)


def _period(written: Any) -> Span | None:
    """Of on- or off-times, s; none for transfers of bytes."""
    if written == "forever":
        return Span(inf, inf)
    if isinstance(written, Mapping):
        return _span(written.get("seconds", written.get("fixed_seconds")))
    return None


def _size(written: Any) -> Span | None:
    """Of transfers, bytes; none for on-times, and for lengths drawn like those of a trace."""
    return _span(written.get("bytes")) if isinstance(written, Mapping) else None


FACETS = {
    "link rate": ("Mbit/s", ("rate_mbps",)),
    "RTT": ("ms", ("rtt_ms",)),
    "senders": ("", ("senders",)),
    "links": ("", ("links",)),
    "traffic": (None, ("on_s", "on_bytes", "off_s")),
    "jitter": (None, ("jitter_ms",)),
    "losses": (None, ("loss",)),
    "ACKs": (None, ("ack_packets",)),
    "buffer": (None, ("buffer_bdp",)),
}
"""What networks are like, in words: the unit, if numbers say it best, and the fields."""


def new(training: Ranges, networks: Ranges) -> tuple[str, ...]:
    """In what networks lie outside the range of a training, in words; nothing of what is not known of the training.

    What has no range there, such as the rate of a recorded link or the lengths of flows of a trace, is new.

    >>> here = exmachina.Model.load("tao-rtt-150").text, exmachina.Model.load("tao-10x").text
    >>> exmachina.networks.new(*map(exmachina.networks.stated, here))
    ('link rate 10-100 Mbit/s, not 33',)
    """
    found = []
    for words, (unit, names) in FACETS.items():
        pairs = [(getattr(training, name), getattr(networks, name)) for name in names]
        if all(own is None for own, _ in pairs):
            continue
        if not all(there is None if own is None else there and own.holds(there) for own, there in pairs):
            own, there = pairs[0]
            numbers = unit is not None and there is not None
            found.append(f"{words} {f'{there.words()} {unit}'.strip()}, not {own.words()}" if numbers else words)
    beside = set(networks.neighbours or ()) - set(training.neighbours or ())
    return (*found, *(["neighbours"] if beside else []))


WARNED: dict[str, tuple[str, float, str]] = {
    "rate_mbps": ("links of {} Mbit/s", 1.0, "a link of {} Mbit/s"),
    "rtt_ms": ("RTTs of {} ms", 1.0, "an RTT of {} ms"),
    "senders": ("{} senders", 1.0, "{} senders"),
    "jitter_ms": ("jitter of {} ms", 1.0, "jitter of {} ms"),
    "loss": ("{} % of random loss", 100.0, "{} % of random loss"),
}
"""What is warned of: words of the designed range, unit, words of the network. Buffers, ACKs and on-times are not among
these: in these nearly every evaluation differs from the papers' networks, and a warning that is always there says
nothing."""


def outside(name: str, designed: Ranges | None, networks: Ranges) -> str | None:
    """What to say where networks lie outside the range that a table was designed for; none where they do not."""
    made_for, has = [], []
    for field, (many, unit, one) in WARNED.items():
        own, there = (None if ranges is None else getattr(ranges, field) for ranges in (designed, networks))
        if own is None or there is None or own.holds(there):
            continue
        made_for.append(many.format(own.words(unit)))
        has.append((one if there.low == there.high else many).format(there.words(unit)))
    if not has:
        return None
    return f"{name} was designed for {_listed(made_for)}; the network here has {_listed(has)}"


def _listed(words: Sequence[str]) -> str:
    return " and ".join(words) if len(words) <= 2 else f"{', '.join(words[:-1])} and {words[-1]}"  # noqa: PLR2004
