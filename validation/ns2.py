"""Our transport and schemes against the authors' ns-2: their published curves, and the medians of Remy'13's figure 4.

Usage: ns2.py [FOLDER] [--every N] [--only NAME] [--runs N]. FOLDER holds the authors' `curves` and `remycc`
(default: beside the project). A point is right if throughput and delay are both within 10 %. Their curves have 10 runs
of 100 s at each point. RemyCCs of T2 and T3 have the on and off times of these very runs (`replay`), and a point is right
if both are within 1 %; with files of `ns2`, packets are counted sender by sender. Human schemes draw their own, and
have as many runs, or `--runs`. `--every 10` takes each tenth point of the long ones.

The ten runs of theirs have the same random numbers at every point of a curve (its points scatter as little as ours do
then), so that chance moves a curve as a whole. What it may do shows with fifty runs of ours or more: each ten of them
are taken for a curve of their own, and it is said how many of its points are within 10 % of the mean of all.
"""

import argparse
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

import exmachina

TOLERANCE = 0.1
EXACT = 0.01
"""Where their runs are replayed."""
RUNS = 10
ENOUGH = 5
"""So many curves of ten runs show what chance does."""
DUMBBELL = """
schemes = ["newreno"]
duration_s = 100
runs = {runs}
[link]
rate_mbps = {rate}
buffer = {{ bdp = {bdp}, beyond_ms = {beyond} }}
[path]
rtt_ms = {rtt}
{senders}
[workload]
on = {{ seconds = {on} }}
off = {{ seconds = {off} }}
{replay}
[transport]
preset = "tao14"
"""


@dataclass(frozen=True)
class Point:
    """A point of a curve, ours and theirs: throughput in Mbit/s and mean RTT in ms."""

    at: float
    theirs: tuple[float, float]
    ours: tuple[float, float]
    tolerance: float = TOLERANCE
    tens: tuple[tuple[float, float], ...] = ()
    """The same of each ten runs of ours."""

    @property
    def ratios(self) -> tuple[float, float]:
        """Ours over theirs."""
        return self.ours[0] / self.theirs[0], self.ours[1] / self.theirs[1]

    @property
    def right(self) -> bool:
        """Both within the tolerance."""
        return near(self.ours, self.theirs, self.tolerance)


def near(ours: tuple[float, float], theirs: tuple[float, float], tolerance: float = TOLERANCE) -> bool:
    """Whether throughput and delay are both within the tolerance."""
    return all(abs(mine / other - 1) <= tolerance for mine, other in zip(ours, theirs, strict=True))


def scenario(**fields: str | float) -> str:
    """The text of a dumbbell."""
    usual = {"runs": RUNS, "rtt": 150, "bdp": 5, "beyond": 0, "on": 1, "off": 1, "replay": ""}
    return DUMBBELL.format(**{**usual, **fields})


def measured(text: str, scheme: str) -> pl.DataFrame:
    """All flows of a scenario with this scheme, or with its own where that is empty."""
    return exmachina.evaluate(exmachina.Evaluation(text, "ns2.toml"), [scheme] if scheme else None).flows


def means(flows: pl.DataFrame) -> tuple[float, float]:
    """Throughput and delay: means over the senders of each run, then over runs."""
    on = flows.filter(pl.col("on_s") > 0)
    return float(on["ns2_throughput_mbps"].mean()), float(on["ns2_rtt_ms"].mean())  # type: ignore[arg-type]


def tens(flows: pl.DataFrame) -> tuple[tuple[float, float], ...]:
    """The means of each ten runs, as theirs are."""
    parts = flows.with_columns(ten=pl.col("run") // RUNS).partition_by("ten", maintain_order=True)
    return tuple(means(part) for part in parts)


def report(name: str, points: Iterable[Point], show: int) -> None:
    """How many points are right, and about `show` of them."""
    points = list(points)
    right = sum(point.right for point in points)
    each = [sum(abs(p.ratios[i] - 1) <= p.tolerance for p in points) for i in (0, 1)]
    spread = np.array([point.ratios for point in points])
    print(
        f"{name}: {right} of {len(points)} points within {points[0].tolerance:.0%} in both",
        f"(throughput {each[0]}, delay {each[1]});",
        end=" ",
    )
    print("median ratios {:.3f} {:.3f}".format(*np.median(spread, axis=0)))
    if all(len(point.tens) >= ENOUGH for point in points):
        counts = sorted(
            sum(near(ten, p.ours) for ten, p in zip(curve, points, strict=True))
            for curve in zip(*(p.tens for p in points), strict=True)
        )
        theirs = sum(near(p.theirs, p.ours) for p in points)
        print(f"  within 10 % of the mean of ours: {theirs} of theirs; of ours, ten runs at a time: {counts}")
    for p in points[:: max(1, len(points) // show)] if show else []:
        other, mine, ratios = p.theirs, p.ours, p.ratios
        print(f"  {p.at:9.2f}  ns-2 {other[0]:9.4f} {other[1]:8.2f}  ours {mine[0]:9.4f} {mine[1]:8.2f}", end="")
        print(f"  {ratios[0]:.3f} {ratios[1]:.3f}", flush=True)


def curve(path: Path, every: int) -> list[tuple[float, tuple[float, float]]]:
    """Every so many points of a curve's file: where, throughput and delay."""
    return [(float(x), (float(t), float(d))) for x, t, d in np.loadtxt(path)[:, :3]][::every]


def point(at: float, theirs: tuple[float, float], scheme: str, runs: int, **fields: str | float) -> Iterable[Point]:
    """A point of T2 or T3; of a RemyCC with the on and off times of their runs."""
    if scheme.endswith(".dna"):
        flows = measured(scenario(runs=RUNS, replay="replay = { ns2 = 1 }", **fields), scheme)
        yield Point(at, theirs, means(flows), EXACT)
    else:
        flows = measured(scenario(runs=runs, **fields), scheme)
        yield Point(at, theirs, means(flows), TOLERANCE, tens(flows))


def packets(folder: Path, file: str, table: str) -> None:
    """How many senders of their runs sent and got the very packets of ours, and the means of both at each point."""
    theirs = pl.read_csv(folder / "ns2" / file, comment_prefix="#")
    print(f"{file}: at, senders alike to the packet, throughput and mean RTT, theirs and ours")
    for at in theirs["x"].unique().sort():
        speed = file.startswith("t2")
        network = {"rate": at, "beyond": 2, "senders": "[senders]\ncount = 2"}
        if not speed:
            network = {"rate": 15, "senders": f"[senders]\ncount = {at:g}"}
        flows = measured(scenario(replay="replay = { ns2 = 1 }", **network), table)
        ours = flows.with_columns(pl.col("run").cast(pl.Int64) + 1, pl.col("sender").cast(pl.Int64))
        both = ours.join(theirs.filter(pl.col("x") == at), on=["run", "sender"], suffix="_ns2")
        alike = (pl.col("in_order_packets") == pl.col("in_order_packets_ns2")) & (
            pl.col("sent_packets") == pl.col("transmissions")
        )
        mine, other = means(both), both.select(pl.mean("throughput_mbps_ns2", "mean_rtt_ms_ns2")).row(0)
        same = int(both.select(alike.sum()).item())
        print(f"  {float(at):7.2f}  {same:5} of {len(both):5}", end="")
        print(f"  {other[0]:8.4f} {other[1]:8.2f}  {mine[0]:8.4f} {mine[1]:8.2f}", flush=True)


def link_speeds(folder: Path, name: str, scheme: str, every: int, runs: int) -> Iterable[Point]:
    """Tao'14 figure 2: two senders, 1 to 1000 Mbit/s."""
    for rate, theirs in curve(folder / "curves" / f"fig2_linkspeed_{name}.plot", every):
        yield from point(rate, theirs, scheme, runs, rate=rate, beyond=2, senders="[senders]\ncount = 2")


def multiplexing(folder: Path, name: str, scheme: str, every: int, runs: int) -> Iterable[Point]:
    """Tao'14 figure 3: 1 to 100 senders."""
    for senders, theirs in curve(folder / "curves" / f"fig3_mux_5BDP_{name}.plot", every):
        yield from point(senders, theirs, scheme, runs, rate=15, senders=f"[senders]\ncount = {senders:g}")


def awareness(folder: Path, table: str) -> Iterable[Point]:
    """TCP-naive or TCP-aware senders, two alike or one against NewReno, off for 5 s or 10 ms."""
    name = {"naive": "baseline", "aware": "compatible"}[table]
    for rival in ("without", "with"):
        for off, ending in ((5, "5sec"), (0.01, "alwayson")):
            text = (folder / "curves" / f"fig7_{rival}newreno_{name}.{ending}.txt").read_text()
            found = [
                (int(n), float(tp), float(d)) for n, tp, d in re.findall(r"(\d): tp=(\S+) mbps, del=(\S+) ms", text)
            ]
            tao = folder / "remycc" / f"tao-tcp-{table}.dna"
            second = "newreno" if rival == "with" else str(tao)
            senders = f'[[senders]]\ncount = 1\nscheme = "{tao}"\n[[senders]]\ncount = 1\nscheme = "{second}"'
            mix = scenario(rate=10, rtt=100, bdp=2, senders=senders, on=5, off=off, runs=50)
            mix = mix.replace('schemes = ["newreno"]', "")
            flows = measured(mix, "")
            for sender in (0, 1):
                theirs = np.mean([found_line[1:] for found_line in found if found_line[0] == sender], axis=0)
                ours = means(flows.filter(pl.col("sender") == sender))
                yield Point(sender + (10 if rival == "with" else 0) + off / 100, tuple(theirs), ours)


def medians(folder: Path) -> None:
    """Remy'13's figure 4: medians over senders of throughput and queueing delay, read off the figure."""
    figure = {
        "newreno": (0.66, 6.2),
        "vegas": (0.56, 3.6),
        "cubic": (1.03, 9.4),
        "compound": (0.82, 7.4),
        "cubic/sfqcodel": (1.25, 20.8),
        "xcp": (1.26, 11.7),
        str(folder / "remycc" / "RemyCC-2013-delta0.1.dna"): (1.73, 3.1),
        str(folder / "remycc" / "RemyCC-2013-delta1.dna"): (1.45, 1.6),
        str(folder / "remycc" / "RemyCC-2013-delta10.dna"): (1.11, 1.3),
    }
    replayed = exmachina.Evaluation.load("r4").text.replace("[workload]", "[workload]\nreplay = { ns2 = 1 }")
    results = exmachina.evaluate(exmachina.Evaluation(replayed, "r4.toml"), list(figure))
    print(
        "Remy'13 figure 4: scheme, throughput (Mbit/s) and queueing delay (ms), theirs and ours, ratio and difference"
    )
    for (scheme, (throughput, delay)), label in zip(
        figure.items(), results.flows["contender"].unique(maintain_order=True), strict=True
    ):
        ours = of_senders(results.flows.filter(pl.col("contender") == label))
        print(f"  {Path(scheme).stem if scheme.endswith('dna') else scheme:22} {throughput:5.2f} {delay:5.1f}", end="")
        print(f"  {ours[0]:5.2f} {ours[1]:5.1f}   {ours[0] / throughput:5.2f} {ours[1] - delay:+5.1f}", flush=True)
    fresh = exmachina.Evaluation.load("r4").text.replace(
        'preset = "remy13"', 'preset = "remy13"\nconnections = "fresh"'
    )
    ours = of_senders(exmachina.evaluate(exmachina.Evaluation(fresh, "r4.toml"), ["newreno"]).flows)
    print("  newreno, fresh          1.09  13.0  {:5.2f} {:5.1f}".format(*ours))


def competing() -> None:
    """Remy'13 §5.6: one sender beside a RemyCC, 100 kB at a time, against their scripts run again.

    Theirs is a RemyCC for RTTs of 100 ms to 10 s, ours general-1: that changes next to nothing for the other sender.
    """
    print("Remy'13 section 5.6, 100 kB beside a RemyCC: scheme, throughput (Mbit/s), theirs and ours, ratio")
    for scheme, theirs in (("cubic", 1.24), ("compound", 1.27)):
        senders = f'[[senders]]\ncount = 1\nscheme = "general-1"\n[[senders]]\ncount = 1\nscheme = "{scheme}"'
        mix = scenario(rate=15, senders=senders, off=0.5, runs=128).replace('schemes = ["newreno"]', "")
        mix = mix.replace("on = { seconds = 1 }", "on = { bytes = 100000 }")
        mix = mix.replace("{ bdp = 5 }", "{ packets = 1000 }")
        flows = measured(mix, "").filter(pl.col("sender") == 1)
        ours = float(flows["goodput_mbps"].mean())  # type: ignore[arg-type]
        print(f"  {scheme:22} {theirs:5.2f} {ours:5.2f}   {ours / theirs:5.2f}; timeouts {flows['timeouts'].sum()}")


def of_senders(flows: pl.DataFrame) -> tuple[float, float]:
    """Medians of throughput (Mbit/s) and of the RTT beyond 149.5 ms, as the authors' scripts count both."""
    on = flows.filter(pl.col("on_s") > 0)
    return float(on["ns2_throughput_mbps"].median()), float(on["ns2_rtt_ms"].median()) - 149.5  # type: ignore[arg-type]


def main() -> None:
    """Compares all, or what `--only` names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=Path(__file__).parents[2] / "shared" / "reference")
    parser.add_argument("--every", type=int, default=10)
    parser.add_argument("--only", default="")
    parser.add_argument("--show", type=int, default=10)
    parser.add_argument("--runs", type=int, default=RUNS)
    arguments = parser.parse_args()
    folder = arguments.folder.resolve()
    if not folder.is_dir():
        print(f"{arguments.folder}: not there; nothing to compare with")
        return

    def table(name: str) -> str:
        return str(folder / "remycc" / f"{name}.dna")

    comparisons: dict[str, Callable[[], Iterable[Point] | None]] = {
        "figure4": lambda: medians(folder),
        "competing": competing,
        "T2 cubic": lambda: link_speeds(folder, "cubic", "cubic", arguments.every, arguments.runs),
        "T3 cubic": lambda: multiplexing(folder, "cubic", "cubic", max(1, arguments.every // 5), arguments.runs),
        "T2 tao-10x": lambda: link_speeds(folder, "10x", table("tao-10x"), arguments.every, arguments.runs),
        "T2 tao-100x": lambda: link_speeds(folder, "100x", table("tao-100x"), arguments.every, arguments.runs),
        "T3 tao-mux": lambda: multiplexing(
            folder, "1--10", table("tao-mux-1-10"), max(1, arguments.every // 5), arguments.runs
        ),
        "T2 senders": lambda: packets(folder, "t2_10x_collapse_runs.csv", table("tao-10x")),
        "T3 senders": lambda: packets(folder, "t3_mux_1_10_runs.csv", table("tao-mux-1-10")),
        "T7 naive": lambda: awareness(folder, "naive"),
        "T7 aware": lambda: awareness(folder, "aware"),
    }
    for name, compare in comparisons.items():
        if arguments.only in name:
            points = compare()
            if points is not None:
                report(name, points, arguments.show)


if __name__ == "__main__":
    main()
