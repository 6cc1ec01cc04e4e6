"""What the sections of `sturdy.py` share: which tables stand beside each other, and what a measurement is."""

import math

from published import PUBLISHED, TABLES

from exmachina import Algorithm, Table

SEED = 26_457_513
ROBUST = "-robust"
BEHIND = 0.02
"""So far may a table be behind in a stratum."""

Measured = tuple[str, float, float, float, float, float]
"""Condition, ours, the other's, the difference, half its interval, and what it must be at least."""
NONE = math.nan


def own(algorithm: Algorithm) -> list[Table] | Table:
    """What the senders of its model run: its table, and the others' that were designed with it."""
    together = algorithm.metadata["together"]
    return [Algorithm(name).table for name in together] if together else algorithm.table


def published(algorithm: Algorithm) -> Table | None:
    """The authors' table for the same networks."""
    name = PUBLISHED.get(algorithm.name.removesuffix(ROBUST))
    return None if name is None else Table.load(TABLES / f"{name}.dna")
