"""`exmachina steady`: what it is told, a bar meanwhile, and at the end what comes back beside what did."""

from pathlib import Path
from typing import Annotated

from rich.console import Console
from rich.table import Table as Grid

from exmachina.command.parameters import FIELDS, Output, Quiet
from exmachina.command.progress import Count, bar, computing
from exmachina.command.terminal import consoles, duration
from exmachina.pictures import draw
from exmachina.schemes import Table, percent, signed
from exmachina.steadying import Steadied, Steadying, SteadyOptions
from exmachina.steadying import steady as steady_table

__all__ = ["steady"]


def steady(
    table: str,
    *,
    model: str | None = None,
    also: str = "",
    options: Annotated[SteadyOptions, FIELDS] = SteadyOptions(),  # noqa: B008 (frozen)
    output: Annotated[Path | None, Output] = None,
    quiet: Quiet = False,
) -> None:
    """Take an algorithm in small steps to where flows come back from disturbed states, at about its score.

    What `exmachina disturb` counts is asked of every candidate. What steps took is kept in the output folder: after
    ctrl-C, which writes the algorithm as it is then, the same command goes on where it was, and with more --steps where
    it ended.

    Args:
        table: A file (.dna), or an algorithm of `exmachina list`.
        model: A model file (.toml), or the name of one that comes with the program; if not given, what the table was
            designed for.
        also: Other models, with commas between them: the mean of the scores on all counts, and with them on what the
            model has under `[[also]]`. Of a table's candidates only those that are tried again meet other models.
        options: See `SteadyOptions`.
        output: Write the algorithm, numbers and pictures into this folder; NAME-steady if not given.
        quiet: Show no progress.
    """
    begun = Table.load(table)
    folder = output or Path(f"{begun.name}-steady")
    out, messages = consoles()
    with (
        computing(messages, options, quiet=quiet) as engine,
        bar(messages, "steadying", _count, engine, quiet=quiet) as on_progress,
    ):
        steadied = steady_table(
            begun,
            model,
            options,
            cluster=engine,
            also=[name for name in also.split(",") if name],
            output=folder,
            on_progress=on_progress,
        )
    written = steadied.paths(folder) + draw(steadied, folder)
    _show(out, steadied)
    out.print("written: " + ", ".join(map(str, written)), soft_wrap=True)


def _count(now: Steadying) -> Count:
    lost = [] if now.stays is None else [f"{percent(now.stays)} of states stay below half"]
    return Count(now.doing, now.done, ", ".join([f"{now.taken} steps taken", *lost]), now.left_s)


def _show(console: Console, steadied: Steadied) -> None:
    """Prints what comes back, and what did."""
    grid = Grid(box=None, padding=(0, 2), header_style="bold")
    grid.add_column("")
    for head in ("score", "back", "below half", "stays there", "uneven undisturbed"):
        grid.add_column(head, justify="right", no_wrap=True)
    for name, line in zip(("now", "before"), steadied.checks.iter_rows(named=True), strict=True):
        shares = (percent(line[each]) for each in ("back", "below", "stays", "uneven"))
        grid.add_row(name, signed(line["score"], 3), *shares)
    console.print(grid)
    taken, steps = (steadied.steps["taken"] > 0).sum(), len(steadied.steps)
    way = f"{taken} of {steps} steps taken" if steadied.table.law is None else f"Generations of laws: {steps}"
    console.print(
        f"{way}. Above: by networks and states that chose nothing; on "
        f"{steadied.compared} the score is {signed(steadied.gain.mean, 3, plus=True)} ± "
        f"{steadied.gain.half_width:.3f} against what it was. "
        f"{duration(steadied.cpu_s)} of CPU time.",
        soft_wrap=True,
    )
