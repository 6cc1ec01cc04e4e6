"""`exmachina probe`: what it is told, a bar while it works, and at the end where each scheme is worst."""

from pathlib import Path
from typing import Annotated

import polars as pl
from rich.console import Console
from rich.table import Table as Grid

from exmachina.command.parameters import FIELDS, Output, Quiet
from exmachina.command.progress import Count, bar, computing
from exmachina.command.terminal import consoles
from exmachina.errors import SchemeError
from exmachina.inspection import by_split
from exmachina.pictures import draw
from exmachina.probing import AXES, Passport, ProbeOptions, Probing
from exmachina.probing import probe as probe_schemes
from exmachina.schemes import percent, signed

__all__ = ["probe"]

MOST = 6
"""Knife edges that are printed of each table; the page has more."""
TRAP = 0.5
"""States in which a lone flow has less than this share of the link are shown."""


def probe(
    *schemes: str,
    network: str | None = None,
    axes: str | None = None,
    rivals: str = "cubic,bbr3",
    options: Annotated[ProbeOptions, FIELDS] = ProbeOptions(),  # noqa: B008 (frozen)
    output: Annotated[Path | None, Output] = None,
    quiet: Quiet = False,
) -> None:
    """Probe schemes along one dimension of the network at a time, far outside what they were designed for: a passport.

    Finished runs are kept in the output folder: after ctrl-C the same command goes on where it was.

    Args:
        schemes: Names, algorithms of `exmachina list` and .dna files, each with a queue if you like.
        network: A model or scenario, a file (.toml) or a name, of which the middles count: the network that all
            dimensions go through. If not given, what the first table was designed for; or 20 Mbit/s, 100 ms, 2 senders.
        axes: Some of rate, rtt, senders, buffer, jitter, loss, acks, on, duty, beside, with commas between them; all if
            not given.
        rivals: Further schemes to compare with, with commas between them.
        options: See `ProbeOptions`.
        output: Write the page, pictures and numbers into this folder; NAME-passport if not given.
        quiet: Show no progress.
    """
    if not schemes:
        raise SchemeError("schemes: expected at least one")
    folder = output or Path(f"{Path(schemes[0]).name.removesuffix('.dna')}-passport")
    out, messages = consoles()
    with (
        computing(messages, options, quiet=quiet) as engine,
        bar(messages, "probing", _count, engine, quiet=quiet) as on_progress,
    ):
        passport = probe_schemes(
            list(schemes),
            network,
            options,
            cluster=engine,
            axes=None if axes is None else [name for name in axes.split(",") if name],
            rivals=[name for name in rivals.split(",") if name],
            output=folder,
            on_progress=on_progress,
        )
    written = passport.paths(folder) + draw(passport, folder)
    _show(out, passport)
    out.print("written: " + ", ".join(map(str, written)), soft_wrap=True)


def _count(now: Probing) -> Count:
    words = f"{now.done} of {now.networks} networks"
    return Count(AXES[now.axis].title, now.done / now.networks, words, now.left_s)


def _show(console: Console, passport: Passport) -> None:
    """Prints the score at the base and along each axis, and what is odd in tables."""
    summary = passport.summary
    grid = Grid(box=None, padding=(0, 2), header_style="bold")
    grid.add_column("")
    grid.add_column("from", justify="right", no_wrap=True)
    grid.add_column("to", justify="right", no_wrap=True)
    for scheme in passport.schemes:
        grid.add_column(f"{scheme}: worst, at", justify="right", no_wrap=True)
    for axis in passport.axes:
        rows = summary.filter(axis=axis.name)
        labels = rows["label"].unique(maintain_order=True).to_list()
        worst = [_worst(rows.filter(scheme=scheme)) for scheme in passport.schemes]
        grid.add_row(axis.title, labels[0], labels[-1], *worst)
    console.print(grid)
    for line in _starved(summary):
        console.print(line, soft_wrap=True)
    _show_tables(console, passport)
    console.print(
        f"Around {passport.base.words}. Scores are means of ln(throughput) - {passport.delta:g} ln(RTT), relative to "
        "an equal share of an empty network: 0 is ideal.",
        style="dim",
        soft_wrap=not console.is_terminal,
    )


def _worst(rows: pl.DataFrame) -> str:
    """The lowest score, and where."""
    known = rows.drop_nulls("score").sort("score", maintain_order=True)
    return f"{signed(known['score'][0], 2)}, {known['label'][0]}" if len(known) else "–"


def _starved(summary: pl.DataFrame) -> list[str]:
    """One line for each scheme and axis along which senders got nothing."""
    found = summary.filter(pl.col("starved_share") > 0)
    lines = []
    for (scheme, axis), rows in found.group_by("scheme", "axis", maintain_order=True):
        where = ", ".join(rows["label"])
        most = percent(float(rows["starved_share"].to_numpy().max()))
        lines.append(f"{scheme}: up to {most} of senders got nothing at {AXES[str(axis)].title} {where}")
    return lines


def _show_tables(console: Console, passport: Passport) -> None:
    """Prints knife edges, and states that hold themselves."""
    splits = by_split(passport.edges) if len(passport.edges) else passport.edges
    for (scheme,), edges in splits.group_by("scheme", maintain_order=True):
        for edge in edges.head(MOST).iter_rows(named=True):
            rules = f"rule {edge['rules'][0]}" + (
                f" and {len(edge['rules']) - 1} more" if len(edge["rules"]) > 1 else ""
            )
            own = ", on an edge of its own box" if edge["own"] else ""
            where = f"{edge['signal']} is split at {edge['edge_ms']:.6g} ms, {100 * edge['apart']:.2g} %"
            console.print(f"{scheme}: {where} from the pace of {rules}{own}", soft_wrap=True)
        if len(edges) > MOST:
            console.print(f"{scheme}: and {len(edges) - MOST} more knife edges", style="dim")
    if passport.equilibria.is_empty():
        return
    for state in passport.equilibria.filter(pl.col("share_from") < TRAP).iter_rows(named=True):
        console.print(
            f"{state['scheme']}: rule {state['rule']} can hold a lone flow at {percent(state['share_from'])} of the "
            f"link for ever ({percent(state['networks'])} of the networks)",
            soft_wrap=True,
        )
