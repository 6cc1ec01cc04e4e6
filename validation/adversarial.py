"""Adversarial rounds: the worst networks that a search finds for a law go into its training, and what that gained.

Usage: adversarial.py [--cache FOLDER] [--page]

A round searches for the worst networks for the law so far (each search leaves one, reduced to what matters, as
`exmachina worst` does), adds them to those that training goes by (`[[also]]`, `exmachina.hunting.trained_also`), and
goes on with the evolution from that law. The law of each round, and what began, are then measured on what none of them
was trained on: networks scattered over all of the limits, a search of a seed of its own, and the model's own held-out
networks. A control has as much evolution with no networks added: what more of the search alone gives.

What was done is kept in the cache, and a call goes on from there. docs/results/adversarial.csv has a row for each law
and measure, adversarial-networks.csv the networks found, docs/results/adversarial the laws; docs/adversarial.md is
written from these.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
from adversarial_page import page
from numpy.typing import NDArray

import exmachina
from exmachina import Limits, Model, Table, Worst
from exmachina.engines import opened
from exmachina.files import make_folder, write_atomically
from exmachina.hunting import MEASURES, trained_also
from exmachina.hunting.judge import Judge
from exmachina.hunting.options import WorstOptions
from exmachina.hunting.space import Space
from exmachina.hunting.training import UNSAID
from exmachina.probing import Base

Harms = NDArray[np.float64]
PROJECT = Path(__file__).parents[1]
RESULTS = PROJECT / "docs" / "results"
TABLE = MODEL = "internet-1"
LAW = RESULTS / "earlier" / "internet-1-41.dna"
"""internet-1 as it was then: before laws told jitter from queues."""
LIMITS, RIVALS = "internet", ("cubic", "bbr3", "copa")
WITHOUT = (*UNSAID, "beside")
"""Axes that models cannot say; and neighbours, who are the business of internet-shared-1."""
ROUNDS, CPU_S = 3, 200.0
"""How many, and of evolution in each of them."""
SEARCHES, NETWORKS = 3, 300
"""Of a round, and networks that each of them tries."""
WEIGHT = 0.1
"""Of each network found, against each kind of the model's own networks."""
SEED, FRESH_SEED, SCATTER_SEED = 2100, 2900, 2999
"""Of the searches that train, of that which measures, and of the networks scattered: the latter two train nothing."""
SCATTERED, SPECIMENS = 300, 200
WORST_SHARE, RESAMPLED = 0.1, 1000
"""Of the networks scattered the worst; how often all are drawn again for the error of their mean (the bootstrap)."""
CONTROL = "control"
DELTA = 1.0
"""The model's."""


def main() -> None:
    """Does the rounds, measures, and writes what came of them."""
    given = arguments()
    if not given.page:
        cache = make_folder(given.cache)
        rounds = list(laws(cache))
        harms = [scattered_harms(law) for _, law in rounds]
        rows = [
            row
            for (name, law), own in zip(rounds, harms, strict=True)
            for row in measured(name, law, own, own - harms[0], cache / f"fresh-{name}")
        ]
        write_atomically(RESULTS / "adversarial.csv", pl.DataFrame(rows).write_csv().encode())
        for name, law in rounds[1:]:
            write_atomically(make_folder(RESULTS / "adversarial") / f"{name}.dna", law.dna)
    frames = (pl.read_csv(RESULTS / f"adversarial{which}.csv") for which in ("", "-networks"))
    write_atomically(PROJECT / "docs" / "adversarial.md", page(*frames).encode())


def arguments() -> argparse.Namespace:
    """What is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, default=Path("out/adversarial"))
    parser.add_argument("--page", action="store_true")
    return parser.parse_args()


def laws(cache: Path) -> Iterator[tuple[str, Table]]:
    """That which began, that of each round, and the control's."""
    law, networks, lines = Table.load(LAW), list[Base](), []
    yield TABLE, law
    for number in range(1, ROUNDS + 1):
        for search in range(SEARCHES):
            found = searched(law, SEED + 10 * number + search, cache / f"round-{number}-{search}")
            networks.append(found.network)
            lines.append({"round": number, "harm": found.harm, "network": found.network.words, "words": found.words})
        model = trained_also(MODEL, networks, WEIGHT)
        law = designed(cache / f"round-{number}.dna", model, law, CPU_S)
        yield f"round-{number}", law
    write_atomically(RESULTS / "adversarial-networks.csv", pl.DataFrame(lines).write_csv(float_precision=4).encode())
    seconds = ROUNDS * CPU_S
    yield CONTROL, designed(cache / f"{CONTROL}.dna", Model.of(MODEL), Table.load(LAW), seconds)


def searched(law: Table, seed: int, folder: Path) -> Worst:
    """The worst network that one search finds."""
    return exmachina.worst(law, LIMITS, rivals=RIVALS, without=WITHOUT, output=folder, networks=NETWORKS, seed=seed)


def designed(path: Path, model: Model, start: Table, seconds: float) -> Table:
    """The law that evolution makes of another on a model; as it is at that path if it is there."""
    if not path.exists():
        resume = path.with_name(f"{path.name}.checkpoint").exists()
        exmachina.design(model, path, start=start, seed=SEED, cpu_seconds=seconds, resume=resume)
    return Table.load(path)


def measured(name: str, law: Table, harms: Harms, against_first: Harms, folder: Path) -> Iterator[dict[str, object]]:
    """What a law is worth on what trained nothing.

    Of the networks scattered: its harms, and how much more than the first law's they are, network by network.
    """
    known, differences = (those[np.isfinite(those)] for those in (harms, against_first))
    draws = np.random.default_rng(SCATTER_SEED).integers(len(known), size=(RESAMPLED, len(known)))
    scores = exmachina.score(law, MODEL, specimens=SPECIMENS, seed=FRESH_SEED).summary
    yield from (
        {"law": name, "measure": measure, "value": round(float(value), 4)}
        for measure, value in {
            "scattered_mean": known.mean(),
            "scattered_difference_error": differences.std(ddof=1) / np.sqrt(len(differences)),
            "scattered_worst": worst_mean(known),
            "scattered_worst_error": np.std([worst_mean(known[draw]) for draw in draws]),
            "scattered_behind_share": (known > 0).mean(),
            "fresh_search": searched(law, FRESH_SEED, folder).harm,
            "held_out": scores["score"][0],
        }.items()
    )


def worst_mean(harms: Harms) -> float:
    """The mean of the largest of them."""
    return float(np.sort(harms)[-round(WORST_SHARE * len(harms)) :].mean())


def scattered_harms(law: Table) -> Harms:
    """How far it is behind the best rival on each of the networks scattered, below 0 where it is ahead.

    NaN where there was nothing to measure.
    """
    space, options = Space(Limits.load(LIMITS).without(WITHOUT)), WorstOptions(networks=NETWORKS)
    networks = [space.network(point) for point in space.scattered(SCATTERED, SCATTER_SEED)]
    with opened(options) as engine:
        judge = Judge(law, list(RIVALS), MEASURES["regret"], DELTA, engine)
        harms = [judge.harm(network, options.draws, SCATTER_SEED) for network in networks]
    return np.array([np.nan if harm is None else harm for harm in harms])


if __name__ == "__main__":
    main()
