"""Our ns-2 transports and schemes against the authors' ns-2, with the on and off times of the authors' own runs.

Usage: ns2.py [FOLDER] [--every N] [--only NAME] [--show N]. FOLDER holds the authors' `curves`, `remycc` and `ns2`
(default: beside the project). Every run of ours has the on and off times of a run of theirs (`replay`), so that chance
is out of the comparison as far as a run is not chaotic. RemyCCs are right within 1 %, human schemes within 5 %, in
throughput and delay both; figure 4's medians within 3 % and 0.5 ms. `--every 10` takes each tenth point of curves.

Where runs are chaotic, a curve scatters from point to point. So it is also said how many points are right if both
curves are means over five neighbours, and how many of theirs are within the bounds of their own five.
"""

import argparse
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

import exmachina

EXACT = 0.01
"""RemyCCs."""
HUMAN = 0.05
"""Human schemes."""
RUNS = 10
"""Of their curves."""
FEW = 20
"""Points of what is no curve."""
MEDIANS = 0.03
"""Of figure 4, throughput."""
MEDIANS_MS = {"cubic/sfqcodel": 1.0}
"""Of figure 4, delay, where it is not half a ms."""
FIGURE_4 = {
    "newreno": "newreno",
    "vegas-linux": "vegas",
    "cubic": "cubic",
    "compound": "compound",
    "cubic/sfqcodel": "cubic/sfqcodel",
    "xcp": "xcp",
    "RemyCC-0.1": "RemyCC-2013-delta0.1",
    "RemyCC-1": "RemyCC-2013-delta1",
    "RemyCC-10": "RemyCC-2013-delta10",
}
"""Their name of a scheme, and ours."""
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
replay = {{ ns2 = 1 }}
[transport]
preset = "tao14"
"""

Pair = tuple[float, float]
FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Point:
    """A point of a curve, ours and theirs: throughput in Mbit/s and mean RTT in ms."""

    at: float
    theirs: Pair
    ours: Pair
    tolerance: float

    @property
    def ratios(self) -> Pair:
        """Ours over theirs."""
        return self.ours[0] / self.theirs[0], self.ours[1] / self.theirs[1]


def scenario(**fields: str | float) -> str:
    """The text of a dumbbell whose runs are theirs, from run 1 on."""
    usual = {"runs": RUNS, "rtt": 150, "bdp": 5, "beyond": 0, "on": 1, "off": 1}
    return DUMBBELL.format(**{**usual, **fields})


def measured(text: str, scheme: str) -> pl.DataFrame:
    """All flows of a scenario with this scheme, or with its own where that is empty."""
    return exmachina.evaluate(exmachina.Evaluation(text, "ns2.toml"), [scheme] if scheme else None).flows


def means(flows: pl.DataFrame) -> Pair:
    """Throughput and delay: means over the senders of all runs."""
    on = flows.filter(pl.col("on_s") > 0)
    return float(on["ns2_throughput_mbps"].mean()), float(on["ns2_rtt_ms"].mean())  # type: ignore[arg-type]


def report(name: str, points: Iterable[Point], show: int) -> None:
    """How many points are right, about `show` of them, and all that are not."""
    points = list(points)
    bounds = points[0].tolerance
    ratios = np.array([point.ratios for point in points])
    within = np.abs(ratios - 1) <= bounds
    print(
        f"{name}: {within.all(axis=1).sum()} of {len(points)} points within {bounds:.0%} in both",
        f"(throughput {within[:, 0].sum()}, delay {within[:, 1].sum()});",
        "median ratios {:.3f} {:.3f}".format(*np.median(ratios, axis=0)),
    )
    if len(points) > FEW:
        theirs, ours = (smooth(np.array([getattr(p, whose) for p in points])) for whose in ("theirs", "ours"))
        own = np.array([point.theirs for point in points])[2:-2]
        counts = [int((np.abs(x / theirs - 1) <= bounds).all(axis=1).sum()) for x in (ours, own)]
        print(f"  means over five points: {counts[0]} of {len(own)}; theirs within its own means: {counts[1]}")
    step = max(1, len(points) // show) if show else len(points)
    for i, point in enumerate(points):
        if (show and i % step == 0) or not within[i].all():
            (throughput, rtt), (mine, mine_rtt) = point.theirs, point.ours
            print(f"  {point.at:9.2f}  ns-2 {throughput:9.4f} {rtt:8.2f}  ours {mine:9.4f} {mine_rtt:8.2f}", end="")
            print("  {:.3f} {:.3f}".format(*point.ratios), "" if within[i].all() else "  not within", flush=True)


def smooth(curve: FloatArray) -> FloatArray:
    """Means over five neighbours."""
    return np.stack([np.convolve(column, np.ones(5) / 5, mode="valid") for column in curve.T], axis=1)


def curve(path: Path, every: int) -> list[tuple[float, Pair]]:
    """Every so many points of a curve's file: where, throughput and delay."""
    return [(float(x), (float(t), float(d))) for x, t, d in np.loadtxt(path)[:, :3]][::every]


def link_speed(rate: float) -> dict[str, str | float]:
    """The network of Tao'14's figure 2."""
    return {"rate": rate, "beyond": 2, "senders": "[senders]\ncount = 2"}


def crowd(senders: float) -> dict[str, str | float]:
    """That of figure 3."""
    return {"rate": 15, "senders": f"[senders]\ncount = {senders:g}"}


def along(path: Path, network: Callable[[float], dict[str, str | float]], scheme: str, every: int) -> Iterable[Point]:
    """The points of a curve of figure 2 or 3."""
    tolerance = EXACT if scheme.endswith(".dna") else HUMAN
    for at, theirs in curve(path, every):
        yield Point(at, theirs, means(measured(scenario(**network(at)), scheme)), tolerance)


def chance(path: Path, table: str) -> None:
    """What next to nothing does where figure 3 collapses: the link is faster by some 1e-8 of its rate."""
    theirs = dict(curve(path, 1))
    print("T3 tao-mux with links of 1 + k 1e-8 of the rate, k = 0 to 7: senders, throughputs over theirs")
    for count in (21, 22, 23, 25, 44):
        found = (means(measured(scenario(**{**crowd(count), "rate": 15 * (1 + k * 1e-8)}), table))[0] for k in range(8))
        print(f"  {count:3}", *(f"{ours / theirs[count][0]:.3f}" for ours in found), flush=True)


def senders(path: Path, network: Callable[[float], dict[str, str | float]], scheme: str) -> None:
    """Runs sender by sender: how many sent and got the very packets of theirs, and how near the others are."""
    theirs = pl.read_csv(path, comment_prefix="#", infer_schema_length=None)
    print(
        f"{path.name}: at; senders alike to the packet, within 5 % in throughput, of how many; means, theirs and ours"
    )
    for at in theirs["x"].unique().sort():
        flows = measured(scenario(**network(float(at))), scheme)
        ours = flows.with_columns(pl.col("run").cast(pl.Int64) + 1, pl.col("sender").cast(pl.Int64))
        both = ours.join(theirs.filter(pl.col("x") == at), on=["run", "sender"], suffix="_ns2")
        alike = (pl.col("in_order_packets") == pl.col("in_order_packets_ns2")) & (
            pl.col("sent_packets") == pl.col("transmissions")
        )
        near = (pl.col("ns2_throughput_mbps") / pl.col("throughput_mbps_ns2") - 1).abs() <= HUMAN
        same, close = both.select(alike.sum().alias("same"), near.sum()).row(0)
        mine, other = means(both), both.select(pl.mean("throughput_mbps_ns2", "mean_rtt_ms_ns2")).row(0)
        print(f"  {float(at):7.2f}  {same:5} {close:5} of {len(both):5}", end="")
        print(f"  {other[0]:8.4f} {other[1]:8.2f}  {mine[0]:8.4f} {mine[1]:8.2f}", end="")
        print(f"  {mine[0] / other[0]:.3f} {mine[1] / other[1]:.3f}", flush=True)


def awareness(folder: Path, table: str) -> Iterable[Point]:
    """Figure 7: TCP-naive or TCP-aware senders, two alike or one against NewReno, off for 5 s or 10 ms."""
    name = {"naive": "baseline", "aware": "compatible"}[table]
    for rival in ("without", "with"):
        for off, ending in ((5, "5sec"), (0.01, "alwayson")):
            text = (folder / "curves" / f"fig7_{rival}newreno_{name}.{ending}.txt").read_text()
            lines = re.findall(r"(\d): tp=(\S+) mbps, del=(\S+) ms", text)
            found = [(int(n), float(tp), float(d)) for n, tp, d in lines]
            tao = folder / "remycc" / f"tao-tcp-{table}.dna"
            second = "newreno" if rival == "with" else str(tao)
            pair = f'[[senders]]\ncount = 1\nscheme = "{tao}"\n[[senders]]\ncount = 1\nscheme = "{second}"'
            runs = len(found) // 2
            mix = scenario(rate=10, rtt=100, bdp=2, senders=pair, on=5, off=off, runs=runs)
            flows = measured(mix.replace('schemes = ["newreno"]', ""), "")
            for sender in (0, 1):
                theirs = np.mean([line[1:] for line in found if line[0] == sender], axis=0)
                at = sender + (10 if rival == "with" else 0) + off / 100
                yield Point(at, tuple(theirs), means(flows.filter(pl.col("sender") == sender)), HUMAN)


def of_senders(flows: pl.DataFrame) -> Pair:
    """Medians of throughput (Mbit/s) and of the RTT beyond 149.5 ms, as the authors' scripts count both."""
    on = flows.filter(pl.col("on_s") > 0)
    return float(on["ns2_throughput_mbps"].median()), float(on["ns2_rtt_ms"].median()) - 149.5  # type: ignore[arg-type]


def medians(folder: Path) -> None:
    """Remy'13's figure 4: medians over the senders of 128 runs, seed by seed theirs."""
    table = pl.read_csv(folder / "ns2" / "r4_medians.csv", comment_prefix="#").filter(pl.col("experiment") == "R4")
    replayed = exmachina.Evaluation.load("r4").text.replace("[workload]", "[workload]\nreplay = { ns2 = 1 }")
    print("Remy'13 figure 4: scheme, throughput (Mbit/s) and delay (ms), theirs and ours, ratio and difference")
    right = 0
    for theirs, ours in FIGURE_4.items():
        scheme = str(folder / "remycc" / f"{ours}.dna") if ours.startswith("RemyCC") else ours
        mine = of_senders(exmachina.evaluate(exmachina.Evaluation(replayed, "r4.toml"), [scheme]).flows)
        other = table.filter(pl.col("scheme") == theirs).select("median_mbps", "median_queueing_ms").row(0)
        ratio, later = mine[0] / other[0], mine[1] - other[1]
        right += abs(ratio - 1) <= MEDIANS and abs(later) <= MEDIANS_MS.get(theirs, 0.5)
        print(f"  {theirs:16} {other[0]:5.2f} {other[1]:5.1f}  {mine[0]:6.3f} {mine[1]:6.2f}", end="")
        print(f"  {ratio:.3f} {later:+.2f}", flush=True)
    print(f"  {right} of {len(FIGURE_4)} within {MEDIANS:.0%} and 0.5 ms (sfqCoDel: 1 ms)")


def competing() -> None:
    """Remy'13 §5.6: one sender beside a RemyCC, 100 kB at a time, against their scripts run again.

    Theirs is a RemyCC for RTTs of 100 ms to 10 s, ours general-1: that changes next to nothing for the other sender.
    """
    print("Remy'13 section 5.6, 100 kB beside a RemyCC: scheme, throughput (Mbit/s), theirs and ours, ratio")
    for scheme, theirs in (("cubic", 1.24), ("compound", 1.27)):
        pair = f'[[senders]]\ncount = 1\nscheme = "general-1"\n[[senders]]\ncount = 1\nscheme = "{scheme}"'
        mix = scenario(rate=15, senders=pair, off=0.5, runs=128).replace('schemes = ["newreno"]', "")
        mix = mix.replace("on = { seconds = 1 }", "on = { bytes = 100000 }").replace("replay = { ns2 = 1 }", "")
        mix = mix.replace("{ bdp = 5, beyond_ms = 0 }", "{ packets = 1000 }")
        flows = measured(mix, "").filter(pl.col("sender") == 1)
        ours = float(flows["goodput_mbps"].mean())  # type: ignore[arg-type]
        print(f"  {scheme:22} {theirs:5.2f} {ours:5.2f}   {ours / theirs:5.2f}; timeouts {flows['timeouts'].sum()}")


def main() -> None:
    """Compares all, or what `--only` names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=Path(__file__).parents[2] / "shared" / "reference")
    parser.add_argument("--every", type=int, default=10)
    parser.add_argument("--only", default="")
    parser.add_argument("--show", type=int, default=10)
    arguments = parser.parse_args()
    folder: Path = arguments.folder.resolve()
    every: int = arguments.every
    if not folder.is_dir():
        print(f"{arguments.folder}: not there; nothing to compare with")
        return
    few = max(1, every // 10)

    def table(name: str) -> str:
        return str(folder / "remycc" / f"{name}.dna")

    def plot(name: str) -> Path:
        return folder / "curves" / f"{name}.plot"

    runs = folder / "ns2"
    comparisons: dict[str, Callable[[], Iterable[Point] | None]] = {
        "figure4": lambda: medians(folder),
        "competing": competing,
        "T2 cubic": lambda: along(plot("fig2_linkspeed_cubic"), link_speed, "cubic", every),
        "T3 cubic": lambda: along(plot("fig3_mux_5BDP_cubic"), crowd, "cubic", few),
        "T2 tao-10x": lambda: along(plot("fig2_linkspeed_10x"), link_speed, table("tao-10x"), every),
        "T2 tao-100x": lambda: along(plot("fig2_linkspeed_100x"), link_speed, table("tao-100x"), every),
        "T3 tao-mux": lambda: along(plot("fig3_mux_5BDP_1--10"), crowd, table("tao-mux-1-10"), few),
        "T3 chance": lambda: chance(plot("fig3_mux_5BDP_1--10"), table("tao-mux-1-10")),
        "T2 senders of cubic": lambda: senders(runs / "t2_cubic_runs.csv", link_speed, "cubic"),
        "T3 senders of cubic": lambda: senders(runs / "t3_cubic_runs.csv", crowd, "cubic"),
        "T2 senders of tao-10x": lambda: senders(runs / "t2_10x_collapse_runs.csv", link_speed, table("tao-10x")),
        "T3 senders of tao-mux": lambda: senders(runs / "t3_mux_1_10_runs.csv", crowd, table("tao-mux-1-10")),
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
