"""`exmachina deploy`: a table in use while the command runs, and its connections as they stand."""

import signal
import sys
import time
from typing import Annotated, NoReturn

from cyclopts import Parameter
from rich.console import Console
from rich.live import Live
from rich.table import Table as Grid

from exmachina.command.parameters import Quiet
from exmachina.command.terminal import consoles, si
from exmachina.deploying import Connection, Deployed, deploy_commands
from exmachina.deploying import deploy as deploy_table
from exmachina.errors import OptionError

__all__ = ["deploy"]

LOOK_EVERY_S = 1.0
OPEN = "Connections that have it keep it until they end; the kernel keeps it as long."


def deploy(
    table: str | None = None,
    *,
    route: str | None = None,
    cgroup: str | None = None,
    everywhere: bool = False,
    name: str | None = None,
    detach: bool = False,
    only_print: Annotated[bool, Parameter(name="--print")] = False,
    only_list: Annotated[bool, Parameter(name="--list")] = False,
    remove: str | None = None,
    quiet: Quiet = False,
) -> None:
    """Use a rule table on this machine, as root: load it into the kernel, for new connections of a place, until ctrl-C.

    Then all is as it was. Connections that have the table by then keep it until they end; those that were open before
    are not touched.

    Args:
        table: A file (.dna), or an algorithm of `exmachina list`.
        route: Only connections to this network, such as 10.0.0.0/8, to which there must be a route.
        cgroup: Only connections of programs of this cgroup v2, such as /sys/fs/cgroup/user.slice, or of one below it.
        everywhere: All connections of the machine that do not ask for something else.
        name: What the kernel calls it; the table's name if not given, of which there is room for 13 letters.
        detach: Leave it there and return; --remove ends it.
        only_print: Print the commands that do so, for a machine that is not this one.
        only_list: Say which tables the kernel has, for which connections, and how many have them.
        remove: Set all back of a table of this name, which --detach or a killed process has left there.
        quiet: Show no connections.
    """
    if [table is not None, remove is not None, only_list].count(True) != 1:
        raise OptionError("deploy: expected one of a table, --list, and --remove with a table's name in the kernel")
    out, messages = consoles()
    if only_list:
        out.print(_listed(Deployed.all()))
    elif remove is not None:
        Deployed(remove).remove()
    elif only_print:
        print(deploy_commands(str(table), route=route, cgroup=cgroup, everywhere=everywhere, name=name), end="")
    else:
        for end in (signal.SIGTERM, signal.SIGHUP):  # of a service, of a terminal: as ctrl-C
            if signal.getsignal(end) is not signal.SIG_IGN:
                signal.signal(end, signal.default_int_handler)
        deployed = deploy_table(str(table), route=route, cgroup=cgroup, everywhere=everywhere, name=name)
        if detach:
            out.print(_said(deployed, f"`exmachina deploy --remove {deployed.name}`"), soft_wrap=True)
        else:
            _watch(deployed, out, messages, quiet=quiet)


def _watch(deployed: Deployed, out: Console, messages: Console, *, quiet: bool) -> None:
    """Shows a table's connections, and takes it out at ctrl-C."""
    with deployed:
        try:
            out.print(_said(deployed, "ctrl-C"), soft_wrap=True)
            sys.stdout.flush()
            _show(deployed, messages, quiet=quiet or not messages.is_terminal)
        except KeyboardInterrupt:
            # What was there is put back now, which another ctrl-C is not to keep from happening.
            signal.signal(signal.SIGINT, signal.SIG_IGN)
    out.print(f"Taken out. {OPEN}", soft_wrap=True)


def _said(deployed: Deployed, end: str) -> str:
    return f"{deployed.name}: new connections {' and '.join(deployed.places())} have it, until {end}."


def _listed(deployed: list[Deployed]) -> Grid:
    """Tables, where they are, and the connections that have them."""
    grid = Grid("table", "new connections", "connections now", box=None, padding=(0, 2), header_style="bold")
    for one in deployed:
        where = ", ".join(one.places()) or "that ask for it"
        grid.add_row(one.name, where, str(len(one.connections())))
    return grid


def _show(deployed: Deployed, console: Console, *, quiet: bool) -> NoReturn:
    """Shows connections until ctrl-C."""
    if quiet:
        while True:
            signal.pause()
    last: dict[tuple[str, str], int] = {}
    with Live(console=console, auto_refresh=False, transient=True) as live:
        while True:
            now = deployed.connections()
            live.update(_grid(now, last), refresh=True)
            last = {(one.local, one.peer): one.acked_bytes for one in now}
            time.sleep(LOOK_EVERY_S)


def _grid(now: list[Connection], last: dict[tuple[str, str], int]) -> Grid:
    """Connections, with what was acknowledged since the last look."""
    grid = Grid("from", "to", "window", "RTT, ms", "pace, bit/s", "acked, bit/s")
    for one in now:
        since = one.acked_bytes - last.get((one.local, one.peer), one.acked_bytes)
        grid.add_row(
            one.local,
            one.peer,
            str(one.cwnd),
            f"{one.rtt_ms:.2f}",
            si(one.pacing_bps),
            si(8 * since / LOOK_EVERY_S),
        )
    return grid
