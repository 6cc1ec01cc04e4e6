"""Networks on which flows are lost: what is found of them, others like them, and steps that have them."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from test_steadying import BEGUN, FEW, SMALL, began_with, trial

from exmachina import EngineOptions, Model, Stopped, Table, disturb, opened, steady
from exmachina.seeds import named_seed
from exmachina.stats import Floats
from exmachina.steadying import climb, evolution
from exmachina.steadying.likeness import OF_ONE, like
from exmachina.steadying.lost import LOST_STATES, hunting, lost_on
from exmachina.steadying.trial import BELOW, LACKS, STAYS, Trial

OPTIONS = replace(FEW, hunted=12, disturbed=4)


def cost_of(states: pl.DataFrame) -> Floats:
    """What states cost, of a summary."""
    below, stays, lacks, back, uneven = states.select("below", "stays", "lacks", "back", "uneven").to_numpy().T
    cost: Floats = BELOW * (below + uneven) + STAYS * stays + LACKS * lacks + np.maximum(0.0, 0.997 - back)
    return cost


def test_the_worst_are_found_first() -> None:
    with opened(EngineOptions(threads=2)) as engine:
        lost = lost_on(trial(engine, hunted=100), BEGUN, 3)
    found = disturb(BEGUN, SMALL, specimens=100, states=LOST_STATES, seed=named_seed(1, "lost", 3)).frame
    of = [found.row(place, named=True) for place in lost.places]
    cost = [0.5 * (one["below"] + 3 * one["uneven"] + one["lacks"]) + 2 * one["stays"] + 3 - one["back"] for one in of]
    assert 0 < len(lost.places) < 100
    assert cost == sorted(cost, reverse=True)
    others = found.filter(~found["specimen"].is_in(lost.places))
    assert (others["back"] == LOST_STATES).all()
    assert others.select(pl.sum("below", "stays", "lacks")).row(0) == (0, 0, 0)


def test_others_are_like_those_that_were_found() -> None:
    rates = [np.log([2, 100, 100, rate, 1e9]) for rate in (4.5, 35.0)]
    numbers = like(SMALL, tuple(tuple(row) for row in rates), 20, 7, after=50)
    assert min(numbers) >= 50
    assert len(set(numbers)) == 20
    drawn = np.array(SMALL.held_out(7, 50 + OF_ONE * 20, False).part(numbers).numbers())
    assert drawn[:, :3].tolist() == [[2, 100, 100]] * 20
    assert np.isinf(drawn[:, 4]).all()
    assert np.abs(np.log(drawn[::2, 3] / 4.5)).max() < 0.03
    assert np.abs(np.log(drawn[1::2, 3] / 35.0)).max() < 0.03
    many = Model.of("tao-mux-100")
    five = ((np.log(5.0), *[np.log(150.0)] * 2, np.log(15.0), np.log(1e9)),)
    nearly = Model(many.text.replace("rate_mbps = 15", "rate_mbps = { uniform = [14.9999, 15.0001] }"), "nearly.toml")
    for model in (many, nearly):
        pool = model.held_out(7, OF_ONE * 8, False)
        assert {row[0] for row in pool.part(like(model, five, 8, 7, after=0)).numbers()} == {5}, "one of a hundred is"


def test_of_what_was_found_before_half_stays() -> None:
    with opened(EngineOptions(threads=2)) as engine:
        none, one = trial(engine), trial(engine, hunted=100)
        lost = lost_on(one, BEGUN, 3)
        assert hunting(none, lost) is none
        few, many = (replace(lost, places=lost.places[:k]) for k in (2, 6))
        first = hunting(one, many)
        assert len(first.hunted) == 6, "as many as are disturbed"
        then = hunting(replace(first, hunted=(*first.hunted[:5], (0.0,) * 5)), many)
        assert then.hunted == (*first.hunted[:3], *first.hunted[:5:2])
        at_last = hunting(first, few)
        assert at_last.hunted == (*first.hunted[:2], *(first.hunted[k] for k in (0, 1, 3, 4)))
        assert hunting(first, replace(lost, places=())).hunted == first.hunted
        states = [each.states([BEGUN], 6, 5)["networks"].item() for each in (one, first)]
        assert states == [6, 12]


def test_all_candidates_are_disturbed_there() -> None:
    tables = [BEGUN, began_with("tao-10x-unsteady")]
    rates = tuple(tuple(np.log([2, 100, 100, rate, 1e9]).tolist()) for rate in (4.1, 39.0))
    with opened(EngineOptions(threads=2)) as engine:
        plain = trial(engine, gives=None)
        one = replace(plain, hunted=rates)
        seeds = {trying: named_seed(1, trying, 0) for trying in ("step", "again")}
        costs = one._costs(tables, seeds["step"], np.full(2, np.inf))
        here, elsewhere = (each.states(tables, 6, seeds["step"]) for each in (one, plain))
        worth, first = one.worth(tables, 0, "again")
        scores = plain.reports(tables, 32, seeds["again"])[0].summary["score"].to_numpy()[:2]
        again = one.states(tables, 24, seeds["again"])
    assert costs == pytest.approx(cost_of(here))
    assert costs != pytest.approx(cost_of(elsewhere))
    assert (here["networks"].to_list(), first["networks"].item()) == ([12, 12], 48)
    lost = scores - cost_of(again)
    assert worth[0] == pytest.approx(lost[0])
    assert worth[1] < lost[1], "by a standard error of what states cost"


@pytest.mark.parametrize("module", [climb, evolution])
def test_steps_have_them_and_go_on_the_same(module: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LOOKED_UP", 2)
    begun = BEGUN if module is climb else Table.load("internet-10")
    options = OPTIONS if module is climb else replace(OPTIONS, candidates=4)
    looked: list[int] = []
    worth = Trial.worth if module is climb else Trial.worths

    def counted(self: Trial, *given: Any) -> Any:
        looked.append(len(self.hunted))
        return worth(self, *given)

    monkeypatch.setattr(Trial, worth.__name__, counted)
    whole = steady(begun, SMALL, options, output=tmp_path / "whole")
    assert min(looked) > 0

    def interrupt(now: Any) -> None:
        if now.done > 0.4:
            raise KeyboardInterrupt

    with pytest.raises(Stopped):
        steady(begun, SMALL, options, output=tmp_path / "parts", on_progress=interrupt)
    again = steady(begun, SMALL, options, output=tmp_path / "parts", threads=2)
    assert again.table.dna == whole.table.dna
    assert again.steps.equals(whole.steps)
    if module is evolution:
        made = whole.table.provenance
        assert made is not None
        assert json.loads(made.search)["steadied"]["hunted"] == 12
