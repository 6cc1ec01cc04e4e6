"""Scenarios with QUIC at both ends, in runs of a second or two: without root, and however late the machine is."""

import json
from pathlib import Path

import polars as pl
import pytest
from conftest import Command, network

import exmachina
from exmachina.measuring import needs
from exmachina.measuring.stacks import Quic

PROJECT = Path(__file__).parents[2]
LATE_MS = 1000
"""Runs count, however busy the machine that tests is: what is asserted is not when."""


def scenario(**changes: object) -> exmachina.Evaluation:
    """Two senders on a link of 10 Mbit/s and 40 ms, by turns on and off."""
    return exmachina.Evaluation(network(**{"schemes": ["cubic"], "runs": 1, "duration_s": 2, **changes}), "x.toml")


@pytest.mark.parametrize(
    ("schemes", "told"),
    [
        (["cubic", "bbr1"], "schemes: expected cubic, newreno, bbr3 or a rule table, which are what noq can run"),
        (["cubic-linux-6"], "schemes: expected cubic, newreno, bbr3 or a rule table, which are what noq can run"),
    ],
)
def test_a_scheme_that_noq_has_not_is_refused_by_its_field(schemes: list[str], told: str) -> None:
    with pytest.raises(exmachina.ScenarioError, match=r"^x\.toml") as refused:
        exmachina.testbed(scenario(), schemes, stack="quic")
    assert told in str(refused.value)


def test_packets_in_which_quic_cannot_connect_are_refused_with_quic_only(monkeypatch: pytest.MonkeyPatch) -> None:
    small = scenario(transport={"packet_bytes": 1000})
    with pytest.raises(exmachina.ScenarioError, match=r"transport\.packet_bytes: expected at least 1228"):
        exmachina.testbed(small, stack="quic")
    monkeypatch.setattr(needs, "TUN", Path("/nowhere/tun"))
    with pytest.raises(exmachina.MachineError):
        exmachina.testbed(small)


def test_what_is_of_the_other_stack_is_refused(tmp_path: Path) -> None:
    for name, stack in [("pcap", "quic"), ("qlog", "kernel"), ("loaded", "quic")]:
        given = {name: {"cubic": "cubic"} if name == "loaded" else tmp_path / name}
        with pytest.raises(exmachina.OptionError, match=f"^{name}: expected with stack (?!{stack})"):
            exmachina.testbed(scenario(), options=exmachina.TestbedOptions(stack=stack), **given)  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


def test_runs_are_kept_under_the_version_of_noq_that_is_built() -> None:
    name, version = Quic().made_by.split()
    assert f'name = "{name}-proto"\nversion = "{version}"' in (PROJECT / "Cargo.lock").read_text()


@pytest.mark.slow
def test_a_run_over_quic_has_the_rows_and_the_traffic_of_a_simulated_one(tmp_path: Path) -> None:
    schemes = ["cubic", "newreno", "bbr3", "general-1-robust"]
    options = exmachina.TestbedOptions(stack="quic", late_ms=LATE_MS, at_once=2)
    found = exmachina.testbed(scenario(), schemes, options, output=tmp_path / "out", qlog=tmp_path / "qlog")
    simulated = exmachina.evaluate(scenario(), schemes)
    measured = found.results.flows
    assert measured.schema == simulated.flows.schema
    same = ["contender", "run", "sender", "scheme", "senders", "rate_mbps", "min_rtt_ms"]
    assert measured.select(same).equals(simulated.flows.select(same))
    assert (measured["delivered_packets"] > 0).all()
    assert (measured["mean_rtt_ms"] >= measured["min_rtt_ms"]).all()
    assert measured["timeouts"].is_null().all()
    assert found.results.summary["timeouts"].is_null().all()
    mbytes = measured.group_by("contender").agg(pl.sum("delivered_mbytes"))["delivered_mbytes"]
    assert (mbytes <= 10 / 8 * 2).all()
    assert all(path.is_file() for path in found.paths(tmp_path / "out"))
    for scheme in schemes:
        events = log(tmp_path / "qlog" / f"{scheme}-0-0-0.sqlog")
        assert {"transport:packet_sent", "transport:packet_received", "recovery:metrics_updated"} <= set(events["name"])
    # What is kept is not measured again, and is not what a kernel gave.
    again = exmachina.testbed(scenario(), schemes, options, output=tmp_path / "out")
    assert again.results.flows.equals(measured)
    assert again.lateness.equals(found.lateness)


def log(path: Path) -> pl.DataFrame:
    """The events of a file as qvis takes it apart: records after separators, of which the first says what it is. Times
    are in milliseconds and do not go back; events are `category:name`; packets have their size, space and number."""
    empty, *texts = path.read_text().split("\x1e")
    head, *records = [json.loads(text) for text in texts]
    assert (empty, head["qlog_version"], head["qlog_format"]) == ("", "0.3", "JSON-SEQ")
    assert head["trace"]["vantage_point"] == {"type": "client"}
    assert head["trace"]["common_fields"] == {"protocol_type": ["QUIC"], "time_format": "relative", "reference_time": 0}
    times = [record["time"] for record in records]
    assert times == sorted(times)
    assert {record["name"].split(":")[0] for record in records} <= {"connectivity", "transport", "recovery"}
    for data in (record["data"] for record in records if record["name"].startswith("transport:packet_")):
        assert data["header"]["packet_type"] in ("initial", "handshake", "0RTT", "1RTT")
        assert data["header"]["packet_number"] >= 0
        assert data["raw"]["length"] > 0
    parameters = [record["data"] for record in records if record["name"] == "transport:parameters_set"]
    assert {data["owner"] for data in parameters} <= {"local", "remote"}
    return pl.DataFrame([{"time": float(record["time"]), "name": record["name"]} for record in records])


@pytest.mark.slow
def test_what_is_acknowledged_in_a_log_was_sent_before(tmp_path: Path) -> None:
    exmachina.testbed(scenario(duration_s=1), stack="quic", late_ms=LATE_MS, qlog=tmp_path)
    sent: dict[str, set[int]] = {}
    for record in (tmp_path / "cubic-0-0-0.sqlog").read_text().split("\x1e")[2:]:
        event = json.loads(record)
        header = event["data"].get("header", {})
        if event["name"] == "transport:packet_sent":
            sent.setdefault(header["packet_type"], set()).add(header["packet_number"])
        if event["name"] == "transport:packet_received":
            for first, last in (pair for f in event["data"]["frames"] for pair in f.get("acked_ranges", [])):
                assert set(range(first, last + 1)) <= sent[header["packet_type"]]
    assert len(sent["1RTT"]) > 1


@pytest.mark.slow
def test_transfers_over_quic_end_when_their_bytes_are_through() -> None:
    transfers = scenario(workload={"on": {"bytes": 20_000}, "off": {"seconds": 0.2}})
    flows = exmachina.testbed(transfers, stack="quic", late_ms=LATE_MS).results.flows
    assert (flows["in_order_packets"] > 0).all()
    assert flows["in_order_packets"].to_list() == pytest.approx(flows["delivered_packets"].to_list(), rel=0.3, abs=10)


@pytest.mark.slow
def test_the_command_line_measures_quic_without_root(exmachina: Command, tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(scenario().text)
    given = ("testbed", "x.toml", "--stack", "quic", "--duration", "1", "--late-ms", str(LATE_MS), "--quiet")
    done = exmachina(*given)
    assert done.returncode == 0, done.stderr
    assert "Packets were handed over" in done.stdout
    for refused in [("--pcap", "packets"), ("--schemes", "bbr1")]:
        told = exmachina(*given, *refused)
        assert (told.returncode, told.stderr.count("\n")) == (2, 1)
