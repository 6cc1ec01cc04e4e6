"""Tables in this machine's kernel: what is refused anywhere; and where there is all it needs, real connections."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hosts import left_by, need, receiving, run, sending, transferred, two_hosts

import exmachina
from exmachina.deploying import loaded, needs, unload

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
    with pytest.raises(exmachina.OptionError, match=rf"^remove: expected one of .*, got {name}$"):
        unload(name)
    with pytest.raises(exmachina.MachineError, match="struct_ops"):
        context.__exit__(None, None, None)
