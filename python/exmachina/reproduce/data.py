"""What an experiment's simulations gave: arrays by case, contender and point of the grid."""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import polars as pl

from exmachina.evaluation import COUNTED, Results

__all__ = ["COORDINATES", "QUANTITIES", "CaseData", "Floats", "Point"]

Floats = npt.NDArray[np.float64]

QUANTITIES = {
    **COUNTED,
    "goodput_mbps": "throughput without headers (Mbit/s)",
    "normalised_throughput": "throughput / equal share",
    "retransmission_rate": "packets sent again / packets sent",
    "flow_bytes": "flow length (bytes)",
    "objective": "normalised objective",
    "objective_link": "log(normalised throughput) − log(delay)",
    "objective_share": "log(normalised throughput) − log(delay)",
}
"""What can be drawn and measured, and what axes call it. Those called objectives follow from means (`objective`)."""
COORDINATES = ("rate_mbps", "senders", "min_rtt_ms")


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


class CaseData:
    """The results of one case."""

    def __init__(self, results: Results) -> None:
        self.results = results
        self.points_of: dict[tuple[str, tuple[int, ...] | None], list[Point]] = {}
        self.flows = results.flows.with_columns(
            retransmission_rate=pl.col("retransmitted_packets") / pl.col("sent_packets").clip(1),
            flow_bytes=pl.col("goodput_mbps") * pl.col("on_s") * 1e6 / 8,
            point=pl.col("run") % (results.grid_points or 1),
        )

    @property
    def contenders(self) -> list[str]:
        """What they are called, where a sender was on in any run."""
        on = self.flows.filter(pl.col("on_s") > 0)
        return [str(label) for label in on["contender"].unique(maintain_order=True)]

    def only(self, wanted: Callable[[str], bool]) -> "CaseData":
        """The same of those contenders whose labels are wanted."""
        part = copy(self)
        part.flows = self.flows.filter(pl.col("contender").is_in([one for one in self.contenders if wanted(one)]))
        part.points_of = {}
        return part

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
