"""What a machine must have to measure."""

import os
import platform
from pathlib import Path

from exmachina import _core
from exmachina.errors import MachineError

__all__ = ["check_machine", "check_program"]

TUN = Path("/dev/net/tun")


def check_program() -> None:
    """Refuses a program that cannot measure on any machine.

    Raises:
        MachineError: If this is not Linux, or the program was built without.
    """
    if platform.system() != "Linux":
        raise MachineError(f"testbed: it needs Linux, this is {platform.system()}")
    if not hasattr(_core, "measure"):
        raise MachineError("testbed: this program was built without it, for a demo: `make build` builds all")


def check_machine() -> None:
    """Refuses a machine that lacks something.

    Raises:
        MachineError: The first thing that it lacks.
    """
    if os.geteuid() != 0:
        raise MachineError("testbed: it needs root, for network namespaces and devices in them: try sudo")
    if not TUN.exists():
        raise MachineError(f"testbed: it needs {TUN}: `modprobe tun`, or a container that may have it")
