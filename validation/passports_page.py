"""docs/passports.md and a page for each algorithm, of the numbers that `passports.py` has measured."""

from collections.abc import Iterator

import polars as pl

__all__ = ["index", "page"]

NAMES = {"cubic": "Cubic", "bbr3": "BBRv3", "copa": "Copa", "vegas": "Vegas"}
AXES = {
    "rate": "link rate, Mbit/s",
    "rtt": "RTT, ms",
    "senders": "senders",
    "buffer": "buffer, BDP",
    "jitter": "jitter, ms",
    "loss": "random loss, %",
    "acks": "packets an ACK answers",
    "on": "mean time on, s",
    "duty": "share of the time on",
    "beside": "one flow more of",
}
BEHIND = 0.1
"""By so much in the score somebody is behind who is said to be."""
HALF = 0.5
"""Of an equal share: whoever has less of it leaves the link unused, or to others."""
LONG = 2.0
"""Times the least RTT: a queue worth saying."""

INDEX = """\
# Passports of all algorithms

How does each do over rate, RTT, senders, buffer, jitter, loss, ACK batching, duty cycle and beside others, inside
and far outside of what it was made for? A page each, with a picture, by `python validation/passports.py`: what
`exmachina probe NAME --runs 4` measures ([probe.md](probe.md) says how), beside Cubic and BBRv3. The numbers are in
[results/passports.parquet](results/passports.parquet).

All of it is in this simulator and around one network each, the middle of what an algorithm was designed for (an ACK
for two packets, 2 BDP of room where the design's buffer was infinite, which its training may never have had). No
table was chosen by these numbers. *Inside* are the points of the axes within what the design says of itself; where
it says nothing of an axis, no point of it is.

*Ahead* is whose score, the mean over senders of ln(throughput) − δ ln(RTT), is higher. *Leaves half* are the points
at which it has less than half of an equal share, *queues* those at which its RTT is above twice the least. Score in
the middle: 0 is an equal share without a queue.

| algorithm | middle | ahead of Cubic, BBRv3: inside | anywhere | leaves half | queues | edges | holding states |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
"""


def index(numbers: pl.DataFrame) -> str:
    """The page that lists them."""
    lines = [_index_line(str(name), rows) for (name,), rows in numbers.group_by("passport", maintain_order=True)]
    return INDEX + "\n".join(lines) + "\n"


def _index_line(name: str, rows: pl.DataFrame) -> str:
    own = rows.filter(pl.col("scheme") == name)
    inside = [f"{_ahead(rows, name, rival, inside=True)}" for rival in _rivals(rows, name)]
    anywhere = [f"{_ahead(rows, name, rival)}" for rival in _rivals(rows, name)]
    cells = [
        f"[{NAMES.get(name, name)}](passports/{name}.md)",
        f"{_middle(rows, name):.2f}",
        ", ".join(inside),
        ", ".join(anywhere),
        f"{own.filter(pl.col('throughput') < HALF).height} of {own.height}",
        f"{own.filter(pl.col('delay') > LONG).height}",
        *([str(rows["edges"][0]), str(rows["states"][0])] if name not in NAMES else ["", ""]),
    ]
    return f"| {' | '.join(cells)} |"


def page(name: str, rows: pl.DataFrame, words: str) -> str:
    """The passport of one."""
    title = NAMES.get(name, f"`{name}`")
    parts = [f"# The passport of {title}", ""]
    if words:
        parts += [f"Designed for: {words}.", ""]
    parts += [
        f"Around {rows['base'][0]}; δ = {rows['delta'][0]:g}. [What is measured](../probe.md#what-is-measured),"
        " [all passports](../passports.md).",
        "",
        f"![{title} along ten dimensions]({name}.png)",
        "",
        *(f"- {line}" for line in _findings(name, rows)),
        "",
        "Each has the score, the throughput over an equal share, and the RTT over the least. Bold: the highest score."
        + ("" if name in NAMES else " A star: within what it was designed for."),
    ]
    for (axis,), along in rows.group_by("axis", maintain_order=True):
        parts += ["", *_table(name, str(axis), along)]
    return "\n".join(parts) + "\n"


def _rivals(rows: pl.DataFrame, name: str) -> list[str]:
    return [scheme for scheme in rows["scheme"].unique(maintain_order=True) if scheme != name]


def _middle(rows: pl.DataFrame, name: str) -> float:
    """The score of the network that all axes go through: that with nobody beside."""
    own = rows.filter(pl.col("scheme") == name, pl.col("axis") == "beside")
    return float(own["score"][0])


def _beside(rows: pl.DataFrame, name: str, rival: str) -> pl.DataFrame:
    """Their scores at each point, side by side."""
    own, other = (rows.filter(pl.col("scheme") == scheme) for scheme in (name, rival))
    return own.join(other.select("axis", "label", pl.col("score").alias("other")), on=["axis", "label"])


def _ahead(rows: pl.DataFrame, name: str, rival: str, *, inside: bool = False) -> str:
    both = _beside(rows, name, rival)
    if inside:
        both = both.filter(pl.col("inside"))
    if both.is_empty():
        return "–"
    return f"{both.filter(pl.col('score') > pl.col('other')).height} of {both.height}"


def _findings(name: str, rows: pl.DataFrame) -> Iterator[str]:
    """What the numbers say, in words."""
    for rival in _rivals(rows, name):
        both = _beside(rows, name, rival)
        behind = both.filter(pl.col("score") < pl.col("other") - BEHIND)
        within = f" ({_ahead(rows, name, rival, inside=True)} inside)" if both["inside"].any() else ""
        places = f"; behind by more than {BEHIND} at {_places(behind)}" if behind.height else ""
        yield f"Ahead of {NAMES.get(rival, rival)} at {_ahead(rows, name, rival)} points{within}{places}."
    own = rows.filter(pl.col("scheme") == name)
    for words, found in {
        f"Less than {HALF:g} of an equal share": own.filter(pl.col("throughput") < HALF),
        f"An RTT above {LONG:g} times the least": own.filter(pl.col("delay") > LONG),
        "Some sender got nothing through": own.filter(pl.col("starved_share") > 0),
    }.items():
        yield f"{words}: {_places(found) if found.height else 'nowhere'}."
    if name not in NAMES:
        yield (
            f"Knife edges, splits within 1 % of a pace of the same table: {rows['edges'][0]}. States of a lone flow"
            f" that hold themselves with less than half of the link: {rows['states'][0]}."
        )


def _places(found: pl.DataFrame) -> str:
    """Points, axis by axis."""
    along = found.group_by("axis", maintain_order=True).agg("label")
    return "; ".join(f"{AXES[axis]} {', '.join(labels)}" for axis, labels in along.iter_rows())


def _table(name: str, axis: str, along: pl.DataFrame) -> Iterator[str]:
    schemes = [name, *_rivals(along, name)]
    yield f"| {AXES[axis]} | {' | '.join(NAMES.get(scheme, scheme) for scheme in schemes)} |"
    yield f"| --- |{' ---: |' * len(schemes)}"
    for (label,), point in along.group_by("label", maintain_order=True):
        best = point["score"].max()
        by_scheme = {row["scheme"]: row for row in point.iter_rows(named=True)}
        star = "*" if by_scheme[name]["inside"] else ""
        cells = [_cell(by_scheme[scheme], is_best=by_scheme[scheme]["score"] == best) for scheme in schemes]
        yield f"| {label}{star} | {' | '.join(cells)} |"


def _cell(row: dict[str, float], *, is_best: bool) -> str:
    score = f"{row['score']:.2f}"
    mark = "**" if is_best else ""
    return f"{mark}{score}{mark} ({row['throughput']:.2g}, {row['delay']:.2f})"
