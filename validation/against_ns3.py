"""Our schemes and queues against ns-3's: long flows over one bottleneck, throughput and queueing delay.

Usage: against_ns3.py [--ns3] [--only TEXT]. Makes our numbers of every case anew, compares them with ns-3's, which
are kept in docs/results/ns3.csv, and writes both there with the verdict: right is within 10 % of throughput and within
10 % or 2 ms of delay. `--ns3` makes ns-3's numbers anew instead of ours; it needs the extra `ns3`, and some ten minutes
of one core.

Packet sizes, delayed ACKs, initial window and the floor of the retransmission timer are the same on both sides. A case
is the mean of its runs: the second flow starts at another instant in each, and ns-3 and we draw other random numbers.
"""

import argparse
import csv
import importlib
import io
import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from statistics import fmean

import tomli_w

RESULTS = Path(__file__).parent.parent / "docs" / "results" / "ns3.csv"
SECONDS = 100
THROUGHPUT = 0.1
DELAY, DELAY_MS = 0.1, 2.0
SECOND_STARTS = (1.0, 1.7, 2.9)
"""When the second flow begins, s, by run."""


@dataclass(frozen=True)
class Case:
    """A network, what runs on it, and where ns-3's defaults are departed from."""

    scheme: str
    queue: str
    rate_mbps: float
    rtt_ms: float
    packets: int
    flows: int
    runs: int = 1
    delayed_acks: bool = True
    ns3: str = ""
    """Attributes of ns-3, NAME=VALUE and blanks between: an experiment on their side."""
    today: str = ""
    """Settings of our transport, likewise: an experiment on ours."""

    def starts(self, run: int) -> list[float]:
        """When the flows begin, s."""
        return [0.0, SECOND_STARTS[run]][: self.flows]

    def scenario(self, run: int) -> str:
        """As a file of ours."""
        name, _, k = self.queue.partition(":")
        transport = {
            "preset": "today",
            "packet_bytes": 1500,
            "ack_bytes": 0,
            **tomllib.loads("\n".join(self.today.split())),
        }
        scenario = {
            "runs": 1,
            "duration_s": SECONDS,
            "seed": 2 * run + 1,
            "link": {
                "rate_mbps": self.rate_mbps,
                "buffer": {"packets": self.packets},
                "queue": {"step": {"packets": int(k)}} if k else name,
            },
            "path": {"rtt_ms": self.rtt_ms},
            "senders": [
                {"count": 1, "scheme": self.scheme, "workload": {"on": {"at": [{"start_s": at}]}}}
                for at in self.starts(run)
            ],
            "transport": transport if self.delayed_acks else {**transport, "delayed_ack_ms": 0},
        }
        return tomli_w.dumps(scenario)


def cases() -> list[Case]:
    """What is compared: a bandwidth-delay product is 33 packets at 10 Mbit/s and 40 ms, and at 4 Mbit/s and 100 ms."""
    windows, schemes = ("newreno", "cubic", "vegas"), ("newreno", "cubic", "vegas", "ledbat", "bbr1")
    made = [Case(s, "droptail", 10, 40, packets, 1) for s in windows for packets in (33, 100)]
    made += [Case(s, "droptail", 10, 40, packets, 2, runs=3) for s in windows for packets in (33, 100)]
    made += [Case("bbr1", "droptail", 10, 40, 33, 1)]
    made += [Case(s, "droptail", 4, 100, 100, 1) for s in schemes]
    made += [Case("dctcp", "step:20", 4, 100, 1000, 1)]
    made += [Case("newreno", queue, 4, 100, 1000, 1) for queue in ("red", "codel", "fqcodel", "pie")]
    return made + experiments()


def experiments() -> list[Case]:
    """Cases that say why others differ: one thing changed."""
    patient, classic = "TcpSocketBase::MinRto=1s", "TcpL4Protocol::RecoveryType=ns3::TcpClassicRecovery"
    return [
        Case("newreno", "droptail", 4, 100, 100, 1, ns3=patient),
        Case("cubic", "droptail", 4, 100, 100, 1, ns3=f"{patient} {classic}"),
        Case("cubic", "droptail", 10, 40, 33, 1, ns3=classic),
        Case("cubic", "droptail", 10, 40, 100, 1, ns3=classic),
        Case("newreno", "red", 4, 100, 1000, 1, delayed_acks=False),
        Case("newreno", "pie", 4, 100, 1000, 1, delayed_acks=False, ns3=classic),
        Case("newreno", "droptail", 10, 40, 33, 2, runs=3, delayed_acks=False),
        Case("vegas", "droptail", 4, 100, 100, 1, delayed_acks=False),
        Case("ledbat", "droptail", 4, 100, 100, 1, ns3="TcpLedbat::SSParam=no"),
        Case("bbr1", "droptail", 20, 80, 400, 1, delayed_acks=False),
        Case("bbr1", "droptail", 100, 40, 1000, 1),
    ]


NOTES = {
    "newreno droptail": "the floor of their timer is of the whole timeout; of two flows, they count ACKs, not packets",
    "newreno red": "they count ACKs, not packets acknowledged; with an ACK per packet both agree",
    "newreno pie": "as with RED, and their PRR; with an ACK per packet and without it both agree",
    "cubic droptail": "their PRR reduces twice, their timer's floor is of the whole timeout; without either they agree",
    "vegas droptail": "delayed ACKs are in their RTTs but not in the smallest; else both rest between alpha and beta",
    "ledbat droptail": "they have no ALLOWED_INCREASE (RFC 6817 §2.4.2)",
    "bbr1 droptail": "their delivery rates count a packet too many, and their quanta are of one packet",
}
"""What is known of cases that are not within the tolerance; docs/validation.md says how it was found out."""


def note(case: Case) -> str:
    """What is known of this case's difference."""
    return NOTES.get(f"{case.scheme} {case.queue}", "")


@dataclass(frozen=True)
class Measured:
    """Throughput of all flows together, Mbit/s, and mean queueing delay, ms."""

    mbps: float
    delay_ms: float


def right(ours: Measured, theirs: Measured) -> bool:
    """Within the tolerances."""
    delay = max(DELAY * theirs.delay_ms, DELAY_MS)
    near = abs(ours.mbps / theirs.mbps - 1) <= THROUGHPUT
    return near and abs(ours.delay_ms - theirs.delay_ms) <= delay


def measure_ours(case: Case) -> Measured:
    """By our simulator."""
    import exmachina  # noqa: PLC0415 (ns-3 may be in an environment of its own)

    mbps, delays = [], []
    for run in range(case.runs):
        flows = exmachina.evaluate(exmachina.Evaluation(case.scenario(run), "ns3.toml"), None).flows
        packets = flows["delivered_packets"]
        mbps.append(float(packets.sum()) * 1500 * 8 / SECONDS / 1e6)
        delays.append(float((flows["queueing_delay_ms"] * packets).sum() / packets.sum()))
    return Measured(fmean(mbps), fmean(delays))


def measure_theirs(case: Case) -> Measured:
    """By ns-3."""
    ns3 = importlib.import_module("ns3_dumbbell")
    runs = [
        ns3.run(
            case.scheme,
            case.queue,
            rate_mbps=case.rate_mbps,
            rtt_ms=case.rtt_ms,
            packets=case.packets,
            delayed_acks=case.delayed_acks,
            starts=case.starts(run),
            seconds=SECONDS,
            seed=run + 1,
            attributes=dict(pair.split("=", 1) for pair in case.ns3.split()),
        )
        for run in range(case.runs)
    ]
    return Measured(fmean(run[0] for run in runs), fmean(run[1] for run in runs))


NAMES = [field.name for field in fields(Case)]
NUMBERS = ["ns3_mbps", "ns3_delay_ms", "ours_mbps", "ours_delay_ms", "right"]


def key(case: Case) -> tuple[str, ...]:
    """A case as the file writes it."""
    return tuple(str(getattr(case, name)) for name in NAMES)


def read(path: Path) -> dict[tuple[str, ...], dict[str, str]]:
    """What was measured, by case."""
    if not path.is_file():
        return {}
    with path.open() as file:
        return {tuple(row[name] for name in NAMES): row for row in csv.DictReader(file)}


def write(path: Path, kept: dict[tuple[str, ...], dict[str, str]]) -> None:
    """All of it, in the order of the cases."""
    out = io.StringIO()
    writer = csv.DictWriter(out, NAMES + NUMBERS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(kept[key(case)] for case in cases() if key(case) in kept)
    path.write_text(out.getvalue())


def main() -> None:
    """Measures, prints and writes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ns3", action="store_true", help="run ns-3 instead of us, and keep what it gives")
    parser.add_argument("--only", default="", help="cases whose line contains this text")
    asked = parser.parse_args()
    kept = read(RESULTS)
    for case in cases():
        line = " ".join(f"{name}={value}" for name, value in zip(NAMES, key(case), strict=True) if value)
        if asked.only not in line:
            continue
        row = kept.get(key(case)) or {**dict(zip(NAMES, key(case), strict=True)), **dict.fromkeys(NUMBERS, "")}
        side, measured = ("ns3", measure_theirs(case)) if asked.ns3 else ("ours", measure_ours(case))
        row |= {f"{side}_mbps": f"{measured.mbps:.3f}", f"{side}_delay_ms": f"{measured.delay_ms:.2f}"}
        if all(row[name] for name in NUMBERS[:4]):
            theirs, ours = (Measured(float(row[f"{s}_mbps"]), float(row[f"{s}_delay_ms"])) for s in ("ns3", "ours"))
            row["right"] = "yes" if right(ours, theirs) else "no"
        kept[key(case)] = row
        write(RESULTS, kept)
        print(
            line, *(f"{name}={row[name]}" for name in NUMBERS), note(case) if row["right"] == "no" else "", flush=True
        )


if __name__ == "__main__":
    main()
