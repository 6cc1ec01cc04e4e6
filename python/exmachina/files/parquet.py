"""Results as Parquet files that say where they came from, and by a digest that nothing in them has changed since."""

import io
import re
from hashlib import sha256
from pathlib import Path

import polars as pl
from polars.exceptions import PolarsError

from exmachina import _core
from exmachina.errors import FileError
from exmachina.files.disk import read_file, write_atomically

__all__ = ["read_parquet", "write_parquet"]

BLANK = b"sha256:" + b"0" * 64
"""Stands in the metadata while the digest of the file is taken, which then takes its place."""
DIGEST = re.compile(rb"sha256:[0-9a-f]{64}")
MOST_BYTES = 1 << 40
"""Results of ours may be large."""


def write_parquet(path: Path, frame: pl.DataFrame, facts: dict[str, str]) -> None:
    """Writes a frame, atomically, with facts, the program's version and a digest in the file's metadata."""
    buffer = io.BytesIO()
    metadata = {"exmachina_version": _core.__version__, **facts, "exmachina_digest": BLANK.decode()}
    frame.write_parquet(buffer, metadata=metadata)
    data = buffer.getvalue()
    digest = b"sha256:" + sha256(data).hexdigest().encode()
    # The metadata stand at the end; facts may hold the same words.
    head, _, tail = data.rpartition(BLANK)
    write_atomically(path, head + digest + tail)


def read_parquet(path: Path) -> tuple[pl.DataFrame, dict[str, str]] | None:
    """A frame that we wrote, and the facts with it; none if one bit of the file is not as it was written."""
    try:
        data = read_file(path, most_bytes=MOST_BYTES)
        found = list(DIGEST.finditer(data))
        if not any(_is_digest(data, match) for match in reversed(found)):
            return None
        return pl.read_parquet(io.BytesIO(data)), pl.read_parquet_metadata(io.BytesIO(data))
    except (PolarsError, FileError, OSError, ValueError):
        return None


def _is_digest(data: bytes, match: re.Match[bytes]) -> bool:
    whole = sha256(data[: match.start()])
    whole.update(BLANK)
    whole.update(data[match.end() :])
    return match.group() == b"sha256:" + whole.hexdigest().encode()
