"""What to say of a name that there is not: what it is not, what there is, and what may have been meant."""

from collections.abc import Iterable
from difflib import get_close_matches

from exmachina.errors import UnknownNameError

__all__ = ["or_nearest", "unknown"]

ALIKE = 0.6
"""Names that share less than this are not worth a question."""


def or_nearest(name: str, known: Iterable[str]) -> str:
    """A question to end a message with, such as `; did you mean cubic?`; empty where nothing is near."""
    by_lower = {one.lower(): one for one in known}
    near = get_close_matches(name.lower(), by_lower, n=1, cutoff=ALIKE)
    return f"; did you mean {by_lower[near[0]]}?" if near else ""


def unknown(
    noun: str, name: str, known: Iterable[str], *, ending: str = "", here: Iterable[str] = ()
) -> UnknownNameError:
    """The error for a name that there is not.

    Args:
        noun: What it is no name of, such as "model".
        name: The name.
        known: The names that there are.
        ending: Of the files that could be named instead, if any.
        here: Such files of the working folder.
    """
    names = list(known)
    files = f"a {ending} file or " if ending else ""
    expected = f"{files}one of {', '.join(names)}"
    return UnknownNameError(f"{name}: there is no such {noun}; expected {expected}{or_nearest(name, [*names, *here])}")
