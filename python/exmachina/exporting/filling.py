"""Templates filled in. It loads what exports alone need."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

__all__ = ["fill"]


def fill(template: str, facts: Mapping[str, Any]) -> str:
    """A file of an export: one of the room's templates with facts."""
    return _templates().get_template(template).render(facts)


@cache
def _templates() -> Environment:
    return Environment(
        loader=PackageLoader("exmachina.exporting", "templates"),
        autoescape=False,  # these are sources, and what stands in them is numbers and plain names
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
