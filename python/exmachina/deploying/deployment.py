"""A table in use on this machine: in the kernel, and where it was told to be."""

import os
import shlex
from dataclasses import dataclass
from types import TracebackType

from exmachina.deploying.flows import Connection, connections_of
from exmachina.deploying.loading import called, check_free, exported, register, tables, unregister
from exmachina.deploying.needs import check_machine
from exmachina.deploying.places import place_of, places_with
from exmachina.errors import OptionError
from exmachina.schemes import Table, TableLike

__all__ = ["Deployed", "deploy", "deploy_commands"]

TOOLS = ("ip", "ss", "unshare", "mount")


@dataclass(frozen=True)
class Deployed:
    """A table that this machine's kernel has now, whoever put it there; of a `with`, until its end.

    >>> exmachina.Deployed("general_1").name
    'general_1'
    """

    name: str
    """What the kernel calls it."""

    def __enter__(self) -> "Deployed":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        _withdraw(self.name)

    @classmethod
    def all(cls) -> list["Deployed"]:
        """The tables that the kernel has now, by their names.

        Raises:
            MachineError: If this machine lacks something.
        """
        check_machine("deploy", *TOOLS)
        return [cls(name) for name in sorted(tables())]

    def connections(self) -> list[Connection]:
        """Those of this network namespace that have it."""
        return connections_of(self.name)

    def places(self) -> list[str]:
        """Whose new connections get it: `to 10.0.0.0/8`, `of /sys/fs/cgroup/user.slice`, `everywhere`.

        Routes are those of this network namespace.
        """
        return [str(place) for place in places_with(self.name)]

    def remove(self) -> None:
        """Takes it away from where it is, so that all is as it was, and out of the kernel.

        Raises:
            MachineError: If this machine lacks something, or its kernel refuses.
            OptionError: If the kernel has no table of that name.
        """
        check_machine("deploy", *TOOLS)
        if self.name not in tables() and not places_with(self.name):
            raise OptionError(f"remove: this kernel has no table {self.name}")
        _withdraw(self.name)


def deploy(
    table: TableLike,
    *,
    route: str | None = None,
    cgroup: str | None = None,
    everywhere: bool = False,
    name: str | None = None,
) -> Deployed:
    """Loads a table into this machine's kernel, and has new connections use it.

    It stays until it is removed, or to the end of a `with`; then all is as it was. Connections that have the table keep
    it until they end, the kernel as long; those that were open before are not touched.

    >>> with exmachina.deploy("general-1"):
    ...     pass
    Traceback (most recent call last):
        ...
    exmachina.errors.OptionError: deploy: expected one of a route, such as 10.0.0.0/8, a cgroup, or everywhere, ...

    Args:
        table: A table, its path, or the name of an algorithm that comes with the program.
        route: Only connections to this network, such as 10.0.0.0/8, to which there must be a route; it keeps all else.
        cgroup: Only connections of programs of this cgroup v2, such as /sys/fs/cgroup/user.slice, or of one below it.
        everywhere: All connections of the machine that do not ask for something else.
        name: What the kernel calls it; the table's name if not given, of which there is room for 13 letters.

    Raises:
        MachineError: If this machine lacks something, or its kernel refuses.
        OptionError: If not exactly one place is given, or there is no such place, or it has something already.
    """
    place = place_of(route=route, cgroup=cgroup, everywhere=everywhere)
    table = Table.of(table)
    kernel = called(table, name)
    check_machine("deploy", *TOOLS)
    check_free(kernel)
    place.check()  # so that nothing is built for a place that is none
    with exported(table, kernel) as sources:
        register(sources.folder, kernel)
        try:
            place.put(sources)
        except BaseException:
            _withdraw(kernel)
            raise
    return Deployed(kernel)


def deploy_commands(
    table: TableLike,
    *,
    route: str | None = None,
    cgroup: str | None = None,
    everywhere: bool = False,
    name: str | None = None,
) -> str:
    """What `deploy` does, as commands for another machine that has sources of the table by `exmachina export`.

    >>> print(exmachina.deploy_commands("known-1x", everywhere=True).splitlines()[-1])
    make -C known_1x unload

    Raises:
        OptionError: If not exactly one place is given, or it is none.
    """
    place = place_of(route=route, cgroup=cgroup, everywhere=everywhere)
    kernel = called(Table.of(table), name)
    source = f"{table.name}.dna" if isinstance(table, Table) else os.fspath(table)
    keep, put, back = place.printed(kernel)
    return f"""\
# Here: sources, to be taken to the machine.
exmachina export {shlex.quote(source)} --to bpf --name {kernel} -o {kernel}
# There, as root:
make -C {kernel} load
{keep}
{put}
# When it is enough. Connections that have it keep it until they end:
{back}
make -C {kernel} unload
"""


def _withdraw(name: str) -> None:
    for place in places_with(name):
        place.take(name)
    unregister(name)
