"""Computing elsewhere: the same bytes on workers as here, whatever becomes of workers, and what is refused."""

import os
import random
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import SHORT_SCENARIO, Forty, network
from distributed import Client, LocalCluster

import exmachina
from exmachina import Design, Model
from exmachina.engines import EngineOptions, opened

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
    with Client(cluster, set_as_default=False) as client, opened(EngineOptions(cluster=client, threads=1)) as engine:
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
    """Kills a random worker now and then, while the context is open."""

    def __init__(self, cluster: LocalCluster, every_s: float) -> None:
        self.cluster, self.every_s, self.kills = cluster, every_s, 0
        self.ending, self.chance = threading.Event(), random.Random(2013)
        self.thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        while not self.ending.wait(self.every_s):
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
    with Killer(cluster, every_s=1.5) as killer:
        while killer.kills < 4:
            assert exmachina.design(fast, rounds=ROUNDS, cluster=engine).table.dna == here.table.dna
            flows = exmachina.evaluate(SHORT_SCENARIO, runs=200, cluster=engine).flows
    assert flows.equals(exmachina.evaluate(SHORT_SCENARIO, runs=200).flows)
