"""What an experiment's simulations gave: arrays by case, contender and point of the grid."""

import tomllib
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import polars as pl

from exmachina.evaluation import Results

__all__ = ["COORDINATES", "QUANTITIES", "CaseData", "Floats", "Point"]

Floats = npt.NDArray[np.float64]

QUANTITIES = {
    "counted_mbps": "throughput (Mbit/s)",
    "counted_rtt_ms": "RTT (ms)",
    "counted_delay_ms": "queueing delay (ms)",
    "counted_excess_ms": "queueing delay over the RTT (ms)",
    "goodput_mbps": "throughput (Mbit/s)",
    "throughput_mbps": "throughput (Mbit/s)",
    "queueing_delay_ms": "queueing delay of packets (ms)",
    "mean_rtt_ms": "RTT of packets (ms)",
    "normalised_throughput": "throughput / equal share",
    "retransmission_rate": "packets sent again / packets sent",
    "flow_bytes": "flow length (bytes)",
    "objective": "normalised objective",
    "objective_link": "log(normalised throughput) − log(delay)",
    "objective_share": "log(normalised throughput) − log(delay)",
}
"""What can be drawn and measured, and what axes call it. Those called objectives follow from means (`objective`), what
is counted is what the paper's own scripts count (`_counted`)."""
COORDINATES = ("rate_mbps", "senders", "min_rtt_ms")
FIGURE_4_RTT_MS, FIGURE_4_LESS_MS = 150, 149.5
"""What Remy'13's script for figure 4 takes off each RTT, where a path without a queue has 150 ms. The ratios of its §1
come from the same delays less another half a millisecond, those for the cellular link from figure 7's as they are:
so it is the RTT itself there, and where nothing is known (docs/differences.md)."""


@dataclass(frozen=True)
class Point:
    """All runs of a contender on one network, or on networks that are drawn."""

    at: dict[str, float]
    """rate_mbps, senders and min_rtt_ms; the first run's where they are drawn."""
    flows: pl.DataFrame
    """One row per run and sender that was on."""
    cells: dict[str, Floats] = field(default_factory=dict)

    def runs(self, quantity: str) -> Floats:
        """By run: the mean over the senders that were on; NaN where there is none, shape (runs,)."""
        return _nanmean(self.senders(quantity))

    def senders(self, quantity: str) -> Floats:
        """By run and sender; NaN where a sender was not on or nothing is known, shape (runs, senders)."""
        if quantity not in self.cells:
            wide = self.flows.pivot("sender", index="run", values=quantity, maintain_order=True).sort("run")
            self.cells[quantity] = wide.drop("run").cast(pl.Float64).fill_null(float("nan")).to_numpy()
        return self.cells[quantity]


def _nanmean(values: Floats) -> Floats:
    """Along the last axis; NaN where all are."""
    known = ~np.isnan(values)
    count = known.sum(axis=-1)
    total = np.where(known, values, 0.0).sum(axis=-1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _counted(scenario: str) -> dict[str, pl.Expr]:
    """Throughput, RTT and queueing delay as the paper's scripts count them, in ns-2's transports; else of packets.

    That is data in order with their headers, over the time on; and RTTs over all ACKs (Tao'14), or over what polls
    every 5 ms see (Remy'13).
    """
    known = pl.col("ns2_rtt_ms").cast(pl.Float64).fill_nan(None)
    share = pl.col("in_order_packets") / pl.col("delivered_packets")
    in_order = pl.col("throughput_mbps") * pl.when(pl.col("delivered_packets") > 0).then(share).otherwise(1.0)
    if tomllib.loads(scenario).get("transport", {}).get("preset") == "remy13":
        excess = known - pl.col("min_rtt_ms")
        figure_4 = pl.col("min_rtt_ms") == FIGURE_4_RTT_MS
        delay = pl.when(figure_4).then(known - FIGURE_4_LESS_MS).otherwise(excess)
    else:
        excess = delay = pl.when(known.is_not_null()).then(pl.col("sampled_delay_ms"))
    return {
        "counted_mbps": pl.coalesce(pl.col("ns2_throughput_mbps").cast(pl.Float64).fill_nan(None), in_order),
        "counted_rtt_ms": pl.coalesce(known, "mean_rtt_ms"),
        "counted_delay_ms": pl.coalesce(delay, "queueing_delay_ms"),
        "counted_excess_ms": pl.coalesce(excess, "queueing_delay_ms"),
    }


class CaseData:
    """The results of one case."""

    def __init__(self, results: Results) -> None:
        self.results = results
        self.points_of: dict[tuple[str, tuple[int, ...] | None], list[Point]] = {}
        self.flows = results.flows.with_columns(
            **_counted(results.text),
            retransmission_rate=pl.col("retransmitted_packets") / pl.col("sent_packets").clip(1),
            flow_bytes=pl.col("goodput_mbps") * pl.col("on_s") * 1e6 / 8,
            point=pl.col("run") % (results.grid_points or 1),
        )

    @property
    def contenders(self) -> list[str]:
        """What they are called, where a sender was on in any run."""
        on = self.flows.filter(pl.col("on_s") > 0)
        return [str(label) for label in on["contender"].unique(maintain_order=True)]

    def points(self, contender: str | None, senders: tuple[int, ...] | None = None) -> list[Point]:
        """By network of the grid, or one for all runs. Contender: the only one if none is named.

        Raises:
            KeyError: If there is no such contender.
        """
        label = self.contenders[0] if contender is None else contender
        key = (label, senders)
        if key not in self.points_of:
            if label not in self.contenders:
                raise KeyError(label)
            chosen = self.flows.filter((pl.col("contender") == label) & (pl.col("on_s") > 0))
            if senders is not None:
                chosen = chosen.filter(pl.col("sender").is_in(senders))
            groups = chosen.partition_by("point", maintain_order=True)
            self.points_of[key] = [Point(_coordinates(group), group) for group in groups]
        return self.points_of[key]


def _coordinates(flows: pl.DataFrame) -> dict[str, float]:
    return {name: float(flows[name][0]) for name in COORDINATES}
