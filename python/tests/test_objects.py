"""Public objects as values: they pickle, options mean the same everywhere, and an error has its class."""

import pickle
import typing
from collections.abc import Callable
from dataclasses import FrozenInstanceError, fields, is_dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from conftest import SMALL, network
from polars.testing import assert_frame_equal

import exmachina
from exmachina import (
    Algorithm,
    DesignStopped,
    Dumbbell,
    Evaluation,
    InputError,
    Model,
    Scheme,
    Table,
    design,
    evaluate,
    inspect,
    record,
    score,
    trace,
)
from exmachina.designing.options import DesignOptions, DesignSettings
from exmachina.evaluation.options import EvaluationOptions, EvaluationSettings, RunOptions, RunSettings
from exmachina.hunting.options import WorstOptions, WorstSettings
from exmachina.inspection.options import InspectOptions, InspectSettings
from exmachina.networks.single_link import DumbbellSettings
from exmachina.probing.options import ProbeOptions, ProbeSettings
from exmachina.reproduce.options import ReproduceOptions, ReproduceSettings
from exmachina.schemes import SchemeLike, contender_of
from exmachina.scoring.options import ScoreOptions, ScoreSettings
from exmachina.sweeping.options import SweepOptions, SweepSettings
from exmachina.tuning.options import TuneOptions, TuneSettings

SHORT = {"runs": 1, "duration_s": 1.0}


class Forty(Scheme):
    """A window that never changes."""

    window = 40.0


def again(one: Any) -> Any:
    return pickle.loads(pickle.dumps(one))


def same(one: Any, other: Any) -> bool:
    """Whether two objects say the same, in all that they hold."""
    if isinstance(one, pl.DataFrame):
        assert_frame_equal(one, other, check_exact=True)
        return True
    if isinstance(one, Table):
        return bool((one.name, one.dna) == (other.name, other.dna))
    if isinstance(one, Model):
        return bool((one.name, one.text) == (other.name, other.text))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(value, other[key]) for key, value in one.items())
    if is_dataclass(one):
        return type(one) is type(other) and all(
            same(getattr(one, field.name), getattr(other, field.name)) for field in fields(one)
        )
    return bool(one == other)


def test_results_pickle(model: Model, designed: Table) -> None:
    for one in (
        design(model, rounds=1),
        score([designed, "cubic"], model, specimens=2),
        evaluate("r4", ["cubic"], runs=1, duration_s=1.0),
        trace("r4", "cubic", duration_s=1),
        inspect(designed, model, specimens=2, seconds=2),
    ):
        assert same(one, again(one)), type(one)
        assert repr(one)


def test_tables_and_models_pickle(model: Model) -> None:
    table = Table.load("known-1x")
    table.name = "of another name"
    assert same(table, again(table))
    assert again(table.rules) == table.rules
    for one in (model, Model.load("demo"), Model(SMALL, "a.b")):
        assert same(one, again(one))
        assert again(one).held_out(1, 2).network(0) == one.held_out(1, 2).network(0)
    algorithm = Algorithm("known-1x")
    assert (again(algorithm).metadata, again(algorithm).table.dna) == (algorithm.metadata, algorithm.table.dna)


def test_evaluations_pickle_with_all_that_they_name(tmp_path: Path, designed: Table) -> None:
    designed.save(tmp_path / "mine.dna")
    text = Evaluation.load("r4").text.replace("count = 8", 'count = 8\nscheme = "mine.dna"')
    named = Evaluation(text, str(tmp_path / "r4.toml"))
    changed = named.changed([tmp_path / "mine.dna", "cubic/codel", Forty], runs=1, duration_s=1.0, seed=3)
    (tmp_path / "mine.dna").unlink()
    for one in (named.changed(runs=1, duration_s=1.0), changed, Evaluation.load("t7").changed(runs=1, duration_s=0.5)):
        assert (again(one).contenders, again(one).seed) == (one.contenders, one.seed)
        assert_frame_equal(evaluate(again(one)).flows, evaluate(one).flows, check_exact=True)
    with pytest.raises(FrozenInstanceError):
        named.text = ""  # type: ignore[misc]


def test_errors_pickle() -> None:
    for wrong in (lambda: Model("[lnik]"), lambda: Table.load("none"), lambda: Evaluation.load("r44")):
        with pytest.raises(InputError) as told:
            wrong()
        copy = again(told.value)
        assert (type(copy), str(copy), vars(copy)) == (type(told.value), str(told.value), vars(told.value))
    stopped = DesignStopped("Stopped.", design("known-1x", rounds=1))
    assert (str(again(stopped)), again(stopped).design.table.dna) == ("Stopped.", stopped.design.table.dna)


@pytest.mark.parametrize(
    ("options", "keywords"),
    [
        (DesignOptions, DesignSettings),
        (RunOptions, RunSettings),
        (EvaluationOptions, EvaluationSettings),
        (InspectOptions, InspectSettings),
        (ScoreOptions, ScoreSettings),
        (Dumbbell, DumbbellSettings),
        (ProbeOptions, ProbeSettings),
        (WorstOptions, WorstSettings),
        (TuneOptions, TuneSettings),
        (SweepOptions, SweepSettings),
        (ReproduceOptions, ReproduceSettings),
    ],
)
def test_options_and_their_keywords_are_the_same(options: type, keywords: type) -> None:
    assert typing.get_type_hints(options) == typing.get_type_hints(keywords)


def test_keywords_go_before_options(model: Model, designed: Table) -> None:
    options = ScoreOptions(specimens=4, seconds_each=1.0)
    given = score(designed, model, options, seconds_each=2.0)
    assert (given.seconds_each, given.frame["specimen"].n_unique()) == (2.0, 4)
    with pytest.raises(TypeError, match="specimen_count"):
        score(designed, model, specimen_count=3)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("wrong", "kind"),
    [
        (lambda: DesignOptions(seconds=1, rounds=1), exmachina.OptionError),
        (lambda: DesignOptions(seed=-1), exmachina.OptionError),
        (lambda: ScoreOptions(specimens=0), exmachina.OptionError),
        (lambda: EvaluationOptions(runs=0), exmachina.OptionError),
        (lambda: InspectOptions(seconds=0), exmachina.OptionError),
        (lambda: exmachina.dumbbell(rate_mbps=-1), exmachina.OptionError),
        (lambda: evaluate("r4", ["cubic"], runs=1, threads=0), exmachina.OptionError),
        (lambda: design("known-1x", search="best"), exmachina.OptionError),  # type: ignore[arg-type]
        (lambda: Evaluation("[link]"), exmachina.ScenarioError),
        (lambda: Evaluation(Evaluation.load("r4").text, files={}).changed(["no/such.dna"]), exmachina.FileError),
        (lambda: Table.single(["colour"], 1, 1, 1, "x"), exmachina.TableError),
        (lambda: score([Forty], "known-1x"), exmachina.SchemeError),
        (lambda: score(["cubic"], "known-1x", in_world=True), exmachina.SchemeError),
    ],
)
def test_a_mistake_has_its_class(wrong: Callable[[], object], kind: type[InputError]) -> None:
    with pytest.raises(InputError) as told:
        wrong()
    assert type(told.value) is kind
    assert "\n" not in str(told.value)


def test_who_scores_and_who_evaluates_mean_the_same_by_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, one_rule: Table
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "with.dna").mkdir()
    for name in ("cubic", "known-1x", "plain", "x.dna", "x.dna.5", "with.dna/x.dna"):
        one_rule.save(tmp_path / name)
    shipped = Table.load("known-1x").dna
    assert shipped != one_rule.dna
    meant: dict[SchemeLike, tuple[str, object]] = {
        "cubic": ("cubic", "cubic"),  # a file takes no name away
        "cubic/codel": ("cubic/codel", "cubic"),
        "known-1x": ("known-1x", shipped),
        "known-1x/codel": ("known-1x/codel", shipped),
        "./known-1x": ("known-1x", one_rule.dna),
        "plain": ("plain", one_rule.dna),
        "x.dna": ("x", one_rule.dna),
        "x.dna/codel": ("x/codel", one_rule.dna),
        "x.dna.5": ("x.dna.5", one_rule.dna),
        "x.dna.5/codel": ("x.dna.5/codel", one_rule.dna),
        "with.dna/x.dna": ("x", one_rule.dna),
        "with.dna/x.dna/codel": ("x/codel", one_rule.dna),
        tmp_path / "x.dna": ("x", one_rule.dna),
        one_rule: ("one-rule", one_rule.dna),
    }
    for given, (label, scheme) in meant.items():
        one = contender_of(given)
        assert (one.label, one.scheme.dna if isinstance(one.scheme, Table) else one.scheme) == (label, scheme), given
    for name in ("plain", "x.dna", "x.dna.5", "with.dna/x.dna", "./known-1x"):
        assert Table.load(name).dna == one_rule.dna
    assert Table.load("known-1x").dna == shipped
    schemes = list(meant)
    labels = evaluate("r4", schemes, runs=1, duration_s=0.5).flows["contender"].unique(maintain_order=True).to_list()
    scored = score(schemes, "known-1x", specimens=1, seconds_each=0.5).summary["scheme"].to_list()
    assert scored[:-1] == labels
    frame = score(["x.dna", one_rule, "./known-1x"], "known-1x", specimens=2, seconds_each=2).frame
    parts = [part.drop("scheme") for _, part in frame.group_by("scheme", maintain_order=True)]
    assert_frame_equal(parts[0], parts[1], check_exact=True)
    assert_frame_equal(parts[0], parts[2], check_exact=True)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("yours/codel", "got yours"), ("cubic/blue", "xcp, got blue"), ("known-1x/blue", "xcp, got blue")],
)
def test_a_scheme_or_a_queue_that_there_is_not_is_refused_wherever_it_is_named(name: str, expected: str) -> None:
    text = f"schemes = ['{name}']\n{network()}"
    for wrong in (lambda: Evaluation(text, "x.toml"), lambda: evaluate("r4", [name]), lambda: score(name, "known-1x")):
        with pytest.raises(InputError) as told:
            wrong()
        assert expected in str(told.value)


def test_models_and_tables_go_by_name_everywhere(tmp_path: Path, model_file: Path, one_rule: Table) -> None:
    one_rule.save(tmp_path / "x.dna")
    assert_frame_equal(
        score(tmp_path / "x.dna", model_file, specimens=2).frame,
        score(Table(one_rule.dna, "x.dna"), Model.load(model_file), specimens=2).frame,
    )
    assert inspect("known-1x", "known-1x", specimens=1, seconds=5).table.name == "known-1x"
    assert record("known-1x", "known-1x", seconds=5).height > 0
    assert len(design(model_file, rounds=1, start=tmp_path / "x.dna").table) >= 1
    assert len(design("known-1x", rounds=1, start="known-1x").table) >= 1
