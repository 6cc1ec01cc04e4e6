"""What becomes of a table when all its numbers are whole: the rounded table, and how far anything moved."""

from dataclasses import dataclass

__all__ = ["Moved"]


@dataclass(frozen=True)
class Moved:
    """What rounding did to the splits of one signal."""

    signal: str
    splits: int
    """How many there are."""
    farthest: float
    """How far the one that moved farthest did, in `unit`."""
    unit: str
    """`ms`; nothing for ratios."""
