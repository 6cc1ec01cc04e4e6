"""A table in the kernel for a while: exported, built, registered under a name, and taken out again.

The kernel holds what was registered, not the process that did so: whoever is killed leaves it there, until `unload`.
"""

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from exmachina.deploying.needs import check_machine
from exmachina.errors import MachineError, OptionError
from exmachina.exporting import export, kernel_name
from exmachina.schemes import Table, TableLike

__all__ = ["called", "controls", "loaded", "registered", "told", "unload"]

OBJECT = "exm.bpf.o"
CONTROLS = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
MAP = "x_{}"
"""What the map of a table is called whose name is in the braces, as exported sources have it."""


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
    if name in controls():
        raise OptionError(
            f"name: this kernel has a {name}; give another, or remove that: exmachina deploy --remove {name}"
        )
    with ExitStack() as undo:
        with tempfile.TemporaryDirectory(prefix="exmachina-") as folder:
            export(table, to="bpf", output=folder, name=name)
            undo.enter_context(registered(folder, name))
        yield name


@contextmanager
def registered(folder: str | os.PathLike[str], name: str) -> Iterator[None]:
    """Builds exported sources where they are, and has the kernel know them meanwhile, with or without the folder.

    Raises:
        MachineError: If they cannot be built, or the kernel refuses them.
    """
    told("make", "--silent", OBJECT, folder=folder)
    older = _numbers(name)
    try:
        told("bpftool", "struct_ops", "register", OBJECT, folder=folder)
        yield
    finally:
        # What the kernel has refused may be shown for a moment, too.
        if name in controls():
            for number in _numbers(name) - older:
                _take_out(number)


def unload(name: str) -> None:
    """Takes a table out that a killed process has left in the kernel.

    Raises:
        MachineError: If this machine lacks something.
        OptionError: If the kernel has no table of that name.
    """
    check_machine("deploy")
    if name not in controls():
        raise OptionError(f"remove: this kernel has no table {name}")
    numbers = _numbers(name)
    if not numbers:
        raise OptionError(f"remove: {name} is none of the tables that were loaded into this kernel")
    _take_out(max(numbers))


def _numbers(name: str) -> set[int]:
    """What bpftool knows tables of a name by: the latest may be registered, others are held by connections."""
    maps = json.loads(told("bpftool", "--json", "struct_ops", "show"))
    return {one["id"] for one in maps if one["name"] == MAP.format(name)}


def _take_out(number: int) -> None:
    told("bpftool", "struct_ops", "unregister", "id", str(number))


def called(table: Table, name: str | None) -> str:
    """What the kernel would call a table.

    Raises:
        OptionError: If it would not take the name that was given.
    """
    return kernel_name(name or table.name, given=name is not None)


def controls() -> list[str]:
    """The congestion controls that the kernel has now."""
    return CONTROLS.read_text().split()


def told(*command: str, folder: str | os.PathLike[str] | None = None) -> str:
    """What a program says.

    Raises:
        MachineError: The last line of its complaint, if it fails.
    """
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        complaint = (done.stderr.strip() or done.stdout.strip() or "no reason given").splitlines()[-1]
        raise MachineError(f"deploy: {' '.join(command)}: {complaint}")
    return done.stdout
