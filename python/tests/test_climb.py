"""The climb of a table: candidates differ in one thing and are usable, and what holds thrice stays, together."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from conftest import reference

from exmachina import Action, EngineOptions, Model, SteadyOptions, Table, TableError, _core, opened
from exmachina.stats import Floats
from exmachina.steadying.candidates import Change, Clearance, changed, changes
from exmachina.steadying.climb import Climb
from exmachina.steadying.trial import Trial

STARTS = Path(__file__).parents[2] / "docs" / "results" / "starts"
BEGUN = Table.load(STARTS / "known-1x-unsteady.dna")
CLEAR = Clearance.of(BEGUN, Model.of("known-1x"))


@pytest.mark.parametrize("name", ["known-1x-unsteady", "general-1-unsteady"])
def test_candidates_of_a_table_keep_boxes_and_stay_away_from_splits(name: str) -> None:
    begun = Table.load(STARTS / f"{name}.dna")
    likely = [float(rule + 1) for rule in range(len(begun))]
    clearance = Clearance.of(begun, Model.of(name.removesuffix("-unsteady")))
    drawn = changes(begun, clearance, likely, size=0.1, count=60, stream=random.Random(1))
    assert len(drawn) == 60
    assert {len(change.rules) for change in drawn} > {0, 1}
    for change in drawn:
        other = change.of(begun, clearance)
        assert other is not None
        assert other.nearest_edge(clearance.model) >= clearance.least > 0.001
        moved = sum(one != edge for one, edge in zip(other.edges, begun.edges, strict=True))
        acts = [rule for rule, action in enumerate(other.actions) if action != begun.actions[rule]]
        assert (moved, set(acts) <= set(change.rules)) == (change.edge is not None, True)
        assert moved or acts


def test_an_edge_moves_between_those_beside_it() -> None:
    signal, at = next((signal, at) for signal, at in BEGUN.edges if signal == "rtt_ratio")
    moved = BEGUN.with_edge(signal, at, 1.001, "moved")
    assert dict.fromkeys(moved.edges) == dict.fromkeys(
        (name, 1 + (at - 1) * 1.001 if place == at and name == signal else place) for name, place in BEGUN.edges
    )
    assert moved.actions == BEGUN.actions
    for given, words in (
        (("rtt_ratio", at + 1e-9, 1.1), "rtt_ratio: expected where the table is split, got"),
        (("rtt_ratio", at, 1e9), r"rtt_ratio: expected a place between .* and .*, got"),
        (("rtt_ratio", at, float("nan")), "got NaN"),
        (("silence", at, 1.1), "signal: expected one of send_ewma, ack_ewma, rtt_ratio, slow_ack_ewma, got silence"),
    ):
        with pytest.raises(TableError, match=words):
            BEGUN.with_edge(*given, "no")
    published = Table.load(reference("remycc/RemyCC-2013-delta0.1.dna"))
    last = max(at for signal, at in published.edges if signal == "ack_ewma")
    with pytest.raises(TableError, match=r"ack_ewma: expected a place between .* and 16384, got 20000"):
        published.with_edge("ack_ewma", last, 20_000 / last, "beyond the domain")
    with pytest.raises(TableError, match="expected where"):
        Table.load("general-1").with_edge("rtt_ratio", 1.1, 1.1, "a law has none")


def test_what_a_rule_does_changes_within_what_is_possible() -> None:
    assert changed(Action(0.9, 1, 2.0), 0.3, -2, 0.0) == Action(1.0, 0, 2.0), "one packet stays one"
    assert changed(Action(0.999, 1, 2.0), 0.0, -1, 0.0) == Action(0.999, 1, 2.0)
    assert changed(Action(0.5, 4, 2.0), 0.0, -2, 0.0) == Action(0.5, 2, 2.0)
    assert changed(Action(0.1, 1, 2.0), -0.3, 0, 100.0) == Action(0.0, 1, 1000.0)
    assert changed(Action(1.5, 1, 2.0), 0.3, 0, 0.0) == Action(1.5, 1, 2.0), "what grows goes on growing"


def test_no_candidate_brings_a_split_to_what_it_settles_at() -> None:
    model = Model.of("known-1x")
    split = next(float(at) for at in BEGUN.frame["ack_ewma_to"] if 0 < at < 1000)
    pace = BEGUN.with_actions([Action(a.multiple, a.increment_packets, split * 1.001) for a in BEGUN.actions], "near")
    assert pace.nearest_edge(model) == pytest.approx(0.001, rel=0.01)
    packet_ms = 10 / 15
    signal, at = next((signal, at) for signal, at in BEGUN.edges if signal == "ack_ewma")
    link = Change(edge=(signal, at, 1.002 * packet_ms / at))
    assert link.of(BEGUN, CLEAR) is None
    moved = link.of(BEGUN, Clearance(model, 0.0))
    assert moved is not None
    assert moved.nearest_edge(model) < 0.0021
    # Who is nearer already may stay so.
    assert (CLEAR.least, Clearance.of(pace, model).least) == (_core.NEAREST_EDGE, pace.nearest_edge(model))


def climb(monkeypatch: pytest.MonkeyPatch, ahead: dict[str, Sequence[float]]) -> tuple[Climb, dict[str, Any]]:
    """Its first step, where the worth of candidates is as given for each trying."""
    tried: list[tuple[str, int]] = []

    def worth(_: Trial, tables: Sequence[Table], number: int, trying: str) -> tuple[Floats, pl.DataFrame]:
        tried.append((trying, len(tables)))
        return np.array([0.5, *(0.5 + np.array(ahead[trying]))]), pl.DataFrame({"back": [1.0]})

    monkeypatch.setattr(Trial, "worth", worth)
    with opened(EngineOptions(threads=1)) as engine:
        options = SteadyOptions(candidates=48, size=0.1, lost=0)
        climb = Climb(Trial((Model.of("known-1x"),), BEGUN, options, engine))
        line = climb.step(0, None)
    assert tried == [(trying, len(of) + 1) for trying, of in ahead.items()]
    return climb, line


FIRST = [0.0, 3.0, -1.0, 1.0, 0.0, 2.0, 0.5, -np.inf, *[0.0] * 40]


def test_as_many_stay_as_are_the_most_ahead_together(monkeypatch: pytest.MonkeyPatch) -> None:
    again = [0.2, -0.1, 0.4]
    one, line = climb(monkeypatch, {"step": FIRST, "again": again, "together": [0.3, 0.1]})
    assert (line["taken"], line["order"]) == (1, [3]), "of the best sixteenth: 1, 5 and 3, of which 3 and 1 held"
    two, both = climb(monkeypatch, {"step": FIRST, "again": again, "together": [0.3, 0.6]})
    assert (both["order"], both["gain"]) == ([3, 1], 3.0)
    assert both["gain_again"] == pytest.approx(0.6)
    assert len({BEGUN.dna, one.table.dna, two.table.dna}) == 3
    none, nothing = climb(monkeypatch, {"step": FIRST, "again": again, "together": [-0.3, 0.0]})
    assert (nothing["taken"], nothing["order"], none.table.dna) == (0, [], BEGUN.dna)


def test_what_does_not_hold_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    stays, line = climb(monkeypatch, {"step": FIRST, "again": [-0.2, 0.0, -0.4]})
    assert (line["taken"], line["gain_again"], stays.table.dna) == (0, 0.0, BEGUN.dna)
    single, line = climb(monkeypatch, {"step": FIRST, "again": [-0.2, 0.1, -0.4]})
    assert (line["taken"], line["order"]) == (1, [5])
    assert single.table.dna != BEGUN.dna
    _, line = climb(monkeypatch, {"step": [-0.1] * 48})
    assert (line["taken"], line["gain_again"]) == (0, None)


def test_what_was_taken_is_undone_where_that_is_worth_more(monkeypatch: pytest.MonkeyPatch) -> None:
    one, line = climb(monkeypatch, {"step": FIRST, "again": [0.2, -0.1, 0.4], "together": [0.3, 0.6]})
    first, _ = one.taken
    both, shown = one.table, list[Sequence[Table]]()

    def worth(_: Trial, tables: Sequence[Table], number: int, trying: str) -> tuple[Floats, pl.DataFrame]:
        shown.append(tables)
        ahead = [float(table.dna == first.of(BEGUN, CLEAR).dna) for table in tables[1:]]  # type: ignore[union-attr]
        return np.array([0.0, *ahead]), pl.DataFrame({"back": [1.0]})

    monkeypatch.setattr(Trial, "worth", worth)
    undone = one.step(4, None)
    assert [len(tables) for tables in shown] == [3, 2], "without either; and again without the second"
    assert (undone["taken"], one.taken, one.table.dna) == (1, [first], first.of(BEGUN, CLEAR).dna)  # type: ignore[union-attr]
    assert one.table.dna != both.dna
    again = Climb(one.trial)
    assert again.step(0, line)["order"] == line["order"]
    assert again.table.dna == both.dna
    assert (again.step(4, undone), again.taken, again.table.dna) == (undone, [first], one.table.dna)
