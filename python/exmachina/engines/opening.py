"""Opening the engine that options ask for. Dask is an extra, and is imported where somebody asks for it."""

import logging
import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

from exmachina.checks import workers_of
from exmachina.engines.engine import Engine, Here
from exmachina.engines.options import EngineOptions
from exmachina.errors import ClusterError, FileError, OptionError
from exmachina.files import read_file

if TYPE_CHECKING:
    from distributed import Client

    from exmachina.engines.staff import Staff

__all__ = ["opened"]

log = logging.getLogger("exmachina.engines")
DEAF = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"
"""What workers of this machine begin with: ctrl-C in a terminal reaches them, too, and is the client's to hear."""
CONNECT_S = 30.0
"""For so long a scheduler is looked for that does not answer: at the beginning, and where it has gone."""


@contextmanager
def opened(options: EngineOptions) -> Iterator[Engine]:
    """The engine that options ask for, open while the context is; one that is open already stays open.

    >>> with exmachina.opened(exmachina.EngineOptions(threads=1)) as engine:
    ...     results = exmachina.evaluate("r4", ["cubic"], runs=1, duration_s=1, cluster=engine)
    >>> results.duration_s
    1.0

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
    from exmachina.engines.staff import Staff  # noqa: PLC0415

    with ExitStack() as closing:
        # What Dask would print about workers that come and go, the log says; and displays stay whole.
        closing.enter_context(silence_logging_cmgr(logging.CRITICAL))
        if options.worker_log is not None:
            closing.enter_context(_written(options.worker_log))
        threads = options.threads
        if options.workers is not None:
            threads = threads or max(1, (os.cpu_count() or 1) // options.workers)
            staff = _own(_beside(options.workers), {"n": options.workers}, closing, patient=False)
        elif _is_file(options.cluster):
            jobs, count, cores = _slurm(Path(options.cluster))
            threads = threads or cores
            staff = _own(jobs, {"jobs": count}, closing, patient=True)
        else:
            staff = Staff(_client_of(options.cluster, closing), None, patient=False)
        engine = Remote(staff.client, here, threads, staff)
        closing.callback(engine.close)
        engine.wait_for_workers()
        yield engine


def _check_dask() -> None:
    try:
        import distributed  # noqa: F401, PLC0415
    except ImportError:
        raise ClusterError("cluster: expected Dask to be installed: pip install 'exmachina[cluster]'") from None


def _own(cluster: Any, size: dict[str, int], closing: ExitStack, *, patient: bool) -> "Staff":
    """The workers of a cluster that ends with this call, and is brought to this size now and then."""
    from distributed import Client  # noqa: PLC0415

    from exmachina.engines.staff import Staff  # noqa: PLC0415

    closing.enter_context(cluster)
    client: Client = closing.enter_context(Client(cluster, set_as_default=False))
    return Staff(client, partial(cluster.scale, **size), patient=patient)


def _beside(workers: int) -> Any:
    """So many processes of this machine."""
    from distributed import LocalCluster  # noqa: PLC0415

    return LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        memory_limit=None,
        dashboard_address="127.0.0.1:0",
        silence_logs=logging.CRITICAL,
        preload=[DEAF],
    )


def _client_of(cluster: Any, closing: ExitStack) -> "Client":
    """A client of a cluster: the one that is given, or a new one."""
    from distributed import Client  # noqa: PLC0415

    if isinstance(cluster, Client):
        if cluster.asynchronous:
            raise OptionError("cluster: expected a Dask client that is not asynchronous")
        return cluster
    if not (isinstance(cluster, str) and "://" in cluster):
        raise OptionError(
            "cluster: expected the address of a Dask scheduler, such as tcp://head:8786, a .yaml file for "
            f"dask-jobqueue or a Dask client, got {cluster}"
        )
    try:
        client: Client = closing.enter_context(Client(cluster, timeout=CONNECT_S, set_as_default=False))
    except ValueError as error:
        raise OptionError(f"cluster: {cluster}: {error}") from None
    except (OSError, TimeoutError):
        raise ClusterError(f"cluster: no scheduler answers at {cluster}") from None
    return client


def _is_file(cluster: object) -> TypeGuard[str | os.PathLike[str]]:
    return isinstance(cluster, str | os.PathLike) and os.fspath(cluster).endswith((".yaml", ".yml"))


def _slurm(file: Path) -> tuple[Any, int, int]:
    """The jobs that a file asks for, how many, and with how many processors each.

    It has the fields of dask-jobqueue's SLURMCluster, and `jobs`, how many.
    A job has one worker, whose processors are the core's to use: one thread of Dask's, and the others for computing.

    Raises:
        FileError: If the file cannot be used: it, and what was expected.
    """
    import yaml  # noqa: PLC0415

    ctrl_c = signal.getsignal(signal.SIGINT)
    from dask_jobqueue.slurm import SLURMCluster  # noqa: PLC0415

    # The package takes ctrl-C for itself as it is loaded.
    signal.signal(signal.SIGINT, ctrl_c)

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
    return cluster, jobs, cores


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
