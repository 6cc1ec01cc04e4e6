"""Throughput against delay: circles, dots, the frontier, where labels go, and colours."""

import numpy as np
import polars as pl
import pytest

from exmachina import Evaluation, evaluate
from exmachina.pictures.charts import tradeoff_chart
from exmachina.pictures.cloud import clouds_of_flows, frontier_of
from exmachina.pictures.labels import place_labels
from exmachina.pictures.style import family_colours


def test_a_circle_is_the_median_of_all_senders_and_a_dot_the_mean_of_a_run(scenario: Evaluation) -> None:
    results = evaluate(scenario, ["newreno"])
    [cloud] = clouds_of_flows(results.senders_on)
    on = results.flows.filter(pl.col("on_s") > 0)
    assert cloud.median == (on["queueing_delay_ms"].median(), on["throughput_mbps"].median())
    assert cloud.throughput.tolist() == pytest.approx(results.runs["throughput_mbps"].to_list())
    assert len(on) > len(cloud.throughput)


def test_the_frontier_is_of_medians_that_none_beats(scenario: Evaluation) -> None:
    clouds = clouds_of_flows(evaluate(scenario, ["newreno", "cubic", "window:1", "window:60"]).senders_on)
    medians = [cloud.median for cloud in clouds]
    frontier = frontier_of(clouds)
    for delay_ms, throughput in medians:
        beaten = any(d <= delay_ms and t >= throughput and (d, t) != (delay_ms, throughput) for d, t in medians)
        assert beaten == ((delay_ms, throughput) not in frontier)
    assert frontier == sorted(frontier)
    chart = tradeoff_chart(clouds)
    assert [note.text for note in chart.layout.annotations] == ["newreno", "cubic", "window:1", "window:60"]


def test_labels_cover_neither_each_other_nor_points() -> None:
    rng = np.random.default_rng(5)
    points = np.concatenate([rng.uniform(200, 260, (6, 2)), [[2.0, 2.0], [498.0, 398.0]]])
    sizes = np.tile([60.0, 14.0], (8, 1))
    centres = place_labels(points, sizes, (0, 0, 500, 400))
    low, high = centres - sizes / 2, centres + sizes / 2
    assert (low >= 0).all()
    assert (high <= [500, 400]).all()
    for i in range(8):
        for j in range(8):
            apart = (low[i] >= high[j]).any() or (high[i] <= low[j]).any()
            assert apart or i == j
            assert (points[j] <= low[i]).any() or (points[j] >= high[i]).any()


def test_a_colour_says_what_kind_of_scheme_it_is() -> None:
    alone = family_colours(["cubic"])["cubic"]
    colours = family_colours(["mine", "cubic", "bbr3/codel", "cubic beside mine", "yours"])
    assert colours["cubic"] == colours["cubic beside mine"] == alone
    assert len(set(colours.values())) == 4
