"""How tables that come with the program stand beside the authors' published ones where the network is less exact.

Usage: imperfect.py [--specimens N]. Prints the table of docs/designs.md, "Imperfect networks, here": score of ours / of
the published table, on the same held-out networks of the model, each with one thing added; bold where the published
one is ahead with 95 % confidence. The published tables are looked for beside the project.
"""

import argparse
from pathlib import Path

from algorithms import PUBLISHED

import exmachina
from exmachina import Model, Table
from exmachina.rulewords import signed

TABLES = Path(__file__).parents[2] / "shared" / "reference" / "remycc"
CONDITIONS = {
    "as designed": "",
    "RTT jitter of 1 us": "jitter_ms = 0.001",
    "RTT jitter of 1 ms": "jitter_ms = 1",
    "RTT jitter of 10 ms": "jitter_ms = 10",
    "clock of 1 ms": "clock_ms = 1",
}
SEED = 27_182_818
"""No design has it, and the page of algorithms has another one."""


def main() -> None:
    """Scores and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--specimens", type=int, default=200)
    given = parser.parse_args()
    print("| table | " + " | ".join(CONDITIONS) + " |")
    print("|---|" + "---|" * len(CONDITIONS), flush=True)
    for name, theirs in PUBLISHED.items():
        cells = [cell(name, theirs, added, given.specimens) for added in CONDITIONS.values()]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def cell(name: str, theirs: str, added: str, specimens: int) -> str:
    """Both scores on the model's networks with one thing added."""
    model = Model.load(name)
    changed = Model(model.text.replace("[path]\n", f"[path]\n{added}\n", 1), f"{name}.toml")
    tables = [Table.load(name), Table.load(TABLES / f"{theirs}.dna")]
    ours, published, _ = exmachina.score(tables, changed, specimens=specimens, seed=SEED).summary.iter_rows(named=True)
    words = f"{signed(ours['score'], 2)} / {signed(published['score'], 2)}"
    return f"**{words}**" if published["difference"] > published["difference_ci95"] else words


if __name__ == "__main__":
    main()
