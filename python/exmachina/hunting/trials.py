"""The networks that a search has tried, kept on disk meanwhile."""

import time
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from exmachina.files import read_parquet, write_parquet
from exmachina.probing import AXES, Base

__all__ = ["FILE", "Harms", "Trials"]

FILE = "trials.parquet"

Harms = list[float | None]
"""How bad networks are; none where there was nothing to measure."""


class Trials:
    """What was tried, in order, by batches."""

    def __init__(self, axes: Sequence[str], folder: Path | None, key: str) -> None:
        """Of these axes; `key` is what harms follow from, empty where nobody knows."""
        self.axes, self.folder, self.key = axes, folder, key
        self.batches: list[int] = []
        self.networks: list[Base] = []
        self.harms: Harms = []
        self._began_s = time.process_time()
        found = read_parquet(folder / FILE) if folder is not None and key else None
        same = found is not None and found[1].get("key") == key
        self._earlier: Harms = list(found[0]["harm"]) if found is not None and same else []
        self._earlier_s = float(found[1].get("cpu_s", "0")) if found is not None and same else 0.0

    def __len__(self) -> int:
        return len(self.networks)

    def known(self, count: int) -> Harms:
        """What an earlier call with the same key has found of the next networks, as far as it got."""
        return self._earlier[len(self) : len(self) + count]

    def add(self, batch: int, networks: Sequence[Base], harms: Harms) -> None:
        """One batch."""
        self.batches += [batch] * len(networks)
        self.networks += networks
        self.harms += harms
        if self.folder is not None and len(self) > len(self._earlier):
            self.save(self.folder)

    @property
    def cpu_s(self) -> float:
        """CPU time of this process since the search began, and of earlier calls as far as they have got."""
        return self._earlier_s + time.process_time() - self._began_s

    def save(self, folder: Path) -> None:
        """Writes all, atomically."""
        write_parquet(folder / FILE, self.frame, {"key": self.key, "cpu_s": str(self.cpu_s)})

    @property
    def frame(self) -> pl.DataFrame:
        """batch, harm, and a column for each axis."""
        axes = {name: [AXES[name].of(network) for network in self.networks] for name in self.axes}
        return pl.DataFrame({"batch": self.batches, "harm": self.harms, **axes}, schema_overrides={"harm": pl.Float64})

    @property
    def ranked(self) -> list[tuple[float, Base]]:
        """The networks of which something is known, each once, the worst first."""
        known: dict[Base, float] = {}
        for harm, network in zip(self.harms, self.networks, strict=True):
            if harm is not None:
                known[network] = max(harm, known.get(network, harm))
        return sorted(((harm, network) for network, harm in known.items()), key=lambda one: -one[0])
