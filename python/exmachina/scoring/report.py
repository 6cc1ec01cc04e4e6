"""What schemes got on the same specimens: one frame, and what it says by scheme and by stratum."""

import os
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import polars as pl

from exmachina.files import check_output, write_parquet
from exmachina.networks import Model
from exmachina.stats import mean_interval

__all__ = ["AIMD", "AIMD_BDP", "REFERENCE", "ScoreReport", "Stratum"]

REFERENCE = "omniscient reference"
"""The row of senders that know at every moment who else is on: equal shares, and never a queue. It is no bound: what is
delivered after a sender was switched off counts, and the time does not, so that who leaves a queue behind gets more."""
AIMD = "AIMD"
"""The row of the AIMD sender of Tao'14 §4.5."""
AIMD_BDP = "AIMD, 1-BDP buffer"
"""Its row where the buffer is infinite: AIMD slows down for losses only, so it gets a buffer that has some."""

MOST_VALUES = 16
"""Strata are values as long as there are so few of them."""
QUARTERS = 4

Stratum: TypeAlias = Literal["rate_mbps", "min_rtt_ms", "senders"]
"""What networks may be divided by."""


@dataclass(frozen=True)
class ScoreReport:
    """What a number of schemes got on the same specimens.

    >>> report = exmachina.score(["known-1x", "cubic"], "known-1x", specimens=4, seconds_each=2)
    >>> report.summary["scheme"].to_list()
    ['known-1x', 'cubic', 'omniscient reference']
    """

    model: Model
    seconds_each: float
    """Simulated seconds of each specimen."""
    seed: int
    """Of the held-out specimens."""
    frame: pl.DataFrame
    """One row per scheme, specimen and sender: on_s, sent_packets, delivered_packets, late_packets (those of them that
    were delivered while it was off), throughput_mbps (over the time on), normalised_throughput (over an equal share),
    mean_rtt_ms, delay_ratio (mean RTT / min RTT), utility, starved (1: it was on and received nothing, and has no
    utility), specimen_score (null where nobody received anything)."""
    warnings: tuple[str, ...] = ()
    """One line for each rule table that meets networks outside the range that its file says it was designed for."""

    @property
    def specimens(self) -> pl.DataFrame:
        """One row per scheme and specimen: the score, means over the senders that were on, and how many starved."""
        on = pl.col("on_s") > 0
        return self.frame.group_by("scheme", "specimen", maintain_order=True).agg(
            pl.first("rate_mbps", "min_rtt_ms", "senders"),
            score=pl.first("specimen_score"),
            throughput_mbps=pl.col("throughput_mbps").filter(on).mean(),
            normalised_throughput=pl.col("normalised_throughput").filter(on).mean(),
            delay_ratio=pl.col("delay_ratio").filter(on).mean(),
            queueing_delay_ms=(pl.col("mean_rtt_ms") - pl.col("min_rtt_ms")).filter(on).mean(),
            senders_on=on.sum(),
            starved_senders=pl.col("starved").sum().cast(pl.UInt32),
        )

    @property
    def summary(self) -> pl.DataFrame:
        """One row per scheme, in the order asked for: means over specimens.

        A sender that was on and received nothing has no utility. It is in no mean, but among starved_senders, and
        starved_share is their share of those that were on. score_ci95 and difference_ci95 are half-widths of 95 %
        Student-t intervals; the difference is to the first scheme, paired by specimen, over the pairs where both have a
        score, and unpaired says how many have not. For a model that is a grid, variances are taken within each of its
        points.
        """
        strata = self.model.grid_points or 1
        first: np.ndarray[tuple[int], np.dtype[np.float64]] | None = None
        rows = []
        for (scheme,), group in self.specimens.group_by("scheme", maintain_order=True):
            # What has no score is NaN from here on, and counts nowhere.
            scores = group["score"].to_numpy()
            first = scores if first is None else first
            own, paired = mean_interval(scores, strata), mean_interval(scores - first, strata)
            rows.append(
                {
                    "scheme": scheme,
                    "score": own.mean,
                    "score_ci95": own.half_width,
                    "difference": paired.mean,
                    "difference_ci95": paired.half_width,
                    "unpaired": int(np.isnan(scores - first).sum()),
                    "throughput_mbps": group["throughput_mbps"].mean(),
                    "normalised_throughput": group["normalised_throughput"].mean(),
                    "delay_ratio": group["delay_ratio"].mean(),
                    "queueing_delay_ms": group["queueing_delay_ms"].mean(),
                    "starved_senders": group["starved_senders"].sum(),
                    "starved_share": int(group["starved_senders"].sum()) / max(1, int(group["senders_on"].sum())),
                }
            )
        return pl.DataFrame(rows, infer_schema_length=None).with_columns(pl.col("score", "difference").fill_nan(None))

    def strata(self, by: Stratum) -> pl.DataFrame:
        """One row per scheme and stratum of the networks: those of one value, or of a quarter of a range.

        A mean over a range hides where in it a scheme is behind. Columns: scheme, low and high (of `by`, in the
        stratum), specimens, score, score_ci95, difference, difference_ci95; as in `summary`.

        Args:
            by: rate_mbps (of the slowest link), min_rtt_ms (the least of the senders') or senders (how many there are).
        """
        value = pl.min("min_rtt_ms") if by == "min_rtt_ms" else pl.first(by)
        places = self.frame.group_by("specimen", maintain_order=True).agg(place=value)
        values = places["place"].unique().sort().to_numpy()
        if len(values) > MOST_VALUES:
            # Of equal parts, the first places.
            values = np.unique(np.quantile(places["place"].to_numpy(), np.arange(QUARTERS) / QUARTERS))
        number = np.searchsorted(values, places["place"].to_numpy(), side="right")
        places = places.with_columns(stratum=pl.Series(number))
        scores = self.specimens.select("scheme", "specimen", "score").join(places, on="specimen", maintain_order="left")
        first = scores.filter(scheme=scores["scheme"][0]).select("specimen", first="score")
        scores = scores.join(first, on="specimen", maintain_order="left").fill_null(float("nan"))
        rows = []
        for (scheme, _), group in scores.sort("stratum", maintain_order=True).group_by(
            "scheme", "stratum", maintain_order=True
        ):
            own = mean_interval(group["score"].to_numpy())
            paired = mean_interval((group["score"] - group["first"]).to_numpy())
            rows.append(
                {
                    "scheme": scheme,
                    "low": group["place"].min(),
                    "high": group["place"].max(),
                    "specimens": len(group),
                    "score": own.mean,
                    "score_ci95": own.half_width,
                    "difference": paired.mean,
                    "difference_ci95": paired.half_width,
                }
            )
        return pl.DataFrame(rows, infer_schema_length=None).with_columns(pl.col("score", "difference").fill_nan(None))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the frame as Parquet, atomically, with the model, the seed and the version in its metadata.

        Raises:
            InputError: If the folder is missing or read-only, or the name does not end in `.parquet`.
        """
        facts = self.model.facts | {"seed": str(self.seed), "seconds_each": str(self.seconds_each)}
        write_parquet(check_output(path, suffixes=(".parquet",)), self.frame, facts)
