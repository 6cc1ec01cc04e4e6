"""`exmachina tune`: what it is told, a bar while it tunes, and at the end on how many networks the law is ahead."""

from pathlib import Path
from typing import Annotated

from rich.console import Console
from rich.table import Table as Grid

from exmachina.command.parameters import FIELDS, Output, Quiet
from exmachina.command.progress import Count, bar, computing
from exmachina.command.terminal import consoles, duration
from exmachina.pictures import draw
from exmachina.schemes import Table, percent, signed
from exmachina.tuning import Tuned, TuneOptions, Tuning
from exmachina.tuning import tune as tune_law

__all__ = ["tune"]


def tune(
    law: str,
    *scenarios: str,
    rivals: str = "cubic,cubic/fqcodel,bbr3,copa,vegas",
    options: Annotated[TuneOptions, FIELDS] = TuneOptions(),  # noqa: B008 (frozen)
    output: Annotated[Path | None, Output] = None,
    quiet: Quiet = False,
) -> None:
    """Tune a law: make it be ahead of rivals on as many networks as may be, of those that scenarios state.

    What generations were worth is kept in the output folder: after ctrl-C, which writes the law as it is then, the same
    command goes on where it was.

    Args:
        law: A law that comes with the program (see `exmachina list`), such as internet-1, or a .dna file with one.
        scenarios: Files (.toml), or scenarios that come with the program, each with as much weight as any other. Fields
            that are ranges are drawn anew for each run.
        rivals: Who runs on the same networks, with commas between them.
        options: See `TuneOptions`.
        output: Write the law, numbers and pictures into this folder; NAME-tuned if not given.
        quiet: Show no progress.
    """
    begun = Table.load(law)
    folder = output or Path(f"{begun.name}-tuned")
    out, messages = consoles()
    with (
        computing(messages, options, quiet=quiet) as engine,
        bar(messages, "tuning", _count, engine, quiet=quiet) as on_progress,
    ):
        tuned = tune_law(
            begun,
            scenarios,
            options,
            cluster=engine,
            rivals=[name for name in rivals.split(",") if name],
            output=folder,
            on_progress=on_progress,
        )
    written = tuned.paths(folder) + draw(tuned, folder)
    _show(out, tuned)
    out.print("written: " + ", ".join(map(str, written)), soft_wrap=True)


def _count(now: Tuning) -> Count:
    words = "" if now.worth is None else f"candidates ahead on {percent(now.worth)}"
    return Count(now.doing, now.done, words, now.left_s)


def _show(console: Console, tuned: Tuned) -> None:
    """Prints on how many networks the law is ahead of whom, and was before."""
    grid = Grid(box=None, padding=(0, 2), header_style="bold")
    grid.add_column("ahead of", no_wrap=True)
    for head in ("before", "now"):
        grid.add_column(head, justify="right", no_wrap=True)
    for line in tuned.ahead.iter_rows(named=True):
        grid.add_row(line["rival"], *("–" if line[k] is None else percent(line[k]) for k in ("share_before", "share")))
    console.print(grid)
    many = len(tuned.scenarios)
    console.print(
        f"On {tuned.options.checks} networks of {many} scenario{'s' * (many > 1)}, by draws that chose nothing; the "
        f"mean score is {signed(tuned.gain.mean, 3)} ± {tuned.gain.half_width:.3f} above what it was. "
        f"{duration(tuned.cpu_s)} of CPU time.",
        soft_wrap=True,
    )
