"""What networks are like, in numbers, and which of a model's draws are like given ones."""

import numpy as np

from exmachina import _core
from exmachina.networks import Model

__all__ = ["like", "likeness"]

OF_ONE = 200
"""So many are drawn for each that is to be like one of those that are given."""
ROOMIEST = 1e9
"""Packets that an infinite buffer counts as."""
A_PERCENT = 0.01
"""Draws that are no farther apart are of one value."""


def like(model: Model, found: tuple[tuple[float, ...], ...], many: int, seed: int, *, after: int) -> list[int]:
    """Numbers of so many networks of a draw, after its first: each the nearest to one of those, in turn.

    Near is by how many senders there are, RTTs, rates and buffers, each by how far apart the draw has them.
    """
    drawn = np.array(likeness(model.held_out(seed, after + OF_ONE * many, False))[after:])
    apart = np.maximum(np.std(drawn, axis=0), A_PERCENT)
    drawn, those = drawn / apart, np.array(found) / apart
    taken: list[int] = []
    for k in range(many):
        away = np.sum((drawn - those[k % len(those)]) ** 2, axis=1)
        away[taken] = np.inf
        taken.append(int(np.argmin(away)))
    return [after + place for place in taken]


def likeness(networks: _core.Specimens) -> tuple[tuple[float, ...], ...]:
    """The logarithms of what networks are like."""
    numbers = np.array(networks.numbers(), dtype=float)
    return tuple(tuple(row) for row in np.log(np.clip(numbers, 1.0 / ROOMIEST, ROOMIEST)).tolist())
