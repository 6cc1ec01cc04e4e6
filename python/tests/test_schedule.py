"""`validation/schedule.py`: what list scheduling comes to, and that docs/parallel.md says what was measured."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from conftest import script

DOCS = Path(__file__).parents[2] / "docs"

# In the order in which they import each other.
script("of_rules")
SIMULATED, VARIANTS, PAGE, SCRIPT = (script(f"schedule{name}") for name in ("_simulated", "_variants", "_page", ""))


def stage(*pieces: float, **others: Any) -> Any:
    return SIMULATED.Stage(np.array(pieces), **others)


def step(*stages: Any, gains: bool = False) -> Any:
    return SIMULATED.Step(stages, gains)


def on(cores: int, *lines: list[Any], overhead: Any = SIMULATED.NONE) -> Any:
    return SIMULATED.Schedule(lines, cores, overhead).run()


@pytest.fixture(scope="module")
def kinds() -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = SCRIPT.kinds_of(pl.read_parquet(SCRIPT.TASKS), pl.read_csv(SCRIPT.STEPS))
    return found


@pytest.mark.parametrize(("cores", "seconds"), [(1, 10), (2, 5), (4, 3), (10, 1), (100, 1)])
def test_pieces_go_to_whichever_core_is_free_first(cores: int, seconds: float) -> None:
    found = on(cores, [step(stage(*[1.0] * 10))])
    assert (found.seconds, found.useful_s) == (seconds, 10)
    assert found.efficiency == pytest.approx(10 / seconds / cores)


def test_a_stage_waits_for_the_longest_piece_of_the_one_before_it() -> None:
    assert on(3, [step(stage(1, 5), stage(2, 2)), step(stage(3))]).seconds == 10
    assert on(2, [step(stage(1, 1, 4))]).seconds == 5
    assert on(2, VARIANTS.aside([step(stage(1, 1, 4))])).seconds == 4


def test_nothing_waits_for_a_measurement_that_is_made_aside() -> None:
    steps = [step(stage(2, 1), stage(4, is_measurement=True)), step(stage(2, 2))]
    assert on(2, steps).seconds == 8
    assert on(3, VARIANTS.aside(steps)).seconds == 4


def test_one_line_works_while_another_waits() -> None:
    line = [step(stage(1), stage(1, 1)), step(stage(1), stage(1, 1))]
    assert on(2, line).efficiency == 0.75
    assert on(2, line, line, line).efficiency > 0.9


def test_work_is_sent_to_other_machines_alone() -> None:
    sending = SIMULATED.Overhead(trip_s=0.5, message_s=0.25)
    assert on(16, [step(stage(1, 1))], overhead=sending).seconds == 1
    assert on(17, [step(stage(1, 1))], overhead=sending).seconds == 1.75
    assert on(64, [step(stage(*[1.0] * 64))], overhead=sending).seconds == 2.5


def test_larger_generations_are_the_same_work() -> None:
    steps = [step(stage(0.5), stage(1, 2), stage(3, is_measurement=True)), step(stage(0.25), stage(4))]
    (whole,) = VARIANTS.larger(2)(steps)
    assert [one.pieces.tolist() for one in whole.stages] == [[0.75], [4, 2, 1], [3]]
    assert [one.aside for one in whole.stages] == [False, False, True]


def test_races_after_one_that_gains_were_begun_for_nothing() -> None:
    race = step(stage(1), stage(2, 2))
    steps = [race, replace(race, gains=True), race, race]
    first, second = VARIANTS.speculating(3)(steps)
    assert [one.pieces.tolist() for one in first.stages] == [[1, 1], [2, 2, 2, 2]]
    assert [one.pieces.tolist() for one in second.stages] == [[1, 1], [2, 2, 2, 2]]
    assert (first.stages[0].wasted.tolist(), second.stages[0].wasted) == ([1, 2, 2], None)
    found = on(100, [first])
    assert (found.seconds, found.useful_s) == (3, 10)


def test_what_is_in_no_batch_comes_first_and_measurements_last(kinds: dict[str, list[Any]]) -> None:
    assert sum(map(len, kinds.values())) == len(pl.read_csv(SCRIPT.STEPS))
    assert [len(one.pieces) for one in kinds["generations"][1].stages[:3]] == [1, 32, 256]
    for one in (one for steps in kinds.values() for one in steps):
        assert [stage.is_measurement for stage in one.stages[:-1]] == [False] * (len(one.stages) - 1)


@pytest.mark.slow
def test_the_results_are_those_of_the_measured_work(kinds: dict[str, list[Any]]) -> None:
    results = pl.read_csv(SCRIPT.RESULTS)
    for kind, steps in kinds.items():
        found = VARIANTS.VARIANTS[kind][1].on(256, steps)
        known = results.filter(steps=kind, variant=VARIANTS.AS_IT_IS, cores=256)["efficiency"]
        assert known.to_list() == [pytest.approx(found.efficiency, rel=1e-3)]


def test_the_page_is_what_was_measured(kinds: dict[str, list[Any]]) -> None:
    page = PAGE.page(pl.read_csv(SCRIPT.RESULTS), kinds)
    assert (DOCS / "parallel.md").read_text(encoding="utf-8") == page, "python validation/schedule.py writes it"


def test_the_curves_of_many_designs_are_halved_as_the_page_says() -> None:
    curves = script("population_curves")
    assert curves.rungs(30, 8) == [(8, 0.9375), (4, 2.8125), (2, 6.5625), (1, 14.0625)]
    times = np.array([0.1, 5.0, 14.0])
    climbs = {seed: (times, np.array([early, late, late])) for seed, (early, late) in enumerate(
        [(-1.0, -0.1)] * 4 + [(-0.9, -0.5), (-0.9, -0.4), (-0.8, -0.6), (-0.8, -0.6)]
    )}  # fmt: skip
    assert curves.halved(climbs, range(8)) == -0.6, "those that begin slowly are gone when they would be ahead"
    assert curves.table() in (DOCS / "search.md").read_text(encoding="utf-8"), "validation/population.py writes it"
