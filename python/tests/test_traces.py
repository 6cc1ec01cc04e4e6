"""Runs packet by packet: they are those of the evaluation, are written, and can be drawn."""

from pathlib import Path

import polars as pl
import pytest
from conftest import SHORT_SCENARIO, Forty
from polars.testing import assert_frame_equal

from exmachina import Evaluation, evaluate, trace
from exmachina.pictures import draw
from exmachina.pictures.render import spec_of
from exmachina.pictures.trace import trace_chart


@pytest.mark.slow
def test_a_trace_is_the_run_of_the_evaluation(tmp_path: Path, scenario: Evaluation) -> None:
    recorded = trace(scenario, "newreno", run=3, duration_s=2)
    flows = evaluate(scenario, ["newreno"]).flows.filter(pl.col("run") == 3)
    sent = recorded.senders.filter(pl.col("event") == "send").group_by("sender").agg(
        pl.len(), pl.col("retransmission").sum()
    ).sort("sender")  # fmt: skip
    assert sent["len"].to_list() == flows.filter(pl.col("sent_packets") > 0)["sent_packets"].to_list()
    assert sent["retransmission"].sum() == flows["retransmitted_packets"].sum()
    entered = recorded.hops.filter(pl.col("event") == "enter")
    assert len(entered) == sent["len"].sum()
    assert recorded.hops["backlog"].max() <= 41  # type: ignore[operator]
    paths = recorded.save(tmp_path / "t") + draw(recorded, tmp_path / "t")
    assert [path.name for path in paths] == ["senders.parquet", "hops.parquet", "trace.png"]
    assert paths[2].read_bytes().startswith(b"\x89PNG")
    assert_frame_equal(pl.read_parquet(paths[1]), recorded.hops)


@pytest.mark.slow
def test_a_trace_of_two_links_and_of_a_class(tmp_path: Path, scenario: Evaluation) -> None:
    recorded = trace("parking-lot", "cubic", duration_s=1)
    assert sorted(recorded.hops["hop"].unique()) == [0, 1]
    assert trace(scenario, Forty, duration_s=1).senders["window"].max() == 40
    draw(recorded, tmp_path)
    spec = spec_of(trace_chart(recorded))
    assert [panel["layer"][0]["encoding"]["y"]["title"] for panel in spec["vconcat"]] == [
        "packet; crosses: sent again",
        ["window, and ssthresh", "dashed (packets)"],
        "RTT (ms)",
        "queue (packets)",
    ]
    times = [panel["layer"][0]["encoding"]["x"]["scale"]["domain"] for panel in spec["vconcat"]]
    assert times == [[0, 1]] * 4
    queue = spec["vconcat"][3]["layer"][0]
    links = {row["name"] for row in spec["datasets"][queue["data"]["name"]]}
    assert links == {"link 0", "link 1"}


def test_an_empty_trace_can_be_drawn(tmp_path: Path) -> None:
    late = Evaluation(
        SHORT_SCENARIO.replace("off = { seconds = 0.2 }", "off = { seconds = 1 }\nfirst_off = { seconds = 5 }")
    )
    recorded = trace(late, duration_s=1)
    assert len(recorded.hops) == 0
    draw(recorded, tmp_path)
