"""How far searches get in so many CPU-seconds: the table of docs/search.md, from docs/results/time-to-score.csv.

Usage: time_to_score.py. The results hold one row for each measurement of each search: model, seed, which search, its
CPU-seconds, rules, and the score per network on networks that no search has seen.
"""

import re
from pathlib import Path

import polars as pl

from exmachina.files import write_atomically
from exmachina.schemes import signed

PROJECT = Path(__file__).parents[1]
RESULTS = PROJECT / "docs" / "results" / "time-to-score.csv"
PAGE = PROJECT / "docs" / "search.md"
TODAY = "policies; 32 candidates"
"""The search as it is now."""
SEEDS, FRESH_SEEDS = range(501, 511), range(601, 611)
"""Of all models alike, and of the search as it is now, when others were fresh no more; others went on for longer."""
AFTER_S = (5, 10, 30)
LATER = 1.1
"""A measurement counts for so many CPU-seconds up to this share later: searches end a little after their time."""
COLUMNS = [
    ("tao-10x before", "tao-10x", "before"),
    ("policies", "tao-10x", "policies"),
    ("now (2)", "tao-10x", TODAY),
    ("tao-100x before", "tao-100x", "before"),
    ("policies", "tao-100x", "policies"),
    ("now (2)", "tao-100x", TODAY),
    ("general-1 before", "general-1", "before"),
    ("policies (1)", "general-1", "policies; 4 networks"),
    ("now (2)", "general-1", TODAY),
]
"""Heads of the table, with model and search of each."""


def main() -> None:
    """Writes the page."""
    write_atomically(PAGE, page(PAGE.read_text(encoding="utf-8"), pl.read_csv(RESULTS)).encode())


def scores_after(rows: pl.DataFrame, model: str, search: str, cpu_s: float) -> pl.Series:
    """The last score of each seed that was measured in so many CPU-seconds.

    Raises:
        ValueError: If a seed has none.
    """
    seeds = FRESH_SEEDS if search == TODAY else SEEDS
    own = rows.filter(pl.col("model") == model, pl.col("search") == search, pl.col("seed").is_in(list(seeds)))
    last = own.filter(pl.col("cpu_s") <= LATER * cpu_s).sort("cpu_s").group_by("seed", maintain_order=True).last()
    if len(last) != len(seeds):
        raise ValueError(f"{RESULTS}: {model}, {search}: expected a measurement of {len(seeds)} seeds by {cpu_s} s")
    return last["score"]


def page(text: str, rows: pl.DataFrame) -> str:
    """The page with its table made anew."""
    head = f"| CPU-seconds | {' | '.join(name for name, _, _ in COLUMNS)} |\n"
    found = re.search(rf"{re.escape(head)}(\|.*\n)+", text)
    if found is None:
        raise ValueError(f"{PAGE}: there is no table of {head.strip()}")
    lines = [head, f"|---|{'---:|' * len(COLUMNS)}\n"]
    for cpu_s in AFTER_S:
        scores = [scores_after(rows, model, search, cpu_s) for _, model, search in COLUMNS]
        medians = [signed(float(own.median()), 3) for own in scores]  # type: ignore[arg-type]
        told = [
            value if search == "before" else f"**{value}**"
            for value, (*_, search) in zip(medians, COLUMNS, strict=True)
        ]
        lines.append(f"| {cpu_s}, median | {' | '.join(told)} |\n")
        lines.append(f"| {cpu_s}, worst | {' | '.join(signed(float(own.min()), 3) for own in scores)} |\n")  # type: ignore[arg-type]
    return f"{text[: found.start()]}{''.join(lines)}{text[found.end() :]}"


if __name__ == "__main__":
    main()
