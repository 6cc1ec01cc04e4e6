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
- recovery: whether tables come back from disturbed states (`exmachina disturb`), for every table.

Rows of other sections and tables stay as they are. --page writes the page only. The authors' tables are looked for
beside the project. No design has the seeds used here, and no table was chosen by what they gave (docs/designs.md
says which were designed on after a look at it).
"""

import argparse
import csv
import io
import math
from collections.abc import Callable, Iterator
from pathlib import Path

import sturdy_flows
import sturdy_scores
from sturdy_measured import Measured
from sturdy_page import write_page

import exmachina
from exmachina import Algorithm
from exmachina.files import write_atomically

PROJECT = Path(__file__).parents[1]
RESULTS = PROJECT / "docs" / "results" / "sturdy.csv"
FIELDS = ["section", "table", "condition", "ours", "other", "difference", "ci95", "allowed", "held"]
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


def row(section: str, table: str, measured: Measured) -> Row:
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


SECTIONS: dict[str, Callable[[Algorithm], Iterator[Measured]]] = {
    "clock": sturdy_scores.clock,
    "published": sturdy_scores.beside_published,
    "measure": sturdy_flows.by_the_papers_measure,
    "world": sturdy_scores.world,
    "acks": sturdy_flows.acks,
    "repairs": sturdy_flows.repairs,
    "units": sturdy_scores.units,
    "lte": sturdy_flows.lte,
    "datacenter": sturdy_flows.datacenter,
    "distance": sturdy_flows.distance,
    "recovery": sturdy_scores.recovery,
}

if __name__ == "__main__":
    main()
