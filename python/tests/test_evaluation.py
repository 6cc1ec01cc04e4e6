"""Evaluations: contenders on the same networks, whatever the threads and however often they are interrupted."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from conftest import DURATIONS, SHORT_SCENARIO, Forty
from polars.testing import assert_frame_equal

from exmachina import Evaluation, InputError, Scheme, Standing, Stopped, Table, evaluate, shipped_scenarios
from exmachina.pictures import draw
from exmachina.schemes import Ack, Congestion, Contender, SchemeLike, distinct

MIX = SHORT_SCENARIO.replace("[senders]\ncount = 2", "[[senders]]\ncount = 1\n[[senders]]\ncount = 1\nscheme = 'vegas'")


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
        runs = flows.group_by("run", maintain_order=True).agg(pl.mean("counted_mbps", "counted_delay_ms"))
        for measure in ("counted_mbps", "counted_delay_ms"):
            values = runs[measure].to_numpy()
            assert line[f"{measure}_median"] == pytest.approx(flows[measure].median())
            assert line[f"{measure}_median_from"] < line[f"{measure}_median"] < line[f"{measure}_median_to"]
            assert line[f"{measure}_mean"] == pytest.approx(np.mean(values))
            # 2.571: Student's t with 5 degrees of freedom.
            assert line[f"{measure}_ci95"] == pytest.approx(2.571 * np.std(values, ddof=1) / np.sqrt(6), rel=0.01)
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
    results = evaluate(Evaluation(SHORT_SCENARIO.replace("rate_mbps = 10", "rate_mbps = { list = [5, 10] }")), runs=4)
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
    long = Evaluation(SHORT_SCENARIO.replace("on = { seconds = 1 }\noff = { seconds = 0.2 }", "on = 'forever'"))
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
    other = Evaluation(SHORT_SCENARIO.replace("rtt_ms = 40", "rtt_ms = 60"), "short.toml")
    results = evaluate(other, ["newreno"], output=tmp_path)
    assert_frame_equal(results.flows, evaluate(other, ["newreno"]).flows)
    assert len(list((tmp_path / "runs").iterdir())) == 2
    kept.write_bytes(b"half a file")
    assert_frame_equal(evaluate(scenario, ["newreno"], output=tmp_path).flows, evaluate(scenario, ["newreno"]).flows)
    evaluate(scenario, [Forty], runs=1, output=tmp_path)
    assert len(list((tmp_path / "runs").iterdir())) == 2, "nobody knows what a class calls"


@pytest.mark.slow
def test_kept_runs_are_good_for_all_that_simulate_alike(
    scenario: Evaluation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluate(scenario, ["newreno"], output=tmp_path)

    def begun() -> int:
        first: list[int] = []
        evaluate(scenario, ["newreno"], output=tmp_path, on_progress=lambda now: first.append(now.done))
        return first[0]

    monkeypatch.setattr("exmachina.files.runs.program", lambda: b"another program")
    assert begun() == scenario.runs
    monkeypatch.setattr("exmachina._core.SIMULATOR", "another simulator")
    assert begun() == 0


@pytest.mark.slow
def test_files(scenario: Evaluation, tmp_path: Path) -> None:
    results = evaluate(scenario, output=tmp_path / "new" / "folder")
    paths = results.paths(tmp_path / "new" / "folder") + draw(results, tmp_path / "new" / "folder")
    flows, summary, png, svg, *_ = paths
    assert_frame_equal(pl.read_parquet(flows), results.flows)
    facts = pl.read_parquet_metadata(flows)
    assert (facts["scenario"], facts["seed"], facts["duration_s"]) == (SHORT_SCENARIO, "1", "2.0")
    assert pl.read_csv(summary)["label"].to_list() == ["newreno", "cubic/sfqcodel"]
    assert png.read_bytes().startswith(b"\x89PNG")
    assert ">a short dumbbell<" in svg.read_text()
    before = [path.read_bytes() for path in paths]
    again = evaluate(scenario)
    assert [path.read_bytes() for path in again.save(tmp_path) + draw(again, tmp_path)] == before


@pytest.mark.slow
def test_scenarios_that_come_with_the_program() -> None:
    scenarios = {scenario.name: scenario for scenario in shipped_scenarios()}
    assert list(scenarios) == ["bbr-mix", "parking-lot", "r4", "r4-today", "r5", "r7", "r10", "t2", "t3", "t7"]
    for scenario in scenarios.values():
        assert scenario.description
        flows = evaluate(scenario, runs=1, duration_s=0.5).flows
        assert flows["contender"].unique(maintain_order=True).to_list() == scenario.contenders
        assert flows["sent_packets"].sum() > 0


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
