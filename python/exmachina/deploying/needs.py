"""What a machine must have to build a table for its kernel, and to load it."""

import os
import platform
import shutil
from pathlib import Path

from exmachina.errors import MachineError

__all__ = ["BTF", "check_machine", "lacking"]

BTF = Path("/sys/kernel/btf/vmlinux")
HELPERS = Path("/usr/include/bpf/bpf_helpers.h")
PACKAGES = {
    "clang": "clang",
    "bpftool": "bpftool",
    "make": "make",
    "ip": "iproute2",
    "ss": "iproute2",
    "unshare": "util-linux",
    "mount": "mount",
}
"""Debian's package of each tool."""
BUILDING = ("clang", "bpftool", "make")
"""What exported sources are built and loaded with."""


def lacking(*tools: str, root: bool = True) -> list[str]:
    """What this machine lacks to build a table and, with root, to load it; each with what to do.

    Args:
        tools: What is needed besides `clang`, `bpftool` and `make`.
        root: Whether it is to be loaded.
    """
    if platform.system() != "Linux":
        return [f"Linux (this is {platform.system()})"]
    lacks = []
    if root and os.geteuid() != 0:
        lacks.append("root (try sudo)")
    if not BTF.exists():
        lacks.append(f"a kernel with CONFIG_DEBUG_INFO_BTF ({BTF} is missing)")
    packages = [PACKAGES[tool] for tool in (*BUILDING, *tools) if shutil.which(tool) is None]
    if not HELPERS.exists():
        packages.append("libbpf-dev")
    if packages:
        packages = list(dict.fromkeys(packages))
        lacks.append(f"{', '.join(packages)} (Debian: apt-get install {' '.join(packages)})")
    return lacks


def check_machine(who: str, *tools: str) -> None:
    """Refuses a machine that lacks something to load a table with.

    Raises:
        MachineError: All that it lacks, in one line.
    """
    lacks = lacking(*tools)
    if lacks:
        raise MachineError(f"{who}: this machine lacks {'; '.join(lacks)}")
