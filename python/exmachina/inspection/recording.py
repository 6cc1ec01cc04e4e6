"""One run of the design simulator, event by event."""

from typing import Literal

import polars as pl

from exmachina import _core
from exmachina.checks import check_seconds, check_seed
from exmachina.frames import frame_of
from exmachina.interrupts import interruptible
from exmachina.networks import Model, ModelLike
from exmachina.schemes import Table, TableLike

__all__ = ["record", "recorded"]

MAX_ROWS = 2_000_000
"""Of a recorded run: 0.3 GB."""


def record(
    scheme: TableLike,
    network: ModelLike,
    *,
    seconds: float = 30.0,
    seed: int | None = None,
) -> pl.DataFrame:
    """Runs a table, or "aimd", on the first held-out network of a model, and records every event.

    >>> run = exmachina.record("known-1x", exmachina.dumbbell(senders=1), seconds=20)
    >>> run["event"][0]
    'start'

    Args:
        scheme: A table, its path, or the name of an algorithm that comes with the program; or "aimd".
        network: A model, its path, or its name; say from `dumbbell`.
        seconds: Simulated seconds.
        seed: Of the network and its traffic; the model's if not given.

    Returns:
        One row per event, in order: time_s, sender, event (start, send, drop, ack or stop), window_packets and
        intersend_ms after it, rtt_ms (ACKs), queue_packets (the packet on the link included), seq, rule, and the
        memory that the rule was looked up by (times in ms). What an event does not have is null. At most some two
        million rows.

    Raises:
        InputError: If a value is not possible.
    """
    check_seconds("seconds", seconds)
    network = Model.of(network)
    seed = network.seed if seed is None else seed
    check_seed(seed)
    table: Table | Literal["aimd"] = "aimd" if scheme == "aimd" else Table.of(scheme)
    return recorded(table, network.held_out(seed, 1), 0, seconds)


def recorded(scheme: Table | Literal["aimd"], networks: _core.Specimens, index: int, seconds: float) -> pl.DataFrame:
    """A run on one of these networks, as from `record`."""
    run = interruptible(lambda _: _core.record(scheme, networks, index, seconds, MAX_ROWS))
    none = pl.lit(2**32 - 1, dtype=pl.UInt32)
    return frame_of(run.events).with_columns(
        pl.col("event").replace_strict(dict(enumerate(_core.EVENTS)), return_dtype=pl.Enum(_core.EVENTS)),
        *(pl.when(pl.col(name) != none).then(pl.col(name)).alias(name) for name in ("seq", "rule")),
    )
