"""`evaluate`, `trace` and `scenarios` as a person calls them: what they print and write, ctrl-C, and mistakes."""

import json
from pathlib import Path

import polars as pl
import pytest
from conftest import DURATIONS, SHORT_SCENARIO, Command, interrupted


def test_evaluate_on_the_command_line(exmachina: Command, tmp_path: Path) -> None:
    (tmp_path / "short.toml").write_text(SHORT_SCENARIO)
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
    done = interrupted(tmp_path, "evaluate", "r4", "--schemes", "cubic", "--runs", "1000000", "--quiet")
    assert done.stderr == "exmachina: Stopped; finished runs are kept in out. To go on: the same command.\n"
    assert done.returncode == 130
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
    (tmp_path / "wrong.toml").write_text(SHORT_SCENARIO.replace("{ packets = 40 }", "'large'"))
    (tmp_path / "table.toml").write_text(SHORT_SCENARIO.replace('"newreno"', '"mine.dna"'))
    before = sorted(tmp_path.iterdir())
    done = exmachina(*arguments)
    assert done.stderr.startswith(f"exmachina: {message}"), done.stderr
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1, "one message, one line"
    assert done.stdout == ""
    assert sorted(tmp_path.iterdir()) == before, "nothing is written"
