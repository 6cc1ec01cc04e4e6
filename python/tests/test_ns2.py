"""Known answers: some points of the authors' ns-2 curves. `validation/ns2.py` compares them all; skips without them."""

from pathlib import Path

import polars as pl
import pytest

import exmachina

REFERENCE = Path(__file__).parents[3] / "shared" / "reference"
TOLERANCE = 0.1
TEXT = """
runs = 60
[link]
rate_mbps = {rate}
buffer = {{ bdp = 5 }}
[path]
rtt_ms = 150
[senders]
count = {senders}
[workload]
on = {{ seconds = 1 }}
off = {{ seconds = 1 }}
[transport]
preset = "tao14"
"""
POINTS = [
    ("fig2_linkspeed_100x", "tao-100x.dna", 1),
    ("fig2_linkspeed_100x", "tao-100x.dna", 3),
    ("fig2_linkspeed_100x", "tao-100x.dna", 30),
    ("fig2_linkspeed_10x", "tao-10x.dna", 30),
    ("fig3_mux_5BDP_1--10", "tao-mux-1-10.dna", 5),
    # Where 40 and 80 % are lost: next to nothing is in order.
    ("fig3_mux_5BDP_1--10", "tao-mux-1-10.dna", 31),
    ("fig3_mux_5BDP_1--10", "tao-mux-1-10.dna", 97),
    ("fig2_linkspeed_cubic", "cubic", 10),
    ("fig3_mux_5BDP_cubic", "cubic", 5),
]


@pytest.mark.skipif(not REFERENCE.is_dir(), reason="the authors' curves are not at hand")
@pytest.mark.parametrize(("name", "scheme", "at"), POINTS)
def test_curves(name: str, scheme: str, at: float) -> None:
    """Throughput and delay are within 10 % of theirs, which are means over the neighbouring points."""
    lines = [
        [float(word) for word in line.split()]
        for line in (REFERENCE / "curves" / f"{name}.plot").read_text().splitlines()
    ]
    near = [line for line in lines if abs(line[0] / at - 1) < 0.03]
    throughput, delay = (sum(line[i] for line in near) / len(near) for i in (1, 2))
    rate, senders = (at, 2) if name.startswith("fig2") else (15, at)
    table = REFERENCE / "remycc" / scheme
    evaluation = exmachina.Evaluation(TEXT.format(rate=rate, senders=senders), "ns2.toml")
    flows = exmachina.evaluate(evaluation, [str(table) if table.is_file() else scheme]).flows.filter(pl.col("on_s") > 0)
    # Their throughput counts data in order only, their delay is that of the sender's RTT samples.
    throughputs = pl.col("throughput_mbps") * pl.col("in_order_packets") / pl.col("delivered_packets").clip(1)
    ours = flows.select(throughputs.mean(), pl.mean("sampled_rtt_ms")).row(0)
    assert ours == pytest.approx((throughput, delay), rel=TOLERANCE)


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
