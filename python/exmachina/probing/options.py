"""What may be set of a probe."""

from dataclasses import dataclass

from exmachina.checks import check_delta, check_seed
from exmachina.engines import EngineOptions, EngineSettings
from exmachina.errors import OptionError

__all__ = ["ProbeOptions", "ProbeSettings"]

MOST_RUNS = 10_000


@dataclass(frozen=True, kw_only=True)
class ProbeOptions(EngineOptions):
    """How much is simulated, and what counts.

    >>> options = exmachina.ProbeOptions(runs=1)
    >>> exmachina.probe("known-1x", options=options, axes=["acks"], rivals=[]).frame["run"].unique().to_list()
    [0]
    """

    runs: int = 8
    """Runs of each scheme on each network."""
    seed: int = 1
    """Of traffic and losses: the same for every network."""
    delta: float | None = None
    """How much delay counts against throughput; that of the first table's model if not given, else 1."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 <= self.runs <= MOST_RUNS:
            raise OptionError(f"runs: expected from 1 to {MOST_RUNS}, got {self.runs}")
        check_seed(self.seed)
        check_delta(self.delta)


class ProbeSettings(EngineSettings, total=False):
    """The fields of `ProbeOptions` as keywords."""

    runs: int
    seed: int
    delta: float | None
