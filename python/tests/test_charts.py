"""Charts of evaluations: what their specifications say, which is what paper and page show."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from conftest import network

from exmachina import Evaluation, InputError, Model, evaluate
from exmachina.pictures.axes import Side, span
from exmachina.pictures.cdf import cdf_chart
from exmachina.pictures.cloud import clouds_of_flows, frontier_of
from exmachina.pictures.labels import place_labels
from exmachina.pictures.render import render, save, spec_of
from exmachina.pictures.style import GROUND, INK, MUTED, family_colours, network_words
from exmachina.pictures.tradeoff import plane_of, results_chart, tradeoff_chart


@pytest.fixture
def scenario() -> Evaluation:
    short = network(
        description="a short dumbbell",
        runs=6,
        duration_s=2,
        link={"buffer": {"packets": 40}},
        workload={"off": {"seconds": 0.2}},
    )
    return Evaluation(short, "short.toml")


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("log", [False, True])
def test_an_axis_knows_where_its_values_are_drawn(log: bool, reverse: bool) -> None:
    side = span(np.array([3.0, 700.0, np.nan]), 500, log=log, reverse=reverse)
    assert (side.start > side.end) == reverse
    values = np.array([3.0, 50.0, 700.0])
    np.testing.assert_allclose(side.value(side.place(values)), values)
    assert ((side.place(values) > 0) & (side.place(values) < 500)).all()
    assert span(np.array([5.0, 5.0]), 500, log=log).start < 5 < span(np.array([5.0, 5.0]), 500, log=log).end


@pytest.mark.parametrize(("low", "high"), [(0.1, 20), (2, 9), (300, 330), (1570, 1820), (0.2, 60), (1, 1e6)])
def test_a_logarithmic_axis_has_some_labels_and_not_too_many(low: float, high: float) -> None:
    ticks = spec_axis(Side(high, low, 500, log=True))
    assert 3 <= len(ticks) <= 12
    assert all(low <= tick <= high for tick in ticks)


def spec_axis(side: Side) -> list[float]:
    """Where an axis has labels."""
    ticks: list[float] = side.axis().to_dict()["values"]
    return ticks


def test_a_circle_is_the_median_of_all_senders_and_a_dot_that_of_a_run(scenario: Evaluation) -> None:
    results = evaluate(scenario, ["newreno"])
    [cloud] = clouds_of_flows(results.senders_on)
    on = results.flows.filter(pl.col("on_s") > 0)
    assert cloud.median == (on["counted_delay_ms"].median(), on["counted_mbps"].median())
    of_runs = on.group_by("run", maintain_order=True).agg(pl.col("counted_mbps").median())
    assert cloud.throughput.tolist() == pytest.approx(of_runs["counted_mbps"].to_list())
    assert len(on) > len(cloud.throughput)


def test_a_circle_lies_in_its_own_cloud_however_skewed_senders_are() -> None:
    """A few senders have many times the throughput of the others."""
    draw = np.random.default_rng(4)
    rows = [
        {"label": "a", "run": run, "counted_mbps": draw.lognormal(), "counted_delay_ms": draw.lognormal()}
        for run in range(100)
        for _ in range(32)
    ]
    [cloud] = clouds_of_flows(pl.DataFrame(rows))
    dots = np.stack([np.log10(cloud.delay_ms), cloud.throughput])
    off = np.array([np.log10(cloud.median[0]), cloud.median[1]]) - dots.mean(axis=1)
    assert off @ np.linalg.solve(np.cov(dots, ddof=0), off) < 0.25, "within half a standard deviation"
    means = pl.DataFrame(rows).group_by("run").agg(pl.mean("counted_mbps"))["counted_mbps"].to_numpy()
    assert means.mean() - cloud.median[1] > means.std(), "of means it would lie outside"


def test_the_frontier_is_of_medians_that_none_beats(scenario: Evaluation) -> None:
    clouds = clouds_of_flows(evaluate(scenario, ["newreno", "cubic", "window:1", "window:60"]).senders_on)
    medians = [cloud.median for cloud in clouds]
    frontier = frontier_of(clouds)
    for delay_ms, throughput in medians:
        beaten = any(d <= delay_ms and t >= throughput and (d, t) != (delay_ms, throughput) for d, t in medians)
        assert beaten == ((delay_ms, throughput) not in frontier)
    assert frontier == sorted(frontier)
    spec = spec_of(tradeoff_chart(clouds))
    line, names = rows_of(spec, "line")[0], rows_of(spec, "text")[-1]
    assert [(row["x"], row["y"]) for row in line] == frontier
    assert [row["name"] for row in names] == ["newreno", "cubic", "window:1", "window:60"]


def rows_of(spec: dict[str, Any], mark: str) -> list[list[dict[str, Any]]]:
    """The data of each layer of a chart that is drawn with a mark."""
    layers = [layer for layer in spec["layer"] if layer["mark"]["type"] == mark]
    return [spec["datasets"][layer["data"]["name"]] for layer in layers]


def test_the_chart_of_an_evaluation_is_that_of_the_papers(scenario: Evaluation) -> None:
    results = evaluate(scenario, ["newreno", "cubic", "window:1"])
    clouds = clouds_of_flows(results.senders_on)
    spec = spec_of(results_chart(results))
    scales = [scale for layer in spec["layer"] if (scale := layer["encoding"]["x"]["scale"]) is not None]
    assert all(scale == scales[0] for scale in scales), "all layers have one axis"
    assert scales[0]["type"] == "log"
    left, right = scales[0]["domain"]
    ends = np.concatenate([cloud.outline[:, 0] for cloud in clouds if cloud.outline is not None])
    assert left > ends.max() > ends.min() > right, "delay grows to the left"
    ticks = scenario_ticks(spec)
    assert len(ticks) > 1
    assert all(np.log2(tick) % 1 == 0 for tick in ticks), "in powers of two, as in the papers"
    outlines = rows_of(spec, "line")[1]
    for cloud in clouds:
        assert cloud.outline is not None
        drawn = [(row["x"], row["y"]) for row in outlines if row["name"] == cloud.scheme]
        np.testing.assert_allclose(drawn, cloud.outline, rtol=5.1e-4)  # charts hold four digits
    _, dots, medians = rows_of(spec, "point")
    assert len(dots) == sum(len(cloud.delay_ms) for cloud in clouds)
    assert [(row["x"], row["y"]) for row in medians] == [cloud.median for cloud in clouds]
    svg = render(spec, ".svg").decode()
    assert all(f">{cloud.scheme}<" in svg for cloud in clouds)
    assert ">queueing delay (ms), less to the right<" in svg


def scenario_ticks(spec: dict[str, Any]) -> list[float]:
    """Where the axis of delays has labels."""
    found: list[float] = next(x["axis"] for layer in spec["layer"] if "axis" in (x := layer["encoding"]["x"]))["values"]
    return found


def test_the_kind_of_a_scheme_is_the_shape_of_its_mark(scenario: Evaluation) -> None:
    results = evaluate(scenario, ["newreno", "cubic/sfqcodel", "window:60"])
    [medians] = [layer for layer in spec_of(results_chart(results))["layer"] if "tooltip" in layer["encoding"]]
    assert medians["encoding"]["shape"]["scale"]["range"] == ["square", "triangle-up", "circle"]


def test_an_arrow_points_to_what_is_better_unless_somebody_is_there(scenario: Evaluation) -> None:
    clouds = clouds_of_flows(evaluate(scenario, ["newreno", "cubic"]).senders_on)
    assert len(rows_of(spec_of(tradeoff_chart(clouds)), "point")) == 3
    there = replace(clouds[0], delay_ms=np.array([0.1]), throughput=np.array([30.0]), outline=None, median=(0.1, 30.0))
    assert len(rows_of(spec_of(tradeoff_chart([*clouds, there])), "point")) == 2


def test_words_are_dark_whatever_they_are_about(scenario: Evaluation) -> None:
    spec = spec_of(results_chart(evaluate(scenario, ["newreno", "cubic"])))
    texts = [layer for layer in spec["layer"] if layer["mark"]["type"] == "text"]
    colours = [layer["encoding"].get("color", {"value": layer["mark"].get("color", INK)}) for layer in texts]
    assert len(texts) == 3
    assert all(colour["value"] in (INK, MUTED, GROUND) for colour in colours)


def test_medians_of_somebody_else_are_crosses_beside_those_of_the_same_scheme(scenario: Evaluation) -> None:
    clouds = clouds_of_flows(evaluate(scenario, ["newreno", "cubic"]).senders_on)
    spec = spec_of(tradeoff_chart(clouds, elsewhere={"cubic": (3.0, 1.5), "vegas": (1.0, 1.0)}))
    _, _, crosses, _ = rows_of(spec, "point")
    assert [(row["name"], row["x"], row["y"]) for row in crosses] == [("cubic", 3.0, 1.5)]


def test_a_cdf_has_a_step_for_each_sender(scenario: Evaluation) -> None:
    results = evaluate(scenario, ["newreno", "window:1"])
    spec = spec_of(cdf_chart(results))
    throughput, delay = spec["hconcat"]
    assert [panel["layer"][0]["encoding"]["y"]["scale"]["domain"] for panel in (throughput, delay)] == [[0, 1]] * 2
    rows = spec["datasets"][throughput["data"]["name"]]
    for cloud in clouds_of_flows(results.senders_on):
        stairs = [(row["x"], row["y"]) for row in rows if row["name"] == cloud.scheme]
        below = [np.mean(cloud.throughput <= x) for x, _ in stairs]
        assert [y for _, y in stairs] == pytest.approx(below)
        assert len(stairs) == len(cloud.throughput) + 2
    assert ">window:1<" in render(spec, ".svg").decode()


def test_names_in_the_plane_cover_neither_each_other_nor_medians(scenario: Evaluation) -> None:
    clouds = clouds_of_flows(evaluate(scenario, ["newreno", "cubic", "vegas", "compound", "window:60"]).senders_on)
    plane = plane_of(clouds, (640, 430))
    medians = np.array([cloud.median for cloud in clouds])
    centres, _ = plane.labels(medians, [cloud.scheme for cloud in clouds], size=12)
    at, points = plane.pixels(centres), plane.pixels(medians)
    half = np.array([(0.3 * 12 * len(cloud.scheme), 7.5) for cloud in clouds])
    low, high = at - half, at + half
    for i in range(len(clouds)):
        for j in range(len(clouds)):
            assert i == j or (low[i] >= high[j]).any() or (high[i] <= low[j]).any()
            assert (points[j] <= low[i]).any() or (points[j] >= high[i]).any()


@pytest.mark.slow
def test_a_chart_is_saved_in_the_format_of_its_name(scenario: Evaluation, tmp_path: Path) -> None:
    chart = results_chart(evaluate(scenario, ["newreno"]))
    begins = {".png": b"\x89PNG", ".svg": b"<svg", ".pdf": b"%PDF", ".html": b"<!DOCTYPE html>"}
    for suffix, first in begins.items():
        path = save(chart, tmp_path / f"chart{suffix}")
        assert path.read_bytes().startswith(first)
    assert " src=" not in (tmp_path / "chart.html").read_text().split("</script>")[0][:500], "it needs no network"
    assert render(chart, ".svg") == (tmp_path / "chart.svg").read_bytes()
    with pytest.raises(InputError, match=r"chart\.gif: expected a name that ends in \.svg or \.png or \.pdf or \.html"):
        save(chart, tmp_path / "chart.gif")


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


@pytest.mark.slow
def test_what_draws_is_loaded_when_something_is_drawn() -> None:
    heavy = "{'altair', 'vl_convert', 'jinja2'} & set(sys.modules)"
    code = f"import sys, exmachina, exmachina.command.cli; sys.exit(str(sorted({heavy})) if {heavy} else 0)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("on", "words"),
    [
        ("{ seconds = 5 }", "on 5 s / off 2 s"),
        ("{ fixed_seconds = 3 }", "on 3 s / off 2 s"),
        ("{ bytes = 1e5 }", "on 100000 bytes / off 2 s"),
        ("{ icsi = { extra_bytes = 16384 } }", "on as long as flows of ICSI / off 2 s"),
        ("'forever'", "on for ever"),
    ],
)
def test_a_network_has_words_whatever_its_traffic(on: str, words: str) -> None:
    text = "[link]\nrate_mbps = 15\n[path]\nrtt_ms = 100\n[senders]\ncount = 2\n[workload]\n"
    model = Model(f"{text}on = {on}\noff = {{ seconds = 2 }}\n", "m.toml")
    said = network_words(dict(model.held_out(1, 1).network(0)))
    assert said == f"15 Mbit/s, 100 ms, 2 senders, {words}, infinite buffer"
