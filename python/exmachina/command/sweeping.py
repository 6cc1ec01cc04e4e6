"""`exmachina sweep`: what it is told, a bar while it works, and at the end a line for each point."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import polars as pl
from cyclopts import Parameter
from rich.console import Console
from rich.table import Table as Grid

from exmachina.command.parameters import SHORT, Output, Quiet
from exmachina.command.progress import Count, bar, computing
from exmachina.command.terminal import consoles
from exmachina.errors import OptionError
from exmachina.pictures import draw
from exmachina.schemes import digits
from exmachina.sweeping import Sweep, Sweeping, SweepOptions, words_of
from exmachina.sweeping import sweep as sweep_network

__all__ = ["sweep"]


def sweep(
    network: str,
    *,
    over: Annotated[list[str], Parameter(negative=())],
    schemes: str | None = None,
    options: Annotated[SweepOptions, SHORT] = SweepOptions(),  # noqa: B008 (frozen)
    output: Annotated[Path | None, Output] = None,
    quiet: Quiet = False,
) -> None:
    """Run schemes side by side on a scenario, or score them on a model, with other values of any of its fields.

    With --output, finished runs are kept there: after ctrl-C the same command goes on where it was, and with more
    values, schemes or runs only what is new is simulated.

    Args:
        network: A scenario or model, a file (.toml) or a name. What has a table [objective] or [design] is a model: the
            schemes are scored in the design simulator, on networks that no design has seen.
        over: FIELD=VALUES, such as link.rate_mbps=1:100:log:9, senders.count=1,2,4,8 or transport.preset=today,tao14;
            may be given several times: then at every combination. 1:100:linear:12 has the same difference from one to
            the next, 1:100:log:9 the same factor; fields of lists have a number, as links[0].loss.
        schemes: Names, algorithms of `exmachina list` and .dna files with commas between them; the scenario's if not
            given.
        options: See `SweepOptions`.
        output: Write all rows, means and a picture into this folder: curves over one field, heat maps over two.
        quiet: Show no progress.
    """
    out, messages = consoles()
    names = None if schemes is None else [name for name in schemes.split(",") if name]
    fields = _fields(over)
    with (
        computing(messages, options, quiet=quiet) as engine,
        bar(messages, "sweeping", _count, engine, quiet=quiet) as on_progress,
    ):
        found = sweep_network(
            network, names, options, over=fields, cluster=engine, output=output, on_progress=on_progress
        )
    written = [] if output is None else found.paths(output) + draw(found, output)
    _show(out, found)
    if written:
        out.print("written: " + ", ".join(map(str, written)), soft_wrap=True)


def _fields(given: Sequence[str]) -> dict[str, str]:
    """Values by field."""
    found: dict[str, str] = {}
    for text in given:
        field, equals, values = text.partition("=")
        if not equals:
            raise OptionError(f"over: expected FIELD=VALUES, such as link.rate_mbps=1,10, got {text}")
        if field in found:
            raise OptionError(f"over: {field}: expected all of its values at once, it is there twice")
        found[field] = values
    return found


def _count(now: Sweeping) -> Count:
    return Count(now.at, now.share, f"{now.done} of {now.points} points", now.left_s)


def _show(console: Console, found: Sweep) -> None:
    """Prints the measures of each scheme at each point."""
    grid = Grid(box=None, padding=(0, 2), header_style="bold")
    for head in found.over:
        grid.add_column(head, justify="right", no_wrap=True)
    for scheme in found.schemes:
        grid.add_column(scheme, justify="right", no_wrap=True)
    for place, rows in found.summary.group_by(*found.over, maintain_order=True):
        cells = {
            line[found.who]: _cell([line[measure.column] for measure in found.measures]) for line in rows.to_dicts()
        }
        grid.add_row(*(words_of(value) for value in place), *(cells.get(scheme, "–") for scheme in found.schemes))
    console.print(grid)
    for (scheme,), rows in found.summary.filter(pl.col("starved_senders") > 0).group_by(found.who, maintain_order=True):
        starved = rows["starved_senders"].sum()
        where = f"{len(rows)} of {len(found.summary.filter(pl.col(found.who) == scheme))} points"
        console.print(f"{scheme}: senders that were on in a run and got nothing through: {starved}, at {where}")
    for warning in found.warnings:
        console.print(warning, soft_wrap=True)
    titles = ", ".join(measure.title for measure in found.measures)
    console.print(f"{found.name}: {titles}; means at each point.", style="dim", soft_wrap=not console.is_terminal)


def _cell(values: Sequence[float | None]) -> str:
    return ", ".join("–" if value is None else digits(value, 3) for value in values)
