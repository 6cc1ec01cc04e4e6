"""What `internet.py` measures on a network: the numbers of one scheme, or of one flow beside another's.

Finished runs are kept in a folder by what they follow from (`exmachina.evaluate`'s cache): the program, the network,
the scheme, and a table's bytes. So human schemes are simulated once for each build of the program, and a table again
only if it changed.
"""

import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import polars as pl
from internet_networks import BESIDE, Network, network

import exmachina
from exmachina import Table
from exmachina.schemes import designed_delta

HUMAN = {"cubic": "cubic", "cubic/fqcodel": "cubic/fqcodel", "bbr3": "bbr3", "copa": "copa", "vegas": "vegas"}
"""Whom tables are compared with. Where no queue is said, it is drop tail."""
NEIGHBOURS = ("cubic", "bbr3")
WITHOUT_NEWS_RTTS = 2.0
"""A sender that was on for no longer than this and got nothing through is not counted: nobody could have."""
PACKET_MBIT = 0.01
TELL_EVERY_S = 5.0
T = TypeVar("T")
R = TypeVar("R")
Row = dict[str, object]


@dataclass(frozen=True)
class Entrant:
    """A scheme to be measured: what results call it, and what runs."""

    label: str
    scheme: str | Table

    @classmethod
    def of(cls, written: str) -> "Entrant":
        """`NAME`, `PATH` or `LABEL=PATH` of a table."""
        label, named, source = written.rpartition("=")
        table = Table.load(source)
        return cls(label if named else table.name, table)

    @property
    def delta(self) -> float:
        """How much delay counts against throughput where it is compared with others: as in its design, or else 1."""
        return designed_delta([self.scheme] if isinstance(self.scheme, Table) else [])


def measures(flows: pl.DataFrame) -> Row:
    """Of one run: the score, mean ln(throughput) - ln(RTT) over senders, in Mbit/s and ms, and what it is made of.

    Throughput and RTT are geometric means: the score is the logarithm of their ratio. A sender that was on and got
    nothing through counts as one packet in all that time, with an RTT as long, and is counted as starved besides.
    """
    starved = pl.col("delivered_packets") == 0
    patient = 1e3 * pl.col("on_s") > WITHOUT_NEWS_RTTS * pl.col("min_rtt_ms")
    on = flows.filter(pl.col("on_s") > 0).filter(pl.when(starved).then(patient).otherwise(True))
    if on.is_empty():
        return dict.fromkeys(MEASURES)
    each = on.select(
        mbps=pl.when(starved).then(PACKET_MBIT / pl.col("on_s")).otherwise("throughput_mbps"),
        rtt_ms=pl.when(starved | pl.col("mean_rtt_ms").is_null()).then(1e3 * pl.col("on_s")).otherwise("mean_rtt_ms"),
        queueing_ms="queueing_delay_ms",
        starved=starved,
    )
    logarithms = each.select(pl.col("mbps", "rtt_ms").log().mean()).row(0)
    mbps = each["mbps"]
    total = float(mbps.sum())
    return {
        "score": logarithms[0] - logarithms[1],
        "throughput_mbps": float(each.select(pl.col("mbps").log().mean().exp()).item()),
        "rtt_ms": float(each.select(pl.col("rtt_ms").log().mean().exp()).item()),
        "queueing_ms": each["queueing_ms"].mean(),
        "jain": total**2 / (len(each) * float((mbps**2).sum())),
        "least_share": float(mbps.min()) * len(each) / total,  # type: ignore[arg-type]
        "counted": len(each),
        "starved": int(each["starved"].sum()),
    }


MEASURES = ("score", "throughput_mbps", "rtt_ms", "queueing_ms", "jain", "least_share", "counted", "starved")


def alone(entrant: Entrant, one: Network, cache: Path) -> Row:
    """All senders of a network run it."""
    flows = exmachina.evaluate(one.evaluation(), [entrant.scheme], cache=cache, threads=1).flows
    own = {"suite": one.suite, "kind": one.kind, "number": one.number, "scheme": entrant.label, "delta": entrant.delta}
    return own | measures(flows)


def beside(entrant: Entrant, neighbour: str, one: Network, cache: Path) -> Row:
    """One flow of it beside one of a neighbour's."""
    placed = replace(one, text=one.text.replace("SCHEME", neighbour))
    flows = exmachina.evaluate(placed.evaluation(), [entrant.scheme], cache=cache, threads=1).flows.sort("sender")
    own, other = (float(mbps or 0.0) for mbps in flows["throughput_mbps"])
    return {
        "suite": one.suite,
        "number": one.number,
        "scheme": entrant.label,
        "neighbour": neighbour,
        "throughput_mbps": own,
        "neighbour_mbps": other,
        "used": (own + other) / one.link.rate_mbps,
        "share": own / (own + other) if own + other > 0 else 0.5,
        "rtt_ms": flows["mean_rtt_ms"][0],
    }


def all_alone(entrants: Sequence[Entrant], networks: Sequence[Network], cache: Path, threads: int) -> pl.DataFrame:
    """One row for each scheme and network."""
    rows: list[Row] = []
    for entrant in entrants:
        rows += told(entrant.label, lambda one, who=entrant: alone(who, one, cache), networks, threads)  # type: ignore[misc]
    return pl.DataFrame(rows, infer_schema_length=None)


def all_beside(entrants: Sequence[Entrant], suite: str, count: int, cache: Path, threads: int) -> pl.DataFrame:
    """One row for each scheme, neighbour and network of two."""
    networks = [network(suite, BESIDE, number) for number in range(count)]
    rows: list[Row] = []
    for entrant in entrants if networks else []:
        for neighbour in NEIGHBOURS:

            def measured(one: Network, who: Entrant = entrant, by: str = neighbour) -> Row:
                return beside(who, by, one, cache)

            rows += told(f"{entrant.label} beside {neighbour}", measured, networks, threads)
    return pl.DataFrame(rows, infer_schema_length=None)


def told(what: str, compute: Callable[[T], R], given: Sequence[T], threads: int) -> list[R]:
    """What is computed of each, on so many threads, with words on standard error of how it goes and what it took."""
    began, cpu, said = time.monotonic(), time.process_time(), time.monotonic()
    done: list[R] = []
    with ThreadPoolExecutor(threads) as pool:
        for result in pool.map(compute, given):
            done.append(result)
            if time.monotonic() - said > TELL_EVERY_S:
                said = time.monotonic()
                print(f"{what}: {len(done)} of {len(given)}", file=sys.stderr, flush=True)
    wall_s, cpu_s = time.monotonic() - began, time.process_time() - cpu
    print(f"{what}: {len(done)} networks, {cpu_s:.1f} s of CPU, {wall_s:.1f} s", file=sys.stderr, flush=True)
    return done
