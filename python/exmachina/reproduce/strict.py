"""Reading tables of TOML into dataclasses, and writing TOML: unknown and missing fields are refused by name."""

import types
import typing
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, TypeVar

from exmachina.errors import InputError

__all__ = ["merged", "read_table", "toml_text"]

T = TypeVar("T")
Toml: typing.TypeAlias = dict[str, Any]


def read_table(kind: type[T], table: Any, file: str, where: str = "") -> T:
    """A dataclass of the fields of a table.

    Args:
        kind: The dataclass. Fields may be strings, numbers, booleans, lists, dictionaries and dataclasses of these.
        table: As `tomllib` read it.
        file: For messages.
        where: Likewise: the table's name, such as `claims[3]`.

    Raises:
        InputError: If a field is unknown, missing, or not of its type; names the file and the field.
    """
    if not isinstance(table, dict):
        raise InputError(f"{file}: {where}: expected a table, got {table!r}")
    assert is_dataclass(kind)
    hints = typing.get_type_hints(kind)
    known = {field.name: field for field in fields(kind)}
    dot = f"{where}." if where else ""
    for name in table:
        if name not in known:
            raise InputError(f"{file}: {dot}{name}: unknown field; expected one of {', '.join(known)}")
    values = {}
    for name, field in known.items():
        if name in table:
            values[name] = _value(hints[name], table[name], file, dot + name)
        elif field.default is MISSING and field.default_factory is MISSING:
            raise InputError(f"{file}: {dot}{name}: missing; this field is required")
    return typing.cast(T, kind(**values))


ALTERNATIVES = {
    *("uniform", "log_uniform", "list", "grid", "log_grid"),
    *("seconds", "fixed_seconds", "bytes", "icsi", "at", "packets", "bdp"),
}
WORDS = {
    str: "a text",
    float: "a number",
    int: "a whole number",
    bool: "true or false",
    list: "a list",
    dict: "a table",
}


def _value(hint: Any, value: Any, file: str, where: str) -> Any:  # noqa: PLR0911 (one for each kind)
    """The value, if it is what the hint says."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin is types.UnionType:
        hint = next(part for part in inner if part is not types.NoneType)
        return _value(hint, value, file, where)
    if is_dataclass(hint):
        return read_table(typing.cast(type[Any], hint), value, file, where)
    plain = origin or hint
    if plain is Any:
        return value
    fits = isinstance(value, int | float if plain is float else plain)
    if not fits or (isinstance(value, bool) and plain is not bool):
        raise InputError(f"{file}: {where}: expected {WORDS[plain]}, got {value!r}")
    if plain is float:
        return float(value)
    if plain is list:
        return [_value(inner[0], item, file, f"{where}[{i}]") for i, item in enumerate(value)]
    if plain is dict:
        return {key: _value(inner[1], item, file, f"{where}.{key}") for key, item in value.items()}
    return value


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


def toml_text(table: Toml) -> str:
    """A table as the text of a TOML file, one line per field."""
    return "".join(f"{name} = {_text(value)}\n" for name, value in table.items())


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        return f'"{escaped}"'
    if isinstance(value, list):
        return "[" + ", ".join(map(_text, value)) + "]"
    return "{ " + ", ".join(f"{name} = {_text(item)}" for name, item in value.items()) + " }"
