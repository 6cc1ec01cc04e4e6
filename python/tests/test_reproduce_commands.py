"""`exmachina reproduce`: its list, its mistakes, and the report."""

from pathlib import Path

import pytest
from conftest import Command


def test_the_list_of_experiments(exmachina: Command) -> None:
    done = exmachina("reproduce", "--list")
    assert done.returncode == 0
    assert [line.split()[0] for line in done.stdout.splitlines()] == [
        *("fig3", "fig4", "fig5", "fig6", "fig7", "fig8", "fig9", "fig10", "fig11"),
        *("competing", "datacenter", "summary", "table-1"),
        *("tao-fig1", "tao-fig2", "tao-fig3", "tao-fig4", "tao-fig6", "tao-fig7", "tao-fig8", "tao-fig9"),
        *("tao-knockout", "tao-tables"),
    ]
    assert done.stdout.splitlines()[1].split(maxsplit=1) == [
        "fig4",
        "Remy'13   Figure 4: a dumbbell, 8 senders, transfers of 100 kB",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "expected all, or ids of experiments; --list shows them"),
        (["fig99"], "fig99: there is no such experiment; expected all or some of fig3, fig4"),
        (["fig4", "--tables", "nowhere"], "nowhere: there is no such folder of tables"),
        (["fig4", "--tables", "."], ".: there is no table in it; expected some of RemyCC-2013-delta0.1.dna"),
        (["fig7", "--trace-verizon", "none"], "none: cannot read it: no such file or directory"),
        (["fig4", "--scale", "huge"], "huge"),
    ],
)
def test_mistakes_on_the_command_line(exmachina: Command, arguments: list[str], message: str) -> None:
    done = exmachina("reproduce", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_the_command_writes_the_report(exmachina: Command, tmp_path: Path) -> None:
    done = exmachina("reproduce", "tao-tables", "--output", "out", "--quiet")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "report.html").is_file()
    assert "1 experiments, 0 claims" in done.stdout
