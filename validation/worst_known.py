"""What docs/worst.md says of networks that were found: whether they are known, and to whom. Numbers are of the rows."""

from collections.abc import Mapping
from typing import Any

__all__ = ["PATHOLOGIES", "known"]

PATHOLOGIES: dict[str, str] = {}
"""Cases that show what is known, and what that is."""
OTHERS: dict[str, str] = {}
"""Other cases of which there is something to say."""


def known(rows: Mapping[str, Mapping[str, Any]]) -> str:
    """Both, of the cases that have a row."""
    parts = [
        "## Known pathologies, found without being told\n",
        _listed(rows, PATHOLOGIES),
        "And besides:\n",
        _listed(rows, OTHERS),
    ]
    return "\n".join(part for part in parts if part)


def _listed(rows: Mapping[str, Mapping[str, Any]], notes: Mapping[str, str]) -> str:
    lines = [
        f"- [{case}](worst/{case}.toml): {note.format(**rows[case])}" for case, note in notes.items() if case in rows
    ]
    return "\n".join(lines) + "\n" if lines else ""
