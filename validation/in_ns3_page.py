"""docs/ns3.md: what our algorithms, the published tables and what people wrote got in ns-3 and here."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl
from digests import outdated

from exmachina import Table
from exmachina.schemes import designed_delta, digits, signed

PUBLISHED = "published "
CLOSE_SHARE, CLOSE_MS = 0.10, 2.0
"""A queueing delay is right within this share of ns-3's, or so many ms."""
BEHIND = 0.02
"""What may be lost at any point."""

PAGE = """\
# In ns-3

Written by `python validation/in_ns3.py`: our algorithms as `exmachina export --to ns3` writes them, in ns-3.44, whose
hosts, queues and congestion control are not ours; beside them the authors' published tables, exported likewise, and
ns-3's own Cubic, NewReno, Vegas and BBR. *Here* is this simulator on the same networks with hosts of today
(`preset = "today"`), for tables and for what people wrote. When senders are on and off is drawn on each side by itself;
they count as on from when their connection stands. Runs are {runs}.

Nothing that ns-3 says made or chose any of these algorithms. Their networks are no strangers, though: rates, RTTs and
numbers of senders are those that each was trained for, but for tao-rtt-150's RTTs of 100, 200 and 300 ms and for what
`-robust` and `internet-1` have besides, figure 4's transfers are in no training, and at the points of the tao models
they had been looked at in this simulator, in the papers' transport ([sturdy.md](sturdy.md#by-the-papers-measure));
`tao-100x` was worked on, on other networks, after a look at its row of 10 Mbit/s here
([how](designs.md#many-small-changes)). What each was chosen by:
[algorithms.md](algorithms.md#what-they-were-tuned-on).{outdated}

## How far apart

Of each scheme, over its networks: the median of the gap between the throughput here and ns-3's, without its sign, and
the largest; the same of queueing delays; and on how many networks the delay here is close: within {share} of ns-3's, or
{ms:g} ms. Who fills whatever buffer there is goes by how losses are repaired, and of that ns-3 and we have each our own
([what is known of it](validation.md#our-schemes-and-queues-of-today-against-ns-3)). No receiver announces more
than 64 kB until data have come, in ns-3 as in Linux, and here too (`first_receive_window_bytes`). What a
pace allows next is settled in ns-3 when a packet leaves, here anew with each ACK.

| | networks | throughput: median gap | largest | delay: median gap, ms | largest, ms | close |
|---|---:|---:|---:|---:|---:|---:|
{gaps}

## Beside the published tables

By the papers' measure, ln throughput − δ ln RTT of the means over senders: how far ours is ahead of the published
table, in ns-3 and here. {ahead}

| | where | ours: Mbit/s, queue in ms | published | ahead in ns-3 | ahead here | `-robust`: Mbit/s, queue in ms | \
ahead in ns-3 |
|---|---|---:|---:|---:|---:|---:|---:|
{beside}

## What each got

Mbit/s and queueing delay in ms, means over senders and runs.

| | where | scheme | ns-3 | here |
|---|---|---|---:|---:|
{rows}

All numbers are in [ns3-senders.csv](results/ns3-senders.csv).
"""


BRIEF = """
In [ns-3](docs/ns3.md), another simulator with hosts of its own, the algorithms as exported are ahead of the published
tables at {ahead} of {points} points by the papers' measure, behind by more than {behind:g} at {lost}, and have the
throughput that they have here within {gap} in the median. With eight senders of 100 kB on 15 Mbit/s and 150 ms
`{ours}` has {got} there, the published table {published}, {humans}. Nothing there chose
any of them, but `tao-100x` was worked on after a look at it; most of the networks are of the ranges that they were
trained for.
"""
CROWD, OURS, HUMANS = "figure 4", "general-1", {"cubic": "Cubic", "newreno": "NewReno", "vegas": "Vegas", "bbr1": "BBR"}


@dataclass(frozen=True)
class Ahead:
    """Of two algorithms on a network: by how much one is ahead of the other in ns-3, and here."""

    there: float
    here: float


def page(rows: pl.DataFrame) -> str:
    """The page about these rows."""
    runs, seconds = rows["runs"].to_list(), rows["seconds"].to_list()
    compared = list(beside(rows))
    most = [ahead for _, _, ahead, _ in compared]
    robust = [ahead for _, _, _, ahead in compared]
    return PAGE.format(
        runs=f"{min(runs)} to {max(runs)} of {min(seconds):g} to {max(seconds):g} s",
        outdated=f" {said}" if (said := outdated(rows, "scheme")) else "",
        share=f"{100 * CLOSE_SHARE:g} %",
        ms=CLOSE_MS,
        gaps="\n".join(gap(str(scheme), own) for (scheme,), own in rows.group_by("scheme", maintain_order=True)),
        ahead=f"{verdict('Ours', most)} {verdict('The robust ones', robust)}",
        beside="\n".join(line for line, *_ in compared),
        rows="\n".join(
            f"| {row['group']} | {row['words']} | {row['scheme']} | {got(row)} | {got(row, 'here_')} |"
            for row in rows.to_dicts()
        ),
    )


def in_brief(rows: pl.DataFrame) -> str:
    """The same in a few sentences."""
    compared = [ahead for _, _, ahead, _ in beside(rows)]
    tables = rows.filter(pl.col("digest") != "")
    crowd = {row["scheme"]: words(row) for row in rows.filter(group=CROWD).to_dicts()}
    gaps = (tables["here_mbps"] / tables["mbps"] - 1).abs()
    return BRIEF.format(
        ahead=sum(one.there > 0 for one in compared),
        points=len(compared),
        behind=BEHIND,
        lost=sum(one.there < -BEHIND for one in compared),
        gap=f"{100 * float(gaps.sort()[len(gaps) // 2]):.1f} %",
        ours=OURS,
        got=crowd[OURS],
        published=crowd[PUBLISHED + OURS],
        humans=", ".join(f"{name} {crowd[scheme]}" for scheme, name in HUMANS.items()),
    )


def words(row: dict[str, float]) -> str:
    """What a scheme got in ns-3."""
    return f"{row['mbps']:.2f} Mbit/s at {row['delay_ms']:.1f} ms"


def verdict(who: str, ahead: list[Ahead]) -> str:
    """At how many points they are ahead, and what is the worst."""
    better = sum(one.there > 0 for one in ahead)
    behind = sum(one.there < -BEHIND for one in ahead)
    worst = min(one.there for one in ahead)
    return (
        f"{who} are ahead at {better} of {len(ahead)} points in ns-3 ({sum(one.here > 0 for one in ahead)} here), "
        f"behind by more than {BEHIND:g} at {behind}; the worst is {signed(worst)}."
    )


def gap(scheme: str, own: pl.DataFrame) -> str:
    """How far apart both sides are of a scheme."""
    apart = own.with_columns(
        share=(pl.col("here_mbps") / pl.col("mbps") - 1).abs(), ms=(pl.col("here_delay_ms") - pl.col("delay_ms")).abs()
    )
    close = apart.filter((pl.col("ms") <= CLOSE_MS) | (pl.col("ms") <= CLOSE_SHARE * pl.col("delay_ms"))).height
    median, largest, median_ms, largest_ms = apart.select(
        pl.median("share").alias("median"),
        pl.max("share").alias("largest"),
        pl.median("ms").alias("median_ms"),
        pl.max("ms").alias("largest_ms"),
    ).row(0)
    shares = f"{100 * median:.1f} % | {100 * largest:.1f} %"
    return f"| {scheme} | {own.height} | {shares} | {digits(median_ms, 2)} | {digits(largest_ms, 2)} | {close} |"


def beside(rows: pl.DataFrame) -> Iterator[tuple[str, str, Ahead, Ahead]]:
    """A line for each published table and network, the model, and how far ours and the robust one are ahead."""
    by_name = {(row["group"], row["words"], row["scheme"]): row for row in rows.to_dicts()}
    for (group, words, scheme), theirs in by_name.items():
        model = scheme.removeprefix(PUBLISHED)
        if model == scheme:
            continue
        ours, robust = (by_name.get((group, words, name)) for name in (model, f"{model}-robust"))
        if ours is None or robust is None:
            continue
        most, hardy = (ahead(one, theirs, designed_delta([Table.load(model)])) for one in (ours, robust))
        cells = [
            model,
            words,
            got(ours),
            got(theirs),
            told(most.there),
            told(most.here),
            got(robust),
            told(hardy.there),
        ]
        yield f"| {' | '.join(cells)} |", model, most, hardy


def ahead(one: dict[str, float], other: dict[str, float], delta: float) -> Ahead:
    """By how much one is ahead of the other."""

    def measure(row: dict[str, float], side: str) -> float:
        return math.log(row[f"{side}mbps"]) - delta * math.log(row["rtt_ms"] + row[f"{side}delay_ms"])

    return Ahead(measure(one, "") - measure(other, ""), measure(one, "here_") - measure(other, "here_"))


def told(number: float) -> str:
    """A difference; bold where more is lost than may be."""
    text = signed(number)
    return f"**{text}**" if number < -BEHIND else text


def got(row: dict[str, float], side: str = "") -> str:
    """What a scheme got."""
    return f"{digits(row[f'{side}mbps'], 3)}, {digits(row[f'{side}delay_ms'], 3)}"
