"""What the rows of `internet.py` come to: on which share of networks a scheme is ahead of another, and by how much."""

from dataclasses import dataclass
from math import exp, sqrt

import polars as pl

ALL = "all"
WHERE = ["suite", "kind", "number"]
NORMAL_95 = 1.959964
HALF_A_SHARE = 0.25
"""Of what two flows have together; twice an equal share would be all of it."""


@dataclass(frozen=True)
class Share:
    """So many of so many, and the 95 % interval of the probability (Wilson 1927)."""

    many: int
    of: int

    @property
    def value(self) -> float:
        """NaN of none."""
        return self.many / self.of if self.of else float("nan")

    @property
    def interval(self) -> tuple[float, float]:
        """From 0 to 1 of none."""
        if not self.of:
            return 0.0, 1.0
        p, n, z = self.value, self.of, NORMAL_95
        middle = p + z * z / (2 * n)
        half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        low, high = ((middle + sign * half) / (1 + z * z / n) for sign in (-1, 1))
        return max(0.0, low), min(1.0, high)

    @property
    def words(self) -> str:
        """In percent, with the interval."""
        if not self.of:
            return ""
        low, high = self.interval
        return f"{100 * self.value:.0f} % ({100 * low:.0f}–{100 * high:.0f})"


@dataclass(frozen=True)
class Comparison:
    """A scheme against another on the networks that both ran."""

    ahead: Share
    """Networks with the higher score."""
    throughput: float
    """Geometric mean over networks of the ratio of its throughput to the other's."""
    rtt: float
    """The same of the RTT."""


def pairs(rows: pl.DataFrame, table: str, rival: str, kind: str = ALL) -> pl.DataFrame:
    """The networks on which both have a score: the rival's columns end in `_rival`, and it is behind by `margin`.

    That is in ln(throughput) - delta ln(RTT), delta being the table's own.
    """
    if kind != ALL:
        rows = rows.filter(pl.col("kind") == kind)
    own, others = (rows.filter(pl.col("scheme") == name).drop_nulls("score") for name in (table, rival))
    later = (pl.col("rtt_ms") / pl.col("rtt_ms_rival")).log()
    margin = pl.col("score") - pl.col("score_rival") - (pl.col("delta") - 1) * later
    return own.join(others, on=WHERE, suffix="_rival").with_columns(margin=margin)


def compare(rows: pl.DataFrame, table: str, rival: str, kind: str = ALL) -> Comparison:
    """One against the other, on networks of a kind or on all."""
    both = pairs(rows, table, rival, kind)
    ratios = [
        exp(float(mean)) if (mean := (both[name] / both[f"{name}_rival"]).log().mean()) is not None else float("nan")  # type: ignore[arg-type]
        for name in ("throughput_mbps", "rtt_ms")
    ]
    return Comparison(Share(int((both["margin"] > 0).sum()), len(both)), *ratios)


def worst(rows: pl.DataFrame, table: str, rivals: list[str], count: int = 10) -> pl.DataFrame:
    """The networks that it loses most by: each against the rival that is furthest ahead there, the most first."""
    every = pl.concat([pairs(rows, table, rival) for rival in rivals])
    return (
        every.sort("margin", *WHERE)
        .unique(WHERE, keep="first", maintain_order=True)
        .filter(pl.col("margin") < 0)[:count]
    )


@dataclass(frozen=True)
class Manners:
    """How evenly the senders of networks with several share, on the mean over networks, and how many got nothing."""

    jain: float
    least_share: float
    """Of the worst off, over the mean."""
    starved: Share
    """Senders that were on and got nothing through, of those that are counted."""


def manners(rows: pl.DataFrame, scheme: str) -> Manners:
    """Of a scheme."""
    own = rows.filter(pl.col("scheme") == scheme).drop_nulls("score")
    several = own.filter(pl.col("counted") > 1)
    jain, least = (float(several[name].mean() or float("nan")) for name in ("jain", "least_share"))  # type: ignore[arg-type]
    return Manners(jain, least, Share(int(own["starved"].sum()), int(own["counted"].sum())))


@dataclass(frozen=True)
class Neighbourly:
    """How one flow of a scheme and one of another share a link, over networks."""

    within: Share
    """It has half to twice an equal share."""
    both: Share
    """Neither has less than half of an equal share."""
    median_share: float
    lowest: float
    """What the tenth part of the networks is below."""
    used: float
    """What both have together, of the link's rate."""


def neighbourly(rows: pl.DataFrame, scheme: str, neighbour: str) -> Neighbourly:
    """Of the rows of flows beside others."""
    own = rows.filter((pl.col("scheme") == scheme) & (pl.col("neighbour") == neighbour))
    share, n = own["share"], len(own)
    return Neighbourly(
        Share(int((share >= HALF_A_SHARE).sum()), n),
        Share(int(share.is_between(HALF_A_SHARE, 1 - HALF_A_SHARE).sum()), n),
        float(share.median() or 0.0),  # type: ignore[arg-type]
        float(share.quantile(0.1, "linear") or 0.0),
        float(own["used"].mean() or 0.0),  # type: ignore[arg-type]
    )
