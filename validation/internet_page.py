"""docs/internet.md, and what `internet.py` prints: shares of networks by table, rival and kind."""

from collections.abc import Sequence
from math import exp

import polars as pl
from internet_networks import BESIDE, KINDS, network
from internet_runs import HUMAN, NEIGHBOURS
from internet_slices import slices
from internet_summary import ALL, compare, manners, neighbourly, worst

NAMES = {
    "cubic": "Cubic",
    "cubic/fqcodel": "Cubic/FQ-CoDel",
    "bbr3": "BBRv3",
    "copa": "Copa",
    "vegas": "Vegas",
}
LOSSES = 5
HEAD = """\
# On networks like the Internet's

Measured by `python validation/internet.py --docs`, which writes this page, [internet.csv](results/internet.csv) (a row
for each scheme and network) and [internet-beside.csv](results/internet-beside.csv). Everything here is in this
simulator, in today's transport with its delayed ACKs.

The networks are drawn like access links, Wi-Fi, LTE and 5G, satellites and datacenters, as many of each:
`validation/internet_networks.py` says how. All have 0.5 to 5 BDP of room and 1 to 32 senders, mostly few, that are on
for a time, until so much is sent, as on the Web, or always. Half of the Wi-Fi links give packets in batches, the rates
of cellular links and of low orbits wander; no recording of a real link is used. This is the **held-out** suite: no
table was trained on it or chosen by it. Whoever chooses between tables has the suite `choosing`, of the same program
with another seed: with looks at it the training networks of `internet-1` were chosen, and
[what a law is](designs.md#laws), and [all of how `internet-shared-1` shares](designs.md#beside-others).

On each network all senders run one scheme, whose score is the mean over senders of ln(throughput) − δ ln(RTT);
whoever has the higher is ahead. δ is 1, or the table's own where that is another (`internet-0.1`, `internet-10`). A
sender that was on and got nothing through counts as one packet in that time. Cubic, BBRv3, Copa and Vegas have
drop-tail queues, as the tables have. In brackets are 95 % intervals (Wilson). Asked of `internet-1` are 95 % against
Cubic and BBRv3, 90 % against the others, and 80 % of each kind. `internet-1` is for links of one's own;
`internet-shared-1` is for links where Cubic or BBR may be, too, and what that costs is the difference.
"""
FAIRNESS = """\
## Throughput, delay and fairness

Over all networks: geometric means of throughput and RTT, the median of the queueing delay; Jain's index and what the
worst off has of the mean, on the mean over networks with several senders (each counts while it was on, so that
differences in luck are in these, too); and how many senders were on and got nothing through.

"""
A_THIRD = """\
## On a third suite

The suite above was run after each new table, though it chose none. These are {count} networks of the same program with
another seed, on which nothing had been run before the tables below were taken (`--suite third --beside 0`);
`internet-1-41` is [`internet-1` as it was before](designs.md#jitter-that-keeps-packets-in-order).
"""
NEXT_TO = """\
## Beside others

{count} networks of one drop-tail link, 10–200 Mbit/s, 20–200 ms, 0.5–5 BDP: one flow of the scheme and one of a
neighbour's that never end, {seconds:.0f} s. *In bounds*: on so many it has half to twice an equal share of what both
have (asked: 90 %); twice would be all, so *both* counts where the neighbour has half of one, too. Then its share, the
median and what a tenth of the networks is below, and what the two use of the link.

"""


def page(rows: pl.DataFrame, flows: pl.DataFrame, tables: Sequence[dict[str, str]], third: pl.DataFrame) -> str:
    """All of it, of the rows of one suite; and of the third, shares alone."""
    suite = rows["suite"][0]
    names = [one["scheme"] for one in tables]
    parts = [HEAD, of_tables(tables), of_kinds(suite, rows)]
    parts += [of_table(rows, name) for name in names]
    parts += [FAIRNESS + of_fairness(rows, [*HUMAN, *names])]
    if not flows.is_empty():
        count = flows["number"].n_unique()
        head = NEXT_TO.format(count=count, seconds=network(suite, BESIDE, 0).duration_s)
        parts += [head + of_neighbours(flows, [*(name for name in HUMAN if "/" not in name), *names])]
    parts += [A_THIRD.format(count=third.select("kind", "number").n_unique())]
    parts += [f"`{name}`:\n\n{shares(third, name)}" for name in sorted(set(third["scheme"]) - set(HUMAN))]
    return "\n".join(parts)


def of_tables(tables: Sequence[dict[str, str]]) -> str:
    """What they are."""
    lines = [[f"`{one['scheme']}`", one["rules"], one["made_for"], f"`{one['digest']}`"] for one in tables]
    return "## The tables\n\n" + markdown(["table", "rules", "designed for", "SHA-256"], lines, numbers=0)


def of_kinds(suite: str, rows: pl.DataFrame) -> str:
    """How the networks are."""
    lines = []
    for kind in KINDS:
        numbers = rows.filter(pl.col("kind") == kind)["number"].unique()
        drawn = [network(suite, kind, number) for number in numbers]
        if not drawn:
            continue
        spans: list[list[float]] = [
            [one.link.rate_mbps for one in drawn],
            [one.link.rtt_ms for one in drawn],
            [one.link.jitter_ms for one in drawn],
            [100 * one.link.loss for one in drawn],
            [one.senders for one in drawn],
        ]
        lines.append([kind, str(len(drawn)), *(f"{min(span):.3g}–{max(span):.3g}" for span in spans)])
    heads = ["kind", "networks", "Mbit/s", "RTT, ms", "jitter, ms", "loss, %", "senders"]
    return "## The networks\n\nAs they came out:\n\n" + markdown(heads, lines)


def of_table(rows: pl.DataFrame, name: str) -> str:
    """One table against all rivals, by kind, and where it loses."""
    return (
        f"## {name}\n\nAhead on, of networks:\n\n{shares(rows, name)}\n"
        f"Where it loses most, each against whoever is furthest ahead there:\n\n{losses(rows, name, LOSSES)}"
    )


def losses(rows: pl.DataFrame, name: str, count: int = 10) -> str:
    """So many networks that it loses most by, as a list."""
    lines = [
        f"- {line['kind']} {line['number']} ({network(line['suite'], line['kind'], line['number']).words}): "
        f"{NAMES[line['scheme_rival']]} by {-line['margin']:.2f}; throughput {ratio(line, 'throughput_mbps')}, "
        f"RTT {ratio(line, 'rtt_ms')} times\n"
        for line in worst(rows, name, list(HUMAN), count).iter_rows(named=True)
    ]
    return "".join(lines or ["- nowhere\n"])


def shares(rows: pl.DataFrame, name: str) -> str:
    """The shares of networks ahead, and the ratios over all of them."""
    kinds = [ALL, *(kind for kind in KINDS if kind in set(rows["kind"]))]
    lines = [[kind, *(compare(rows, name, rival, kind).ahead.words for rival in HUMAN)] for kind in kinds]
    overall = [compare(rows, name, rival) for rival in HUMAN]
    lines.append(["throughput, times", *(f"{one.throughput:.2f}" for one in overall)])
    lines.append(["RTT, times", *(f"{one.rtt:.2f}" for one in overall)])
    return markdown(["", *(NAMES[rival] for rival in HUMAN)], lines)


def among(rows: pl.DataFrame, name: str) -> str:
    """The shares of networks ahead among some of them."""
    lines = [[what, str(ahead[0].of), *(one.words for one in ahead)] for what, ahead in slices(rows, name).items()]
    return markdown(["", "networks", *(NAMES[rival] for rival in HUMAN)], lines)


def ratio(line: dict[str, float], name: str) -> str:
    """Of it to the rival."""
    return f"{line[name] / line[f'{name}_rival']:.2g}"


def of_fairness(rows: pl.DataFrame, schemes: Sequence[str]) -> str:
    """A line for each scheme."""
    lines = []
    for name in schemes:
        own, how = rows.filter(pl.col("scheme") == name), manners(rows, name)
        means = [own[column].log().mean() for column in ("throughput_mbps", "rtt_ms")]
        measured = [f"{exp(mean):.3g}" for mean in means if isinstance(mean, float)]
        queueing = f"{float(own['queueing_ms'].median() or 0):.3g}"  # type: ignore[arg-type]
        starved = f"{how.starved.many} of {how.starved.of}"
        lines.append([NAMES.get(name, name), *measured, queueing, f"{how.jain:.2f}", f"{how.least_share:.2f}", starved])
    heads = ["scheme", "Mbit/s", "RTT, ms", "queueing, ms (median)", "Jain", "least / mean", "got nothing"]
    return markdown(heads, lines)


def of_neighbours(flows: pl.DataFrame, schemes: Sequence[str]) -> str:
    """A line for each scheme and neighbour."""
    lines = []
    for name in schemes:
        for neighbour in NEIGHBOURS:
            how = neighbourly(flows, name, neighbour)
            if how.within.of:
                shares = f"{how.median_share:.2f}, {how.lowest:.2f}"
                names = [NAMES.get(name, name), NAMES[neighbour]]
                lines.append([*names, how.within.words, how.both.words, shares, f"{how.used:.2f}"])
    return markdown(["scheme", "beside", "in bounds", "both", "its share", "used"], lines, numbers=2)


def markdown(heads: Sequence[str], lines: Sequence[Sequence[str]], numbers: int = 1) -> str:
    """A table; columns from this number on are numbers, if it is not 0."""
    marks = ["---:" if numbers and i >= numbers else "---" for i in range(len(heads))]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (heads, marks, *lines))
