"""Adversarial rounds: the worst networks that a search finds for a law go into its training, and what that gained.

Usage: adversarial.py [--rounds N] [--cpu-seconds N] [--cache FOLDER] [--threads N] [--page]

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

PROJECT = Path(__file__).parents[1]
RESULTS = PROJECT / "docs" / "results"
TABLE = MODEL = "internet-1"
LIMITS, RIVALS = "internet", ("cubic", "bbr3", "copa")
WITHOUT = (*UNSAID, "beside")
"""Axes that models cannot say; and neighbours, who are the business of internet-shared-1."""
SEARCHES, NETWORKS = 3, 300
"""Of a round, and networks that each of them tries."""
WEIGHT = 0.1
"""Of each network found, against each kind of the model's own networks."""
SEED, FRESH_SEED, SCATTER_SEED = 2100, 2900, 2999
"""Of the searches that train, of that which measures, and of the networks scattered: the latter two train nothing."""
SCATTERED, SPECIMENS = 300, 200
WORST_SHARE = 0.1
CONTROL = "control"
DELTA = 1.0
"""The model's."""


def main() -> None:
    """Does the rounds, measures, and writes what came of them."""
    given = arguments()
    if not given.page:
        cache = make_folder(given.cache)
        rounds = list(laws(given, cache))
        rows = [row for name, law in rounds for row in measured(name, law, cache, given.threads)]
        write_atomically(RESULTS / "adversarial.csv", pl.DataFrame(rows).write_csv().encode())
        for name, law in rounds[1:]:
            write_atomically(make_folder(RESULTS / "adversarial") / f"{name}.dna", law.dna)
    frames = (pl.read_csv(RESULTS / f"adversarial{which}.csv") for which in ("", "-networks"))
    write_atomically(PROJECT / "docs" / "adversarial.md", page(*frames).encode())


def arguments() -> argparse.Namespace:
    """What is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cpu-seconds", type=float, default=200, help="of evolution in each round")
    parser.add_argument("--cache", type=Path, default=Path("out/adversarial"))
    parser.add_argument("--threads", type=int)
    parser.add_argument("--page", action="store_true")
    return parser.parse_args()


def laws(given: argparse.Namespace, cache: Path) -> Iterator[tuple[str, Table]]:
    """That which began, that of each round, and the control's."""
    law, networks, lines = Table.load(TABLE), list[Base](), []
    yield TABLE, law
    for number in range(1, given.rounds + 1):
        for search in range(SEARCHES):
            found = searched(law, SEED + 10 * number + search, cache / f"round-{number}-{search}", given.threads)
            networks.append(found.network)
            lines.append({"round": number, "harm": found.harm, "network": found.network.words, "words": found.words})
        model = trained_also(MODEL, networks, WEIGHT)
        law = designed(cache / f"round-{number}.dna", model, law, given.cpu_seconds, given.threads)
        yield f"round-{number}", law
    write_atomically(RESULTS / "adversarial-networks.csv", pl.DataFrame(lines).write_csv(float_precision=4).encode())
    seconds = given.rounds * given.cpu_seconds
    yield CONTROL, designed(cache / f"{CONTROL}.dna", Model.of(MODEL), Table.load(TABLE), seconds, given.threads)


def searched(law: Table, seed: int, folder: Path, threads: int | None) -> Worst:
    """The worst network that one search finds."""
    return exmachina.worst(
        law, LIMITS, rivals=RIVALS, without=WITHOUT, output=folder, networks=NETWORKS, seed=seed, threads=threads
    )


def designed(path: Path, model: Model, start: Table, seconds: float, threads: int | None) -> Table:
    """The law that evolution makes of another on a model; as it is at that path if it is there."""
    if not path.exists():
        resume = path.with_name(f"{path.name}.checkpoint").exists()
        exmachina.design(model, path, start=start, seed=SEED, cpu_seconds=seconds, threads=threads, resume=resume)
    return Table.load(path)


def measured(name: str, law: Table, cache: Path, threads: int | None) -> Iterator[dict[str, object]]:
    """What a law is worth on what trained nothing."""
    limits = Limits.load(LIMITS).without(WITHOUT)
    options = WorstOptions(networks=NETWORKS, threads=threads)
    space = Space(limits)
    harms = scattered_harms(law, space, options)
    worst = np.sort(harms)[-round(WORST_SHARE * len(harms)) :]
    fresh = searched(law, FRESH_SEED, cache / f"fresh-{name}", threads)
    scores = exmachina.score(law, MODEL, specimens=SPECIMENS, seed=FRESH_SEED, threads=threads).summary
    yield from (
        {"law": name, "measure": measure, "value": round(float(value), 4)}
        for measure, value in {
            "scattered_mean": harms.mean(),
            "scattered_worst": worst.mean(),
            "scattered_behind_share": (harms > 0).mean(),
            "fresh_search": fresh.harm,
            "held_out": scores["score"][0],
        }.items()
    )


def scattered_harms(law: Table, space: Space, options: WorstOptions) -> np.ndarray:
    """How far it is behind the best rival on each of the networks scattered; below 0 where it is ahead."""
    networks = [space.network(point) for point in space.scattered(SCATTERED, SCATTER_SEED)]
    with opened(options) as engine:
        judge = Judge(law, list(RIVALS), MEASURES["regret"], DELTA, engine)
        harms = [judge.harm(network, options.draws, SCATTER_SEED) for network in networks]
    return np.array([harm for harm in harms if harm is not None])


if __name__ == "__main__":
    main()
