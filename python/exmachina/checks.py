"""Refusing values that cannot be, by the names that people know them by."""

from math import isfinite

from exmachina import _core
from exmachina.errors import OptionError, told_as

__all__ = ["check_delta", "check_seconds", "check_seed", "workers_of"]


def check_delta(delta: float | None) -> None:
    """Refuses what delay cannot count; none is what somebody else says."""
    if delta is not None and not (isfinite(delta) and delta >= 0):
        raise OptionError(f"delta: expected a number of at least 0, got {delta:g}")


def check_seconds(field: str, seconds: float) -> None:
    """Refuses a simulated time that no run can have, s."""
    with told_as(OptionError, f"{field}: "):
        _core.check_duration(seconds)


def check_seed(seed: int) -> None:
    """Refuses what is no seed."""
    if not 0 <= seed < 2**63:
        raise OptionError(f"seed: expected a whole number from 0 to 2^63 - 1, got {seed}")


def workers_of(threads: int | None) -> _core.Workers:
    """So many threads; as many as there are processors if not given."""
    with told_as(OptionError):
        return _core.Workers(threads)
