"""Candidates near a rule table: what a few of its rules do is other."""

import math
import random
from bisect import bisect
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

from exmachina import _core
from exmachina.errors import TableError
from exmachina.schemes import Table

__all__ = ["Rules"]

MOVED, ALIKE, NEAR = 4, 0.3, 0.006
"""Rules that change at most; how often all rules of a window change together; and how near to a pace a split of an
average may be, as a share."""
SHORTEST_MS, LONGEST_MS = 0.0005, 1000.0
"""Pauses between packets."""


class Rules:
    """A table, by what its rules do, and how likely each is to be changed, summed up over rules."""

    def __init__(self, table: Table, shares: Sequence[float]) -> None:
        self.table, self.shares = table, shares

    def elsewhere(self, size: float, stream: random.Random) -> "Rules":
        """Where a few rules, or all that have the window of one of them, do something else.

        No split of an average comes nearer to a pace than 0.6 %: where it settles there a clock's last bit decides.
        """
        actions = self.table.actions
        alike = stream.random() < ALIKE
        for _ in range(1 if alike else 1 + int(stream.random() * MOVED)):
            chosen = bisect(self.shares, stream.random() * self.shares[-1])
            change = _drawn_change(size, stream)
            like = _windows(actions[chosen])
            for rule, action in enumerate(actions):
                if _windows(action) == like if alike else rule == chosen:
                    actions[rule] = changed(action, *change)
        try:
            table = self.table.with_actions(actions, self.table.name)
        except TableError:
            return self
        return Rules(table, self.shares) if nearest(table) > NEAR else self


def nearest(table: Table) -> float:
    """How near a split of an average is to a pace, as a share of the pace."""
    frame = table.frame
    splits = [frame[name].to_numpy() for name in frame.columns if name.endswith(("ewma_from", "ewma_to"))]
    at, paces = np.unique(splits), frame["intersend_ms"].to_numpy()
    return float(np.abs(at[at > 0, None] / paces[paces > 0] - 1).min(initial=1.0))


def changed(action: _core.Action, multiple: float, packets: int, pause: float) -> _core.Action:
    """With more of the window, so many packets more, and a pause that is longer by so many times e.

    A window of one packet stays one: of none no ACK would come that could change anything.
    """
    paused = min(LONGEST_MS, max(SHORTEST_MS, action.intersend_ms * math.exp(pause)))
    larger = min(1.0, max(0.0, action.multiple + multiple)) if action.multiple <= 1 else action.multiple
    more = max(action.increment_packets + packets, math.ceil(1 - larger))
    return _core.Action(larger, more, paused if pause else action.intersend_ms)


def _windows(action: _core.Action) -> tuple[float, int]:
    """What an action does to a window."""
    return action.multiple, action.increment_packets


def _drawn_change(size: float, stream: random.Random) -> tuple[float, int, float]:
    """Of the share of the window that is left, of packets, and of the pause's logarithm: one of the three, or all."""
    multiple, packets, pause = size * _normal(stream), round(_normal(stream)), 2 * size * _normal(stream)
    drawn = (multiple, 0, 0.0), (0.0, packets, 0.0), (0.0, 0, pause), (multiple, packets, pause)
    return drawn[int(stream.random() * len(drawn))]


def _normal(stream: random.Random) -> float:
    """A draw of the normal distribution."""
    return NormalDist().inv_cdf(1e-9 + (1 - 2e-9) * stream.random())
