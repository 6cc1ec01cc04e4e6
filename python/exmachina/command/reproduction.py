"""The command `exmachina reproduce`: its list, its display, and what it prints at the end."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from exmachina import _core
from exmachina.command.progress import Count, bars, computing
from exmachina.command.terminal import consoles, duration
from exmachina.engines import Engine
from exmachina.errors import OptionError
from exmachina.reproduce.experiment import catalogue
from exmachina.reproduce.experiments import Doing, reproduce
from exmachina.reproduce.ledger import by_how_much, interval_words, paper_words, quantity, tally
from exmachina.reproduce.options import ReproduceOptions
from exmachina.reproduce.outcome import Outcome
from exmachina.reproduce.page import write_report
from exmachina.reproduce.verdicts import Verdict

__all__ = ["run_command"]

REPORT = "report.html"
COLOURS = {
    Verdict.REPRODUCED: "green",
    Verdict.BETTER: "blue",
    Verdict.DIFFERS: "yellow",
    Verdict.FAILED: "red",
    Verdict.UNMEASURED: "dim",
}


def run_command(
    names: list[str],
    options: ReproduceOptions,
    *,
    list_only: bool,
    output: Path,
    traces: dict[str, Path],
    quiet: bool,
) -> None:
    """Runs the command; see `exmachina.reproduce` for what the settings mean."""
    out, messages = consoles()
    if list_only:
        show_list(out)
        return
    if not names:
        raise OptionError("reproduce: expected all, or ids of experiments; --list shows them")
    with (
        computing(messages, options, quiet=quiet) as engine,
        display(messages, engine, quiet=quiet) as on_progress,
    ):
        outcomes = reproduce(names, options, cluster=engine, output=output, traces=traces, on_progress=on_progress)
    facts = {
        "scale": options.scale,
        "our algorithms": "as shipped" if options.ours is None else str(options.ours),
        "published tables": "none given" if options.tables is None else str(options.tables),
        "our robust tables": "claims are held to them, too" if options.robust else "left out",
        "version": _core.__version__,
        **{f"trace, {name}": str(path) for name, path in traces.items()},
    }
    report = write_report(outcomes, output / REPORT, facts=facts)
    show_outcomes(out, outcomes)
    out.print(f"The report: {report}", soft_wrap=True)


def show_list(console: Console) -> None:
    """Prints the catalogue."""
    for experiment in catalogue().values():
        line = Text.assemble((f"{experiment.id:13}", "bold"), f" {experiment.paper:8}  {experiment.title}")
        console.print(line, soft_wrap=True)


@contextmanager
def display(console: Console, engine: Engine, *, quiet: bool) -> Iterator[Callable[[Doing], None] | None]:
    """A bar for the experiments and one for the runs; a line per experiment where there is no terminal."""
    if quiet:
        yield None
    elif not console.is_terminal:
        yield _lines(console)
    else:
        with bars(console) as progress:
            whole = progress.add_task("experiments", total=None, facts="")
            part = progress.add_task("", total=None, facts="")

            def show(now: Doing) -> None:
                progress.update(whole, completed=now.number - 1, total=now.experiments, facts=now.title)
                standing = now.standing
                if standing is None:
                    progress.update(part, description="", total=None, completed=0, facts="")
                    return
                words = f"{standing.contender}: {standing.done} of {standing.runs} runs"
                Count(now.case, standing.done / standing.runs, words, standing.left_s).show(progress, part, engine)

            yield show


def _lines(console: Console) -> Callable[[Doing], None]:
    seen: set[str] = set()

    def show(now: Doing) -> None:
        if now.experiment not in seen:
            seen.add(now.experiment)
            console.print(f"{now.number} of {now.experiments}: {now.experiment}, {now.title}", soft_wrap=True)

    return show


def show_outcomes(console: Console, outcomes: list[Outcome]) -> None:
    """Prints the claims, and what a reader has to know of how they came about."""
    grid = Grid(box=None, padding=(0, 2), header_style="bold")
    grid.add_column("claim", overflow="fold")
    for head in ("paper", "here", "95 % interval"):
        grid.add_column(head, justify="right", no_wrap=True)
    grid.add_column("", no_wrap=True)
    for outcome in outcomes:
        for claim in outcome.claims:
            words = claim.verdict.value + (f", {by_how_much(claim)}" if claim.verdict is Verdict.DIFFERS else "")
            verdict = Text(words, COLOURS[claim.verdict])
            grid.add_row(claim.id, paper_words(claim), quantity(claim.ours, claim.unit), interval_words(claim), verdict)
    if grid.row_count:
        console.print(grid)
    for outcome in outcomes:
        for warning in outcome.warnings:
            console.print(f"{outcome.id}: {warning}", soft_wrap=True)
    counts = tally(claim for outcome in outcomes for claim in outcome.claims)
    spent = duration(sum(outcome.cpu_s for outcome in outcomes))
    console.print(f"{len(outcomes)} experiments, {counts.all} claims: {counts}. {spent} of CPU time.", soft_wrap=True)
