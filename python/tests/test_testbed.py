"""Scenarios on this machine's kernel: what is refused anywhere, and where there is root, runs of a second or two."""

import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from conftest import Command, network

import exmachina
from exmachina import _core
from exmachina.deploying import lacking
from exmachina.measuring import needs

CONTROLS = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
LIFE_S = 30
"""What a process is waited for, at most."""

lacks = "no root" if os.geteuid() != 0 else "" if needs.TUN.exists() else f"no {needs.TUN}"
on_a_kernel = pytest.mark.skipif(bool(lacks), reason=f"network namespaces and TUN devices: {lacks}")


def scenario(**changes: object) -> exmachina.Evaluation:
    """Two senders on a link of 10 Mbit/s and 40 ms, by turns on and off."""
    return exmachina.Evaluation(network(**{"schemes": ["cubic"], "runs": 1, "duration_s": 2, **changes}), "x.toml")


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"transport": {"preset": "remy13"}}, 'transport: expected preset = "today"'),
        ({"transport": {"initial_window": 4}}, 'transport: expected preset = "today"'),
        ({"transport": {"opening": "syn-and-data"}}, 'transport.opening: expected "data" or "syn"'),
        ({"transport": {"packet_bytes": 100}}, "transport.packet_bytes: expected at least 576"),
        ({"path": {"clock_ms": 1}}, "path.clock_ms: expected none"),
        ({"path": {"reordering": {"probability": 0.1, "delay_ms": 1}}}, "path.reordering: expected none"),
        ({"schemes": ["cubic/xcp"]}, "link.queue: expected another queue"),
        ({"senders": {"aimd": 1}}, "senders.aimd: expected none"),
        ({"schemes": ["cubic", "vegas"]}, "schemes: expected cubic, newreno, bbr1 or a rule table"),
    ],
)
def test_what_only_a_simulation_can_do_is_refused_by_its_field(changes: dict[str, object], told: str) -> None:
    with pytest.raises(exmachina.InputError, match=r"^x\.toml") as refused:
        exmachina.testbed(scenario(**changes))
    assert told in str(refused.value)


def test_what_the_machine_lacks_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(exmachina.MachineError, match=r"^testbed: it needs root, .*$"):
        exmachina.testbed(scenario())
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(needs, "TUN", Path("/nowhere/tun"))
    with pytest.raises(exmachina.MachineError, match=r"^testbed: it needs /nowhere/tun: .*$"):
        exmachina.testbed(scenario())


DEMO = """
import sys
from importlib.util import module_from_spec, spec_from_file_location

spec = spec_from_file_location("exmachina._core", sys.argv[1])
core = module_from_spec(spec)
spec.loader.exec_module(core)
for name in ("Measured", "Stack", "check_measurable", "measure"):
    delattr(core, name)
sys.modules["exmachina._core"] = core
import exmachina

try:
    exmachina.testbed("r4-today", ["cubic"], stack=sys.argv[2])
except exmachina.MachineError as error:
    print(error)
"""
"""A program without what `--no-default-features` leaves out."""


@pytest.mark.slow
@pytest.mark.parametrize("stack", ["kernel", "quic"])
def test_a_program_that_was_built_for_a_demo_does_all_else_and_says_so(stack: str) -> None:
    command = [sys.executable, "-c", DEMO, str(_core.__file__), stack]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("testbed: this program was built without it, for a demo: `make build`")


def test_options_that_cannot_be_are_refused() -> None:
    impossible: list[dict[str, Any]] = [{"at_once": 0}, {"attempts": 0}, {"late_ms": 0}, {"runs": 0}, {"stack": "tcp"}]
    for options in impossible:
        with pytest.raises(exmachina.OptionError, match=f"^{next(iter(options))}: expected"):
            exmachina.TestbedOptions(**options)


@on_a_kernel
@pytest.mark.slow
def test_a_run_on_the_kernel_has_the_rows_and_the_traffic_of_a_simulated_one(tmp_path: Path) -> None:
    schemes = ["cubic", "newreno", "bbr1"]
    found = exmachina.testbed(
        scenario(), schemes, late_ms=50, at_once=3, output=tmp_path / "out", pcap=tmp_path / "pcap"
    )
    simulated = exmachina.evaluate(scenario(), schemes)
    measured = found.results.flows
    assert measured.schema == simulated.flows.schema
    same = ["contender", "run", "sender", "scheme", "senders", "rate_mbps", "min_rtt_ms"]
    assert measured.select(same).equals(simulated.flows.select(same))
    # On-periods are of a given length, whatever sends: only threads that wake up late make a difference.
    assert measured["on_s"].to_numpy() == pytest.approx(simulated.flows["on_s"].to_numpy(), abs=0.1)
    assert (measured["delivered_packets"] > 0).all()
    assert (measured["mean_rtt_ms"] >= measured["min_rtt_ms"]).all()
    mbytes = measured.group_by("contender").agg(pl.sum("delivered_mbytes"))["delivered_mbytes"]
    assert (mbytes <= 10 / 8 * 2).all()
    assert found.lateness["contender"].to_list() == schemes
    assert all(path.is_file() for path in found.paths(tmp_path / "out"))
    for scheme in schemes:
        assert (tmp_path / "pcap" / f"{scheme}-0.pcap").read_bytes()[:4] == bytes.fromhex("4d3cb2a1")
    # What is kept is not measured again.
    again = exmachina.testbed(scenario(), schemes, late_ms=50, output=tmp_path / "out")
    assert again.results.flows.equals(measured)
    assert again.lateness.equals(found.lateness)


@on_a_kernel
@pytest.mark.slow
def test_transfers_end_when_their_bytes_are_through() -> None:
    transfers = scenario(workload={"on": {"bytes": 50_000}, "off": {"seconds": 0.2}})
    flows = exmachina.testbed(transfers, late_ms=50).results.flows
    assert (flows["on_s"] < 1.9).all()
    assert flows["in_order_packets"].to_list() == pytest.approx(flows["delivered_packets"].to_list(), abs=40)


@on_a_kernel
@pytest.mark.slow
def test_on_periods_shorter_than_a_handshake_are_not_taken_for_each_other() -> None:
    """Their connections are given up before they are open, and wait at the receiver when the next one is opened."""
    short = scenario(workload={"on": {"seconds": 0.02}, "off": {"seconds": 0.02}}, path={"rtt_ms": 100})
    flows = exmachina.testbed(short, late_ms=50).results.flows
    assert (flows["on_s"] > 0.3).all()


@on_a_kernel
@pytest.mark.slow
def test_a_scheme_that_the_kernel_has_by_another_name_runs_under_that() -> None:
    found = exmachina.testbed(scenario(duration_s=1), ["vegas"], loaded={"vegas": "reno"}, late_ms=50)
    assert found.results.summary["label"].to_list() == ["vegas"]
    with pytest.raises(exmachina.MachineError, match=r"^testbed: this kernel has no congestion control nonesuch: "):
        exmachina.testbed(scenario(duration_s=1), ["vegas"], loaded={"vegas": "nonesuch"}, late_ms=50)


@on_a_kernel
@pytest.mark.slow
@pytest.mark.skipif(bool(lacking()), reason=f"tables in the kernel: it lacks {', '.join(lacking())}")
def test_a_rule_table_is_in_the_kernel_as_long_as_it_is_measured(tmp_path: Path) -> None:
    before = CONTROLS.read_text()
    schemes = ["cubic", "general-1-robust", "general-1-robust/codel"]
    found = exmachina.testbed(scenario(duration_s=1), schemes, late_ms=50, at_once=3)
    assert found.results.flows["contender"].unique(maintain_order=True).to_list() == schemes
    assert (found.results.flows["delivered_packets"] > 0).all()
    assert CONTROLS.read_text() == before


@on_a_kernel
@pytest.mark.slow
def test_runs_that_are_late_are_made_again_and_in_the_end_refused() -> None:
    told = r"^testbed: cubic, run 0: one packet in a thousand .* more than 1e-06 ms late, .* in 2 attempts"
    with pytest.raises(exmachina.MachineError, match=told):
        exmachina.testbed(scenario(duration_s=0.5), late_ms=1e-6, attempts=2)


@on_a_kernel
@pytest.mark.slow
def test_the_command_line_measures_and_refuses_in_one_line(exmachina: Command, tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(scenario().text)
    done = exmachina("testbed", "x.toml", "--duration", "1", "--late-ms", "50", "--quiet")
    assert done.returncode == 0, done.stderr
    assert "Packets were handed over" in done.stdout
    for given in [("--schemes", "vegas"), ("--at-once", "0")]:
        refused = exmachina("testbed", "x.toml", *given)
        assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)


@on_a_kernel
@pytest.mark.slow
def test_a_killed_measurement_leaves_no_namespace_behind(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(scenario(duration_s=60).text)
    command = [sys.executable, "-m", "exmachina", "testbed", "x.toml", "--quiet"]
    process = subprocess.Popen(command, cwd=tmp_path)
    ours = namespaces("self")
    deadline = time.monotonic() + LIFE_S
    while not (made := namespaces(str(process.pid)) - ours):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.kill()
    process.wait()
    everyone = [path.name for path in Path("/proc").iterdir() if path.name.isdecimal()]
    assert not made & set().union(*map(namespaces, everyone))


def namespaces(process: str) -> set[str]:
    """The network namespaces that the threads of a process are in."""
    found = set()
    for link in Path("/proc", process, "task").glob("*/ns/net"):
        with suppress(OSError):
            found.add(str(link.readlink()))
    return found
