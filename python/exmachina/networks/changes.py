"""Models and scenarios as tables of TOML, with changes: what cases and sweeps make of one file."""

import re
from typing import Any, TypeAlias

from exmachina.errors import OptionError

__all__ = ["Toml", "merged", "with_field"]

Toml: TypeAlias = dict[str, Any]

ALTERNATIVES = {
    *("uniform", "log_uniform", "list", "grid", "log_grid"),
    *("seconds", "fixed_seconds", "bytes", "icsi", "at", "packets", "bdp"),
}
"""Ways to say one thing."""
PART = re.compile(r"([A-Za-z0-9_-]+)(?:\[(\d+)\])?")
"""Of a field's name, between dots."""


def merged(base: Toml, changes: Toml) -> Toml:
    """A table with changes; tables in both are merged, all else is replaced. An empty table removes one.

    What says one thing in one of several ways (`{ list = [1, 2] }`, `{ bytes = 1000 }`) is replaced.
    """
    result = dict(base)
    for name, value in changes.items():
        if value == {}:
            result.pop(name, None)
        elif isinstance(value, dict) and isinstance(result.get(name), dict) and not ALTERNATIVES & set(value):
            result[name] = merged(result[name], value)
        else:
            result[name] = value
    return result


def with_field(base: Toml, field: str, value: object) -> Toml:
    """A table with another value of one field, such as `link.rate_mbps`, `senders[1].count` or `link.buffer.bdp`.

    Tables that are missing are made; whether there is such a field is for its reader to say.

    >>> exmachina.networks.with_field({"link": {"buffer": {"packets": 9}, "loss": 0}}, "link.buffer.bdp", 2)
    {'link': {'buffer': {'bdp': 2}, 'loss': 0}}

    Raises:
        OptionError: If it is no field's name, or has a number where there are not so many tables.
    """
    return merged(base, _change(base, field, field.split("."), value))


def _change(base: object, field: str, parts: list[str], value: object) -> Toml:
    """What to merge into a table, so that the field below it has the value."""
    found = PART.fullmatch(parts[0])
    if found is None:
        raise OptionError(f"{field}: expected a field's name, such as link.rate_mbps or senders[1].count")
    name, number = found.groups()
    inner = base.get(name) if isinstance(base, dict) else None
    if number is None:
        if isinstance(inner, list) and len(parts) > 1:
            raise OptionError(f"{field}: expected one of {name}[0] to {name}[{len(inner) - 1}] in it")
        return {name: _change(inner, field, parts[1:], value) if parts[1:] else value}
    if not isinstance(inner, list):
        raise OptionError(f"{field}: expected it without [{number}]; {name} is no list here")
    if int(number) >= len(inner):
        raise OptionError(f"{field}: expected one of {name}[0] to {name}[{len(inner) - 1}]")
    items = list(inner)
    items[int(number)] = _item(items[int(number)], field, parts[1:], value)
    return {name: items}


def _item(old: object, field: str, parts: list[str], value: object) -> object:
    """An item of a list with the value, in itself or in a field of it."""
    if not parts:
        return value
    return merged(old if isinstance(old, dict) else {}, _change(old, field, parts, value))
