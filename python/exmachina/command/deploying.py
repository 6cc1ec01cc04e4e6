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
from exmachina.deploying import Connection, Deployed, deploy_commands, unload
from exmachina.deploying import deploy as deploy_table
from exmachina.errors import OptionError

__all__ = ["deploy"]

LOOK_EVERY_S = 1.0
OPEN = "Connections that have it keep it until they end; the kernel keeps it as long."


def deploy(
    table: str | None = None,
    *,
    route: str | None = None,
    everywhere: bool = False,
    name: str | None = None,
    only_print: Annotated[bool, Parameter(name="--print")] = False,
    remove: str | None = None,
    quiet: Quiet = False,
) -> None:
    """Use a rule table on this machine, as root: load it into the kernel, for one route or everywhere, until ctrl-C.

    Then all is as it was. Connections that have the table by then keep it until they end; those that were open before
    are not touched.

    Args:
        table: A file (.dna), or an algorithm of `exmachina list`.
        route: Only new connections to this network, such as 10.0.0.0/8, to which there must be a route.
        everywhere: All new connections of the machine's first network namespace that do not ask for something else.
        name: What the kernel calls it; the table's name if not given, of which there is room for 13 letters.
        only_print: Print the commands that do so, for a machine that is not this one.
        remove: Take a table of this name out of the kernel, which a killed process left there, and nothing else.
        quiet: Show no connections.
    """
    if (table is None) is (remove is None):
        raise OptionError("deploy: expected either a table, or --remove and the name of one that is in the kernel")
    if table is None:
        unload(str(remove))
        return
    if only_print:
        print(deploy_commands(table, route=route, everywhere=everywhere, name=name), end="")
        return
    for end in (signal.SIGTERM, signal.SIGHUP):  # of a service, of a terminal: as ctrl-C
        if signal.getsignal(end) is not signal.SIG_IGN:
            signal.signal(end, signal.default_int_handler)
    out, messages = consoles()
    with deploy_table(table, route=route, everywhere=everywhere, name=name) as deployed:
        where = "everywhere" if everywhere else f"to {route}"
        try:
            out.print(f"{deployed.name}: new connections {where} have it, until ctrl-C.", soft_wrap=True)
            sys.stdout.flush()
            _show(deployed, messages, quiet=quiet or not messages.is_terminal)
        except KeyboardInterrupt:
            # What was there is put back now, which another ctrl-C is not to keep from happening.
            signal.signal(signal.SIGINT, signal.SIG_IGN)
    out.print(f"Taken out. {OPEN}", soft_wrap=True)


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
