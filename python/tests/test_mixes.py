"""Design models whose senders are not all alike: AIMD among them, tables designed together, several links."""

import json
from math import log2
from pathlib import Path

import pytest

from exmachina import InputError, Model, Table, design, inspect, record, score
from exmachina.command.cli import main

REST = "[workload]\non = { seconds = 1 }\noff = { seconds = 1 }\n[design]\nduration_s = 6\n"
DUMBBELL = "[link]\nrate_mbps = 8\nbuffer = { bdp = 2 }\n[path]\nrtt_ms = 60\n"
KINDS = (
    f"{DUMBBELL}[[senders]]\nname = 'fast'\ncount = {{ list = [0, 1] }}\nobjective = {{ delta = 0.1 }}\n"
    f"[[senders]]\nname = 'calm'\ncount = {{ list = [0, 1] }}\nobjective = {{ delta = 10 }}\n{REST}"
)
WITH_AIMD = f"{DUMBBELL}[senders]\ncount = 2\naimd = 1\n{REST}"
SIGNALS = ["send_ewma", "ack_ewma", "rtt_ratio"]


@pytest.fixture
def kinds(tmp_path: Path) -> Path:
    path = tmp_path / "kinds.toml"
    path.write_text(KINDS)
    return path


def run(*arguments: str) -> None:
    """The command line."""
    with pytest.raises(SystemExit) as end:
        main(list(arguments))
    assert end.value.code == 0


@pytest.mark.slow
def test_several_tables_are_written_resumed_and_scored(
    kinds: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output, names = tmp_path / "x.dna", [tmp_path / "x-fast.dna", tmp_path / "x-calm.dna"]
    whole = design(kinds, rounds=10, threads=2)
    assert list(whole.tables) == ["fast", "calm"]
    assert whole.table is whole.tables["fast"]
    run("design", str(kinds), "-o", str(output), "--rounds", "5", "--quiet")
    assert capsys.readouterr().out.startswith(", ".join(map(str, names)))
    assert not output.exists()
    with pytest.raises(InputError, match=r"x.dna.checkpoint is there from an earlier design"):
        design(kinds, output, rounds=5)
    design(kinds, output, rounds=10, resume=True)
    assert [name.read_bytes() for name in names] == [table.dna for table in whole.tables.values()]
    run("score", ",".join(map(str, names)), str(names[0]), "--model", str(kinds), "--specimens", "6", "--quiet")
    shown = capsys.readouterr().out
    assert "x-fast + x-calm" in shown
    assert "x-fast " in shown


def test_each_sender_is_scored_by_its_own_objective() -> None:
    model = Model(KINDS, "x.toml")
    tables = [Table.single(SIGNALS, 1.0, 1, ms, f"{ms}.dna") for ms in (2.0, 20.0)]
    report = score([tables, tables[1]], model, specimens=9)
    assert report.specimens["specimen"].n_unique() == 9
    for row in report.frame.filter(report.frame["senders"] == 1).iter_rows(named=True):
        # Of the three networks, the first has the calm sender alone, the second the fast one.
        delta = [10, 0.1][row["specimen"] % 3]
        if row["on_s"] > 0:
            utility = log2(row["normalised_throughput"]) - delta * log2(row["delay_ratio"])
            assert row["specimen_score"] == pytest.approx(utility)
    reference = report.summary.filter(report.summary["scheme"] == "omniscient reference")
    assert reference["score"][0] > report.summary["score"][0]
    with pytest.raises(InputError, match=r"expected one for each of fast, calm together; got 3 together"):
        score([[*tables, tables[0]]], model)


def test_aimd_senders_run_aimd_whatever_the_table() -> None:
    model = Model(WITH_AIMD, "x.toml")
    table = Table.single(SIGNALS, 1.0, 1, 8.0, "slow.dna")
    frame = score(table, model, specimens=8).frame
    own, aimd = (frame.filter((frame["scheme"] == "slow") & (frame["sender"] == i)) for i in (0, 1))
    assert own["delivered_packets"].sum() < aimd["delivered_packets"].sum()
    events = record(table, model, seconds=5)
    assert events.filter(events["sender"] == 1)["rule"].null_count() == len(events.filter(events["sender"] == 1))
    assert inspect(table, model, specimens=4, seconds=2).usage["uses"][0] > 0


@pytest.mark.slow
def test_two_links_can_be_designed_for_scored_and_recorded() -> None:
    model = Model.load("tao-two-bottleneck")
    designed = design(model, rounds=1).table
    report = score(designed, model, specimens=2, seconds_each=5)
    assert report.frame["min_rtt_ms"].unique().sort().to_list() == [150.0, 300.0]
    assert record(designed, model, seconds=3)["queue_packets"].max() is not None


def test_every_table_says_which_it_is(kinds: Path) -> None:
    for name, table in design(kinds, rounds=2).tables.items():
        assert table.provenance is not None
        assert json.loads(table.provenance.search)["table"] == name


def test_tables_to_start_from(kinds: Path) -> None:
    tables = [Table.single(SIGNALS, 1.0, 1, ms, f"{ms}.dna") for ms in (2.0, 20.0)]
    started = design(kinds, rounds=1, start=tables)
    assert started.tables["calm"].rules == tables[1].rules
    with pytest.raises(InputError, match=r"^start: expected one table to start from, or one for each name of senders"):
        design(kinds, rounds=1, start=[*tables, tables[0]])


def test_shipped_models_of_mixes() -> None:
    assert Model.load("tao-codesigned").classes == ["0.1", "10"]
    assert Model.load("tao-codesigned").grid_points == 8
    assert Model.load("tao-tcp-aware").classes == [""]
    signals = [set(Model.load(f"tao-knockout-{signal}").signals) for signal in ("send", "ack", "rtt", "slow")]
    missing = [set(Model.load("tao-calibration").signals) - s for s in signals]
    assert missing == [{"send_ewma"}, {"ack_ewma"}, {"rtt_ratio"}, {"slow_ack_ewma"}]
