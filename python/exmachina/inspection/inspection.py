"""Explaining a rule table: which rules fire and when, what they do, and what that looks like (Remy'13 §6)."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Unpack

import polars as pl
import tomli_w

from exmachina import _core
from exmachina.checks import workers_of
from exmachina.errors import ModelError, OptionError
from exmachina.frames import frame_of
from exmachina.inspection.equilibria import equilibria
from exmachina.inspection.options import InspectOptions, InspectSettings
from exmachina.inspection.recording import recorded
from exmachina.interrupts import interruptible
from exmachina.networks import Model, ModelLike, dumbbell, outside, stated
from exmachina.schemes import Table, TableLike, designed_range

if TYPE_CHECKING:
    from exmachina._core import Network

__all__ = ["Inspection", "inspect"]

MBPS_PER_PACKET_PER_MS = 10.0
"""The authors' packets have 1250 bytes."""
SOME_S = 5.0
"""Mean time on and off where the authors' file does not say, s."""


@dataclass(frozen=True)
class Inspection:
    """What there is to know about a table on some networks.

    >>> view = exmachina.inspect("known-1x", specimens=2, seconds=2)
    >>> view.usage["share"].sum() > 0.99
    True
    """

    table: Table
    model: Model
    """The networks on which the uses of rules were counted."""
    usage: pl.DataFrame
    """One row per rule, the most used first: rule, uses, share of all uses, its box (`*_from`, `*_to`), its action
    (multiple, increment_packets, intersend_ms), and medians when it was used (`median_*`; times in ms)."""
    sample: pl.DataFrame
    """Some of the uses: rule, window_packets, and memory."""
    equilibria: pl.DataFrame
    """States of a lone flow that hold themselves, as from `exmachina.inspection.equilibria`, the least share first."""
    network: "Network"
    """Of the recorded run."""
    record: pl.DataFrame
    """The run, one row per event, as from `record`."""
    warnings: tuple[str, ...] = ()
    """A line where these networks lie outside the range that the table was designed for, as far as its file says."""


def inspect(
    table: TableLike,
    model: ModelLike | None = None,
    options: InspectOptions | None = None,
    *,
    network: Model | None = None,
    **settings: Unpack[InspectSettings],
) -> Inspection:
    """Runs a table and watches what its rules do.

    >>> view = exmachina.inspect("known-1x", network=exmachina.dumbbell(rtt_ms=50), specimens=2, seconds=2)
    >>> view.network["rtt_ms"]
    [50.0, 50.0]

    Args:
        table: A table, its path, or the name of an algorithm that comes with the program.
        model: The networks to count the uses of rules on: a model, its path, or its name; if not given, `network`, or
            else those that the table says it was designed for, or else one link of 15 Mbit/s and 150 ms with two
            senders.
        options: How many networks, and for how long.
        network: The network of the time plot, say from `dumbbell`; if not given, one of the model's with two senders
            or close to it.
        **settings: Fields of `InspectOptions`, which go before those of `options`.

    Raises:
        InputError: If something given is not possible.
    """
    chosen, table = replace(options or InspectOptions(), **settings), Table.of(table)
    model = Model.of(model) if model is not None else network or _model_of(table)
    seed = model.seed if chosen.seed is None else chosen.seed
    held_out = model.held_out(seed, chosen.specimens)
    workers = workers_of(chosen.threads)
    used = interruptible(lambda stop: _core.usage(table, held_out, model.duration_s, workers, stop))
    sample = frame_of(used.sample)
    if sample.is_empty():
        seconds_each = f"{len(held_out)} networks of {model.name}, {model.duration_s:g} s each"
        raise OptionError(f"inspect: nobody was on in {seconds_each}; expected a time off that is shorter than a run")
    plotted = held_out if network is None else network.held_out(seed, 1)
    index = _closest_to_two_senders(plotted)
    run = recorded(table, plotted, index, chosen.seconds)
    if run.is_empty():
        raise OptionError(
            f"inspect: nobody was on in the network of the time plot, {chosen.seconds:g} s; expected more seconds"
        )
    return Inspection(
        table=table,
        model=model,
        usage=_usage_frame(table, used.rules),
        sample=sample,
        equilibria=equilibria(table, held_out),
        network=plotted.network(index),
        record=run,
        warnings=_outside(table, [model] if network is None else [model, network]),
    )


def _outside(table: Table, models: list[Model]) -> tuple[str, ...]:
    """What to say where a table was designed for other networks."""
    designed = designed_range(table)
    words = [outside(table.name, designed, stated(model.text)) for model in models]
    return tuple(dict.fromkeys(word for word in words if word is not None))


def _closest_to_two_senders(networks: _core.Specimens) -> int:
    """Two share a link, and lines can still be told apart."""
    return min(range(len(networks)), key=lambda i: (abs(len(networks.network(i)["rtt_ms"]) - 2), i))


def _usage_frame(table: Table, used: list[_core.RuleUsage]) -> pl.DataFrame:
    uses = pl.Series("uses", [rule.uses for rule in used], dtype=pl.UInt64)
    columns: list[pl.Series] = [uses, (uses / max(1, uses.sum())).alias("share")]
    for axis, signal in enumerate(_core.SIGNALS):
        columns.append(pl.Series(f"median_{signal}", [rule.median[axis] for rule in used]))
    columns.append(pl.Series("median_window_packets", [rule.median_window_packets for rule in used]))
    frame = table.frame.with_columns(columns).with_columns(pl.col(pl.Float64).fill_nan(None))
    return frame.sort("uses", "rule", descending=[True, False])


def _model_of(table: Table) -> Model:
    """The networks that a table was designed for, where it says so."""
    if table.provenance is not None:
        return Model(table.provenance.model, f"{table.name}.dna")
    config = table.config
    if config is None or config.packets_per_ms is None or config.rtt_ms is None or config.senders is None:
        return dumbbell()
    on, off = (SOME_S if ms is None else _quantity(ms, 1e-3) for ms in (config.on_ms, config.off_ms))
    network = {
        "link": {"rate_mbps": _quantity(config.packets_per_ms, MBPS_PER_PACKET_PER_MS)},
        "path": {"rtt_ms": _quantity(config.rtt_ms)},
        "senders": {"count": _quantity(config.senders)},
        "workload": {"on": {"seconds": on}, "off": {"seconds": off}},
    }
    try:
        return Model(tomli_w.dumps(network), f"{table.name}.dna")
    except ModelError:  # a network that ours cannot express is not this person's mistake
        return dumbbell()


def _quantity(limits: _core.Range, unit: float = 1.0) -> float | dict[str, list[float]]:
    """A range of the authors' file as a model file has it."""
    lo, hi = limits.low * unit, limits.high * unit
    if lo == hi:
        return lo
    return {"log_uniform" if hi > 4 * lo > 0 else "uniform": [lo, hi]}
