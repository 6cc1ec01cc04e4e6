"""The export for ns-3: its class, told what sockets tell, has the windows and paces of the simulator's controller.

Needs g++ and ns-3 with its headers, as `pip install .[ns3]` brings it; what is missing is the reason to skip.
"""

import re
import shutil
import subprocess
from importlib import metadata
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from acks import ACK, ANSWER, LOSS, Records, followed, trace
from conftest import script
from grown import grown
from laws import drawn

import exmachina
from exmachina import Table

pytestmark = pytest.mark.slow

DRIVER = Path(__file__).parent / "drivers" / "follow_ns3.cc"
LIBRARIES = ("core", "network", "internet")
FOUR = ["send_ewma", "ack_ewma", "rtt_ratio", "slow_ack_ewma"]


@pytest.fixture(scope="module")
def ns3() -> Path:
    """Where ns-3 is: `include` and `lib64`."""
    if shutil.which("g++") is None:
        pytest.skip("needs g++")
    try:
        folder = Path(str(metadata.distribution("ns3").locate_file("ns3")))
    except metadata.PackageNotFoundError:
        pytest.skip("needs ns-3: pip install .[ns3]")
    return folder


def compiled(table: Table, folder: Path, ns3: Path) -> Path:
    """A program that gives records to the class of a table."""
    exmachina.export(table, to="ns3", output=folder)
    (source,) = folder.glob("*.cc")
    found = re.search(r"class (\w+) :", source.with_suffix(".h").read_text())
    assert found
    libraries = [path for name in LIBRARIES for path in (ns3 / "lib64").glob(f"libns3*-{name}.so")]
    assert len(libraries) == len(LIBRARIES)
    # Headers of ns-3's own may warn, ours may not.
    given: list[str | Path] = [
        f'-DEXM_HEADER="{source.with_suffix(".h").name}"',
        f"-DEXM_CLASS={found[1]}",
        "-isystem",
        ns3 / "include",
    ]
    linked = [f"-Wl,-rpath,{ns3 / 'lib64'}", "-Wl,--allow-shlib-undefined"]
    # In C `{ 0 }` is all zero; C++ would have it `{}`.
    strict = ["-std=c++20", "-Wall", "-Wextra", "-Werror", "-Wno-missing-field-initializers"]
    command = ["g++", *strict, *given, "-I", folder, DRIVER, source]
    done = subprocess.run(
        [*command, "-o", folder / "follow", *libraries, *linked], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return folder / "follow"


def as_a_socket_has_it(records: Records) -> Records:
    """Packets leave and ACKs come in order, and what was lost is why an ACK is further from the largest one."""
    records["tick_ns"] = 1
    received = np.where(records["kind"] == ACK, records["received_ns"], 0)
    records["received_ns"] = np.maximum.accumulate(received)
    records["sent_ns"] = np.maximum.accumulate(records["sent_ns"])
    lost = 0
    for record in records:
        record["advance"] = record["packets"] + lost
        lost = int(record["packets"]) if record["kind"] == LOSS else 0
        # One loss at a time: a socket tells of what was lost with the ACK after it.
    again = np.flatnonzero((records["kind"][1:] == LOSS) & (records["kind"][:-1] == LOSS))
    return np.delete(records, again)


@pytest.mark.parametrize("number", range(6))
def test_the_class_does_what_the_simulator_does(number: int, tmp_path: Path, ns3: Path) -> None:
    table = [
        Table.load("general-0.1-robust"),
        Table.load("tao-100x"),
        grown(2, FOUR, 12),
        grown(6, exmachina.SIGNALS, 3),
        drawn(0),
        drawn(2),
    ][number]
    program = compiled(table, tmp_path, ns3)
    quantised = exmachina.export(table, to="json", output=tmp_path).quantised
    for seed in range(8):
        records = as_a_socket_has_it(trace(seed))
        done = subprocess.run([program], input=records.tobytes(), capture_output=True, check=True)
        got, expected = np.frombuffer(done.stdout, ANSWER), followed(quantised, records)
        told = records["kind"] != LOSS
        assert np.array_equal(got["window"][told], np.maximum(expected["window"], 1)[told])
        intersend = expected["intersend_ns"][told].astype(float)
        paces = np.divide(8e12, intersend, out=np.zeros_like(intersend), where=intersend > 0)
        assert np.array_equal(got["intersend_ns"][told], paces.astype(np.uint64))


@pytest.fixture(scope="module")
def there() -> ModuleType:
    """The script that runs senders in ns-3."""
    for name in ("digests", "published", "in_ns3_page"):
        script(name)
    return script("in_ns3")


def same_in_both(there: ModuleType, case: object, scheme: str, folder: Path) -> None:
    """What a scheme gets in ns-3 and here: throughput to 5 %, delay to 2 ms."""
    program = there.compiled(folder / "senders", there.SOURCE)
    got, here = there.in_ns3(case, program, there.exported(scheme, folder)), there.here(case)
    assert got["mbps"] == pytest.approx(here["here_mbps"], rel=0.05)
    assert got["delay_ms"] == pytest.approx(here["here_delay_ms"], abs=2)


@pytest.mark.usefixtures("ns3")
def test_a_socket_tells_when_packets_left(tmp_path: Path, there: ModuleType) -> None:
    # ns-3 itself only tells when the first left of the packets that leave between two ACKs: 5.3 of these 7.9 Mbit/s.
    network = there.Network("one sender of 1 MB", 15, 150, 1, ("bytes", 1e6), 0.5)
    same_in_both(there, there.Case("alone", network, "general-1"), "general-1", tmp_path)


@pytest.mark.usefixtures("ns3")
def test_what_was_sent_twice_shows_no_rtt(tmp_path: Path, there: ModuleType) -> None:
    # After a timeout an ACK of the first copy had passed for one of the second, 7 ms old: 0.8 of these 1.4 Mbit/s.
    (case,) = (case for case in there.cases() if case.line == "one flow: 1.5 Mbit/s, 200 ms: general-0.1-robust")
    same_in_both(there, case, case.scheme, tmp_path)
