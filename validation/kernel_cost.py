"""What an ACK costs in the kernel under a table, beside Cubic and BBR, for docs/deploy.md.

python validation/kernel_cost.py          # as root, some minutes: writes docs/results/kernel-cost.csv, the page
python validation/kernel_cost.py --page   # the table alone

One connection between two network namespaces, over 230 Mbit/s (tbf), segments sent one by one. Of a table its own
splits are measured, with the same action in each rule, a window and a pace that this link takes: so ACKs come as often
as under Cubic, and what lies in the processor's caches is as warm. A law is measured as it is. Both by the kernel's
statistics of BPF programs; Cubic and BBR by `perf`, which samples the clock: how often it found the processor in their
functions.
"""

import argparse
import csv
import io
import json
import re
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import exmachina
from exmachina.deploying import registered
from exmachina.files import write_atomically

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "python" / "tests"))

from hosts import receiving, run, sending, two_hosts  # noqa: E402 (the tests' hosts are these)

RESULTS = ROOT / "docs" / "results" / "kernel-cost.csv"
PAGE = ROOT / "docs" / "deploy.md"
BEGIN, END = "<!-- measured: written by validation/kernel_cost.py -->", "<!-- measured ends -->"
STATISTICS = Path("/proc/sys/kernel/bpf_stats_enabled")
TABLES = ("known-1x", "general-1", "general-1-robust", "tao-100x-robust", "internet-1", "internet-shared-1")
KERNELS = {"cubic": r"\b(cubictcp|bictcp|hystart)_", "bbr": r"\bbbr_"}
"""The kernel's own, and what its functions are called."""
LINK = ("rate", "230mbit", "burst", "3kb", "limit", "225kb")
PACE_NS, WINDOW_PACKETS = 50_000, 60
NAME = "measured"
IDLE = "exm_min_tso_segs"
"""The program that does nothing: what is counted of it is what counting costs."""
WARM_S, FOR_S, TURNS = 1, 5, 3
SAMPLES_PER_S = 15_000

Row = dict[str, str]


@contextmanager
def at_one_pace(table: str) -> Iterator[str]:
    """A table's splits in the kernel, with a multiple of 0, the window as increment, and the pace in each rule.

    A law has no rules, and finds its pace by itself.
    """
    with tempfile.TemporaryDirectory() as folder:
        loaded = exmachina.Table.load(table)
        exmachina.export(loaded, to="bpf", output=folder, name=NAME)
        if not loaded.law:
            set_pace(Path(folder) / "table.h", len(loaded))
        with registered(folder, NAME):
            yield NAME


def set_pace(sources: Path, rules: int) -> None:
    """The same pace and window in each rule of an export."""
    action = f"{{ 0ULL, {PACE_NS}ULL, {WINDOW_PACKETS}, 0 }}"
    text, times = re.subn(r"\{ \d+ULL, \d+ULL, -?\d+, 0 \}", action, sources.read_text(encoding="utf-8"))
    assert times == rules, "every rule once"
    sources.write_text(text, encoding="utf-8")


@contextmanager
def statistics_of_programs() -> Iterator[None]:
    """The kernel counts what BPF programs take, and reading the clock is in what it counts."""
    before = STATISTICS.read_text()
    STATISTICS.write_text("1")
    try:
        yield
    finally:
        STATISTICS.write_text(before)


def programs() -> dict[int, dict[str, Any]]:
    """The programs of tables that the kernel holds, by their numbers."""
    shown = json.loads(run("bpftool", "--json", "prog", "show"))
    return {one["id"]: one for one in shown if one["type"] == "struct_ops"}


def of_programs(but: Collection[int]) -> Counter[str]:
    """Calls of programs other than these, and what they have taken so far, ns."""
    counts: Counter[str] = Counter()
    for number, one in programs().items():
        if number not in but:
            counts[f"calls of {one['name']}"] += one.get("run_cnt", 0)
            counts[f"ns of {one['name']}"] += one.get("run_time_ns", 0)
    return counts


def cost_of(spent: Counter[str]) -> tuple[float, float]:
    """What programs took, ns: as counted, and less what is counted of as many calls of the one that does nothing."""
    ns, calls = (sum(value for name, value in spent.items() if name.startswith(kind)) for kind in ("ns", "calls"))
    return ns, ns - calls * spent[f"ns of {IDLE}"] / spent[f"calls of {IDLE}"]


def of_functions(samples: Path, names: str) -> float:
    """What functions of such names have taken, ns: each sample stands for the time between two."""
    found = run("perf", "script", "-i", samples, "-F", "ip,sym")
    return len(re.findall(names, found)) * 1e9 / SAMPLES_PER_S


def counted(host: str) -> dict[str, float]:
    """What `ss` says of the one connection of a host."""
    said = run("ip", "netns", "exec", host, "ss", "-tinH")
    return {name: float(found) for name, found in re.findall(r"\b(\w+):([0-9.]+)(?=[ /])", said)}


def measured(hosts: tuple[str, str], scheme: str) -> Row:
    """One connection under a scheme."""
    own, others = KERNELS.get(scheme), programs()
    with (
        nullcontext(scheme) if own else at_one_pace(scheme) as name,
        receiving(hosts[1]),
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(sending(hosts[0], name, 1 << 33), stderr=subprocess.DEVNULL) as sender,
    ):
        try:
            samples = Path(folder) / "samples"
            perf = ("perf", "record", "-q", "-a", "-e", "cpu-clock", "-F", str(SAMPLES_PER_S), "-o", samples, "--")
            run("sleep", str(WARM_S))
            before, spent = counted(hosts[0]), of_programs(others)
            run(*(perf if own else ()), "sleep", str(FOR_S))
            after, whole = counted(hosts[0]), of_programs(others)
            counted_ns, ns = (of_functions(samples, own),) * 2 if own else cost_of(whole - spent)
        finally:
            sender.kill()
    acks, packets = (after[name] - before[name] for name in ("segs_in", "delivered"))
    return {
        "scheme": scheme,
        "acks": f"{acks:.0f}",
        "packets_per_ack": f"{packets / acks:.2f}",
        "counted_ns_per_ack": f"{counted_ns / acks:.0f}",
        "ns_per_ack": f"{ns / acks:.0f}",
    }


def measure() -> None:
    """Measures all in turns, so that whatever else the machine does happens to all of them."""
    rows: list[Row] = []
    for turn in range(TURNS):
        for scheme in (*KERNELS, *TABLES):
            with two_hosts() as hosts, statistics_of_programs():
                for host in hosts:
                    run("ip", "-n", host, "link", "set", "veth0", "gso_max_segs", "1")
                run("tc", "-n", hosts[0], "qdisc", "add", "dev", "veth0", "root", "tbf", *LINK)
                rows.append({"turn": str(turn), **measured(hosts, scheme)})
                print(rows[-1], file=sys.stderr)
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_atomically(RESULTS, text.getvalue().encode())


def table(rows: list[Row]) -> str:
    """The page's table: medians of the turns, and the costs from the least to the most."""
    lines = ["| scheme | ns per ACK | as counted | packets per ACK | ACKs measured |", "|---|---|---|---|---|"]
    for scheme in (*KERNELS, *TABLES):
        own = [row for row in rows if row["scheme"] == scheme]

        def middle(column: str, own: list[Row] = own) -> float:
            return statistics.median(float(row[column]) for row in own)

        costs = sorted(int(row["ns_per_ack"]) for row in own)
        lines.append(
            f"| {scheme} | {middle('ns_per_ack'):.0f} ({costs[0]}–{costs[-1]}) "
            f"| {middle('counted_ns_per_ack'):.0f} | {middle('packets_per_ack'):.2f} "
            f"| {sum(int(row['acks']) for row in own)} |"
        )
    return "\n".join(lines) + "\n"


def read() -> list[Row]:
    """What was measured."""
    with RESULTS.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def page(text: str, rows: list[Row]) -> str:
    """The page with the table."""
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n{table(rows)}{END}{after}"


def main() -> None:
    """Measures if asked to, and writes the page's table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--page", action="store_true")
    if not parser.parse_args().page:
        measure()
    write_atomically(PAGE, page(PAGE.read_text(encoding="utf-8"), read()).encode())


if __name__ == "__main__":
    main()
