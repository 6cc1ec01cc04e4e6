"""The exported controllers, compiled: at every ACK the rule, the window and the pace of the simulator's controller.

Equality is exact. The averages of the exported forms are whole numbers of 2^-20 ns, those of the simulator floats of
milliseconds, and both are compared with the same splits, which are 15.6 ns apart. The two could part only where an
average comes within a thousandth of a nanosecond of a split; no trace of these seeds has one that does. Windows and
RTT ratios have no tolerance at all: they are exact in both. Laws are in whole numbers everywhere.
"""

import json
import subprocess
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from acks import (
    ANSWER,
    LOSS,
    RESTART,
    Answers,
    Records,
    answered,
    crowded,
    followed,
    in_quic,
    jittery,
    oddities,
    simulated,
    trace,
)
from by_the_readme import ByTheReadme, LawByTheReadme
from conftest import published
from grown import grown
from laws import drawn, enduring, sharing

import exmachina
from exmachina import Table

pytestmark = pytest.mark.slow

DRIVERS = Path(__file__).parent / "drivers"
PROJECT = Path(__file__).parents[2]
FOUR = ["send_ewma", "ack_ewma", "rtt_ratio", "slow_ack_ewma"]
SEEDS = range(16)


def tables() -> list[Table]:
    """All that come with the program, such as the authors published, of all signals, of one rule, and laws."""
    shipped = [algorithm.table for algorithm in exmachina.algorithms()]
    three, all_seven = FOUR[:3], exmachina.SIGNALS
    made = [grown(seed, three, 24) for seed in range(3)] + [grown(seed, FOUR, 10) for seed in range(3, 6)]
    made += [grown(seed, all_seven, 3) for seed in range(6, 9)]
    made += [grown(seed, [name], 12) for seed, name in enumerate(all_seven, 9)]
    made += [Table.single(FOUR, 0.9, 3, 1.5, "one-rule"), Table.single(FOUR, 1.0, -1, 0.0, "mute")]
    return shipped + made + [drawn(seed) for seed in range(9)] + [enduring(), sharing()]


TABLES = tables()


def run(*command: str | Path, cwd: Path | None = None) -> None:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def quantised(tmp_path_factory: pytest.TempPathFactory) -> list[Table]:
    folder = tmp_path_factory.mktemp("json")
    return [exmachina.export(table, to="json", output=folder / table.name).quantised for table in TABLES]


@pytest.fixture(scope="module")
def traces() -> Records:
    """All traces, one after another: each begins with a restart."""
    parts = (
        [trace(seed) for seed in SEEDS] + [crowded(seed) for seed in SEEDS[:4]] + [jittery(seed) for seed in SEEDS[:4]]
    )
    for part in parts:
        part[0]["kind"] = RESTART
    return np.concatenate(parts)


@pytest.fixture(scope="module")
def rust(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One program with all tables, because it is rustc itself that takes its time; sums that overflow end it."""
    folder = tmp_path_factory.mktemp("rust")
    of_tables = (DRIVERS / "follow.rs").read_text()
    # A law has no rules, and no window of 0.
    of_laws = of_tables.replace("flow.rule()", "0").replace("flow.window_of_rules()", "flow.window()")
    modules, arms = "", ""
    for number, table in enumerate(TABLES):
        exmachina.export(table, to="rust", output=folder / f"{number}")
        crate = f'#[path = "{folder}/{number}/src/lib.rs"]\n#[allow(dead_code, unused_attributes, unused_imports)]\n'
        modules += f"mod t{number} {{\n{crate}mod exported;\n{of_laws if table.law else of_tables}}}\n"
        arms += f"{number} => t{number}::follow(&records),\n"
    main = f"""fn main() {{
    let mut records = Vec::new();
    std::io::Read::read_to_end(&mut std::io::stdin(), &mut records).unwrap();
    let answers = match std::env::args().nth(1).unwrap().parse::<usize>().unwrap() {{ {arms} _ => panic!() }};
    std::io::Write::write_all(&mut std::io::stdout(), &answers).unwrap();
}}"""
    (folder / "follow.rs").write_text(modules + main)
    checked = ["-C", "opt-level=1", "-C", "overflow-checks=on"]
    run("rustc", "--edition", "2021", *checked, folder / "follow.rs", "-o", folder / "follow")
    return folder / "follow"


@pytest.fixture(scope="module")
def quic() -> Path:
    """The QUIC controller with a table from a file, without the stacks that it is made for."""
    alone = ["-p", "exmachina-quic", "--no-default-features", "--bin", "follow"]
    command = ["cargo", "build", "--locked", "--profile", "fast", "--message-format", "json", *alone]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (program,) = [path for line in done.stdout.splitlines() if (path := json.loads(line).get("executable"))]
    return Path(program)


@pytest.fixture(scope="module")
def expected(quantised: list[Table], traces: Records) -> list[Answers]:
    return [followed(table, traces) for table in quantised]


def answers(program: Sequence[str | Path], records: Records) -> Answers:
    done = subprocess.run(program, input=records.tobytes(), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return np.frombuffer(done.stdout, ANSWER)


def compiled_c(table: Table, folder: Path) -> Path:
    """A program that follows a table in C, with every warning an error and undefined behaviour caught."""
    exmachina.export(table, to="c", output=folder)
    strict = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-O1", "-fsanitize=undefined", "-fno-sanitize-recover"]
    run("cc", *strict, "-I", folder, DRIVERS / "follow.c", "-o", folder / "follow")
    return folder / "follow"


def check(expected: Answers, got: Answers, table: Table) -> None:
    assert len(got) == len(expected)
    differ = np.flatnonzero(got != expected)
    assert not len(differ), f"{table.name}, record {differ[0]}: {got[differ[0]]}, expected {expected[differ[0]]}"


def test_laws_share_with_others_in_the_traces_and_answer_losses(quantised: list[Table], traces: Records) -> None:
    law = quantised[-1].law
    flow, shared, cut = None, 0, 0
    for sent, received, tick, advance, packets, kind, _ in traces.tolist():
        if kind == RESTART or flow is None:
            flow = LawByTheReadme({"law": law, "max_window": 1_000_000})
        elif kind == LOSS:
            flow.on_loss(packets)
        else:
            flow.on_ack(sent, received, tick_ns=tick, advance=advance, packets=packets)
            shared, cut = shared + flow.shares, cut + (flow.shares and not flow.rises)
    assert shared > 500 and cut > 200, (shared, cut)


def test_laws_endure_silences_and_losses_in_the_traces(traces: Records) -> None:
    flow, longer, crowded = None, 0, 0
    for sent, received, tick, advance, packets, kind, _ in traces.tolist():
        if kind == RESTART or flow is None:
            flow = LawByTheReadme({"law": enduring().law, "max_window": 1_000_000})
        elif kind == LOSS:
            flow.on_loss(packets)
        else:
            flow.on_ack(sent, received, tick_ns=tick, advance=advance, packets=packets)
            longer, crowded = longer + (flow.longer > flow.of_roots()), crowded + flow.crowded
    assert longer > 1000 and crowded > 100, (longer, crowded)


def test_traces_reach_many_rules(expected: list[Answers]) -> None:
    used = {table.name: len(np.unique(one["rule"])) for table, one in zip(TABLES, expected, strict=True)}
    most = [used[table.name] for table in TABLES if len(table) > 100]
    assert len(most) >= 3 and min(most) > 10, used


@pytest.mark.parametrize("number", range(len(TABLES)), ids=[table.name for table in TABLES])
def test_c_does_what_the_simulator_does(number: int, expected: list[Answers], traces: Records, tmp_path: Path) -> None:
    check(expected[number], answers([compiled_c(TABLES[number], tmp_path)], traces), TABLES[number])


@pytest.mark.parametrize("name", ["RemyCC-2013-delta1", "tao-100x"])
def test_c_does_what_the_simulator_does_with_the_authors_tables(name: str, traces: Records, tmp_path: Path) -> None:
    table = Table.load(published(name))
    quantised = exmachina.export(table, to="json", output=tmp_path).quantised
    check(followed(quantised, traces), answers([compiled_c(table, tmp_path)], traces), table)


def test_rust_does_what_the_simulator_does(expected: list[Answers], traces: Records, rust: Path) -> None:
    for number, table in enumerate(TABLES):
        check(expected[number], answers([rust, str(number)], traces), table)


def test_the_quic_controller_does_what_the_simulator_does(
    quantised: list[Table], traces: Records, quic: Path, tmp_path: Path
) -> None:
    records = in_quic(traces)
    for table in quantised:
        table.save(tmp_path / "table.dna")
        check(followed(table, records), answers([quic, tmp_path / "table.dna"], records), table)


def test_the_readme_of_the_json_form_is_enough(traces: Records, tmp_path: Path) -> None:
    records = np.concatenate([traces[:1200], jittery(0)[:600]])
    numbers = [*range(0, len(TABLES), 3), len(TABLES) - 2]
    for number in numbers:
        kind, read = ("law", LawByTheReadme) if TABLES[number].law else ("table", ByTheReadme)
        quantised = exmachina.export(TABLES[number], to="json", output=tmp_path).quantised
        got = answered(partial(read, json.loads((tmp_path / f"{kind}.json").read_text())), records)
        check(followed(quantised, records), got, TABLES[number])


@pytest.mark.parametrize("name", ["general-0.1-robust", "tao-100x", "datacenter", "known-1x", "law-0"])
def test_the_simulator_itself_has_the_windows_and_paces_of_the_exports(
    name: str, rust: Path, quic: Path, tmp_path: Path
) -> None:
    number = [table.name for table in TABLES].index(name)
    quantised = exmachina.export(TABLES[number], to="json", output=tmp_path).quantised
    quantised.save(tmp_path / "table.dna")
    programs: list[list[str | Path]] = [
        [compiled_c(TABLES[number], tmp_path)],
        [rust, str(number)],
        [quic, tmp_path / "table.dna"],
    ]
    for seed in (1, 3):
        records, windows, paces = simulated(quantised, seed)
        assert len(records) > 1000
        for got in (answers(program, records) for program in programs):
            assert np.array_equal(got["window"], windows)
            assert np.array_equal(got["intersend_ns"], paces)


def test_whatever_a_clock_shows_c_and_rust_agree_and_nothing_overflows(rust: Path, tmp_path: Path) -> None:
    records = oddities(seed=5)
    for number, table in enumerate(TABLES):
        if table.law or "grown" in table.name or table.name == "tao-10x":
            got = answers([compiled_c(table, tmp_path / f"{number}")], records)
            check(got, answers([rust, str(number)], records), table)
            assert got["window"].max() <= 1_000_000


def test_the_exported_crate_builds_by_itself_without_std(tmp_path: Path) -> None:
    exmachina.export("known-1x", to="rust", output=tmp_path)
    run("cargo", "build", "--offline", "--quiet", cwd=tmp_path)


def test_the_exported_makefile_builds(tmp_path: Path) -> None:
    exmachina.export("known-1x", to="c", output=tmp_path)
    run("make", cwd=tmp_path)
    assert (tmp_path / "libknown_1x.a").exists()
