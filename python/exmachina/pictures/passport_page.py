"""The page of a passport: three measures along each axis, knife edges, states that hold themselves, and all numbers."""

from typing import Any

import polars as pl

from exmachina.inspection import by_split
from exmachina.pictures.pages import fill
from exmachina.pictures.passport import MEASURES, WORDS, axis_chart, colours_of
from exmachina.pictures.passport_axes import designed_words
from exmachina.pictures.render import spec_of
from exmachina.probing import Axis, Passport
from exmachina.schemes import percent, signed

__all__ = ["passport_page"]

SIZE = 285, 190
"""Of a chart, pixels."""
MOST_EDGES = 40
"""Rows of the page: the file has all of them."""
TRAP = 0.5
"""States in which a lone flow has less than this share of the link are shown."""


def passport_page(passport: Passport) -> str:
    """All of it, as one file."""
    first, *others = passport.schemes
    beside = f" beside {', '.join(others)}" if others else ""
    lead = (
        f"How {first} does{beside}, one dimension at a time, inside and far outside what it was designed for. "
        f"All else is as at the dashes: {passport.base.words}."
    )
    splits = by_split(passport.edges) if len(passport.edges) else passport.edges
    return fill(
        "passport.html",
        title=f"Passport of {first}",
        kicker="exmachina probe",
        lead=lead,
        delta=f"{passport.delta:g}",
        schemes=[{"name": name, "colour": colour} for name, colour in colours_of(passport).items()],
        axes=[_axis(passport, axis) for axis in passport.axes],
        edges=_edges(splits),
        more_edges=max(0, len(splits) - MOST_EDGES),
        states=_states(passport),
        tables=passport.edges.width > 1,
    )


def _axis(passport: Passport, axis: Axis) -> dict[str, Any]:
    """Three charts, and the numbers."""
    rows = passport.summary.filter(axis=axis.name)
    return {
        "title": axis.title[:1].upper() + axis.title[1:],
        "designed": designed_words(passport, axis),
        "charts": [spec_of(axis_chart(passport, axis, measure, SIZE, WORDS[measure])) for measure in MEASURES],
        "rows": [_row(passport, label, rows) for label in rows["label"].unique(maintain_order=True)],
    }


def _row(passport: Passport, label: str, rows: pl.DataFrame) -> dict[str, Any]:
    """One value of an axis: of each scheme its score, throughput, delay and who starved."""
    found = {line["scheme"]: line for line in rows.filter(label=label).iter_rows(named=True)}
    cells = []
    for scheme in passport.schemes:
        line = found.get(scheme)
        if line is None:
            cells.append("–")
            continue
        starved = f", {percent(line['starved_share'])} starved" if line["starved_share"] else ""
        cells.append(f"{signed(line['score'], 2)} ({line['throughput']:.2f}, {line['delay']:.2f}{starved})")
    return {"label": label, "cells": cells}


def _edges(splits: pl.DataFrame) -> list[list[str]]:
    """The nearest knife edges, in words."""
    return [
        [
            line["scheme"],
            f"{line['signal']} at {line['edge_ms']:.6g} ms",
            f"{line['pace_ms']:.6g} ms",
            ", ".join(map(str, line["rules"])) + (" (on its own edge)" if line["own"] else ""),
            f"{100 * line['apart']:.2g} %",
        ]
        for line in splits.head(MOST_EDGES).iter_rows(named=True)
    ]


def _states(passport: Passport) -> list[list[str]]:
    """States with little of the link."""
    if passport.equilibria.width == 1:
        return []
    traps = passport.equilibria.filter(pl.col("share_from") < TRAP)
    return [
        [
            line["scheme"],
            f"rule {line['rule']}",
            line["kind"],
            " to ".join(dict.fromkeys(percent(line[f"share_{end}"]) for end in ("from", "to"))),
            percent(line["networks"]),
        ]
        for line in traps.iter_rows(named=True)
    ]
