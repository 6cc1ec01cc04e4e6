"""What may be set of an inspection."""

from dataclasses import dataclass
from typing import TypedDict

from exmachina.checks import check_seconds, check_seed
from exmachina.errors import OptionError

__all__ = ["InspectOptions", "InspectSettings"]

MOST_SPECIMENS = 100_000


@dataclass(frozen=True, kw_only=True)
class InspectOptions:
    """How long a table is watched.

    >>> options = exmachina.InspectOptions(specimens=2, seconds=2)
    >>> len(exmachina.inspect("known-1x", options=options).usage) == len(exmachina.Table.load("known-1x"))
    True
    """

    specimens: int = 64
    """How many networks of the model are run, to count the uses of rules."""
    seconds: float = 30.0
    """Simulated seconds of the time plot."""
    seed: int | None = None
    """Of the networks and their traffic; the model's if not given."""
    threads: int | None = None
    """All processors if not given; the result is the same for any number."""

    def __post_init__(self) -> None:
        if self.seed is not None:
            check_seed(self.seed)
        check_seconds("seconds", self.seconds)
        if not 1 <= self.specimens <= MOST_SPECIMENS:
            raise OptionError(f"specimens: expected from 1 to {MOST_SPECIMENS}, got {self.specimens}")


class InspectSettings(TypedDict, total=False):
    """The fields of `InspectOptions` as keywords."""

    specimens: int
    seconds: float
    seed: int | None
    threads: int | None
