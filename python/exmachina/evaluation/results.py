"""What an evaluation gave: flows, medians of senders and means over runs, as data and as files (Remy'13 §5.2)."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from exmachina.files import make_folder, write_atomically, write_parquet
from exmachina.stats import Floats, Indices, bootstrap_interval, mean_interval

__all__ = ["Results"]

MEASURES = ("counted_mbps", "counted_delay_ms")
SEED = 20130812
"""Of bootstraps; any number will do, but always the same."""
WHO = ("contender", "scheme")
LITTLE_IN_ORDER = 0.9
"""An application that got less than this part of what arrived has waited for most of its time."""
FILES = ("flows.parquet", "summary.csv")


@dataclass(frozen=True)
class Results:
    """What a number of contenders got on the same networks.

    >>> results = exmachina.evaluate("r4", ["cubic"], runs=2, duration_s=1)
    >>> len(results.flows), len(results.runs), len(results.summary)
    (16, 2, 1)
    """

    name: str
    """Of the scenario."""
    description: str
    text: str
    """Of the scenario's file."""
    duration_s: float
    """Simulated seconds of each run."""
    seed: int
    grid_points: int | None
    """Number of networks, if the scenario is a grid: run r is of network r modulo this."""
    flows: pl.DataFrame
    """One row per contender, run and sender: scheme (the sender's own), senders (of the run), rate_mbps (of the slowest
    link), min_rtt_ms, on_s, sent_packets, delivered_packets, in_order_packets (given to
    the application, as all before them had arrived), delivered_mbytes (10^6 bytes on the wire),
    retransmitted_packets, timeouts, reductions (of the window, for losses and marks), marked_packets, throughput_mbps
    (over the time on), normalised_throughput (over an equal share of the slowest link), mean_rtt_ms, queueing_delay_ms
    (mean RTT less that of an empty network, a packet's own transmission included), goodput_mbps (throughput less
    headers), sampled_rtt_ms (mean over the ACKs of the sender's latest RTT sample, as the papers' scripts measured it:
    more than packets' RTTs while losses are repaired), sampled_delay_ms (the same less that of an empty network), and
    what the authors' ns-2 scripts count, under their transports only: ns2_throughput_mbps (data in order with their
    headers) and ns2_rtt_ms (over all ACKs in Tao'14's, over what polls every 5 ms see in Remy'13's). What summaries,
    pictures and claims mean by throughput, RTT and queueing delay are counted_mbps, counted_rtt_ms and
    counted_delay_ms: see `counted`."""
    outside: tuple[str, ...] = ()
    """One line for each rule table that meets networks outside the range that its file says it was designed for."""

    @property
    def runs(self) -> pl.DataFrame:
        """One row per contender, scheme and run: sums of packets and timeouts, and means over the senders that were on.

        Where schemes share a network, each has a row. `label` is what pictures call the contender and the scheme.
        """
        on = pl.col("on_s") > 0
        each = self.flows.group_by(*WHO, "run", maintain_order=True).agg(
            pl.first("senders", "rate_mbps"),
            pl.col(*MEASURES, "throughput_mbps", "goodput_mbps", "normalised_throughput").filter(on).mean(),
            pl.col("queueing_delay_ms", "mean_rtt_ms").filter(on).mean(),
            pl.col("sent_packets", "delivered_packets", "in_order_packets").sum(),
            pl.col("retransmitted_packets", "marked_packets").sum(),
            # Nobody may have told of any.
            pl.when(pl.col("timeouts").count() > 0).then(pl.col("timeouts").sum()),
            starved_senders=(on & (pl.col("delivered_packets") == 0)).sum(),
        )
        return each.with_columns(label=_labels(self.flows)).select("label", pl.exclude("label"))

    @property
    def senders_on(self) -> pl.DataFrame:
        """The flows of senders that were on, with their `label`: what pictures call the contender and the scheme."""
        return self.flows.with_columns(label=_labels(self.flows)).filter(pl.col("on_s") > 0)

    @property
    def alternatives(self) -> bool:
        """Whether the contenders are schemes to choose from, and not mixes, in which one's gain is another's loss."""
        return bool((self.flows["contender"] == self.flows["scheme"]).all())

    @property
    def summary(self) -> pl.DataFrame:
        """One row per contender and scheme, in the order asked for; see `summarise`."""
        return self.summarise()

    def summarise(self, by: Sequence[str] = ()) -> pl.DataFrame:
        """Medians of senders and means over runs, by contender, scheme and, if given, other columns of `runs`.

        For throughput (`counted_mbps`) and queueing delay (`counted_delay_ms`): the median of all senders of all runs
        that were on, with a 95 % bootstrap interval over runs (`_from`, `_to`, none for a single run); the mean over
        runs of the mean of the senders, and the half-width of its 95 % Student-t interval (`_ci95`; for a grid,
        variances are taken within each of its points). Then the retransmission rate
        (packets sent again over packets sent), timeouts of all runs (none where hosts do not tell), senders that were
        on and received nothing, and `in_order`: of the packets that arrived, the part that was given to the
        application, as all before them had arrived (none where nothing arrived).
        """
        strata = 1 if by else self.grid_points or 1
        senders = self.senders_on.partition_by("label", *WHO, *by, as_dict=True)
        rows = []
        for keys, group in self.runs.group_by("label", *WHO, *by, maintain_order=True):
            row: dict[str, object] = dict(zip(("label", *WHO, *by), keys, strict=True))
            row["runs"] = len(group)
            for measure in MEASURES:
                values = group[measure].drop_nulls().to_numpy()
                mean = mean_interval(values, strata if len(values) == len(group) else 1)
                median, low, high = _median(senders.get(keys), measure)
                row[f"{measure}_median"] = median
                row[f"{measure}_median_from"], row[f"{measure}_median_to"] = low, high
                row[f"{measure}_mean"], row[f"{measure}_ci95"] = mean.mean, mean.half_width
            row["normalised_throughput_mean"] = group["normalised_throughput"].mean()
            row["retransmission_rate"] = _total(group, "retransmitted_packets") / max(1, _total(group, "sent_packets"))
            row["timeouts"] = _total(group, "timeouts") if group["timeouts"].count() > 0 else None
            row["starved_senders"] = _total(group, "starved_senders")
            delivered = _total(group, "delivered_packets")
            row["in_order"] = _total(group, "in_order_packets") / delivered if delivered else None
            rows.append(row)
        return pl.DataFrame(rows, infer_schema_length=None).with_columns(pl.col(pl.Float64).fill_nan(None))

    @property
    def warnings(self) -> list[str]:
        """What the means and medians do not show: a line for each contender whose numbers mean less than they say."""
        summary = self.summary
        starved = [
            f"{line['label']}: senders that were on in a run and got nothing through: {line['starved_senders']}"
            for line in summary.filter(pl.col("starved_senders") > 0).iter_rows(named=True)
        ]
        late = [
            f"{line['label']}: of what arrived only {100 * line['in_order']:.2g} % was in order; "
            "the application got no more than that, whatever the throughput says"
            for line in summary.filter(pl.col("in_order") < LITTLE_IN_ORDER).iter_rows(named=True)
        ]
        return [*starved, *late, *self.outside]

    def paths(self, folder: str | os.PathLike[str]) -> list[Path]:
        """What `save` writes."""
        return [Path(folder) / name for name in FILES]

    def save(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Writes, each atomically, `flows.parquet` and `summary.csv`; `exmachina.draw` draws them.

        Returns:
            Their paths.

        Raises:
            InputError: If the folder cannot be created or is read-only.
        """
        paths = self.paths(make_folder(folder))
        facts = {"scenario": self.text, "seed": str(self.seed), "duration_s": str(self.duration_s)}
        write_parquet(paths[0], self.flows, facts)
        write_atomically(paths[1], self.summary.write_csv().encode())
        return paths


def _median(senders: pl.DataFrame | None, measure: str) -> tuple[float | None, float | None, float | None]:
    """The median of senders, and its interval over runs."""
    if senders is None or (known := senders.drop_nulls(measure).filter(pl.col(measure).is_not_nan())).is_empty():
        return None, None, None
    wide = known.pivot("sender", index="run", values=measure).drop("run").cast(pl.Float64).to_numpy()

    def of(drawn: Sequence[Indices]) -> Floats:
        return np.asarray(np.nanmedian(wide[drawn[0]].reshape(len(drawn[0]), -1), axis=1))

    low, high = bootstrap_interval(of, [len(wide)], seed=SEED) or (None, None)
    return float(np.nanmedian(wide)), low, high


def _total(frame: pl.DataFrame, column: str) -> int:
    return int(frame[column].sum())


def _labels(flows: pl.DataFrame) -> pl.Expr:
    """What to call a contender and one of its schemes: no longer than it takes to tell them apart."""
    pairs = flows.select(WHO).unique(maintain_order=True)
    contender, scheme = pl.col("contender"), pl.col("scheme")
    several = pairs["contender"].n_unique() > 1
    beside = scheme + (" beside " + contender if several else "")
    return pl.when(contender == scheme).then(contender).otherwise(beside)
