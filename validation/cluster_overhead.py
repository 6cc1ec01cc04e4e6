"""What handing work on costs: the same work by one process on two threads, and by two workers of one thread.

In turn, some times each; prints wall and CPU time of each, and writes docs/results/cluster-overhead.csv. CPU time is
that of this process, in which Dask's scheduler runs too, and of all its children. The workers are started before, and
stay. Run it on a machine of two processors that does nothing else, or believe the CPU times alone, and the least of
them.
"""

from __future__ import annotations

import csv
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
from of_rules import of_rules

import exmachina
from exmachina import Engine, EngineOptions, opened

RESULTS = Path(__file__).parents[1] / "docs" / "results"
RESULT, GROWN = RESULTS / "cluster-overhead.csv", RESULTS / "earlier" / "general-1-table.dna"
WORKERS = 2
REPEATS = 3 if len(sys.argv) == 1 else int(sys.argv[1])
STEPS = 12
RUNS = 960


def design(engine: Engine) -> object:
    """Steps of a design that begins with a grown table."""
    return exmachina.design(of_rules("general-1"), rounds=STEPS, start=GROWN, cluster=engine).table.dna


def evaluation(engine: Engine) -> object:
    """Schemes on a scenario."""
    flows = exmachina.evaluate("r4", ["cubic", "general-1", "newreno/codel"], runs=RUNS, cluster=engine).flows
    return flows.write_csv()


def cpu_s() -> float:
    """CPU time of this process and its children so far, s."""
    here = psutil.Process()
    times = [one.cpu_times() for one in [here, *here.children(recursive=True)]]
    return sum(one.user + one.system for one in times)


def measured(work: Callable[[Engine], object], engine: Engine) -> tuple[object, float, float]:
    """Return what came of it, wall time and CPU time."""
    began, spent = time.monotonic(), cpu_s()
    result = work(engine)
    return result, time.monotonic() - began, cpu_s() - spent


def main() -> None:
    """Run it."""
    rows = []
    with opened(EngineOptions(threads=WORKERS)) as here, opened(EngineOptions(workers=WORKERS)) as away:
        for work in (design, evaluation):
            least: dict[str, float] = {}
            for repeat in range(REPEATS):
                results = []
                for where, engine in (("one process", here), ("two workers", away)):
                    result, wall, cpu = measured(work, engine)
                    results.append(result)
                    rows.append([work.__name__, where, repeat, f"{wall:.2f}", f"{cpu:.2f}"])
                    print(f"{work.__name__}, {where}: {wall:.2f} s, {cpu:.2f} CPU-s", flush=True)
                    for what, value in (("wall", wall), ("cpu", cpu)):
                        least[f"{where} {what}"] = min(value, least.get(f"{where} {what}", value))
                if results[0] != results[1]:
                    sys.exit("the results are DIFFERENT")
            for what in ("wall", "cpu"):
                more = least[f"two workers {what}"] / least[f"one process {what}"] - 1
                print(f"{work.__name__}: {100 * more:+.1f} % {what} time, least of {REPEATS}", flush=True)
    with RESULT.open("w", newline="") as file:
        csv.writer(file).writerows([["work", "where", "repeat", "wall_s", "cpu_s"], *rows])


if __name__ == "__main__":
    main()
