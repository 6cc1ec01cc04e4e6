"""What may be set of a disturbance."""

from dataclasses import dataclass

from exmachina.checks import check_seed
from exmachina.engines import EngineOptions, EngineSettings
from exmachina.errors import OptionError

__all__ = ["DisturbOptions", "DisturbSettings"]

MOST_SPECIMENS = 100_000
MOST_STATES = 100_000


@dataclass(frozen=True, kw_only=True)
class DisturbOptions(EngineOptions):
    """On which networks tables are disturbed, and how often.

    >>> options = exmachina.DisturbOptions(specimens=2, states=3)
    >>> exmachina.disturb("known-1x", options=options).frame["states"].to_list()
    [3, 3]
    """

    specimens: int = 20
    """How many networks; of a model that is a grid, its first points."""
    skip: int = 0
    """So many come before the first of them: with what an earlier call had, these are the next."""
    states: int = 50
    """How many disturbed states of each network; a quarter as many are nudged, by a percent at most."""
    seed: int | None = None
    """Of the networks and states; the model's if not given."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 <= self.specimens <= MOST_SPECIMENS:
            raise OptionError(f"specimens: expected from 1 to {MOST_SPECIMENS}, got {self.specimens}")
        if not 0 <= self.skip <= MOST_SPECIMENS:
            raise OptionError(f"skip: expected from 0 to {MOST_SPECIMENS}, got {self.skip}")
        if not 1 <= self.states <= MOST_STATES:
            raise OptionError(f"states: expected from 1 to {MOST_STATES}, got {self.states}")
        if self.seed is not None:
            check_seed(self.seed)


class DisturbSettings(EngineSettings, total=False):
    """The fields of `DisturbOptions` as keywords."""

    specimens: int
    skip: int
    states: int
    seed: int | None
