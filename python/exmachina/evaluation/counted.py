"""What throughput, RTT and queueing delay of a sender are: one definition each, for summaries, pictures and claims.

They are what the papers' own scripts count, where a scenario has the transports of their ns-2, and else what comes
nearest to it.
"""

import tomllib

import polars as pl

__all__ = ["COUNTED", "counted"]

COUNTED = {
    "counted_mbps": "throughput (Mbit/s)",
    "counted_rtt_ms": "RTT (ms)",
    "counted_delay_ms": "queueing delay (ms)",
}
"""The columns, and what people call them."""


def counted(flows: pl.DataFrame, scenario: str) -> pl.DataFrame:
    """Flows with the columns of `COUNTED` besides.

    - `counted_mbps`: data given to the application, as all before them had arrived, with their headers, over the time
      on.
    - `counted_rtt_ms`: under ns-2's transports the mean of the RTTs that senders measure, over all ACKs in Tao'14's
      scripts, over what polls every 5 ms see in Remy'13's; elsewhere that of packets.
    - `counted_delay_ms`: that less the RTT of an empty network. Under Remy'13's transports a packet's own transmission
      counts as delay, as in §1 of that paper.

    Args:
        flows: Of `Results`, one row per run and sender.
        scenario: The text of its file.
    """
    known = pl.col("ns2_rtt_ms").cast(pl.Float64).fill_nan(None)
    share = pl.col("in_order_packets") / pl.col("delivered_packets")
    in_order = pl.col("throughput_mbps") * pl.when(pl.col("delivered_packets") > 0).then(share).otherwise(1.0)
    if tomllib.loads(scenario).get("transport", {}).get("preset") == "remy13":
        delay = known - pl.col("min_rtt_ms")
    else:
        delay = pl.when(known.is_not_null()).then(pl.col("sampled_delay_ms"))
    return flows.with_columns(
        counted_mbps=pl.coalesce(pl.col("ns2_throughput_mbps").cast(pl.Float64).fill_nan(None), in_order),
        counted_rtt_ms=pl.coalesce(known, "mean_rtt_ms"),
        counted_delay_ms=pl.coalesce(delay, "queueing_delay_ms"),
    )
