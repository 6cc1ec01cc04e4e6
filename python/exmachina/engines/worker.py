"""What runs on workers: units of work, in a process that keeps its threads and what units share."""

import os
import pickle
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from exmachina import _core
from exmachina.errors import ClusterError
from exmachina.files import digest

__all__ = ["Identity", "Report", "identity", "program", "refusal", "run", "sent"]


@dataclass(frozen=True)
class Identity:
    """Who a worker is."""

    program: str
    host: str
    processors: int


@dataclass(frozen=True)
class Report:
    """What came of a unit, and where."""

    result: Any
    seconds: float
    cpu_s: float
    worker: str


@cache
def program() -> str:
    """The version, and a digest of the core, because a version alone does not tell two builds apart."""
    return f"exmachina {_core.__version__} (build {digest()[:8]})"


def sent(function: Callable[..., Any]) -> Callable[..., bytes]:
    """A function as a task, which gives its result as a pickle.

    Schedulers unpickle tasks, and workers that cannot are closed. So a task names nothing of ours but in bytes: a
    scheduler needs no exmachina, and where a worker has none the task fails as any other.
    """
    named = pickle.dumps(function)

    def exmachina(*arguments: Any) -> bytes:
        import pickle  # noqa: PLC0415 (this function is sent by value, and brings no module along)

        return pickle.dumps(pickle.loads(named)(*arguments))

    return exmachina


def identity() -> Identity:
    """Of this process."""
    return Identity(program(), socket.gethostname(), _workers(None).threads)


def run(asked_by: str, task: bytes, shared: bytes, threads: int | None) -> Report:
    """Computes a unit: `task` holds the work and the unit.

    Raises:
        ClusterError: If this worker has another program than who asks.
    """
    name = f"{socket.gethostname()}:{os.getpid()}"
    if asked_by != program():
        raise refusal(name, program(), asked_by)
    began, cpu_began = time.monotonic(), time.process_time()
    work, unit = pickle.loads(task)
    result = work(_loaded(shared), unit, _workers(threads), _core.Stop())
    return Report(result, time.monotonic() - began, time.process_time() - cpu_began, name)


def refusal(worker: str, theirs: str, ours: str) -> ClusterError:
    """Of a worker with another program."""
    return ClusterError(f"worker {worker} is refused: it has {theirs}, this is {ours}; give it the same, or stop it")


@lru_cache(maxsize=4)
def _loaded(shared: bytes) -> Any:
    return pickle.loads(shared)


@cache
def _workers(threads: int | None) -> _core.Workers:
    return _core.Workers(threads)
