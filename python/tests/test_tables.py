"""Models and tables from Python."""

import json
from pathlib import Path
from typing import Any, cast

import polars as pl
import pytest
from conftest import published
from laws import drawn, numbers

from exmachina import (
    SIGNALS,
    Action,
    Evaluation,
    Flow,
    InputError,
    Law,
    Model,
    Table,
    TableError,
    evaluate,
    shipped_models,
)


def test_shipped_models() -> None:
    names = [m.name for m in shipped_models()]
    assert {"demo", "general-1", "known-1x", "tao-10x"} <= set(names)
    general = [name for name in names if name.startswith("general-")]
    robust = [f"{name}-robust" for name in ("general-0.1", "general-1", "general-10")]
    assert sorted(general) == sorted(["general-0.1", "general-1", "general-10", *robust])
    in_order = [name for name in general if name not in robust]
    assert in_order == ["general-0.1", "general-1", "general-10"], "numbers in names are sorted by value"
    assert all(m.description for m in shipped_models())
    known = Model.load("known-1x")
    assert (known.grid_points, known.duration_s) == (2, 100.0)
    assert list(known.objective.as_dict().values()) == [1.0, 1.0, 1.0, "share", 0.0, "all"]
    assert known.objective == Model.load("tao-2x").objective != Model.load("datacenter").objective
    assert Model.load("general-1").grid_points is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "[link]\nrate_mbps = 0\n",
            "m.toml:2: link.rate_mbps: expected a rate from 0.001 Mbit/s (a packet takes 10 s) to ",
        ),
        ("[link]\nrate_mbps = { uniform = [2, 2] }\n", "m.toml:2: link.rate_mbps: empty range: write the one value, 2"),
        ("[link\n", "m.toml:1: "),
    ],
)
def test_a_wrong_model_says_where_and_what(text: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        Model(text, "m.toml")
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


def test_models_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^nope: there is no such model; expected a .toml file or one of coexist, "):
        Model.load("nope")
    with pytest.raises(InputError, match=r"nope.toml: cannot read it: no such file or directory$"):
        Model.load(tmp_path / "nope.toml")
    (tmp_path / "latin.toml").write_bytes(b"description = '\xe9'")
    with pytest.raises(InputError, match=r"latin.toml: expected a TOML file in UTF-8$"):
        Model.load(tmp_path / "latin.toml")


def test_a_table_is_written_and_read(tmp_path: Path, designed: Table) -> None:
    designed.save(tmp_path / "again.dna")
    again = Table.load(tmp_path / "again.dna")
    assert (again.name, again.dna, again.rules) == ("again", designed.dna, designed.rules)
    assert list(tmp_path.iterdir()) == [tmp_path / "again.dna"]


def test_a_table_says_how_it_was_made(designed: Table, model: Model) -> None:
    made = designed.provenance
    assert made is not None
    assert (made.model, made.seed) == (model.text, model.seed)
    assert '"steps":' in made.search


def test_rules_as_a_frame(designed: Table) -> None:
    frame = designed.frame
    assert len(frame) == len(designed)
    assert frame.columns[:3] == ["rule", "send_ewma_from", "send_ewma_to"]
    assert frame.columns[-3:] == ["multiple", "increment_packets", "intersend_ms"]


def test_a_single_rule() -> None:
    table = Table.single(["rtt_ratio"], 0.5, 2, 1.5, "mine")
    assert (table.name, len(table), table.signals) == ("mine", 1, ["rtt_ratio"])
    [rule] = table.rules
    action = rule.action
    assert (action.multiple, action.increment_packets, action.intersend_ms) == (0.5, 2, 1.5)
    assert repr(action) == "Action(multiple=0.5, increment_packets=2, intersend_ms=1.5)"
    assert repr(rule).endswith(f"action={action!r})")
    with pytest.raises(InputError, match=f"^signals: expected some of {', '.join(SIGNALS)}, got rtt$"):
        Table.single(["rtt"], 0.5, 2, 1.5, "mine")
    with pytest.raises(InputError, match=r"rule 0: intersend is -1, expected 0 to 1e7 ms"):
        Table.single(["rtt_ratio"], 0.5, 2, -1, "mine")


def test_a_law_has_its_numbers_by_name(tmp_path: Path) -> None:
    made = drawn(0)
    made.save(tmp_path / "mine.dna")
    law = Table.load(tmp_path / "mine.dna").law
    assert law is not None and law == made.law
    assert list(law) == list(Law.__annotations__)
    assert Table.of_law({**law, "room": 0}, "less").law == {**law, "room": 0}
    assert Flow(made).window == (law["first_window"] + law["room"]) >> 16
    assert Table.load("known-1x").law is None


def test_a_law_changed_by_hand_is_for_what_it_was_for_and_says_so() -> None:
    begun = Table.load("internet-10")
    made = begun.provenance
    assert made is not None and begun.law is not None
    once = begun.with_law({**begun.law, "room": 65536}, "once")
    twice = once.with_law({**begun.law, "room": 65536, "first_window": 262144}, "twice")
    told = twice.provenance
    assert told is not None and (told.model, told.seed, told.score) == (made.model, made.seed, None)
    known = json.loads(made.search)
    tuned = {**known["tuned"], "by_hand": known["tuned"].get("by_hand", {}) | {"room": 65536, "first_window": 262144}}
    assert json.loads(told.search) == known | {"tuned": tuned}
    designed = Table.load("general-1-robust")
    assert designed.provenance is not None and designed.law is not None
    by_hand = designed.with_law({**designed.law, "room": 65536}, "mine").provenance
    assert by_hand is not None
    known = json.loads(designed.provenance.search)
    assert json.loads(by_hand.search) == known | {"by_hand": known.get("by_hand", {}) | {"room": 65536}}
    assert (once.law, once.name) == ({**begun.law, "room": 65536}, "once")
    with pytest.raises(TableError, match=r"^table: law: room is 4294967295, expected 0 to 64$"):
        begun.with_law({**begun.law, "room": 2**32 - 1}, "none")
    assert Table.of_law(begun.law, "bare").with_law(begun.law, "bare").provenance is None


def test_a_table_with_other_actions_says_which() -> None:
    begun = Table.load("known-1x")
    made = begun.provenance
    assert made is not None
    actions = begun.actions
    actions[1] = Action(0.5, 3, 2.5)
    other = begun.with_actions(actions, "other")
    told = other.provenance
    assert (other.name, other.actions) == ("other", actions)
    assert [(r.lower, r.upper) for r in other.rules] == [(r.lower, r.upper) for r in begun.rules]
    assert told is not None and (told.model, told.seed, told.score) == (made.model, made.seed, None)
    known = json.loads(made.search)
    by_hand = known.get("by_hand", {}) | {"rule 1": [0.5, 3, 2.5]}
    assert json.loads(told.search) == known | {"by_hand": by_hand}
    assert begun.with_actions(begun.actions, "same").rules == begun.rules
    with pytest.raises(TableError, match=rf"^actions: got 1, expected {len(begun)}$"):
        begun.with_actions(actions[:1], "none")
    with pytest.raises(TableError, match=r"^actions: got 1, expected a table: this is a law$"):
        Table.load("internet-1").with_actions(actions[:1], "none")
    with pytest.raises(TableError, match=r"^table: "):
        begun.with_actions([Action(-1, 0, 1), *actions[1:]], "none")


def test_a_share_of_the_rtt_by_the_root_of_the_window_makes_shares_of_a_link_alike() -> None:
    text = """
        runs = 8
        duration_s = 30
        [link]
        rate_mbps = 92
        buffer = { bdp = 3 }
        [path]
        rtt_ms = 113
        [senders]
        count = 2
        [workload]
        on = "forever"
    """
    law = Table.load("general-1-robust").law
    assert law is not None and law["target_of_root"] == law["target_of_fourth"] == 0
    changes = {"none": {}, "root": {"target_of_root": 65536}, "fourth": {"target_of_fourth": 16384}}
    others = [Table.of_law({**law, **change}, name) for name, change in changes.items()]  # type: ignore[typeddict-item]
    throughput = pl.col("throughput_mbps")
    flows = evaluate(Evaluation(text, "two.toml"), others).flows.group_by("contender", "run")
    shares = flows.agg(share=throughput.min() / throughput.max()).group_by("contender").agg(pl.col("share").mean())
    by_name = dict(shares.iter_rows())
    assert min(by_name["root"], by_name["fourth"]) > 1.5 * by_name["none"], by_name


def test_a_law_that_cannot_be_followed_is_refused_by_name() -> None:
    with pytest.raises(TableError, match=r"^table: law: pace is 0, expected above 0 and at most 16$"):
        Table.of_law({**numbers(0), "pace": [65536, 65536, 0, 65536, 65536]}, "none")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"room": None}, r"^law: room is missing$"),
        ({"rom": 1}, r"^law: there is no rom; expected target_of_rtt, "),
        ({"room": "a"}, r"^law: room is a, expected a whole number "),
        ({"room": -1}, r"^law: room is -1, expected a whole number "),
        ({"growth": [1, 2]}, r"^law: growth is \[1, 2\], expected a whole number .* or 5 for the levels"),
    ],
)
def test_a_law_of_other_numbers_is_refused_by_name(change: dict[str, Any], message: str) -> None:
    law = {name: value for name, value in {**numbers(0), **change}.items() if value is not None}
    with pytest.raises(TableError, match=message):
        Table.of_law(cast("Law", law), "none")


def test_what_is_no_table(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^x.dna: not a .dna file"):
        Table(b"hello", "x.dna")
    with pytest.raises(InputError, match=r": expected a file, this is a folder$"):
        Table.load(tmp_path)


def test_published_tables_say_what_they_are_for() -> None:
    table = Table.load(published("tao-100x"))
    assert len(table) == 91
    assert table.config is not None
    assert table.config.rtt_ms is not None
    assert (table.config.rtt_ms.low, table.config.rtt_ms.high) == (150, 150)


def test_its_size_in_words(one_rule: Table) -> None:
    assert (one_rule.size, Table.load("general-1").size) == ("1 rule", "a law")
    assert repr(one_rule) == f"Table({one_rule.name!r}, 1 rule)"
    assert Table.load("tao-2x").size.endswith(" rules")
