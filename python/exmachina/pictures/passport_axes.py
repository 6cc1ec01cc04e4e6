"""Where the values of a passport's axes are drawn, and from where to where designed ranges are shaded."""

import polars as pl

from exmachina.pictures.places import Places
from exmachina.probing import Axis, Passport

__all__ = ["designed_words", "places_of", "shades_of"]


def places_of(passport: Passport, axis: Axis, pixels: float) -> Places:
    """Of the values that were probed."""
    values = passport.frame.filter(axis=axis.name)["value"].drop_nulls().unique().sort()
    return Places.of(values.to_list(), pixels, log=axis.scale == "log")


def shades_of(passport: Passport, axis: Axis, pixels: float) -> pl.DataFrame:
    """The ranges that are shaded: name, from and to, as places on the axis."""
    places = places_of(passport, axis, pixels)
    bands = {
        name: places.band(designed)
        for name, ranges in passport.designed.items()
        if (designed := axis.span(ranges)) is not None
    }
    known = [(name, *band) for name, band in bands.items() if band is not None]
    schema = {"name": pl.String, "from": pl.Float64, "to": pl.Float64}
    return pl.DataFrame(known, schema=schema, orient="row")


def designed_words(passport: Passport, axis: Axis) -> str:
    """For what each table was designed, in words; empty where nothing is known."""
    words = []
    for name, ranges in passport.designed.items():
        if axis.scale == "names":
            beside = ranges.neighbours if axis.field is not None else None
            told = None if beside is None else ", ".join(beside) or "none"
        else:
            designed = axis.span(ranges)
            told = None if designed is None else designed.words().replace("inf", "∞")
        words += [] if told is None else [f"{name}: {told}"]
    return f"Designed for: {'; '.join(words)}." if words else ""
