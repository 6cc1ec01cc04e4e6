"""What a run is worth: the mean of ln(throughput) - delta ln(delay) over senders, both relative to the ideal.

The ideal is an equal share of the link among those that are on, and the RTT of an empty network: a score of 0.
"""

import polars as pl

__all__ = ["measured", "summarised"]

WITHOUT_NEWS_RTTS = 2.0
"""A sender that was on for no longer than this and got nothing through is not counted: nobody could have."""
PACKET_MBIT = 0.01


def measured(flows: pl.DataFrame, senders: int, delta: float) -> pl.DataFrame:
    """One row per scheme and run, of the senders with the first so many numbers.

    A sender that was on and got nothing through counts as one packet in all that time, with an RTT as long, and is
    counted as starved besides.

    Returns:
        scheme, run, score, throughput (over an equal share) and delay (over the least RTT), both geometric means,
        senders_on and starved_senders.
    """
    starved = pl.col("delivered_packets") == 0
    on_ms = 1e3 * pl.col("on_s")
    patient = on_ms > WITHOUT_NEWS_RTTS * pl.col("min_rtt_ms")
    counted = flows.filter((pl.col("sender") < senders) & (pl.col("on_s") > 0)).filter(~starved | patient)
    share_mbps = pl.col("rate_mbps") / pl.col("senders")
    empty_ms = pl.col("mean_rtt_ms") - pl.col("queueing_delay_ms")
    each = counted.select(
        "run",
        scheme="contender",
        starved=starved,
        share=pl.when(starved).then(PACKET_MBIT / pl.col("on_s") / share_mbps).otherwise("normalised_throughput"),
        delay=pl.when(starved).then(on_ms / pl.col("min_rtt_ms")).otherwise(pl.col("mean_rtt_ms") / empty_ms),
    )
    return (
        each.group_by("scheme", "run", maintain_order=True)
        .agg(
            throughput=pl.col("share").log().mean().exp(),
            delay=pl.col("delay").log().mean().exp(),
            senders_on=pl.len(),
            starved_senders=pl.col("starved").sum(),
        )
        .with_columns(score=pl.col("throughput").log() - delta * pl.col("delay").log())
        .select("scheme", "run", "score", "throughput", "delay", "senders_on", "starved_senders")
    )


def summarised(frame: pl.DataFrame) -> pl.DataFrame:
    """Means over runs: one row per scheme, axis and value, in their order."""
    count = pl.len().sqrt()
    error = pl.col("score").std() / count
    return (
        frame.group_by("scheme", "axis", "label", maintain_order=True)
        .agg(
            pl.first("value", "inside"),
            runs=pl.len(),
            score=pl.col("score").mean(),
            score_error=error,
            throughput=pl.col("throughput").log().mean().exp(),
            delay=pl.col("delay").log().mean().exp(),
            starved_share=pl.col("starved_senders").sum() / pl.col("senders_on").sum(),
        )
        .select("scheme", "axis", "value", pl.exclude("scheme", "axis", "value"))
    )
