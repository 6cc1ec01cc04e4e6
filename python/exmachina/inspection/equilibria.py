"""States of a lone flow that hold themselves: pace, ACK spacing and window that lead to nothing but themselves.

A run that slides past such a state on its way says nothing of it; a real start may end there. Four kinds, three of them
on a network without a queue, where a flow that has less than the link could have more:

- `pace`: ACKs come back at the very pace that the rule for them sets, and its window is more than that pace needs;
- `window`: the rule for ACKs a share of an RTT apart keeps the window that spaces them so;
- `lone packet`: a window of one packet, whose ACK waits for the receiver's timer (RFC 1122 §4.2.3.2), so that the RTT
  ratio says congestion for ever;
- `mute`: a rule that takes a window of one packet to none, so that no ACK comes that could change anything. The papers'
  simulators leave it so until the on-period ends; our designs have no such rule.
"""

from collections.abc import Iterator
from math import floor, inf
from typing import NamedTuple

import numpy as np
import polars as pl

from exmachina import _core
from exmachina.schemes import Table, rules_at

__all__ = ["ACK_DELAY_MS", "equilibria"]

ACK_DELAY_MS = 40.0
"""How long an ACK waits for a second packet, as Linux has it at least."""
PACKET_BITS = 10_000
MOST_PACKETS = 1_000_000
"""The largest window."""
ROUNDING = 1e-12


class State(NamedTuple):
    """A state that may hold itself: if the rule for its memory is this one."""

    kind: str
    rule: int
    spacing_ms: float
    rtt_ratio: float
    share: float
    """Of the link."""


def equilibria(table: Table, networks: _core.Specimens) -> pl.DataFrame:
    """The states of a lone flow that hold themselves on some of these networks, and what they mean.

    Returns:
        One row per rule and kind, none for a law: rule, kind, networks (the share of them where it holds), share_from
        and share_to (of the link, 0 to 1: what the flow has there, over those networks), the least first.
    """
    actions = [rule.action for rule in table.rules]
    rests = [_rests(action.multiple, action.increment_packets) for action in actions]
    muting = [action.multiple + action.increment_packets < 1 for action in actions]
    rows = []
    # Under a law a window without a queue grows, whatever it is.
    for index in range(len(networks) if table.law is None else 0):
        network = networks.network(index)
        states = list(_states(actions, rests, 1e-3 * PACKET_BITS / network["rate_mbps"], min(network["rtt_ms"])))
        points = np.array([_memory(state) for state in states]).reshape(-1, len(_core.SIGNALS))
        found = rules_at(table, points)
        rows += [(index, *state) for state, rule in zip(states, found, strict=True) if rule == state.rule]
        rows += [(index, "mute", rule, inf, inf, 0.0) for rule, mutes in enumerate(muting) if mutes]
    frame = pl.DataFrame(rows, schema=["network", *State._fields], orient="row", infer_schema_length=None)
    return (
        frame.group_by("rule", "kind", maintain_order=True)
        .agg(
            networks=pl.col("network").n_unique() / len(networks),
            share_from=pl.col("share").min(),
            share_to=pl.col("share").max(),
        )
        .sort("share_from", "rule", "kind")
    )


def _memory(state: State) -> list[float]:
    """Once averages have settled, in the order of `exmachina.SIGNALS`."""
    rtt_diff = 0.0 if state.rtt_ratio == 1 else ACK_DELAY_MS
    settled = {"rtt_ratio": state.rtt_ratio, "rtt_diff": rtt_diff}
    spacings = ("send_ewma", "ack_ewma", "slow_ack_ewma", "queueing_delay")
    settled |= dict.fromkeys(spacings, state.spacing_ms)
    return [settled.get(signal, 0.0) for signal in _core.SIGNALS]


def _states(
    actions: list[_core.Action], rests: list[tuple[int, int]], packet_ms: float, min_rtt_ms: float
) -> Iterator[State]:
    rtt_ms = min_rtt_ms + packet_ms
    for rule, (most, least) in enumerate(rests):
        intersend_ms = actions[rule].intersend_ms
        if intersend_ms > packet_ms and most * intersend_ms >= rtt_ms:
            yield State("pace", rule, intersend_ms, 1.0, packet_ms / intersend_ms)
        for window in sorted({least, most}):
            spacing_ms = rtt_ms / window if window > 0 else inf
            if max(packet_ms, intersend_ms) < spacing_ms < inf:
                yield State("window", rule, spacing_ms, 1.0, packet_ms / spacing_ms)
        if least == 1 and intersend_ms <= rtt_ms + ACK_DELAY_MS:
            spacing_ms = rtt_ms + ACK_DELAY_MS
            yield State("lone packet", rule, spacing_ms, spacing_ms / rtt_ms, packet_ms / spacing_ms)


def _rests(multiple: float, increment: int) -> tuple[int, int]:
    """Where windows rest that the same rule sets again and again: from the largest on down, and from one packet on.

    Windows are cut to whole packets: one rests if multiple * window + increment is less than a packet above it.
    """

    def after(window: int) -> int:
        return max(0, min(MOST_PACKETS, floor(multiple * window + increment)))

    if multiple >= 1:
        most = MOST_PACKETS if after(MOST_PACKETS) == MOST_PACKETS else after(0)
        least = 1 if after(1) == 1 else MOST_PACKETS if after(1) > 1 else after(0)
        return most, least
    most = max(0, min(MOST_PACKETS, floor(increment / (1 - multiple) * (1 + ROUNDING))))
    if after(1) <= 1:
        return most, after(1)
    least = floor((increment - 1) / (1 - multiple) * (1 + ROUNDING)) + 1
    return most, max(0, min(most, least))
