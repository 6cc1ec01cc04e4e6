"""A table in the kernel for a while: exported, built, registered under a name, and taken out again.

The kernel holds what was registered, not the process that did so: whoever is killed leaves it there.
"""

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from exmachina.deploying.needs import check_machine
from exmachina.errors import MachineError, OptionError
from exmachina.exporting import export, kernel_name
from exmachina.schemes import Table, TableLike

__all__ = [
    "MAP",
    "Sources",
    "called",
    "check_free",
    "exported",
    "loaded",
    "register",
    "registered",
    "tables",
    "told",
    "unregister",
]

OBJECT = "exm.bpf.o"
CONTROLS = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
MAP = "x_{}"
"""What the map of a table is called whose name is in the braces, and its program of a cgroup, in exported sources."""


@dataclass(frozen=True)
class Sources:
    """A table as it was exported."""

    name: str
    """What the kernel calls it."""
    folder: Path


@contextmanager
def loaded(table: TableLike, *, name: str | None = None) -> Iterator[str]:
    """Has the kernel know a table by the name that is given, for `TCP_CONGESTION`; no connection has it by that.

    At the end it is taken out: nobody can ask for it any more, and connections that have it keep it until they end.

    Args:
        table: A table, its path, or the name of an algorithm that comes with the program.
        name: What the kernel calls it; the table's name if not given, of which there is room for 13 letters.

    Raises:
        MachineError: If this machine lacks something, or its kernel refuses the table.
        OptionError: If the kernel has something of that name.
    """
    check_machine("deploy")
    table = Table.of(table)
    name = called(table, name)
    with ExitStack() as undo:
        with exported(table, name) as sources:
            undo.enter_context(registered(sources.folder, name))
        yield name


@contextmanager
def exported(table: Table, name: str) -> Iterator[Sources]:
    """A table's sources, which are there meanwhile."""
    with tempfile.TemporaryDirectory(prefix="exmachina-") as folder:
        export(table, to="bpf", output=folder, name=name)
        yield Sources(name, Path(folder))


@contextmanager
def registered(folder: str | os.PathLike[str], name: str) -> Iterator[None]:
    """Builds exported sources where they are, and has the kernel know them meanwhile, with or without the folder.

    Raises:
        MachineError: If they cannot be built, or the kernel refuses them.
        OptionError: If the kernel has something of that name.
    """
    register(folder, name)
    try:
        yield
    finally:
        unregister(name)


def register(folder: str | os.PathLike[str], name: str) -> None:
    """Builds exported sources where they are, and has the kernel know them.

    Raises:
        MachineError: If they cannot be built, or the kernel refuses them.
        OptionError: If the kernel has something of that name.
    """
    check_free(name)
    told("make", "--silent", OBJECT, folder=folder)
    try:
        told("bpftool", "struct_ops", "register", OBJECT, folder=folder)
    except BaseException:
        unregister(name)
        raise


def unregister(name: str) -> None:
    """Takes a table out of the kernel, if it has one of that name."""
    number = tables().get(name)
    if number is not None:
        told("bpftool", "struct_ops", "unregister", "id", str(number))


def check_free(name: str) -> None:
    """Refuses a name that the kernel has already.

    Raises:
        OptionError: What to do about it.
    """
    if name in _controls():
        raise OptionError(
            f"name: this kernel has a {name}; give another, or remove that: exmachina deploy --remove {name}"
        )


def tables() -> dict[str, int]:
    """The tables that the kernel has, and what bpftool knows them by; of one name the last, connections hold others."""
    maps = json.loads(told("bpftool", "--json", "struct_ops", "show"))
    numbers = {name: [one["id"] for one in maps if one["name"] == MAP.format(name)] for name in _controls()}
    return {name: max(known) for name, known in numbers.items() if known}


def called(table: Table, name: str | None) -> str:
    """What the kernel would call a table.

    Raises:
        OptionError: If it would not take the name that was given.
    """
    return kernel_name(name or table.name, given=name is not None)


def _controls() -> list[str]:
    """The congestion controls that the kernel has now."""
    return CONTROLS.read_text().split()


def told(*command: str, folder: str | os.PathLike[str] | None = None) -> str:
    """What a program says.

    Raises:
        MachineError: Its last complaint, if it fails.
    """
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        said = [line for line in f"{done.stdout}\n{done.stderr}".splitlines() if line.strip()]
        # What make says of it last is that there was something.
        complaint = [line for line in said if not line.startswith("make: ***")] or ["no reason given"]
        raise MachineError(f"deploy: {' '.join(command)}: {complaint[-1]}")
    return done.stdout
