"""The points of a sweep: every combination of the values of its fields, and what the network is there."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import reduce
from itertools import product
from math import prod

import tomli_w

from exmachina.errors import InputError, OptionError
from exmachina.evaluation import Evaluation
from exmachina.networks import Model, Toml, with_field
from exmachina.sweeping.values import Value, Values, values_of, words_of

__all__ = ["Over", "Point", "over_of", "points_of"]

Over = Mapping[str, tuple[Value, ...]]
"""Values by field."""

MOST_POINTS = 10_000
OPTIONS = ("runs", "schemes")
"""Fields of scenarios that say how much is simulated, and of whom: options of a sweep, the same at all points."""


@dataclass(frozen=True)
class Point:
    """One network of a sweep."""

    at: Mapping[str, Value]
    """The values of the swept fields."""
    network: Model | Evaluation

    @property
    def words(self) -> str:
        """Where it is, such as `link.rate_mbps 10, senders.count 2`."""
        return ", ".join(f"{field} {words_of(value)}" for field, value in self.at.items())


def over_of(given: Mapping[str, Values]) -> Over:
    """Values by field.

    Raises:
        OptionError: If there is no field, something is no range, or there are too many points.
    """
    for field in given:
        if field in OPTIONS:
            raise OptionError(
                f"over: {field}: expected a field of the network; {field} are an option, the same at all points"
            )
    found = {field: values_of(field, values) for field, values in given.items()}
    points = prod(map(len, found.values()))
    if not found or points > MOST_POINTS:
        what = "at least one field, such as link.rate_mbps" if not found else f"at most {MOST_POINTS} points"
        raise OptionError(f"over: expected {what}, got {points if found else 'none'}")
    return found


def points_of(base: Model | Evaluation, over: Over) -> list[Point]:
    """All points, the last field changing fastest.

    Raises:
        OptionError: If there is no such field, or a value is not possible: the field, the value, and what was expected.
    """
    try:
        document = tomllib.loads(base.text)
    except tomllib.TOMLDecodeError as error:
        raise OptionError(f"over: {base.name}: expected a file in TOML 1.0: {error}") from None
    return [_point(base, document, dict(zip(over, values, strict=True))) for values in product(*over.values())]


def _point(base: Model | Evaluation, document: Toml, at: dict[str, Value]) -> Point:
    changed: Toml = reduce(_with, at.items(), document)
    text = tomli_w.dumps(changed)
    try:
        network = Model(text, f"{base.name}.toml") if isinstance(base, Model) else replace(base, text=text)
    except InputError as error:
        raise OptionError(f"over: {_told(error, at)}") from None
    return Point(at, network)


def _with(document: Toml, item: tuple[str, Value]) -> Toml:
    try:
        return with_field(document, *item)
    except OptionError as error:
        raise OptionError(f"over: {error}") from None


def _told(error: InputError, at: Mapping[str, Value]) -> str:
    """What is wrong with which field; and, where that is not the only one that is swept, where."""
    field = getattr(error, "field", "")
    told = f"{field}: {error.problem}" if field else str(error)
    others = ", ".join(f"{name} {words_of(value)}" for name, value in at.items() if name != field)
    return f"{told} (at {others})" if others else told
