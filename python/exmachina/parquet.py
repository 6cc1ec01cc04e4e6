"""Results as Parquet files that say where they came from."""

import io
from pathlib import Path

import polars as pl

from exmachina import _core
from exmachina.files import write_atomically

__all__ = ["write_parquet"]


def write_parquet(path: Path, frame: pl.DataFrame, facts: dict[str, str]) -> None:
    """Writes a frame, atomically, with facts and the program's version in the file's metadata."""
    buffer = io.BytesIO()
    frame.write_parquet(buffer, metadata={"exmachina_version": _core.__version__, **facts})
    write_atomically(path, buffer.getvalue())
