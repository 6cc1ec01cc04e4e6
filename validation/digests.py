"""Which table a number is of: rows of results bear its digest, and a page says where a table is another one by now."""

from hashlib import sha256

import polars as pl

from exmachina import Table, algorithms

__all__ = ["digest_of", "outdated", "with_digests"]

DIGITS = 12


def digest_of(name: str) -> str:
    """Of the algorithm that comes with the program; empty of a scheme that is no table."""
    if name not in {algorithm.name for algorithm in algorithms()}:
        return ""
    return sha256(Table.load(name).dna).hexdigest()[:DIGITS]


def with_digests(rows: pl.DataFrame, column: str) -> pl.DataFrame:
    """With the digests of the tables that a column names, as they are now."""
    known = {name: digest_of(name) for name in rows[column].unique()}
    return rows.with_columns(digest=pl.col(column).replace_strict(known, return_dtype=pl.String))


def outdated(rows: pl.DataFrame, column: str) -> str:
    """A sentence on the tables that were other ones when they were measured; empty where there are none."""
    now = with_digests(rows.drop("digest"), column)["digest"]
    measured = rows["digest"].cast(pl.String).fill_null("")
    names = sorted(set(rows.filter(measured != now)[column].to_list()))
    if not names:
        return ""
    listed = ", ".join(f"`{name}`" for name in names)
    return f"Measured before they were designed again, with the tables that they were then: {listed}."
