"""One flow beside one of the kernel's own Cubic or BBR, simulated and in the kernel: who gets what of the link.

Usage: beside.py [--schemes NAMES] [--cache FOLDER] [--page]. The kernel needs root, and for rule tables what loads them
(docs/testbed.md). Schemes have commas between them. Finished runs are kept in the cache.

docs/results/beside.csv has a row for each network, neighbour, scheme and side; schemes that are there and not named
stay as they are. docs/beside.md is made from it; --page makes that only.
"""

import argparse
import platform
from itertools import product
from pathlib import Path

import polars as pl
from digests import outdated, with_digests
from internet_page import markdown

import exmachina
from exmachina.files import make_folder, write_atomically

PROJECT = Path(__file__).parents[1]
ROWS, PAGE = PROJECT / "docs" / "results" / "beside.csv", PROJECT / "docs" / "beside.md"
SCHEMES = ("cubic", "internet-1", "internet-shared-1")
NEIGHBOURS = {"cubic": "Cubic", "bbr1": "BBR"}
NETWORKS = ((12.0, 50.0, 1.0), (12.0, 100.0, 3.0), (50.0, 20.0, 2.0), (50.0, 100.0, 1.0))
"""Mbit/s, ms, and room in bandwidth-delay products."""
RUNS, RUN_S, ATTEMPTS, SEED, PACKET_BITS = 3, 40.0, 5, 2027, 8 * 1250
FAST_MBPS, FAST_AT_ONCE, SLOW_AT_ONCE = 20.0, 2, 6
"""Links from this rate on are measured so many at a time, others so many."""
HALF = 0.25
"""Of what both have: half of an equal share."""
DIGITS = 5

SCENARIO = """
description = "{mbps:g} Mbit/s, {rtt_ms:g} ms, {bdp:g} BDP"
[link]
rate_mbps = {mbps}
buffer = {{ packets = {packets} }}
[path]
rtt_ms = {rtt_ms}
[[senders]]
count = 1
[[senders]]
count = 1
scheme = "{neighbour}"
[workload]
on = "forever"
first_off = {{ seconds = 0 }}
[transport]
preset = "today"
"""
TEXT = """\
# Beside the kernel's own

Written by `python validation/beside.py`: one flow of a scheme and one of the kernel's `cubic` or `bbr` through one
drop-tail link, {run_s:g} s, {runs} runs, on Linux {release} at both ends ([testbed](testbed.md)), and the same
simulated, where BBR is `bbr1`. Laws are in the kernel as `exmachina export --to bpf` writes them. Their share is of
what both flows get: a half is an equal share, and a quarter half of one. How the laws that share came by it:
[designs.md](designs.md#beside-others); nothing here chose any of it. {outdated}

{table}
Of {cells} pairs of network and neighbour, in the median over runs of the kernel:

{words}

No law knows what a neighbour is: whoever shrinks and still sees the queue stand takes it that others fill it
([search.md](search.md#laws)). What 50 networks of the simulator's say: [internet.md](internet.md#beside-others).
"""


def main() -> None:
    """Simulates, measures, and writes what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--schemes", default=",".join(SCHEMES))
    parser.add_argument("--cache", type=Path, default=Path("out/beside"))
    parser.add_argument("--page", action="store_true")
    given = parser.parse_args()
    for network, neighbour in () if given.page else product(NETWORKS, NEIGHBOURS):
        rows = shares(network, neighbour, given.schemes.split(","), given.cache)
        write_atomically(ROWS, with_rows(rows).write_csv(float_precision=DIGITS).encode())
        print(rows, flush=True)
    write_atomically(
        PAGE,
        page(pl.read_csv(ROWS, schema_overrides={"digest": pl.String}), platform.release().partition("-")[0]).encode(),
    )


def shares(network: tuple[float, float, float], neighbour: str, schemes: list[str], cache: Path) -> pl.DataFrame:
    """Of each scheme, simulated and in the kernel."""
    mbps, rtt_ms, bdp = network
    packets = round(bdp * mbps * 1e3 * rtt_ms / PACKET_BITS)
    text = SCENARIO.format(mbps=mbps, rtt_ms=rtt_ms, bdp=bdp, packets=packets, neighbour=neighbour)
    name = f"{mbps:g}-{rtt_ms:g}-{bdp:g}-{neighbour}"
    evaluation = exmachina.Evaluation(text, f"{name}.toml").changed(schemes, runs=RUNS, duration_s=RUN_S, seed=SEED)
    at_once = FAST_AT_ONCE if mbps >= FAST_MBPS else SLOW_AT_ONCE
    folder = make_folder(cache / name)
    measured = exmachina.testbed(evaluation, stack="kernel", at_once=at_once, attempts=ATTEMPTS, output=folder)
    sides = {"simulated": exmachina.evaluate(evaluation, threads=1), "kernel": measured.results}
    words = pl.lit(evaluation.description).alias("network")
    rows = pl.concat(
        of_flows(results.flows).select(words, pl.lit(neighbour).alias("neighbour"), pl.all(), side=pl.lit(side))
        for side, results in sides.items()
    )
    return with_digests(rows, "contender")


def of_flows(flows: pl.DataFrame) -> pl.DataFrame:
    """The median run's share of each scheme, the least and the largest, and the medians of throughputs and queue."""
    own, other = (flows.filter(pl.col("sender") == sender) for sender in (0, 1))
    both = own.join(other, on=["contender", "run"], suffix="_other", maintain_order="left")
    share = pl.col("throughput_mbps") / (pl.col("throughput_mbps") + pl.col("throughput_mbps_other"))
    return both.group_by("contender", maintain_order=True).agg(
        runs=pl.len(),
        share=share.median(),
        share_from=share.min(),
        share_to=share.max(),
        mbps=pl.col("throughput_mbps").median(),
        neighbour_mbps=pl.col("throughput_mbps_other").median(),
        queueing_ms=pl.col("queueing_delay_ms").median(),
    )


def with_rows(rows: pl.DataFrame) -> pl.DataFrame:
    """What is committed, with these rows in place of those of the same names."""
    if not ROWS.is_file():
        return rows
    known = pl.read_csv(ROWS, schema_overrides=rows.schema)
    kept = known.join(rows, on=["network", "neighbour", "contender", "side"], how="anti")
    return pl.concat([kept, rows]).sort(["network", "neighbour", "contender", "side"], maintain_order=True)


def page(rows: pl.DataFrame, release: str) -> str:
    """The page about these rows, measured on this Linux."""
    pairs = rows.filter(side="kernel").join(
        rows.filter(side="simulated"), on=["network", "neighbour", "contender"], suffix="_simulated"
    )
    lines = [
        [
            line["network"],
            line["contender"],
            NEIGHBOURS[line["neighbour"]],
            f"{line['share']:.2f} ({line['share_from']:.2f} to {line['share_to']:.2f})",
            f"{line['share_simulated']:.2f}",
            f"{line['mbps']:.1f}, {line['neighbour_mbps']:.1f}",
            f"{line['queueing_ms']:.0f}, {line['queueing_ms_simulated']:.0f}",
        ]
        for line in pairs.sort("network", "neighbour", "contender", maintain_order=True).to_dicts()
    ]
    heads = [
        "network",
        "scheme",
        "beside",
        "share, kernel",
        "simulated",
        "Mbit/s of both, kernel",
        "queue, ms: kernel, simulated",
    ]
    words = [_words(str(name), own) for (name,), own in pairs.group_by("contender", maintain_order=True)]
    return TEXT.format(
        run_s=RUN_S,
        runs=RUNS,
        release=release,
        table=markdown(heads, lines, numbers=3),
        cells=pairs.select("network", "neighbour").n_unique(),
        words="\n".join(words),
        outdated=outdated(rows, "contender"),
    )


def _words(name: str, own: pl.DataFrame) -> str:
    within = int((own["share"] >= HALF).sum())
    both = int(own["share"].is_between(HALF, 1 - HALF).sum())
    least, off = own.select(
        pl.col("share").min().alias("least"), (pl.col("share") - pl.col("share_simulated")).abs().median()
    ).row(0)
    return (
        f"- `{name}` has half of an equal share or more on {within}, and so has its neighbour, too, on {both}; the "
        f"least is {least:.2f}. Simulated shares are {off:.2f} off in the median."
    )


if __name__ == "__main__":
    main()
