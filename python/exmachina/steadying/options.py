"""What may be set where an algorithm is steadied."""

from dataclasses import dataclass, replace

from exmachina.checks import check_seconds, check_seed
from exmachina.engines import EngineOptions, EngineSettings
from exmachina.errors import OptionError

__all__ = ["SteadyOptions", "SteadySettings"]

MOST = {
    "steps": 10_000,
    "candidates": 1000,
    "specimens": 100_000,
    "disturbed": 10_000,
    "states": 10_000,
    "hunted": 100_000,
    "checks": 100_000,
}
LEAST = {"steps": 1, "candidates": 1, "specimens": 4, "disturbed": 0, "states": 1, "hunted": 0, "checks": 2}
MOST_SIZE = 1.0
LEAST_OF_LAW = 4


@dataclass(frozen=True, kw_only=True)
class SteadyOptions(EngineOptions):
    """How many steps an algorithm is taken, on how much, and what they may cost.

    >>> options = exmachina.SteadyOptions(steps=1, candidates=1, specimens=4, disturbed=2, states=2, checks=2)
    >>> exmachina.steady("known-1x", options=options, seconds_each=5).steps["step"].to_list()
    [1]
    """

    steps: int = 40
    candidates: int | None = None
    """Of a step: near a table (96 if not given) one thing is other, and what is ahead on other networks, too, is kept;
    near a law (12) all its numbers are."""
    specimens: int = 48
    """Networks of a step that scores are of, of each model; four times as many where a table's best are tried again."""
    seconds_each: float = 60.0
    """Simulated seconds of each."""
    disturbed: int = 40
    """Networks of a step that are disturbed, and as many times as many; with none the score alone counts."""
    states: int = 5
    """Of each of them."""
    hunted: int = 0
    """Networks that are looked through, each tenth step, for those on which flows are lost: if there are any, as many
    more are disturbed that are like them from then on."""
    gives: float | None = 0.02
    """No more than this may be lost of the score that it began with; if `None`, anything."""
    gives_each: float | None = None
    """The same on any other model, and in any quarter of the networks by how many senders there are, rate, or RTT."""
    size: float | None = None
    """How far candidates are: in shares of a window (0.1 if not given), or of the ranges of a law's numbers in its
    first step (0.03), from which the evolution learns how far to go."""
    lost: float = 0.5
    """This share of the rules that are changed is drawn by how often they are used where flows are lost."""
    checks: int = 100
    """Networks of the comparison with what it began with, by draws that chose nothing; a fifth are disturbed."""
    seed: int = 1
    """Of candidates, networks and states."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, least in LEAST.items():
            given = getattr(self, name)
            if given is not None and not least <= given <= MOST[name]:
                raise OptionError(f"{name}: expected from {least} to {MOST[name]}, got {given}")
        check_seconds("seconds-each", self.seconds_each)
        for name in ("gives", "gives_each"):
            allowed = getattr(self, name)
            if allowed is not None and not allowed >= 0:
                raise OptionError(f"{name.replace('_', '-')}: expected 0 or more, got {allowed:g}")
        if self.size is not None and not 0 < self.size <= MOST_SIZE:
            raise OptionError(f"size: expected more than 0 and at most {MOST_SIZE:g}, got {self.size:g}")
        if not 0 <= self.lost <= 1:
            raise OptionError(f"lost: expected from 0 to 1, got {self.lost:g}")
        check_seed(self.seed)

    def settled(self, *, law: bool) -> "SteadyOptions":
        """With what was not given, as it is for a law or a table.

        Raises:
            OptionError: If a law's candidates are too few to learn from.
        """
        candidates, size = (12, 0.03) if law else (96, 0.1)
        given = replace(self, candidates=self.candidates or candidates, size=self.size or size)
        if law and given.candidates is not None and given.candidates < LEAST_OF_LAW:
            raise OptionError(f"candidates: expected at least {LEAST_OF_LAW} of a law, got {given.candidates}")
        return given


class SteadySettings(EngineSettings, total=False):
    """The fields of `SteadyOptions` as keywords."""

    steps: int
    candidates: int | None
    specimens: int
    seconds_each: float
    disturbed: int
    states: int
    hunted: int
    gives: float | None
    gives_each: float | None
    size: float | None
    lost: float
    checks: int
    seed: int
