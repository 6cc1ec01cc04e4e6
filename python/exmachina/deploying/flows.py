"""The connections that have a congestion control, as the kernel shows them."""

import re
from dataclasses import dataclass

from exmachina.deploying.loading import told

__all__ = ["LIST", "Connection", "connections_in", "connections_of"]

LIST = ("ss", "--tcp", "--info", "--numeric", "--no-header", "--oneline")


@dataclass(frozen=True)
class Connection:
    """A TCP connection of this machine, as it stands.

    >>> exmachina.Connection("10.0.0.1:80", "10.0.0.2:4711", 10, 25.5, 4_000_000.0, 15_000).cwnd
    10
    """

    local: str
    peer: str
    cwnd: int
    """Packets."""
    rtt_ms: float
    """Smoothed."""
    pacing_bps: float
    """Bits per second."""
    acked_bytes: int
    """Since it began."""


def connections_of(name: str) -> list[Connection]:
    """The connections of this network namespace that have a congestion control of this name."""
    return connections_in(told(*LIST).splitlines(), name)


def connections_in(lines: list[str], name: str) -> list[Connection]:
    """Those of lines of `ss`."""
    return [_connection(line) for line in lines if re.search(rf"\s{re.escape(name)} ", line)]


def _connection(line: str) -> Connection:
    """A line of `ss`: state, two queues, two addresses, and facts, some of which come only with the first ACKs."""
    local, peer = line.split()[3:5]

    def fact(words: str) -> float:
        found = re.search(rf"\s{words}([0-9.]+)", line)
        return float(found[1]) if found else 0.0

    return Connection(local, peer, int(fact("cwnd:")), fact("rtt:"), fact("pacing_rate "), int(fact("bytes_acked:")))
