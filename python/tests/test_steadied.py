"""`validation/steadied.py`: candidates differ in little, are usable, and are the same each time."""

import argparse
import json
import math
import random
from pathlib import Path

import pytest
from conftest import script

from exmachina import Action, Table

# In the order in which they import each other.
for name in ("digests", "internet_summary", "internet_networks", "internet_runs", "internet_slices", "internet_page"):
    script(name)
for name in ("reality_page", "time_to_score", "readme_internet", "readme", "algorithms_page", "algorithms"):
    script(name)
for name in ("sturdy_measured", "sturdy_scores", "tuned"):
    script(name)
STEADIED = script("steadied")


def test_candidates_of_a_law_differ_in_a_few_numbers_and_are_the_same_each_time() -> None:
    begun = Table.load("general-1-robust")
    was = dict(begun.law or {})
    drawn = [STEADIED.Law(begun).elsewhere(0.1, random.Random(seed)).table.law for seed in range(40)]
    moved = [sum(law[name] != was[name] for name in law) for law in drawn]
    assert 1 <= sum(moved) / len(moved) <= 8
    assert max(moved) < len(was) / 2
    assert drawn == [STEADIED.Law(begun).elsewhere(0.1, random.Random(seed)).table.law for seed in range(40)]


@pytest.mark.parametrize("name", ["known-1x", "general-1"])
def test_candidates_of_a_table_keep_boxes_and_stay_away_from_splits(name: str) -> None:
    begun = Table.load(name)
    shares = [float(rule + 1) for rule in range(len(begun))]
    others = [STEADIED.Rules(begun, shares).elsewhere(0.1, random.Random(seed)).table for seed in range(40)]
    assert any(other.actions != begun.actions for other in others)
    for other in others:
        assert [rule.lower for rule in other.rules] == [rule.lower for rule in begun.rules]
        assert other.actions == begun.actions or STEADIED.nearest(other) > 0.005


def test_what_a_rule_does_changes_within_what_is_possible() -> None:
    assert STEADIED.changed(Action(0.9, 1, 2.0), 0.3, -2, 0.0) == Action(1.0, 0, 2.0), "one packet stays one"
    assert STEADIED.changed(Action(0.999, 1, 2.0), 0.0, -1, 0.0) == Action(0.999, 1, 2.0)
    assert STEADIED.changed(Action(0.5, 4, 2.0), 0.0, -2, 0.0) == Action(0.5, 2, 2.0)
    assert STEADIED.changed(Action(0.1, 1, 2.0), -0.3, 0, 100.0) == Action(0.0, 1, 1000.0)
    assert STEADIED.changed(Action(1.5, 1, 2.0), 0.3, 0, 0.0) == Action(1.5, 1, 2.0), "what grows goes on growing"


def test_a_pace_at_a_split_is_found() -> None:
    begun = Table.load("known-1x")
    split = next(float(at) for at in begun.frame["ack_ewma_to"] if 0 < at < 1000)
    actions = [Action(one.multiple, one.increment_packets, split * 1.001) for one in begun.actions]
    assert STEADIED.nearest(begun.with_actions(actions, "near")) == pytest.approx(0.001, rel=0.01)


def test_the_same_command_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, steps = Table.load("general-1-robust"), []

    def step(_given: object, tables: list[Table], number: int) -> tuple[int, str]:
        assert len(tables) == 4
        steps.append(number)
        return number % 3, "told"

    monkeypatch.setattr(STEADIED, "step", step)
    few = {
        "candidates": 3,
        "networks": 2,
        "seconds": 60.0,
        "disturbed": 2,
        "states": 1,
        "long_jitter": 0.0,
        "rivals": [],
        "beside": 0,
        "size": 0.1,
        "lost": 0.0,
    }
    given = argparse.Namespace(
        name="general-1", start=None, gives=math.inf, each=math.inf, seed=3, threads=1, steps=6, **few
    )
    STEADIED.climb(given, begun, tmp_path / "whole.dna")
    STEADIED.climb(argparse.Namespace(**{**vars(given), "steps": 4}), begun, tmp_path / "parts.dna")
    STEADIED.climb(given, begun, tmp_path / "parts.dna")
    assert steps == [0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5], "no step twice"
    made = [json.loads((tmp_path / f"{name}.steadied.json").read_text()) for name in ("whole", "parts")]
    assert made[0]["taken"] == made[1]["taken"] == [0, 1, 2, 0, 1, 2]
    assert made[1]["steps"] == 6
    assert (tmp_path / "whole.dna").read_bytes() == (tmp_path / "parts.dna").read_bytes() != begun.dna
    other = STEADIED.facts_of(argparse.Namespace(**{**vars(given), "seed": 4}), begun)
    assert STEADIED.kept(tmp_path / "parts.dna", other) == ([], 0.0), "another climb"
