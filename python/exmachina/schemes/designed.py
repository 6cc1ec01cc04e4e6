"""What a table was designed for, as far as its file says: the range of networks, and how much delay counts."""

from collections.abc import Sequence

from exmachina import _core
from exmachina.networks import Model, Ranges, Span, trained
from exmachina.schemes.table import Table

__all__ = ["designed_delta", "designed_range"]

MBPS_PER_PACKET_PER_MS = 10.0
"""The authors' packets have 1250 bytes."""


def designed_range(table: Table) -> Ranges | None:
    """The networks of the model in a table of ours, or of the configuration in one of the authors'; none of others.

    >>> exmachina.schemes.designed_range(exmachina.Table.load("general-1")).rtt_ms
    Span(low=100.0, high=200.0)
    """
    if table.provenance is not None:
        return trained(table.provenance.model)
    config = table.config
    if config is None:
        return None
    return Ranges(
        rate_mbps=_span(config.packets_per_ms, MBPS_PER_PACKET_PER_MS),
        rtt_ms=_span(config.rtt_ms),
        senders=_span(config.senders),
        on_s=_span(config.on_ms, 1e-3),
        off_s=_span(config.off_ms, 1e-3),
    )


def designed_delta(tables: Sequence[Table]) -> float:
    """How much delay counts to the first of these that says what it was designed to strive for; else 1.

    >>> exmachina.schemes.designed_delta([exmachina.Table.load("general-0.1")])
    0.1
    """
    models = [Model(table.provenance.model) for table in tables if table.provenance is not None]
    return models[0].objective.delta if models else 1.0


def _span(limits: _core.Range | None, unit: float = 1.0) -> Span | None:
    return None if limits is None else Span(limits.low * unit, limits.high * unit)
