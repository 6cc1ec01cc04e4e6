"""Sections of `sturdy.py` that run evaluations: in the transports of papers and of today, beside other schemes."""

import math
import re
from collections.abc import Callable, Iterator

import numpy as np
import polars as pl
from published import PUBLISHED, TABLES
from sturdy_measured import BEHIND, NONE, ROBUST, SEED, Measured

import exmachina
from exmachina import Algorithm, Evaluation

POINTS = {
    "tao-rtt-150": ("rtt_ms = 150", "rtt_ms = {}", (100, 150, 200, 300)),
    "tao-10x": ("rate_mbps = { log_uniform = [10, 100] }", "rate_mbps = {}", (10, 18, 32, 56, 100)),
    "tao-100x": ("rate_mbps = { log_uniform = [3.2, 320] }", "rate_mbps = {}", (3.2, 10, 32, 100, 320)),
    "tao-mux-10": ("count = { uniform = [1, 10] }", "count = {}", (1, 2, 4, 7, 10)),
}
"""Where models are looked at point by point: the line of the model, what stands there instead, values."""
RUNS = 160
"""Of evaluations on a model's networks. Of forty what is measured moved by 0.05 with which they were."""
DELAYED = 0.05
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


def by_the_papers_measure(algorithm: Algorithm) -> Iterator[Measured]:
    """Point by point, in the papers' transport."""
    if algorithm.name not in POINTS:
        return
    line, instead, values = POINTS[algorithm.name]
    other = PUBLISHED[algorithm.name]
    for value in values:
        text = scenario(algorithm.model.text.replace(line, instead.format(value)), 'preset = "tao14"', 100)
        evaluation = Evaluation(f'schemes = ["{algorithm.name}", "{TABLES / other}.dna"]\n{text}', "measure.toml")
        ours, theirs = by_scheme(exmachina.evaluate(evaluation, None).flows)
        yield instead.format(value), *beside(ours, theirs, measure), -BEHIND


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
    yield "delayed ACKs", *beside(delayed, each, measure), -DELAYED


def repairs(algorithm: Algorithm) -> Iterator[Measured]:
    """Losses in a transport that repairs them, which the design simulator's senders do not: is it the same?"""
    if not algorithm.name.endswith(ROBUST):
        return
    changes = {"": "", "1 % loss": "\nloss = 0.01", "buffer of 1 BDP": None}
    clean = pl.DataFrame()
    for condition, change in changes.items():
        infinite, preset = 'buffer = "infinite"', 'preset = "today"'
        link = "buffer = { bdp = 1 }" if change is None else infinite + change
        if infinite not in algorithm.model.text:
            raise ValueError(f"{algorithm.name}: expected a model with an infinite buffer")
        text = scenario(algorithm.model.text.replace(infinite, link, 1), preset, seconds_of(algorithm))
        flows = exmachina.evaluate(Evaluation(f'schemes = ["{algorithm.name}"]\n{text}', "repairs.toml"), None).flows
        got = flows.filter(pl.col("on_s") > 0)
        clean = got if condition == "" else clean
        if condition:
            yield condition, *beside(got, clean, measure), -0.1


def scenario(model: str, transport: str, seconds: float) -> str:
    """An evaluation on the networks of a model."""
    networks = re.split(r"^\[\[?(?:design|objective|also)\b", model, maxsplit=1, flags=re.MULTILINE)[0]
    head = f"runs = {RUNS}\nduration_s = {seconds}\nseed = {SEED}\n"
    return f"{head}{networks}\n[transport]\n{transport}\npacket_bytes = 1250\n"


def seconds_of(algorithm: Algorithm) -> float:
    """Three times as long as it trained, and no less than it takes to see it."""
    return 3.0 if algorithm.name == "datacenter" else max(60.0, algorithm.model.duration_s)


def by_scheme(flows: pl.DataFrame) -> list[pl.DataFrame]:
    """Rows of each scheme that were on."""
    on = flows.filter(pl.col("on_s") > 0)
    return [group for _, group in on.group_by("scheme", maintain_order=True)]


def beside(
    ours: pl.DataFrame, theirs: pl.DataFrame, statistic: Callable[[pl.DataFrame], float]
) -> tuple[float, float, float, float]:
    """Of both on the same runs, the difference, and half its interval of 95 %, by leaving each run out once."""
    runs = ours["run"].unique()
    without = np.array(
        [statistic(ours.filter(pl.col("run") != run)) - statistic(theirs.filter(pl.col("run") != run)) for run in runs]
    )
    half = 1.96 * math.sqrt((len(runs) - 1) * without.var())
    mine, others = statistic(ours), statistic(theirs)
    return mine, others, mine - others, half


def measure(flows: pl.DataFrame) -> float:
    """ln(mean throughput / mean delay), Mbit/s and ms."""
    throughput, delay = (flows[name].drop_nans().to_numpy().mean() for name in ("throughput_mbps", "mean_rtt_ms"))
    return float(math.log(throughput / delay))


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
            ours, *others = by_scheme(exmachina.evaluate(Evaluation(text, "datacenter.toml")).flows)
            for rival, theirs in zip(rivals, others, strict=True):
                where = f"{preset}, {senders} senders: against {rival}"
                yield where, *beside(ours, theirs, potential), 0.0


def potential(flows: pl.DataFrame) -> float:
    """Mean of -1 / throughput over senders, each in all runs together."""
    each = flows.group_by("sender").agg(pl.col("delivered_mbytes").sum() / pl.col("on_s").sum() * 8e-3)
    return -float((1 / each[:, 1]).mean())  # type: ignore[arg-type]


DATACENTER = """\
schemes = ["{scheme}", {rivals}]
runs = 24
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
