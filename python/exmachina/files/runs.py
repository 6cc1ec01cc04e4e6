"""Finished runs of an evaluation, kept in files so that an interrupted one goes on where it was.

A file holds the first so many runs of one contender. Its name has a digest of all that they follow from (the simulator,
the scenario, the files that it names, the contender, duration and seed), so that no other evaluation finds it; and it
holds that digest, and one of itself, so that a file that was damaged or mistaken for another is not believed.
"""

import logging
import re
import time
from functools import cache
from hashlib import sha256
from pathlib import Path

import polars as pl

from exmachina import _core
from exmachina.files.parquet import read_parquet, write_parquet

__all__ = ["FinishedRuns", "digest", "program", "simulated"]

KEEP_EVERY_S = 5.0
"""At most so much work is lost by a kill."""
FOLDER = "runs"
log = logging.getLogger("exmachina")


@cache
def program() -> bytes:
    """SHA-256 of the program itself: its version alone does not tell two builds apart."""
    return sha256(Path(str(_core.__file__)).read_bytes()).digest()


def digest(*parts: bytes | str | float) -> str:
    """A name for what follows from these parts and the program."""
    return _name(program(), *parts)


def simulated(*parts: bytes | str | float) -> str:
    """A name for runs of these parts: the same in all builds that simulate alike, whatever else is other in them."""
    return _name(_core.SIMULATOR.encode(), *parts)


def _name(maker: bytes, *parts: bytes | str | float) -> str:
    whole = sha256(maker)
    for part in parts:
        data = part if isinstance(part, bytes) else repr(part).encode()
        whole.update(len(data).to_bytes(8, "little") + data)
    return whole.hexdigest()[:24]


class FinishedRuns:
    """The runs of one contender that are finished, in order from the first; in memory only without a folder."""

    def __init__(self, folder: Path | None, label: str, key: str | None) -> None:
        """`key` is a digest; with none, runs are not kept: nobody knows what they follow from."""
        self.path: Path | None = None
        self.key = key
        self.parts: list[pl.DataFrame] = []
        self.count = 0
        self.kept = 0
        self.kept_at = time.monotonic()
        if folder is not None and key is not None:
            plain = re.sub(r"[^A-Za-z0-9.-]+", "-", label)[-40:]
            self.path = folder / FOLDER / f"{plain}-{key}.parquet"
            self._find()

    def _find(self) -> None:
        assert self.path is not None
        if not self.path.is_file():
            return
        found = read_parquet(self.path)
        if found is None or found[1].get("key") != self.key:
            log.warning("%s: not as it was written; these runs are made again", self.path)
            return
        frame, facts = found
        self.count = self.kept = int(facts["runs"])
        self.parts = [frame]

    def add(self, part: pl.DataFrame, runs: int) -> None:
        """Takes in the next so many runs."""
        self.parts.append(part)
        self.count += runs
        if time.monotonic() - self.kept_at > KEEP_EVERY_S:
            self.keep()

    def keep(self) -> None:
        """Writes what has not been written."""
        if self.path is None or self.key is None or self.kept == self.count:
            return
        self.path.parent.mkdir(exist_ok=True)
        write_parquet(self.path, pl.concat(self.parts), {"runs": str(self.count), "key": self.key})
        self.kept, self.kept_at = self.count, time.monotonic()

    @property
    def rows(self) -> pl.DataFrame:
        """Of all of them."""
        return pl.concat(self.parts)

    def first(self, runs: int) -> pl.DataFrame:
        """The rows of the first so many runs."""
        return self.rows.filter(pl.col("run") < runs)
