"""Evaluations: contenders on the same networks, whatever the threads and however often they are interrupted."""

import json
import os
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from conftest import DURATIONS, Command, command
from polars.testing import assert_frame_equal

from exmachina import Evaluation, InputError, Scheme, Standing, Stopped, Table, evaluate, shipped_scenarios, trace
from exmachina.pictures import draw
from exmachina.pictures.render import spec_of
from exmachina.pictures.trace import trace_chart
from exmachina.schemes import Ack, Congestion, Contender, SchemeLike, distinct

SCENARIO = """\
description = "a short dumbbell"
schemes = ["newreno", "cubic/sfqcodel"]
runs = 6
duration_s = 2

[link]
rate_mbps = 10
buffer = { packets = 40 }

[path]
rtt_ms = 40

[senders]
count = 2

[workload]
on = { seconds = 1 }
off = { seconds = 0.2 }
"""
MIX = SCENARIO.replace("[senders]\ncount = 2", "[[senders]]\ncount = 1\n[[senders]]\ncount = 1\nscheme = 'vegas'")


class Forty(Scheme):
    """A window that never changes."""

    window = 40.0


class Aimd(Scheme):
    """The AIMD sender of Tao'14 §4.5, as the simulator has it built in; but each connection begins anew."""

    def __init__(self) -> None:
        self.window = 1.0
        self.slow_start = True
        self.recover = 0
        self.halved = False

    def on_ack(self, ack: Ack) -> None:
        halved, self.halved = self.halved, False
        if halved or ack.in_recovery:
            return
        self.window += 1.0 if self.slow_start else 1.0 / self.window

    def on_loss(self, loss: Congestion) -> None:
        if loss.seq >= self.recover:
            self.window = max(1.0, self.window / 2)
            self.slow_start = False
            self.recover = loss.next_seq
            self.halved = True

    def on_rto(self, timeout: Congestion) -> None:
        self.on_loss(timeout)
        self.halved = False


@pytest.fixture(scope="module")
def scenario() -> Evaluation:
    return Evaluation(SCENARIO, "short.toml")


def test_everybody_meets_the_same_networks(scenario: Evaluation) -> None:
    results = evaluate(scenario)
    assert results.flows["contender"].unique(maintain_order=True).to_list() == ["newreno", "cubic/sfqcodel"]
    parts = [results.flows.filter(pl.col("contender") == label) for label in scenario.contenders]
    met = ["run", "sender", "senders", "rate_mbps", "min_rtt_ms", "on_s"]
    assert_frame_equal(parts[0].select(met), parts[1].select(met))
    assert parts[0]["run"].to_list() == [run for run in range(6) for _ in range(2)]
    assert (results.flows["delivered_packets"] <= results.flows["sent_packets"]).all()


def test_neither_threads_nor_chunks_matter(scenario: Evaluation) -> None:
    one, two = (evaluate(scenario, threads=threads).flows for threads in (1, 2))
    assert_frame_equal(one, two, check_exact=True)
    some = evaluate(scenario, runs=2, threads=1).flows
    assert_frame_equal(some, one.filter(pl.col("run") < 2), check_exact=True)


def test_settings_given_go_before_those_of_the_file(scenario: Evaluation) -> None:
    changed = scenario.changed(["vegas"], runs=3, duration_s=1.5, seed=9)
    assert (changed.contenders, changed.runs, changed.duration_s, changed.seed) == (["vegas"], 3, 1.5, 9)
    assert (scenario.contenders[0], scenario.runs, scenario.duration_s, scenario.seed) == ("newreno", 6, 2, 1)
    results = evaluate(scenario, ["vegas"], runs=3, duration_s=1.5, seed=9)
    assert results.flows["on_s"].max() <= 1.5  # type: ignore[operator]
    assert_frame_equal(results.flows, evaluate(changed).flows, check_exact=True)


def test_the_summary_is_what_the_flows_say(scenario: Evaluation) -> None:
    results = evaluate(scenario)
    for line in results.summary.iter_rows(named=True):
        flows = results.flows.filter((pl.col("contender") == line["contender"]) & (pl.col("on_s") > 0))
        runs = flows.group_by("run", maintain_order=True).agg(pl.mean("throughput_mbps", "queueing_delay_ms"))
        for measure in ("throughput_mbps", "queueing_delay_ms"):
            values = runs[measure].to_numpy()
            assert line[f"{measure}_median"] == pytest.approx(np.median(values))
            assert line[f"{measure}_mean"] == pytest.approx(np.mean(values))
            # 2.571: Student's t with 5 degrees of freedom.
            assert line[f"{measure}_ci95"] == pytest.approx(2.571 * np.std(values, ddof=1) / np.sqrt(6), rel=0.01)
            assert (line[f"{measure}_median_from"], line[f"{measure}_median_to"]) == (values.min(), values.max())
        sent, again = flows["sent_packets"].sum(), flows["retransmitted_packets"].sum()
        assert line["retransmission_rate"] == pytest.approx(float(again) / float(sent))


def test_what_did_not_reach_the_application_is_told(scenario: Evaluation) -> None:
    results = evaluate(scenario, threads=1)
    assert not [line for line in results.warnings if "in order" in line]
    late = pl.col("in_order_packets") * pl.when(pl.col("scheme") == "newreno").then(0.1).otherwise(1.0)
    flows = results.flows.with_columns(late.round().cast(pl.Int64).alias("in_order_packets"))
    told = [line for line in replace(results, flows=flows).warnings if "in order" in line]
    assert len(told) == 1
    assert told[0].startswith("newreno: of what arrived only ")
    assert "% was in order; the application got no more" in told[0]
    in_order = replace(results, flows=flows).summary["in_order"].to_list()
    assert in_order == [pytest.approx(0.1, abs=0.005), pytest.approx(1.0, abs=0.05)]


def test_a_mix_has_a_row_for_each_scheme() -> None:
    results = evaluate(Evaluation(MIX), ["newreno", "vegas"], runs=3)
    assert results.summary["label"].to_list() == ["newreno", "vegas beside newreno", "vegas"]
    assert results.summary["scheme"].to_list() == ["newreno", "vegas", "vegas"]
    assert not results.alternatives
    alone = evaluate(Evaluation(MIX.replace("count = 1\n[", "count = 1\nscheme = 'bbr3'\n[", 1)), ["newreno"], runs=1)
    assert alone.summary["label"].to_list() == ["bbr3", "vegas"]


def test_a_grid_is_summed_up_by_its_points() -> None:
    results = evaluate(Evaluation(SCENARIO.replace("rate_mbps = 10", "rate_mbps = { list = [5, 10] }")), runs=4)
    assert results.flows.filter(pl.col("sender") == 0)["rate_mbps"].to_list() == [5.0, 10.0] * 8
    by = results.summarise(["rate_mbps"])
    assert by.select("label", "rate_mbps", "runs").rows() == [
        (label, rate, 4) for label in ("newreno", "cubic/sfqcodel") for rate in (5.0, 10.0)
    ]


def test_tables_and_classes_contend(scenario: Evaluation, one_rule: Table, tmp_path: Path) -> None:
    one_rule.save(tmp_path / "saved.dna")
    schemes: list[SchemeLike] = [
        one_rule,
        tmp_path / "saved.dna",
        f"{tmp_path / 'saved.dna'}/codel",
        "window:40",
        Forty,
    ]
    results = evaluate(scenario, schemes, runs=2)
    labels = ["one-rule", "saved", "saved/codel", "window:40", "Forty"]
    assert results.summary["label"].to_list() == labels
    parts = {label: _numbers(results.flows.filter(pl.col("contender") == label)) for label in labels}
    assert_frame_equal(parts["one-rule"], parts["saved"], check_exact=True)
    assert_frame_equal(parts["window:40"], parts["Forty"], check_exact=True)


def test_a_class_is_the_same_as_what_is_built_in(scenario: Evaluation) -> None:
    # One connection each, as the window of the one that is built in survives it.
    long = Evaluation(SCENARIO.replace("on = { seconds = 1 }\noff = { seconds = 0.2 }", "on = 'forever'"))
    results = evaluate(long, ["aimd", Aimd], runs=2, duration_s=5)
    built_in, own = (_numbers(results.flows.filter(pl.col("contender") == label)) for label in ("aimd", "Aimd"))
    assert_frame_equal(built_in, own, check_exact=True)
    assert built_in["reductions"].sum() > 0


def _numbers(flows: pl.DataFrame) -> pl.DataFrame:
    return flows.drop("contender", "scheme")


def test_what_a_class_raises_is_raised(scenario: Evaluation) -> None:
    class Broken(Scheme):
        def on_ack(self, ack: Ack) -> None:
            raise ZeroDivisionError(f"in the scheme, at {ack.now_ms} ms")

    with pytest.raises(ZeroDivisionError, match="in the scheme"):
        evaluate(scenario, [Broken], runs=1)


@pytest.mark.slow
def test_an_interrupted_evaluation_goes_on(scenario: Evaluation, tmp_path: Path) -> None:
    seen: list[int] = []

    def press_ctrl_c(now: Standing) -> None:
        seen.append(now.done)
        if now.contender == "cubic/sfqcodel" and now.done > 6:
            raise KeyboardInterrupt

    with pytest.raises(Stopped, match=r"^Stopped; finished runs are kept in .*out. To go on: the same command.$"):
        evaluate(scenario, output=tmp_path / "out", threads=1, on_progress=press_ctrl_c)
    assert not (tmp_path / "out" / "flows.parquet").exists()
    kept = {path.name.rsplit("-", 1)[0]: path for path in (tmp_path / "out" / "runs").iterdir()}
    assert set(kept) == {"newreno", "cubic-sfqcodel"}

    resumed: list[int] = []
    results = evaluate(scenario, output=tmp_path / "out", on_progress=lambda now: resumed.append(now.done))
    assert resumed[0] == seen[-1]
    assert_frame_equal(results.flows, evaluate(scenario).flows, check_exact=True)

    # One more run, one more scheme: only what is new is simulated.
    first: list[int] = []
    more = evaluate(
        scenario, ["newreno", "vegas"], runs=7, output=tmp_path / "out", on_progress=lambda now: first.append(now.done)
    )
    assert first[0] == 6
    assert_frame_equal(more.flows, evaluate(scenario, ["newreno", "vegas"], runs=7).flows, check_exact=True)


@pytest.mark.slow
def test_kept_runs_are_of_the_same_evaluation_or_not_used(scenario: Evaluation, tmp_path: Path) -> None:
    evaluate(scenario, ["newreno"], output=tmp_path, threads=1)
    (kept,) = (tmp_path / "runs").iterdir()
    other = Evaluation(SCENARIO.replace("rtt_ms = 40", "rtt_ms = 60"), "short.toml")
    results = evaluate(other, ["newreno"], output=tmp_path)
    assert_frame_equal(results.flows, evaluate(other, ["newreno"]).flows)
    assert len(list((tmp_path / "runs").iterdir())) == 2
    kept.write_bytes(b"half a file")
    assert_frame_equal(evaluate(scenario, ["newreno"], output=tmp_path).flows, evaluate(scenario, ["newreno"]).flows)
    evaluate(scenario, [Forty], runs=1, output=tmp_path)
    assert len(list((tmp_path / "runs").iterdir())) == 2, "nobody knows what a class calls"


@pytest.mark.slow
def test_files(scenario: Evaluation, tmp_path: Path) -> None:
    results = evaluate(scenario, output=tmp_path / "new" / "folder")
    paths = results.paths(tmp_path / "new" / "folder") + draw(results, tmp_path / "new" / "folder")
    flows, summary, png, svg, *_ = paths
    assert_frame_equal(pl.read_parquet(flows), results.flows)
    facts = pl.read_parquet_metadata(flows)
    assert (facts["scenario"], facts["seed"], facts["duration_s"]) == (SCENARIO, "1", "2.0")
    assert pl.read_csv(summary)["label"].to_list() == ["newreno", "cubic/sfqcodel"]
    assert png.read_bytes().startswith(b"\x89PNG")
    assert ">a short dumbbell<" in svg.read_text()
    before = [path.read_bytes() for path in paths]
    again = evaluate(scenario)
    assert [path.read_bytes() for path in again.save(tmp_path) + draw(again, tmp_path)] == before


@pytest.mark.slow
def test_scenarios_that_come_with_the_program() -> None:
    scenarios = {scenario.name: scenario for scenario in shipped_scenarios()}
    assert list(scenarios) == ["bbr-mix", "parking-lot", "r4", "r5", "r7", "r10", "t2", "t3", "t7"]
    for scenario in scenarios.values():
        assert scenario.description
        flows = evaluate(scenario, runs=1, duration_s=0.5).flows
        assert flows["contender"].unique(maintain_order=True).to_list() == scenario.contenders
        assert flows["sent_packets"].sum() > 0


@pytest.mark.slow
def test_a_trace_is_the_run_of_the_evaluation(tmp_path: Path, scenario: Evaluation) -> None:
    recorded = trace(scenario, "newreno", run=3, duration_s=2)
    flows = evaluate(scenario, ["newreno"]).flows.filter(pl.col("run") == 3)
    sent = recorded.senders.filter(pl.col("event") == "send").group_by("sender").agg(
        pl.len(), pl.col("retransmission").sum()
    ).sort("sender")  # fmt: skip
    assert sent["len"].to_list() == flows.filter(pl.col("sent_packets") > 0)["sent_packets"].to_list()
    assert sent["retransmission"].sum() == flows["retransmitted_packets"].sum()
    entered = recorded.hops.filter(pl.col("event") == "enter")
    assert len(entered) == sent["len"].sum()
    assert recorded.hops["backlog"].max() <= 41  # type: ignore[operator]
    paths = recorded.save(tmp_path / "t") + draw(recorded, tmp_path / "t")
    assert [path.name for path in paths] == ["senders.parquet", "hops.parquet", "trace.png"]
    assert paths[2].read_bytes().startswith(b"\x89PNG")
    assert_frame_equal(pl.read_parquet(paths[1]), recorded.hops)


@pytest.mark.slow
def test_a_trace_of_two_links_and_of_a_class(tmp_path: Path, scenario: Evaluation) -> None:
    recorded = trace("parking-lot", "cubic", duration_s=1)
    assert sorted(recorded.hops["hop"].unique()) == [0, 1]
    assert trace(scenario, Forty, duration_s=1).senders["window"].max() == 40
    draw(recorded, tmp_path)
    spec = spec_of(trace_chart(recorded))
    assert [panel["layer"][0]["encoding"]["y"]["title"] for panel in spec["vconcat"]] == [
        "packet; crosses: sent again",
        ["window, and ssthresh", "dashed (packets)"],
        "RTT (ms)",
        "queue (packets)",
    ]
    times = [panel["layer"][0]["encoding"]["x"]["scale"]["domain"] for panel in spec["vconcat"]]
    assert times == [[0, 1]] * 4
    queue = spec["vconcat"][3]["layer"][0]
    links = {row["name"] for row in spec["datasets"][queue["data"]["name"]]}
    assert links == {"link 0", "link 1"}


def test_an_empty_trace_can_be_drawn(tmp_path: Path) -> None:
    late = Evaluation(SCENARIO.replace("off = { seconds = 0.2 }", "off = { seconds = 1 }\nfirst_off = { seconds = 5 }"))
    recorded = trace(late, duration_s=1)
    assert len(recorded.hops) == 0
    draw(recorded, tmp_path)


def test_names_are_told_apart() -> None:
    given = [Contender("a", "cubic"), Contender("a", "cubic"), *2 * [Contender("b", "cubic", "codel")]]
    assert [one.label for one in distinct(given)] == ["a", "a (2)", "b/codel", "b (2)/codel"]
    assert [one.label for one in distinct(given[:1], {"a"})] == ["a (2)"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"runs": 0}, "runs: expected from 1 to 1000000, got 0"),
        ({"duration_s": 0.0}, f"duration: {DURATIONS}0"),
        ({"seed": -1}, "seed: expected a whole number from 0 to 2^63 - 1, got -1"),
        ({"threads": 0}, "threads: expected from 1 to 1024, got 0"),
        ({"schemes": []}, "short: schemes: expected at least one, in the scenario or given"),
        ({"schemes": [3]}, "schemes: expected names, paths, tables or classes, got 3"),
        ({"schemes": ["no.dna"]}, "no.dna: cannot read it: no such file or directory"),
    ],
)
def test_what_is_not_possible(scenario: Evaluation, settings: dict[str, int], message: str) -> None:
    with pytest.raises(InputError) as error:
        evaluate(scenario, **settings)  # type: ignore[arg-type]
    assert str(error.value) == message


def test_evaluate_on_the_command_line(exmachina: Command, tmp_path: Path) -> None:
    (tmp_path / "short.toml").write_text(SCENARIO)
    done = exmachina(
        "evaluate", "short.toml", "--schemes", "newreno,vegas", "--runs", "3", "--duration", "2", "-o", "out"
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines[1:3]] == ["newreno", "vegas"]
    assert lines[-2].startswith("short: 3 runs of 2 s, seed 1. ")
    written = ["flows.parquet", "summary.csv", "throughput-delay.png", "throughput-delay.svg", "cdf.png", "cdf.svg"]
    assert lines[-1] == "written: " + ", ".join(f"out/{name}" for name in written)
    assert all((tmp_path / "out" / name).is_file() for name in written)

    done = exmachina("evaluate", "short.toml", "--runs", "2", "--duration", "1", "--seed", "5", "--json")
    shown = json.loads(done.stdout)
    assert (shown["scenario"], shown["seed"], shown["written"]) == ("short", 5, [])
    assert [line["label"] for line in shown["summary"]] == ["newreno", "cubic/sfqcodel"]


def test_trace_on_the_command_line(exmachina: Command, tmp_path: Path) -> None:
    done = exmachina("trace", "r4", "--scheme", "cubic", "--duration", "1")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("cubic on r4, run 0, 1 s: ")
    assert lines[1] == "written: r4-trace/senders.parquet, r4-trace/hops.parquet, r4-trace/trace.png"
    assert (tmp_path / "r4-trace" / "trace.png").stat().st_size > 10_000


def test_scenarios_on_the_command_line(exmachina: Command) -> None:
    done = exmachina("scenarios")
    assert (done.returncode, done.stderr) == (0, "")
    assert "r4          15 Mbit/s, 150 ms, 8 senders, transfers of 100 kB" in done.stdout.splitlines()


@pytest.mark.slow
def test_ctrl_c_keeps_finished_runs(tmp_path: Path) -> None:
    arguments = command("evaluate", "r4", "--schemes", "cubic", "--runs", "1000000", "-o", "out", "--quiet")
    process = subprocess.Popen(
        arguments, cwd=tmp_path, env={**os.environ, "NO_COLOR": "1"}, stderr=subprocess.PIPE, text=True
    )
    while not (tmp_path / "out").is_dir():
        time.sleep(0.05)
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    _, messages = process.communicate(timeout=30)
    assert messages == "exmachina: Stopped; finished runs are kept in out. To go on: the same command.\n"
    assert process.returncode == 130
    (kept,) = (tmp_path / "out" / "runs").iterdir()
    assert pl.read_parquet(kept)["run"].n_unique() == int(pl.read_parquet_metadata(kept)["runs"]) > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["evaluate", "nope"], "nope: there is no such scenario; expected a .toml file or one of bbr-mix, "),
        (["evaluate", "no.toml"], "no.toml: cannot read it: no such file or directory"),
        (["evaluate", "wrong.toml"], "wrong.toml:8: link.buffer: expected "),
        (["evaluate", "table.toml"], "mine.dna: cannot read it: no such file or directory"),
        (["evaluate", "r4", "--schemes", "cubik"], "schemes: expected newreno, "),
        (["evaluate", "r4", "--schemes", "wrong.toml.dna"], "wrong.toml.dna: cannot read it: no such file"),
        (["evaluate", "r4", "--schemes", ""], "r4: schemes: expected at least one, in the scenario or given"),
        (["evaluate", "r4", "--runs", "0"], "runs: expected from 1 to 1000000, got 0"),
        (["evaluate", "r4", "-o", "wrong.toml/x"], "wrong.toml/x: cannot create this folder: not a directory"),
        (["trace", "r4", "--duration", "-1"], f"duration: {DURATIONS}-1"),
        (["trace", "r4", "--run", "-1"], "run: expected a whole number from 0 to 2^32 - 1, got -1"),
    ],
)
def test_mistakes(exmachina: Command, tmp_path: Path, arguments: list[str], message: str) -> None:
    (tmp_path / "wrong.toml").write_text(SCENARIO.replace("{ packets = 40 }", "'large'"))
    (tmp_path / "table.toml").write_text(SCENARIO.replace('"newreno"', '"mine.dna"'))
    before = sorted(tmp_path.iterdir())
    done = exmachina(*arguments)
    assert done.stderr.startswith(f"exmachina: {message}"), done.stderr
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1, "one message, one line"
    assert done.stdout == ""
    assert sorted(tmp_path.iterdir()) == before, "nothing is written"
