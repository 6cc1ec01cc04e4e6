"""`exmachina disturb`: what it is told, a bar while it works, and at the end who is back and where one is not."""

from pathlib import Path
from typing import Annotated

from rich.console import Console
from rich.table import Table as Grid

from exmachina.command import progress
from exmachina.command.parameters import FIELDS, Quiet
from exmachina.command.terminal import consoles
from exmachina.disturbing import Disturbed, DisturbOptions
from exmachina.disturbing import disturb as disturb_tables
from exmachina.files import check_output
from exmachina.networks import Model
from exmachina.schemes import percent

__all__ = ["disturb"]

MOST = 5
"""Networks that are printed of each table; a results file has all."""


def disturb(
    *tables: str,
    model: str | None = None,
    options: Annotated[DisturbOptions, FIELDS] = DisturbOptions(),  # noqa: B008 (frozen)
    results: Path | None = None,
    quiet: Quiet = False,
) -> None:
    """Set the windows and memories of flows elsewhere, by factors of up to 32, and say how many come back.

    Back is who has the throughput and RTT of undisturbed flows again, within 10 %, 20 RTTs (at least 2 s) later. Some
    flows may have less than half of their share then, and stay there.

    Args:
        tables: Files (.dna), and algorithms of `exmachina list`; all senders run them.
        model: A model file (.toml), or the name of one that comes with the program; if not given, what the first table
            was designed for.
        options: See `DisturbOptions`.
        results: Write one row per table and network here (.parquet).
        quiet: Show no progress.
    """
    if results is not None:
        check_output(results, suffixes=(".parquet",))
    network = None if model is None else Model.load(model)
    out, messages = consoles()
    with (
        progress.computing(messages, options, quiet=quiet) as engine,
        progress.bar(messages, "disturbing", _done, engine, quiet=quiet) as on_progress,
    ):
        found = disturb_tables(list(tables), network, options, cluster=engine, on_progress=on_progress)
    if results is not None:
        found.save(results)
    _show(out, found)


def _done(table: str, share: float) -> progress.Count:
    return progress.Count(f"disturbing {table}", share, percent(share))


def _show(console: Console, found: Disturbed) -> None:
    """Prints shares of states, and the networks where most went wrong."""
    grid = Grid(box=None, padding=(0, 2), header_style="bold")
    grid.add_column("table")
    for head in ("back", "below half", "stays there", "nudged: back", "stays there", "uneven undisturbed"):
        grid.add_column(head, justify="right", no_wrap=True)
    for line in found.summary.iter_rows(named=True):
        shares = ("back", "below", "stays", "nudged_back", "nudged_stays", "uneven")
        grid.add_row(line["scheme"], *(percent(line[name]) for name in shares))
    console.print(grid)
    for (table,), networks in found.worst.group_by("scheme", maintain_order=True):
        for one in networks.head(MOST).iter_rows(named=True):
            where = f"{one['rate_mbps']:.3g} Mbit/s, {one['min_rtt_ms']:.3g} ms, {one['senders']} senders"
            lost = f"not back {one['states'] - one['back']}, stays {one['stays']} of {one['states']}"
            console.print(f"{table}: {where}: {lost}", soft_wrap=True)
        if len(networks) > MOST:
            console.print(f"{table}: and {len(networks) - MOST} more networks", style="dim")
    console.print(
        f"{found.states} states of each network of {found.model.name}, seed {found.seed}. Below half: some flow has "
        "less than half of its share when all should be back.",
        style="dim",
        soft_wrap=not console.is_terminal,
    )
