"""`validation/internet.py`: its networks follow from their names, within what is promised, and its sums are right."""

import re
from itertools import pairwise
from math import e, exp, log, sqrt
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from conftest import script

from exmachina import Evaluation

# In the order in which they import each other.
NETWORKS, RUNS, SUMMARY, SLICES, PAGE, SCRIPT = (
    script(f"internet{name}") for name in ("_networks", "_runs", "_summary", "_slices", "_page", "")
)
KINDS = [*NETWORKS.KINDS, NETWORKS.BESIDE]


def drawn(suite: str, count: int) -> list[Any]:
    return list(NETWORKS.networks(suite, KINDS, count))


def test_a_network_follows_from_suite_kind_and_number() -> None:
    assert drawn("choosing", 3) == drawn("choosing", 3)
    assert NETWORKS.network("choosing", "lte", 2) == drawn("choosing", 5)[KINDS.index("lte") * 5 + 2]


def test_jitter_of_a_whole_rtt_is_no_more_than_that_once_rounded() -> None:
    link = NETWORKS.Link(rate_mbps=10, rtt_ms=5.2866, jitter_ms=5.2866, loss=0, words="", lines="rate_mbps = 10")
    text = NETWORKS.scenario(link, 1, 1, 1, '[senders]\ncount = 1\n[workload]\non = "forever"\n')
    assert Evaluation(text).text == text
    assert "jitter_ms = 5.2866\n" in text


def test_laws_are_tuned_on_other_networks_in_shorter_runs() -> None:
    module = script("tuned")
    tuned = module.scenarios()
    assert len(tuned) == module.DRAWN * module.OF_EACH_KIND * len(NETWORKS.KINDS)
    tuned = tuned[: 2 * module.OF_EACH_KIND * len(NETWORKS.KINDS)]
    assert len({one.text for one in tuned}) == len(tuned)
    whole = {one.evaluation().name: one for one in NETWORKS.networks("tuning", list(NETWORKS.KINDS), 20)}
    for one in tuned:
        assert one._inner.duration_s <= whole[one.name].duration_s + 0.01
    for kind, most_s in (("access", 20), ("satellite", 75), ("datacenter", 2)):
        assert max(one._inner.duration_s for one in tuned if kind in one.name) <= most_s
    others = [suite for suite in NETWORKS.SUITES if suite != module.SUITE]
    assert not {one.text for one in tuned} & {one.text for suite in others for one in drawn(suite, 20)}


def test_laws_that_share_are_tuned_beside_others_too_and_alone_on_the_same_networks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module = script("tuned")
    monkeypatch.setattr(module, "DRAWN", 2)
    of_kinds = module.OF_EACH_KIND * len(NETWORKS.KINDS)
    alone, shared = module.scenarios(), module.scenarios(4)
    assert len(shared) == module.DRAWN * (of_kinds + 4)
    for generation in range(2):
        first, first_shared = generation * of_kinds, generation * (of_kinds + 4)
        drawn = shared[first_shared : first_shared + of_kinds + 4]
        assert [one.text for one in drawn[:of_kinds]] == [one.text for one in alone[first : first + of_kinds]]
        neighbours = [re.findall(r'^scheme = "(.*)"$', one.text, flags=re.MULTILINE) for one in drawn[of_kinds:]]
        assert neighbours == [["cubic"], ["bbr3"], ["cubic"], ["bbr3"]]
    assert len({one.text for one in shared}) == len(shared)


def test_the_streams_are_what_they_were() -> None:
    """Who moves these moves every network, and makes the held-out suite another one."""
    draws = NETWORKS.Draws("a", 1)
    assert [round(draws.uniform(0, 1), 6) for _ in range(3)] == [0.481759, 0.230777, 0.717357]
    one = NETWORKS.network("choosing", "access", 0)
    assert (round(one.link.rate_mbps, 3), round(one.link.rtt_ms, 3), one.senders) == (21.708, 25.805, 2)


def test_suites_and_kinds_share_no_network() -> None:
    both = drawn("choosing", 40) + drawn("held-out", 40)
    for name in ("text", "words"):
        assert len({getattr(one, name) for one in both}) == len(both)
    assert len({one.text.split("seed = ")[1].split("\n")[0] for one in both}) == len(both)


def test_networks_are_within_what_is_promised() -> None:
    for one in drawn("choosing", 200):
        link = one.link
        assert 5 <= link.rate_mbps <= 1000
        assert 0.2 <= link.rtt_ms <= 700
        assert 0.001 <= link.jitter_ms <= min(10, link.rtt_ms)
        assert 0 <= link.loss <= 0.01
        assert 0.5 <= one.buffer_bdp <= 5
        assert 1 <= one.senders <= 32
        assert one.duration_s * 1e3 >= 100 * link.rtt_ms
        assert 'preset = "today"' in one.text


def test_flows_beside_others_are_on_the_networks_that_are_asked_for() -> None:
    for one in NETWORKS.networks("held-out", [NETWORKS.BESIDE], 50):
        assert 10 <= one.link.rate_mbps <= 200
        assert 20 <= one.link.rtt_ms <= 200
        assert one.duration_s == 60
        assert one.link.loss == 0


def test_batches_carry_the_rate() -> None:
    for rate_mbps in (10.0, 300.0):
        times = list(map(int, NETWORKS.batches(NETWORKS.Draws("b"), rate_mbps, 5.0).split()))
        assert times == sorted(times)
        assert len(times) * 1500 * 8 / (times[-1] * 1e3) == pytest.approx(rate_mbps, rel=0.01)
        gaps = {b - a for a, b in pairwise(times) if b > a}
        assert max(gaps) >= 5


@pytest.mark.slow
def test_each_kind_runs_and_is_kept(tmp_path: Path) -> None:
    cubic = RUNS.Entrant("cubic", "cubic")
    networks = [NETWORKS.network("choosing", kind, 6) for kind in NETWORKS.KINDS]
    rows = RUNS.all_alone([cubic], networks, tmp_path, 1)
    kept = {path: path.read_bytes() for path in (tmp_path / "runs").iterdir()}
    assert len(kept) == len(networks)
    assert RUNS.all_alone([cubic], networks, tmp_path, 2).equals(rows)
    assert {path: path.read_bytes() for path in (tmp_path / "runs").iterdir()} == kept
    assert rows["score"].is_not_null().all()
    assert (rows["jain"].is_between(0, 1 + 1e-9)).all()


@pytest.mark.slow
def test_flows_beside_others_are_told_apart(tmp_path: Path) -> None:
    """Vegas yields to Cubic where there is room for a queue, whichever of them is looked at."""
    networks = [NETWORKS.network("choosing", NETWORKS.BESIDE, number) for number in range(8)]
    deep = [one for one in networks if one.buffer_bdp > 2][:2]
    assert deep
    for one in deep:
        of_vegas = RUNS.beside(RUNS.Entrant("vegas", "vegas"), "cubic", one, tmp_path)
        of_cubic = RUNS.beside(RUNS.Entrant("cubic", "cubic"), "vegas", one, tmp_path)
        assert of_vegas["share"] < 0.5 < of_cubic["share"]


def flows(*senders: tuple[float, int, float, float]) -> pl.DataFrame:
    """On for so long, packets, Mbit/s, RTT; the path has 100 ms."""
    types = {
        "on_s": pl.Float64,
        "delivered_packets": pl.Int64,
        "throughput_mbps": pl.Float64,
        "mean_rtt_ms": pl.Float64,
    }
    frame = pl.DataFrame(senders, schema=types, orient="row")
    return frame.with_columns(
        min_rtt_ms=pl.lit(100.0),
        queueing_delay_ms=pl.col("mean_rtt_ms") - 100,
    ).with_columns(pl.col("mean_rtt_ms", "queueing_delay_ms").fill_nan(None))


def test_a_score_is_the_mean_over_senders_that_were_on() -> None:
    never, too_short = (0.0, 0, 0.0, float("nan")), (0.15, 0, 0.0, float("nan"))
    got = RUNS.measures(flows((10, 9, 4.0, 100.0), never, (5, 9, 1.0, 200.0), too_short))
    assert got["score"] == pytest.approx((log(4 / 100) + log(1 / 200)) / 2)
    assert (got["throughput_mbps"], got["rtt_ms"]) == (pytest.approx(2.0), pytest.approx(100 * sqrt(2)))
    assert got["queueing_ms"] == pytest.approx(50)
    assert got["jain"] == pytest.approx(25 / (2 * 17))
    assert got["least_share"] == pytest.approx(1 / 2.5)
    assert (got["counted"], got["starved"]) == (2, 0)


def test_a_sender_that_gets_nothing_through_counts_as_one_packet() -> None:
    got = RUNS.measures(flows((10, 0, 0.0, float("nan"))))
    assert got["score"] == pytest.approx(log(0.01 / 10 / 10_000))
    assert (got["counted"], got["starved"]) == (1, 1)
    assert got["score"] < RUNS.measures(flows((10, 1, 0.001, 9000.0)))["score"]


def test_without_senders_there_is_no_score() -> None:
    assert set(RUNS.measures(flows((0, 0, 0.0, float("nan")))).values()) == {None}


ROWS = pl.DataFrame(
    [
        ("choosing", "access", 0, "mine", log(4 / 10), 4.0, 10.0),
        ("choosing", "access", 1, "mine", log(1 / 10), 1.0, 10.0),
        ("choosing", "lte", 0, "mine", log(2 / 20), 2.0, 20.0),
        ("choosing", "lte", 1, "mine", None, None, None),
        ("choosing", "access", 0, "cubic", log(2 / 20), 2.0, 20.0),
        ("choosing", "access", 1, "cubic", log(4 / 10), 4.0, 10.0),
        ("choosing", "lte", 0, "cubic", log(2 / 40), 2.0, 40.0),
        ("choosing", "lte", 1, "cubic", 0.0, 1.0, 1.0),
        ("choosing", "access", 1, "copa", log(e / 10), e, 10.0),
    ],
    schema=["suite", "kind", "number", "scheme", "score", "throughput_mbps", "rtt_ms"],
    orient="row",
).with_columns(delta=pl.lit(1.0))


def test_who_is_ahead_and_by_how_much() -> None:
    found = SUMMARY.compare(ROWS, "mine", "cubic")
    assert (found.ahead.many, found.ahead.of) == (2, 3)
    assert found.throughput == pytest.approx((2 * 0.25 * 1) ** (1 / 3))
    assert found.rtt == pytest.approx((0.5 * 1 * 0.5) ** (1 / 3))
    assert SUMMARY.compare(ROWS, "mine", "cubic", "lte").ahead == SUMMARY.Share(1, 1)
    assert SUMMARY.compare(ROWS, "cubic", "mine").ahead == SUMMARY.Share(1, 3)
    # A tie is not ahead.
    assert SUMMARY.compare(ROWS, "mine", "mine").ahead == SUMMARY.Share(0, 3)


def test_a_table_is_judged_by_its_own_delta() -> None:
    """With a quarter of the throughput at the same RTT delay decides nothing; with as much at half of it, all."""
    careless, careful = (ROWS.with_columns(delta=pl.lit(delta)) for delta in (0.1, 10.0))
    for rows, delta in ((careless, 0.1), (careful, 10)):
        margins = SUMMARY.pairs(rows, "mine", "cubic")["margin"].to_list()
        assert margins == pytest.approx([log(2) + delta * log(2), -log(4), delta * log(2)])


def test_what_is_lost_most_by() -> None:
    lost = SUMMARY.worst(ROWS, "mine", ["cubic", "copa"])
    assert lost.select("kind", "number", "scheme_rival").rows() == [("access", 1, "cubic")]
    assert lost["margin"][0] == pytest.approx(-log(4))


def test_slices_are_of_the_networks_that_they_say() -> None:
    networks = [NETWORKS.network("choosing", *where) for where in (("access", 0), ("access", 1), ("lte", 0))]
    found = SLICES.slices(ROWS, "mine")
    for words, held in {
        "1 sender": [one.senders == 1 for one in networks],
        "above 2 BDP": [one.buffer_bdp >= 2 for one in networks],
    }.items():
        assert sum(share.of for share in found.get(words, [])[:1]) == sum(held)
    for parts in (list(SLICES.SORTS), ["below 1 BDP", "1 to 2 BDP", "above 2 BDP"]):
        assert sum(found[part][0].of for part in parts if part in found) == len(networks)


def test_intervals_are_wilsons() -> None:
    """Newcombe 1998, table I: 81 of 263, and 0 of 20."""
    assert SUMMARY.Share(81, 263).interval == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert SUMMARY.Share(0, 20).interval == pytest.approx((0.0, 0.1611), abs=5e-5)
    assert SUMMARY.Share(0, 0).interval == (0.0, 1.0)


def test_half_an_equal_share_is_a_quarter() -> None:
    shares = [0.24, 0.25, 0.5, 0.75, 0.76]
    rows = pl.DataFrame({"share": shares, "used": 0.9}).with_columns(scheme=pl.lit("mine"), neighbour=pl.lit("cubic"))
    found = SUMMARY.neighbourly(rows, "mine", "cubic")
    assert (found.within, found.both) == (SUMMARY.Share(4, 5), SUMMARY.Share(3, 5))
    assert (found.median_share, found.used) == (0.5, pytest.approx(0.9))


def test_rows_of_other_tables_stay(tmp_path: Path) -> None:
    path, order = tmp_path / "rows.csv", {"kind": ["access", "lte"]}
    SCRIPT.keep(path, ROWS.filter(pl.col("scheme") != "copa"), order)
    new = ROWS.filter(pl.col("scheme") == "cubic").with_columns(rtt_ms=pl.lit(exp(1)))
    SCRIPT.keep(path, new, order)
    kept = pl.read_csv(path)
    assert kept["scheme"].to_list() == ["cubic"] * 4 + ["mine"] * 4
    assert set(kept.filter(pl.col("scheme") == "cubic")["rtt_ms"]) == {2.71828}
    assert kept.filter(pl.col("scheme") == "mine")["rtt_ms"].to_list() == [10, 10, 20, None]


def test_the_page_is_what_was_measured() -> None:
    page = Path(__file__).parents[2] / "docs" / "internet.md"
    assert page.read_text(encoding="utf-8") == SCRIPT.committed(), "python validation/internet.py --page writes it"
