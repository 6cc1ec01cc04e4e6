"""Scores on held-out specimens."""

from pathlib import Path
from typing import cast

import numpy as np
import polars as pl
import pytest
from conftest import DURATIONS, SMALL, network
from polars.testing import assert_frame_equal

from exmachina import InputError, Model, Table, score
from exmachina.scoring import AIMD, AIMD_BDP, REFERENCE, Stratum


def test_everybody_meets_the_same_networks(model: Model, one_rule: Table, designed: Table) -> None:
    report = score([designed, one_rule], model, specimens=40, aimd=True)
    schemes = ["designed", "one-rule", AIMD_BDP, REFERENCE]
    assert report.summary["scheme"].to_list() == schemes
    parts = [report.frame.filter(pl.col("scheme") == scheme) for scheme in schemes]
    for part in parts[1:]:
        assert_frame_equal(
            part.select("specimen", "sender", "rate_mbps"), parts[0].select("specimen", "sender", "rate_mbps")
        )
    # By time, nobody's traffic depends on the scheme.
    assert_frame_equal(parts[1].select("on_s"), parts[0].select("on_s"))


def test_the_summary_is_what_the_rows_say(model: Model, one_rule: Table, designed: Table) -> None:
    report = score([designed, one_rule], model, specimens=40)
    assert report.frame["starved"].sum() == 0
    mean = report.frame.group_by("scheme", "specimen").agg(pl.first("specimen_score")).group_by("scheme")
    means = dict(mean.agg(pl.mean("specimen_score")).iter_rows())
    for line in report.summary.iter_rows(named=True):
        assert line["score"] == pytest.approx(means[line["scheme"]])
        assert line["difference"] == pytest.approx(means[line["scheme"]] - means["designed"])
        assert line["score_ci95"] > 0 or line["scheme"] == REFERENCE
    assert report.summary["difference_ci95"][0] == 0


def test_a_design_beats_its_start_and_not_the_reference(model: Model, one_rule: Table, designed: Table) -> None:
    summary = score([designed, one_rule], model, specimens=100).summary
    difference = dict(summary.select("scheme", "difference").iter_rows())
    margin = dict(summary.select("scheme", "difference_ci95").iter_rows())
    assert difference["one-rule"] < -margin["one-rule"]
    assert difference[REFERENCE] > margin[REFERENCE]


def test_the_score_is_the_mean_utility_of_the_senders(model: Model, designed: Table) -> None:
    frame = score(designed, model, specimens=20).frame.filter(pl.col("scheme") == "designed")
    utility = np.log2(frame["normalised_throughput"].to_numpy()) - np.log2(frame["delay_ratio"].to_numpy())
    means = frame.with_columns(utility=utility).group_by("specimen").agg(pl.mean("utility"), pl.first("specimen_score"))
    np.testing.assert_allclose(means["utility"].to_numpy(), means["specimen_score"].to_numpy(), rtol=1e-9)


FAR = network(path={"rtt_ms": 2000}, design={"duration_s": 4})
"""Where many a sender is switched on less than an RTT before the end, and has received nothing by then."""


def test_who_receives_nothing_is_counted_and_in_no_mean() -> None:
    model = Model(FAR, "far.toml")
    some = Table.single(model.signals, 1.0, 1, 3.0, "some")
    report = score(some, model, specimens=60)
    starved = pl.col("starved") == 1
    for (scheme,), frame in report.frame.group_by("scheme", maintain_order=True):
        assert_frame_equal(
            frame.filter(starved), frame.filter((pl.col("on_s") > 0) & (pl.col("delivered_packets") == 0))
        )
        assert frame.filter(starved)["utility"].null_count() == frame["starved"].sum() > 0
        line = report.summary.filter(pl.col("scheme") == scheme).row(0, named=True)
        assert line["starved_senders"] == frame["starved"].sum()
        assert line["starved_share"] == frame.filter(pl.col("on_s") > 0)["starved"].mean()
        # A sender that was never on counts 0, unless nobody else has a score.
        rest = frame.filter(~starved).group_by("specimen", maintain_order=True).agg(
            pl.col("utility").fill_null(0).mean(), received=pl.col("utility").count(), score=pl.first("specimen_score")
        )  # fmt: skip
        some_got = rest.filter(pl.col("received") > 0)
        np.testing.assert_allclose(some_got["utility"].to_numpy(), some_got["score"].to_numpy(), rtol=1e-9)
        assert line["score"] == pytest.approx(report.specimens.filter(pl.col("scheme") == scheme)["score"].mean())
        assert 0 < report.specimens.filter(pl.col("scheme") == scheme)["score"].null_count() < 60
        assert -20 < line["score"] < 0


def test_differences_are_of_specimens_where_both_have_a_score() -> None:
    model = Model(FAR, "far.toml")
    some = Table.single(model.signals, 1.0, 1, 3.0, "some")
    nothing = Table.single(model.signals, 0.0, 0, 3.0, "nothing")
    lines = {line["scheme"]: line for line in score([some, nothing], model, specimens=60).summary.iter_rows(named=True)}
    without = score(some, model, specimens=60).specimens.filter(pl.col("scheme") == "some")["score"].null_count()
    assert (lines["nothing"]["score"], lines["nothing"]["difference"]) == (None, None)
    assert (lines["nothing"]["starved_share"], lines["nothing"]["unpaired"]) == (1, 60)
    assert lines["some"]["unpaired"] == without
    assert lines[REFERENCE]["unpaired"] >= without
    assert 0 < lines[REFERENCE]["difference_ci95"] < 10


@pytest.mark.parametrize("deliveries", ["all", "while-on"])
def test_tables_schemes_and_the_reference_have_one_scorer(deliveries: str) -> None:
    link = {"buffer": {"packets": 5}, "loss": 0.02}
    objective = {"delta": 0.5, "loss_weight": 2, "deliveries": deliveries}
    model = Model(network(link=link, objective=objective, design={"duration_s": 20}), "lossy.toml")
    assert model.objective.as_dict() == {
        "alpha": 1, "beta": 1, "delta": 0.5, "throughput": "share", "loss_weight": 2, "deliveries": deliveries
    }  # fmt: skip
    assert (model.objective.loss_weight, model.objective.deliveries) == (2, deliveries)
    table = Table.single(model.signals, 1.0, 5, 2.0, "table")
    report = score([table, "newreno", "cubic/sfqcodel"], model, specimens=6, aimd=True)
    assert report.summary["scheme"].to_list() == ["table", "newreno", "cubic/sfqcodel", AIMD, REFERENCE]
    for (scheme,), frame in report.frame.filter(pl.col("on_s") > 0).group_by("scheme", maintain_order=True):
        got = {name: frame[name].to_numpy() for name in frame.columns if name != "scheme"}
        counted = got["delivered_packets"] - (got["late_packets"] if deliveries == "while-on" else 0)
        assert np.allclose(got["throughput_mbps"], counted * 0.01 / got["on_s"])
        arrived = got["delivered_packets"] / got["sent_packets"]
        assert (arrived < 0.99).all(), f"{scheme}: of what was sent, repeated packets included, some is lost"
        utility = np.log2(got["normalised_throughput"]) + 2 * np.log2(arrived) - 0.5 * np.log2(got["delay_ratio"])
        np.testing.assert_allclose(got["utility"], utility, rtol=1e-9, atol=1e-9)
        assert (got["late_packets"] > 0).any(), "what was on its way at switch-off"


def test_threads_do_not_matter(model: Model, designed: Table) -> None:
    one, three = (score(designed, model, specimens=33, threads=threads).frame for threads in (1, 3))
    assert_frame_equal(one, three)


def test_a_grid_has_every_point_equally_often(model: Model, one_rule: Table) -> None:
    frame = score(one_rule, model, specimens=7).specimens
    assert frame.filter(pl.col("scheme") == "one-rule")["senders"].to_list() == [1, 2] * 4


def test_strata_are_parts_of_the_whole(one_rule: Table, designed: Table) -> None:
    model = Model(SMALL.replace("rate_mbps = 10", "rate_mbps = { uniform = [5, 15] }"), "m.toml")
    report = score([one_rule, designed], model, specimens=40, seconds_each=4)
    summary = report.summary
    for by, count in [("rate_mbps", 4), ("senders", 2), ("min_rtt_ms", 1)]:
        strata = report.strata(cast(Stratum, by))
        assert len(strata) == 3 * count
        assert strata["scheme"].unique(maintain_order=True).to_list() == summary["scheme"].to_list()
        for line in summary.iter_rows(named=True):
            own = strata.filter(scheme=line["scheme"])
            assert own["specimens"].sum() == 40
            weighted = (own["score"] * own["specimens"]).sum() / 40
            assert weighted == pytest.approx(line["score"])
            assert (own["difference"] * own["specimens"]).sum() / 40 == pytest.approx(line["difference"])
            assert (own["high"].to_numpy()[:-1] < own["low"].to_numpy()[1:]).all()
    assert report.strata("senders").filter(scheme=one_rule.name)["low"].to_list() == [1, 2]


def test_networks_as_they_are_trained_on(designed: Table) -> None:
    model = Model(f"{SMALL}[design.world]\nloss = 0.2\n", "m.toml")
    clean, lossy = (score(designed, model, specimens=10, in_world=world) for world in (False, True))
    assert clean.frame["delivered_packets"].sum() > 0
    delivered, sent = (lossy.frame[f"{what}_packets"].to_numpy().sum() for what in ("delivered", "sent"))
    assert delivered / sent == pytest.approx(0.8, abs=0.05)
    delivered, sent = (clean.frame[f"{what}_packets"].to_numpy().sum() for what in ("delivered", "sent"))
    assert delivered / sent > 0.95


def test_aimd_gets_the_buffer_of_the_model_where_it_has_one() -> None:
    link, design = {"buffer": {"packets": 20}}, {"duration_s": 5}
    model = Model(network(link=link, senders={"count": 1}, design=design), "m")
    report = score([], model, specimens=5, aimd=True)
    assert report.summary["scheme"].to_list() == [AIMD, REFERENCE]
    assert (report.frame["sent_packets"] >= report.frame["delivered_packets"]).all()


def test_progress_goes_from_0_to_1(model: Model, one_rule: Table) -> None:
    seen: list[tuple[str, float]] = []
    score(one_rule, model, specimens=30, on_progress=lambda *now: seen.append(now))
    shares = [share for _, share in seen]
    assert shares == sorted(shares)
    assert shares[0] == 0
    assert shares[-1] == 1


def test_results_as_a_file(tmp_path: Path, model: Model, one_rule: Table) -> None:
    report = score(one_rule, model, specimens=4, seed=9)
    report.save(tmp_path / "r.parquet")
    assert_frame_equal(pl.read_parquet(tmp_path / "r.parquet"), report.frame)
    facts = pl.read_parquet_metadata(tmp_path / "r.parquet")
    assert (facts["model"], facts["seed"], facts["seconds_each"]) == (model.text, "9", "4.0")
    with pytest.raises(InputError, match=r"r.csv: expected a name that ends in .parquet$"):
        report.save(tmp_path / "r.csv")


def test_names_are_told_apart(model: Model, one_rule: Table) -> None:
    reference = Table(one_rule.dna, f"{REFERENCE}.dna")
    summary = score([one_rule, one_rule, reference], model, specimens=2).summary
    assert summary["scheme"].to_list() == ["one-rule", "one-rule (2)", f"{REFERENCE} (2)", REFERENCE]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"specimens": 0}, "specimens: expected from 1 to 1000000, got 0"),
        ({"seconds_each": 0.0}, f"seconds-each: {DURATIONS}0"),
        ({"seconds_each": float("nan")}, f"seconds-each: {DURATIONS}NaN"),
        ({"seed": -1}, "seed: expected a whole number from 0 to 2^63 - 1, got -1"),
        ({"threads": 0}, "threads: expected from 1 to 1024, got 0"),
    ],
)
def test_what_is_not_possible(model: Model, one_rule: Table, settings: dict[str, int], message: str) -> None:
    with pytest.raises(InputError) as error:
        score(one_rule, model, **settings)  # type: ignore[arg-type]
    assert str(error.value) == message
