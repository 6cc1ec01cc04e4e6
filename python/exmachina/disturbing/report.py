"""What came of disturbed states: one frame, and what it says of each table."""

import os
from dataclasses import dataclass

import polars as pl

from exmachina.files import check_output, write_parquet
from exmachina.networks import Model

__all__ = ["Disturbed"]


@dataclass(frozen=True)
class Disturbed:
    """How tables came back from disturbed states of the same networks.

    >>> found = exmachina.disturb("known-1x", specimens=2, states=4)
    >>> found.summary.select("scheme", "networks", "back", "stays").rows()
    [('known-1x', 2, 1.0, 0.0)]
    """

    model: Model
    seed: int
    """Of networks and states."""
    states: int
    """Of each network."""
    frame: pl.DataFrame
    """One row per table and network: scheme, specimen, rate_mbps, min_rtt_ms, senders, states; of these states how many
    are back (throughput and mean RTT within 10 % of what they are undisturbed), below (some flow has less than half of
    its share) and stays (some flow still has); lacks (what the flow with the least still has too little for three
    quarters of its share, of these: summed up over states); uneven (1: some flow has less than half of its share
    undisturbed); nudged, nudged_back and nudged_stays, of those that were nudged by a percent at most."""

    @property
    def summary(self) -> pl.DataFrame:
        """One row per table, in the order asked for: how many networks, shares of states, and of networks (uneven)."""
        of_all = [(pl.sum(name) / pl.sum("states")).alias(name) for name in ("back", "below", "stays", "lacks")]
        of_nudged = [(pl.sum(name) / pl.sum("nudged")).alias(name) for name in ("nudged_back", "nudged_stays")]
        return self.frame.group_by("scheme", maintain_order=True).agg(
            pl.len().alias("networks"), *of_all, pl.mean("uneven"), *of_nudged
        )

    @property
    def worst(self) -> pl.DataFrame:
        """Networks on which flows stay below half of their share, or are not back, those with the most states first.

        The columns of `frame`.
        """
        kept = self.frame.filter((pl.col("stays") > 0) | (pl.col("back") < pl.col("states")))
        lost = pl.col("stays") + pl.col("states") - pl.col("back")
        return kept.sort(lost, descending=True, maintain_order=True)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the frame as Parquet, atomically, with the model and the seed in its metadata.

        Raises:
            InputError: If the folder is missing or read-only, or the name does not end in `.parquet`.
        """
        facts = self.model.facts | {"seed": str(self.seed)}
        write_parquet(check_output(path, suffixes=(".parquet",)), self.frame, facts)
