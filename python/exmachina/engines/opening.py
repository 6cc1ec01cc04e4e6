"""Opening the engine that options ask for. Dask is an extra, and is imported where somebody asks for it."""

import logging
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from exmachina.checks import workers_of
from exmachina.engines.engine import Engine, Here
from exmachina.engines.options import EngineOptions
from exmachina.errors import ClusterError, FileError, OptionError
from exmachina.files import read_file

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["opened"]

log = logging.getLogger("exmachina.engines")
CONNECT_S = 30.0
"""For so long a scheduler is looked for that does not answer: at the beginning, and where it has gone."""


@contextmanager
def opened(options: EngineOptions) -> Iterator[Engine]:
    """The engine that options ask for, open while the context is; one that is open already stays open.

    >>> with exmachina.opened(exmachina.EngineOptions(threads=2)) as engine:
    ...     for name in ("r4", "parking-lot"):
    ...         exmachina.evaluate(name, ["cubic"], runs=1, duration_s=1, cluster=engine).name
    'r4'
    'parking-lot'

    Raises:
        OptionError: If there is no such engine.
        ClusterError: If a cluster cannot be reached, has no workers, or has some of another version.
    """
    if isinstance(options.cluster, Engine):
        yield options.cluster
        return
    here = workers_of(options.threads)
    if options.workers is None and options.cluster is None:
        yield Here(here)
        return
    _check_dask()
    from distributed.utils import silence_logging_cmgr  # noqa: PLC0415

    from exmachina.engines.remote import Remote  # noqa: PLC0415 (Dask takes half a second to load, and is an extra)

    with ExitStack() as closing:
        # What Dask would print about workers that come and go, the log says; and displays stay whole.
        closing.enter_context(silence_logging_cmgr(logging.CRITICAL))
        if options.worker_log is not None:
            closing.enter_context(_written(options.worker_log))
        threads = options.threads
        if options.workers is not None:
            client = _beside(options.workers, closing)
            threads = threads or max(1, (os.cpu_count() or 1) // options.workers)
        else:
            client = _client_of(options.cluster, closing)
        engine = Remote(client, here, threads, patient=_is_file(options.cluster))
        closing.callback(engine.close)
        engine.wait_for_workers()
        yield engine


def _check_dask() -> None:
    try:
        import distributed  # noqa: F401, PLC0415
    except ImportError:
        raise ClusterError("cluster: expected Dask to be installed: pip install 'exmachina[cluster]'") from None


def _beside(workers: int, closing: ExitStack) -> "Client":
    """So many processes of this machine, and a client of theirs."""
    from distributed import Client, LocalCluster  # noqa: PLC0415

    cluster = LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        memory_limit=None,
        dashboard_address="127.0.0.1:0",
        silence_logs=logging.CRITICAL,
    )
    closing.enter_context(cluster)
    client: Client = closing.enter_context(Client(cluster, set_as_default=False))
    return client


def _client_of(cluster: Any, closing: ExitStack) -> "Client":
    """A client of a cluster: the one that is given, or a new one."""
    from distributed import Client  # noqa: PLC0415

    if isinstance(cluster, Client):
        return cluster
    if _is_file(cluster):
        jobs = closing.enter_context(_slurm(Path(cluster)))
        client: Client = closing.enter_context(Client(jobs, set_as_default=False))
        return client
    if not (isinstance(cluster, str) and "://" in cluster):
        raise OptionError(
            "cluster: expected the address of a Dask scheduler, such as tcp://head:8786, a .yaml file for "
            f"dask-jobqueue or a Dask client, got {cluster}"
        )
    try:
        client = closing.enter_context(Client(cluster, timeout=CONNECT_S, set_as_default=False))
    except ValueError as error:
        raise OptionError(f"cluster: {cluster}: {error}") from None
    except (OSError, TimeoutError):
        raise ClusterError(f"cluster: no scheduler answers at {cluster}") from None
    return client


def _is_file(cluster: object) -> bool:
    return isinstance(cluster, str | os.PathLike) and os.fspath(cluster).endswith((".yaml", ".yml"))


def _slurm(file: Path) -> Any:
    """The jobs that a file asks for: the fields of dask-jobqueue's SLURMCluster, and `jobs`, how many.

    A job has one worker, whose processors are the core's to use: one thread of Dask's, and the others for computing.

    Raises:
        FileError: If the file cannot be used: it, and what was expected.
    """
    import yaml  # noqa: PLC0415
    from dask_jobqueue.slurm import SLURMCluster  # noqa: PLC0415

    try:
        given = yaml.safe_load(read_file(file))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise FileError(f"{file}: expected YAML: {' '.join(str(error).split())}") from None
    if not isinstance(given, dict):
        raise FileError(f"{file}: expected fields of dask-jobqueue's SLURMCluster, and jobs")
    fields = {"processes": 1, "scheduler_options": {"dashboard_address": ":0"}, **given}
    jobs, cores = fields.pop("jobs", None), fields.pop("cores", None)
    for name, value in {"jobs": jobs, "cores": cores}.items():
        if not isinstance(value, int) or value < 1:
            raise FileError(f"{file}: {name}: expected a whole number from 1, got {value}")
    try:
        cluster = SLURMCluster(cores=1, **{"job_cpu": cores, **fields})
    except (TypeError, ValueError) as error:
        raise FileError(f"{file}: {' '.join(str(error).split())}") from None
    cluster.scale(jobs=jobs)
    return cluster


@contextmanager
def _written(path: Path) -> Iterator[None]:
    """Appends what engines say to a file."""
    try:
        handler = logging.FileHandler(path, encoding="utf-8")
    except OSError as error:
        raise FileError(f"{path}: cannot write it: {(error.strerror or str(error)).lower()}") from None
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    before = log.level, log.propagate
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(before[0])
        handler.close()
