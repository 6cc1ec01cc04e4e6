"""Algorithms that come with the program: what is said of them is so, and their names work wherever a table does."""

import json
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from conftest import Command, network
from polars.testing import assert_frame_equal

from exmachina import (
    Algorithm,
    Evaluation,
    InputError,
    Model,
    Table,
    algorithms,
    evaluate,
    score,
    shipped_models,
    trace,
)
from exmachina.scoring import REFERENCE

NAME = "known-1x"
"""A small one that is always there."""


def scenario(*schemes: str, **changes: Any) -> str:
    """Two runs of 3 s of schemes; of the algorithm, Cubic and the algorithm over CoDel if none is given."""
    given = list(schemes or (NAME, "cubic", f"{NAME}/codel"))
    link = {"rate_mbps": 15, "buffer": {"packets": 100}}
    return network(schemes=given, runs=2, duration_s=3, **{"link": link, "path": {"rtt_ms": 150}, **changes})


UNKNOWN = (
    f"omniscient, {', '.join(one.name for one in algorithms())}, window:N, rate:X or the path of a .dna file, got "
)


@pytest.fixture(params=[one.name for one in algorithms()])
def algorithm(request: pytest.FixtureRequest) -> Algorithm:
    return Algorithm(request.param)


def test_each_has_both_its_files() -> None:
    files = [file.name for file in resources.files("exmachina").joinpath("algorithms").iterdir()]
    names = [one.name for one in algorithms()]
    assert NAME in names
    assert sorted(files) == sorted([f"{name}.dna" for name in names] + [f"{name}.json" for name in names])
    assert {one.model.name for one in algorithms()} <= {model.name for model in shipped_models()}


def test_what_is_said_of_a_design_is_what_its_file_says(algorithm: Algorithm) -> None:
    facts, table, model = algorithm.metadata, algorithm.table, algorithm.model
    made = table.provenance
    assert made is not None
    assert made.model == model.text, "designed for the model that comes with the program"
    assert algorithm.name in (facts["together"] or [facts["model"]])
    assert (algorithm.rules, facts["signals"]) == (len(table), table.signals)
    assert facts["objective"] == model.objective.as_dict()
    design, held_out = facts["design"], facts["held_out"]
    assert (design["version"], design["seed"]) == (made.version, made.seed)
    if "tuned" in design:
        assert made.score is None, "that of the design is not the law's after tuning"
        assert design["tuned"].items() >= json.loads(made.search)["tuned"].items()
    elif "by_hand" in design:
        assert made.score is None, "that of the design is not that of other numbers"
        assert design["by_hand"] == json.loads(made.search)["by_hand"]
    else:
        assert design["score"] == pytest.approx(made.score, rel=1e-5)
    assert held_out["seed"] not in (design["seed"], design["settings"]["seed"], model.seed)
    assert algorithm.description


def test_numbers_of_an_algorithm_agree_with_each_other(algorithm: Algorithm) -> None:
    facts = algorithm.metadata
    assert algorithm.score + facts["held_out"]["below_reference"] == pytest.approx(algorithm.reference, abs=1e-4)
    rivals = algorithm.rivals + ([] if algorithm.published is None else [algorithm.published])
    assert {"cubic", "cubic/sfqcodel", "newreno"} <= {rival.name for rival in rivals}
    assert 0 <= algorithm.starved_share < 1
    for rival in rivals:
        assert 0 <= rival.starved_share < 1
        assert rival.score + rival.lead == pytest.approx(algorithm.score, abs=1e-4 * max(1, abs(rival.score)))
    history = algorithm.history
    assert history["cpu_s"].is_sorted()
    assert 0 < len(history) <= 48
    assert history["cpu_s"][-1] + facts["design"]["cpu_s_before"] <= algorithm.cpu_s * (1 + 1e-5)


def test_no_split_is_at_a_pace(algorithm: Algorithm) -> None:
    """Where an average settles at a pace, the last bit of a clock would decide what a split there says."""
    frame = algorithm.table.frame
    bounds = [name for name in frame.columns if name.endswith(("ewma_from", "ewma_to"))]
    splits = np.unique(frame.select(bounds).to_numpy())
    splits = splits[splits > 0]
    paces = frame["intersend_ms"].to_numpy()
    apart = np.abs(splits[:, None] / paces[paces > 0] - 1)
    assert apart.size == 0 or apart.min() > 0.005


@pytest.mark.slow
def test_scores_can_be_had_again_with_the_transports_of_today() -> None:
    """The table's, the reference's, and those of the schemes that it is compared with."""
    one = Algorithm(NAME)
    held_out = one.metadata["held_out"]
    report = score(
        [one.table, *(rival.name for rival in one.rivals)],
        one.model,
        specimens=held_out["specimens"],
        seconds_each=held_out["seconds_each"],
        seed=held_out["seed"],
    )
    ours, *rivals, reference = report.summary.iter_rows(named=True)
    assert [line["score"] for line in rivals] == pytest.approx([rival.score for rival in one.rivals], rel=1e-5)
    assert ours["score"] == pytest.approx(one.score, rel=1e-5)
    assert ours["score_ci95"] == pytest.approx(one.score_ci95, rel=1e-5)
    assert reference["score"] == pytest.approx(one.reference, rel=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["general-0.1", "general-1", "known-1x", "tao-tcp-naive", "datacenter"])
def test_schemes_meet_the_specimens_of_tables(name: str) -> None:
    model = Model.load(name)
    table = Table.single(model.signals, 1.0, 1, 3.0, "one-rule")
    report = score([table, "newreno", "cubic/sfqcodel"], model, specimens=6, seconds_each=0.2, seed=5)
    networks = ["specimen", "sender", "senders", "rate_mbps", "min_rtt_ms"]
    # How long a transfer of so many bytes takes is the scheme's doing.
    times = [] if "bytes" in model.text.split("[workload]")[1].split("\n[")[0] else ["on_s"]
    frames = [report.frame.filter(pl.col("scheme") == name) for name in report.summary["scheme"]]
    assert [frame["scheme"][0] for frame in frames] == ["one-rule", "newreno", "cubic/sfqcodel", REFERENCE]
    for frame in frames[1:]:
        # The reference sums times in another order.
        assert_frame_equal(frame.select(networks + times), frames[0].select(networks + times), rel_tol=1e-12)


def test_scores_of_schemes_are_those_of_the_objective() -> None:
    model = Model.load("general-1")
    table = Table.single(model.signals, 1.0, 1, 3.0, "one-rule")
    report = score([table, "newreno"], model, specimens=5, seconds_each=20)
    for scheme in ("one-rule", "newreno"):
        frame = report.frame.filter((pl.col("scheme") == scheme) & (pl.col("delivered_packets") > 0))
        utility = np.log2(frame["normalised_throughput"]) - np.log2(frame["mean_rtt_ms"] / frame["min_rtt_ms"])
        whole = frame.with_columns(utility=utility).group_by("specimen").agg(
            pl.first("specimen_score"), expected=pl.col("utility").sum() / pl.first("senders"), got=pl.len(),
            on=pl.first("senders"),
        ).filter(pl.col("got") == pl.col("on"))  # fmt: skip
        assert len(whole) > 0
        assert np.allclose(whole["specimen_score"], whole["expected"])
    with pytest.raises(InputError, match=r"^schemes: expected newreno, .* got tahoe$"):
        score([table, "tahoe"], model)


def test_names_work_in_scenarios(tmp_path: Path) -> None:
    named = Evaluation(scenario())
    assert named.contenders == [NAME, "cubic", f"{NAME}/codel"]
    Table.load(NAME).save(tmp_path / "mine.dna")
    by_path = evaluate(named, [tmp_path / "mine.dna", "cubic", f"{tmp_path}/mine.dna/codel"]).flows
    columns = pl.exclude("contender", "scheme")
    flows = evaluate(named).flows
    assert flows.select(columns).equals(by_path.select(columns))
    given = evaluate(scenario(), [NAME, "cubic", f"{NAME}/codel"]).flows
    assert given.equals(flows), "named by the scenario or by the caller"
    codel = flows.filter(pl.col("contender") == f"{NAME}/codel")
    assert not codel.select(columns).equals(flows.filter(pl.col("contender") == NAME).select(columns))
    assert trace(scenario(), NAME, duration_s=1).scheme == NAME


def test_names_work_for_groups_of_senders() -> None:
    text = scenario(senders=[{"count": 1}, {"count": 1, "scheme": NAME}])
    flows = evaluate(text, ["cubic"]).flows
    assert flows.filter(pl.col("run") == 0)["scheme"].to_list() == ["cubic", NAME]


@pytest.mark.slow
def test_runs_of_an_algorithm_are_kept(tmp_path: Path) -> None:
    told: list[int] = []
    first = evaluate(scenario(), [NAME, "cubic"], output=tmp_path)
    again = evaluate(scenario(), ["cubic", NAME], output=tmp_path, on_progress=lambda now: told.append(now.packets))
    assert told[-1] == 0, "nothing is simulated twice"
    assert again.flows.sort("contender", "run").equals(first.flows.sort("contender", "run"))


def test_names_that_there_are_not() -> None:
    with pytest.raises(InputError, match=r"^known-2x: there is no such algorithm; expected one of .*known-1x"):
        Algorithm("known-2x")
    with pytest.raises(InputError, match=r"^known-2x: there is no such table; expected a .dna file .*known-1x"):
        Table.load("known-2x")
    for wrong, message in [
        (
            scenario("known-2x"),
            f"scenario.toml:2: schemes: expected newreno, .*{UNKNOWN}known-2x",
        ),
        (scenario(senders={"count": 2, "scheme": "tahoe"}), f":20: senders.scheme: .*{UNKNOWN}tahoe"),
        (scenario(f"{NAME}/blue"), "schemes: expected droptail, red, .* got blue"),
    ]:
        with pytest.raises(InputError, match=message + r"(; did you mean known-1x\?)?$"):
            Evaluation(wrong)
    for name, message in [("known-2x", UNKNOWN + "known-2x"), (f"{NAME}/blue", "expected droptail, .* got blue")]:
        with pytest.raises(InputError, match=rf"^schemes: .*{message}(; did you mean known-1x\?)?$"):
            evaluate(scenario(), [name])
    with pytest.raises(InputError, match=r"^no/such: cannot read it: no such file or directory$"):
        evaluate(scenario(), ["no/such"])


def test_the_command_line_knows_them(exmachina: Command) -> None:
    done = exmachina("list")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    heads = ["name", "what", "for", "size", "score", "published", "reference", "CPU", "time", "looked", "at"]
    assert lines[0].split() == heads
    # Descriptions go on in lines that begin with blanks; the last line says what scores are.
    assert [line.split()[0] for line in lines[1:-1] if not line.startswith("  ")] == [one.name for one in algorithms()]
    done = exmachina("score", NAME, "--specimens", "2", "--seconds-each", "2")
    assert done.stdout.splitlines()[1].split()[0] == NAME, done.stderr
    assert "2 held-out specimens of known-1x" in done.stdout, "its own model, if none is given"
    done = exmachina("inspect", NAME, "--specimens", "2", "--seconds", "2", "-o", "x.html")
    assert done.stdout.startswith(f"{NAME}: "), done.stderr
    done = exmachina("evaluate", "r4", "--schemes", f"{NAME},cubic", "--runs", "1", "--duration", "1")
    assert done.stdout.splitlines()[1].split()[0] == NAME, done.stderr


def test_a_table_that_says_nothing_of_its_model(exmachina: Command, tmp_path: Path, one_rule: Table) -> None:
    one_rule.save(tmp_path / "one.dna")
    done = exmachina("score", "one.dna")
    assert done.stderr == "exmachina: model: expected one; one does not say what it was designed for\n"
