"""Tables in this machine's kernel: what is refused anywhere; and where there is all it needs, real connections."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hosts import left_by, need, receiving, run, sending, transferred, two_hosts

import exmachina
from exmachina.deploying import loaded, loading, needs
from exmachina.deploying.flows import LIST, connections_in
from exmachina.deploying.places import root_of_cgroups

CONTROLS = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
BPF = Path("/sys/fs/bpf")
ALWAYS = exmachina.Table.single(["send_ewma", "ack_ewma", "rtt_ratio", "slow_ack_ewma"], 0.5, 10, 0.25, "always")


@pytest.fixture
def name() -> Iterator[str]:
    """What a table may be called in the kernel; nothing of that name is left behind."""
    need("bpftool")  # tells what is left, whether or not the test that asks for a name could run
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
    # `ip netns add` mounts its folder on itself the first time, for good.
    mounts = [line for line in Path("/proc/self/mounts").read_text().splitlines() if " /run/netns " not in line]
    return [links, run("ip", "netns", "list"), *mounts, *pins, *temporary]


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
        ({}, "deploy: expected one of a route, such as 10.0.0.0/8, a cgroup, or everywhere"),
        ({"route": "10.0.0.0/8", "everywhere": True}, "deploy: expected one of a route, such as"),
        ({"route": "10.0.0.0/8", "cgroup": "/sys/fs/cgroup/a"}, "deploy: expected one of a route, such as"),
        ({"route": "10.0.0.1/8"}, "route: expected a network such as 10.0.0.0/8: "),
        ({"route": "10.0.0.0/8; reboot"}, "route: expected a network such as 10.0.0.0/8: "),
    ],
)
def test_one_place_must_be_said(place: dict[str, Any], told: str) -> None:
    for planned in (exmachina.deploy_commands, exmachina.deploy):
        with pytest.raises(exmachina.OptionError) as refused:
            planned("known-1x", **place)
        assert str(refused.value).startswith(told)


@pytest.mark.parametrize(
    ("place", "lines"),
    [
        (
            {"route": "10.1.0.0/16"},
            [
                "BEFORE=$(ip -4 route show exact 10.1.0.0/16)",
                "ip -4 route change $BEFORE congctl mine",
                "ip -4 route change $BEFORE",
            ],
        ),
        (
            {"cgroup": "/sys/fs/cgroup/two words"},
            [
                "CGROUP='/sys/fs/cgroup/two words'",
                'make -C mine attach CGROUP="$CGROUP"',
                'make -C mine detach CGROUP="$CGROUP"',
            ],
        ),
        (
            {"everywhere": True},
            [
                "CGROUP=$(findmnt --noheadings --first-only --types cgroup2 --output TARGET)",
                'make -C mine attach CGROUP="$CGROUP"',
                'make -C mine detach CGROUP="$CGROUP"',
            ],
        ),
    ],
)
def test_the_commands_for_another_machine_put_there_and_take_away(place: dict[str, Any], lines: list[str]) -> None:
    remember, put, take = lines
    commands = exmachina.deploy_commands("known-1x", **place, name="mine").splitlines()
    assert [line for line in commands if not line.startswith("#")] == [
        "exmachina export known-1x --to bpf --name mine -o mine",
        "make -C mine load",
        remember,
        put,
        take,
        "make -C mine unload",
    ]


def test_a_folder_that_is_no_cgroup_and_the_cgroup_of_all_programs_are_refused(tmp_path: Path, cgroup: Path) -> None:
    for path in ("", tmp_path, tmp_path / "none", cgroup / "none"):
        with pytest.raises(exmachina.OptionError, match=r"^cgroup: expected the folder of a cgroup v2, such as "):
            exmachina.deploy("known-1x", cgroup=str(path))
    with pytest.raises(exmachina.OptionError, match=r"if it is meant, say everywhere$"):
        exmachina.deploy("known-1x", cgroup=str(cgroup.parent))


@pytest.fixture
def cgroup(tmp_path: Path) -> Iterator[Path]:
    """A cgroup of the test's own; where none of v2 are mounted, they are meanwhile."""
    need("ip", "unshare", "mount", "bpftool", root=True)
    root = root_of_cgroups()
    if root is None:
        root = tmp_path / "cgroups"
        root.mkdir()
        if subprocess.run(["mount", "-t", "cgroup2", "none", root], check=False).returncode:
            pytest.skip("needs cgroup v2")
    own = root / f"exm{os.getpid()}"
    own.mkdir()
    yield own
    left = run("bpftool", "cgroup", "tree", own)
    own.rmdir()
    if root.parent == tmp_path:
        run("umount", root)
    assert "sock_ops" not in left


def joining(cgroup: Path) -> tuple[str, ...]:
    """What runs a command, its last words, in a cgroup."""
    return "sh", "-ec", 'echo $$ > "$0"; exec "$@"', str(cgroup / "cgroup.procs")


@dataclass(frozen=True)
class Spot:
    """A place of the test's own: how it is said, and what runs commands where they see it, and where they are in it."""

    option: tuple[str, ...]
    words: str
    seeing: tuple[str, ...]
    within: tuple[str, ...]


@contextmanager
def spot(place: str, cgroup: Path) -> Iterator[tuple[Spot, tuple[str, str]]]:
    """The route between two hosts; a cgroup; everywhere, seen from where a cgroup is all there is. And the hosts."""
    alone = ("unshare", "--cgroup", "--mount", "sh", "-ec", 'mount -t cgroup2 none /sys/fs/cgroup; exec "$@"', "sh")
    within = joining(cgroup)
    with two_hosts() as hosts:
        spots = {
            "route": Spot(("--route", "10.9.0.0/24"), "to 10.9.0.0/24", ("ip", "netns", "exec", hosts[0]), ()),
            "cgroup": Spot(("--cgroup", str(cgroup)), f"of {cgroup}", (), within),
            "everywhere": Spot(("--everywhere",), "everywhere", (*within, *alone), within),
        }
        run("ip", "-n", hosts[0], "route", "change", *run("ip", "-n", hosts[0], "route").split(), "mtu", "1400")
        before = run("ip", "-n", hosts[0], "route")
        yield spots[place], hosts
        assert run("ip", "-n", hosts[0], "route") == before


DEPLOY = (sys.executable, "-m", "exmachina", "deploy")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("place", "end"), [("route", signal.SIGINT), ("cgroup", signal.SIGTERM), ("everywhere", signal.SIGHUP)]
)
def test_new_connections_of_a_place_have_it_while_the_command_runs_and_all_is_as_before_after(
    place: str, end: signal.Signals, name: str, untouched: None, cgroup: Path
) -> None:
    with spot(place, cgroup) as (there, hosts), tempfile.TemporaryDirectory() as folder:
        ALWAYS.save(Path(folder) / "always.dna")
        command = [*there.seeing, *DEPLOY, "always.dna", "--name", name, *there.option]
        with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as deploying:
            assert deploying.stdout is not None
            assert deploying.stdout.readline() == f"{name}: new connections {there.words} have it, until ctrl-C.\n"
            said, received = transferred(hosts, "default", 1_000_000, *there.within)
            deploying.send_signal(end)
            assert "Connections that have it keep it" in deploying.stdout.read()
        assert deploying.returncode == 0
        assert transferred(hosts, "default", 1000, *there.within)[0]["control"] != name
    assert (said["control"], said["window"], received) == (name, 19, 1_000_000)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("place", "end"), [("route", "killed"), ("route", "detached"), ("cgroup", "detached"), ("everywhere", "killed")]
)
def test_what_a_command_left_that_was_killed_or_detached_is_listed_in_use_and_removed(
    place: str, end: str, name: str, untouched: None, cgroup: Path
) -> None:
    with spot(place, cgroup) as (there, hosts):
        command = [*there.seeing, *DEPLOY, "known-1x", "--name", name, *there.option]
        if end == "detached":
            assert f"exmachina deploy --remove {name}" in run(*command, "--detach")
        else:
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as deploying:
                assert deploying.stdout is not None
                assert name in deploying.stdout.readline()
                deploying.kill()
        assert transferred(hosts, "default", 1000, *there.within)[0]["control"] == name
        listed = run(*there.seeing, *DEPLOY, "--list")
        assert [name, *there.words.split(), "0"] in [line.split() for line in listed.splitlines()]
        run(*there.seeing, *DEPLOY, "--remove", name)
        assert transferred(hosts, "default", 1000, *there.within)[0]["control"] != name


@pytest.mark.slow
def test_of_cgroups_the_innermost_has_its_way_and_before_it_what_a_program_asks_for(
    name: str, untouched: None, cgroup: Path
) -> None:
    inner = cgroup / "inner"
    inner.mkdir()

    def control(asked: str, *within: str) -> Any:
        return transferred(hosts, asked, 1000, *within)[0]["control"]

    with two_hosts() as hosts, exmachina.deploy("known-1x", cgroup=str(inner), name=f"{name}in") as within:
        assert control("default", *joining(cgroup)) != name
        with exmachina.deploy(ALWAYS, cgroup=str(cgroup), name=name) as around:
            assert control("default", *joining(inner)) == within.name
            assert control("default", *joining(cgroup)) == around.name
            assert control("reno", *joining(cgroup)) == "reno"
            assert control("default") not in (within.name, around.name)
            with pytest.raises(exmachina.OptionError, match=f"has the sock_ops program x_{name} already"):
                exmachina.deploy("known-1x", cgroup=str(cgroup), name=f"{name}x")
    inner.rmdir()


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
    exmachina.Deployed(name).remove()
    with pytest.raises(exmachina.OptionError, match=rf"^remove: this kernel has no table {name}$"):
        exmachina.Deployed(name).remove()
    # Nothing of it is left to take out, which is what its end is for.
    context.__exit__(None, None, None)


@pytest.mark.slow
def test_what_was_registered_when_ctrl_c_came_is_taken_out(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    need(root=True)
    told = loading.told

    def then_ctrl_c(*command: str, folder: str | os.PathLike[str] | None = None) -> str:
        said = told(*command, folder=folder)
        if command[-2] == "register":
            assert name in loading.tables()
            raise KeyboardInterrupt
        return said

    monkeypatch.setattr(loading, "told", then_ctrl_c)
    with pytest.raises(KeyboardInterrupt), loaded(ALWAYS, name=name):
        pass
    assert name not in loading.tables()
