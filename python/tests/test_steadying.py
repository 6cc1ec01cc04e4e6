"""Steadying of tables: candidates differ in little and are usable, steps repeat and go on, and the command."""

import json
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from conftest import Command
from polars.testing import assert_frame_equal

from exmachina import (
    Action,
    Engine,
    EngineOptions,
    InputError,
    Model,
    ScoreReport,
    Steadied,
    Steadying,
    SteadyOptions,
    Stopped,
    Table,
    design,
    disturb,
    draw,
    opened,
    score,
    steady,
    sweep,
)
from exmachina.files import read_parquet
from exmachina.seeds import named_seed
from exmachina.stats import Floats
from exmachina.steadying.lost import lost_on, shares
from exmachina.steadying.trial import BELOW, LACKS, STARVED, STAYS, TOO_MUCH, Trial, Trying

FEW = SteadyOptions(
    steps=3, candidates=3, specimens=8, seconds_each=10, disturbed=6, states=4, gives=None, lost=0, checks=6, threads=1
)
TEXT = """[link]
rate_mbps = { log_uniform = [4, 40] }
[path]
rtt_ms = 100
[senders]
count = 2
[workload]
on = { seconds = 2 }
off = { seconds = 1 }
[objective]
delta = 1
[design]
duration_s = 10
"""
SMALL = Model(TEXT, "small.toml")
STARTS = Path(__file__).parents[2] / "docs" / "results" / "starts"


def began_with(name: str) -> Table:
    """A table that an algorithm began with: those that come with the program may change."""
    return Table.load(STARTS / f"{name}.dna")


BEGUN = Table(began_with("known-1x-unsteady").dna, "known-1x")
"""Made for one rate, disturbed on others: there is much to find."""


def steadied(options: SteadyOptions = FEW, **more: Any) -> Steadied:
    return steady(BEGUN, SMALL, options, **more)


def trial(engine: Engine, **settings: Any) -> Trial:
    return Trial(
        (SMALL,), BEGUN, SteadyOptions(specimens=8, seconds_each=10, disturbed=6, states=4, **settings), engine
    )


def holding(table: Table) -> Table:
    """Windows stay as they are from the first ACK on."""
    return table.with_actions([Action(1.0, 0, one.intersend_ms) for one in table.actions], "holding")


GIVEN: list[dict[str, Any]] = [{"gives": 0}, {"gives": 1e9}, {"gives": None, "gives_each": 0}]


def test_worth_is_the_score_less_what_states_cost() -> None:
    seed = named_seed(1, "again", 0)
    with opened(EngineOptions(threads=2)) as engine:
        tables = [began_with("tao-10x-unsteady"), BEGUN]

        def worth_of(**settings: Any) -> tuple[Floats, pl.DataFrame]:
            return replace(trial(engine, **settings), begun=tables[0]).worth(tables, 0, "again")

        worth, first = worth_of(gives=None)
        strict, wide, in_each = (worth_of(**given)[0] for given in GIVEN)
        scores = trial(engine).reports(tables, 32, seed)[0].summary["score"].to_numpy()[:2]
        states = trial(engine).states(tables, 24, seed)
        each = disturb(tables, SMALL, specimens=24, states=4, seed=seed).frame
    assert_frame_equal(states.head(1), first)
    assert states["stays"][0] > 0
    assert scores[0] > scores[1]
    missing = [max(0.0, 0.997 - back) for back in states["back"]]
    below, stays, lacks, back, uneven = map(pl.col, ("below", "stays", "lacks", "back", "uneven"))
    lost = states.select(BELOW * (below + uneven) + STAYS * stays + LACKS * lacks).to_series().to_numpy()
    costs = BELOW * uneven + (BELOW * below + STAYS * stays + LACKS * lacks - back) / 4
    one, other = (each.filter(scheme=name).select(costs).to_series() for name in ("tao-10x-unsteady", "known-1x"))
    assert worth == pytest.approx(scores - lost - missing - [0, np.std((other - one).to_numpy(), ddof=1) / 24**0.5])
    assert np.array_equal(worth, wide)
    less = (worth - strict) / TOO_MUCH
    assert less[0] == 0
    assert less[1] > scores[0] - scores[1] > 0, "by a standard error more"
    assert in_each[0] == worth[0], "nothing is lost of what it began with"
    assert worth[1] - in_each[1] >= TOO_MUCH * (scores[0] - scores[1]) - 1e-9, "a quarter loses at least what all lose"


def test_with_no_states_the_score_alone_counts() -> None:
    found = steadied(disturbed=0, steps=1)
    assert found.steps.select(pl.col("back", "below", "stays").null_count()).row(0) == (1, 1, 1)
    assert found.checks["back"].null_count() == 0, "what it does to them is told at the end"
    with opened(EngineOptions(threads=2)) as engine:
        alone = replace(trial(engine, gives=None), options=replace(FEW, disturbed=0, gives=None))
        worth, _ = alone.worth([BEGUN, began_with("tao-10x-unsteady")], 0, "together")
        every, _ = alone.worths([BEGUN], 0)
        scores = alone.reports([BEGUN], 32, named_seed(1, "together", 0))[0].summary["score"]
        step = alone.reports([BEGUN], 8, named_seed(1, "step", 0))[0].summary["score"]
    assert (worth[0], every[0]) == (pytest.approx(scores[0]), pytest.approx(step[0]))
    assert np.isfinite(worth[1])


def test_who_is_behind_is_disturbed_no_further(monkeypatch: pytest.MonkeyPatch) -> None:
    tables = [BEGUN, began_with("tao-10x-unsteady"), holding(BEGUN)]
    with opened(EngineOptions(threads=2)) as engine:
        one, no_bound = trial(engine), np.full(3, np.inf)
        costs = one._costs(tables, 5, no_bound)
        summary = one.states(tables, 6, 5)
        asked: list[int] = []
        disturbed = Trial._disturbed

        def counted(self: Trial, tables: Any, *given: Any, **more: Any) -> Any:
            asked.append(len(tables))
            return disturbed(self, tables, *given, **more)

        monkeypatch.setattr(Trial, "_disturbed", counted)
        assert one._costs(tables, 5, costs + 1e-12).tolist() == costs.tolist(), "the same where nobody is left out"
        assert asked == [3] * 5
        asked.clear()
        bounds = np.array([costs[0] + 1e-12, costs[1] / 4, 0.0])
        assert one._costs(tables, 5, bounds).tolist() == [costs[0], np.inf, np.inf]
        assert asked == sorted(asked, reverse=True)
        assert (asked[0], asked[-1]) == (2, 1)
    back, below, stays, lacks, uneven = summary.select("back", "below", "stays", "lacks", "uneven").to_numpy().T
    lost = BELOW * (below + uneven) + STAYS * stays + LACKS * lacks
    assert costs == pytest.approx(lost + np.maximum(0, 0.997 - back), abs=1e-12)


def test_who_receives_nothing_is_worth_less_than_all_else() -> None:
    with opened(EngineOptions(threads=2)) as engine:
        worth, _ = trial(engine).worth([BEGUN, holding(BEGUN)], 0, "step")
        assert np.isfinite(worth[0])
        assert worth[1] == -np.inf
        with pytest.raises(InputError, match=r"holding: nobody received anything in 8 networks of small, 10 s each"):
            replace(trial(engine), begun=holding(BEGUN)).worth([BEGUN], 0, "step")


def test_a_sender_that_received_nothing_costs_more_than_scores_say(monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(EngineOptions(threads=2)) as engine:
        as_it_is, _ = trial(engine, gives=None).worth([BEGUN], 0, "step")
        summary = ScoreReport.summary.fget  # type: ignore[attr-defined]
        starving = property(lambda self: summary(self).with_columns(starved_share=pl.lit(0.1)))
        monkeypatch.setattr(ScoreReport, "summary", starving)
        starved, _ = trial(engine, gives=None).worth([BEGUN], 0, "step")
    assert as_it_is - starved == pytest.approx(0.1 * STARVED)


def test_rules_are_drawn_by_their_uses() -> None:
    with opened(EngineOptions(threads=2)) as engine:
        usual = np.diff(shares(trial(engine, lost=0), BEGUN, None), prepend=0.0)
        # A window that nobody moves is where nobody is back: all its networks are lost, and the uses there count.
        one, held = trial(engine, lost=1), holding(BEGUN)
        where_lost = np.diff(shares(one, held, lost_on(one, held, 0)), prepend=0.0)
    assert usual.min() > 0, "each may be"
    assert usual.max() > 2 * usual.min()
    assert where_lost.sum() == pytest.approx(1)


def test_it_repeats_at_any_number_of_threads_and_finds_something() -> None:
    one, two = steadied(), steadied(threads=2)
    assert one.table.dna == two.table.dna != BEGUN.dna
    assert_frame_equal(one.steps, two.steps)
    assert_frame_equal(one.checks, two.checks)
    found = one.steps.filter(pl.col("taken") > 0)
    assert len(found) > 0
    assert (found["gain_again"] > 0).all()
    assert one.checks["scheme"].to_list() == ["known-1x-steady", "known-1x"]
    assert steadied(seed=2).table.dna != one.table.dna


def test_what_was_interrupted_goes_on_and_ends_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = steadied(output=tmp_path / "whole")

    def interrupt(now: Steadying) -> None:
        if now.done > 0.4:
            raise KeyboardInterrupt

    parts = tmp_path / "parts"
    with pytest.raises(Stopped, match=r"after 2 steps is .*known-1x-steady\.dna. To go on: the same command"):
        steadied(output=parts, on_progress=interrupt)
    assert (parts / "known-1x-steady.dna").exists()
    tried = []
    worth = Trial.worth

    def counted(self: Trial, tables: Any, number: int, trying: Trying) -> Any:
        tried.append(number)
        return worth(self, tables, number, trying)

    monkeypatch.setattr(Trial, "worth", counted)
    steadied(output=parts)
    assert set(tried) == {2}, "no step twice"
    for name in ("known-1x-steady.dna", "checks.csv"):
        assert (parts / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    kept = [read_parquet(tmp_path / name / "steps.parquet") for name in ("whole", "parts")]
    assert kept[0] is not None
    assert kept[1] is not None
    assert_frame_equal(kept[0][0], kept[1][0])
    tried.clear()
    another = steadied(output=parts, seed=5)
    assert set(tried) == {0, 1, 2}, "another climb"
    tried.clear()
    shorter = steadied(output=parts, seed=5, steps=1)
    assert not tried
    assert (len(shorter.steps), shorter.steps_s) == (1, another.steps_s[:1]), "what was not asked for costs nothing"
    assert whole.paths(parts)[0].exists()


def test_its_origin_says_how_it_was_made() -> None:
    few = SteadyOptions(steps=1, specimens=4, seconds_each=5, disturbed=2, states=2, lost=0, checks=2)
    for name, candidates in (("known-1x", 96), ("general-1-robust", 12)):
        begun = Table.load(name)
        once = steady(name, SMALL, few)
        made = json.loads(once.table.provenance.search if once.table.provenance else "{}")
        known = json.loads(begun.provenance.search if begun.provenance else "{}")
        assert made["settings"] == known["settings"]
        assert {"steps": 1, "candidates": candidates, "seed": 1}.items() <= made["steadied"].items()
        assert made["steadied"].get("before") == known.get("steadied")
    twice = steady(once.table, SMALL, few)
    assert twice.table.provenance is not None
    assert json.loads(twice.table.provenance.search)["steadied"]["before"] == made["steadied"]
    unknown = steady(Table.single(["rtt_ratio"], 0.9, 4, 1.0, "unknown"), SMALL, few)
    assert unknown.table.provenance is None


def test_other_models_count(monkeypatch: pytest.MonkeyPatch) -> None:
    scored: list[str] = []
    reports = Trial.reports

    def told(self: Trial, *given: Any) -> Any:
        scored.extend(model.name for model in self.models)
        return reports(self, *given)

    monkeypatch.setattr(Trial, "reports", told)
    found = steadied(also=["known-1x"], steps=1)
    assert [model.name for model in found.models] == ["small", "known-1x"]
    assert scored[:3] == ["small", "small", "known-1x"], "where the best are tried again"
    assert scored[-2:] == ["small", "known-1x"], "at the end, too"
    assert found.table.provenance is not None
    made = json.loads(found.table.provenance.search)["steadied"]
    assert (made["model"], made["also"]) == ("small", ["known-1x"])


def test_what_a_design_must_do_well_with_counts_by_its_weight() -> None:
    entry = "[[also]]\nweight = 0.5\nduration_times = 0.5\nobjective = { delta = 3 }\nworld = { ack_packets = 2 }\n"
    both = Model(f"{TEXT}{entry}", "small.toml")
    tables = [BEGUN, began_with("tao-10x-unsteady")]
    with opened(EngineOptions(threads=2)) as engine:
        chosen = trial(engine, gives=None)
        wide = replace(chosen, models=(both, *both.also))
        reports = wide.reports(tables, 8, 5)
        own, other = (report.summary["score"].to_numpy()[:2] for report in reports)
        assert [report.seconds_each for report in reports] == [10, 5]
        scores, gain = wide.gain(tables, 8, 5)
        assert scores == pytest.approx((own + 0.5 * other) / 2)
        assert gain.mean == pytest.approx(scores[0] - scores[1])
        worth, states = wide.worth(tables, 0, "again")
        narrow, same = chosen.worth(tables, 0, "again")
        own, other = (r.summary["score"].to_numpy()[:2] for r in wide.reports(tables, 32, named_seed(1, "again", 0)))
        assert worth - narrow == pytest.approx((own + 0.5 * other) / 2 - own)
        assert_frame_equal(states, same)
        # As worse on the entry as it is there, whatever it is on the model's own networks.
        strict = replace(wide, options=replace(wide.options, gives_each=0))
        assert (worth - strict.worth(tables, 0, "again")[0])[1] >= TOO_MUCH * (other[0] - other[1]) - 1e-9
    found = steady(BEGUN, both, FEW, steps=1)
    assert [model.entry for model in found.models] == [None, 0]
    assert found.compared == "6 networks of each of 2 models"
    assert steadied(steps=1).compared == "6 networks"


def test_an_entry_of_also_is_a_model_of_its_own(tmp_path: Path) -> None:
    entry = Model.load("tao-100x-robust").also[0]
    again = pickle.loads(pickle.dumps(entry))
    assert (repr(again), again.entry, again.weight, again.entries) == (repr(entry), 0, 1.0, 0)
    report = score("tao-100x-robust", entry, specimens=4, seconds_each=1, in_world=True)
    rough = score("tao-100x-robust", "tao-100x-robust", specimens=4, seconds_each=1, in_world=True)
    clean = score("tao-100x-robust", "tao-100x-robust", specimens=4, seconds_each=1)
    # Its world has nothing of what the model's has: its senders fare as on clean networks, but for a microsecond.
    assert report.frame["rate_mbps"].to_list() == rough.frame["rate_mbps"].to_list()
    least = [each.summary["delay_ratio"][0] for each in (report, clean, rough)]
    assert abs(least[0] - least[1]) < 0.01 < abs(least[2] - least[1])
    report.save(tmp_path / "scores.parquet")
    kept = read_parquet(tmp_path / "scores.parquet")
    assert kept is not None
    assert (kept[1]["entry"], kept[1]["model"]) == ("0", entry.text)
    with pytest.raises(InputError, match=r"^tao-100x-robust.toml: also: expected an entry below 1, got 1$"):
        Model(entry.text, "tao-100x-robust.toml", entry=1)
    # What goes by a model's text would be of the model's own networks.
    name, refused = "tao-100x-robust", r"^Model\('tao-100x-robust'\).also\[0\]: expected a model; entries of"
    for doing in (
        lambda: design(entry, rounds=1),
        lambda: steady(name, entry),
        lambda: steady(name, also=[entry]),
        lambda: sweep(entry, [name], over={"path.rtt_ms": [50]}),
    ):
        with pytest.raises(InputError, match=refused):
            doing()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"steps": 0}, "steps: expected from 1 to 10000, got 0"),
        ({"specimens": 3}, "specimens: expected from 4 to 100000, got 3"),
        ({"size": 0.0}, "size: expected more than 0 and at most 1, got 0"),
        ({"lost": 1.5}, "lost: expected from 0 to 1, got 1.5"),
        ({"gives": -1.0}, "gives: expected 0 or more, got -1"),
        ({"gives_each": float("nan")}, "gives-each: expected 0 or more, got nan"),
        ({"seed": -1}, "seed: expected"),
        ({"seconds_each": 0.0}, "seconds-each: expected"),
        ({"model": "tao-codesigned"}, "expected a model whose senders all run the same table"),
        ({"model": "none-of-these"}, "none-of-these"),
    ],
)
def test_mistakes(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        steady(BEGUN, **settings)


@pytest.mark.parametrize("disturbed", [6, 0])
def test_pictures(disturbed: int, tmp_path: Path) -> None:
    found = steadied(steps=1, disturbed=disturbed)
    assert [path.name for path in draw(found, tmp_path)] == ["steadied.png", "steadied.svg"]
    assert "what is lost" in (tmp_path / "steadied.svg").read_text()


def test_steady_on_the_command_line(exmachina: Command, tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(TEXT)
    few = ["--steps", "1", "--candidates", "2", "--specimens", "4", "--seconds-each", "5", "--disturbed", "2"]
    few += ["--states", "2", "--checks", "4", "--model", "small.toml"]
    done = exmachina("steady", "known-1x", *few)
    assert (done.returncode, done.stderr) == (0, "")
    names = ["known-1x-steady.dna", "steps.parquet", "checks.csv", "steadied.png", "steadied.svg"]
    assert done.stdout.splitlines()[-1] == "written: " + ", ".join(f"known-1x-steady/{name}" for name in names)
    assert done.stdout.split()[:2] == ["score", "back"]
    assert "of 1 steps taken" in done.stdout
    again = exmachina("disturb", "known-1x-steady/known-1x-steady.dna", "--specimens", "1", "--states", "1")
    assert again.returncode == 0
    wrong = exmachina("steady", "cubic")
    assert wrong.returncode == 2
    assert "cubic" in wrong.stderr
