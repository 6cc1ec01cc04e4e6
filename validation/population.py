"""Eight designs of which the better half goes on, beside a single one, with the same CPU time: for docs/search.md.

python validation/population.py MODEL ... [--seeds N] [--cpu-seconds S] [--designs N] [--cache FOLDER]
    [--docs | --page]

Of each model and seed there are two arms. `line` is one design of S CPU-seconds. `halving` has N designs, each with a
seed of its own: a quarter of S (of eight designs; rungs have equal parts) is theirs together; the better half, by the
score on their validation networks, which no step looks at, goes on for another quarter; and so on, until one is left.
What either arm ends with is scored on networks of a seed that chose nothing.

Designs are kept in the cache with their checkpoints: a call that was interrupted goes on. --docs writes
docs/results/population.csv and the tables of docs/search.md; --page writes these from what is committed.
"""

import argparse
from dataclasses import dataclass
from math import ceil
from pathlib import Path

import polars as pl
from of_rules import of_rules
from population_curves import rungs
from population_curves import table as curves_table

import exmachina
from exmachina import Design, Model
from exmachina.files import make_folder, write_atomically
from exmachina.schemes import signed

ROOT = Path(__file__).parents[1]
RESULTS, PAGE = ROOT / "docs" / "results" / "population.csv", ROOT / "docs" / "search.md"
BEGIN, END = "<!-- population: written by validation/population.py -->", "<!-- population ends -->"
MODELS = ("general-1", "tao-10x", "tao-rtt-50-250")
FIRST_SEED, APART = 801, 100
"""Of designs; those of one population follow each other."""
HELD_OUT_SEED, SPECIMENS = 29, 400


@dataclass(frozen=True)
class Arm:
    """A way to spend CPU time."""

    model: Model
    seed: int
    cpu_seconds: float
    folder: Path

    def design(self, seed: int, cpu_seconds: float, begun: float | None = None) -> Design:
        """A design with so many CPU-seconds in all; begun with so many before, if any, which stay as they were."""
        output = self.folder / f"{self.model.name}-{seed}-{cpu_seconds:g}.dna"
        checkpoint = output.with_suffix(".dna.checkpoint")
        if begun is not None and not checkpoint.exists():
            before = self.folder / f"{self.model.name}-{seed}-{begun:g}.dna.checkpoint"
            write_atomically(checkpoint, before.read_bytes())
        resume = checkpoint.exists()
        return exmachina.design(self.model, output, seed=seed, cpu_seconds=cpu_seconds, threads=1, resume=resume)

    def line(self) -> list[Design]:
        """One design."""
        return [self.design(self.seed, self.cpu_seconds)]

    def halving(self, designs: int) -> list[Design]:
        """Several, fewer and fewer; the last one is what is left."""
        left, begun, gone = [self.seed + number for number in range(designs)], None, []
        for _, spent in rungs(self.cpu_seconds, designs):
            found = {seed: self.design(seed, spent, begun) for seed in left}
            order, begun = sorted(left, key=lambda seed: worth(found[seed]), reverse=True), spent
            left = order[: ceil(len(order) / 2)]
            gone += [found[seed] for seed in order if seed not in left]
        return [*gone, found[left[0]]]


def worth(design: Design) -> tuple[float, float]:
    """What designs are ranked by: that fewer senders starve, and the score."""
    score = float("-inf") if design.score is None else design.score
    return -(design.starved_share or 0.0), score


def measured(arm: Arm, designs: int) -> list[dict[str, object]]:
    """Both arms of a model and a seed: CPU time, steps of the design that is left, its score on held-out networks."""
    rows: list[dict[str, object]] = []
    for name, found in (("line", arm.line()), ("halving", arm.halving(designs))):
        last = found[-1]
        report = exmachina.score(last.table, arm.model, seed=HELD_OUT_SEED, specimens=SPECIMENS, threads=1)
        summary = report.summary.row(0, named=True)
        spent, packets = (sum(getattr(design.progress, of) for design in found) for of in ("cpu_s", "packets"))
        rows.append({"model": arm.model.name, "seed": arm.seed, "arm": name, "designs": len(found)}
                    | {"cpu_s": round(spent, 1), "last_cpu_s": round(last.progress.cpu_s, 1), "packets": packets}
                    | {"steps": last.progress.step, "rules": len(last.table)}
                    | {"score": round(summary["score"], 4), "score_ci95": round(summary["score_ci95"], 4)})  # fmt: skip
        print(rows[-1], flush=True)
    return rows


def table(rows: pl.DataFrame) -> str:
    """The table of the page."""
    lines = [
        "| model | seeds | one design | CPU-seconds, packets | halving | CPU-seconds, of the last design, packets |"
    ]
    lines.append("|---|---|---:|---:|---:|---:|")
    for (model, seed), both in rows.group_by("model", "seed", maintain_order=True):
        line, halving = (both.row(by_predicate=pl.col("arm") == arm, named=True) for arm in ("line", "halving"))
        scores = [f"{signed(one['score'])} ± {one['score_ci95']:.3f}" for one in (line, halving)]
        better = halving["score"] > line["score"]
        scores[better] = f"**{scores[better]}**"
        first, second = (f"{1e-9 * one['packets']:.1f} G" for one in (line, halving))
        seeds = f"{seed} to {int(str(seed)) + halving['designs'] - 1}"
        costs = f"{halving['cpu_s']:.0f}, {halving['last_cpu_s']:.0f}, {second}"
        lines.append(f"| {model} | {seeds} | {scores[0]} | {line['cpu_s']:.0f}, {first} | {scores[1]} | {costs} |")
    return "\n".join(lines)


def tables() -> str:
    """What the page has between its comments: halving on curves that are there, and in designs, where there are any."""
    parts = [curves_table()]
    if RESULTS.exists():
        parts.append(table(pl.read_csv(RESULTS)))
    return "\n\n".join(parts)


def write_page() -> None:
    """The tables of docs/search.md."""
    head, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    write_atomically(PAGE, f"{head}{BEGIN}\n\n{tables()}\n\n{END}{rest.split(END)[1]}".encode())


def main() -> None:
    """Measures what is not kept, and writes it if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", default=list(MODELS), metavar="MODEL")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--cpu-seconds", type=float, default=240.0)
    parser.add_argument("--designs", type=int, default=8)
    parser.add_argument("--cache", type=Path, default=ROOT / "out" / "population")
    parser.add_argument("--docs", action="store_true")
    parser.add_argument("--page", action="store_true")
    given = parser.parse_args()
    if not given.page:
        rows = []
        for number in range(given.seeds):
            for name in given.models:
                arm = Arm(of_rules(name), FIRST_SEED + APART * number, given.cpu_seconds, make_folder(given.cache))
                rows += measured(arm, given.designs)
        if given.docs:
            write_atomically(RESULTS, pl.DataFrame(rows).write_csv().encode())
    if given.docs or given.page:
        write_page()


if __name__ == "__main__":
    main()
