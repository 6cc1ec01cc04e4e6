"""Which networks a search tries next: some scattered over all, then climbs from the worst of them (CMA-ES).

The climbs are those of CatCMA with margin (Hamano et al., "CatCMA with Margin", GECCO 2025) in the package `cmaes`:
numbers by a normal distribution, names by a probability for each, adapted together.
"""

from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from exmachina.hunting.space import Point, Space
from exmachina.hunting.trials import Harms
from exmachina.seeds import named_seed

if TYPE_CHECKING:
    from cmaes import CatCMAwM

__all__ = ["Proposals", "proposals"]

SCATTERED = 0.3
"""Of the networks that are tried."""
CLIMBS = 4
"""So many share the rest; where one ends early, there are more,"""
GENERATIONS = 4
"""and none has fewer generations than this, unless there is no more to share."""
BATCH = 16
"""Scattered networks are proposed so many at a time."""
STEP = 0.12
"""Standard deviation with which a climb begins, of a side of the cube."""
FAITH = 0.6
"""Probability with which a climb begins for the choice that it starts from, besides an even share of the rest."""

Proposals = Generator[list[Point], Harms, None]
"""Hands over points, and is sent the harm of each."""


def proposals(space: Space, networks: int, seed: int) -> Proposals:
    """Points to be tried, at most so many in all; what comes follows from the seed and the harms alone."""
    tried: list[tuple[float, Point]] = []
    scattered = space.scattered(max(1, round(SCATTERED * networks)), named_seed(seed, "scattered"))
    for first in range(0, len(scattered), BATCH):
        batch = scattered[first : first + BATCH]
        harms = yield batch
        tried += [(harm, point) for harm, point in zip(harms, batch, strict=True) if harm is not None]
    tried.sort(key=lambda one: -one[0])
    left = networks - len(scattered)
    share = max(left // CLIMBS, GENERATIONS * space.population)
    for number, (_, start) in enumerate(tried):
        spent = yield from _climb(space, start, min(share, left), named_seed(seed, "climb", number))
        left -= spent
        if spent == 0:
            return


def _climb(space: Space, start: Point, networks: int, seed: int) -> Generator[list[Point], Harms, int]:
    """From one point upwards, with at most so many networks; gives back how many there were."""
    optimiser, spent = _optimiser(space, start, seed), 0
    while spent + space.population <= networks:
        asked = [optimiser.ask() for _ in range(space.population)]
        harms = yield [(one.x if space.numbers else np.empty(0), _chosen(one.c)) for one in asked]
        spent += len(asked)
        known = [harm for harm in harms if harm is not None]
        mildest = min(known, default=0.0)
        losses = [-(mildest if harm is None else harm) for harm in harms]
        ranked, quarter = sorted(losses), len(losses) // 4
        if ranked[quarter] == ranked[3 * quarter]:
            break  # a plateau: nothing says where to go
        optimiser.tell(list(zip(asked, losses, strict=True)))
        if optimiser.should_stop():
            break
    return spent


def _optimiser(space: Space, start: Point, seed: int) -> "CatCMAwM":
    from cmaes import CatCMAwM  # noqa: PLC0415 (brings SciPy, which takes a while to load)

    numbers, choices = len(space.numbers), space.choices
    cube, chosen = start
    chances = np.zeros((len(choices), max(choices, default=0)))
    for row, many, choice in zip(chances, choices, chosen, strict=True):
        row[:many] = (1 - FAITH) / many
        row[choice] += FAITH
    return CatCMAwM(
        x_space=[[0.0, 1.0]] * numbers if numbers else None,
        c_space=choices or None,
        mean=np.array(cube) if numbers else None,
        sigma=1.0 if numbers else None,
        cov=np.diag(np.full(numbers, STEP**2)) if numbers else None,
        cat_param=chances if choices else None,
        population_size=space.population,
        seed=seed,
    )


def _chosen(rows: Sequence[np.ndarray] | np.ndarray | None) -> tuple[int, ...]:
    """The numbers of the choices, of which each row has a one in its place."""
    return () if rows is None else tuple(int(np.argmax(row)) for row in rows)
