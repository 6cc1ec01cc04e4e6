"""What may be set of who computes: the same for everything that simulates at length."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypedDict

from exmachina.engines.engine import Engine
from exmachina.errors import OptionError

__all__ = ["ClusterLike", "EngineOptions", "EngineSettings"]


if TYPE_CHECKING:
    from distributed import Client

    ClusterLike: TypeAlias = str | os.PathLike[str] | Client | Engine
    """The address of a Dask scheduler, the path of a file for dask-jobqueue, a Dask client, or an open engine."""
else:
    ClusterLike = str  # what the command line can give; Dask is an extra, and may not be there to be named

MOST_WORKERS = 1024


@dataclass(frozen=True, kw_only=True)
class EngineOptions:
    """Who computes: this process, processes beside it, or a cluster. The result is the same, byte for byte.

    >>> exmachina.EngineOptions(workers=2, cluster="tcp://head:8786")
    Traceback (most recent call last):
        ...
    exmachina.errors.OptionError: workers: expected no cluster beside; its workers are its own
    """

    threads: int | None = None
    """All processors if not given; of each worker, where there are workers. The result is the same for any number."""
    workers: int | None = None
    """Compute in so many processes of this machine, which share its processors, instead of in one."""
    cluster: ClusterLike | None = None
    """Compute on a cluster: the address of a Dask scheduler, such as tcp://head:8786, or a file for dask-jobqueue, such
    as slurm.yaml; see docs/cluster.md."""
    worker_log: Path | None = None
    """Append to this file which worker did what, a line for each unit of work."""

    def __post_init__(self) -> None:
        if self.workers is not None:
            if not 1 <= self.workers <= MOST_WORKERS:
                raise OptionError(f"workers: expected from 1 to {MOST_WORKERS}, got {self.workers}")
            if self.cluster is not None and not isinstance(self.cluster, Engine):
                raise OptionError("workers: expected no cluster beside; its workers are its own")


class EngineSettings(TypedDict, total=False):
    """The fields of `EngineOptions` as keywords."""

    threads: int | None
    workers: int | None
    cluster: ClusterLike | None
    worker_log: Path | None
