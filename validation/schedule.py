"""How many cores a design can use: a schedule of its measured pieces of work, for docs/parallel.md.

python validation/schedule.py            # from what is committed: results/schedule.csv, parallel.md, its picture
python validation/schedule.py --measure  # first measures, step by step, in one thread, some minutes

Every simulation of two designs of general-1 has its CPU time measured (crates/design/examples/tasks.rs): of one that
begins with policies, and of one that goes on from the table that bore that name, with races. They are then put on 10 to
10,000 cores, with the order and the waiting that the search has, and with others.
"""

import argparse
import io
import os
import subprocess
from dataclasses import replace
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import altair as alt
import numpy as np
import polars as pl
from of_rules import written
from schedule_page import page
from schedule_simulated import Stage, Step
from schedule_variants import VARIANTS

from exmachina.files import write_atomically
from exmachina.pictures.axes import Plane, Side
from exmachina.pictures.render import save
from exmachina.pictures.style import INK, SENDERS
from exmachina.pictures.theme import colours_by, heading, layered

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
TASKS, STEPS, RESULTS = (DOCS / "results" / name for name in ("tasks.parquet", "steps.csv", "schedule.csv"))
MODEL, SEED = "general-1", 11
POLICIES_S, RACES_S = 60, 40
"""CPU time of the designs."""
CORES = (10, 32, 64, 128, 256, 512, 1024, 2048, 4096, 10000)
SIZE = 400, 300
"""Of a panel of the picture, pixels."""


def measure() -> None:
    """Both designs, whose pieces of work are timed, into docs/results."""
    table = ROOT / "docs" / "results" / "earlier" / f"{MODEL}-table.dna"
    policies, races = _timed(POLICIES_S, {}), _timed(RACES_S, {"START": str(table)})
    after = policies[1]["step"].max()
    tasks, steps = (
        pl.concat([one, other.with_columns(pl.col("step") + after)]) for one, other in zip(policies, races, strict=True)
    )
    file = io.BytesIO()
    tasks.cast({"step": pl.UInt16, "batch": pl.UInt8, "ms": pl.Float32}).write_parquet(file, compression_level=19)
    write_atomically(TASKS, file.getvalue())
    write_atomically(STEPS, steps.write_csv().encode())


def _timed(cpu_seconds: int, environment: dict[str, str]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The pieces of work of a design, and its steps."""
    example = ["cargo", "run", "--profile", "fast", "--locked", "-q", "-p", "exmachina-design", "--example", "tasks"]
    with TemporaryDirectory() as folder:
        command = [*example, "--", str(written(MODEL, Path(folder))), str(cpu_seconds), str(SEED)]
        done = subprocess.run(
            command, cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True, check=True
        )
    return pl.read_csv(io.StringIO(done.stdout)), pl.read_csv(io.StringIO(done.stderr))


def kinds_of(tasks: pl.DataFrame, steps: pl.DataFrame) -> dict[str, list[Step]]:
    """The measured steps: generations of policies, and races. What was in no batch comes first, on one core."""
    batches: dict[int, list[Stage]] = {}
    for (step, _), rows in tasks.group_by("step", "batch", maintain_order=True):
        batches.setdefault(step, []).append(Stage(np.asarray(rows["ms"].to_numpy(), dtype=np.float64) / 1e3))
    found: dict[str, list[Step]] = {"generations": [], "races": []}
    for line in steps.iter_rows(named=True):
        own = batches[line["step"]]
        if line["measured"]:
            own[-1] = replace(own[-1], is_measurement=True)
        stages = (Stage(np.array([line["rest_s"]])), *own)
        gains = any(word in line["doing"] for word in ("gains 0", "starves"))
        kind = "generations" if line["doing"].startswith("policies") else "races"
        found[kind].append(Step(stages, gains))
    return found


def simulate(kinds: dict[str, list[Step]]) -> pl.DataFrame:
    """Every variant on every number of cores: speed-up and efficiency."""
    rows = []
    for kind, steps in kinds.items():
        for variant, cores in product(VARIANTS[kind], CORES):
            outcome = variant.on(cores, steps)
            found = {"speedup": outcome.speedup, "efficiency": outcome.efficiency}
            rows.append({"steps": kind, "variant": variant.name, "cores": cores, **found})
    return pl.DataFrame(rows).with_columns(pl.col("speedup", "efficiency").round_sig_figs(4))


def picture(results: pl.DataFrame) -> alt.HConcatChart:
    """Efficiency over cores."""
    colours = dict(zip(results["variant"].unique(maintain_order=True), [*SENDERS, INK], strict=True))
    plane = Plane(Side(CORES[0], CORES[-1], SIZE[0], log=True), Side(0.0, 1.0, SIZE[1]))
    place = plane.channels("cores", "share of the cores' time that is of use")
    colour = colours_by("variant", colours, legend=alt.Legend(title=None, symbolType="stroke", symbolSize=200))
    panels = []
    for (kind,), rows in results.group_by("steps", maintain_order=True):
        base = alt.Chart(rows.rename({"cores": "x", "efficiency": "y"}))
        layers = [
            base.mark_line(strokeWidth=2).encode(*place, colour),
            base.mark_circle(size=24).encode(*place, colour),
        ]
        panels.append(layered(layers, SIZE, str(kind)))
    chart: alt.HConcatChart = alt.hconcat(*panels)
    words = "Simulated from measured pieces of work."
    return chart.properties(title=heading(f"A design of {MODEL} on 10 to 10,000 cores", 2 * SIZE[0], words))


def main() -> None:
    """Measures if asked to, simulates, and writes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measure", action="store_true")
    if parser.parse_args().measure:
        measure()
    kinds = kinds_of(pl.read_parquet(TASKS), pl.read_csv(STEPS))
    results = simulate(kinds)
    write_atomically(RESULTS, results.write_csv().encode())
    save(picture(results), DOCS / "parallel.png")
    write_atomically(DOCS / "parallel.md", page(results, kinds).encode())


if __name__ == "__main__":
    main()
