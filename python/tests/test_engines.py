"""Engines without a cluster: units in order, cut as an engine likes, and one engine for all that a command does."""

import threading
from typing import Any

import pytest
from conftest import SHORT_SCENARIO
from others import Others

import exmachina
from exmachina import OptionError, _core
from exmachina.engines import EngineOptions, Here, InThisThread, Part, Parts, opened


def cut(engine: Others, series: list[tuple[int, int]]) -> list[Part]:
    parts, found = Parts(engine, series), []
    for computed in engine.map(lambda *_: None, None, parts):
        found.append(computed.unit)
        parts.learn(computed)
    return found


@pytest.mark.parametrize("seconds_of_a_run", [1e-4, 0.1, 100.0])
def test_parts_are_all_runs_in_order_however_long_they_take(seconds_of_a_run: float) -> None:
    series = [(0, 57), (3, 3), (20, 1000)]
    found = cut(Others(seconds_of_a_run), series)
    for number, (first, last) in enumerate(series):
        own = [part for part in found if part.series == number]
        assert [run for part in own for run in range(part.first, part.last)] == list(range(first, last))
    assert found == sorted(found, key=lambda part: (part.series, part.first))


def test_parts_grow_until_they_take_a_moment_and_leave_work_for_everybody() -> None:
    sizes = [part.last - part.first for part in cut(Others(0.1), [(0, 1000)])]
    assert sizes[0] == Others.threads
    assert 8 <= max(sizes) <= 20, "1 s is half of what a unit should take"
    sizes = [part.last - part.first for part in cut(Others(1e-6), [(0, 1000)])]
    assert max(sizes) <= 1000 / (2 * Others.places) + 1
    assert [part.last - part.first for part in cut(Others(100.0), [(0, 8)])] == [2, 2, 2, 2]


@pytest.mark.slow
def test_what_is_simulated_does_not_depend_on_the_engine() -> None:
    others = Others()
    flows = [exmachina.evaluate(SHORT_SCENARIO, runs=20, cluster=where).flows for where in (None, others)]
    assert flows[0].equals(flows[1])
    scores = [
        exmachina.score("known-1x", "known-1x", specimens=9, seconds_each=1, aimd=True, cluster=where).frame
        for where in (None, others)
    ]
    assert scores[0].equals(scores[1])
    assert {part.series for part in others.units} == {0, 1, 2}
    passports = [
        exmachina.probe("known-1x", axes=["acks"], rivals=[], runs=2, cluster=where) for where in (None, others)
    ]
    assert passports[0].frame.equals(passports[1].frame)
    disturbed = [exmachina.disturb("known-1x", specimens=9, states=2, cluster=where).frame for where in (None, others)]
    assert disturbed[0].equals(disturbed[1])
    assert not others.closed, "it was open already"


def test_a_set_stop_ends_a_map_early() -> None:
    for engine in (InThisThread(), Here(_core.Workers(1))):
        stopping = threading.Event()
        seen = []
        for computed in engine.map(lambda *given: given[1], None, range(9), stopping):
            seen.append(computed.result)
            if computed.result == 3:
                stopping.set()
        assert seen == [0, 1, 2, 3]


def test_an_engine_that_is_given_stays_open() -> None:
    others = Others()
    with opened(EngineOptions(cluster=others, workers=2)) as engine:
        assert engine is others
    assert not others.closed
    with opened(EngineOptions(threads=3)) as engine:
        assert (engine.threads, engine.places, engine.workers, engine.words) == (3, 1, 0, "")


@pytest.mark.parametrize(
    "options",
    [
        *(exmachina.DesignOptions, exmachina.EvaluationOptions, exmachina.ScoreOptions, exmachina.ProbeOptions),
        *(exmachina.WorstOptions, exmachina.SweepOptions, exmachina.ReproduceOptions),
    ],
)
def test_all_options_say_who_computes_in_one_way(options: Any) -> None:
    assert isinstance(options(threads=2), EngineOptions)
    with pytest.raises(OptionError, match=r"^workers: expected from 1 to 1024, got 0$"):
        options(workers=0)
    with pytest.raises(OptionError, match=r"^workers: expected no cluster beside; its workers are its own$"):
        options(workers=2, cluster="tcp://127.0.0.1:1")
