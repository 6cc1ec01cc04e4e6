"""Computing elsewhere: the same bytes on workers as here, whatever becomes of workers, and what is refused."""

import errno
import gc
import os
import random
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import SHORT_SCENARIO, Forty, command, network
from distributed import Client, LocalCluster
from whereabouts import whereabouts

import exmachina
from exmachina import ClusterError, Design, FileError, Model, OptionError
from exmachina.designing import search
from exmachina.engines import EngineOptions, opened, opening, remote
from exmachina.files import write_atomically

pytestmark = pytest.mark.slow

FAST = network(link={"rate_mbps": 30}, senders={"count": {"list": [1, 2]}}, design={"duration_s": 200})
"""A model whose batches are worth sending: seconds of a worker."""
ROUNDS = 6


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=50) as cluster:
        yield cluster


@pytest.fixture
def engine(cluster: LocalCluster) -> Iterator[exmachina.Engine]:
    with Client(cluster, set_as_default=False) as client:
        # One that the test before this one killed may not be back.
        client.wait_for_workers(2, timeout=60)
        with opened(EngineOptions(cluster=client, threads=1)) as engine:
            yield engine


@pytest.fixture(scope="module")
def fast() -> Model:
    return Model(FAST, "fast.toml")


@pytest.fixture(scope="module")
def here(fast: Model) -> Design:
    return exmachina.design(fast, rounds=ROUNDS, threads=2)


def workers_of(cluster: LocalCluster) -> list[int]:
    """The processes of workers that are there."""
    return [nanny.pid for nanny in cluster.workers.values() if nanny.pid is not None]


class Killer:
    """Kills a random worker whenever workers have done something since the last kill, while the context is open."""

    def __init__(self, cluster: LocalCluster, engine: exmachina.Engine) -> None:
        self.cluster, self.engine, self.kills = cluster, engine, 0
        self.ending, self.chance = threading.Event(), random.Random(2013)
        self.thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        spent = self.engine.elsewhere_s
        while not self.ending.wait(0.1):
            self.cluster.scale(2)  # Dask does not start a worker again that dies while it starts
            if self.engine.elsewhere_s > spent:
                spent = self.engine.elsewhere_s
                for pid in self.chance.sample(workers_of(self.cluster), 1):
                    os.kill(pid, signal.SIGKILL)
                    self.kills += 1

    def __enter__(self) -> "Killer":
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ending.set()
        self.thread.join()


def test_a_design_on_a_cluster_ends_in_the_same_bytes(
    engine: exmachina.Engine, fast: Model, here: Design, tmp_path: Path
) -> None:
    seen: list[exmachina.Progress] = []
    spent = engine.elsewhere_s
    away = exmachina.design(fast, tmp_path / "a.dna", rounds=ROUNDS, cluster=engine, on_progress=seen.append)
    assert (tmp_path / "a.dna").read_bytes() == away.table.dna == here.table.dna
    assert away.progress.packets == here.progress.packets
    assert away.history.drop("cpu_s").equals(here.history.drop("cpu_s"))
    assert {now.workers for now in seen} == {2}
    assert engine.elsewhere_s > spent, "workers had a part in it"
    # Their time counts, or a budget of CPU time would be no budget.
    assert away.progress.cpu_s > here.progress.cpu_s / 2


def test_the_papers_search_on_a_cluster_ends_in_the_same_bytes(engine: exmachina.Engine, fast: Model) -> None:
    spent = engine.elsewhere_s
    own, away = (exmachina.design(fast, rounds=2, search="paper", cluster=where) for where in (None, engine))
    assert away.table.dna == own.table.dna
    assert engine.elsewhere_s > spent


def test_tables_of_several_names_are_designed_on_a_cluster(engine: exmachina.Engine) -> None:
    groups = [{"name": name, "count": 1} for name in ("a", "b")]
    model = Model(network(link={"rate_mbps": 30}, senders=groups, design={"duration_s": 200}))
    own = exmachina.design(model, rounds=4).tables
    spent = engine.elsewhere_s
    away = exmachina.design(model, rounds=4, cluster=engine).tables
    assert {name: table.dna for name, table in away.items()} == {name: table.dna for name, table in own.items()}
    assert engine.elsewhere_s > spent


def test_an_evaluation_on_a_cluster_ends_in_the_same_bytes(engine: exmachina.Engine, tmp_path: Path) -> None:
    schemes: list[str | type[Any]] = ["cubic", "known-1x", Forty, "omniscient"]
    folders = [tmp_path / "here", tmp_path / "away"]
    own = exmachina.evaluate(SHORT_SCENARIO, schemes, runs=40, output=folders[0], threads=1)
    away = exmachina.evaluate(SHORT_SCENARIO, schemes, runs=40, output=folders[1], cluster=engine)
    assert away.flows.equals(own.flows)
    files = [{path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.parquet")} for folder in folders]
    assert len(files[0]) > 1
    assert files[0] == files[1]


def test_scores_and_passports_on_a_cluster_are_the_same(engine: exmachina.Engine, fast: Model, here: Design) -> None:
    scores = [
        exmachina.score([here.table, "cubic/sfqcodel"], fast, specimens=12, seconds_each=3, aimd=True, cluster=where)
        for where in (None, engine)
    ]
    assert scores[0].frame.equals(scores[1].frame)
    passports = [
        exmachina.probe("known-1x", axes=["acks", "buffer"], rivals=["cubic"], runs=2, cluster=where)
        for where in (None, engine)
    ]
    assert passports[0].frame.equals(passports[1].frame)


def test_workers_that_are_killed_do_not_matter(
    cluster: LocalCluster, engine: exmachina.Engine, fast: Model, here: Design
) -> None:
    with Killer(cluster, engine) as killer:
        while killer.kills < 4:
            assert exmachina.design(fast, rounds=ROUNDS, cluster=engine).table.dna == here.table.dna
            flows = exmachina.evaluate(SHORT_SCENARIO, runs=200, cluster=engine).flows
    assert flows.equals(exmachina.evaluate(SHORT_SCENARIO, runs=200).flows)


def test_short_units_do_not_crowd_one_worker(engine: exmachina.Engine) -> None:
    for rounds in range(6):
        set(engine.map(whereabouts, bytes(1000), [0.001] * 8))
        processes = {done.result for done in engine.map(whereabouts, bytes(1000), [0.2] * 6)}
        assert len(processes) == 2, f"after {rounds} rounds one worker has them all"


@pytest.fixture
def frail() -> Iterator[LocalCluster]:
    """A cluster of one's own, to do harm to."""
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=50) as cluster:
        yield cluster


def test_a_worker_that_hangs_is_not_waited_for(
    frail: LocalCluster, fast: Model, here: Design, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "LATE_S", 2.0)
    monkeypatch.setattr(remote, "LATE_TIMES", 0.0)
    stopped: list[int] = []

    def stop_one(now: exmachina.Progress) -> None:
        if now.step < ROUNDS and not stopped:
            stopped.append(workers_of(frail)[0])
            os.kill(stopped[0], signal.SIGSTOP)

    with Client(frail, set_as_default=False) as client:
        away = exmachina.design(fast, rounds=ROUNDS, cluster=client, on_progress=stop_one)
    os.kill(stopped[0], signal.SIGKILL)
    assert away.table.dna == here.table.dna


def test_a_worker_of_another_version_is_refused_by_name(frail: LocalCluster, fast: Model) -> None:
    with Client(frail, set_as_default=False) as client:
        other = next(iter(client.nthreads()))
        client.run(
            exec, "import exmachina.engines.worker as it; it.program = lambda: 'exmachina 0.0.1'", workers=[other]
        )
        with pytest.raises(
            ClusterError, match=rf"^worker {other} on .* is refused: it has exmachina 0\.0\.1, this is "
        ):
            exmachina.design(fast, rounds=1, cluster=client)


def test_a_worker_without_the_program_is_refused_by_name(frail: LocalCluster, fast: Model) -> None:
    with Client(frail, set_as_default=False) as client:
        other = next(iter(client.nthreads()))
        client.run(exec, "import sys; sys.modules['exmachina.engines.worker'] = None", workers=[other])
        with pytest.raises(ClusterError, match=rf"^worker {other} is refused: it has none \(.*exmachina"):
            exmachina.design(fast, rounds=1, cluster=client)


def test_a_unit_that_kills_workers_is_given_up(frail: LocalCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "MOST_LOSSES", 1)
    with Client(frail, set_as_default=False) as client, opened(EngineOptions(cluster=client)) as engine:
        client.run_on_scheduler(lambda dask_scheduler: setattr(dask_scheduler, "allowed_failures", 0))
        with pytest.raises(ClusterError, match=r"^cluster: one unit was lost 1 times, at last by: KilledWorker: "):
            list(engine.map(print, Deadly(), [1]))


class Deadly:
    """Who unpickles it dies."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os._exit, (1,)


def test_a_killed_client_goes_on_where_it_was(cluster: LocalCluster, here: Design, tmp_path: Path) -> None:
    file, output, checkpoint = tmp_path / "fast.toml", tmp_path / "a.dna", tmp_path / "a.dna.checkpoint"
    file.write_text(FAST)
    arguments = command("design", file, "--output", output, "--rounds", str(ROUNDS), "--cluster")
    arguments += [cluster.scheduler_address, "--worker-log", str(tmp_path / "log"), "--quiet"]
    process = subprocess.Popen(arguments)
    while not checkpoint.exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.kill()
    assert process.wait() != 0
    assert not output.exists()
    done = subprocess.run([*arguments, "--resume"], capture_output=True, check=True, text=True)
    assert output.read_bytes() == here.table.dna, done.stderr
    units = [line for line in (tmp_path / "log").read_text().splitlines() if " unit " in line]
    assert {line.split()[2].partition(":")[0] for line in units} == {socket.gethostname()}


def test_a_full_disk_stops_a_design_which_goes_on_later(
    engine: exmachina.Engine, fast: Model, here: Design, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[Path] = []

    def fill(path: Path, data: bytes, *, durable: bool = True) -> None:
        if len(written) == 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        written.append(path)
        write_atomically(path, data, durable=durable)

    monkeypatch.setattr(search, "write_atomically", fill)
    with pytest.raises(OSError, match="No space left on device"):
        exmachina.design(fast, tmp_path / "a.dna", rounds=ROUNDS, cluster=engine)
    monkeypatch.undo()
    away = exmachina.design(fast, tmp_path / "a.dna", rounds=ROUNDS, cluster=engine, resume=True)
    assert away.table.dna == here.table.dna


def test_processes_of_this_machine_compute_and_say_where(tmp_path: Path, here: Design) -> None:
    (tmp_path / "fast.toml").write_text(FAST)
    arguments = command("design", tmp_path / "fast.toml", "--output", tmp_path / "a.dna", "--rounds", str(ROUNDS))
    done = subprocess.run([*arguments, "--workers", "2"], capture_output=True, check=True, text=True)
    assert re.match(r"^tcp://127.0.0.1:\d+: 2 workers; dashboard at http://127.0.0.1:\d+/status\n", done.stderr)
    assert (tmp_path / "a.dna").read_bytes() == here.table.dna


def test_ctrl_c_in_a_terminal_reaches_workers_too_and_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "fast.toml").write_text(FAST)
    arguments = command("design", tmp_path / "fast.toml", "--output", tmp_path / "a.dna", "--workers", "2")
    process = subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True, start_new_session=True)
    while not (tmp_path / "a.dna.checkpoint").exists():
        assert process.poll() is None
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    _, messages = process.communicate(timeout=120)
    assert process.returncode == 130
    assert messages.splitlines()[1:] == [
        f"exmachina: Stopped; the table so far is in {tmp_path}/a.dna. To go on: the same command with --resume."
    ]


def test_what_is_no_cluster_is_refused(fast: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "CONNECT_S", 0.5)
    with pytest.raises(ClusterError, match=r"^cluster: no scheduler answers at tcp://127.0.0.1:1$"):
        exmachina.design(fast, rounds=1, cluster="tcp://127.0.0.1:1")
    with pytest.raises(OptionError, match=r"^cluster: expected the address of a Dask scheduler, .* got head:8786$"):
        exmachina.design(fast, rounds=1, cluster="head:8786")
    with pytest.raises(OptionError, match=r"^workers: expected from 1 to 1024, got 0$"):
        exmachina.design(fast, rounds=1, workers=0)
    with pytest.raises(OptionError, match=r"^workers: expected no cluster beside; its workers are its own$"):
        exmachina.design(fast, rounds=1, workers=2, cluster="tcp://127.0.0.1:1")
    with pytest.raises(FileError, match=r"/none/log: cannot write it: no such file or directory$"):
        exmachina.design(fast, rounds=1, workers=1, worker_log=tmp_path / "none" / "log")


# A cluster that Dask refuses to make half-way is not closed by it.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_jobs_of_slurm_are_as_a_file_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`sbatch` is a stand-in that keeps what it is given."""
    (tmp_path / "sbatch").write_text(f'#!/bin/sh\ncat "$1" >> {tmp_path}/jobs\necho "Submitted batch job 7"\n')
    (tmp_path / "scancel").write_text("#!/bin/sh\n")
    for name in ("sbatch", "scancel"):
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    file = tmp_path / "slurm.yaml"

    def refused(text: str) -> str:
        file.write_text(text)
        with pytest.raises(FileError) as error:
            exmachina.evaluate("r4", ["cubic"], cluster=str(file))
        return str(error.value).removeprefix(f"{file}: ")

    assert refused("a: [").startswith("expected YAML: ")
    assert refused("[1]") == "expected fields of dask-jobqueue's SLURMCluster, and jobs"
    assert refused("cores: 32\nmemory: 8GB\n") == "jobs: expected a whole number from 1, got None"
    assert "colour" in refused("jobs: 2\ncores: 32\nmemory: 8GB\ncolour: red\n")
    gc.collect()
    file.write_text("jobs: 2\ncores: 32\nmemory: 8GB\nqueue: batch\nwalltime: '01:00:00'\n")
    ctrl_c = signal.getsignal(signal.SIGINT)
    cluster, jobs, cores = opening._slurm(file)
    assert signal.getsignal(signal.SIGINT) is ctrl_c is signal.default_int_handler
    assert (jobs, cores) == (2, 32)
    try:
        script = cluster.job_script()
    finally:
        cluster.close()
    assert "#SBATCH --cpus-per-task=32" in script
    assert "--nthreads 1 " in script


def test_without_dask_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, fast: Model) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(
        ClusterError, match=r"^cluster: expected Dask to be installed: pip install 'exmachina\[cluster\]'$"
    ):
        exmachina.design(fast, rounds=1, workers=2)
