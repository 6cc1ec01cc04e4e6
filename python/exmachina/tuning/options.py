"""What may be set where a law is tuned."""

from dataclasses import dataclass
from math import inf

from exmachina.checks import check_delta, check_seed
from exmachina.engines import EngineOptions, EngineSettings
from exmachina.errors import OptionError

__all__ = ["TuneOptions", "TuneSettings"]

MOST = {"generations": 10_000, "candidates": 1000, "networks": 10_000, "checks": 100_000}
LEAST = {"generations": 1, "candidates": 4, "networks": 1, "checks": 2}
MOST_STEP = 0.5


@dataclass(frozen=True, kw_only=True)
class TuneOptions(EngineOptions):
    """How long a law is tuned, on how much, and what counts.

    >>> options = exmachina.TuneOptions(generations=1, candidates=4, networks=1, checks=2)
    >>> exmachina.tune("internet-1", ["r4"], options, rivals=["cubic"]).rivals
    ('cubic',)
    """

    generations: int = 100
    candidates: int = 20
    """Laws of a generation, which all meet the same networks."""
    networks: int = 50
    """Of a generation, in turn one of each scenario, with draws that no other generation has."""
    scale: float = 0.1
    """So far behind a rival in the score a law counts 27 % of a network, so far ahead 73 %: closer is a draw."""
    step: float = 0.06
    """How far the first candidates are from the law, in shares of the ranges of its numbers (standard deviation)."""
    checks: int = 200
    """Networks on which the law is compared with itself as it was, by draws that chose nothing."""
    seed: int = 1
    """Of candidates and draws."""
    delta: float | None = None
    """How much delay counts against throughput; that of the law's model if not given, else 1."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, least in LEAST.items():
            if not least <= getattr(self, name) <= MOST[name]:
                raise OptionError(f"{name}: expected from {least} to {MOST[name]}, got {getattr(self, name)}")
        if not 0 < self.scale < inf:
            raise OptionError(f"scale: expected more than 0 and finite, got {self.scale:g}")
        if not 0 < self.step <= MOST_STEP:
            raise OptionError(f"step: expected more than 0 and at most {MOST_STEP:g}, got {self.step:g}")
        check_seed(self.seed)
        check_delta(self.delta)


class TuneSettings(EngineSettings, total=False):
    """The fields of `TuneOptions` as keywords."""

    generations: int
    candidates: int
    networks: int
    scale: float
    step: float
    checks: int
    seed: int
    delta: float | None
