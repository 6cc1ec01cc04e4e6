"""Do algorithms hold up where they were not made? Measures it, and writes docs/sturdy.md and docs/results/sturdy.csv.

Usage: sturdy.py [--only SECTION ...] [--tables NAME ...] [--page]. Sections, each of some minutes of one core:

- clock: what a microsecond of jitter changes in throughput and delay, for every table; 1 % is allowed.
- published: faithful tables beside the authors' on runs of 1000 s, as a whole and by strata.
- measure: the same by ln(mean throughput / mean delay), in the transport of the papers' ns-2.
- world: robust tables with one imperfection at a time, beside themselves without and beside the authors'.
- acks: ln(throughput / delay) with delayed ACKs against an ACK per packet, in today's transport, for every table.
- repairs: robust tables in today's transport with losses and short buffers, where lost packets are sent again.
- units: what changes where time is not counted in nanoseconds (`cargo run --example units`); 1 % is allowed.
- lte: general-* on cellular recordings, which nothing here trains on: are they on figure 7's frontier?
- datacenter: its objective beside DCTCP's, and that of Cubic over sfqCoDel.
- distance: what a sender with an RTT of 200 ms has of what one with 50 ms has, under general-*.
- recovery: whether tables come back from disturbed states (`cargo run --example recovery`), for every table.

Rows of other sections and tables stay as they are. --page writes the page only. The authors' tables are looked for
beside the project. No design has the seeds used here, and no table was chosen by what they gave (docs/designs.md
says which were designed on after a look at it).
"""

import argparse
import csv
import io
import math
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
from algorithms import PACKAGE, PUBLISHED
from sturdy_page import write_page

import exmachina
from exmachina import Algorithm, Evaluation, Model, Table
from exmachina.files import write_atomically

PROJECT = Path(__file__).parents[1]
TABLES = PROJECT.parent / "shared" / "reference" / "remycc"
RESULTS = PROJECT / "docs" / "results" / "sturdy.csv"
SEED = 26_457_513
FIELDS = ["section", "table", "condition", "ours", "other", "difference", "ci95", "allowed", "held"]
ROBUST = "-robust"
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
POINTS = {
    "tao-rtt-150": ("rtt_ms = 150", "rtt_ms = {}", (100, 150, 200, 300)),
    "tao-10x": ("rate_mbps = { log_uniform = [10, 100] }", "rate_mbps = {}", (10, 18, 32, 56, 100)),
    "tao-100x": ("rate_mbps = { log_uniform = [3.2, 320] }", "rate_mbps = {}", (3.2, 10, 32, 100, 320)),
    "tao-mux-10": ("count = { uniform = [1, 10] }", "count = {}", (1, 2, 4, 7, 10)),
}
"""Where models are looked at point by point: the line of the model, what stands there instead, values."""
BEHIND = 0.02
"""So far may a table be behind in a stratum."""
CHANGE = 0.01
DELAYED = 0.05
BACK = 0.99
STATES = 200
RECORDINGS = {
    "Verizon 2012": "lte/Verizon-LTE-2012-resampled-first-100s.down",
    "Verizon": "traces/Verizon-LTE-short.down",
    "Verizon, up": "traces/Verizon-LTE-short.up",
    "T-Mobile": "traces/TMobile-LTE-short.down",
    "AT&T, driving": "traces/ATT-LTE-driving.down",
}
BY_HAND = ["newreno", "vegas", "cubic", "compound", "cubic/sfqcodel", "xcp"]
FAIR = 0.5
"""What the farthest sender must have of what the nearest has."""

Row = dict[str, object]


def main() -> None:
    """Measures, keeps what others gave, and writes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=list(SECTIONS), default=list(SECTIONS))
    parser.add_argument("--tables", nargs="+", metavar="NAME")
    parser.add_argument("--page", action="store_true")
    given = parser.parse_args()
    for section in [] if given.page else given.only:
        for algorithm in exmachina.algorithms():
            if given.tables is None or algorithm.name in given.tables:
                rows = [row(section, algorithm.name, measured) for measured in SECTIONS[section](algorithm)]
                keep(section, algorithm.name, rows)
                for line in rows:
                    print(*line.values(), flush=True)
    write_page(PROJECT, read())


def row(section: str, table: str, measured: "Measured") -> Row:
    """A line of results: it holds if the difference is at least what is allowed."""
    condition, *numbers = measured
    names = ["ours", "other", "difference", "ci95", "allowed"]
    shown = {name: "" if math.isnan(x) else f"{x:.4f}" for name, x in zip(names, numbers, strict=True)}
    _, _, difference, _, allowed = numbers
    held = "" if math.isnan(allowed) else "yes" if difference >= allowed else "no"
    return {"section": section, "table": table, "condition": condition, **shown, "held": held}


def read() -> list[dict[str, str]]:
    """All lines."""
    if not RESULTS.is_file():
        return []
    with RESULTS.open(newline="") as file:
        return list(csv.DictReader(file))


def keep(section: str, table: str, rows: list[Row]) -> None:
    """Puts lines in the place of those of the same section and table."""
    others = [line for line in read() if (line["section"], line["table"]) != (section, table)]
    names = [one.name for one in exmachina.algorithms()]
    order = {name: i for i, name in enumerate(names)}
    known = [line for line in [*others, *rows] if line["table"] in order]
    known.sort(key=lambda line: (list(SECTIONS).index(str(line["section"])), order[str(line["table"])]))
    out = io.StringIO()
    writer = csv.DictWriter(out, FIELDS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(known)
    write_atomically(RESULTS, out.getvalue().encode())


Measured = tuple[str, float, float, float, float, float]
"""Condition, ours, the other's, the difference, half its interval, and what it must be at least."""
NONE = math.nan


def own(algorithm: Algorithm) -> list[Table] | Table:
    """What the senders of its model run: its table, and the others' that were designed with it."""
    together = algorithm.metadata["together"]
    return [Algorithm(name).table for name in together] if together else algorithm.table


def in_world(model: Model, added: str) -> Model:
    """The model with nothing but this added to its networks, and a microsecond of jitter."""
    text = model.text.split("\n[design.world]")[0]
    return Model(f"{text}\n[design.world]\n{added}\n", f"{model.name}.toml")


def published(algorithm: Algorithm) -> Table | None:
    """The authors' table for the same networks."""
    name = PUBLISHED.get(algorithm.name.removesuffix(ROBUST))
    return None if name is None else Table.load(TABLES / f"{name}.dna")


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


def by_the_papers_measure(algorithm: Algorithm) -> Iterator[Measured]:
    """Point by point, in the papers' transport."""
    if algorithm.name not in POINTS:
        return
    line, instead, values = POINTS[algorithm.name]
    other = PUBLISHED[algorithm.name]
    for value in values:
        text = scenario(algorithm.model.text.replace(line, instead.format(value)), 'preset = "tao14"', 100)
        evaluation = Evaluation(f'schemes = ["{algorithm.name}", "{TABLES / other}.dna"]\n{text}', "measure.toml")
        ours, theirs = (measure(flows) for flows in by_scheme(exmachina.evaluate(evaluation, None).flows))
        yield instead.format(value), ours, theirs, ours - theirs, NONE, -BEHIND


def scenario(model: str, transport: str, seconds: float) -> str:
    """An evaluation on the networks of a model."""
    networks = re.split(r"^\[\[?(?:design|objective|also)\b", model, maxsplit=1, flags=re.MULTILINE)[0]
    head = f"runs = 40\nduration_s = {seconds}\nseed = {SEED}\n"
    return f"{head}{networks}\n[transport]\n{transport}\npacket_bytes = 1250\n"


def by_scheme(flows: pl.DataFrame) -> list[pl.DataFrame]:
    """Rows of each scheme that were on."""
    on = flows.filter(pl.col("on_s") > 0)
    return [group for _, group in on.group_by("scheme", maintain_order=True)]


def measure(flows: pl.DataFrame) -> float:
    """ln(mean throughput / mean delay), Mbit/s and ms."""
    throughput, delay = (flows[name].drop_nans().to_numpy().mean() for name in ("throughput_mbps", "mean_rtt_ms"))
    return float(math.log(throughput / delay))


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


def acks(algorithm: Algorithm) -> Iterator[Measured]:
    """Delayed ACKs."""
    if algorithm.metadata["together"]:
        return
    each, delayed = [
        exmachina.evaluate(
            Evaluation(
                f'schemes = ["{algorithm.name}"]\n'
                + scenario(algorithm.model.text, f'preset = "today"\ndelayed_ack_ms = {ms}', seconds_of(algorithm)),
                "acks.toml",
            ),
            None,
        ).flows.filter(pl.col("on_s") > 0)
        for ms in (0, 40)
    ]
    yield "delayed ACKs", measure(delayed), measure(each), measure(delayed) - measure(each), NONE, -DELAYED


def seconds_of(algorithm: Algorithm) -> float:
    """Three times as long as it trained, and no less than it takes to see it."""
    return 3.0 if algorithm.name == "datacenter" else max(60.0, algorithm.model.duration_s)


def repairs(algorithm: Algorithm) -> Iterator[Measured]:
    """Losses in a transport that repairs them, which the design simulator's senders do not: is it the same?"""
    if not algorithm.name.endswith(ROBUST):
        return
    changes = {"": "", "1 % loss": "\nloss = 0.01", "buffer of 1 BDP": None}
    clean = NONE
    for condition, change in changes.items():
        infinite, preset = 'buffer = "infinite"', 'preset = "today"'
        link = "buffer = { bdp = 1 }" if change is None else infinite + change
        if infinite not in algorithm.model.text:
            raise ValueError(f"{algorithm.name}: expected a model with an infinite buffer")
        text = scenario(algorithm.model.text.replace(infinite, link, 1), preset, seconds_of(algorithm))
        flows = exmachina.evaluate(Evaluation(f'schemes = ["{algorithm.name}"]\n{text}', "repairs.toml"), None).flows
        got = measure(flows.filter(pl.col("on_s") > 0))
        clean = got if condition == "" else clean
        if condition:
            yield condition, got, clean, got - clean, NONE, -0.1


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


def example(name: str, *args: str) -> list[str]:
    """What an example of the design crate prints, less its head."""
    command = ["cargo", "run", "--release", "-q", "-p", "exmachina-design", "--example", name, "--", *args]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[1:]


def lte(algorithm: Algorithm) -> Iterator[Measured]:
    """On the frontier of throughput and delay, beside what was made by hand: figure 7's experiment."""
    if not algorithm.name.startswith("general-"):
        return
    for recording, file in RECORDINGS.items():
        text = FIGURE_7.format(scheme=algorithm.name, by_hand=BY_HAND, seed=SEED, trace=TABLES.parent / file)
        ours, *others = (medians(flows) for flows in by_scheme(exmachina.evaluate(Evaluation(text, "lte.toml")).flows))
        # How far one is ahead in the worse of the two.
        behind = [min(math.log(a / b) for a, b in ((them[0], ours[0]), (ours[1], them[1]))) for them in others]
        most = max(range(len(behind)), key=behind.__getitem__)
        where = f"{recording}: {ours[0]:.2f} Mbit/s, {ours[1]:.1f} ms; nearest {BY_HAND[most]}"
        yield where, NONE, NONE, -behind[most], NONE, 0.0


FIGURE_7 = """\
schemes = ["{scheme}", {by_hand}]
runs = 16
duration_s = 100
seed = {seed}
link = {{ trace = "{trace}", told_mbps = 5.5, buffer = {{ packets = 1000 }} }}
path = {{ rtt_ms = 50 }}
senders = {{ count = 4 }}
workload = {{ on = {{ bytes = 100_000 }}, off = {{ seconds = 0.5 }}, first_off = "half-exponential" }}
transport = {{ preset = "remy13" }}
""".replace("{by_hand}", ", ".join(f'"{name}"' for name in BY_HAND))


def medians(flows: pl.DataFrame) -> tuple[float, float]:
    """Of senders: Mbit/s and queueing delay in ms, as the paper's scripts count them."""
    counted = (flows["ns2_throughput_mbps"], flows["ns2_rtt_ms"] - flows["min_rtt_ms"])
    throughput, delay = (float(numbers.drop_nans().median()) for numbers in counted)  # type: ignore[arg-type]
    return throughput, max(delay, 1e-3)


def datacenter(algorithm: Algorithm) -> Iterator[Measured]:
    """-1 / throughput, Gbit/s: what transfers of a size take; in the transports of the paper and of today."""
    if algorithm.name != "datacenter":
        return
    for preset in ("remy13", "today"):
        for senders in (8, 64):
            rivals = ["dctcp", "cubic/sfqcodel"]
            text = DATACENTER.format(scheme=algorithm.name, rivals=", ".join(f'"{r}"' for r in rivals), seed=SEED)
            text = text.replace("SENDERS", str(senders)).replace("PRESET", preset)
            ours, *others = (
                potential(flows) for flows in by_scheme(exmachina.evaluate(Evaluation(text, "datacenter.toml")).flows)
            )
            for rival, theirs in zip(rivals, others, strict=True):
                yield f"{preset}, {senders} senders: against {rival}", ours, theirs, ours - theirs, NONE, 0.0


def potential(flows: pl.DataFrame) -> float:
    """Mean of -1 / throughput over senders, each in all runs together."""
    each = flows.group_by("sender").agg(pl.col("delivered_mbytes").sum() / pl.col("on_s").sum() * 8e-3)
    return -float((1 / each[:, 1]).mean())  # type: ignore[arg-type]


DATACENTER = """\
schemes = ["{scheme}", {rivals}]
runs = 6
duration_s = 6
seed = {seed}
link = {{ rate_mbps = 10_000, buffer = {{ packets = 1000 }} }}
path = {{ rtt_ms = 4 }}
senders = {{ count = SENDERS }}
workload = {{ on = {{ bytes = 20_000_000 }}, off = {{ seconds = 0.1 }} }}
transport = {{ preset = "PRESET" }}
"""


def distance(algorithm: Algorithm) -> Iterator[Measured]:
    """Senders at different distances: figure 10's networks."""
    if not algorithm.name.startswith("general-"):
        return
    other = PUBLISHED[algorithm.name.removesuffix(ROBUST)]
    text = FIGURE_10.format(scheme=algorithm.name, other=TABLES / f"{other}.dna", seed=SEED)
    ours, theirs = (
        flows.group_by("min_rtt_ms").agg(pl.col("ns2_throughput_mbps").fill_nan(None).mean()).sort("min_rtt_ms")[:, 1]
        for flows in by_scheme(exmachina.evaluate(Evaluation(text, "distance.toml")).flows)
    )
    mine, published_ones = ours[3] / ours[0], theirs[3] / theirs[0]
    yield "200 ms over 50 ms, and the published table's", mine, published_ones, mine, NONE, FAIR


FIGURE_10 = """\
schemes = ["{scheme}", "{other}"]
runs = 96
duration_s = 100
seed = {seed}
link = {{ rate_mbps = 10, buffer = {{ packets = 1000 }} }}
path = {{ rtt_ms_each = [50, 100, 150, 200] }}
workload = {{ on = {{ icsi = {{ extra_bytes = 16384 }} }}, off = {{ seconds = 0.2 }}, first_off = "half-exponential" }}
transport = {{ preset = "remy13" }}
"""


def recovery(algorithm: Algorithm) -> Iterator[Measured]:
    """Disturbed states."""
    if algorithm.metadata["together"] or algorithm.name == "datacenter":
        return
    model = PACKAGE.parent / "models" / f"{algorithm.model.name}.toml"
    line = example("recovery", str(STATES), str(model), str(PACKAGE / f"{algorithm.name}.dna"))[0]
    _, _, back, stuck, stays, uneven = line.split(",")
    yield "back", float(back), NONE, float(back), NONE, BACK
    yield "below half of a share", float(stuck), float(uneven), -float(stuck), NONE, 0.0
    yield "stays there", float(stays), NONE, -float(stays), NONE, 0.0


SECTIONS: dict[str, Callable[[Algorithm], Iterator[Measured]]] = {
    "clock": clock,
    "published": beside_published,
    "measure": by_the_papers_measure,
    "world": world,
    "acks": acks,
    "repairs": repairs,
    "units": units,
    "lte": lte,
    "datacenter": datacenter,
    "distance": distance,
    "recovery": recovery,
}

if __name__ == "__main__":
    main()
