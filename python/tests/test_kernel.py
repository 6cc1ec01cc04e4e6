"""The export for Linux: it compiles, the verifier takes it, and connections do what the table says.

Needs clang, libbpf's headers and bpftool to compile, root and a kernel with BTF to load; what is missing is the reason
to skip. Everything happens in network namespaces of the test's own, and nothing is left behind.
"""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from grown import grown
from hosts import left_by, need, run, transferred, two_hosts
from laws import UNIT, drawn, numbers

import exmachina
from exmachina import Law, Table

pytestmark = pytest.mark.slow

SIGNALS = ["send_ewma", "ack_ewma", "rtt_ratio", "slow_ack_ewma"]


@pytest.fixture(scope="module")
def kernel_header(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The types of the kernel, which take longer to write than a table to compile."""
    need()
    folder = tmp_path_factory.mktemp("kernel")
    exmachina.export("known-1x", to="bpf", output=folder)
    run("make", "vmlinux.h", cwd=folder)
    return folder / "vmlinux.h"


def built(table: Table | str, folder: Path, header: Path, name: str) -> Path:
    exmachina.export(table, to="bpf", output=folder, name=name)
    (folder / "vmlinux.h").symlink_to(header)
    run("make", "exm.bpf.o", cwd=folder)
    return folder


def controls() -> list[str]:
    return Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text().split()


@contextmanager
def loaded(folder: Path) -> Iterator[None]:
    run("make", "load", cwd=folder)
    try:
        yield
    finally:
        run("make", "unload", cwd=folder)


def test_it_compiles_without_a_warning(kernel_header: Path, tmp_path: Path) -> None:
    exmachina.export("general-1", to="bpf", output=tmp_path)
    (tmp_path / "vmlinux.h").symlink_to(kernel_header)
    done = subprocess.run(["make"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "exm.bpf.o").exists()


def test_a_connection_has_the_window_and_the_pace_of_its_rule(kernel_header: Path, tmp_path: Path) -> None:
    need("ip", root=True)
    name = f"t{os.getpid()}"
    table = Table.single(SIGNALS, 0.5, 10, 0.25, "one-rule")  # 10, 15, 17, 18, 19 packets, and there it stays
    folder = built(table, tmp_path / "one", kernel_header, name)
    with loaded(folder), two_hosts() as hosts:
        assert name in controls()
        said, received = transferred(hosts, name, 1_000_000)
    assert received == 1_000_000
    assert (said["control"], said["window"]) == (name, 19)
    assert said["pace"] == said["mss"] * 1_000_000_000 // 250_000
    assert name not in controls()
    assert left_by(name) == []
    assert f"exm{os.getpid()}" not in run("ip", "netns", "list")


def test_a_connection_under_a_law_has_its_window_and_the_room_beside_it(kernel_header: Path, tmp_path: Path) -> None:
    need("ip", root=True)
    name = f"t{os.getpid()}"
    # It begins for ever, since no queue is five targets long, and all that is added is less than a packet.
    still: Law = {**numbers(0), "first_window": 10 * UNIT, "first_growth": 1, "first_until": 5 * UNIT}
    table = Table.of_law({**still, "first_most": 0, "first_train": 0, "room": 3 * UNIT}, "still")
    folder = built(table, tmp_path / "law", kernel_header, name)
    with loaded(folder), two_hosts() as hosts:
        said, received = transferred(hosts, name, 1_000_000)
    assert received == 1_000_000
    # And sixty more at most, in fours: here all of a window come at once, and one ACK answers them.
    assert (said["control"], said["window"] % 4) == (name, 13 % 4)
    assert 13 <= said["window"] <= 13 + 60
    assert name not in controls()


@pytest.mark.parametrize("name", ["general-0.1-robust", "tao-100x-robust", "such-as-the-authors", "all-signals", "law"])
def test_the_verifier_takes_it_and_it_carries_data(name: str, kernel_header: Path, tmp_path: Path) -> None:
    need("ip", root=True)
    made = {
        "such-as-the-authors": grown(1, SIGNALS, 20),
        "all-signals": grown(6, exmachina.SIGNALS, 3),
        "law": drawn(0),
    }
    called = f"t{os.getpid()}"
    folder = built(made.get(name, name), tmp_path / "out", kernel_header, called)
    with loaded(folder), two_hosts() as hosts:
        said, received = transferred(hosts, called, 30_000)
    assert (said["control"], received) == (called, 30_000)
    assert said["window"] >= 1 and said["pace"] >= 1
    assert called not in controls()
