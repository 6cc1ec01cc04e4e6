"""Our algorithms in ns-3, as exported, beside the authors' published tables and what people wrote: for docs/ns3.md.

Usage: in_ns3.py [--only TEXT] [--here] [--page] [--threads N]. Needs the extra `ns3` and g++, and an hour or two of two
cores. What is in docs/results/ns3-senders.csv of the same algorithms is kept, so that it goes on where it was stopped;
`--only` measures the cases whose line contains a text again. `--here` makes this simulator's numbers of all cases
anew, `--page` the page only; neither needs ns-3.

A case is a network and a scheme, as the mean of some runs. Networks and senders are the same on both sides, the draws
of when senders are on are each side's own.
"""

import argparse
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from statistics import fmean

import polars as pl
import tomli_w
from digests import digest_of
from in_ns3_page import page
from published import PUBLISHED, TABLES

import exmachina
from exmachina import Table
from exmachina.files import write_atomically

PROJECT = Path(__file__).parents[1]
ROWS, PAGE = PROJECT / "docs" / "results" / "ns3-senders.csv", PROJECT / "docs" / "ns3.md"
SOURCE = Path(__file__).parent / "ns3_senders.cc"
LIBRARIES = ("core", "network", "internet", "point-to-point", "traffic-control", "flow-monitor", "bridge", "stats")
BY_HAND = {"newreno": "NewReno", "cubic": "Cubic", "vegas": "Vegas", "bbr1": "Bbr"}
"""What they are called in ns-3."""
ROBUST = ["general-0.1-robust", "general-1-robust", "tao-100x-robust", "tao-1000x-robust", "internet-1"]
"""What runs alone."""
PACKET_BITS = 8 * 1500
ENDLESS = 10_000_000
"""Room for so many packets is room for all."""
MOST_LOST = 1000
"""Buffers of more packets are not filled: ns-3 takes minutes over a window of thousands of which many are lost."""
PACKETS = 200_000
"""A run ends after as long as a full link needs for so many, or after LONGEST_S."""
LONGEST_S, SHORTEST_S = 100.0, 20.0


@dataclass(frozen=True)
class Network:
    """A link and its senders: all at the same distance, on and off by turns, of exponential lengths."""

    words: str
    rate_mbps: float
    rtt_ms: float
    senders: int
    on: tuple[str, float]
    off_s: float = 1.0
    packets: int = ENDLESS
    endless: bool = False
    """All begin at once, and do not end."""
    delayed_acks: bool = False
    runs: int = 4

    @property
    def seconds(self) -> float:
        """How long a run is."""
        return float(round(min(LONGEST_S, max(SHORTEST_S, PACKETS * PACKET_BITS / self.rate_mbps / 1e6))))

    def scenario(self) -> str:
        """As a file of ours."""
        unit, mean = self.on
        workload: object = {"on": {unit: mean}, "off": {"seconds": self.off_s}}
        if self.endless:
            workload = {"on": "forever", "first_off": {"seconds": 0}}
        delay = {} if self.delayed_acks else {"delayed_ack_ms": 0}
        return tomli_w.dumps(
            {
                "runs": self.runs,
                "duration_s": self.seconds,
                "seed": 31,
                "link": {"rate_mbps": self.rate_mbps, "buffer": self.room},
                "path": {"rtt_ms": self.rtt_ms},
                "senders": {"count": self.senders, "workload": workload},
                "transport": {"preset": "today", "packet_bytes": 1500, "ack_bytes": 0, **delay},
            }
        )

    @property
    def room(self) -> object:
        """The buffer, as scenarios have it."""
        return "infinite" if self.packets == ENDLESS else {"packets": self.packets}


@dataclass(frozen=True)
class Case:
    """A scheme on a network."""

    group: str
    network: Network
    scheme: str

    @property
    def line(self) -> str:
        """What names it."""
        return f"{self.group}: {self.network.words}: {self.scheme}"


def cases() -> list[Case]:
    """All that is measured: where there are published tables, the papers' networks; and flows that do not end."""
    figure = Network("15 Mbit/s, 150 ms, 8 senders, 100 kB each 0.5 s", 15, 150, 8, ("bytes", 100_000), 0.5)
    # Figure 4 of Remy'13: everything that was made for such a link, and what people wrote.
    general = ["general-0.1", "general-1", "general-10"]
    both = [name for one in general for name in (one, f"published {one}", f"{one}-robust")]
    made = [Case("figure 4", figure, scheme) for scheme in [*both, "internet-1", *BY_HAND]]
    for model, rates in {"tao-10x": (10, 18, 32, 56, 100), "tao-100x": (3.2, 10, 32, 100, 320)}.items():
        points = [Network(f"{rate:g} Mbit/s", rate, 150, 2, ("seconds", 1.0)) for rate in rates]
        made += beside_published(model, points)
    rtts = [Network(f"{rtt} ms", 33, rtt, 2, ("seconds", 1.0)) for rtt in (100, 150, 200, 300)]
    crowds = [
        Network(f"{count} sender{'s' * (count > 1)}", 15, 150, count, ("seconds", 1.0)) for count in (1, 2, 4, 7, 10)
    ]
    made += beside_published("tao-rtt-150", rtts) + beside_published("tao-mux-10", crowds)
    by_hand = {network: list(BY_HAND) if network.packets <= MOST_LOST else [] for network in alone()}
    return made + [Case("one flow", network, scheme) for network in by_hand for scheme in ROBUST + by_hand[network]]


def beside_published(model: str, points: list[Network]) -> list[Case]:
    """A model's networks point by point: the algorithm for it, the robust one, and the published table."""
    schemes = (model, f"published {model}", f"{model}-robust", "cubic")
    return [Case(model, point, scheme) for point in points for scheme in schemes]


def alone() -> Iterator[Network]:
    """One flow that does not end, receivers that delay ACKs, and room for two bandwidth-delay products."""
    for rate in (1.5, 12.0, 100.0):
        for rtt in (10.0, 50.0, 200.0):
            packets = max(50, round(2 * rate * 1e3 * rtt / PACKET_BITS))
            words = f"{rate:g} Mbit/s, {rtt:g} ms"
            # What one flow does is the same in all runs.
            yield Network(
                words, rate, rtt, 1, ("seconds", 1.0), packets=packets, endless=True, delayed_acks=True, runs=1
            )


def main() -> None:
    """Measures what is not known yet, and writes the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="measure these again: cases whose line contains this text")
    parser.add_argument("--here", action="store_true", help="make this simulator's numbers of all cases anew")
    parser.add_argument("--page", action="store_true", help="make the page only")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    asked = parser.parse_args()
    kept = read()
    if asked.here:
        write({line: row | here(case) for case in cases() for line, row in kept.items() if line == case.line})
    elif not asked.page:
        again = asked.only is not None
        wanted = [case for case in cases() if (asked.only in case.line if again else not is_known(case, kept))]
        measure(wanted, kept, asked.threads)
    write_atomically(PAGE, page(pl.DataFrame(list(read().values()))).encode())


def is_known(case: Case, kept: dict[str, dict[str, object]]) -> bool:
    """Whether it was measured, of the algorithm as it is, and as long."""
    row = kept.get(case.line, {})
    return (row.get("digest"), row.get("seconds")) == (digest_of(case.scheme), case.network.seconds)


def measure(wanted: list[Case], kept: dict[str, dict[str, object]], threads: int) -> None:
    """Measures cases on both sides, and writes what is known after each."""
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(threads) as pool:
        place = Path(folder)
        program = compiled(place / "senders", SOURCE)
        types = {scheme: exported(scheme, place) for scheme in dict.fromkeys(case.scheme for case in wanted)}
        for case, row in zip(
            wanted, pool.map(lambda case: in_ns3(case, program, types[case.scheme]), wanted), strict=True
        ):
            kept[case.line] = {**named(case), **row, **here(case)}
            write(kept)
            print(case.line, *(f"{name} {number:.4g}" for name, number in numbers(kept[case.line])), flush=True)


def numbers(row: dict[str, object]) -> Iterator[tuple[str, float]]:
    """What was measured, of a row."""
    for name in ("mbps", "delay_ms", "here_mbps", "here_delay_ms"):
        yield name, float(str(row[name]))


def named(case: Case) -> dict[str, object]:
    """What a row says of its case."""
    network = case.network
    return {
        "group": case.group,
        "words": network.words,
        "scheme": case.scheme,
        "digest": digest_of(case.scheme),
        "rtt_ms": network.rtt_ms,
        "runs": network.runs,
        "seconds": network.seconds,
    }


def table_of(scheme: str) -> Table:
    """The algorithm of this name, or the table that the authors published for the same model."""
    _, published, model = scheme.rpartition("published ")
    return Table.load(TABLES / f"{PUBLISHED[model]}.dna" if published else scheme)


def exported(scheme: str, folder: Path) -> tuple[str, str]:
    """The socket type of a scheme in ns-3, and the library that has it: none if that is ns-3's own."""
    if scheme in BY_HAND:
        return f"ns3::Tcp{BY_HAND[scheme]}", ""
    name = re.sub(r"\W+", "-", scheme)
    made = exmachina.export(table_of(scheme), to="ns3", output=folder / name, name=name)
    (source,) = (path for path in made.written if path.suffix == ".cc")
    (kind,) = re.findall(r"class (\w+) :", source.with_suffix(".h").read_text(encoding="utf-8"))
    return f"ns3::{kind}", str(compiled(folder / f"{name}.so", source, "-shared", "-fPIC"))


def compiled(output: Path, source: Path, *flags: str) -> Path:
    """What g++ makes of a source that needs ns-3."""
    ns3 = Path(str(metadata.distribution("ns3").locate_file("ns3")))
    libraries = [path for name in LIBRARIES for path in (ns3 / "lib64").glob(f"libns3*-{name}.so")]
    linked = [f"-Wl,-rpath,{ns3 / 'lib64'}", "-Wl,--allow-shlib-undefined", "-rdynamic"]
    given: list[str | Path] = ["-std=c++20", "-O2", *flags, "-isystem", ns3 / "include", "-I", source.parent]
    subprocess.run(["g++", *given, source, "-o", output, *libraries, *linked], check=True)
    return output


def in_ns3(case: Case, program: Path, kind: tuple[str, str]) -> dict[str, float]:
    """What ns-3 says: means over senders and runs."""
    network, (socket_type, library) = case.network, kind
    unit, mean = network.on
    given = {
        "type": socket_type,
        "library": library,
        "queue": "FifoQueueDisc",
        "packets": network.packets,
        # The device behind the queue holds one, too.
        **({} if network.packets == ENDLESS else {"packets": network.packets - 1}),
        "ack_packets": 2 if network.delayed_acks else 1,
        "rate_mbps": network.rate_mbps,
        "rtt_ms": network.rtt_ms,
        "senders": network.senders,
        "on_unit": unit,
        "on": mean,
        "off": network.off_s,
        "seconds": network.seconds,
        "endless": int(network.endless),
    }
    senders = []
    for seed in range(1, network.runs + 1):
        arguments = [f"{name}={value}" for name, value in {**given, "seed": seed}.items()]
        done = subprocess.run([program, *arguments], capture_output=True, text=True, check=True)
        senders += [[float(number) for number in line.split(",")] for line in done.stdout.splitlines()]
    # Who was on and got nothing counts, but has no delay.
    mbps = fmean(packets * PACKET_BITS / on_s / 1e6 for on_s, packets, _ in senders if on_s > 0)
    return {"mbps": mbps, "delay_ms": fmean(waited_ms for _, packets, waited_ms in senders if packets)}


def here(case: Case) -> dict[str, float]:
    """What this simulator says of the same."""
    scheme = case.scheme if case.scheme in BY_HAND else table_of(case.scheme)
    evaluation = exmachina.Evaluation(case.network.scenario(), "ns3.toml")
    flows = exmachina.evaluate(evaluation.changed([scheme]), threads=1).flows.filter(pl.col("on_s") > 0)
    mbps, delay = (
        float(flows[name].drop_nans().to_numpy().mean()) for name in ("throughput_mbps", "queueing_delay_ms")
    )
    return {"here_mbps": mbps, "here_delay_ms": delay}


def read() -> dict[str, dict[str, object]]:
    """What was measured, by line."""
    if not ROWS.is_file():
        return {}
    rows = pl.read_csv(ROWS, schema_overrides={"digest": pl.String}).with_columns(pl.col("digest").fill_null(""))
    return {f"{row['group']}: {row['words']}: {row['scheme']}": row for row in rows.iter_rows(named=True)}


def write(kept: dict[str, dict[str, object]]) -> None:
    """All of it, in the order of the cases."""
    rows = [kept[case.line] for case in cases() if case.line in kept]
    write_atomically(ROWS, pl.DataFrame(rows).write_csv(float_precision=4).encode())


if __name__ == "__main__":
    main()
