"""The worst networks for people's schemes and for tables of ours: searched for, reduced, committed as scenarios.

Usage: worst.py [CASE ...] [--cache FOLDER] [--threads N] [--page]. A CASE is SCHEME-MEASURE, such as copa-regret or
bbr3-starvation; all of them if none is named. Each is a search like that of `exmachina worst` with its default budget,
within limits that are the same for all schemes: nobody tells it what to look for.

What was tried is kept in the cache, so that a search goes on where it was stopped. Of each case docs/worst has the
scenario, docs/results/worst.csv a row; cases that are there and not named stay as they are. docs/worst.md is written
from these; --page writes it only.
"""

import argparse
from pathlib import Path

import polars as pl
from digests import digest_of
from worst_page import page

import exmachina
from exmachina import Worst
from exmachina.files import make_folder, write_atomically

PROJECT = Path(__file__).parents[1]
ROWS, SCENARIOS = PROJECT / "docs" / "results" / "worst.csv", PROJECT / "docs" / "worst"
HUMAN, TABLES = (
    ("cubic", "bbr3", "copa", "vegas"),
    ("internet-1", "general-1-robust", "tao-100x-robust", "internet-shared-1"),
)
MEASURES = {"regret": ("internet", ("beside",)), "starvation": ("long", ()), "idle": ("internet", ("beside",))}
"""The limits of each measure's searches, and the axes that are left out."""
BESIDE = "beside"
"""Regret with flows of Cubic and BBRv3 allowed on the same link."""
CASES = {
    **{
        f"{scheme}-{measure}": (scheme, measure, *MEASURES[measure])
        for measure in MEASURES
        for scheme in (*HUMAN, *TABLES)
    },
    **{f"{scheme}-{BESIDE}": (scheme, "regret", "internet", ()) for scheme in (*HUMAN, *TABLES)},
}
DIGITS = 4
"""Of what is committed."""


def main() -> None:
    """Searches, and writes what is asked for."""
    given = arguments()
    for case in () if given.page else given.cases or CASES:
        found = search(case, make_folder(given.cache / case), given.threads)
        print(f"{case}: {found.words}; {found.network.words}; {found.cpu_s:.0f} s", flush=True)
        write_atomically(make_folder(SCENARIOS) / f"{case}.toml", found.scenario.encode())
        write_atomically(ROWS, with_row(row_of(case, found)).write_csv().encode())
    write_atomically(PROJECT / "docs" / "worst.md", page(known()).encode())


def arguments() -> argparse.Namespace:
    """What is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE", choices=[*CASES, []])
    parser.add_argument("--cache", type=Path, default=Path("out/worst"))
    parser.add_argument("--threads", type=int)
    parser.add_argument("--page", action="store_true")
    return parser.parse_args()


def search(case: str, folder: Path, threads: int | None) -> Worst:
    """The search of a case."""
    scheme, measure, limits, without = CASES[case]
    return exmachina.worst(scheme, limits, without=without, output=folder, measure=measure, threads=threads)


def row_of(case: str, found: Worst) -> dict[str, object]:
    """What is committed of a search, beside the scenario."""
    own, *others = found.frame.iter_rows(named=True)
    ahead = max((line for line in others if line["score"] is not None), key=lambda line: line["score"])
    return {
        "case": case,
        "scheme": found.scheme,
        "measure": found.measure.name,
        "limits": found.limits.file.removesuffix(".toml"),
        "without": " ".join(found.limits.fixed),
        "networks": len(found.trials),
        "cpu_s": round(found.cpu_s, 1),
        "harm": rounded(found.harm),
        "value_error": rounded(own["value_error"]),
        "harm_found": rounded(found.harm_found),
        "words": found.words,
        "matters": " ".join(found.matters),
        "network": found.network.words,
        "found": found.found.words,
        **{name: rounded(own[name]) for name in ("score", "throughput", "delay")},
        "ahead": ahead["scheme"],
        **{f"ahead_{name}": rounded(ahead[name]) for name in ("score", "throughput", "delay")},
        "command": found.command,
        "digest": digest_of(found.scheme),
    }


def rounded(number: float | None) -> float | None:
    """With the digits that are committed."""
    return None if number is None else float(f"{number:.{DIGITS}g}")


def known() -> pl.DataFrame:
    """What is committed; a digest may look like a number."""
    return pl.read_csv(ROWS, schema_overrides={"digest": pl.String})


def with_row(row: dict[str, object]) -> pl.DataFrame:
    """All rows, in the order of the cases."""
    rows = {row["case"]: row}
    if ROWS.exists():
        rows = {old["case"]: old for old in known().iter_rows(named=True)} | rows
    return pl.DataFrame([rows[case] for case in CASES if case in rows], infer_schema_length=None)


if __name__ == "__main__":
    main()
