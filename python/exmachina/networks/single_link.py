"""One link and senders with the same RTT: the network of most examples."""

from dataclasses import dataclass, replace
from typing import TypedDict, Unpack

import tomli_w

from exmachina.errors import InputError, OptionError
from exmachina.networks.model import Model

__all__ = ["Dumbbell", "dumbbell"]


@dataclass(frozen=True, kw_only=True)
class Dumbbell:
    """One link, senders with the same RTT, exponential on- and off-times.

    >>> exmachina.dumbbell(exmachina.Dumbbell(rate_mbps=100)).name
    'network'
    """

    rate_mbps: float = 15.0
    """Rate of the link, Mbit/s."""
    rtt_ms: float = 150.0
    """Round-trip time without a queue, ms."""
    senders: int = 2
    """How many share the link."""
    on_s: float = 5.0
    """Mean time on, s."""
    off_s: float = 5.0
    """Mean time off, s."""
    buffer_bdp: float | None = None
    """Room in the queue, in bandwidth-delay products; infinite if not given."""


class DumbbellSettings(TypedDict, total=False):
    """The fields of `Dumbbell` as keywords."""

    rate_mbps: float
    rtt_ms: float
    senders: int
    on_s: float
    off_s: float
    buffer_bdp: float | None


def dumbbell(network: Dumbbell | None = None, **settings: Unpack[DumbbellSettings]) -> Model:
    """A model of exactly one network.

    >>> exmachina.dumbbell(rate_mbps=100, senders=4).grid_points
    1

    Args:
        network: The network.
        **settings: Fields of `Dumbbell`, which go before those of `network`.

    Raises:
        OptionError: If a value is not possible.
    """
    one = replace(network or Dumbbell(), **settings)
    text = tomli_w.dumps(
        {
            "link": {
                "rate_mbps": one.rate_mbps,
                "buffer": "infinite" if one.buffer_bdp is None else {"bdp": one.buffer_bdp},
            },
            "path": {"rtt_ms": one.rtt_ms},
            "senders": {"count": one.senders},
            "workload": {"on": {"seconds": one.on_s}, "off": {"seconds": one.off_s}},
        }
    )
    try:
        return Model(text, "network.toml")
    except InputError as error:
        names = {
            "link.rate_mbps": "rate-mbps",
            "link.buffer": "buffer-bdp",
            "path.rtt_ms": "rtt-ms",
            "senders.count": "senders",
            "workload.on": "on-s",
            "workload.off": "off-s",
        }
        name = next((name for field, name in names.items() if error.field.startswith(field)), error.field)
        raise OptionError(f"{name}: {error.problem}") from None
