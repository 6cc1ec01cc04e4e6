"""Columns of numbers from the core, as data frames."""

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from exmachina._core import Column

__all__ = ["frame_of"]

# polars imports NumPy when it meets an array for the first time, and cannot do so in two threads at once.
pl.Series(np.empty(0))


def frame_of(columns: "list[Column]") -> pl.DataFrame:
    """A data frame of the core's columns; what is not a number becomes null."""
    series = [pl.Series(one.name, np.frombuffer(one.data, dtype=one.dtype)) for one in columns]
    return pl.DataFrame(series).with_columns(pl.col(pl.Float64).fill_nan(None))
