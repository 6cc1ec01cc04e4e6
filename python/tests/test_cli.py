"""The command line, end to end: what it writes, what it says, and how it ends."""

from hashlib import sha256
from pathlib import Path

import polars as pl
import pytest
from conftest import SMALL, Command

from exmachina import Table, __version__, _core, shipped_models

MODELS = """\
general-0.1        10-20 Mbit/s, 100-200 ms, 1 to 16 senders; delay matters a tenth as much as throughput
general-1          10-20 Mbit/s, 100-200 ms, 1 to 16 senders; throughput and delay equally dear
general-10         10-20 Mbit/s, 100-200 ms, 1 to 16 senders; delay matters ten times as much as throughput
tao-2x             22-44 Mbit/s, 150 ms, two senders
tao-10x            10-100 Mbit/s, 150 ms, two senders
tao-100x           3.2-320 Mbit/s, 150 ms, two senders
tao-1000x          1-1000 Mbit/s, 150 ms, two senders
"""
"""Some that are always there, numbers in their names by value."""

SCORES = """\
  scheme                           score      to the first    throughput    delay
  one-rule                −1.800 ± 0.124                           0.302    1.026
  one-rule (2)            −1.800 ± 0.124    +0.000 ± 0.000         0.302    1.026
  omniscient reference    −0.061 ± 0.009    +1.739 ± 0.122         0.982    1.025
"""


def test_models(exmachina: Command) -> None:
    done = exmachina("models")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines] == [model.name for model in shipped_models()]
    width = max(len(model.name) for model in shipped_models())
    known = [f"{name:{width}} {what}" for name, what in (line.split(maxsplit=1) for line in MODELS.splitlines())]
    assert [line for line in lines if line.split()[0] in MODELS.split()] == known


def test_design_score_inspect(exmachina: Command, tmp_path: Path, model_file: Path) -> None:
    done = exmachina("design", model_file, "-o", "a.dna", "--rounds", "12")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("a.dna: ")
    assert "12 steps" in done.stdout

    done = exmachina("score", "a.dna", "--model", model_file, "--specimens", "20", "--aimd", "--results", "r.parquet")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line[2:22].strip() for line in lines[:4]] == ["scheme", "a", "AIMD, 1-BDP buffer", "omniscient reference"]
    assert lines[4].startswith("20 held-out specimens of small, 4 s each, seed 1. ")
    assert pl.read_parquet(tmp_path / "r.parquet")["specimen"].n_unique() == 20

    done = exmachina("inspect", "a.dna", "--specimens", "4", "--seconds", "5")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "written: a.html, a.png"
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "a.html").read_text().startswith("<!doctype html>")


def test_scores_as_a_person_reads_them(exmachina: Command, tmp_path: Path, model_file: Path, one_rule: Table) -> None:
    one_rule.save(tmp_path / "one-rule.dna")
    done = exmachina("score", "one-rule.dna", "one-rule.dna", "--model", model_file, "--specimens", "20")
    shown = [line.rstrip() for line in done.stdout.splitlines()[:4]]
    assert shown == [line.rstrip() for line in SCORES.splitlines()]


def test_demo(exmachina: Command, tmp_path: Path) -> None:
    done = exmachina("demo", "-o", "shown/here", "--cpu-seconds", "0.5", "--specimens", "10", "--quiet")
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("The page: shown/here/demo.html\nThe picture: shown/here/demo.png\n")
    page = (tmp_path / "shown/here/demo.html").read_text()
    for words in ("While it searched", "Throughput and delay", "one-rule start", "omniscient reference", "The rules"):
        assert words in page
    assert page.count('class="live"') == page.count('class="spec"') == 6
    assert page.count("window.vegaEmbed=") == 1
    assert (tmp_path / "shown/here/demo.png").stat().st_size > 50_000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["design", "small.toml", "-o", "x.txt"], "x.txt: expected a name that ends in .dna"),
        (["design", "nope", "-o", "x.dna"], "nope: there is no such model; expected a .toml file or one of coexist, "),
        (["design", "wrong.toml", "-o", "x.dna"], "wrong.toml:4: link.rate_mbps: expected a rate from 0.001 Mbit/s "),
        (["design", "extra.toml", "-o", "x.dna"], "extra.toml:19: colour: unknown field; expected "),
        (["design", "small.toml", "-o", "x.dna", "--seconds", "0"], "seconds: expected a number above 0, got 0"),
        (
            ["design", "small.toml", "-o", "x.dna", "--search", "best"],
            'Invalid value "best" for --search. Choose from: ',
        ),
        (["design", "small.toml"], 'Command "design" parameter --output requires an argument.'),
        (["design", "small.toml", "-o", "x.dna", "--resume"], "x.dna.checkpoint: there is no such checkpoint; "),
        (
            ["design", "small.toml", "-o", "x.dna", "--start", "no.dna"],
            "no.dna: cannot read it: no such file or directory",
        ),
        (["score", "--model", "small.toml"], "schemes: expected at least one"),
        (["score", "small.toml", "--model", "small.toml"], "small.toml: not a .dna file"),
        (
            ["score", "one.dna", "--model", "small.toml", "--specimens", "0"],
            "specimens: expected from 1 to 1000000, got 0",
        ),
        (["score", "one.dna", "--model", "small.toml", "--results", "r.csv"], "r.csv: expected a name that ends in "),
        (
            ["inspect", "one.dna", "--rtt-ms", "-4"],
            "rtt-ms: expected an RTT from 0.001 ms (the clock counts whole ns) to 1000000 ms, got -4",
        ),
        (["inspect", "one.dna", "-o", "x.pdf"], "x.pdf: expected a name that ends in .html or .png"),
        (["inspect", "one.dna", "--seconds", "0"], "seconds: expected more than 0 and at most 35184 simulated "),
        (["demo", "-o", "one.dna/x"], "one.dna/x: cannot create this folder: not a directory"),
        (["score", "one.dna", "--model", "smal.toml"], "smal.toml: cannot read it: no such file or directory"),
        (["design", "tao-10", "-o", "x.dna"], "tao-10: there is no such model; expected a .toml file or one of "),
        (["design", "small.toml", "-o", "x.dna", "--threads", "-1"], "threads: expected from 1 to 1024, got -1"),
        (
            ["score", "one.dna", "--model", "small.toml", "--seconds-each", "100000"],
            "seconds-each: expected more than ",
        ),
        (["evaluate", "r4", "--duration", "100000"], "duration: expected more than 0 and at most 35184 simulated "),
        (["evaluate", "r4", "--schemes", "cubci"], "schemes: expected newreno, "),
        (["inspect", "small.toml", "--off-s", "1e300"], "small.toml: not a .dna file"),
        (["trace", "dots.toml"], "dots.toml:1: name: expected letters, digits, dots, dashes and underscores, got "),
        (["bogus"], 'Unknown command "bogus".'),
    ],
)
def test_mistakes(exmachina: Command, tmp_path: Path, one_rule: Table, arguments: list[str], message: str) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    (tmp_path / "wrong.toml").write_text(SMALL.replace("rate_mbps = 10", "rate_mbps = -10"))
    (tmp_path / "extra.toml").write_text(SMALL + "\n[colour]\nred = 1\n")
    (tmp_path / "dots.toml").write_text('name = "../../x"\n' + SMALL)
    one_rule.save(tmp_path / "one.dna")
    before = sorted(tmp_path.iterdir())
    done = exmachina(*arguments)
    assert done.stderr.startswith(f"exmachina: {message}"), done.stderr
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1, "one message, one line"
    assert done.stdout == ""
    assert sorted(tmp_path.iterdir()) == before, "nothing is written"


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["design", "tao-10", "-o", "x.dna"], "tao-10x"),
        (["evaluate", "r44"], "r4"),
        (["evaluate", "r4", "--schemes", "cubci"], "cubic"),
        (["evaluate", "r4", "--schemes", "cubic/sfqcodle"], "sfqcodel"),
        (["score", "general-01"], "general-0.1"),
        (["reproduce", "figg4"], "fig4"),
        (["inspect", "one.dan"], "one.dna"),
        (["design", "extra.toml", "-o", "x.dna"], "link"),
    ],
)
def test_a_wrong_name_gets_its_nearest(
    exmachina: Command, tmp_path: Path, one_rule: Table, arguments: list[str], meant: str
) -> None:
    one_rule.save(tmp_path / "one.dna")
    (tmp_path / "extra.toml").write_text(SMALL.replace("[link]", "[lnik]"))
    done = exmachina(*arguments)
    assert done.stderr.endswith(f"; did you mean {meant}?\n"), done.stderr
    assert done.returncode == 2


def test_names_are_shown_as_text(exmachina: Command, tmp_path: Path, one_rule: Table) -> None:
    name = "[b]$\\frac{$"
    one_rule.save(tmp_path / f"{name}.dna")
    (tmp_path / f"{name}.toml").write_text(SMALL.replace("a small network", "[/red] $\\\\frac{$ network"))
    table, scenario = f"{name}.dna", f"{name}.toml"
    for arguments, shown in [
        (["inspect", table, "--specimens", "2", "--seconds", "3"], f"{name}: 1 rule over "),
        (["score", table, "--model", scenario, "--specimens", "4"], name),
        (["evaluate", scenario, "--schemes", f"newreno,{table}", "--runs", "2", "--duration", "3", "-o", "e"], name),
        (["trace", scenario, "--scheme", table, "--duration", "3"], f"{name} on {name}, run 0"),
        (["design", scenario, "-o", f"designed{name}.dna", "--rounds", "1"], f"designed{name}.dna: "),
    ]:
        done = exmachina(*arguments)
        assert done.returncode == 0, done.stderr
        assert shown in done.stdout
    assert (tmp_path / f"{name}-trace" / "trace.png").exists()


def test_the_authors_number_their_tables(exmachina: Command, tmp_path: Path, one_rule: Table) -> None:
    one_rule.save(tmp_path / "x.dna.5")
    small = ["--runs", "2", "--duration", "3"]
    done = exmachina("evaluate", "t7", "--schemes", "x.dna.5,x.dna.5/sfqcodel", *small)
    assert done.returncode == 0, done.stderr
    assert all(f"{label} " in done.stdout for label in ("x.dna.5", "x.dna.5/sfqcodel"))
    (tmp_path / "x.toml").write_text('schemes = ["x.dna.5", "x.dna.5/codel"]\n' + SMALL)
    assert exmachina("evaluate", "x.toml", *small).returncode == 0
    (tmp_path / "small.toml").write_text(SMALL)
    assert exmachina("score", "x.dna.5", "--model", "small.toml", "--specimens", "4").returncode == 0


def test_version_and_help(exmachina: Command) -> None:
    version, build = exmachina("--version").stdout.strip().split(" ", 1)
    assert version == __version__
    built = sha256(Path(str(_core.__file__)).read_bytes()).hexdigest()
    assert build == f"(build {built[:12]})"
    for name in ("design", "score", "inspect", "models", "demo"):
        done = exmachina(name, "--help")
        assert done.returncode == 0
        assert f"Usage: exmachina {name}" in done.stdout
