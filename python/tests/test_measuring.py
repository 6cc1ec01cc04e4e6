"""What claims come to, on results made up so that the answers are known."""

from math import log
from typing import Any

import numpy as np
import polars as pl
import pytest

from exmachina import InputError, Results
from exmachina.evaluation import COUNTED, counted
from exmachina.reproduce.data import CaseData
from exmachina.reproduce.measuring import Measurer, omniscient_mbps

Row = dict[str, Any]


def row(contender: str, run: int, sender: int, throughput: float, delay_ms: float = 10.0, **more: Any) -> Row:
    """A flow of a network of two senders, 10 Mbit/s and 100 ms."""
    found = {
        "contender": contender,
        "run": run,
        "sender": sender,
        "scheme": contender,
        "senders": 2,
        "rate_mbps": 10.0,
        "min_rtt_ms": 100.0,
        "on_s": 1.0,
        "sent_packets": 100,
        "delivered_packets": 100,
        "in_order_packets": 100,
        "delivered_mbytes": 0.125,
        **dict.fromkeys(("retransmitted_packets", "marked_packets", "timeouts"), 0),
        "throughput_mbps": throughput,
        "goodput_mbps": throughput,
        "normalised_throughput": throughput / 5,
        "queueing_delay_ms": delay_ms,
        "mean_rtt_ms": 100 + delay_ms,
        "sampled_delay_ms": delay_ms,
        "ns2_throughput_mbps": None,
        "ns2_rtt_ms": None,
    }
    return {**found, **more}


def made(rows: list[Row], grid_points: int | None = None, text: str = "") -> Results:
    flows = counted(pl.DataFrame(rows, infer_schema_length=None), text)
    return Results("x", "", text, 1.0, 1, grid_points, flows)


def case(rows: list[Row], grid_points: int | None = None) -> CaseData:
    return CaseData(made(rows, grid_points))


def measured(rows: list[Row], expression: dict[str, Any], grid_points: int | None = None) -> float:
    return Measurer({"main": case(rows, grid_points)}).measure(expression).value


ROWS = [
    *(row("a", run, sender, [2.0, 4.0, 9.0][run] + sender) for run in range(3) for sender in (0, 1)),
    *(row("b", run, sender, 1.0 + run, delay_ms=20.0) for run in range(3) for sender in (0, 1)),
]


def test_means_are_over_runs_of_the_mean_of_senders() -> None:
    assert measured(ROWS, {"mean": "goodput_mbps", "of": "a"}) == pytest.approx(5.5)
    assert measured(ROWS, {"mean": "goodput_mbps", "of": "a", "sender": 1}) == pytest.approx(6)
    assert measured(ROWS, {"mean": "goodput_mbps", "of": {"of": "a"}["of"], "sender": [0, 1]}) == pytest.approx(5.5)


def test_medians_are_of_all_senders_of_all_runs() -> None:
    rows = [row("a", 0, 0, 1.0), row("a", 0, 1, 2.0), row("a", 1, 0, 9.0)]
    assert measured(rows, {"median": "goodput_mbps", "of": "a"}) == 2
    assert measured(rows, {"mean": "goodput_mbps", "of": "a"}) == 5.25


def test_an_evaluation_and_a_claim_mean_the_same_by_median_and_mean() -> None:
    results = made(ROWS)
    for line in results.summary.iter_rows(named=True):
        for quantity in ("counted_mbps", "counted_delay_ms"):
            for statistic in ("median", "mean"):
                found = Measurer({"main": CaseData(results)}).measure({statistic: quantity, "of": line["contender"]})
                assert line[f"{quantity}_{statistic}"] == pytest.approx(found.value)
            found = Measurer({"main": CaseData(results)}).measure({"median": quantity, "of": line["contender"]})
            assert (line[f"{quantity}_median_from"], line[f"{quantity}_median_to"]) == (found.low, found.high)


def test_senders_that_were_never_on_do_not_count() -> None:
    rows = [row("a", 0, 0, 4.0), row("a", 0, 1, 0.0, on_s=0.0)]
    assert measured(rows, {"mean": "goodput_mbps", "of": "a"}) == 4


def test_ratios_and_differences() -> None:
    assert measured(ROWS, {"median": "goodput_mbps", "ratio": ["a", "b"]}) == 4.5 / 2
    assert measured(ROWS, {"median": "counted_delay_ms", "ratio": ["b", "a"]}) == 2
    assert measured(ROWS, {"mean": "goodput_mbps", "difference": ["a", "b"]}) == pytest.approx(3.5)
    senders = [{"of": "a", "sender": 1}, {"of": "a", "sender": 0}]
    assert measured(ROWS, {"mean": "goodput_mbps", "ratio": senders}) == pytest.approx(6 / 5)


def test_expressions_may_be_nested() -> None:
    shares = [{"evenness": "b"}, {"evenness": "a"}]
    assert measured(ROWS, {"mean": "goodput_mbps", "evenness": "a"}) == pytest.approx(5 / 6)
    assert measured(ROWS, {"mean": "goodput_mbps", "difference": shares}) == pytest.approx(1 / 6)


GRID = [
    row(name, run, 0, up + run, rate_mbps=float(10 ** (run % 3)))
    for name, up in (("a", 2.0), ("b", 3.0), ("c", 1.0))
    for run in range(6)
]


def test_points_of_a_grid() -> None:
    """Run r is of network r modulo their number; at each the mean is of its own runs."""
    assert measured(GRID, {"mean": "goodput_mbps", "of": "a", "at": {"rate_mbps": [10, 10]}}, 3) == 2 + (1 + 4) / 2
    assert measured(GRID, {"mean": "goodput_mbps", "of": "a"}, 3) == pytest.approx(4.5)
    assert measured(GRID, {"mean": "goodput_mbps", "of": "a", "at": {"rate_mbps": [5, 100]}}, 3) == pytest.approx(5)


def test_wins_are_the_share_of_points_above_all_others() -> None:
    assert measured(GRID, {"mean": "goodput_mbps", "wins": ["b", "a", "c"]}, 3) == 1
    assert measured(GRID, {"mean": "goodput_mbps", "wins": ["a", "b", "c"]}, 3) == 0
    mixed = [*GRID, *(row("d", run, 0, [0.0, 99.0, 0.0][run % 3]) for run in range(6))]
    assert measured(mixed, {"mean": "goodput_mbps", "wins": ["d", "a"]}, 3) == pytest.approx(1 / 3)


def test_the_frontier_counts_who_is_not_beaten_in_both() -> None:
    rows = [row("a", 0, 0, 5.0, 30.0), row("b", 0, 0, 4.0, 10.0), row("c", 0, 0, 3.0, 20.0), row("d", 0, 0, 1.0, 5.0)]
    data = case(rows)
    expression = {"frontier": ["a", "c", "d"]}
    assert Measurer({"main": data}).measure(expression).value == 2
    assert Measurer({"main": data}, excluded=frozenset({"b"})).measure(expression).value == 3


def test_objectives() -> None:
    """Of means over senders and runs, against what omniscient senders get, the link's rate, or an equal share."""
    rows = [row("a", 0, 0, 2.0, 100.0), row("a", 1, 0, 4.0, 100.0)]
    assert omniscient_mbps(10, 2) == 7.5
    assert measured(rows, {"mean": "objective", "of": "a"}) == pytest.approx(log(3 / 7.5) - log(2))
    assert measured(rows, {"mean": "objective_link", "of": "a"}) == pytest.approx(log(0.3) - log(2))
    assert measured(rows, {"mean": "objective_share", "of": "a"}) == pytest.approx((log(0.6) - log(2)) / log(2))


def test_throughput_in_order_counts_no_packet_twice() -> None:
    rows = [row("a", 0, 0, 8.0, delivered_packets=100, in_order_packets=75)]
    assert measured(rows, {"mean": "counted_mbps", "of": "a"}) == 6


def test_published_counterparts_are_measured_by_the_same_expression() -> None:
    labels = {"a": "b"}
    found = Measurer({"main": case(ROWS)}, lambda name: labels.get(name, name))
    assert found.measure({"median": "goodput_mbps", "of": "a"}).value == 2


def test_numbers_of_pictures() -> None:
    found = Measurer({}, numbers={("queue", "a"): 3.0, ("queue", "b"): 1.5})
    both = [{"number": "queue", "of": "a"}, {"number": "queue", "of": "b"}]
    assert found.measure({"number": "queue", "of": "a"}).value == 3
    assert found.measure({"ratio": both}).value == 2
    with pytest.raises(KeyError):
        found.measure({"number": "queue", "of": "c"})


def test_the_bootstrap_agrees_with_what_is_known_of_normal_means() -> None:
    values = np.random.default_rng(1).normal(100, 10, size=400)
    rows = [row("a", run, 0, float(value)) for run, value in enumerate(values)]
    found = Measurer({"main": case(rows)}).measure({"mean": "goodput_mbps", "of": "a"})
    half = 1.96 * values.std(ddof=1) / 20
    assert found.low == pytest.approx(values.mean() - half, abs=0.15 * half)
    assert found.high == pytest.approx(values.mean() + half, abs=0.15 * half)


def test_the_bootstrap_pairs_runs() -> None:
    """What is always twice as much is so in every resample, however much runs differ."""
    values = np.random.default_rng(2).uniform(1, 100, size=20)
    rows = [row("a", run, 0, float(2 * value)) for run, value in enumerate(values)]
    rows += [row("b", run, 0, float(value)) for run, value in enumerate(values)]
    found = Measurer({"main": case(rows)}).measure({"mean": "goodput_mbps", "ratio": ["a", "b"]})
    assert found.value == pytest.approx(2)
    assert found.low is None or found.low == pytest.approx(2)


def test_one_run_has_no_interval() -> None:
    found = Measurer({"main": case([row("a", 0, 0, 3.0)])}).measure({"mean": "goodput_mbps", "of": "a"})
    assert (found.value, found.low, found.high) == (3, None, None)


def test_intervals_are_always_the_same() -> None:
    first, second = (Measurer({"main": case(ROWS)}).measure({"mean": "goodput_mbps", "of": "a"}) for _ in range(2))
    assert first.interval is not None
    assert (first.value, first.interval) == (second.value, second.interval)


@pytest.mark.parametrize(
    "expression",
    [
        {"of": "a"},
        {"mean": "speed", "of": "a"},
        {"mean": "goodput_mbps", "over": "a"},
        {"ratio": ["a", "b"], "of": "a"},
    ],
)
def test_what_is_no_expression(expression: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="measure: expected one of"):
        measured(ROWS, expression)


def test_who_has_no_results() -> None:
    with pytest.raises(KeyError, match="nobody"):
        measured(ROWS, {"mean": "goodput_mbps", "of": "nobody"})


def as_counted(preset: str, **flow: Any) -> list[float]:
    """Throughput, RTT and queueing delay as the scripts count them, of one flow at 100 ms with 10 ms of queue."""
    [found] = made([row("a", 0, 0, 8.0, **flow)], text=f'transport = {{ preset = "{preset}" }}').flows.to_dicts()
    return [found[name] for name in COUNTED]


def test_what_is_counted_is_what_the_papers_scripts_count() -> None:
    seen = {"ns2_throughput_mbps": 7.0, "ns2_rtt_ms": 113.0, "sampled_delay_ms": 12.0}
    assert as_counted("remy13", **seen) == [7, 113, 13]
    assert as_counted("tao14", **seen) == [7, 113, 12]
    assert as_counted("today") == [8, 110, 10], "of packets, where there are no such scripts"
    assert as_counted("remy13", ns2_rtt_ms=float("nan")) == [8, 110, 10], "omniscient senders have none either"
