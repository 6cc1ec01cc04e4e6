"""What is each signal worth (Tao'14 section 3)? Fresh designs with all four signals and with one of them left out.

Usage: knockout.py [--output FOLDER]. Every arm has the same network, the same start (one rule), the same CPU time and
the same seeds, which no other design has; tables are kept in FOLDER, and it goes on where it was. Writes
docs/results/knockout.csv and docs/knockout.md. Half an hour of one core.
"""

import argparse
from pathlib import Path

import polars as pl

import exmachina
from exmachina.files import write_atomically
from exmachina.schemes import signed
from exmachina.stats import Floats, mean_interval

PROJECT = Path(__file__).parents[1]
RESULTS = PROJECT / "docs" / "results" / "knockout.csv"
PAGE = PROJECT / "docs" / "knockout.md"
ALL = "tao-calibration"
ARMS = {
    ALL: "none",
    "tao-knockout-send": "`send_ewma`",
    "tao-knockout-ack": "`ack_ewma`",
    "tao-knockout-rtt": "`rtt_ratio`",
    "tao-knockout-slow": "`slow_ack_ewma`",
}
SEEDS = range(701, 706)
CPU_S = 40.0
HELD_OUT = 27_182_818
SPECIMENS = 400


def main() -> None:
    """Designs what is missing, scores all, and writes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=Path("knockout"))
    folder = parser.parse_args().output
    folder.mkdir(parents=True, exist_ok=True)
    for seed in SEEDS:
        for arm in ARMS:
            designed(folder, arm, seed)
    tables = {(arm, seed): folder / f"{arm}-{seed}.dna" for arm in ARMS for seed in SEEDS}
    report = exmachina.score([*tables.values()], ALL, specimens=SPECIMENS, seed=HELD_OUT)
    scores = dict(report.specimens.group_by("scheme").agg(pl.col("score").mean()).iter_rows())
    rows = [
        {"arm": arm, "seed": seed, "rules": len(exmachina.Table.load(path)), "score": round(scores[path.stem], 5)}
        for (arm, seed), path in tables.items()
    ]
    results = pl.DataFrame(rows)
    write_atomically(RESULTS, results.write_csv().encode())
    write_atomically(PAGE, page(results).encode())


def designed(folder: Path, arm: str, seed: int) -> None:
    """The table of an arm with a seed, unless it is there."""
    path = folder / f"{arm}-{seed}.dna"
    if not path.exists():
        resume = path.with_name(f"{path.name}.checkpoint").exists()
        exmachina.design(arm, path, cpu_seconds=CPU_S, seed=None if resume else seed, threads=1, resume=resume)
        print(path.name, flush=True)


def page(results: pl.DataFrame) -> str:
    """The page of these results."""
    every = {arm: results.filter(pl.col("arm") == arm).sort("seed")["score"].to_numpy() for arm in ARMS}
    lines = []
    for arm, without in ARMS.items():
        own, apart = mean_interval(every[arm]), mean_interval(every[arm] - every[ALL])
        listed = ", ".join(signed(score, 3) for score in every[arm])
        difference = "" if arm == ALL else f"{signed(apart.mean, 3)} ± {apart.half_width:.3f}"
        lines.append(f"| {without} | {signed(own.mean, 3)} ± {own.half_width:.3f} | {difference} | {listed} |")
    return TEXT.format(cpu_s=CPU_S, specimens=SPECIMENS, seeds=len(SEEDS), answer=answer(every), lines="\n".join(lines))


def answer(every: dict[str, Floats]) -> str:
    """Which signals designs miss, by the interval of the differences."""
    apart = {ARMS[arm]: mean_interval(every[arm] - every[ALL]) for arm in ARMS if arm != ALL}
    missed = [name for name, one in apart.items() if one.mean + one.half_width < 0]
    spared = [name for name, one in apart.items() if one.mean - one.half_width > 0]
    rest = [name for name in apart if name not in missed + spared]
    words = {"Designs miss": missed, "They are better without": spared, "Nothing can be told of": rest}
    return " ".join(f"{start} {', '.join(names)}." for start, names in words.items() if names)


TEXT = """\
# What is each signal worth?

Tao'14 (section 3) leaves one signal out at a time, and finds that each is worth something. Here every arm has the same
network (`tao-calibration`: 33 Mbit/s, 150 ms, two senders), the same start, one rule, the same {cpu_s:.0f} CPU-seconds,
and the same {seeds} seeds; scores are of {specimens} networks that no design has seen and that chose nothing. ± is half
a 95 % Student-t interval over seeds; differences are paired by seed. Written by `python validation/knockout.py`.

{answer}

| left out | score | against all four | by seed |
|---|---:|---:|---|
{lines}

The tables that come with the program, which the ledger of claims is of, were designed with more time from starts that
differ ([designs.md](designs.md)): what they differ by is not the signals' doing alone.
"""

if __name__ == "__main__":
    main()
