"""Pictures of the papers: what the paper has stands beside what it measures, and recorded runs are many."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from exmachina.checks import workers_of
from exmachina.engines import Here
from exmachina.pictures.render import spec_of
from exmachina.pictures.style import CROSS
from exmachina.reproduce.cast import Cast
from exmachina.reproduce.comparisons import compare
from exmachina.reproduce.experiment import Experiment, parse
from exmachina.reproduce.planes import plane
from exmachina.reproduce.recordings import queue, sequence
from exmachina.reproduce.running import Conditions, Ran, recorded, run

HEAD = """
paper = "Remy'13"
title = "A tiny one"
about = "Nothing."
"""
CLOUDS = f"""{HEAD}
schemes = ["cubic", "vegas"]
scale = {{ quick = {{ runs = 4, seconds = 3 }}, paper = {{ runs = 4, seconds = 3 }} }}
scenario.link = {{ rate_mbps = 5 }}
scenario.path = {{ rtt_ms = 40 }}
scenario.senders = {{ count = 2 }}
scenario.workload = {{ on = {{ seconds = 1 }}, off = {{ seconds = 0.2 }} }}

[[figures]]
name = "clouds"
kind = "plane"
caption = "Two."

[[figures]]
name = "table"
kind = "compare"
caption = "Two."
panels = [{{ statistics = {{ mean = "mean", median = "median" }} }}]

[[claim_families]]
id = "{{scheme}}-{{quantity}}"
text = "something"
source = "nowhere"
kind = "number"
reading = 0.1
measure = {{ median = "{{quantity}}", of = "{{scheme}}" }}
rows = [
  {{ scheme = "cubic", quantity = "counted_mbps", paper = 2.5 }},
  {{ scheme = "cubic", quantity = "counted_delay_ms", paper = 30 }},
  {{ scheme = "vegas", quantity = "counted_mbps", paper = 1.5 }},
]
"""
MOMENTS = f"""{HEAD}
schemes = ["window:20"]
moments = {{ sender = 0, over_s = 0.4 }}
scale = {{ quick = {{ runs = 4, seconds = 4 }}, paper = {{ runs = 4, seconds = 4 }} }}
figures = [{{ name = "moments", kind = "KIND", caption = "Two.", ranges = {{ tcp = [1.5, 2.5], shown = [0, 3] }} }}]

[scenario]
link = {{ rate_mbps = 5 }}
path = {{ rtt_ms = 40 }}
senders = [
  {{ count = 1, workload = {{ on = {{ at = [{{ start_s = 1.5, seconds = 1 }}] }} }} }},
  {{ count = 1, workload = {{ on = {{ at = [{{ start_s = 0, seconds = 4 }}] }} }} }},
]
"""
SCALE = "quick"


def conditions(folder: Path) -> Conditions:
    """No tables, and two threads."""
    return Conditions(Cast({}), SCALE, folder, Here(workers_of(2)))


def ran(text: str, folder: Path) -> tuple[Experiment, Ran]:
    """An experiment and what became of it."""
    experiment = parse(text, "tiny.toml")
    return experiment, run(experiment, conditions(folder))


def crosses(spec: dict[str, Any]) -> list[dict[str, Any]]:
    """What is drawn as a cross in the only panel."""
    [panel] = spec["concat"]
    layers = [layer for layer in panel["layer"] if layer["mark"].get("shape") == CROSS]
    return [row for layer in layers for row in spec["datasets"][layer["data"]["name"]]]


def test_a_cross_in_a_plane_is_where_claims_have_both_medians_of_the_paper(tmp_path: Path) -> None:
    experiment, found = ran(CLOUDS, tmp_path)
    chart = plane(experiment, experiment.figures[0], found)
    assert chart is not None
    assert [(row["name"], row["x"], row["y"]) for row in crosses(spec_of(chart))] == [("Cubic", 30.0, 2.5)]


def test_a_cross_in_a_comparison_is_in_the_row_of_what_the_claim_measures(tmp_path: Path) -> None:
    experiment, found = ran(CLOUDS, tmp_path)
    chart = compare(experiment, experiment.figures[1], found)
    assert chart is not None
    drawn = [(row["row"], row["name"], row["theirs"]) for row in crosses(spec_of(chart))]
    assert drawn == [("median", "Cubic", 2.5), ("median", "Vegas", 1.5)]


def test_in_each_recorded_run_the_flow_comes_and_goes_at_another_moment(tmp_path: Path) -> None:
    experiment, found = ran(MOMENTS.replace("KIND", "sequence"), tmp_path)
    traces = recorded(experiment, "main", "window:20", found, SCALE)
    sent = [trace.senders.filter((pl.col("event") == "send") & (pl.col("sender") == 0))["time_s"] for trace in traces]
    assert [first.min() for first in sent] == pytest.approx([1.5, 1.6, 1.7, 1.8])
    assert [last.max() for last in sent] == pytest.approx([2.5, 2.6, 2.7, 2.8], abs=0.05)


def test_half_of_the_rate_is_half_of_the_slope_in_a_sequence_plot(tmp_path: Path) -> None:
    experiment, found = ran(MOMENTS.replace("KIND", "sequence"), tmp_path)
    chart, numbers = sequence(experiment, experiment.figures[0], found, conditions(tmp_path))
    assert chart is not None
    assert numbers["share_before", "window:20"] == pytest.approx(0.5, abs=0.1)
    assert 0 <= numbers["rtts_until_full", "window:20"] <= 2
    spec = spec_of(chart)
    [panel] = spec["concat"]
    [line] = [
        layer for layer in panel["layer"] if layer["mark"]["type"] == "line" and "strokeDash" in layer["encoding"]
    ]
    rows = spec["datasets"][line["data"]["name"]]
    at = {round(row["x"], 3): row["y"] for row in rows}
    assert at[-2] - at[-10] == pytest.approx(4, abs=0.5)
    assert at[8] - at[3] == pytest.approx(5, abs=0.5)
    assert all(row["low"] <= row["y"] + 1e-5 and row["y"] <= row["high"] + 1e-5 for row in rows)


def test_queues_are_means_of_runs_that_are_moved_onto_each_other(tmp_path: Path) -> None:
    experiment, found = ran(MOMENTS.replace("KIND", "queue"), tmp_path)
    chart, numbers = queue(experiment, experiment.figures[0], found, conditions(tmp_path))
    assert chart is not None
    # Alone, 20 packets are what the path holds; the other flow's 20 are queued.
    assert numbers["queue_beside_tcp", "window:20"] > 15
    spec = spec_of(chart)
    [panel] = spec["concat"]
    [line] = [layer for layer in panel["layer"] if layer["mark"]["type"] == "line"]
    rows = spec["datasets"][line["data"]["name"]]
    before = np.mean([row["y"] for row in rows if 1 < row["x"] < 1.45])
    during = np.mean([row["y"] for row in rows if 1.7 < row["x"] < 2.45])
    assert during > before + 15
