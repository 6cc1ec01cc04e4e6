"""Sections of `sturdy.py` that run the design simulator: scores of tables, and what is changed about its networks."""

import subprocess
from collections.abc import Iterator

from algorithms import PACKAGE
from sturdy_measured import BEHIND, NONE, ROBUST, SEED, Measured, own, published

import exmachina
from exmachina import Algorithm, Model
from exmachina.stats import mean_interval

CONDITIONS = {
    "jitter of 1 us": "",
    "jitter of 50 us": "jitter_ms = 0.05",
    "jitter of 1 ms": "jitter_ms = 1",
    "jitter of 10 ms": "jitter_ms = 10",
    "clock of 1 ms": "clock_ms = 1",
    "delayed ACKs": "ack_packets = 2",
    "1 % loss": "loss = 0.01",
    "buffer of 1 BDP": "buffer_bdp = 1",
}
WORST = {"jitter of 10 ms": 0.25}
"""How much a robust table may lose, where it is not 0.1."""
UNAVOIDABLE = 0.05
"""Where omniscient senders lose more than this, the page says how much: nobody can lose less."""
LONG = {"tao-2x": -0.288, "tao-delta-10": -0.369, "tao-delta-0.1": 0.185, "tao-rtt-50-250": -0.282}
"""What authors' tables score that are not here, on runs of 1000 s: measured by testers in the authors' simulator."""
STRATA = {
    "general-0.1": "senders",
    "general-1": "senders",
    "general-10": "senders",
    "tao-10x": "rate_mbps",
    "tao-100x": "rate_mbps",
    "tao-mux-10": "senders",
}
CHANGE = 0.01
BACK = 0.99
STATES, STATES_SEED = 200, 36_055_512
"""Of each network, and of networks and states."""
OTHERS, FEW_STATES = 200, 20
"""As many states on other networks, ten times as many: of twenty each is a twentieth of what is found."""


def in_world(model: Model, added: str) -> Model:
    """The model with nothing but this added to its networks, and a microsecond of jitter."""
    text = model.text.split("\n[design.world]")[0]
    return Model(f"{text}\n[design.world]\n{added}\n", f"{model.name}.toml")


def clock(algorithm: Algorithm) -> Iterator[Measured]:
    """What a microsecond of jitter changes."""
    model, means = in_world(algorithm.model, ""), []
    for trembles in (False, True):
        report = exmachina.score(
            [own(algorithm)], model, specimens=50, seconds_each=5 * model.duration_s, seed=SEED, in_world=trembles
        )
        means.append(report.summary.row(0, named=True))
    for what in ("normalised_throughput", "delay_ratio"):
        before, after = (mean[what] for mean in means)
        yield what, after, before, -abs(after / before - 1), NONE, -CHANGE


def beside_published(algorithm: Algorithm) -> Iterator[Measured]:
    """Long runs, whole and by strata."""
    if algorithm.name.endswith(ROBUST):
        return
    other, model = published(algorithm), algorithm.model
    if other is None and algorithm.name not in LONG:
        return
    tables = [own(algorithm), *([] if other is None else [other])]
    report = exmachina.score(tables, model, specimens=100, seconds_each=1000, seed=SEED)
    ours, theirs = report.summary.row(0, named=True), report.summary.row(1, named=True)
    if other is None:
        known = LONG[algorithm.name]
        yield "all", ours["score"], known, ours["score"] - known, ours["score_ci95"], 0.0
        return
    yield "all", ours["score"], theirs["score"], -theirs["difference"], theirs["difference_ci95"], 0.0
    if algorithm.name in STRATA:
        by = STRATA[algorithm.name]
        strata = report.strata(by)  # type: ignore[arg-type]
        mine, others = (strata.filter(scheme=strata["scheme"].unique(maintain_order=True)[i]) for i in (0, 1))
        for a, b in zip(mine.iter_rows(named=True), others.iter_rows(named=True), strict=True):
            where = f"{by} {a['low']:.4g}" + ("" if a["low"] == a["high"] else f" to {a['high']:.4g}")
            yield where, a["score"], b["score"], -b["difference"], b["difference_ci95"], -BEHIND


def world(algorithm: Algorithm) -> Iterator[Measured]:
    """One imperfection at a time: what it costs a robust table, and where that leaves it."""
    if not algorithm.name.endswith(ROBUST):
        return
    other = published(algorithm)
    clean = best = None
    for condition, added in CONDITIONS.items():
        tables = [algorithm.table, *([] if other is None else [other])]
        model = in_world(algorithm.model, added)
        seconds = max(60.0, algorithm.model.duration_s)
        report = exmachina.score(tables, model, specimens=120, seconds_each=seconds, seed=SEED, in_world=True)
        ours = report.summary.row(0, named=True)
        reference = report.summary.row(-1, named=True)["score"]
        clean, best = (ours["score"], reference) if clean is None else (clean, best)
        if added:
            allowed = -WORST.get(condition, 0.1)
            yield f"{condition}: against itself", ours["score"], clean, ours["score"] - clean, NONE, allowed
            if reference - best < -UNAVOIDABLE:
                yield f"{condition}: omniscient senders", reference, best, reference - best, NONE, NONE
        if other is not None:
            theirs = report.summary.row(1, named=True)
            ahead, half = -theirs["difference"], theirs["difference_ci95"]
            yield f"{condition}: against published", ours["score"], theirs["score"], ahead, half, 0.0


def units(algorithm: Algorithm) -> Iterator[Measured]:
    """Other units of time: the worst of some. A datacenter has too many packets a second for it."""
    if algorithm.metadata["together"] or algorithm.name == "datacenter":
        return
    model = PACKAGE.parent / "models" / f"{algorithm.model.name}.toml"
    lines = example("units", str(model), str(PACKAGE / f"{algorithm.name}.dna"))
    ratios = [[float(number) for number in line.split(",")[2:]] for line in lines]
    for what, of_unit in zip(("throughput", "RTT"), zip(*ratios, strict=True), strict=True):
        worst = max(of_unit, key=lambda ratio: abs(ratio - 1))
        yield what, worst, 1.0, -abs(worst - 1), NONE, -CHANGE


def recovery(algorithm: Algorithm) -> Iterator[Measured]:
    """Disturbed states."""
    if algorithm.metadata["together"] or algorithm.name == "datacenter":
        return
    found = exmachina.disturb([own(algorithm)], algorithm.model, states=STATES, seed=STATES_SEED)
    share = found.summary.row(0, named=True)
    yield "back", share["back"], share["nudged_back"], share["back"], NONE, BACK
    yield "below half of a share", share["below"], share["uneven"], -share["below"], NONE, 0.0
    yield "stays there", share["stays"], share["nudged_stays"], -share["stays"], NONE, 0.0
    on_others = exmachina.disturb(
        [own(algorithm)],
        algorithm.model,
        specimens=OTHERS,
        states=FEW_STATES,
        seed=STATES_SEED,
        skip=found.frame["specimen"].n_unique(),
    )
    for what, column, sign, allowed in (("back", "back", 1, BACK), ("stays there", "stays", -1, 0.0)):
        each = mean_interval(on_others.frame[column].to_numpy() / FEW_STATES)
        nudged = on_others.summary[f"nudged_{column}"][0]
        yield f"{what}: on {OTHERS} others", each.mean, nudged, sign * each.mean, each.half_width, allowed


def example(name: str, *args: str) -> list[str]:
    """What an example of the design crate prints, less its head."""
    command = ["cargo", "run", "--release", "-q", "-p", "exmachina-design", "--example", name, "--", *args]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[1:]
