"""What the command line shows while it works: who computes, a bar for what is counted, and how a design goes."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ParamSpec

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn
from rich.progress_bar import ProgressBar
from rich.table import Table as Grid
from rich.text import Text

from exmachina import designing
from exmachina.command.terminal import duration, score_words, si
from exmachina.engines import Engine, EngineOptions, opened

__all__ = ["Count", "bar", "bars", "computing", "design_display"]

LINE_EVERY_S = 30.0
"""Where the output is no terminal, a line of progress comes this often."""
BLOCKS = "▁▂▃▄▅▆▇█"
CURVE = 24
P = ParamSpec("P")


@contextmanager
def computing(console: Console, options: EngineOptions, *, quiet: bool) -> Iterator[Engine]:
    """The engine that options ask for, open meanwhile; says where it is, if that is elsewhere."""
    with opened(options) as engine:
        if engine.words and not quiet:
            console.print(engine.words, soft_wrap=True)
        yield engine


@dataclass(frozen=True)
class Count:
    """How far something has got that is counted."""

    doing: str
    share: float
    """That is finished, 0 to 1."""
    words: str
    """What is counted, and what else there is to say of it."""
    left_s: float | None = None
    """Seconds left; none where nobody knows."""

    def show(self, progress: Progress, task: TaskID, engine: Engine) -> None:
        """Moves a bar to where it stands."""
        left = "" if self.left_s is None else f", {duration(self.left_s)} left"
        facts = f"{self.words}{_workers(engine.workers)}{left}"
        progress.update(task, description=self.doing, total=1.0, completed=self.share, facts=facts)


def bars(console: Console) -> Progress:
    """The look of bars: what is done now, how much of it is finished, and facts."""
    # Names are shown as they are, whatever brackets are in them.
    now, facts = (TextColumn(text, markup=False) for text in ("{task.description}", "{task.fields[facts]}"))
    return Progress(SpinnerColumn(), now, BarColumn(), facts, console=console, transient=True)


@contextmanager
def bar(
    console: Console, doing: str, told: Callable[P, Count], engine: Engine, *, quiet: bool
) -> Iterator[Callable[P, None] | None]:
    """A bar for work under way; nothing where there is no terminal.

    Args:
        console: Where it is shown.
        doing: What is said before anything is told.
        told: Makes a count of the progress that is reported.
        engine: Who computes: how many workers there are is shown.
        quiet: Whether there is no bar.
    """
    if quiet or not console.is_terminal:
        yield None
        return
    with bars(console) as progress:
        task = progress.add_task(doing, total=None, facts="")

        def show(*args: P.args, **kwargs: P.kwargs) -> None:
            told(*args, **kwargs).show(progress, task, engine)

        yield show


def _workers(count: int) -> str:
    return f", {count} workers" if count else ""


@contextmanager
def design_display(
    console: Console, title: str, *, quiet: bool
) -> Iterator[Callable[[designing.Progress], None] | None]:
    """A live view of a design in a terminal; elsewhere a line now and then; nothing if quiet."""
    if quiet:
        yield None
    elif console.is_terminal:
        scores: list[float] = []
        with Live(console=console, refresh_per_second=5, transient=False) as live:
            yield lambda now: live.update(_design_panel(title, now, scores))
    else:
        yield _lines(console)


def _lines(console: Console) -> Callable[[designing.Progress], None]:
    last = time.monotonic()

    def show(now: designing.Progress) -> None:
        nonlocal last
        if time.monotonic() - last >= LINE_EVERY_S:
            last = time.monotonic()
            console.print(
                f"{score_words(now.score, now.starved_share)}, {now.size}, step {now.step}, "
                f"{si(now.packets_per_s)} packets/s, {duration(now.cpu_s)} of CPU time{_workers(now.workers)}, "
                f"{now.doing}",
                soft_wrap=True,
            )

    return show


def _design_panel(title: str, now: designing.Progress, scores: list[float]) -> RenderableType:
    if now.score is not None and (not scores or scores[-1] != now.score):
        scores.append(now.score)
    facts = Grid.grid(padding=(0, 3))
    facts.add_row(
        Text(score_words(now.score, now.starved_share), "bold"),
        Text(_sparkline(scores), "blue"),
        now.size,
        f"step {now.step}",
    )
    speed = Grid.grid(padding=(0, 3))
    speed.add_row(
        f"{si(now.packets_per_s)} packets/s{_workers(now.workers)}",
        f"{si(now.packets)} simulated",
        f"{duration(now.cpu_s)} of CPU time",
        f"{duration(now.wall_s)} so far" if now.left_s is None else f"{duration(now.left_s)} left",
    )
    share = None if now.left_s is None else now.wall_s / max(1e-9, now.wall_s + now.left_s)
    bar = ProgressBar(total=1.0, completed=share or 0.0, pulse=share is None, width=None)
    doing = Text(now.doing, style="dim", overflow="ellipsis", no_wrap=True)
    body = Group(facts, speed, doing, bar)
    return Panel(body, title=Text(title), subtitle="ctrl-C saves and stops", title_align="left")


def _sparkline(values: list[float]) -> str:
    """A curve in one line of text."""
    if len(values) > CURVE:
        values = [values[i * (len(values) - 1) // (CURVE - 1)] for i in range(CURVE)]
    lo, hi = min(values, default=0.0), max(values, default=0.0)
    return "".join(BLOCKS[round((v - lo) / (hi - lo) * (len(BLOCKS) - 1)) if hi > lo else 0] for v in values)
