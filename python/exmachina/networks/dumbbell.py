"""One link and senders with the same RTT: the network of most examples."""

from exmachina.errors import InputError
from exmachina.networks.model import Model

__all__ = ["dumbbell"]


def dumbbell(
    *,
    rate_mbps: float = 15.0,
    rtt_ms: float = 150.0,
    senders: int = 2,
    on_s: float = 5.0,
    off_s: float = 5.0,
    buffer_bdp: float | None = None,
) -> Model:
    """A model of exactly one network: one link, senders with the same RTT, exponential on- and off-times.

    Args:
        rate_mbps: Rate of the link, Mbit/s.
        rtt_ms: Round-trip time without a queue, ms.
        senders: How many share the link.
        on_s: Mean time on, s.
        off_s: Mean time off, s.
        buffer_bdp: Room in the queue in bandwidth-delay products; nothing is dropped if not given.

    Raises:
        InputError: If a value is not possible.
    """
    buffer = '"infinite"' if buffer_bdp is None else f"{{ bdp = {buffer_bdp!r} }}"
    text = (
        f"[link]\nrate_mbps = {rate_mbps!r}\nbuffer = {buffer}\n[path]\nrtt_ms = {rtt_ms!r}\n"
        f"[senders]\ncount = {senders!r}\n[workload]\non = {{ seconds = {on_s!r} }}\noff = {{ seconds = {off_s!r} }}\n"
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
        raise InputError(f"{name}: {error.problem}") from None
