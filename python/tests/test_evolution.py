"""Steadying of laws: a generation is worth what each of its laws is, and an evolution learns, repeats and goes on."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from conftest import SMALL as SMALL_TEXT
from polars.testing import assert_frame_equal

from exmachina import EngineOptions, InputError, Model, SteadyOptions, Table, _core, opened, steady
from exmachina.steadying.evolution import Evolution
from exmachina.steadying.trial import Trial

SMALL = Model(SMALL_TEXT, "small.toml")
LAW = SteadyOptions(
    steps=3, candidates=4, specimens=4, seconds_each=4, disturbed=3, states=2, gives=None, lost=0, checks=6, threads=1
)


def test_a_law_is_where_the_later_generations_were_and_learns_from_their_order() -> None:
    begun = Table.load("general-1-robust")

    def at(places: Sequence[float]) -> object:
        return Table(_core.law_at_places(begun, places, None), "there").law

    with opened(EngineOptions(threads=2)) as engine:
        way = Evolution(Trial((SMALL,), begun, LAW.settled(law=True), engine))
        assert way.table.law == at(_core.law_places(begun) or []), "as it was where nothing was learned"
        lines = [way.step(number, None) for number in range(4)]
        again = Evolution(way.trial)
        assert [again.step(line["step"] - 1, line) for line in lines] == lines, "what is known is learned, not tried"
        assert again.centres == way.centres
    assert [sorted(line["order"]) for line in lines] == [[0, 1, 2, 3]] * 4
    assert [line["taken"] - 1 for line in lines] == [line["order"][0] for line in lines]
    expected = at([float(place) for place in np.mean(way.centres[3:], axis=0)])
    assert way.table.law == expected != begun.law


def test_a_generation_is_worth_what_each_of_its_laws_is() -> None:
    laws = [Table.load(name) for name in ("general-1-robust", "general-10-robust")]
    with opened(EngineOptions(threads=2)) as engine:
        one = Trial((SMALL,), laws[0], LAW.settled(law=True), engine)
        together, states = one.worths(laws, 5)
        first, other = (one.worth([law], 5, "step") for law in laws)
    assert together.tolist() == [first[0][0], other[0][0]]
    assert_frame_equal(states.drop("scheme"), pl.concat([first[1], other[1]]).drop("scheme"))


def test_a_law_steadied_repeats_and_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, asked = Table.load("general-10-robust"), []
    short = steady(begun, SMALL, LAW, steps=2, output=tmp_path)
    assert short.table.dna != begun.dna
    worths = Trial.worths

    def counted(self: Trial, tables: Any, number: int) -> Any:
        asked.append(number)
        return worths(self, tables, number)

    monkeypatch.setattr(Trial, "worths", counted)
    on = steady(begun, SMALL, LAW, steps=3, output=tmp_path)
    assert asked == [2], "no generation twice"
    whole = steady(begun, SMALL, LAW, steps=3, threads=2)
    assert on.table.dna == whole.table.dna
    assert_frame_equal(on.steps, whole.steps)
    assert on.steps["order"].list.len().to_list() == [4] * 3
    assert on.steps.select("gain", "gain_again").null_count().row(0) == (3, 3), "nothing is tried again"
    assert whole.table.provenance is not None
    made = json.loads(whole.table.provenance.search)["steadied"]
    assert (made["search"], made["candidates"], made["size"]) == ("evolution", 4, 0.03)
    with pytest.raises(InputError, match="candidates: expected at least 4 of a law, got 3"):
        steady(begun, SMALL, LAW, candidates=3)
