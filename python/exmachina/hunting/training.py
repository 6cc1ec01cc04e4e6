"""Networks that were found, for training: entries `[[also]]` of a model, as far as models can say what they are."""

from collections.abc import Sequence
from typing import Any

import tomli_w

from exmachina.errors import ModelError
from exmachina.networks import Model, ModelLike
from exmachina.probing import AXES, Base

__all__ = ["UNSAID", "also_text", "trained_also"]

UNSAID = ("stalls", "outages", "reordered", "queue")
"""Axes that models know nothing of."""
BESIDE = {"cubic": "cubic", "newreno": "newreno", "bbr3": "bbr"}
"""Neighbours, and the fields of a world that put them there."""
LEAST_OFF = 1e-3
"""Senders that are always on are off for this part of their time on, which is as long as a run."""
ALWAYS_S = 1e3


def also_text(network: Base, weight: float = 1) -> str:
    """The entry of a model that has this network among those it trains with, at this weight against the model's own.

    >>> print(exmachina.hunting.also_text(exmachina.probing.Base(loss=0.01)).splitlines()[0])
    [[also]]

    Raises:
        ModelError: If models cannot say what it is; names the axis.
    """
    for name in UNSAID:
        if AXES[name].of(network) != AXES[name].of(Base()):
            raise ModelError(f"also: {name}: expected {AXES[name].of(Base())}: models have no such networks")
    if network.neighbour is not None and network.neighbour not in BESIDE:
        raise ModelError(f"also: beside: expected one of {', '.join(BESIDE)}, got {network.neighbour}")
    on_s, off_s = (network.on_s, network.off_s) if network.off_s else (ALWAYS_S, ALWAYS_S * LEAST_OFF)
    entry: dict[str, Any] = {
        "link": {"rate_mbps": network.rate_mbps, "buffer": {"bdp": network.buffer_bdp}},
        "path": {"rtt_ms": network.rtt_ms},
        "senders": {"count": network.senders},
        "workload": {"on": {"seconds": on_s}, "off": {"seconds": off_s}},
        "world": _world(network),
    }
    if weight != 1:
        entry["weight"] = weight
    return tomli_w.dumps({"also": [entry]})


def _world(network: Base) -> dict[str, Any]:
    """What is odd in it."""
    given = {
        "jitter_ms": network.jitter_ms,
        "clock_ms": network.clock_ms,
        "loss": network.loss,
        "rate_wander": network.rate_wander,
        "ack_packets": network.ack_packets,
    }
    world: dict[str, Any] = {name: value for name, value in given.items() if value}
    if network.ack_packets > 1:
        world["ack_delay_ms"] = network.ack_delay_ms
    if network.rtt_spread != 1:
        world["rtt_spread"] = network.rtt_spread
    if network.neighbour is not None:
        world[BESIDE[network.neighbour]] = 1
    return world


def trained_also(model: ModelLike, networks: Sequence[Base], weight: float = 1) -> Model:
    """The model with these networks among those it trains with, at this weight each: what adversarial rounds do.

    >>> model = exmachina.hunting.trained_also("general-1", [exmachina.probing.Base(jitter_ms=5)])
    >>> exmachina.networks.trained(model.text).jitter_ms
    Span(low=0.0, high=5.0)

    Raises:
        ModelError: If models cannot say what one of them is.
    """
    found = Model.of(model).whole()
    entries = (also_text(network, weight) for network in networks)
    return Model("\n".join([found.text.rstrip(), *entries]), f"{found.name}.toml")
