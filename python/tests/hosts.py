"""Two hosts for tests of what is loaded into the kernel: network namespaces, and transfers between them."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from exmachina.deploying import lacking

__all__ = ["left_by", "need", "receiving", "run", "sending", "transferred", "two_hosts"]

TRANSFER = Path(__file__).parent / "drivers" / "transfer.py"
ADDRESS, PORT = "10.9.0.2", "5001"


def need(*tools: str, root: bool = False) -> None:
    """Skips where something is missing, and says what."""
    lacks = lacking(*tools, root=root)
    if lacks:
        pytest.skip(f"needs {'; '.join(lacks)}")


def run(*command: str | Path, cwd: Path | None = None) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}: {done.stderr[-2000:]}"
    return done.stdout


def left_by(name: str) -> list[str]:
    """What bpftool still lists some seconds after: a connection that ends, and the kernel that frees, take a moment."""
    for _ in range(100):
        left = [line for line in run("bpftool", "struct_ops", "list").splitlines() if f"x_{name} " in line]
        if not left:
            return []
        time.sleep(0.1)
    return left


@contextmanager
def two_hosts() -> Iterator[tuple[str, str]]:
    """Two namespaces with a cable between them: 10.9.0.1 and 10.9.0.2."""
    names = f"exm{os.getpid()}a", f"exm{os.getpid()}b"
    with ExitStack() as undo:
        for name in names:
            run("ip", "netns", "add", name)
            undo.callback(run, "ip", "netns", "del", name)
        run("ip", "link", "add", "veth0", "netns", names[0], "type", "veth", "peer", "name", "veth0", "netns", names[1])
        for number, name in enumerate(names, 1):
            run("ip", "-n", name, "addr", "add", f"10.9.0.{number}/24", "dev", "veth0")
            run("ip", "-n", name, "link", "set", "veth0", "up")
        yield names


def sending(host: str, control: str, count: int) -> list[str]:
    """The command that sends so many bytes."""
    return ["ip", "netns", "exec", host, sys.executable, str(TRANSFER), "send", ADDRESS, PORT, control, str(count)]


@contextmanager
def receiving(host: str) -> Iterator[subprocess.Popen[str]]:
    """Somebody who takes what one connection sends, and prints how many bytes these were."""
    command = ["ip", "netns", "exec", host, sys.executable, str(TRANSFER), "receive", ADDRESS, PORT]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as listening:
        try:
            assert listening.stdout is not None
            assert listening.stdout.readline() == "listening\n"
            yield listening
        finally:
            listening.kill()


def transferred(hosts: tuple[str, str], control: str, count: int, *within: str) -> tuple[dict[str, Any], int]:
    """What the kernel says of a connection that has sent so many bytes, and how many came.

    `within` is a command that runs the sender's, which are its last words.
    """
    sender, receiver = hosts
    with receiving(receiver) as listening:
        said = json.loads(run(*within, *sending(sender, control, count)))
        assert listening.stdout is not None
        return said, int(listening.stdout.read())
