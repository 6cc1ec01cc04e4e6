"""What may be set of a design: its budget, its procedure, and what becomes of an earlier one."""

from dataclasses import dataclass
from math import inf
from typing import Literal

from exmachina.checks import check_seed
from exmachina.engines import EngineOptions, EngineSettings
from exmachina.errors import OptionError

__all__ = ["Budget", "DesignOptions", "DesignSettings"]


@dataclass(frozen=True, kw_only=True)
class Budget:
    """When to stop: one of these, or none for a design that goes on until ctrl-C.

    >>> exmachina.Budget(seconds=60).left_s(cpu_s=10, wall_s=15, cpu_per_s=1)
    45
    """

    seconds: float | None = None
    """Stop after so many seconds of this call."""
    cpu_seconds: float | None = None
    """Stop after so many CPU-seconds, those before a resume included."""
    rounds: int | None = None
    """Stop after so many steps of the search, those before a resume included."""

    def __post_init__(self) -> None:
        given = {"seconds": self.seconds, "cpu-seconds": self.cpu_seconds, "rounds": self.rounds}
        for name, value in given.items():
            if value is not None and not 0 < value < inf:
                raise OptionError(f"{name}: expected a number above 0, got {value:g}")
        if sum(value is not None for value in given.values()) > 1:
            raise OptionError(f"budget: expected at most one of {', '.join(given)}")

    def used_up(self, step: int, cpu_s: float, wall_s: float) -> bool:
        """Whether it is, after so many steps, CPU-seconds and seconds."""
        return (
            (self.seconds is not None and wall_s >= self.seconds)
            or (self.cpu_seconds is not None and cpu_s >= self.cpu_seconds)
            or (self.rounds is not None and step >= self.rounds)
        )

    def left_s(self, cpu_s: float, wall_s: float, cpu_per_s: float) -> float | None:
        """Seconds left, at so many CPU-seconds a second, where that can be told."""
        if self.seconds is not None:
            return max(0.0, self.seconds - wall_s)
        if self.cpu_seconds is not None and cpu_per_s > 0:
            return max(0.0, self.cpu_seconds - cpu_s) / cpu_per_s
        return None


@dataclass(frozen=True, kw_only=True)
class DesignOptions(EngineOptions, Budget):
    """How a table is designed.

    >>> options = exmachina.DesignOptions(rounds=1, search="paper")
    >>> exmachina.design("known-1x", options=options).progress.step
    1
    """

    search: Literal["default", "paper"] = "default"
    """`paper` is the procedure of Remy'13, section 4.3; the default gets further with less work."""
    seed: int | None = None
    """Of everything random in the search; the model's if not given."""
    resume: bool = False
    """Go on from the checkpoint."""
    force: bool = False
    """Replace what an earlier design left."""

    def __post_init__(self) -> None:
        Budget.__post_init__(self)
        EngineOptions.__post_init__(self)
        if self.seed is not None:
            check_seed(self.seed)


class DesignSettings(EngineSettings, total=False):
    """The fields of `DesignOptions` as keywords."""

    seconds: float | None
    cpu_seconds: float | None
    rounds: int | None
    search: Literal["default", "paper"]
    seed: int | None
    resume: bool
    force: bool
