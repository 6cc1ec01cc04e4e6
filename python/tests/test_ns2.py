"""Known answers: runs of the authors' ns-2, with their on and off times. `validation/ns2.py` compares all there are.

Skips without them, but in CI (`conftest.reference`).
"""

import polars as pl
import pytest
from conftest import published, reference

import exmachina

TOLERANCE = 0.1
TEXT = """
runs = 10
[link]
rate_mbps = {rate}
buffer = {{ bdp = 5, beyond_ms = {beyond} }}
[path]
rtt_ms = 150
[senders]
count = {senders}
[workload]
on = {{ seconds = 1 }}
off = {{ seconds = 1 }}
replay = {{ ns2 = 1 }}
[transport]
preset = "tao14"
"""
REMYCCS = [
    ("fig2_linkspeed_10x", "tao-10x", 0),
    ("fig2_linkspeed_10x", "tao-10x", 300),
    ("fig2_linkspeed_100x", "tao-100x", 0),
    ("fig3_mux_5BDP_1--10", "tao-mux-1-10", 10),
    # Where half of all packets are lost: next to nothing is in order.
    ("fig3_mux_5BDP_1--10", "tao-mux-1-10", 30),
]
"""Curve, table, and line of the curve: at 1 and 7.9 Mbit/s, 1 Mbit/s, 11 and 31 senders."""
CUBIC = [("t2", 1), ("t2", 15.8928), ("t2", 63.358), ("t3", 2), ("t3", 20)]
"""Figures 2 and 3, and a point of theirs: Mbit/s, or senders."""


def curve(name: str) -> list[list[float]]:
    """The lines of a curve: where, throughput in Mbit/s, mean RTT in ms."""
    text = reference(f"curves/{name}.plot").read_text()
    return [[float(word) for word in line.split()][:3] for line in text.splitlines()]


def flows(speed: bool, at: float, scheme: str) -> pl.DataFrame:
    """Runs 1 to 10 of a point of figure 2 or 3, with the on and off times of theirs."""
    rate, senders = (at, 2) if speed else (15, round(at))
    text = TEXT.format(rate=rate, senders=senders, beyond=2 if speed else 0)
    return exmachina.evaluate(exmachina.Evaluation(text, "ns2.toml"), [scheme]).flows


@pytest.mark.slow
@pytest.mark.parametrize(("name", "table", "line"), REMYCCS)
def test_remyccs(name: str, table: str, line: int) -> None:
    """Throughput and delay are theirs to 1 %."""
    at, throughput, delay = curve(name)[line]
    found = flows(name.startswith("fig2"), at, str(published(table)))
    ours = found.select(pl.mean("ns2_throughput_mbps"), pl.mean("ns2_rtt_ms")).row(0)
    assert ours == pytest.approx((throughput, delay), rel=0.01)


@pytest.mark.parametrize(("figure", "at"), CUBIC)
def test_cubic(figure: str, at: float) -> None:
    """Means are theirs to 5 %, and most senders one by one, if two: what is left is chaos (docs/validation.md)."""
    theirs = pl.read_csv(reference(f"ns2/{figure}_cubic_runs.csv"), comment_prefix="#", infer_schema_length=None)
    theirs = theirs.filter((pl.col("x") / at - 1).abs() < 1e-4)
    found = flows(figure == "t2", float(theirs["x"][0]), "cubic")
    ours = found.with_columns(pl.col("run").cast(pl.Int64) + 1, pl.col("sender").cast(pl.Int64))
    both = ours.join(theirs, on=["run", "sender"], suffix="_ns2")
    assert len(both) == len(found) > 0
    mine, other = (
        both.select(pl.mean(*columns)).row(0)
        for columns in (("ns2_throughput_mbps", "ns2_rtt_ms"), ("throughput_mbps_ns2", "mean_rtt_ms_ns2"))
    )
    assert mine == pytest.approx(other, rel=0.05)
    assert both["on_s"].to_list() == pytest.approx(both["on_s_ns2"].to_list(), abs=1e-6)
    if len(found) == 20:
        near = both.filter((pl.col("ns2_throughput_mbps") / pl.col("throughput_mbps_ns2") - 1).abs() <= 0.05)
        assert len(near) >= 15


FIGURE_4 = [
    ("newreno", "newreno", 0.5),
    ("vegas-linux", "vegas", 0.5),
    ("cubic", "cubic", 0.5),
    ("compound", "compound", 0.5),
    ("cubic/sfqcodel", "cubic/sfqcodel", 1.0),
    ("xcp", "xcp", 0.5),
    ("RemyCC-0.1", "RemyCC-2013-delta0.1", 0.5),
    ("RemyCC-1", "RemyCC-2013-delta1", 0.5),
    ("RemyCC-10", "RemyCC-2013-delta10", 0.5),
]
"""Their name of a scheme, ours, and by how many ms the delay may differ."""
SEEDS = 16


@pytest.mark.slow
@pytest.mark.parametrize(("theirs", "ours", "later_ms"), FIGURE_4)
def test_figure_4(theirs: str, ours: str, later_ms: float) -> None:
    """Remy'13 figure 4, seeds 1 to 16: medians over senders within 3 % and half a ms, and times on within 2 %."""
    senders = pl.read_csv(reference("ns2/r4_senders.csv"), comment_prefix="#", infer_schema_length=None).filter(
        (pl.col("experiment") == "R4") & (pl.col("scheme") == theirs) & (pl.col("seed") <= SEEDS)
    )
    assert len(senders) == 8 * SEEDS
    r4 = exmachina.Evaluation.load("r4").text.replace("runs = 128", f"runs = {SEEDS}")
    replayed = exmachina.Evaluation(r4.replace("[workload]", "[workload]\nreplay = { ns2 = 1 }"), "r4.toml")
    scheme = str(published(ours)) if ours.startswith("RemyCC") else ours
    found = exmachina.evaluate(replayed, [scheme]).flows
    throughput, rtt_ms = found.select(pl.median("ns2_throughput_mbps"), pl.median("ns2_rtt_ms")).row(0)
    assert throughput == pytest.approx(senders.select(pl.median("receiver_mbps")).item(), rel=0.03)
    assert rtt_ms == pytest.approx(senders.select(pl.median("sndrtt_ms")).item(), abs=later_ms)
    assert found.select(pl.mean("on_s")).item() == pytest.approx(senders.select(pl.mean("on_percent")).item(), rel=0.02)


TRANSFERS = """
runs = 24
[link]
rate_mbps = 15
buffer = {{ packets = 1000 }}
[path]
rtt_ms = 150
[[senders]]
count = 1
scheme = "general-1"
[[senders]]
count = 1
scheme = "{scheme}"
[workload]
on = {{ bytes = 100_000 }}
off = {{ seconds = 0.5 }}
[transport]
preset = "tao14"
"""


@pytest.mark.parametrize(("scheme", "mbps"), [("cubic", 1.24), ("compound", 1.27)])
def test_short_transfers(scheme: str, mbps: float) -> None:
    """Remy'13 §5.6 at 100 kB, as the authors' scripts give it when run again.

    Nothing is lost and nothing times out, so that it is the slow start after pauses that is compared: restarts with 1
    or 3 packets (1.11, 1.40 with Cubic) are not within 10 %.
    """
    flows = exmachina.evaluate(exmachina.Evaluation(TRANSFERS.format(scheme=scheme), "competing.toml")).flows
    theirs = flows.filter(pl.col("sender") == 1)
    assert theirs["goodput_mbps"].mean() == pytest.approx(mbps, rel=TOLERANCE)
    assert theirs["timeouts"].sum() == 0
