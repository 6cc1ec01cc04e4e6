"""What matters in a network: each axis is set back to its plain value, as long as most of the harm stays."""

from collections.abc import Callable
from dataclasses import dataclass

from exmachina.hunting.limits import Limits
from exmachina.probing import AXES, Base

__all__ = ["Reduction", "reduced"]

Harm = Callable[[Base], float | None]


@dataclass(frozen=True)
class Reduction:
    """A network made plainer."""

    network: Base
    harm: float
    """By the runs that it was made plainer by."""
    matters: tuple[str, ...]
    """The axes that are not at their plain values."""


def reduced(network: Base, harm: float, limits: Limits, keep: float, harm_of: Harm) -> Reduction:
    """The network with as many axes at plain values as leave at least this part of its harm.

    Axes that matter least go first, by what is left without each alone; who cannot go then is tried once more when all
    others have gone. What is at its plain value already is not tried.

    Args:
        network: The network.
        harm: How bad it is.
        limits: What is plain.
        keep: The part of the harm that stays.
        harm_of: How bad a network is; none where there is nothing to measure.
    """
    least = keep * harm if harm > 0 else harm
    alone = [(harm_of(_plainer(network, limits, name)), name) for name in _odd(network, limits)]
    known = sorted(((left, name) for left, name in alone if left is not None), key=lambda one: -one[0])
    order = [name for _, name in known]
    now, left = network, harm
    for name in (*order, *order):
        plainer = _plainer(now, limits, name)
        if plainer == now:
            continue
        without = harm_of(plainer)
        if without is not None and without >= least:
            now, left = plainer, without
    return Reduction(now, left, tuple(_odd(now, limits)))


def _odd(network: Base, limits: Limits) -> list[str]:
    """The axes at which a network is not plain."""
    return [name for name in limits.free if _plainer(network, limits, name) != network]


def _plainer(network: Base, limits: Limits, name: str) -> Base:
    return limits.with_room(AXES[name].at(network, limits.plain_value(name)))
