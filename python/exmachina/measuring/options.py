"""What may be set of a measurement."""

from dataclasses import dataclass
from typing import TypedDict

from exmachina.errors import OptionError
from exmachina.evaluation import RunOptions
from exmachina.measuring.stacks import STACKS, StackName

__all__ = ["TestbedOptions", "TestbedSettings"]

MOST_AT_ONCE = 64


@dataclass(frozen=True, kw_only=True)
class TestbedOptions(RunOptions):
    """How runs are measured.

    >>> exmachina.TestbedOptions(runs=5, at_once=2).late_ms
    1.0
    """

    stack: StackName = "kernel"
    """Who is at both ends: this machine's kernel, which needs root, or QUIC (noq) in this process, which needs none."""
    at_once: int = 1
    """Runs side by side, each with hosts of its own. They share the processors: watch the lateness."""
    late_ms: float = 1.0
    """A run counts if at most one packet in a thousand was handed over later than this, ms; others are made again."""
    attempts: int = 3
    """How often a run is made, at most."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.stack not in STACKS:
            raise OptionError(f"stack: expected {' or '.join(STACKS)}, got {self.stack}")
        for name, value, most in [("at_once", self.at_once, MOST_AT_ONCE), ("attempts", self.attempts, 1000)]:
            if not 1 <= value <= most:
                raise OptionError(f"{name}: expected from 1 to {most}, got {value}")
        if not self.late_ms > 0:
            raise OptionError(f"late_ms: expected a number above 0, got {self.late_ms:g}")


class TestbedSettings(TypedDict, total=False):
    """The fields of `TestbedOptions` as keywords."""

    runs: int | None
    duration_s: float | None
    seed: int | None
    stack: StackName
    at_once: int
    late_ms: float
    attempts: int
