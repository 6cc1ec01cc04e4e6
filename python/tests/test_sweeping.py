"""Sweeps: values, points, what is kept, mistakes, charts, and the command."""

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from conftest import SHORT_SCENARIO, SMALL, Command, interrupted, network
from others import Others

import exmachina as package
from exmachina import Evaluation, InputError, Model, ScoreReport, Stopped, Sweep, Sweeping, draw, evaluate, score, sweep
from exmachina.evaluation import network_of
from exmachina.files import read_parquet
from exmachina.networks import with_field
from exmachina.pictures.render import spec_of
from exmachina.pictures.sweep import sweep_chart
from exmachina.sweeping import Values
from exmachina.sweeping.values import values_of

SHORT = Evaluation(SHORT_SCENARIO, "short.toml")
GRID: dict[str, Values] = {"link.rate_mbps": "1:100:log:3", "senders.count": [1, 2]}


@pytest.fixture(scope="module")
def curves() -> Sweep:
    return sweep(SHORT, ["newreno", "vegas"], over={"link.loss": [0, 0.001, 0.1]}, runs=3, duration_s=1, threads=1)


@pytest.fixture(scope="module")
def maps() -> Sweep:
    return sweep(SHORT, ["newreno"], over=GRID, runs=2, duration_s=1, threads=1)


@pytest.fixture(scope="module")
def scored() -> Sweep:
    return sweep(Model(SMALL, "small.toml"), ["cubic"], over={"senders.count": [1, 2]}, runs=4, threads=1)


@pytest.mark.parametrize(
    ("given", "values"),
    [
        ("1,2, 4", (1, 2, 4)),
        ("1:100:log:5", (1, 3.162, 10, 31.62, 100)),
        ("0,0.01:1:log:3", (0, 0.01, 0.1, 1)),
        ("10:20:linear:3", (10, 15, 20)),
        ("today,tao14", ("today", "tao14")),
        ("true,false,1", (True, False, 1)),
        ("1,1.0,1e0", (1,)),
        ([0.5, 2], (0.5, 2)),
    ],
)
def test_values_are_listed_or_spread_over_a_range(given: Values, values: tuple[object, ...]) -> None:
    found = values_of("x", given)
    assert found == values
    assert [isinstance(one, bool) for one in found] == [isinstance(one, bool) for one in values]


@pytest.mark.parametrize(
    ("field", "value", "table"),
    [
        ("link.loss", 0.1, {"link": {"rate": 1, "buffer": {"packets": 9}, "loss": 0.1}}),
        ("link.buffer.bdp", 2, {"link": {"rate": 1, "buffer": {"bdp": 2}}}),
        ("link.buffer", "infinite", {"link": {"rate": 1, "buffer": "infinite"}}),
        ("senders[1].on.seconds", 3, {"senders": [{"count": 1}, {"count": 2, "on": {"seconds": 3}}]}),
        ("path.rtts[0]", 7, {"path": {"rtts": [7, 6]}}),
        ("new.field", 1, {"new": {"field": 1}}),
    ],
)
def test_a_field_has_another_value_and_all_else_stays(field: str, value: object, table: dict[str, Any]) -> None:
    base = {
        "link": {"rate": 1, "buffer": {"packets": 9}},
        "senders": [{"count": 1}, {"count": 2, "on": "forever"}],
        "path": {"rtts": [5, 6]},
    }
    before = tomllib.loads(network())
    assert with_field(base, field, value) == {**base, **table}
    assert tomllib.loads(network()) == before


def test_every_point_is_what_an_evaluation_of_its_file_gives(maps: Sweep) -> None:
    assert maps.summary.select("link.rate_mbps", "senders.count").rows() == [
        (1, 1), (1, 2), (10, 1), (10, 2), (100, 1), (100, 2)
    ]  # fmt: skip
    text = SHORT_SCENARIO.replace("rate_mbps = 10", "rate_mbps = 100").replace("count = 2", "count = 1")
    alone = evaluate(Evaluation(text, "short.toml"), ["newreno"], runs=2, duration_s=1)
    there = (pl.col("link.rate_mbps") == 100) & (pl.col("senders.count") == 1)
    assert maps.frame.filter(there).drop(list(GRID)).equals(alone.flows)
    assert maps.summary.filter(there).drop(list(GRID)).equals(alone.summary)


def test_a_model_is_scored_on_its_held_out_networks(scored: Sweep) -> None:
    alone = score("cubic", Model(SMALL.replace("{ list = [1, 2] }", "2"), "small.toml"), specimens=4)
    there = pl.col("senders.count") == 2
    assert scored.frame.filter(there).drop("senders.count").equals(alone.frame)
    assert scored.schemes == ["cubic", "omniscient reference"]
    assert [measure.column for measure in scored.measures] == ["score", "normalised_throughput", "delay_ratio"]


def test_what_is_swept_may_be_words() -> None:
    found = sweep(SHORT, ["cubic"], over={"transport.preset": "today,tao14"}, runs=1, duration_s=1)
    assert found.summary["transport.preset"].to_list() == ["today", "tao14"]
    assert found.frame["throughput_mbps"].n_unique() > 2


def test_tables_are_told_apart_though_they_have_one_name(designed: package.Table, one_rule: package.Table) -> None:
    other = package.Table(one_rule.dna, "designed.dna")
    found = sweep(Model(SMALL, "small.toml"), [designed, other], over={"senders.count": [1]}, runs=2)
    assert found.schemes[:2] == ["designed", "designed (2)"]
    assert found.summary["score"].n_unique() == 3


def test_a_table_outside_its_range_is_named_once_with_all_that_is_swept() -> None:
    found = sweep("r4", ["general-1"], over={"link.rate_mbps": [5, 50]}, runs=1, duration_s=1)
    words = "general-1 was designed for links of 10-20 Mbit/s; the network here has links of 5-50 Mbit/s"
    assert found.warnings == (words,)


@pytest.mark.parametrize("base", [SHORT, Model(SMALL, "small.toml")], ids=["scenario", "model"])
def test_only_what_is_new_is_simulated(base: Evaluation | Model, tmp_path: Path) -> None:
    def once(counts: list[int], schemes: list[str]) -> Sweep:
        return sweep(base, schemes, over={"senders.count": counts}, runs=2, duration_s=1, output=tmp_path)

    def kept() -> dict[str, int]:
        return {path.name: path.stat().st_mtime_ns for path in (tmp_path / "runs").iterdir()}

    first = once([1, 2], ["cubic"])
    before = kept()
    wider = once([1, 2, 4], ["cubic", "newreno"])
    assert len(before) == 2
    assert len(kept()) == 6
    assert before.items() <= kept().items()
    assert (
        wider.summary.filter(pl.col(first.who) == "cubic")
        .head(2)
        .equals(first.summary.filter(pl.col(first.who) == "cubic"))
    )
    rows = read_parquet(first.paths(tmp_path)[0])
    assert rows is not None
    assert rows[0].equals(wider.frame)
    assert pl.read_csv(tmp_path / "summary.csv").height == wider.summary.height


@pytest.mark.parametrize("base", [SHORT, Model(SMALL, "small.toml")], ids=["scenario", "model"])
def test_what_comes_of_a_sweep_does_not_depend_on_who_computes(base: Evaluation | Model) -> None:
    engine = Others()
    own, away = (
        sweep(base, ["cubic", "vegas"], over={"senders.count": [1, 2]}, runs=8, duration_s=1, cluster=where)
        for where in (None, engine)
    )
    assert away.frame.equals(own.frame)
    assert len(engine.units) >= 4, "some of each scheme at each point"
    assert not engine.closed


@pytest.mark.parametrize("base", [SHORT, Model(SMALL, "small.toml")], ids=["scenario", "model"])
def test_ctrl_c_keeps_what_is_finished(base: Evaluation | Model, tmp_path: Path) -> None:
    def press(now: Sweeping) -> None:
        if now.done == 1:
            raise KeyboardInterrupt

    def go(**others: Any) -> Sweep:
        return sweep(base, ["cubic"], over={"senders.count": [1, 2]}, runs=2, duration_s=1, output=tmp_path, **others)

    with pytest.raises(Stopped, match=r"finished runs are kept in .*To go on: the same command"):
        go(on_progress=press)
    assert len(list((tmp_path / "runs").iterdir())) == 1
    assert not (tmp_path / "summary.csv").exists()
    whole = sweep(base, ["cubic"], over={"senders.count": [1, 2]}, runs=2, duration_s=1)
    assert go().frame.equals(whole.frame)


def test_progress_goes_from_nothing_to_all() -> None:
    told: list[Sweeping] = []
    sweep(SHORT, ["cubic"], over={"link.loss": [0, 0.1]}, runs=2, duration_s=1, on_progress=told.append)
    assert (told[0].at, told[0].share, told[0].left_s) == ("link.loss 0", 0, None)
    assert (told[-1].at, told[-1].done, told[-1].share, told[-1].left_s) == ("link.loss 0.1", 2, 1, 0)
    assert [now.share for now in told] == sorted(now.share for now in told)


@pytest.mark.parametrize(
    ("over", "message"),
    [
        ({}, "over: expected at least one field, such as link.rate_mbps, got none"),
        ({"link.loss": []}, "over: link.loss: expected from 1 to 1000 values, got 0"),
        ({"link.loss": [[0.1]]}, r"over: link.loss: expected numbers, words, true or false, got \[0.1\]"),
        ({"link.lost": [0.1]}, "over: link.lost: unknown field; .*"),
        ({"link.loss": [0, 2]}, "over: link.loss: expected a probability of at least 0 and below 1, got 2"),
        ({"link.loss": "high"}, "over: link.loss: expected a number, .*, got string \"high\""),
        ({"link.loss": "0:1:log:3"}, "over: link.loss: expected a range from a lower number above 0 to a higher .*"),
        ({"link.loss": "1:0:linear:3"}, "over: link.loss: expected a range from a lower number to a higher .*"),
        ({"link.loss": "0:1:3"}, "over: link.loss: expected LOW:HIGH:log:COUNT or .*, got 0:1:3"),
        ({"link.loss": "0:1:linear:1"}, "over: link.loss: expected from 2 to 1000 values in a range, got 0:1:linear:1"),
        ({"links[0].loss": [0]}, r"over: links\[0\].loss: expected it without \[0\]; links is no list here"),
        ({"link loss": [0]}, "over: link loss: expected a field's name, such as .*"),
        ({"senders.count": "1:2:linear:3"}, "over: senders.count: expected whole numbers, got 1.5"),
        ({"path.jitter_ms": [90], "link.loss": [0]}, "over: path.jitter_ms: .* got 90 .at link.loss 0."),
        ({"runs": [1, 2]}, "over: runs: expected a field of the network; runs are an option, .*"),
        ({"seed": [1, 2]}, "over: seed: expected it to be swept or given, not both"),
        ({"seed": "1:5:linear:1000", "link.loss": "0:0.5:linear:11"}, "over: expected at most 10000 points, got 11000"),
    ],
)  # fmt: skip
def test_mistakes_are_named_before_anything_is_simulated(over: dict[str, Values], message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"^{message}$"):
        sweep(SHORT, over=over, seed=1, output=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_fields_of_lists_are_named_by_their_place() -> None:
    lot = Evaluation.load("parking-lot")
    found = sweep(lot, ["cubic"], over={"links[1].rate_mbps": [5, 50]}, runs=1, duration_s=1)
    assert found.frame["rate_mbps"].n_unique() > 1
    with pytest.raises(InputError, match=r"over: links.loss: expected one of links\[0\] to links\[1\] in it"):
        sweep(lot, ["cubic"], over={"links.loss": [0]})
    with pytest.raises(InputError, match=r"over: links\[2\].loss: expected one of links\[0\] to links\[1\]"):
        sweep(lot, ["cubic"], over={"links[2].loss": [0]})


def test_models_and_scenarios_are_told_apart(tmp_path: Path) -> None:
    kinds = {"general-1": Model, "r4": Evaluation}
    for name, text in {"model": SMALL, "scenario": SHORT_SCENARIO, "neither": network()}.items():
        path = tmp_path / f"{name}.toml"
        path.write_text(text)
        kinds[str(path)] = Model if name == "model" else Evaluation
    for name, kind in kinds.items():
        assert isinstance(network_of(name), kind), name
    with pytest.raises(InputError, match=r"schemes: expected at least one; a model has none of its own"):
        sweep("general-1", over={"link.rate_mbps": [10]})
    with pytest.raises(InputError, match=r"nope: there is no such model or scenario; expected .*"):
        sweep("nope", over={"link.rate_mbps": [10]})


def values_in(spec: dict[str, Any]) -> list[dict[str, Any]]:
    """All rows of a chart."""
    return [row for rows in spec["datasets"].values() for row in rows]


def test_one_field_is_drawn_as_curves_with_a_place_for_0(curves: Sweep) -> None:
    spec = spec_of(sweep_chart(curves))
    throughput, delay = spec["vconcat"][1]["hconcat"]
    line = next(layer for layer in throughput["layer"] if layer["mark"]["type"] == "line")
    across = line["encoding"]["x"]
    assert across["scale"]["type"] == "log"
    assert across["title"] == "link.loss"
    assert across["axis"]["labelExpr"].startswith("datum.value < ")
    assert line["encoding"]["y"]["title"] == "throughput (Mbit/s)"
    places = {row["label"]: row["x"] for row in values_in(spec) if "label" in row}
    assert list(places) == ["0", "0.001", "0.1"]
    assert places["0"] == pytest.approx(0.001 / 3)
    assert any(layer["encoding"]["y"]["title"] == "queueing delay (ms)" for layer in delay["layer"])


def test_words_stand_beside_each_other_without_a_line() -> None:
    found = sweep(SHORT, ["cubic"], over={"transport.preset": ["today", "tao14"]}, runs=2, duration_s=1)
    layers = spec_of(sweep_chart(found))["vconcat"][1]["hconcat"][0]["layer"]
    assert "line" not in {layer["mark"]["type"] for layer in layers}
    assert layers[0]["encoding"]["x"]["sort"] == ["today", "tao14"]


@pytest.mark.slow
def test_two_fields_are_drawn_as_heat_maps_with_one_scale_for_all_schemes(maps: Sweep, tmp_path: Path) -> None:
    two = sweep(SHORT, ["newreno", "vegas"], over=GRID, runs=2, duration_s=1, threads=1)
    spec = spec_of(sweep_chart(two))
    throughput = spec["vconcat"][0]["concat"]
    assert [panel["title"]["text"] for panel in throughput] == [["newreno"], ["vegas"]]
    scales = [panel["layer"][0]["encoding"]["color"]["scale"] for panel in throughput]
    known = two.summary["counted_mbps_mean"]
    assert scales[0] == scales[1]
    assert scales[0]["domain"] == [pytest.approx(known.min()), pytest.approx(known.max())]
    encoding = throughput[0]["layer"][0]["encoding"]
    assert encoding["x"]["sort"] == ["1", "10", "100"]
    assert encoding["y"]["sort"] == ["2", "1"]
    assert [path.name for path in draw(maps, tmp_path)] == ["sweep.png", "sweep.svg"]


def test_where_nobody_got_anything_nothing_is_drawn(curves: Sweep, maps: Sweep) -> None:
    for found in (curves, maps):
        nothing = pl.lit(None, dtype=pl.Float64)
        none = found.summary.with_columns(counted_mbps_mean=nothing, counted_delay_ms_mean=nothing)
        spec = spec_of(sweep_chart(replace(found, summary=none)))
        assert not [row for row in values_in(spec) if "value" in row]


def test_three_fields_have_numbers_and_no_picture(tmp_path: Path) -> None:
    found = sweep(SHORT, ["cubic"], over={**GRID, "link.loss": [0, 0.1]}, runs=1, duration_s=1, output=tmp_path)
    assert len(found.summary) == 12
    assert draw(found, tmp_path) == []


def test_results_are_documented_by_their_columns(curves: Sweep, scored: Sweep) -> None:
    assert curves.frame.columns[1:] == evaluate(SHORT, ["newreno"], runs=1, duration_s=1).flows.columns
    report: ScoreReport = score("cubic", Model(SMALL), specimens=2)
    assert scored.summary.columns[1:] == report.summary.columns


def test_sweep_on_the_command_line(exmachina: Command, tmp_path: Path) -> None:
    (tmp_path / "short.toml").write_text(SHORT_SCENARIO)
    words = ["--over", "link.rate_mbps=1:100:log:3", "--over", "senders.count=1,2", "--schemes", "cubic,vegas"]
    done = exmachina("sweep", "short.toml", *words, "--runs", "2", "--duration", "1", "-o", "out")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["link.rate_mbps", "senders.count", "cubic", "vegas"]
    assert [line.split()[:2] for line in lines[1:7]] == [[a, b] for a in ("1", "10", "100") for b in ("1", "2")]
    assert lines[-2] == "short: throughput (Mbit/s), queueing delay (ms); means at each point."
    written = ["flows.parquet", "summary.csv", "sweep.png", "sweep.svg"]
    assert lines[-1] == "written: " + ", ".join(f"out/{name}" for name in written)
    assert all((tmp_path / "out" / name).is_file() for name in written)
    table = pl.read_csv(tmp_path / "out" / "summary.csv")
    assert table.columns[:3] == ["link.rate_mbps", "senders.count", "label"]


@pytest.mark.slow
def test_ctrl_c_on_the_command_line(tmp_path: Path) -> None:
    words = ["--over", "link.rate_mbps=10,20", "--schemes", "cubic", "--runs", "1000000", "--quiet"]
    done = interrupted(tmp_path, "sweep", "r4", *words)
    assert done.stderr == "exmachina: Stopped; finished runs are kept in out. To go on: the same command.\n"
    assert done.returncode == 130
    assert len(list((tmp_path / "out" / "runs").iterdir())) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["sweep", "r4", "--over", "link.loss"], "over: expected FIELD=VALUES, such as "),
        (["sweep", "r4", "--over", "link.loss=0", "--over", "link.loss=1"], "over: link.loss: expected all of "),
        (["sweep", "r4", "--over", "link.lss=0"], "over: link.lss: unknown field; expected one of name, rate_mbps, "),
        (["sweep", "no.toml", "--over", "link.loss=0"], "no.toml: cannot read it: no such file or directory"),
    ],
)  # fmt: skip
def test_mistakes_on_the_command_line(arguments: list[str], message: str, exmachina: Command, tmp_path: Path) -> None:
    done = exmachina(*arguments, "-o", "out")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"exmachina: {message}")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("base", ["r4", "general-1"])
def test_a_scheme_that_there_is_not_leaves_nothing(base: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nosuch"):
        sweep(base, ["nosuch"], over={"link.loss": [0, 0.1]}, output=tmp_path / "out")
    assert not (tmp_path / "out").exists()
