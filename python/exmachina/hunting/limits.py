"""From where to where a search for the worst network goes, along each axis."""

import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil, isfinite, isinf
from typing import Any, Self, TypeAlias

from exmachina.errors import InputError, LimitsError
from exmachina.evaluation import Evaluation
from exmachina.files import LIMITS, find, or_nearest
from exmachina.networks import Ranges, Span
from exmachina.probing import AXES, NONE, Axis, Base, axes_named

__all__ = ["DESIGNED", "Limits", "LimitsLike"]

DESIGNED = "designed"
"""By this name go the limits that a table was designed within."""
DESCRIPTION, ROOM = "description", "room"
MOST_ROOM = 1000
ROUNDING = 100
"""Of a BDP that has to hold so many packets."""
PACKET_KBITS = 10.0
MOST = {"rate": 100.0, "rtt": 300.0, "senders": 16.0, "on": 10.0}
"""No further goes a search within what a table was designed for, nor below"""
LEAST = {"rate": 0.5, "rtt": 1.0, "on": 0.1}

Reach: TypeAlias = Span | tuple[str, ...]
"""All values of an axis that are allowed."""


@dataclass(frozen=True)
class Limits:
    r"""What networks there are to choose from. `Limits(text, file)` reads the text of a TOML file.

    >>> limits = exmachina.Limits("rate = [1, 50]\nbeside = ['none', 'cubic']\nrtt = 40\n")
    >>> limits.reaches["rate"], limits.plain.rtt_ms, limits.without(["beside"]).free
    (Span(low=1.0, high=50.0), 40.0, ('rate',))

    Raises:
        LimitsError: If the text has no limits: file, axis, and what was expected.
    """

    text: str
    """The whole file."""
    file: str = "limits.toml"
    """Its name, for messages."""
    fixed: tuple[str, ...] = ()
    """Axes along which it does not go, whatever the text says."""
    reaches: Mapping[str, Reach] = field(init=False)
    """By axis, of those that the text names, but for `fixed`."""
    room: float = field(init=False)
    """Packets that a buffer holds at least, whatever its BDPs."""

    def __post_init__(self) -> None:
        try:
            written = tomllib.loads(self.text)
        except tomllib.TOMLDecodeError as error:
            raise LimitsError(f"{self.file}: expected a TOML file: {error}") from None
        written.pop(DESCRIPTION, None)
        room = written.pop(ROOM, 0)
        if not (isinstance(room, int | float) and 0 <= room <= MOST_ROOM):
            raise LimitsError(f"{self.file}: {ROOM}: expected packets, from 0 to {MOST_ROOM}, got {room!r}")
        reaches = {name: self._reach(name, value) for name, value in written.items()}
        axes_named([*AXES, *self.fixed])
        kept = {name: reaches[name] for name in AXES if name in reaches and name not in self.fixed}
        object.__setattr__(self, "reaches", kept)
        object.__setattr__(self, "room", float(room))

    @classmethod
    def load(cls, source: str | os.PathLike[str]) -> Self:
        """Reads a file of limits, or limits that come with the program, by their name.

        Raises:
            FileError: If the file cannot be read.
            UnknownNameError: If there are no limits of this name.
            LimitsError: If it has none.
        """
        data, file = find(LIMITS, source)
        try:
            return cls(data.decode(), file)
        except UnicodeDecodeError:
            raise LimitsError(f"{file}: expected a TOML file in UTF-8") from None

    @classmethod
    def within(cls, ranges: Ranges) -> Self:
        """What a table was designed for, as far as that is known and a search can afford it."""
        found: dict[str, Reach] = {}
        for name, axis in AXES.items():
            span = axis.span(ranges)
            if span is not None:
                low, high = max(span.low, LEAST.get(name, 0.0)), min(span.high, MOST.get(name, span.high))
                if low <= high and not isinf(high):
                    found[name] = Span(low, high)
        if ranges.neighbours is not None:
            found["beside"] = (NONE, *(name for name in ranges.neighbours if name != NONE))
        lines = [f"{name} = {_written(reach)}\n" for name, reach in found.items()]
        return cls("".join(lines), f"{DESIGNED}.toml")

    def without(self, axes: Sequence[str]) -> "Limits":
        """The same without going along some axes.

        Raises:
            OptionError: If there is none of a name.
        """
        return Limits(self.text, self.file, (*self.fixed, *axes))

    @property
    def free(self) -> tuple[str, ...]:
        """Axes along which there is more than one value."""
        return tuple(name for name, reach in self.reaches.items() if not _is_one(reach))

    def with_room(self, network: Base) -> Base:
        """The network, with as much of a buffer as there has to be."""
        least_bdp = self.room * PACKET_KBITS / (network.rate_mbps * network.rtt_ms)
        if network.buffer_bdp >= least_bdp:
            return network
        return replace(network, buffer_bdp=ceil(least_bdp * ROUNDING) / ROUNDING)

    @property
    def plain(self) -> Base:
        """The network in which nothing is odd: of each axis what is allowed and nearest to what is usual."""
        network = Base()
        for name in self.reaches:
            network = AXES[name].at(network, self.plain_value(name))
        return network

    def plain_value(self, name: str) -> float | str:
        """Along an axis, the value that is nearest to what is usual."""
        usual, reach = AXES[name].of(Base()), self.reaches.get(name)
        if reach is None:
            return usual
        if isinstance(reach, tuple):
            return usual if usual in reach else reach[0]
        assert not isinstance(usual, str)
        return min(max(usual, reach.low), reach.high)

    def _reach(self, name: str, value: Any) -> Reach:
        if name not in AXES:
            expected = f"expected some of {', '.join(AXES)}{or_nearest(name, AXES)}"
            raise LimitsError(f"{self.file}: {name}: there is no such axis; {expected}")
        axis = AXES[name]
        reach = _names(value) if axis.scale == "names" else _span(value)
        if reach is None:
            names = '["one", "another"]' if axis.scale == "names" else "[least, largest] or a number"
            raise LimitsError(f"{self.file}: {name}: expected {names}, got {value!r}")
        self._check(axis, reach)
        return reach

    def _check(self, axis: Axis, reach: Reach) -> None:
        """Refuses what no network can have."""
        for end in reach if isinstance(reach, tuple) else (reach.low, reach.high):
            try:
                Evaluation(axis.at(Base(), end).scenario(1, 1))
            except InputError as error:
                raise LimitsError(f"{self.file}: {axis.name}: {error.problem}") from None
            except ZeroDivisionError:
                raise LimitsError(f"{self.file}: {axis.name}: expected more than 0, got {end}") from None


LimitsLike: TypeAlias = Limits | str | os.PathLike[str]
"""Limits, the path of a file of limits, or the name of limits that come with the program."""


def _names(value: Any) -> tuple[str, ...] | None:
    """One name or several, or none of these."""
    names = [value] if isinstance(value, str) else value
    right = isinstance(names, list) and names and all(isinstance(name, str) for name in names)
    return tuple(dict.fromkeys(names)) if right else None


def _span(value: Any) -> Span | None:
    """A number, or two in order, or none of these."""
    ends = value if isinstance(value, list) else [value, value]
    if len(ends) != 2 or not all(isinstance(end, int | float) and isfinite(end) for end in ends):  # noqa: PLR2004
        return None
    return Span(float(ends[0]), float(ends[1])) if 0 <= ends[0] <= ends[1] else None


def _is_one(reach: Reach) -> bool:
    return len(reach) == 1 if isinstance(reach, tuple) else reach.low == reach.high


def _written(reach: Reach) -> str:
    """As the text of limits has it."""
    if isinstance(reach, tuple):
        return "[" + ", ".join(f'"{name}"' for name in reach) + "]"
    return f"[{reach.low!r}, {reach.high!r}]"
