"""How bad a network is for a scheme: short runs of it, and of whoever has to be beside."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl
import tomli_w

from exmachina.engines import Engine
from exmachina.evaluation import Evaluation, Trace, evaluate, trace
from exmachina.hunting.measures import OMNISCIENT, Measure
from exmachina.probing import Base, measured
from exmachina.schemes import SchemeLike, contender_of

__all__ = ["Judge", "short_s"]

LEAST_S, RTTS, CYCLES = 10.0, 80.0, 3.0
"""A run takes as many seconds, RTTs and on- and off-times as all of these ask,"""
MOST_PACKETS, FEW_RTTS = 40e3, 40.0
"""but where the link would carry more packets than this: there it takes so many RTTs at least."""
PACKET_BITS = 10_000


@dataclass(frozen=True)
class Judge:
    """Who is judged, beside whom, by what."""

    scheme: SchemeLike
    rivals: Sequence[SchemeLike]
    measure: Measure
    delta: float
    engine: Engine

    @property
    def label(self) -> str:
        """What results call the scheme."""
        return contender_of(self.scheme).label

    @property
    def everyone(self) -> list[SchemeLike]:
        """The scheme, its rivals, and whoever else the measure needs."""
        return [self.scheme, *self.rivals, *([OMNISCIENT] if self.measure.beside == "omniscient" else [])]

    def harm(self, network: Base, runs: int, seed: int) -> float | None:
        """How bad it is, by the mean over so many runs; none where there was nothing to measure."""
        beside = {"rivals": self.rivals, "omniscient": [OMNISCIENT], "nobody": []}[self.measure.beside]
        flows = self._flows(network, [self.scheme, *beside], runs, seed)
        values = self.measure.values(flows, network.senders, self.delta)
        return self.measure.harm(_means(values), self.label)

    def told(self, network: Base, runs: int, seed: int) -> pl.DataFrame:
        """All on one network, the scheme first.

        Returns:
            scheme, harm (of the scheme; none of others), value (of the measure, the mean over runs) and value_error
            (its standard error), score, throughput (over an equal share) and delay (RTT over that of an empty
            network), starved_share.
        """
        flows = self._flows(network, self.everyone, runs, seed)
        values = self.measure.values(flows, network.senders, self.delta)
        harm = self.measure.harm(_means(values), self.label)
        each = measured(flows, network.senders, self.delta).group_by("scheme", maintain_order=True)
        scores = each.agg(
            score=pl.col("score").mean(),
            throughput=pl.col("throughput").log().mean().exp(),
            delay=pl.col("delay").log().mean().exp(),
            starved_share=pl.col("starved_senders").sum() / pl.col("senders_on").sum(),
        )
        error = pl.col("value").std() / pl.len().sqrt()
        means = values.group_by("scheme").agg(pl.col("value").mean(), value_error=error)
        order = pl.DataFrame({"scheme": [contender_of(one).label for one in self.everyone]})
        own = pl.when(pl.col("scheme") == self.label).then(pl.lit(harm, dtype=pl.Float64)).alias("harm")
        found = order.join(means, on="scheme", how="left", maintain_order="left")
        found = found.join(scores, on="scheme", how="left", maintain_order="left")
        return found.select("scheme", own, pl.exclude("scheme"))

    def traced(self, network: Base, seed: int) -> Trace:
        """The first run of the scheme, packet by packet."""
        return trace(self._evaluation(network, 1, seed), self.scheme)

    def _flows(self, network: Base, schemes: Sequence[SchemeLike], runs: int, seed: int) -> pl.DataFrame:
        return evaluate(self._evaluation(network, runs, seed), schemes, cluster=self.engine).flows

    def _evaluation(self, network: Base, runs: int, seed: int) -> Evaluation:
        tables = network.tables(runs, seed, short_s(network, self.measure))
        return Evaluation(tomli_w.dumps({"description": network.words, **tables}), "worst.toml")


def short_s(network: Base, measure: Measure) -> float:
    """Simulated seconds of a run: what a search can afford thousands of."""
    rtt_s = network.rtt_ms * network.rtt_spread / 1e3
    cycle_s = network.on_s + network.off_s if network.off_s else 0.0
    wanted_s = max(LEAST_S, RTTS * rtt_s, CYCLES * cycle_s)
    affordable_s = MOST_PACKETS * PACKET_BITS / (network.rate_mbps * 1e6)
    return float(f"{measure.patience * max(min(wanted_s, affordable_s), FEW_RTTS * rtt_s):.3g}")


def _means(values: pl.DataFrame) -> dict[str, float]:
    means = values.group_by("scheme", maintain_order=True).agg(pl.col("value").mean()).drop_nulls()
    return dict(means.select("scheme", "value").iter_rows())
