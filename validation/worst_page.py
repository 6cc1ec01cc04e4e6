"""docs/worst.md: the worst networks that `worst.py` found."""

import polars as pl

__all__ = ["page"]


def page(rows: pl.DataFrame) -> str:
    """The page."""
    return "\n".join(rows["case"]) + "\n"
