"""Refusing values that no simulation can have, by the names that people know them by."""

from exmachina import _core
from exmachina.errors import InputError

__all__ = ["check_seconds", "check_seed"]


def check_seconds(field: str, seconds: float) -> None:
    """Refuses a simulated time that no run can have, s."""
    try:
        _core.check_duration(seconds)
    except InputError as error:
        raise InputError(f"{field}: {error}") from None


def check_seed(seed: int) -> None:
    """Refuses what is no seed."""
    if not 0 <= seed < 2**63:
        raise InputError(f"seed: expected a whole number from 0 to 2^63 - 1, got {seed}")
