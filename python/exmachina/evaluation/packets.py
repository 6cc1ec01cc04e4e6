"""One run of an evaluation packet by packet: what every sender did and saw, and what happened at every queue."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from exmachina import _core
from exmachina.checks import check_seconds
from exmachina.errors import OptionError, SchemeError
from exmachina.evaluation.scenario import Evaluation, ScenarioLike
from exmachina.files import make_folder, write_parquet
from exmachina.schemes import SchemeLike

__all__ = ["TRACE_S", "Trace", "trace"]

MAX_ROWS = 5_000_000
"""Of the senders and of the hops each: 0.4 GB."""
TRACE_S = 20.0
"""Simulated seconds, if nothing is said."""


@dataclass(frozen=True)
class Trace:
    """A run, one row per event, in order.

    >>> recorded = exmachina.trace("r4", "cubic", duration_s=1)
    >>> recorded.senders.columns[:3]
    ['time_s', 'sender', 'event']
    """

    name: str
    """Of the scenario."""
    description: str
    scheme: str
    """The contender."""
    run: int
    duration_s: float
    """Simulated seconds; less than asked for where the run has more than some five million events."""
    senders: pl.DataFrame
    """time_s, sender, event (start, send, ack, stop), seq (number of the packet in the sender's stream), una (the
    oldest packet not acknowledged), window (packets), ssthresh (packets; null where a scheme has none), in_flight
    (packets), rtt_ms (that a packet met), intersend_ms (least time between sends), retransmission (whether sent
    before); what changes is as after the event."""
    hops: pl.DataFrame
    """time_s, hop (number of the link), event (enter, drop, leave), sender, seq, backlog (packets in the queue and on
    the link after it)."""

    def save(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Writes, each atomically, `senders.parquet` and `hops.parquet`; `exmachina.draw` draws them.

        Returns:
            Their paths.

        Raises:
            InputError: If the folder cannot be created or is read-only.
        """
        folder = make_folder(folder)
        paths = [folder / name for name in ("senders.parquet", "hops.parquet")]
        facts = {"scenario": self.name, "scheme": self.scheme, "run": str(self.run)}
        write_parquet(paths[0], self.senders, facts)
        write_parquet(paths[1], self.hops, facts)
        return paths


def trace(
    scenario: ScenarioLike,
    scheme: SchemeLike | None = None,
    *,
    run: int = 0,
    duration_s: float = TRACE_S,
    seed: int | None = None,
) -> Trace:
    """Simulates one run of one contender and records every event: the same run as in `evaluate`.

    >>> exmachina.trace("r4", "cubic", run=3, duration_s=1).run
    3

    Args:
        scenario: An evaluation, the path of a scenario file, or the name of a scenario that comes with the program.
        scheme: The contender, as for `evaluate`; the scenario's first if not given.
        run: Which run; its network and traffic are drawn with its number.
        duration_s: Simulated seconds, at most those of the scenario.
        seed: The root of everything random; the scenario's if not given.

    Raises:
        InputError: If something given is not possible.
    """
    evaluation = Evaluation.of(scenario).changed(None if scheme is None else [scheme], seed=seed)
    if not evaluation.contenders:
        raise SchemeError(f"{evaluation.name}: scheme: expected one, in the scenario or given")
    check_seconds("duration", duration_s)
    if not 0 <= run < 2**32:
        raise OptionError(f"run: expected a whole number from 0 to 2^32 - 1, got {run}")
    duration_s = min(duration_s, evaluation.duration_s)
    senders, hops = evaluation.record_of(0, run, duration_s, MAX_ROWS)
    if max(len(senders), len(hops)) >= MAX_ROWS:
        duration_s = min(_last(frame) for frame in (senders, hops) if len(frame) > 0)
    return Trace(
        name=evaluation.name,
        description=evaluation.description,
        scheme=evaluation.contenders[0],
        run=run,
        duration_s=duration_s,
        senders=_named(senders, _core.SENDER_EVENTS).with_columns(pl.col("retransmission").cast(pl.Boolean)),
        hops=_named(hops, _core.HOP_EVENTS),
    )


def _last(frame: pl.DataFrame) -> float:
    last: Any = frame["time_s"][-1]
    return float(last)


def _named(frame: pl.DataFrame, events: list[str]) -> pl.DataFrame:
    """Events by name; a packet number that an event has not becomes null."""
    none = pl.lit(2**32 - 1, dtype=pl.UInt32)
    return frame.with_columns(
        pl.col("event").replace_strict(dict(enumerate(events)), return_dtype=pl.Enum(events)),
        pl.when(pl.col("seq") != none).then(pl.col("seq")).alias("seq"),
    )
