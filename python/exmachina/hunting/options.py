"""What may be set of a search for the worst network."""

from dataclasses import dataclass

from exmachina.checks import check_delta, check_seed
from exmachina.engines import EngineOptions, EngineSettings
from exmachina.errors import OptionError
from exmachina.hunting.measures import measure_named

__all__ = ["WorstOptions", "WorstSettings"]

MOST_NETWORKS, MOST_RUNS = 1_000_000, 10_000


@dataclass(frozen=True, kw_only=True)
class WorstOptions(EngineOptions):
    """What is looked for, how long, and what counts.

    >>> options = exmachina.WorstOptions(measure="waste", networks=8, draws=1, checks=2)
    >>> exmachina.worst("cubic", exmachina.Limits("loss = [0, 2]"), options).measure.name
    'waste'
    """

    measure: str = "regret"
    """What to be bad in: regret (the score behind the best of the rivals), starvation (of senders that are alike),
    queue, waste (packets sent again) or idle (what is delivered less than by omniscient senders)."""
    networks: int = 600
    """That are tried, before the worst of them is reduced."""
    draws: int = 2
    """Of traffic and losses, on each of these."""
    checks: int = 16
    """Draws that chose nothing, on which the worst is measured at the end."""
    keep: float = 0.8
    """The part of the harm that has to stay where a network is made plainer."""
    seed: int = 1
    """Of the search, and of traffic and losses."""
    delta: float | None = None
    """How much delay counts against throughput; that of the scheme's model if not given, else 1."""

    def __post_init__(self) -> None:
        super().__post_init__()
        measure_named(self.measure)
        whole = {"networks": (1, MOST_NETWORKS), "draws": (1, MOST_RUNS), "checks": (2, MOST_RUNS)}
        for name, (least, most) in whole.items():
            if not least <= getattr(self, name) <= most:
                raise OptionError(f"{name}: expected from {least} to {most}, got {getattr(self, name)}")
        if not 0 < self.keep <= 1:
            raise OptionError(f"keep: expected more than 0 and at most 1, got {self.keep:g}")
        check_seed(self.seed)
        check_delta(self.delta)


class WorstSettings(EngineSettings, total=False):
    """The fields of `WorstOptions` as keywords."""

    measure: str
    networks: int
    draws: int
    checks: int
    keep: float
    seed: int
    delta: float | None
