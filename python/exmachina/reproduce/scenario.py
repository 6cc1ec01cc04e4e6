"""Scenarios of experiments as tables of TOML, and what cases and scales change of them."""

from typing import Any, TypeAlias

__all__ = ["Toml", "merged"]

Toml: TypeAlias = dict[str, Any]

ALTERNATIVES = {
    *("uniform", "log_uniform", "list", "grid", "log_grid"),
    *("seconds", "fixed_seconds", "bytes", "icsi", "at", "packets", "bdp"),
}
"""Ways to say one thing."""


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
