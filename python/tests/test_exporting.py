"""Exports: what is written, what is said of it, and what is refused."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from conftest import Command
from grown import grown
from laws import drawn

import exmachina
from exmachina import Export, OptionError, Table, export

SIGNALS = ["send_ewma", "ack_ewma", "rtt_ratio", "slow_ack_ewma"]


@pytest.mark.parametrize(
    ("to", "files"),
    [
        ("bpf", ["Makefile", "README.md", "cgroup.bpf.c", "exm.bpf.c", "exm.c", "exm.h", "table.h"]),
        ("c", ["Makefile", "README.md", "exm.c", "exm.h", "table.h"]),
        ("json", ["README.md", "table.json"]),
        (
            "ns3",
            ["CMakeLists.txt", "README.md", "exm.c", "exm.h", "table.h", "tcp-known-1x.cc", "tcp-known-1x.h"],
        ),
        ("rust", ["Cargo.toml", "README.md", "src/flow.rs", "src/lib.rs", "src/table.rs"]),
    ],
)
def test_a_form_is_sources_what_builds_them_a_readme_and_the_rounded_table(
    to: Any, files: list[str], tmp_path: Path
) -> None:
    check_export(export("known-1x", to=to, output=tmp_path / "out"), files, "known-1x")


@pytest.mark.parametrize(
    ("to", "files"),
    [
        ("bpf", ["Makefile", "README.md", "cgroup.bpf.c", "exm.bpf.c", "exm.c", "exm.h", "law.h"]),
        ("c", ["Makefile", "README.md", "exm.c", "exm.h", "law.h"]),
        ("json", ["README.md", "law.json"]),
        ("ns3", ["CMakeLists.txt", "README.md", "exm.c", "exm.h", "law.h", "tcp-law-1.cc", "tcp-law-1.h"]),
        (
            "rust",
            [
                "Cargo.toml",
                "README.md",
                *(
                    f"src/{name}.rs"
                    for name in ("flow", "law", "law_flow", "law_level", "law_sharing", "law_silence", "lib")
                ),
            ],
        ),
    ],
)
def test_a_law_has_its_numbers_where_a_table_has_its_rules(to: Any, files: list[str], tmp_path: Path) -> None:
    done = export(drawn(1), to=to, output=tmp_path / "out")
    check_export(done, files, "law-1")
    assert done.quantised.law == drawn(1).law
    readme = (done.folder / "README.md").read_text()
    assert "a law of how long the queue is" in readme and "rule" not in readme and "table" not in readme


def check_export(done: Export, files: list[str], name: str) -> None:
    expected = sorted([*files, f"{name}-quantised.dna"])
    assert sorted(str(path.relative_to(done.folder)) for path in done.written) == expected
    assert sorted(str(path.relative_to(done.folder)) for path in done.folder.rglob("*.*")) == [
        name for name in expected if name != "Makefile"
    ]
    assert Table.load(done.folder / f"{name}-quantised.dna").dna == done.quantised.dna
    assert name in (done.folder / "README.md").read_text()
    assert not re.search(r"{[{%]", "".join(path.read_text() for path in done.written[:-1]))


@pytest.mark.parametrize(("name", "what"), [("tao-10x", "table.h"), ("general-1", "law.h")])
def test_the_kernel_and_user_space_have_the_same_core(name: str, what: str, tmp_path: Path) -> None:
    bpf, c = (export(name, to=to, output=tmp_path / to).folder for to in ("bpf", "c"))
    for file in ("exm.c", "exm.h", what):
        assert (bpf / file).read_bytes() == (c / file).read_bytes()


def test_the_rounded_table_is_scored_as_any_other_and_rounds_to_itself(tmp_path: Path) -> None:
    done = export("known-1x", to="json", output=tmp_path)
    again = export(done.quantised, to="json", output=tmp_path / "again")
    assert again.quantised.dna == done.quantised.dna
    assert all(one.farthest == 0 for one in again.moved)
    assert (again.multiple, again.intersend_ms, again.closed_rules) == (0, 0, 0)
    report = exmachina.score([done.quantised, "known-1x"], "known-1x", specimens=4)
    before, after, *_ = report.summary["score"]
    assert abs(before - after) < 0.05


def test_it_says_how_far_rounding_moved_a_table(tmp_path: Path) -> None:
    table = grown(3, ["ack_ewma", "rtt_ratio"], 12)
    done = export(table, to="json", output=tmp_path)
    assert [(one.signal, one.unit) for one in done.moved] == [("ack_ewma", "ms"), ("rtt_ratio", "")]
    times, ratios = done.moved
    assert times.splits > 3 and 0 < times.farthest <= 1 / 64_000 and 0 < ratios.farthest <= 2**-16
    assert 0 < done.multiple <= 2**-20 and 0 < done.intersend_ms <= 0.5e-6
    readme = (tmp_path / "README.md").read_text()
    assert f"| ack_ewma | {times.splits} | {times.farthest:.3g} ms |" in readme


def test_rules_between_two_splits_that_become_one_are_counted(tmp_path: Path) -> None:
    close = next(table for table in (grown(seed, ["rtt_ratio"], 30) for seed in range(50)) if closed(table, tmp_path))
    done = export(close, to="json", output=tmp_path)
    assert len(done.quantised) == len(close)
    assert f"{done.closed_rules} of {len(close)} rules lost their boxes" in (tmp_path / "README.md").read_text()
    assert len(json.loads((tmp_path / "table.json").read_text())["planes"]) < len(close) - 1


def closed(table: Table, folder: Path) -> bool:
    return export(table, to="json", output=folder).closed_rules > 0


@pytest.mark.parametrize("name", ['*/ "); system("x"); //', "a\nb", "1000x", "..", "ünïcode 你", "int", ""])
def test_whatever_a_table_is_called_the_sources_stay_sources(name: str, tmp_path: Path) -> None:
    table = Table.single(SIGNALS, 1.0, 1, 3.0, "one")
    table.name = name
    for to in ("bpf", "c", "rust"):
        folder = export(table, to=to, output=tmp_path / to).folder
        for path in folder.rglob("table.*"):
            assert re.match(r"(/\* SPDX.*\n/\*\n \* |//! )[A-Za-z0-9._-]+: 1 rules", path.read_text()), path
    kernel = re.search(r'name = "(.*)"', (tmp_path / "bpf" / "exm.bpf.c").read_text())
    assert kernel and re.fullmatch("[A-Za-z0-9_]{1,13}", kernel[1])
    crate = re.search(r'^name = "(.*)"', (tmp_path / "rust" / "Cargo.toml").read_text(), re.MULTILINE)
    assert crate and re.fullmatch("[a-z][a-z0-9-]*", crate[1])


def test_a_name_of_ones_own(tmp_path: Path) -> None:
    export("general-0.1-robust", to="bpf", output=tmp_path, name="remy_a")
    source = (tmp_path / "exm.bpf.c").read_text()
    assert '.name = "remy_a"' in source and "struct tcp_congestion_ops x_remy_a = {" in source
    with pytest.raises(OptionError, match="name: expected at most 13 letters, digits and _ for Linux, got general-1"):
        export("general-1", to="bpf", output=tmp_path, name="general-1")
    assert export("general-1", to="c", output=tmp_path / "c", name="general-1").quantised.name == "general-1-quantised"
    with pytest.raises(OptionError, match=r"for Linux, got two words$"):
        export("general-1", to="bpf", output=tmp_path, name="two words")


def test_what_cannot_be_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="to: expected bpf, c, json, ns3, rust, got rsut; did you mean rust"):
        export("known-1x", to="rsut", output=tmp_path)  # type: ignore[arg-type]
    (tmp_path / "file").write_text("")
    with pytest.raises(exmachina.FileError, match="cannot create this folder"):
        export("known-1x", to="c", output=tmp_path / "file")


def test_the_command_line_does_the_same(exmachina: Command, tmp_path: Path) -> None:
    done = exmachina("export", "tao-10x", "--to", "c", "-o", "out")
    assert done.returncode == 0, done.stderr
    assert re.search(r"ack_ewma: \d+ splits?, moved by at most \S+ ms\n", done.stdout)
    assert "multiples moved by at most" in done.stdout
    assert "written: out/exm.h" in done.stdout and (tmp_path / "out" / "tao-10x-quantised.dna").exists()
    wrong = exmachina("export", "tao-10x", "--to", "cobol", "-o", "no")
    assert (wrong.returncode, wrong.stdout, (tmp_path / "no").exists()) == (2, "", False)
    assert "cobol" in wrong.stderr


def test_the_command_line_says_that_a_law_is_not_rounded(exmachina: Command, tmp_path: Path) -> None:
    drawn(0).save(tmp_path / "mine.dna")
    done = exmachina("export", "mine.dna", "--to", "json", "-o", "out")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("a law is in whole numbers: nothing moved\nwritten: out/README.md, out/law.json")


def test_an_export_needs_nothing_but_its_folder(tmp_path: Path) -> None:
    export("known-1x", to="c", output=tmp_path / "a")
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    includes = {
        line for path in (tmp_path / "b").glob("*.[ch]") for line in path.read_text().splitlines() if "#include" in line
    }
    assert includes == {'#include "exm.h"', '#include "table.h"'}
