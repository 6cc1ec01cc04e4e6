"""Probes: axes, what is shaded, what is measured, the page, and the command."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from conftest import SMALL, Command, network, published

from exmachina import (
    Evaluation,
    InputError,
    Model,
    Passport,
    Probing,
    Table,
    algorithms,
    design,
    draw,
    evaluate,
    probe,
)
from exmachina.inspection import by_split, knife_edges
from exmachina.networks import Ranges, Span, stated
from exmachina.pictures.passport import axis_chart, passport_chart
from exmachina.pictures.passport_axes import designed_words, places_of, shades_of
from exmachina.pictures.render import spec_of
from exmachina.probing import AXES, PASSPORT, Base, axes_named, measured

BASE = Base()


@pytest.fixture(scope="module")
def table() -> Table:
    """A table that says what it was designed for: 10 Mbit/s, 40 ms, one sender or two, a second on and off."""
    return Table(design(Model(SMALL, "small.toml"), rounds=1, threads=1).table.dna, "mine.dna")


@pytest.fixture(scope="module")
def passport(table: Table) -> Passport:
    return probe(table, axes=["buffer", "loss", "beside"], rivals=["cubic"], runs=2, threads=1)


@pytest.mark.parametrize("name", list(AXES))
def test_every_axis_goes_through_the_base_and_about_nine_values(name: str) -> None:
    axis = AXES[name]
    values = axis.values(BASE, [])
    assert axis.of(BASE) in values
    assert 5 <= len(values) <= 11
    assert len(set(values)) == len(values)
    assert axis.at(BASE, axis.of(BASE)) == BASE
    for value in values:
        other = axis.at(BASE, value)
        assert axis.of(other) == pytest.approx(value) or name == "acks", value
        assert (other == BASE) == (value == axis.of(BASE))


@pytest.mark.parametrize("name", list(AXES))
def test_every_network_of_every_axis_can_be_simulated(name: str) -> None:
    axis = AXES[name]
    for value in axis.values(BASE, []):
        there = axis.at(BASE, value)
        found = stated(Evaluation(there.scenario(1, 1)).text)
        constant = not (there.rate_wander or there.outages_per_s or there.stall_ms)
        assert found.rate_mbps == (Span(there.rate_mbps, there.rate_mbps) if constant else None)
        assert found.ack_packets == Span(there.ack_packets, there.ack_packets)
        assert found.senders == Span(*[there.senders + (there.neighbour is not None)] * 2)


def test_half_of_the_senders_are_farther_or_stall() -> None:
    uneven = Base(senders=5, rtt_spread=3, stall_ms=50, neighbour="cubic")
    near, far, beside = uneven.tables(1, 1, 5.0)["senders"]
    assert (near, far["count"], far["rtt_ms"], far["links"]) == (
        {"count": 3, "links": ["link"]},
        2,
        300,
        ["link", "stalls"],
    )
    assert (beside["scheme"], beside["links"]) == ("cubic", ["link"])
    flows = evaluate(Evaluation(uneven.scenario(1, 1)), ["vegas"], duration_s=5).flows
    assert flows["min_rtt_ms"].round().to_list() == [100] * 3 + [300] * 2 + [100]


def test_what_is_not_odd_is_not_in_the_words_or_the_scenario() -> None:
    assert BASE.words == "20 Mbit/s, 100 ms, 2 senders, 2 BDP of buffer, an ACK for 2 packets, on 2 s, off 2 s"
    odd = replace(BASE, rate_wander=0.3, outages_per_s=0.1, reordered=0.01, clock_ms=1, ack_delay_ms=5, queue="pie")
    for words in ("wanders by 0.3", "0.1 outages", "1 % out of order", "clocks of 1 ms", "waits for 5 ms", "queue pie"):
        assert words in odd.words
        assert words not in BASE.words
    assert stated(BASE.scenario(1, 1)) == stated(replace(BASE, clock_ms=1).scenario(1, 1))
    assert "clock" not in BASE.scenario(1, 1)


def test_axes_reach_three_decades_and_beyond_what_a_table_was_designed_for() -> None:
    rates = AXES["rate"].values(BASE, [])
    assert rates[-1] / rates[0] == pytest.approx(1e3, rel=0.01)  # type: ignore[operator]
    wide = AXES["rate"].values(BASE, [Ranges(rate_mbps=Span(1, 500))])
    assert (wide[0], wide[-1]) == (0.333, 1500)


def test_on_times_of_any_length_leave_the_duty_cycle_alone() -> None:
    there = AXES["on"].at(BASE, 200.0)
    assert (there.on_s, AXES["duty"].of(there)) == (200, AXES["duty"].of(BASE))
    assert AXES["duty"].at(BASE, 1.0).off_s == 0
    assert 'on = "forever"' in AXES["duty"].at(BASE, 1.0).scenario(1, 1)


def test_runs_are_as_long_as_they_must_and_no_longer() -> None:
    assert BASE.duration_s == 32
    assert replace(BASE, rtt_ms=5000).duration_s == 300
    assert replace(BASE, rate_mbps=1000, on_s=5, off_s=5).duration_s == 30
    assert replace(BASE, rate_mbps=2000, off_s=0, rtt_ms=10).duration_s == 2.5


def test_the_base_is_in_the_middle_of_what_a_table_was_designed_for(table: Table) -> None:
    found = probe(table, axes=["acks"], rivals=[], runs=1, threads=1)
    assert found.base == Base(rate_mbps=10, rtt_ms=40, senders=1, on_s=1, off_s=1)
    assert found.delta == Model(SMALL).objective.delta
    other = probe(table, network="tao-10x", axes=["acks"], rivals=[], runs=1, threads=1).base
    assert (other.rate_mbps, other.rtt_ms) == (31.6, 150)
    assert Base.within(Ranges()) == BASE


def test_what_training_adds_is_shaded_and_not_in_the_base() -> None:
    found = probe("general-1-robust", axes=["acks"], rivals=[], runs=1, threads=1)
    assert (found.base.jitter_ms, found.base.loss, found.base.on_s) == (0, 0, 5)
    assert found.designed["general-1-robust"].jitter_ms == Span(0, 10)


def test_schemes_without_a_range_start_from_the_default() -> None:
    found = probe(["cubic"], axes=["acks"], rivals=["cubic"], runs=1, threads=1)
    assert (found.base, found.delta, found.schemes) == (BASE, 1, ("cubic",))
    assert found.frame["inside"].null_count() == len(found.frame)
    assert (found.edges.is_empty(), found.equilibria.is_empty(), dict(found.designed)) == (True, True, {})


def test_a_probe_says_where_a_table_is_inside_its_range(passport: Passport) -> None:
    inside = {
        axis: rows.filter(pl.col("inside"), scheme="mine")["label"].unique(maintain_order=True).to_list()
        for (axis,), rows in passport.frame.group_by("axis", maintain_order=True)
    }
    assert inside == {"buffer": [], "loss": ["0"], "beside": ["none"]}
    assert passport.frame.filter(scheme="cubic")["inside"].null_count() == len(passport.frame) // 2


def test_all_schemes_meet_the_same_networks_and_each_is_simulated_once(passport: Passport) -> None:
    counts = passport.frame.group_by("axis", "label").len()["len"].unique().to_list()
    assert counts == [4], "two schemes, two runs"
    at_base = passport.frame.filter(
        ((pl.col("axis") == "buffer") & (pl.col("label") == "2"))
        | ((pl.col("axis") == "loss") & (pl.col("value") == 0))
    )
    rows = at_base.select("scheme", "run", "score").unique()
    assert len(rows) == 4


def test_the_score_is_that_of_its_parts() -> None:
    flows = evaluate(network(), ["cubic"], runs=3, duration_s=5).flows
    found = measured(flows, 2, 0.5)
    np.testing.assert_allclose(found["score"], np.log(found["throughput"]) - 0.5 * np.log(found["delay"]))
    on = flows.filter((pl.col("run") == 0) & (pl.col("on_s") > 0) & (pl.col("delivered_packets") > 0))
    expected = float(np.exp(np.log(on["normalised_throughput"].to_numpy()).mean()))
    assert found["throughput"][0] == pytest.approx(expected)
    assert found["delay"].to_numpy().min() >= 1


def test_who_starves_is_counted_and_costs() -> None:
    flows = evaluate(network(), ["cubic"], runs=1, duration_s=5).flows
    sender = flows.filter(pl.col("on_s") > 1)["sender"][0]
    mute = flows.with_columns(
        pl.when(pl.col("sender") == sender).then(0).otherwise("delivered_packets").alias("delivered_packets")
    )
    fine, starved = measured(flows, 2, 1.0), measured(mute, 2, 1.0)
    assert (fine["starved_senders"][0], starved["starved_senders"][0]) == (0, 1)
    assert starved["score"][0] < fine["score"][0] - 1


def test_a_flow_beside_is_not_among_those_measured() -> None:
    there = AXES["beside"].at(BASE, "cubic")
    flows = evaluate(Evaluation(there.scenario(1, 1)), ["vegas"], duration_s=5).flows
    assert flows.filter(pl.col("sender") < BASE.senders)["scheme"].unique().to_list() == ["vegas"]
    assert flows.filter(pl.col("sender") >= BASE.senders)["scheme"].unique().to_list() == ["cubic"]


def test_designed_ranges_are_shaded(passport: Passport) -> None:
    axis = AXES["loss"]
    places = places_of(passport, axis, 200)
    shade = shades_of(passport, axis, 200).row(0, named=True)
    assert shade["name"] == "mine"
    assert shade["from"] < places.at[0] < shade["to"] < places.at[0.001]
    infinite = shades_of(passport, AXES["buffer"], 200).row(0, named=True)
    assert infinite["from"] > 50, "at the end of the axis"
    assert designed_words(passport, AXES["buffer"]) == "Designed for: mine: ∞."
    assert designed_words(passport, AXES["beside"]) == "Designed for: mine: none."


def test_what_lies_beyond_an_axis_is_not_shaded(passport: Passport) -> None:
    far = replace(passport, designed={"mine": Ranges(loss=Span(0.5, 0.6)), "cubic": Ranges(buffer_bdp=Span(1, 5))})
    assert shades_of(far, AXES["loss"], 200).is_empty()
    shade = shades_of(far, AXES["buffer"], 200).row(0, named=True)
    assert (shade["from"], shade["to"]) == (pytest.approx(1), pytest.approx(5))


def test_zero_stands_on_a_logarithmic_axis(passport: Passport) -> None:
    spec = spec_of(axis_chart(passport, AXES["loss"], "delay", (200, 100)))
    text = json.dumps(spec)
    assert "? '0' :" in text
    assert places_of(passport, AXES["loss"], 200).at[0] == pytest.approx(0.001 / 3)


@pytest.mark.slow
def test_the_picture_has_a_chart_for_each_axis(passport: Passport) -> None:
    spec = spec_of(passport_chart(passport))
    titles = [chart["title"]["text"] for row in spec["vconcat"][1:] for chart in row["hconcat"]]
    assert titles == [[AXES[name].title] for name in ("buffer", "loss", "beside")]


@pytest.mark.slow
def test_a_passport_is_saved_and_drawn(passport: Passport, tmp_path: Path) -> None:
    saved = [path.name for path in passport.save(tmp_path)]
    drawn = [path.name for path in draw(passport, tmp_path)]
    assert saved == ["points.parquet", "summary.csv", "edges.csv", "equilibria.csv"]
    assert drawn == ["passport.html", "passport.png", "passport.svg"]
    assert pl.read_parquet(tmp_path / "points.parquet").equals(passport.frame)
    page = (tmp_path / "passport.html").read_text()
    assert all(title in page for title in ("Passport of mine", "Knife edges", "States that hold themselves", "buffer"))


@pytest.mark.slow
def test_human_schemes_alone_have_no_section_of_tables(tmp_path: Path) -> None:
    draw(probe("cubic", axes=["acks"], rivals=[], runs=1, threads=1), tmp_path)
    assert "Knife edges" not in (tmp_path / "passport.html").read_text()


def test_a_probe_tells_how_it_stands_and_goes_on_with_what_is_kept(tmp_path: Path) -> None:
    told: list[Probing] = []
    first = probe("cubic", axes=["acks"], rivals=[], runs=1, output=tmp_path, on_progress=told.append)
    assert (told[0].done, told[-1].done, told[-1].networks) == (0, 8, 8)
    kept = sorted((tmp_path / "runs").iterdir())
    assert len(kept) == 8
    again = probe("cubic", axes=["acks"], rivals=[], runs=1, output=tmp_path)
    assert again.frame.equals(first.frame)
    assert sorted((tmp_path / "runs").iterdir()) == kept


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"axes": ["rates"]}, "axes: expected some of rate, rtt, .*, got rates"),
        ({"axes": []}, "axes: expected some of rate, rtt, .*, got none"),
        ({"runs": 0}, "runs: expected from 1 to 10000, got 0"),
        ({"delta": -1}, "delta: expected a number of at least 0, got -1"),
        ({"network": "r7"}, "network: r7: expected a link of a constant rate to vary"),
        ({"network": "nope"}, "nope: there is no such model"),
        ({"schemes": []}, "schemes: expected at least one"),
        ({"schemes": ["cubik"], "axes": ["acks"]}, "schemes: expected newreno, .*did you mean cubic"),
    ],
)
def test_mistakes_are_named(change: dict[str, object], message: str) -> None:
    given = {"schemes": ["cubic"], **change}
    with pytest.raises(InputError, match=message):
        probe(**given)  # type: ignore[arg-type]


def test_axes_are_taken_in_the_order_in_which_they_are_asked_for() -> None:
    assert [axis.name for axis in axes_named(["rtt", "rate", "rtt"])] == ["rtt", "rate"]
    assert tuple(axis.name for axis in axes_named(None)) == PASSPORT == tuple(AXES)[:10]


def test_a_split_on_a_pace_is_a_knife_edge() -> None:
    table = Table.load(published("tao-10x"))
    edges = knife_edges(table)
    nearest = edges.row(0, named=True)
    assert (nearest["signal"], nearest["own"]) == ("send_ewma", True)
    assert nearest["edge_ms"] == pytest.approx(0.2592)
    assert nearest["apart"] < 1e-10
    assert edges["apart"].is_sorted()
    assert len(knife_edges(table, 1e-9)) < len(edges)
    splits = by_split(edges)
    assert splits["rules"].list.len().sum() == len(edges)
    assert splits.select("signal", "edge_ms").is_unique().all()


def test_tables_of_ours_have_no_knife_edges() -> None:
    tables = [one.table for one in algorithms() if not one.table.law]
    assert len(tables) > 20
    for table in tables:
        assert knife_edges(table, 0.005).is_empty(), table.name


def test_probe_on_the_command_line(exmachina: Command, tmp_path: Path, table: Table) -> None:
    table.save(tmp_path / "mine.dna")
    arguments = ["probe", "mine.dna", "vegas", "--axes", "acks,beside", "--rivals", "cubic", "--runs", "1"]
    done = exmachina(*arguments)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert all(f"{name}: worst, at" in lines[0] for name in ("mine", "vegas", "cubic"))
    assert [line.split("  ")[1] for line in lines[1:3]] == ["packets per ACK", "one flow beside"]
    assert "Around 10 Mbit/s, 40 ms, 1 sender, 2 BDP of buffer" in done.stdout
    folder = tmp_path / "mine-passport"
    written = ["points.parquet", "summary.csv", "edges.csv", "equilibria.csv"]
    written += ["passport.html", "passport.png", "passport.svg"]
    assert lines[-1] == "written: " + ", ".join(f"mine-passport/{name}" for name in written)
    assert all((folder / name).stat().st_size > 0 for name in written)
    summary = pl.read_csv(folder / "summary.csv")
    assert summary["scheme"].unique(maintain_order=True).to_list() == ["mine", "vegas", "cubic"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["probe"], "schemes: expected at least one"),
        (["probe", "cubic", "--axes", "x"], "axes: expected some of rate, "),
        (["probe", "no.dna"], "no.dna: cannot read it: no such file or directory"),
        (["probe", "cubic", "--network", "no.toml"], "no.toml: cannot read it: no such file or directory"),
    ],
)
def test_mistakes_on_the_command_line(exmachina: Command, arguments: list[str], message: str) -> None:
    done = exmachina(*arguments)
    assert done.returncode == 2
    assert done.stderr.startswith(f"exmachina: {message}")


def test_a_scheme_that_there_is_not_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nosuch"):
        probe("nosuch", output=tmp_path / "out")
    assert not (tmp_path / "out").exists()
