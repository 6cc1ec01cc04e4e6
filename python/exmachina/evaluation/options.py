"""What may be set of an evaluation."""

from dataclasses import dataclass
from typing import TypedDict

from exmachina.checks import check_seconds, check_seed
from exmachina.engines import EngineOptions, EngineSettings
from exmachina.errors import OptionError

__all__ = ["EvaluationOptions", "EvaluationSettings", "RunOptions", "RunSettings"]

MAX_RUNS = 1_000_000


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """Which runs there are. What is not given is the scenario's."""

    runs: int | None = None
    """Runs of each scheme, for each point if the scenario is a grid; the scenario's if not given."""
    duration_s: float | None = None
    """Simulated seconds of each run; the scenario's if not given."""
    seed: int | None = None
    """Of networks, traffic and losses; the scenario's if not given."""

    def __post_init__(self) -> None:
        if self.runs is not None and not 1 <= self.runs <= MAX_RUNS:
            raise OptionError(f"runs: expected from 1 to {MAX_RUNS}, got {self.runs}")
        if self.duration_s is not None:
            check_seconds("duration", self.duration_s)
        if self.seed is not None:
            check_seed(self.seed)


@dataclass(frozen=True, kw_only=True)
class EvaluationOptions(EngineOptions, RunOptions):
    """How an evaluation is run.

    >>> options = exmachina.EvaluationOptions(runs=1, duration_s=1)
    >>> exmachina.evaluate("r4", ["cubic"], options).duration_s
    1.0
    """

    def __post_init__(self) -> None:
        RunOptions.__post_init__(self)
        EngineOptions.__post_init__(self)


class RunSettings(TypedDict, total=False):
    """The fields of `RunOptions` as keywords."""

    runs: int | None
    duration_s: float | None
    seed: int | None


class EvaluationSettings(RunSettings, EngineSettings, total=False):
    """The fields of `EvaluationOptions` as keywords."""
