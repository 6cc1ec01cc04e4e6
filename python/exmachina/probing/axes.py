"""The dimensions of a probe, one at a time: which values there are, and what a network is with one of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

import numpy as np

from exmachina.errors import OptionError
from exmachina.networks import Ranges, Span
from exmachina.probing.base import Base

__all__ = ["AXES", "NONE", "PASSPORT", "Axis", "Value", "axes_named"]

POINTS = 9
DECADES = 1.5
"""So far an axis goes to both sides of the base, and further where a range reaches further:"""
BEYOND = 3.0
"""so many times the end of that range."""
RATES, RTTS, ONS = (0.1, 2000.0), (0.2, 5000.0), (0.02, 500.0)
"""But not beyond what a probe can afford."""
COUNTS = (1, 2, 3, 5, 8, 16, 32, 64, 100)
BUFFERS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 100)
JITTERS = (0, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100)
LOSSES = (0, 1e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1)
ACKS = (1, 2, 3, 4, 8, 16, 32, 64)
DUTIES = (0.02, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
NONE = "none"
NEIGHBOURS = (NONE, "cubic", "newreno", "bbr3", "copa")
WAITS = (1, 3, 10, 20, 40, 60, 100, 200)
CLOCKS = (0, 0.1, 0.3, 1, 3, 10)
SPREADS = (1, 1.5, 2, 3, 5, 10)
STALLS = (0, 20, 50, 100, 200, 500)
WANDERS = (0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1)
OUTAGES = (0, 0.02, 0.05, 0.1, 0.2, 0.5, 1)
REORDERED = (0, 1e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1)
QUEUES = ("droptail", "red", "codel", "fqcodel", "pie")
DIGITS = 3

RANGES = {field.name for field in fields(Ranges)}

Value = float | str


@dataclass(frozen=True)
class Axis:
    """One dimension."""

    name: str
    """By which it is asked for."""
    title: str
    field: str | None
    """Of `Ranges`, with the range that a table was designed for, if that is known; times `unit`, values are in that of
    the axis."""
    scale: Literal["log", "linear", "names"]
    values: Callable[[Base, Sequence[Ranges]], list[Value]]
    """Around a base, with room for these ranges."""
    of: Callable[[Base], Value]
    """The value that a base has."""
    at: Callable[[Base, Value], Base]
    """The base with another value."""
    unit: float = 1.0
    whole: bool = False
    """Whether it counts something."""

    def span(self, ranges: Ranges | None) -> Span | None:
        """The designed range in the unit of the axis; none where it is not known, or consists of names."""
        known = ranges is not None and self.field is not None and self.scale != "names"
        found = getattr(ranges, str(self.field)) if known else None
        return None if found is None else Span(self.unit * found.low, self.unit * found.high)

    def inside(self, ranges: Ranges | None, value: Value) -> bool | None:
        """Whether a value is in the designed range; none where that is not known."""
        if isinstance(value, str):
            known = None if ranges is None or self.field is None else ranges.neighbours
            return None if known is None else value == NONE or value in known
        span = self.span(ranges)
        return None if span is None else span.holds(Span(value, value))


def _around(field: str, bounds: tuple[float, float]) -> Callable[[Base, Sequence[Ranges]], list[Value]]:
    """Values on both sides of the base's, which is one of them, with the same factor from one to the next."""

    def values(base: Base, ranges: Sequence[Ranges]) -> list[Value]:
        middle = float(getattr(base, field))
        spans = [span for one in ranges if (span := getattr(one, field)) is not None and span.low > 0]
        lows = [middle / 10**DECADES, *(span.low / BEYOND for span in spans)]
        highs = [middle * 10**DECADES, *(span.high * BEYOND for span in spans if np.isfinite(span.high))]
        below = np.geomspace(min(middle, max(bounds[0], min(lows))), middle, POINTS // 2 + 1)
        above = np.geomspace(middle, max(middle, min(bounds[1], max(highs))), POINTS // 2 + 1)
        rounded = [float(f"{value:.{DIGITS}g}") for value in (*below[:-1], *above)]
        return list(dict.fromkeys(rounded))

    return values


def _listed(given: Sequence[Value], of: Callable[[Base], Value]) -> Callable[[Base, Sequence[Ranges]], list[Value]]:
    """These, and the base's."""

    def values(base: Base, _: Sequence[Ranges]) -> list[Value]:
        own = of(base)
        if isinstance(own, str):
            return list(dict.fromkeys([*given, own]))
        return sorted({*map(float, given), float(own)})

    return values


def _field(
    name: str,
    title: str,
    field: str,
    values: Sequence[float] | tuple[float, float],
    *,
    around: bool = False,
    kind: type[float] | type[int] = float,
    unit: float = 1.0,
) -> Axis:
    """A dimension that is one field of the base, and the field of the same name of a range, if that has it."""

    def of(base: Base) -> Value:
        return float(f"{unit * getattr(base, field):.{DIGITS}g}")

    def at(base: Base, value: Value) -> Base:
        assert not isinstance(value, str)
        # What is as it was stays so, to the last bit: such a network is simulated once for all axes.
        changed: dict[str, Any] = {field: kind(value / unit)}
        return base if value == of(base) else replace(base, **changed)

    scaled = _around(field, (values[0], values[1])) if around else _listed(values, of)
    known = field if field in RANGES else None
    return Axis(name, title, known, "log", scaled, of, at, unit, kind is int)


def _on(base: Base, value: Value) -> Base:
    """On-times of another length, and off-times with them, so that senders are on for the same share of the time."""
    assert not isinstance(value, str)
    return base if value == base.on_s else replace(base, on_s=value, off_s=base.off_s * value / base.on_s)


def _duty_of(base: Base) -> Value:
    return float(f"{base.on_s / (base.on_s + base.off_s):.{DIGITS}g}")


def _duty(base: Base, value: Value) -> Base:
    """Off-times of another length."""
    assert not isinstance(value, str)
    off_s = base.on_s * (1 - value) / value
    return base if value == _duty_of(base) else replace(base, off_s=off_s)


def _beside_of(base: Base) -> Value:
    return base.neighbour or NONE


def _beside(base: Base, value: Value) -> Base:
    return replace(base, neighbour=None if value == NONE else str(value))


def _queue(base: Base, value: Value) -> Base:
    return replace(base, queue=str(value))


OF_PASSPORTS = (
    _field("rate", "link rate (Mbit/s)", "rate_mbps", RATES, around=True),
    _field("rtt", "RTT (ms)", "rtt_ms", RTTS, around=True),
    _field("senders", "senders", "senders", COUNTS, kind=int),
    _field("buffer", "buffer (BDP)", "buffer_bdp", BUFFERS),
    _field("jitter", "jitter (ms)", "jitter_ms", JITTERS),
    _field("loss", "random loss (%)", "loss", [100 * loss for loss in LOSSES], unit=100.0),
    _field("acks", "packets per ACK", "ack_packets", ACKS, kind=int),
    Axis("on", "mean on-time (s), same duty cycle", "on_s", "log", _around("on_s", ONS), lambda base: base.on_s, _on),
    Axis("duty", "share of the time on", "duty", "linear", _listed(DUTIES, _duty_of), _duty_of, _duty),
    Axis("beside", "one flow beside", "neighbours", "names", _listed(NEIGHBOURS, _beside_of), _beside_of, _beside),
)
MORE = (
    _field("wait", "wait of an ACK (ms)", "ack_delay_ms", WAITS),
    _field("clock", "clocks (ms)", "clock_ms", CLOCKS),
    _field("spread", "RTT of the farther half (times)", "rtt_spread", SPREADS),
    _field("stalls", "stalls of half of the paths (ms)", "stall_ms", STALLS),
    _field("wander", "spread of the rate", "rate_wander", WANDERS),
    _field("outages", "outages per second", "outages_per_s", OUTAGES),
    _field("reordered", "packets out of order (%)", "reordered", [100 * share for share in REORDERED], unit=100.0),
    Axis("queue", "queue", None, "names", _listed(QUEUES, lambda base: base.queue), lambda base: base.queue, _queue),
)
PASSPORT = tuple(axis.name for axis in OF_PASSPORTS)
"""The axes of a passport, if nothing else is asked for."""
AXES = {axis.name: axis for axis in (*OF_PASSPORTS, *MORE)}
"""By name."""


def axes_named(names: Sequence[str] | None) -> list[Axis]:
    """The axes of these names, in their order; those of a passport if not given.

    Raises:
        OptionError: If there is none of a name, or none is given.
    """
    chosen = list(PASSPORT) if names is None else list(dict.fromkeys(names))
    wrong = [name for name in chosen if name not in AXES]
    if wrong or not chosen:
        raise OptionError(f"axes: expected some of {', '.join(AXES)}, got {wrong[0] if wrong else 'none'}")
    return [AXES[name] for name in chosen]
