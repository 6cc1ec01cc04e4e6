"""Candidates near a rule table: what a few of its rules do is other, or a place where it is split is elsewhere."""

import math
import random
from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

from exmachina import _core
from exmachina.errors import TableError
from exmachina.networks import Model
from exmachina.schemes import Table

__all__ = ["Change", "Clearance", "Undo", "changes"]

EDGE, ALIKE = 0.25, 0.25
"""How often an edge moves; and how often all rules of a window change together, not one of them."""
SHORTEST_MS, LONGEST_MS = 0.0005, 1000.0
"""Pauses between packets."""
TRIES = 20
"""As many times as many changes are drawn at most as are asked for: some are not possible."""


@dataclass(frozen=True)
class Clearance:
    """How near a split of an average may be to what that settles at: a pace, or what a model's link makes of one."""

    model: Model
    least: float
    """As a share."""

    @classmethod
    def of(cls, begun: Table, model: Model) -> "Clearance":
        """What designs keep; or what is left to a table that has less."""
        return cls(model, min(_core.NEAREST_EDGE, begun.nearest_edge(model)))

    def has(self, table: Table) -> bool:
        """Whether all splits of a table are as far off."""
        return table.nearest_edge(self.model) >= self.least


@dataclass(frozen=True)
class Change:
    """What is other: what rules do, or where one edge is."""

    rules: tuple[int, ...] = ()
    by: tuple[float, int, float] = (0.0, 0, 0.0)
    """More of the window, packets more, and the pause's logarithm."""
    edge: tuple[str, float, float] | None = None
    """The signal, the place, and how many times as far from where the signal is at rest it is to be."""

    def of(self, table: Table, clearance: Clearance) -> Table | None:
        """The table with it; none if it cannot be, changes nothing, or brings a split too near what that settles at."""
        try:
            if self.edge is not None:
                other = table.with_edge(*self.edge, table.name)
            else:
                actions = table.actions
                for rule in self.rules:
                    actions[rule] = changed(actions[rule], *self.by)
                if actions == table.actions:
                    return None
                other = table.with_actions(actions, table.name)
        except TableError:
            return None
        return other if clearance.has(other) else None


@dataclass(frozen=True)
class Undo:
    """One of the changes that were taken is none."""

    change: Change


def changes(
    table: Table, clearance: Clearance, shares: Sequence[float], *, size: float, count: int, stream: random.Random
) -> list[Change]:
    """Such changes of a table, all of them possible; `shares` is how likely rules are to be changed, summed up.

    Fewer than asked for where it hardly can be changed at all.
    """
    edges, possible = table.edges, list[Change]()
    for _ in range(TRIES * count):
        if len(possible) == count:
            break
        change = _edge(edges, size, stream) if edges and stream.random() < EDGE else _rules(table, shares, size, stream)
        if change.of(table, clearance) is not None:
            possible.append(change)
    return possible


def _edge(edges: Sequence[tuple[str, float]], size: float, stream: random.Random) -> Change:
    signal, at = edges[int(stream.random() * len(edges))]
    return Change(edge=(signal, at, math.exp(2 * size * _normal(stream))))


def _rules(table: Table, shares: Sequence[float], size: float, stream: random.Random) -> Change:
    chosen = bisect(shares, stream.random() * shares[-1])
    alike, actions = stream.random() < ALIKE, table.actions
    like = _windows(actions[chosen])
    those = [rule for rule, action in enumerate(actions) if _windows(action) == like] if alike else [chosen]
    return Change(tuple(those), _drawn_change(size, stream))


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
