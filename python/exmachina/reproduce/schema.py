"""Records that files of the catalogue have: typed fields, and one line that says what is wrong with a file."""

from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic_core import ErrorDetails, PydanticCustomError

from exmachina.errors import InputError
from exmachina.files import or_nearest

__all__ = ["INCONSISTENT", "Record", "read_record"]

WORDS = {
    "string_type": "a text",
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "a table",
    "model_type": "a table",
}
"""What TOML calls what Pydantic expected."""
UNKNOWN = "unknown_field"
INCONSISTENT = "inconsistent"
"""Fields that are each right and do not go together; the message says all."""


class Record(BaseModel):
    """A table of a file: nothing is converted, and nothing that it does not know is let through."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    @model_validator(mode="before")
    @classmethod
    def _knows_all(cls, table: Any) -> Any:
        """Refuses a field that there is not, before it is said that another is missing."""
        known = list(cls.model_fields)
        for name in table if isinstance(table, dict) else ():
            if name not in known:
                meant = f"{', '.join(known)}{or_nearest(name, known)}"
                raise PydanticCustomError(
                    UNKNOWN, "unknown field; expected one of {meant}", {"name": name, "meant": meant}
                )
        return table


R = TypeVar("R", bound=Record)


def read_record(kind: type[R], table: dict[str, Any], file: str) -> R:
    """A record of the fields of a table.

    Args:
        kind: Of the record.
        table: As `tomllib` read it.
        file: For messages.

    Raises:
        InputError: If a field is unknown, missing, or not of its type: file, field, and what was expected.
    """
    try:
        return kind.model_validate(table)
    except ValidationError as error:
        raise InputError(f"{file}: {_line(error.errors()[0])}") from None


def _line(error: ErrorDetails) -> str:
    """What is wrong, as `figures[0].kind: expected 'plane' or 'cdf', got 'plan'`."""
    facts = error.get("ctx", {})
    place = [*error["loc"], *([facts["name"]] if error["type"] == UNKNOWN else [])]
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place).removeprefix(".")
    if error["type"] in (UNKNOWN, INCONSISTENT):
        return f"{where}: {error['msg']}"
    if error["type"] == "missing":
        return f"{where}: missing; this field is required"
    expected = WORDS.get(error["type"]) or error["msg"].removeprefix("Input should be ")
    return f"{where}: expected {expected}, got {error['input']!r}"
