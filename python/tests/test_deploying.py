"""Tables in this machine's kernel: what is refused anywhere; and where there is all it needs, real connections."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hosts import left_by, need, receiving, run, sending, transferred, two_hosts

import exmachina
from exmachina.deploying import loaded, loading, needs, unload
from exmachina.deploying.flows import LIST, connections_in

CONTROLS = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
BPF = Path("/sys/fs/bpf")
ALWAYS = exmachina.Table.single(["send_ewma", "ack_ewma", "rtt_ratio", "slow_ack_ewma"], 0.5, 10, 0.25, "always")


@pytest.fixture
def name() -> Iterator[str]:
    """What a table may be called in the kernel; nothing of that name is left behind."""
    chosen = f"t{os.getpid()}"
    yield chosen
    assert chosen not in CONTROLS.read_text().split()
    assert left_by(chosen) == []


@pytest.fixture
def untouched() -> Iterator[None]:
    """Nothing of the machine is another afterwards: interfaces, namespaces, mounts, pins."""
    before = standing()
    yield
    assert standing() == before


def standing() -> list[str]:
    pins = sorted(str(path) for path in BPF.rglob("*"))
    temporary = sorted(str(path) for path in Path("/tmp").glob("exmachina-*"))
    links = run("ip", "-o", "link", "show", "type", "veth")
    return [links, run("ip", "netns", "list"), Path("/proc/self/mounts").read_text(), *pins, *temporary]


def test_what_the_machine_lacks_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(needs, "BTF", tmp_path / "btf")
    monkeypatch.setattr(needs, "HELPERS", tmp_path / "bpf_helpers.h")
    monkeypatch.setattr(shutil, "which", lambda tool: None if tool == "clang" else tool)
    with pytest.raises(exmachina.MachineError) as refused, loaded("known-1x"):
        pass
    said = str(refused.value)
    assert said.startswith("deploy: this machine lacks root (try sudo); a kernel with CONFIG_DEBUG_INFO_BTF (")
    assert said.endswith("; clang, libbpf-dev (Debian: apt-get install clang libbpf-dev)")
    assert "\n" not in said


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ({}, "deploy: expected either a route, such as 10.0.0.0/8, or everywhere"),
        ({"route": "10.0.0.0/8", "everywhere": True}, "deploy: expected either a route, such as"),
        ({"route": "10.0.0.1/8"}, "route: expected a network such as 10.0.0.0/8: "),
        ({"route": "10.0.0.0/8; reboot"}, "route: expected a network such as 10.0.0.0/8: "),
    ],
)
def test_one_place_must_be_said(place: dict[str, Any], told: str) -> None:
    for planned in (exmachina.deploy_commands, lambda *args, **kept: exmachina.deploy(*args, **kept).__enter__()):
        with pytest.raises(exmachina.OptionError) as refused:
            planned("known-1x", **place)
        assert str(refused.value).startswith(told)


def test_the_commands_for_another_machine_keep_all_else_of_a_route() -> None:
    lines = exmachina.deploy_commands("known-1x", route="10.1.0.0/16", name="mine").splitlines()
    assert [line for line in lines if not line.startswith("#")] == [
        "exmachina export known-1x --to bpf --name mine -o mine",
        "make -C mine load",
        "BEFORE=$(ip -4 route show exact 10.1.0.0/16)",
        "ip -4 route change $BEFORE congctl mine",
        "ip -4 route change $BEFORE",
        "make -C mine unload",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_new_connections_of_a_route_have_it_while_the_command_runs_and_all_is_as_before_after(
    end: signal.Signals, name: str, untouched: None, tmp_path: Path
) -> None:
    need("ip", "ss", "sysctl", root=True)
    place = ["--route", "10.9.0.0/24"]
    ALWAYS.save(tmp_path / "always.dna")
    with two_hosts() as hosts:
        inside = ["ip", "netns", "exec", hosts[0]]
        before = run(*inside, "ip", "route")
        command = [*inside, sys.executable, "-m", "exmachina", "deploy", "always.dna", "--name", name, *place]
        with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as deploying:
            assert deploying.stdout is not None
            assert deploying.stdout.readline().startswith(f"{name}: new connections ")
            said, received = transferred(hosts, "default", 1_000_000)
            deploying.send_signal(end)
            assert "Connections that have it keep it" in deploying.stdout.read()
        assert deploying.returncode == 0
        assert run(*inside, "ip", "route") == before
        assert transferred(hosts, "default", 1000)[0]["control"] != name
    assert (said["control"], said["window"], received) == (name, 19, 1_000_000)


@pytest.mark.slow
def test_everywhere_is_the_default_of_the_first_namespace_alone(name: str, untouched: None) -> None:
    need("ip", "sysctl", root=True)
    program = f"""if True:
        from pathlib import Path
        import exmachina
        from exmachina.deploying.loading import told
        from exmachina.deploying.places import Everywhere
        place, default = Everywhere(), Path("/proc/sys/net/ipv4/tcp_congestion_control")
        before = default.read_text()
        told(*place.changed(before.split(), "reno"))
        assert default.read_text().split() == ["reno"] != before.split()
        told(*place.changed(before.split(), None))
        assert default.read_text() == before
        try:
            exmachina.deploy("known-1x", everywhere=True, name="{name}").__enter__()
        except exmachina.OptionError as refused:
            print(refused)
    """
    with two_hosts() as (near, _):
        said = run("ip", "netns", "exec", near, sys.executable, "-c", program)
    assert said.startswith("everywhere: expected the machine's own network namespace")


@pytest.mark.slow
def test_connections_are_shown_with_window_round_trip_and_pace(name: str, untouched: None) -> None:
    need("ip", "ss", root=True)
    with two_hosts() as (near, far), loaded(ALWAYS, name=name), receiving(far):
        sender = subprocess.Popen(sending(near, name, 1 << 33))
        shown: list[exmachina.Connection] = []
        while not shown or shown[0].cwnd != 19:
            assert sender.poll() is None
            shown = connections_in(run("ip", "netns", "exec", near, *LIST).splitlines(), name)
        sender.kill()
        sender.wait()
    (one,) = shown
    assert one.peer == "10.9.0.2:5001"
    assert one.rtt_ms > 0
    assert one.acked_bytes > 0
    assert one.pacing_bps == pytest.approx(8 * 1448 / 0.25e-3, rel=0.01)


@pytest.mark.slow
def test_it_carries_traffic_with_the_window_and_the_pace_of_its_rule(name: str, untouched: None) -> None:
    need("ip", root=True)
    with loaded(ALWAYS, name=name) as called, two_hosts() as hosts:
        said, received = transferred(hosts, called, 1_000_000)
    assert received == 1_000_000
    assert (said["control"], said["window"]) == (name, 19)
    assert said["pace"] == said["mss"] * 1_000_000_000 // 250_000


@pytest.mark.slow
def test_24_loads_in_a_row_leave_nothing_behind(name: str, untouched: None) -> None:
    need(root=True)
    for _ in range(24):
        with loaded(ALWAYS, name=name):
            assert name in CONTROLS.read_text().split()
        assert name not in CONTROLS.read_text().split()


@pytest.mark.slow
def test_a_sender_that_is_killed_midway_leaves_nothing_behind(name: str, untouched: None) -> None:
    need("ip", root=True)
    with two_hosts() as (near, far), loaded(ALWAYS, name=name), receiving(far) as listening:
        with subprocess.Popen(sending(near, name, 1 << 33)) as sender:
            while f"{name} " not in run("ip", "netns", "exec", near, "ss", "-tinH"):
                assert sender.poll() is None
            sender.kill()
        assert listening.stdout is not None
        assert int(listening.stdout.read()) > 0


@pytest.mark.slow
def test_connections_keep_a_table_that_is_taken_out_and_the_kernel_as_long(name: str, untouched: None) -> None:
    need("ip", root=True)
    with two_hosts() as (near, far), receiving(far):
        with loaded(ALWAYS, name=name):
            sender = subprocess.Popen(sending(near, name, 1 << 33))
            while f"{name} " not in run("ip", "netns", "exec", near, "ss", "-tinH"):
                assert sender.poll() is None
        assert f"{name} " in run("ip", "netns", "exec", near, "ss", "-tinH")
        assert f"x_{name} " in run("bpftool", "struct_ops", "list")
        sender.kill()
        sender.wait()


@pytest.mark.slow
def test_a_name_that_the_kernel_has_is_refused_and_what_a_killed_process_left_is_taken_out(name: str) -> None:
    need(root=True)
    with pytest.raises(exmachina.OptionError, match=r"^name: this kernel has a cubic; "), loaded(ALWAYS, name="cubic"):
        pass
    context = loaded(ALWAYS, name=name)
    context.__enter__()
    unload(name)
    with pytest.raises(exmachina.OptionError, match=rf"^remove: this kernel has no table {name}$"):
        unload(name)
    # Nothing of it is left to take out, which is what its end is for.
    context.__exit__(None, None, None)


@pytest.mark.slow
def test_what_was_registered_when_ctrl_c_came_is_taken_out(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    need(root=True)
    told = loading.told

    def then_ctrl_c(*command: str, folder: str | os.PathLike[str] | None = None) -> str:
        said = told(*command, folder=folder)
        if command[-2] == "register":
            assert name in loading.controls()
            raise KeyboardInterrupt
        return said

    monkeypatch.setattr(loading, "told", then_ctrl_c)
    with pytest.raises(KeyboardInterrupt), loaded(ALWAYS, name=name):
        pass
    assert name not in loading.controls()
