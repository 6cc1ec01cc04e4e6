"""Successive halving on curves that are there: what it would have come to."""

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
from scipy.stats import spearmanr

from exmachina.schemes import signed

CURVES = Path(__file__).parents[1] / "docs" / "results" / "time-to-score.csv"
SEEDS = 501, 510
"""That nothing was chosen by."""
CPU_S, DESIGNS = 30.0, 8
EARLY_S = (2.0, 4.0, 7.5, 14.0)
LATE = 1.02
"""A point of a curve counts at a time that is so many times earlier."""

Curves = dict[int, tuple[np.ndarray, np.ndarray]]


def rungs(cpu_s: float, designs: int) -> list[tuple[int, float]]:
    """How many designs are left, and how much CPU time each of them has had at the end of the rung, s."""
    counts = [designs >> number for number in range(designs.bit_length())]
    spent = np.cumsum([cpu_s / len(counts) / count for count in counts])
    return list(zip(counts, spent.tolist(), strict=True))


def _at(curves: Curves, seed: int, cpu_s: float) -> float:
    """The score at a time."""
    times, scores = curves[seed]
    return float(scores[max(0, int(np.searchsorted(times, LATE * cpu_s, side="right")) - 1)])


def halved(curves: Curves, seeds: Sequence[int]) -> float:
    """The score that the last design is left with."""
    left = list(seeds)
    for count, spent in rungs(CPU_S, len(left)):
        left = sorted(left, key=lambda seed: _at(curves, seed, spent), reverse=True)[: max(1, count // 2)]
    return _at(curves, left[0], rungs(CPU_S, len(seeds))[-1][1])


def table() -> str:
    """Of each model: one design, and halving; and what early scores say of late ones."""
    rows = pl.read_csv(CURVES).filter(pl.col("search").str.starts_with("policies"), pl.col("seed").is_between(*SEEDS))
    heads = " | ".join(f"{early_s:g} s" for early_s in EARLY_S)
    lines = [f"| model | one design: median, worst | halving: median, worst | {heads} |"]
    lines.append(f"|---|---:|---:|{'---:|' * len(EARLY_S)}")
    for (model, _), group in rows.group_by("model", "search", maintain_order=True):
        curves = {
            int(str(seed)): (one["cpu_s"].to_numpy(), one["score"].to_numpy())
            for (seed,), one in group.group_by("seed", maintain_order=True)
        }
        if len(curves) < DESIGNS:
            continue
        line = [_at(curves, seed, CPU_S) for seed in curves]
        halving = [halved(curves, seeds) for seeds in combinations(curves, DESIGNS)]
        early = [spearmanr([_at(curves, seed, early_s) for seed in curves], line)[0] for early_s in EARLY_S]
        both = " | ".join(f"{signed(float(np.median(found)))}, {signed(min(found))}" for found in (line, halving))
        lines.append(f"| {model} | {both} | {' | '.join(signed(float(one), 2) for one in early)} |")
    return "\n".join(lines)
