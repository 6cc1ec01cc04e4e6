"""What rounding a table for export costs: scores on held-out networks before and after, for docs/export.md.

Usage: exports.py [--page]. Takes some minutes; writes docs/results/exports.csv and the table of docs/export.md. --page
makes the table only.
"""

import argparse
import csv
import io
import sys
import tempfile
from pathlib import Path

import exmachina
from exmachina import Algorithm
from exmachina.files import write_atomically
from exmachina.schemes import signed

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "results" / "exports.csv"
PAGE = ROOT / "docs" / "export.md"
SPECIMENS = 200
FEW = {"datacenter": 20}
"""Of networks that take long."""
BEGIN, END = "<!-- measured: written by validation/exports.py -->", "<!-- measured ends -->"

Row = dict[str, str]


def measure(algorithm: Algorithm, folder: Path) -> Row:
    """Scores of a table as it was and as it is exported, on the same networks."""
    done = exmachina.export(algorithm.table, to="json", output=folder / algorithm.name)
    specimens = FEW.get(algorithm.name, SPECIMENS)
    report = exmachina.score([done.quantised, algorithm.table], algorithm.model, specimens=specimens)
    after, before, *_ = report.summary.to_dicts()
    ratios = [one.farthest for one in done.moved if not one.unit]
    return {
        "name": algorithm.name,
        "rules": str(len(algorithm.table)),
        "closed": str(done.closed_rules),
        "farthest_ns": f"{max(1e6 * one.farthest for one in done.moved if one.unit):.3g}",
        "farthest_ratio": f"{max(ratios, default=0.0):.3g}",
        "specimens": str(specimens),
        "before": f"{before['score']:.6f}",
        "after": f"{after['score']:.6f}",
        # The summary has each scheme's score less the first one's: what it was less what it is.
        "change": f"{0 - before['difference']:.6f}",
        "change_ci95": f"{before['difference_ci95']:.6f}",
    }


def fine(change: float) -> str:
    """A change of a score, with the digits that such changes need."""
    return f"{change:+.5f}".replace("-", "−")


def table(rows: list[Row]) -> str:
    """The page's table, of what changed most to what changed least, and what it comes to."""
    changes = [float(row["change"]) for row in rows]
    worse = sum(float(row["change"]) + float(row["change_ci95"]) < 0 for row in rows)
    better = sum(float(row["change"]) - float(row["change_ci95"]) > 0 for row in rows)
    lines = [
        f"{len(rows)} tables; worse with 95 % confidence: {worse}, better: {better}. The mean change is "
        f"{fine(sum(changes) / len(changes))}, the largest {fine(max(changes, key=abs))}.",
        "",
        "| table | rules | closed | splits moved by at most, ns | ratios, 10^-6 | score before | after | change |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in sorted(rows, key=lambda row: -abs(float(row["change"]))):
        before, after = (signed(float(row[name])) for name in ("before", "after"))
        change = f"{fine(float(row['change']))} ± {float(row['change_ci95']):.5f}"
        ratio = f"{1e6 * float(row['farthest_ratio']):.3g}"
        numbers = [row["rules"], row["closed"], row["farthest_ns"], ratio, before, after, change]
        lines.append(f"| {row['name']} | {' | '.join(numbers)} |")
    return "\n".join(lines)


def page(text: str, rows: list[Row]) -> str:
    """The page with the table in it."""
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}\n{table(rows)}\n{END}{rest.split(END)[1]}"


def read() -> list[Row]:
    """What was measured."""
    return list(csv.DictReader(io.StringIO(RESULTS.read_text(encoding="utf-8"))))


def measure_all() -> None:
    """Measures all tables that come with the program."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for algorithm in exmachina.algorithms():
            rows.append(measure(algorithm, Path(folder)))
            print(rows[-1], file=sys.stderr, flush=True)
    out = io.StringIO()
    writer = csv.DictWriter(out, rows[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_atomically(RESULTS, out.getvalue().encode())


def main() -> None:
    """Measures, unless only the table is wanted, and writes it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--page", action="store_true", help="make the table of what was measured only")
    if not parser.parse_args().page:
        measure_all()
    write_atomically(PAGE, page(PAGE.read_text(encoding="utf-8"), read()).encode())


if __name__ == "__main__":
    main()
