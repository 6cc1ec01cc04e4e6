"""Passports of all algorithms that come with the program, and of Cubic, BBRv3, Copa and Vegas: docs/passports.

Usage: passports.py [NAME ...] [--cache FOLDER] [--threads N] [--page]. All of them if none is named.

Each is what `exmachina probe NAME --runs 4` measures, beside Cubic and BBRv3, around the middle of what it was designed
for (human schemes: 20 Mbit/s, 100 ms, two senders). Finished runs are kept in the cache, so that a call goes on from
where one was stopped. docs/results/passports.parquet has the numbers; those that are there and not named stay as they
are. The pages docs/passports/NAME.md and docs/passports.md are written from it; --page writes them only.
"""

import argparse
import io
from pathlib import Path

import polars as pl
from digests import digest_of
from passports_page import index, page
from PIL import Image

import exmachina
from exmachina import Passport
from exmachina.files import make_folder, write_atomically, write_parquet
from exmachina.pictures.passport import passport_chart
from exmachina.pictures.render import render

PROJECT = Path(__file__).parents[1]
PAGES = PROJECT / "docs" / "passports"
NUMBERS = PROJECT / "docs" / "results" / "passports.parquet"
HUMAN = ("cubic", "bbr3", "copa", "vegas")
RUNS = 4
HALF = 0.5
"""Of the link: a state that holds a lone flow below it is counted."""
COLOURS = 48
"""Of a picture."""


def main() -> None:
    """Measures, and writes what is asked for."""
    given = arguments()
    for name in () if given.page else given.names or everyone():
        passport = exmachina.probe(name, runs=RUNS, threads=given.threads, output=given.cache / name)
        write_parquet(NUMBERS, with_rows(name, rows_of(name, passport)), {})
        write_atomically(make_folder(PAGES) / f"{name}.png", picture(passport))
        print(f"{name}: {passport.base.words}", flush=True)
    write_pages(pl.read_parquet(NUMBERS))


def arguments() -> argparse.Namespace:
    """What is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", choices=[*everyone(), []])
    parser.add_argument("--cache", type=Path, default=Path("out/passports"))
    parser.add_argument("--threads", type=int)
    parser.add_argument("--page", action="store_true")
    return parser.parse_args()


def everyone() -> list[str]:
    """Who has a passport: people's schemes, then every algorithm that comes with the program."""
    return [*HUMAN, *(algorithm.name for algorithm in exmachina.algorithms())]


def rows_of(name: str, passport: Passport) -> pl.DataFrame:
    """What is committed of a passport: its summary, and what is said of the whole at each row."""
    own = passport.equilibria.filter(pl.col("scheme") == name)
    states = own.filter(pl.col("share_from") < HALF).height if own.height else 0
    edges = passport.edges.filter(pl.col("scheme") == name).height if passport.edges.height else 0
    return passport.summary.with_columns(
        pl.lit(name).alias("passport"),
        pl.lit(passport.base.words).alias("base"),
        pl.lit(passport.delta).alias("delta"),
        pl.lit(digest_of(name)).alias("digest"),
        pl.lit(edges).alias("edges"),
        pl.lit(states).alias("states"),
    ).with_columns(pl.col(pl.Float64).round_sig_figs(4))


def with_rows(name: str, rows: pl.DataFrame) -> pl.DataFrame:
    """All passports, in order."""
    found = [rows]
    if NUMBERS.exists():
        found.append(pl.read_parquet(NUMBERS).filter(pl.col("passport") != name))
    order = pl.Enum(everyone())
    return pl.concat(found).sort(pl.col("passport").cast(order), maintain_order=True)


def picture(passport: Passport) -> bytes:
    """The picture, in few colours: there are many of them."""
    file = io.BytesIO()
    with Image.open(io.BytesIO(render(passport_chart(passport), ".png"))) as image:
        image.quantize(COLOURS).save(file, "PNG", optimize=True)
    return file.getvalue()


def write_pages(numbers: pl.DataFrame) -> None:
    """A page for each, and the one that lists them."""
    words = {algorithm.name: algorithm.description for algorithm in exmachina.algorithms()}
    for (name,), rows in numbers.group_by("passport", maintain_order=True):
        write_atomically(PAGES / f"{name}.md", page(str(name), rows, words.get(str(name), "")).encode())
    write_atomically(PROJECT / "docs" / "passports.md", index(numbers).encode())


if __name__ == "__main__":
    main()
