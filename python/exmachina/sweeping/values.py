"""The values of a swept field: listed, or spread over a range."""

import re
from collections.abc import Sequence
from math import isfinite
from typing import TypeAlias

import numpy as np

from exmachina.errors import OptionError

__all__ = ["Value", "Values", "are_numbers", "values_of", "words_of"]

Value: TypeAlias = float | str | bool
Values: TypeAlias = Sequence[Value] | str
"""Values one by one; or a text of such, with commas between them, in which `1:100:log:9` stands for nine numbers from 1
to 100 with the same factor from one to the next, and `1:100:linear:12` for twelve with the same difference."""

RANGE = re.compile(r"([^:]+):([^:]+):(log|linear):(\d+)")
FORM = "LOW:HIGH:log:COUNT or LOW:HIGH:linear:COUNT"
DIGITS = {"log": 4, "linear": 6}
"""Of the values of a range, between its ends."""
MOST = 1000
"""Values of a field."""


def values_of(field: str, given: Values) -> tuple[Value, ...]:
    """The values that are meant, each once, in their order.

    >>> exmachina.sweeping.values.values_of("link.loss", "0,0.01:1:log:3")
    (0, 0.01, 0.1, 1)

    Raises:
        OptionError: If there is none, or a range is none.
    """
    if isinstance(given, str):
        found = [value for item in given.split(",") if item.strip() for value in _listed(field, item.strip())]
    else:
        found = [_plain(field, value) for value in given]
    # By their words, for 1 and true are equal.
    distinct = tuple({words_of(value): value for value in found}.values())
    if not 1 <= len(distinct) <= MOST:
        raise OptionError(f"over: {field}: expected from 1 to {MOST} values, got {len(distinct)}")
    return distinct


def are_numbers(values: Sequence[Value]) -> bool:
    """Whether all of them are, so that they have places along an axis."""
    return not any(isinstance(value, bool | str) for value in values)


def words_of(value: Value) -> str:
    """A value as it is written."""
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else f"{value:g}"


def _plain(field: str, value: object) -> Value:
    if isinstance(value, bool | str | int | float | np.integer | np.floating):
        return value.item() if isinstance(value, np.generic) else value
    raise OptionError(f"over: {field}: expected numbers, words, true or false, got {value!r}")


def _listed(field: str, item: str) -> list[Value]:
    """What stands between two commas."""
    if ":" in item:
        return list(_range(field, item))
    if item in ("true", "false"):
        return [item == "true"]
    number = _number(item)
    return [item if number is None else number]


def _number(text: str) -> float | None:
    try:
        found = float(text)
    except ValueError:
        return None
    if not isfinite(found):
        return None
    return int(found) if found.is_integer() else found


def _range(field: str, item: str) -> list[float]:
    found = RANGE.fullmatch(item)
    low, high = (None, None) if found is None else (_number(found[1]), _number(found[2]))
    if found is None or low is None or high is None:
        raise OptionError(f"over: {field}: expected {FORM}, got {item}")
    scale, count = found[3], int(found[4])
    if not 2 <= count <= MOST:  # noqa: PLR2004 (its ends)
        raise OptionError(f"over: {field}: expected from 2 to {MOST} values in a range, got {item}")
    if low >= high or (scale == "log" and low <= 0):
        above = " above 0" if scale == "log" else ""
        raise OptionError(f"over: {field}: expected a range from a lower number{above} to a higher one, got {item}")
    spread = np.geomspace(low, high, count) if scale == "log" else np.linspace(low, high, count)
    # What is simulated is what is shown.
    inner = [float(f"{value:.{DIGITS[scale]}g}") for value in spread[1:-1]]
    return [low, *(int(value) if value.is_integer() else value for value in inner), high]
