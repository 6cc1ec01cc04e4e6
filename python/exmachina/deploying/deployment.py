"""A table in use on this machine for a while: in the kernel, and where it was told to be."""

import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from exmachina.deploying.flows import Connection, connections_of
from exmachina.deploying.loading import called, loaded
from exmachina.deploying.needs import check_machine
from exmachina.deploying.places import place_of
from exmachina.schemes import Table, TableLike

__all__ = ["Deployed", "deploy", "deploy_commands"]


@dataclass(frozen=True)
class Deployed:
    """A table that this machine's kernel has now.

    >>> exmachina.Deployed("general_1").name
    'general_1'
    """

    name: str
    """What the kernel calls it."""

    def connections(self) -> list[Connection]:
        """Those of this network namespace that have it."""
        return connections_of(self.name)


@contextmanager
def deploy(
    table: TableLike, *, route: str | None = None, everywhere: bool = False, name: str | None = None
) -> Iterator[Deployed]:
    """Loads a table into this machine's kernel, and has new connections use it meanwhile.

    In the end all is as it was. Connections that have the table keep it until they end, the kernel as long; those
    that were open before are not touched.

    >>> with exmachina.deploy("general-1"):
    ...     pass
    Traceback (most recent call last):
        ...
    exmachina.errors.OptionError: deploy: expected either a route, such as 10.0.0.0/8, or everywhere, ...

    Args:
        table: A table, its path, or the name of an algorithm that comes with the program.
        route: Only connections to this network, such as 10.0.0.0/8, to which there must be a route; it keeps all else.
        everywhere: All connections of the machine's first network namespace that do not ask for something else.
        name: What the kernel calls it; the table's name if not given, of which there is room for 13 letters.

    Raises:
        MachineError: If this machine lacks something, or its kernel refuses.
        OptionError: If not exactly one place is given, or there is no such place.
    """
    place = place_of(route=route, everywhere=everywhere)
    table = Table.of(table)
    check_machine("deploy", "ip", "ss", "sysctl")
    place.before()  # so that nothing is built for a place that is none
    with loaded(table, name=name) as loaded_as, place.having(loaded_as):
        yield Deployed(loaded_as)


def deploy_commands(
    table: TableLike, *, route: str | None = None, everywhere: bool = False, name: str | None = None
) -> str:
    """What `deploy` does, as commands for another machine that has sources of the table by `exmachina export`.

    >>> print(exmachina.deploy_commands("known-1x", everywhere=True).splitlines()[-1])
    make -C known_1x unload

    Raises:
        OptionError: If not exactly one place is given, or it is none.
    """
    place = place_of(route=route, everywhere=everywhere)
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
