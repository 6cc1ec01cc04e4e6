"""What may be set of a scoring."""

from dataclasses import dataclass

from exmachina.checks import check_seconds, check_seed
from exmachina.engines import EngineOptions, EngineSettings
from exmachina.errors import OptionError

__all__ = ["ScoreOptions", "ScoreSettings"]

MAX_SPECIMENS = 1_000_000


@dataclass(frozen=True, kw_only=True)
class ScoreOptions(EngineOptions):
    """On which networks schemes are scored, and which besides those that are named.

    >>> options = exmachina.ScoreOptions(specimens=4, seconds_each=2)
    >>> len(exmachina.score("known-1x", "known-1x", options).specimens)
    8
    """

    specimens: int = 1000
    """How many networks; for a model that is a grid, rounded up so that each point has equally many."""
    seconds_each: float | None = None
    """Simulated seconds of each; the model's if not given."""
    seed: int | None = None
    """Of the networks and their traffic; the model's if not given."""
    aimd: bool = False
    """Score an AIMD sender (Tao'14, section 4.5), too; on a buffer of 1 BDP where the model's is infinite."""
    in_world: bool = False
    """The networks have what those of training have besides ([design.world]: jitter, losses, ACKs of several packets,
    ...); else they are as the model states them."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 <= self.specimens <= MAX_SPECIMENS:
            raise OptionError(f"specimens: expected from 1 to {MAX_SPECIMENS}, got {self.specimens}")
        if self.seconds_each is not None:
            check_seconds("seconds-each", self.seconds_each)
        if self.seed is not None:
            check_seed(self.seed)


class ScoreSettings(EngineSettings, total=False):
    """The fields of `ScoreOptions` as keywords."""

    specimens: int
    seconds_each: float | None
    seed: int | None
    aimd: bool
    in_world: bool
