"""`exmachina worst`: what it is told, a bar while it searches, and at the end how bad it is, and what of it matters."""

from pathlib import Path
from typing import Annotated

from rich.console import Console
from rich.table import Table as Grid

from exmachina.command.parameters import FIELDS, Output, Quiet
from exmachina.command.progress import Count, bar, computing
from exmachina.command.terminal import consoles, duration
from exmachina.hunting import Hunting, Worst, WorstOptions
from exmachina.hunting import worst as search_worst
from exmachina.pictures import draw
from exmachina.schemes import percent, signed

__all__ = ["worst"]


def worst(
    scheme: str,
    *,
    limits: str = "internet",
    rivals: str = "cubic,bbr3,copa",
    without: str = "",
    options: Annotated[WorstOptions, FIELDS] = WorstOptions(),  # noqa: B008 (frozen)
    output: Annotated[Path | None, Output] = None,
    quiet: Quiet = False,
) -> None:
    """Search for the worst network for a scheme within limits, and reduce it to what matters: a scenario file.

    What was tried is kept in the output folder: after ctrl-C, which writes the worst so far, the same command goes on
    where it was.

    Args:
        scheme: A name, an algorithm of `exmachina list` or a .dna file, with a queue if you like.
        limits: What there is to choose from: a file (.toml) of ranges along the axes of `exmachina probe`; "internet",
            "long" (flows that never end), or "designed" (what the table was designed for).
        rivals: Who runs on the same networks, with commas between them: regret is measured from the best of them.
            "omniscient" is the reference.
        without: Axes of the limits along which not to go, with commas between them.
        options: See `WorstOptions`.
        output: Write the scenario, a page, pictures and numbers into this folder; NAME-worst if not given.
        quiet: Show no progress.
    """
    folder = output or Path(f"{Path(scheme).name.removesuffix('.dna')}-worst")
    out, messages = consoles()
    with (
        computing(messages, options, quiet=quiet) as engine,
        bar(messages, "searching", _count, engine, quiet=quiet) as on_progress,
    ):
        found = search_worst(
            scheme,
            limits,
            options,
            cluster=engine,
            rivals=[name for name in rivals.split(",") if name],
            without=[name for name in without.split(",") if name],
            output=folder,
            on_progress=on_progress,
        )
    written = found.paths(folder) + draw(found, folder)
    _show(out, found)
    out.print("written: " + ", ".join(map(str, written)), soft_wrap=True)


def _count(now: Hunting) -> Count:
    so_far = "" if now.harm is None else f", worst {signed(now.harm, 2)}"
    words = f"{now.done} of {now.networks} networks{so_far}"
    return Count(now.doing, now.done / now.networks, words, now.left_s)


def _show(console: Console, found: Worst) -> None:
    """Prints how bad the worst network is, for whom, and what of it matters."""
    console.print(f"{found.network.words}: {found.words}.", soft_wrap=True)
    grid = Grid(box=None, padding=(0, 2), header_style="bold")
    grid.add_column("scheme", no_wrap=True)
    numbers = {"score": "score", "throughput": "throughput", "delay": "RTT"}
    # Regret is of the score, which is there.
    shown = numbers if found.measure.behind else {"value": found.measure.name, **numbers}
    for head in (*shown.values(), "starved"):
        grid.add_column(head, justify="right", no_wrap=True)
    for line in found.frame.iter_rows(named=True):
        cells = ["–" if line[name] is None else f"{line[name]:.3g}" for name in shown]
        starved = "–" if line["starved_share"] is None else percent(line["starved_share"])
        grid.add_row(line["scheme"], *cells, starved)
    console.print(grid)
    console.print(f"What matters: {', '.join(found.matters) or 'nothing but what is plain'}.", soft_wrap=True)
    console.print(
        f"The worst of {len(found.trials)} networks within {found.limits.file}, on {found.options.checks} draws of "
        f"traffic that chose nothing; {duration(found.cpu_s)} of CPU time. Throughput is over an equal share, RTT over "
        "that of an empty network.",
        style="dim",
        soft_wrap=not console.is_terminal,
    )
