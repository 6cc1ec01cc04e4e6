"""Explaining a rule table: which rules fire and when, what they do, and what that looks like (Remy'13 §6)."""

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl
import tomli_w

from exmachina import _core
from exmachina.equilibria import equilibria
from exmachina.errors import InputError
from exmachina.files import check_output, write_atomically
from exmachina.frames import frame_of
from exmachina.interrupts import interruptible
from exmachina.model import Model
from exmachina.scoring import check_seconds, check_seed
from exmachina.slices import Slice, slice_of
from exmachina.table import Table

if TYPE_CHECKING:
    from exmachina._core import Network

__all__ = ["Inspection", "dumbbell", "inspect", "record"]

MAX_ROWS = 2_000_000
"""Of a recorded run: 0.3 GB."""
SPECIMENS = 64
"""Networks on which the uses of rules are counted."""
MBPS_PER_PACKET_PER_MS = 10.0
"""The authors' packets have 1250 bytes."""
PLOT_S = 30.0
"""Simulated seconds of the time plot."""


@dataclass(frozen=True)
class Inspection:
    """What there is to know about a table on some networks."""

    table: Table
    model: Model
    """The networks on which the uses of rules were counted."""
    usage: pl.DataFrame
    """One row per rule, the most used first: rule, uses, share of all uses, its box (`*_from`, `*_to`), its action
    (multiple, increment_packets, intersend_ms), and medians when it was used (`median_*`; times in ms)."""
    sample: pl.DataFrame
    """Some of the uses: rule, window_packets, and memory."""
    slice: Slice
    """The action over the two signals that rules look at most."""
    equilibria: pl.DataFrame
    """States of a lone flow that hold themselves, as from `exmachina.equilibria.equilibria`, the least share first."""
    network: "Network"
    """Of the recorded run."""
    record: pl.DataFrame
    """The run, one row per event, as from `record`."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a self-contained page (`.html`) or a picture (`.png`), atomically.

        Raises:
            InputError: If the name ends otherwise, or the folder is missing or read-only.
        """
        path = check_output(path, suffixes=(".html", ".png"))
        if path.suffix == ".html":
            from exmachina.report import inspection_page  # noqa: PLC0415 (plotting takes a second to load)

            write_atomically(path, inspection_page(self).encode())
        else:
            from exmachina.figures import inspection_figure  # noqa: PLC0415

            write_atomically(path, inspection_figure(self))


def inspect(
    table: Table,
    model: Model | None = None,
    *,
    network: Model | None = None,
    specimens: int = SPECIMENS,
    seconds: float = PLOT_S,
    seed: int | None = None,
    threads: int | None = None,
) -> Inspection:
    """Runs a table and watches what its rules do.

    Args:
        table: The table.
        model: The networks to count the uses of rules on; if not given, `network`, or else those that the table says it
            was designed for, or else one link of 15 Mbit/s and 150 ms with two senders.
        network: The network of the time plot, say from `dumbbell`; if not given, one of the model's with two senders
            or close to it.
        specimens: How many networks of the model are run.
        seconds: Simulated seconds of the time plot.
        seed: Of traffic and networks; the model's if not given.
        threads: As many as there are processors if not given. The result does not depend on it.

    Raises:
        InputError: If a value is not possible.
    """
    model = model or network or _model_of(table)
    seed = model.seed if seed is None else seed
    check_seed(seed)
    check_seconds("seconds", seconds)
    if not 1 <= specimens <= 100_000:  # noqa: PLR2004
        raise InputError(f"specimens: expected from 1 to 100000, got {specimens}")
    held_out = model.held_out(seed, specimens)
    workers = _core.Workers(threads)
    used, sample_columns = interruptible(lambda stop: _core.usage(table, held_out, model.duration_s, workers, stop))
    sample = frame_of(sample_columns)
    if sample.is_empty():
        seconds_each = f"{len(held_out)} networks of {model.name}, {model.duration_s:g} s each"
        raise InputError(f"inspect: nobody was on in {seconds_each}; expected a time off that is shorter than a run")
    plotted = held_out if network is None else network.held_out(seed, 1)
    index = _closest_to_two_senders(plotted)
    recorded = _record(table, plotted, index, seconds)
    if recorded.is_empty():
        raise InputError(
            f"inspect: nobody was on in the network of the time plot, {seconds:g} s; expected more seconds"
        )
    return Inspection(
        table=table,
        model=model,
        usage=_usage_frame(table, used),
        sample=sample,
        slice=slice_of(table, sample),
        equilibria=equilibria(table, held_out),
        network=plotted.network(index),
        record=recorded,
    )


def record(scheme: Table | str, network: Model, *, seconds: float = PLOT_S, seed: int | None = None) -> pl.DataFrame:
    """Runs a scheme (a table, or "aimd") on the first held-out network of a model, and records every event.

    Returns:
        One row per event, in order: time_s, sender, event (start, send, drop, ack or stop), window_packets and
        intersend_ms after it, rtt_ms (ACKs), queue_packets (the packet on the link included), seq, rule, and the
        memory that the rule was looked up by (times in ms). What an event does not have is null. At most some two
        million rows.

    Raises:
        InputError: If a value is not possible.
    """
    check_seconds("seconds", seconds)
    seed = network.seed if seed is None else seed
    check_seed(seed)
    return _record(scheme, network.held_out(seed, 1), 0, seconds)


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
    network = {
        "link": {"rate_mbps": rate_mbps, "buffer": "infinite" if buffer_bdp is None else {"bdp": buffer_bdp}},
        "path": {"rtt_ms": rtt_ms},
        "senders": {"count": senders},
        "workload": {"on": {"seconds": on_s}, "off": {"seconds": off_s}},
    }
    try:
        return Model(tomli_w.dumps(network), "network.toml")
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


def _record(scheme: Table | str, networks: _core.Specimens, index: int, seconds: float) -> pl.DataFrame:
    columns, _ = interruptible(lambda _: _core.record(scheme, networks, index, seconds, MAX_ROWS))
    none = pl.lit(2**32 - 1, dtype=pl.UInt32)
    return frame_of(columns).with_columns(
        pl.col("event").replace_strict(dict(enumerate(_core.EVENTS)), return_dtype=pl.Enum(_core.EVENTS)),
        *(pl.when(pl.col(name) != none).then(pl.col(name)).alias(name) for name in ("seq", "rule")),
    )


def _closest_to_two_senders(networks: _core.Specimens) -> int:
    """Two share a link, and lines can still be told apart."""
    return min(range(len(networks)), key=lambda i: (abs(len(networks.network(i)["rtt_ms"]) - 2), i))


def _usage_frame(table: Table, used: list[tuple[int, list[float], list[float], float]]) -> pl.DataFrame:
    uses = pl.Series("uses", [rule[0] for rule in used], dtype=pl.UInt64)
    columns: list[pl.Series] = [uses, (uses / max(1, uses.sum())).alias("share")]
    for axis, signal in enumerate(_core.SIGNALS):
        columns.append(pl.Series(f"median_{signal}", [rule[2][axis] for rule in used]))
    columns.append(pl.Series("median_window_packets", [rule[3] for rule in used]))
    frame = table.frame.with_columns(columns).with_columns(pl.col(pl.Float64).fill_nan(None))
    return frame.sort("uses", "rule", descending=[True, False])


def _model_of(table: Table) -> Model:
    """The networks that a table was designed for, where it says so."""
    if table.provenance is not None:
        return Model(table.provenance["model"], f"{table.name}.dna")
    config = table.config
    if config is None or config["packets_per_ms"] is None or config["rtt_ms"] is None or config["senders"] is None:
        return dumbbell()
    network = {
        "link": {"rate_mbps": _quantity(config["packets_per_ms"], MBPS_PER_PACKET_PER_MS)},
        "path": {"rtt_ms": _quantity(config["rtt_ms"])},
        "senders": {"count": _quantity(config["senders"])},
        "workload": {
            "on": {"seconds": _quantity(config["on_ms"] or (5e3, 5e3), 1e-3)},
            "off": {"seconds": _quantity(config["off_ms"] or (5e3, 5e3), 1e-3)},
        },
    }
    try:
        return Model(tomli_w.dumps(network), f"{table.name}.dna")
    except InputError:  # a network that ours cannot express is not this person's mistake
        return dumbbell()


def _quantity(limits: tuple[float, float], unit: float = 1.0) -> float | dict[str, list[float]]:
    """A range of the authors' file as a model file has it."""
    lo, hi = limits[0] * unit, limits[1] * unit
    if lo == hi:
        return lo
    return {"log_uniform" if hi > 4 * lo > 0 else "uniform": [lo, hi]}
