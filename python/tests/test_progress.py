"""The bar that commands show while they count."""

import io

import pytest
from others import Others
from rich.console import Console

from exmachina.command.progress import Count, bar


class Several(Others):
    """With workers to be shown."""

    workers = 3


@pytest.mark.parametrize(
    ("engine", "left_s", "words"),
    [
        (Several(), 65.0, "3 of 4 runs, 3 workers, 1 min 05 s left"),
        (Others(), None, "3 of 4 runs"),
    ],
)
def test_a_bar_says_how_far_it_is_who_computes_and_what_is_left(
    engine: Others, left_s: float | None, words: str
) -> None:
    def told(done: int) -> Count:
        return Count("[bold]", done / 4, f"{done} of 4 runs", left_s)

    written = io.StringIO()
    console = Console(file=written, force_terminal=True, color_system=None, width=100)
    with bar(console, "counting", told, engine, quiet=False) as tell:
        assert tell is not None
        tell(3)
    line = written.getvalue().split("\n")[0]
    assert "[bold] ━" in line, "names are shown as they are"
    assert line.endswith(f"  {words}")


@pytest.mark.parametrize(("terminal", "quiet"), [(False, False), (True, True)])
def test_without_a_terminal_or_if_quiet_there_is_no_bar(terminal: bool, quiet: bool) -> None:
    written = io.StringIO()
    console = Console(file=written, force_terminal=terminal)
    with bar(console, "counting", lambda done: Count("x", done, ""), Others(), quiet=quiet) as tell:
        assert tell is None
    assert written.getvalue() == ""
