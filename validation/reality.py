"""Simulation against reality: the same scenarios in the simulator, on this machine's kernel, and in QUIC, side by side.

Usage: reality.py [CELL ...] [--schemes NAMES] [--stacks NAMES] [--cache FOLDER] [--trace FILE] [--page]. A CELL is one
of `CELLS`; all if none is named. With `--stacks ""` only the simulated side is made anew. The kernel needs root, and
for rule tables what loads them (docs/testbed.md). A run takes half a minute: of slow links eight are measured at a
time, of fast ones two, as far as packets are handed over in time. Finished runs are kept in the cache, so that it goes
on where it was stopped.

docs/results/reality.csv has a row for each cell, scheme and side; what is there and not named stays as it is.
docs/reality.md and its picture are made from these; --page makes them only.
"""

import argparse
import platform
from pathlib import Path

import polars as pl
from digests import with_digests
from reality_page import page, picture

import exmachina
from exmachina.files import make_folder, write_atomically

PROJECT = Path(__file__).parents[1]
ROWS, DOCS = PROJECT / "docs" / "results" / "reality.csv", PROJECT / "docs"
HUMAN = ("cubic", "newreno", "bbr1", "bbr3")
HAS_NOT = {"kernel": "bbr3", "quic": "bbr1"}
"""Which BBR a stack has not."""
ALSO = {"cubic": "cubic-rfc9438"}
"""Another simulation of a scheme, held to the same measurements: what is by the RFC, where kernels are not."""
TABLES = (
    "general-1",
    "general-0.1-robust",
    "general-1-robust",
    "general-10-robust",
    "tao-10x-robust",
    "tao-100x-robust",
    "tao-1000x-robust",
    "tao-mux-10-robust",
    "tao-rtt-150-robust",
    "internet-1",
    "internet-10",
)
RUNS, RUN_S, ATTEMPTS = 5, 30.0, 5
MBPS, RTTS_MS = (1.5, 12.0, 100.0), (10.0, 50.0, 200.0)
FAST_MBPS = 50.0
"""Links from this rate on are measured so many at a time, others so many."""
FAST_AT_ONCE, SLOW_AT_ONCE = 2, 8
PACKET_BITS = 8 * 1250
SEED = 2026
DIGITS = 5
"""Of what is committed."""

ALONE = """
description = "{mbps:g} Mbit/s, {rtt_ms:g} ms, one flow"
[link]
rate_mbps = {mbps}
buffer = {{ packets = {packets} }}
[path]
rtt_ms = {rtt_ms}
[senders]
count = 1
[workload]
on = "forever"
first_off = {{ seconds = 0 }}
"""
BY_TURNS = """
description = "15 Mbit/s, 150 ms, {count} senders, {mean_s} s on, {mean_s} s off"
[link]
rate_mbps = 15
buffer = {{ packets = 1000 }}
[path]
rtt_ms = 150
[senders]
count = {count}
[workload]
on = {{ seconds = {mean_s} }}
off = {{ seconds = {mean_s} }}
"""
RECORDED = """
description = "Verizon's LTE downlink as recorded, 50 ms, one flow"
[link]
trace = "verizon.down"
buffer = { packets = 1000 }
[path]
rtt_ms = 50
[senders]
count = 1
[workload]
on = "forever"
first_off = { seconds = 0 }
"""


def alone(mbps: float, rtt_ms: float) -> str:
    """One flow that never ends, and room for two bandwidth-delay products, for 50 packets at least."""
    packets = max(50, round(2 * mbps * 1e3 * rtt_ms / PACKET_BITS))
    return ALONE.format(mbps=mbps, rtt_ms=rtt_ms, packets=packets)


CELLS = {
    **{f"{mbps:g}-{rtt_ms:g}": (alone(mbps, rtt_ms), mbps) for mbps in MBPS for rtt_ms in RTTS_MS},
    "r4": (exmachina.Evaluation.load("r4-today").text, 15.0),
    "turns": (BY_TURNS.format(count=8, mean_s=5), 15.0),
    "as-designed": (BY_TURNS.format(count=2, mean_s=1), 15.0),
    "lte": (RECORDED, 10.0),
}
"""Their scenarios and rates, Mbit/s."""


def main() -> None:
    """Measures and simulates, and writes what is asked for."""
    given = arguments()
    schemes, stacks = given.schemes.split(","), list(filter(None, given.stacks.split(",")))
    for cell in () if given.page else given.cells or CELLS:
        rows = compared(cell, schemes, stacks, given.trace, make_folder(given.cache / cell))
        write_atomically(ROWS, with_rows(rows).write_csv(float_precision=DIGITS).encode())
        print(f"{cell}: done", flush=True)
    rows = pl.read_csv(ROWS, schema_overrides={"digest": pl.String})
    picture(rows, DOCS / "reality.png")
    write_atomically(DOCS / "reality.md", page(rows, platform.release().partition("-")[0], RUN_S).encode())


def arguments() -> argparse.Namespace:
    """What is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cells", nargs="*", metavar="CELL", choices=[*CELLS, []])
    parser.add_argument("--schemes", default=",".join([*HUMAN, *TABLES]))
    parser.add_argument("--stacks", default=",".join(HAS_NOT))
    parser.add_argument("--cache", type=Path, default=Path("out/reality"))
    parser.add_argument("--trace", type=Path, default=PROJECT.parent / "shared/reference/traces/Verizon-LTE-short.down")
    parser.add_argument("--page", action="store_true")
    return parser.parse_args()


def compared(cell: str, schemes: list[str], stacks: list[str], trace: Path, folder: Path) -> pl.DataFrame:
    """A row for each scheme and side."""
    text, _ = CELLS[cell]
    files = {"verizon.down": trace.read_bytes()} if cell == "lte" else {}
    changes = {"runs": RUNS, "duration_s": RUN_S, "seed": SEED}
    evaluation = exmachina.Evaluation(text, f"{cell}.toml", files).changed(schemes, **changes)
    also = [ALSO[scheme] for scheme in schemes if scheme in ALSO]
    simulated = exmachina.evaluate(evaluation.changed([*schemes, *also]), threads=1)
    sides = [rows_of(simulated).with_columns(side=pl.lit("simulated"))]
    for stack in stacks:
        has = [scheme for scheme in schemes if scheme != HAS_NOT[stack]]
        sides.append(measured(evaluation.changed(has), cell, stack, folder))
    both = pl.concat(sides, how="diagonal")
    return with_digests(both, "scheme").select(
        pl.lit(cell).alias("cell"), pl.lit(evaluation.description).alias("words"), pl.all()
    )


def measured(evaluation: exmachina.Evaluation, cell: str, stack: str, folder: Path) -> pl.DataFrame:
    """The rows of a stack."""
    at_once = FAST_AT_ONCE if CELLS[cell][1] >= FAST_MBPS else SLOW_AT_ONCE
    found = exmachina.testbed(evaluation, stack=stack, at_once=at_once, attempts=ATTEMPTS, output=folder / stack)
    late = found.lateness.group_by("contender").agg(
        pl.col("late_mean_ms").mean(), pl.col("late_p999_ms").max(), attempts=pl.col("attempts").sum()
    )
    rows = rows_of(found.results).join(late.rename({"contender": "scheme"}), on="scheme")
    rows = rows.with_columns(side=pl.lit("measured" if stack == "kernel" else stack))
    if stack != "kernel":
        rows = rows.with_columns(timeouts=pl.lit(None, pl.UInt64))
    # The same runs, which are counted once.
    again = rows.filter(pl.col("scheme").is_in(list(ALSO))).with_columns(pl.col("scheme").replace(ALSO))
    return pl.concat([rows, again.drop("late_mean_ms", "late_p999_ms", "attempts")], how="diagonal")


def rows_of(results: exmachina.Results) -> pl.DataFrame:
    """Medians of runs of the means of their senders, and the least and the largest of these."""
    runs = results.runs.rename({"counted_mbps": "mbps", "counted_delay_ms": "delay_ms"})
    again = (pl.sum("retransmitted_packets") / pl.sum("sent_packets")).alias("sent_again")
    return (
        runs.group_by("contender", maintain_order=True)
        .agg(
            pl.len().alias("runs"),
            pl.first("rate_mbps"),
            *(
                agg(name).alias(f"{name}{suffix}")
                for name in ("mbps", "delay_ms")
                for agg, suffix in [(pl.median, ""), (pl.min, "_from"), (pl.max, "_to")]
            ),
            again,
            pl.sum("timeouts"),
        )
        .rename({"contender": "scheme"})
    )


def with_rows(rows: pl.DataFrame) -> pl.DataFrame:
    """What is committed, with these rows in their places."""
    if not ROWS.is_file():
        return rows
    known = pl.read_csv(ROWS, schema_overrides=rows.schema)
    all_rows = pl.concat([known.join(rows, on=["cell", "scheme", "side"], how="anti"), rows], how="diagonal")
    places = [
        pl.col(name).replace_strict({one: place for place, one in enumerate(order)}, default=len(order))
        for name, order in [("cell", list(CELLS)), ("scheme", ["cubic", ALSO["cubic"], *HUMAN[1:], *TABLES])]
    ]
    return all_rows.sort(places, maintain_order=True)


if __name__ == "__main__":
    main()
