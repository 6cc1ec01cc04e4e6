"""What somebody may have meant who wrote a name that there is not."""

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = ["or_nearest"]

ALIKE = 0.6
"""Names that share less than this are not worth a question."""


def or_nearest(name: str, known: Iterable[str]) -> str:
    """A question to end a message with, such as `; did you mean cubic?`; empty where nothing is near."""
    by_lower = {one.lower(): one for one in known}
    near = get_close_matches(name.lower(), by_lower, n=1, cutoff=ALIKE)
    return f"; did you mean {by_lower[near[0]]}?" if near else ""
