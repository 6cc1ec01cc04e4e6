"""How rule tables do on networks like today's Internet, beside human schemes: the yardstick of the `internet` tables.

Usage: internet.py [TABLE ...] [--suite choosing|held-out|third] [--networks N] [--kinds KIND ...] [--beside N]
[--threads N] [--cache FOLDER] [--rows FILE] [--slices] [--docs | --page]. A TABLE is the name of an algorithm, the path
of a .dna file, or LABEL=PATH.

Five kinds of networks (access, wifi, lte, satellite, datacenter), N of each, and others for one flow beside one of
Cubic or BBRv3. Of each table it prints on which share of networks it is ahead of Cubic, Cubic/FQ-CoDel, BBRv3, Copa and
Vegas in the mean of ln(throughput) - delta ln(RTT) over senders, with the table's own delta, the ratios of throughputs
and RTTs, what it loses most by, and what it has beside others.

The suites have seeds of their own. Whoever designs tables looks at `choosing`, the default, as often as they like.
`held-out` and `third` are run on what has been decided, and decide nothing.

Runs are kept in the cache, by program and content: only what is new costs time, some seconds of CPU for a table.
--docs takes what one of these two gave into docs/results and writes docs/internet.md. Tables that are there already
stay as they are, so give all of them after a change of the program. --page writes the page only.
"""

import argparse
import os
from hashlib import sha256
from pathlib import Path

import polars as pl
from internet_networks import KINDS, networks
from internet_page import among, losses, of_fairness, of_neighbours, page, shares
from internet_runs import HUMAN, Entrant, all_alone, all_beside

import exmachina
from exmachina import Table
from exmachina.files import make_folder, write_atomically

PROJECT = Path(__file__).parents[1]
RESULTS = PROJECT / "docs" / "results"
ROWS, BESIDES, TABLES, THIRD = (RESULTS / f"internet{name}.csv" for name in ("", "-beside", "-tables", "-third"))
OF_EACH_KIND = 40
"""Networks of what is committed."""
DIGITS = 6
"""Of what is committed."""


def main() -> None:
    """Measures, prints, and writes what is asked for."""
    given = arguments()
    if given.page:
        write_page()
        return
    entrants = [Entrant.of(written) for written in given.tables]
    humans = [Entrant(label, scheme) for label, scheme in HUMAN.items()]
    cache, everyone = make_folder(given.cache), [*humans, *entrants]
    rows = all_alone(everyone, networks(given.suite, given.kinds, given.networks), cache, given.threads)
    at_drop_tail = [one for one in everyone if "/" not in one.label]
    flows = all_beside(at_drop_tail, given.suite, given.beside, cache, given.threads)
    for one in entrants:
        print(f"{one.label}, {given.suite}:\n\n{shares(rows, one.label)}")
        print(f"Where it loses most:\n\n{losses(rows, one.label)}")
        if given.slices:
            print(f"Among some:\n\n{among(rows, one.label)}")
    print(of_fairness(rows, [one.label for one in everyone]))
    if not flows.is_empty():
        print(of_neighbours(flows, [one.label for one in at_drop_tail]))
    if given.rows is not None:
        write_atomically(given.rows, rows.write_csv().encode())
    if given.docs:
        keep(THIRD if given.suite == "third" else ROWS, rows, {"kind": list(KINDS)})
        if given.suite == "held-out":
            keep(BESIDES, flows, {})
            keep(TABLES, pl.DataFrame([facts(one) for one in entrants]), {})
        write_page()


def arguments() -> argparse.Namespace:
    """What is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", metavar="TABLE")
    parser.add_argument("--suite", choices=["choosing", "held-out", "third"], default="choosing")
    parser.add_argument("--networks", type=int, default=20, metavar="N", help="of each kind")
    parser.add_argument("--kinds", nargs="+", choices=list(KINDS), default=list(KINDS))
    parser.add_argument("--beside", type=int, default=50, metavar="N", help="networks of two flows; 0: none")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--cache", type=Path, default=PROJECT / "out" / "internet")
    parser.add_argument("--rows", type=Path, help="a CSV file for all numbers")
    parser.add_argument("--slices", action="store_true", help="shares among networks with small rooms, few senders...")
    parser.add_argument("--docs", action="store_true")
    parser.add_argument("--page", action="store_true")
    given = parser.parse_args()
    if given.docs and given.networks != OF_EACH_KIND:
        parser.error(f"--docs: expected --networks {OF_EACH_KIND}, as docs/internet.md has of all others")
    if given.docs and (given.suite == "choosing" or given.kinds != list(KINDS) or not given.tables):
        parser.error("--docs: expected --suite held-out or third, at least one table, and all kinds")
    if given.docs and bool(given.beside) != (given.suite == "held-out"):
        parser.error("--docs: expected flows beside others with --suite held-out, and --beside 0 with --suite third")
    return given


def facts(entrant: Entrant) -> dict[str, object]:
    """What the page says of a table."""
    table = entrant.scheme
    assert isinstance(table, Table)
    model = exmachina.Model(table.provenance.model) if table.provenance else None
    return {
        "scheme": entrant.label,
        "rules": len(table),
        "digest": sha256(table.dna).hexdigest()[:12],
        "made_for": model.description if model else "",
    }


def keep(path: Path, new: pl.DataFrame, orders: dict[str, list[str]]) -> None:
    """Puts rows in the place of those of the same schemes."""
    rows = new.with_columns(pl.col(pl.Float64).round_sig_figs(DIGITS))
    if path.is_file():
        old = pl.read_csv(path, schema=new.schema)
        rows = pl.concat([old.filter(~pl.col("scheme").is_in(new["scheme"].unique().to_list())), rows])
    known = list(HUMAN) + sorted(set(rows["scheme"]) - set(HUMAN))
    ranks = [pl.col("scheme").replace_strict({name: i for i, name in enumerate(known)})]
    ranks += [pl.col(name).replace_strict({word: i for i, word in enumerate(order)}) for name, order in orders.items()]
    by = [*ranks, *(name for name in ("neighbour", "number") if name in rows.columns)]
    write_atomically(path, rows.sort(by).write_csv().encode())


def committed() -> str:
    """The page, of what is committed."""
    rows, flows, third = (pl.read_csv(path) for path in (ROWS, BESIDES, THIRD))
    # A digest may look like a number.
    tables = pl.read_csv(TABLES, infer_schema=False)
    return page(rows, flows, tables.fill_null("").to_dicts(), third)


def write_page() -> None:
    """Writes docs/internet.md."""
    write_atomically(PROJECT / "docs" / "internet.md", committed().encode())


if __name__ == "__main__":
    main()
