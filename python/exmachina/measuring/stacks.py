"""Who is at both ends of what is measured: this machine's kernel, or QUIC in this process.

A program that was built for a demo has no `_core.Stack`: annotations that name it are text.
"""

import os
import platform
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from exmachina import _core
from exmachina.deploying import loaded as in_kernel
from exmachina.measuring.needs import check_machine
from exmachina.schemes import Table

__all__ = ["STACKS", "Kernel", "Quic", "Stack", "StackName"]

StackName: TypeAlias = Literal["kernel", "quic"]
STACKS: tuple[StackName, ...] = ("kernel", "quic")


class Stack(Protocol):
    """The hosts of a measurement."""

    @property
    def made_by(self) -> str:
        """What runs are kept under."""

    @property
    def unknown(self) -> tuple[str, ...]:
        """Columns of flows that they do not tell."""

    def asked(self) -> "_core.Stack":
        """What scenarios are checked against."""

    def check_machine(self) -> None:
        """Refuses a machine that lacks something.

        Raises:
            MachineError: The first thing that it lacks.
        """

    def ready(self) -> AbstractContextManager["_core.Stack"]:
        """All that they need is there meanwhile."""


@dataclass(frozen=True)
class Kernel:
    """This machine's."""

    tables: Mapping[str, Table]
    """Rule tables that it runs, by the contenders' labels."""
    loaded: Mapping[str, str]
    """Its names of what it has already, by the contenders' labels."""
    made_by: str = f"Linux {platform.release()}"
    unknown: tuple[str, ...] = ("reductions",)

    def asked(self) -> "_core.Stack":
        """What scenarios are checked against."""
        return _core.Stack.kernel({**self.loaded, **dict.fromkeys(self.tables, "")})

    def check_machine(self) -> None:
        """Refuses a machine without root and TUN devices."""
        check_machine()

    @contextmanager
    def ready(self) -> Iterator["_core.Stack"]:
        """Tables are in the kernel, under names that are this process's."""
        with ExitStack() as stack:
            names = {
                label: stack.enter_context(in_kernel(table, name=f"tb{os.getpid()}x{number}"))
                for number, (label, table) in enumerate(self.tables.items())
            }
            yield _core.Stack.kernel({**self.loaded, **names})


@dataclass(frozen=True)
class Quic:
    """noq, which runs tables as they are."""

    made_by: str = "noq 1.4.0"
    unknown: tuple[str, ...] = ("reductions", "timeouts")

    def asked(self) -> "_core.Stack":
        """What scenarios are checked against."""
        return _core.Stack.quic()

    def check_machine(self) -> None:
        """It needs nothing."""

    def ready(self) -> AbstractContextManager["_core.Stack"]:
        """Nothing has to be made ready."""
        return nullcontext(_core.Stack.quic())
