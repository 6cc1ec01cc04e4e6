"""Searches for the worst network: limits, proposals, what is measured, what is left of a network, and the command."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from conftest import Command, Forty
from hypothesis import given, settings
from hypothesis import strategies as st

from exmachina import Evaluation, Hunting, InputError, Limits, Model, Stopped, Worst, draw, evaluate, worst
from exmachina.engines import InThisThread
from exmachina.hunting import MEASURES, also_text, trained_also
from exmachina.hunting.judge import Judge, short_s
from exmachina.hunting.proposals import proposals
from exmachina.hunting.reduction import reduced
from exmachina.hunting.space import Space, value_at
from exmachina.networks import Span, trained
from exmachina.probing import AXES, Base

INTERNET = Limits.load("internet")
SMALL = Limits("rtt = [10, 80]\nrate = 10\nloss = [0, 2]\njitter = [0, 5]\nbeside = ['none', 'cubic']\n", "small.toml")
TINY = {"networks": 30, "draws": 1, "checks": 3, "threads": 1}


@pytest.fixture(scope="module")
def found() -> Worst:
    return worst("cubic", SMALL, rivals=["bbr3"], **TINY)  # type: ignore[arg-type]


def climbed(space: Space, networks: int, harm: Callable[[Base], float | None]) -> list[tuple[float | None, Base]]:
    """What a search tries where a function says how bad networks are."""
    points, tried = proposals(space, networks, 1), []
    asked = next(points)
    while True:
        batch = [space.network(point) for point in asked]
        harms = [harm(network) for network in batch]
        tried += list(zip(harms, batch, strict=True))
        try:
            asked = points.send(harms)
        except StopIteration:
            return tried


@pytest.mark.parametrize("name", ["internet", "long"])
def test_limits_that_come_with_the_program_are_those_of_networks(name: str) -> None:
    limits = Limits.load(name)
    assert len(limits.free) > 12
    assert limits.plain == replace(Base(), off_s=0.0 if name == "long" else Base().off_s)
    network = Space(limits).network((np.full(len(Space(limits).numbers), 0.999), (1,) * len(Space(limits).names)))
    for axis in limits.free:
        reach = limits.reaches[axis]
        assert AXES[axis].of(network) == (reach.high if isinstance(reach, Span) else reach[1])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rates = [1, 2]", "limits.toml: rates: there is no such axis; .*did you mean rate"),
        ("rate = [2, 1]", r"limits.toml: rate: expected \[least, largest\] or a number, got \[2, 1\]"),
        ("rate = ['a']", r"limits.toml: rate: expected \[least"),
        ("beside = [1]", r"""limits.toml: beside: expected \["one", "another"\], got \[1\]"""),
        ("beside = ['cubik']", "limits.toml: beside: expected newreno, .*did you mean cubic"),
        ("queue = ['codl']", "limits.toml: queue: expected droptail, .*did you mean codel"),
        ("duty = [0, 1]", "limits.toml: duty: expected more than 0, got 0"),
        ("rate = [0, 1]", "limits.toml: rate: expected more than 0, got 0"),
        ("rate = [1, 1e9]", "limits.toml: rate: expected a rate"),
        ("loss = [0, 200]", "limits.toml: loss: expected a probability"),
        ("room = -1", "limits.toml: room: expected packets, from 0 to 1000, got -1"),
        ("rate = [", "limits.toml: expected a TOML file"),
    ],
)
def test_limits_that_no_network_can_have_are_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Limits(text)


def test_limits_know_what_is_plain() -> None:
    assert (SMALL.plain.rate_mbps, SMALL.plain.rtt_ms, SMALL.plain.neighbour) == (10, 80, None)
    assert SMALL.without(["beside", "loss"]).free == ("rtt", "jitter")
    assert Limits("beside = ['cubic', 'bbr3']").plain.neighbour == "cubic"
    with pytest.raises(InputError, match=r"axes: expected some of rate, .*got nope"):
        SMALL.without(["nope"])


def test_what_a_table_was_designed_for_is_a_limit() -> None:
    limits = Limits.within(trained(Model.load("general-1-robust").text))
    assert limits.reaches["rate"] == Span(10, 20)
    assert limits.reaches["jitter"] == Span(0, 10)
    assert "buffer" not in limits.reaches, "it has no end"


def test_a_buffer_holds_so_many_packets_at_least() -> None:
    limits = Limits("rate = [1, 10]\nbuffer = [0.1, 1]\nroom = 10\n")
    tight = limits.with_room(Base(rate_mbps=1, rtt_ms=10, buffer_bdp=0.1))
    assert tight.buffer_bdp == 10
    assert limits.with_room(Base()) == Base()


@given(st.floats(0, 1), st.sampled_from([name for name in INTERNET.free if AXES[name].scale != "names"]))
@settings(max_examples=200, deadline=None)
def test_every_point_of_a_side_is_a_value_within_limits(share: float, name: str) -> None:
    axis, span = AXES[name], INTERNET.reaches[name]
    assert isinstance(span, Span)
    value = value_at(axis, span, share)
    assert span.low <= value <= span.high
    assert not axis.whole or value == round(value)
    assert (value_at(axis, span, 0.0), value_at(axis, span, 1.0)) == (span.low, span.high)


def test_a_search_climbs_where_chance_does_not_get() -> None:
    space = Space(INTERNET)

    def harm(network: Base) -> float:
        near = [abs(np.log(network.rate_mbps / 3)), abs(np.log(network.rtt_ms / 30)), abs(network.jitter_ms - 5) / 5]
        return -float(sum(near)) + (network.neighbour == "bbr3")

    tried = climbed(space, 600, harm)
    harms = np.array([one for one, _ in tried])
    by_chance = max(harm(space.network(point)) for point in space.scattered(600, 1))
    assert len(tried) <= 600
    assert harms.max() > by_chance + 0.3
    assert tried == climbed(space, 600, harm), "the same again"


def test_a_search_ends_where_nothing_can_be_measured_or_all_is_alike() -> None:
    assert len(climbed(Space(SMALL), 60, lambda _: None)) == 18
    assert len(climbed(Space(SMALL), 200, lambda _: 1.0)) <= 200


@given(st.lists(st.floats(0, 5), min_size=18, max_size=18), st.floats(0.1, 1), st.integers(0, 100))
@settings(max_examples=60, deadline=None)
def test_a_reduced_network_is_no_milder_than_was_asked(weights: list[float], keep: float, seed: int) -> None:
    space = Space(INTERNET)
    network = space.network(space.scattered(3, seed)[0])
    weight = dict(zip(INTERNET.free, weights, strict=True))

    def harm(one: Base) -> float:
        return sum(weight[name] for name in INTERNET.free if AXES[name].of(one) == AXES[name].of(network))

    whole = harm(network)
    left = reduced(network, whole, INTERNET, keep, harm)
    assert left.harm == harm(left.network) >= keep * whole - 1e-9
    for name in INTERNET.free:
        plain = AXES[name].of(left.network) == AXES[name].of(INTERNET.plain)
        assert plain == (name not in left.matters) or name == "buffer", name


def test_what_does_not_matter_is_set_back() -> None:
    network = Base(rate_mbps=10, rtt_ms=20, loss=0.01, jitter_ms=4, neighbour="cubic")
    left = reduced(network, 10.0, SMALL, 0.8, lambda one: 1000 * one.loss)
    assert left.matters == ("loss",)
    assert left.network == replace(SMALL.plain, loss=0.01)


def flows(*senders: tuple[int, float, float, int, int]) -> pl.DataFrame:
    """Of one run: sender, on_s, throughput_mbps, sent and retransmitted packets."""
    names = ("sender", "on_s", "throughput_mbps", "sent_packets", "retransmitted_packets")
    rows = pl.DataFrame(senders, schema=names, orient="row")
    return rows.with_columns(contender=pl.lit("x"), run=0, delivered_mbytes=pl.col("throughput_mbps") / 8)


def test_measures_are_of_the_senders_of_the_scheme() -> None:
    some = flows((0, 10, 6, 100, 10), (1, 10, 2, 100, 0), (2, 1, 0.1, 10, 0), (3, 10, 50, 1000, 500))
    starved = MEASURES["starvation"].values(some, 3, 1.0)
    assert starved["value"].to_list() == [pytest.approx(np.log(2))], "who was on for a moment is not starved"
    assert MEASURES["waste"].values(some, 3, 1.0)["value"].to_list() == [pytest.approx(10 / 210)]
    best = some.with_columns(contender=pl.lit("omniscient"), delivered_mbytes=pl.col("delivered_mbytes") * 2)
    idle = MEASURES["idle"].values(pl.concat([some, best]), 3, 1.0)
    assert dict(idle.select("scheme", "value").iter_rows()) == {"x": pytest.approx(0.5), "omniscient": 0}


def test_regret_is_how_far_the_best_of_the_others_is_ahead() -> None:
    regret = MEASURES["regret"]
    assert regret.harm({"a": -1.0, "b": -0.5, "c": -2.0}, "a") == 0.5
    assert regret.harm({"a": -1.0}, "a") is None
    assert regret.harm({"b": -1.0}, "a") is None
    assert MEASURES["queue"].harm({"a": 2.0, "b": 3.0}, "a") == 2


@pytest.mark.parametrize("name", list(MEASURES))
def test_every_measure_is_told_of_everyone_on_a_network(name: str) -> None:
    measure = MEASURES[name]
    network = Base(rate_mbps=5, rtt_ms=20, loss=0.01, off_s=0.0)
    judge = Judge("cubic", ["bbr3"], measure, 1.0, InThisThread())
    frame = judge.told(network, 2, 7)
    assert frame["scheme"].to_list() == ["cubic", "bbr3", *(["omniscient"] if name == "idle" else [])]
    assert frame["harm"][0] == pytest.approx(judge.harm(network, 2, 7))
    assert "cubic" in measure.words(frame["harm"][0], "cubic")


def test_runs_of_a_search_are_short() -> None:
    regret, starvation = MEASURES["regret"], MEASURES["starvation"]
    assert short_s(Base(), regret) == 12
    assert short_s(replace(Base(), rate_mbps=50), regret) == 8
    assert short_s(replace(Base(), rate_mbps=50, rtt_spread=5), regret) == 20
    assert short_s(Base(), starvation) == 2.5 * short_s(Base(), regret)


def test_the_scenario_has_the_runs_that_the_harm_was_measured_on(found: Worst) -> None:
    results = evaluate(found.scenario, threads=1)
    assert (results.runs["run"].n_unique(), results.flows["contender"].unique(maintain_order=True).to_list()) == (
        3,
        ["cubic", "bbr3"],
    )
    means = found.measure.values(results.flows, found.network.senders, found.delta).group_by("scheme")
    means_of = dict(means.agg(pl.col("value").mean()).iter_rows())
    assert found.measure.harm(means_of, "cubic") == pytest.approx(found.harm)
    assert f"{found.harm:.3g}" in found.scenario
    assert "# Found by exmachina worst cubic --limits small.toml --rivals bbr3 --networks 30" in found.scenario


def test_the_reference_may_be_the_rival(tmp_path: Path) -> None:
    few = {**TINY, "networks": 16}
    found = worst("cubic", SMALL, rivals=["omniscient"], output=tmp_path, **few)  # type: ignore[arg-type]
    assert found.frame["scheme"].to_list() == ["cubic", "omniscient"]
    assert found.harm == pytest.approx(found.frame["score"][1] - found.frame["score"][0])
    assert "--rivals omniscient" in found.command
    assert Evaluation.load(tmp_path / "worst.toml").contenders == ["cubic", "omniscient"]


def test_the_worst_is_reduced_and_confirmed(found: Worst) -> None:
    assert set(found.matters) <= set(SMALL.free)
    assert found.harm is not None and found.harm > 0.1
    assert Evaluation(found.scenario_found).runs == 3
    assert len(found.trials) <= 30
    assert found.trials.columns == ["batch", "harm", *SMALL.reaches]


def test_the_same_call_finds_the_same_at_any_number_of_threads(found: Worst) -> None:
    again = worst("cubic", SMALL, rivals=["bbr3"], **{**TINY, "threads": 2})  # type: ignore[arg-type]
    assert again.scenario == found.scenario
    assert again.trials.equals(found.trials)
    other = worst("cubic", SMALL, rivals=["bbr3"], seed=2, **TINY)  # type: ignore[arg-type]
    assert not other.trials.equals(found.trials)


def test_a_search_that_was_stopped_goes_on_where_it_was(found: Worst, tmp_path: Path) -> None:
    def interrupt(now: Hunting) -> None:
        if now.done >= 10:
            raise KeyboardInterrupt

    arguments = {"rivals": ["bbr3"], "output": tmp_path, **TINY}
    with pytest.raises(Stopped, match=r"the worst so far is in .*worst.toml. To go on: the same command"):
        worst("cubic", SMALL, on_progress=interrupt, **arguments)  # type: ignore[arg-type]
    assert "neither reduced, nor confirmed" in (tmp_path / "worst.toml").read_text()
    assert Evaluation.load(tmp_path / "worst.toml").contenders == ["cubic", "bbr3"]
    kept = len(pl.read_parquet(tmp_path / "trials.parquet"))
    assert 10 <= kept < len(found.trials)
    told: list[Hunting] = []
    again = worst("cubic", SMALL, on_progress=told.append, **arguments)  # type: ignore[arg-type]
    assert again.scenario == found.scenario
    assert again.trials.equals(found.trials)
    assert told[-1].doing == "done"


def test_a_class_of_ones_own_has_a_worst_network(tmp_path: Path) -> None:
    found = worst(Forty, SMALL, rivals=["cubic"], output=tmp_path, **TINY)  # type: ignore[arg-type]
    assert (found.scheme, found.schemes) == ("Forty", ("cubic",))
    assert found.harm is not None


@pytest.mark.slow
def test_a_worst_network_is_saved_and_drawn(found: Worst, tmp_path: Path) -> None:
    saved = [path.name for path in found.save(tmp_path)]
    drawn = [path.name for path in draw(found, tmp_path)]
    assert saved == ["worst.toml", "found.toml", "trials.parquet", "summary.csv", "also.toml"]
    assert drawn == ["worst.html", "worst.png", "worst.svg", "trace.png"]
    page = (tmp_path / "worst.html").read_text()
    assert all(words in page for words in ("The worst network for cubic", "What of it matters", "To run it"))


def test_networks_are_said_to_models_that_can_say_them() -> None:
    network = Base(rate_mbps=5, rtt_ms=30, jitter_ms=3, loss=0.01, ack_packets=8, rtt_spread=2, neighbour="bbr3")
    model = trained_also("general-1", [network, Base()])
    ranges = trained(model.text)
    assert (ranges.rate_mbps, ranges.jitter_ms, ranges.loss) == (Span(5, 20), Span(0, 3), Span(0, 0.01))
    assert ranges.neighbours == ("bbr3",)
    assert model.text.count("[[also]]") == 2
    assert "weight" not in model.text
    assert trained_also("general-1", [network, Base()], weight=0.1).text.count("weight = 0.1\n") == 2
    for odd, message in (({"queue": "pie"}, "queue"), ({"stall_ms": 20}, "stalls"), ({"neighbour": "copa"}, "beside")):
        with pytest.raises(InputError, match=f"also: {message}: expected"):
            also_text(replace(network, **odd))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"measure": "regert"}, "measure: expected one of regret, starvation, queue, waste, idle, got regert"),
        ({"networks": 0}, "networks: expected from 1 to 1000000, got 0"),
        ({"checks": 1}, "checks: expected from 2 to 10000, got 1"),
        ({"keep": 0}, "keep: expected more than 0 and at most 1, got 0"),
        ({"delta": -1}, "delta: expected a number of at least 0, got -1"),
        ({"rivals": ["cubic"]}, "rivals: expected at least one other scheme, for regret"),
        ({"limits": "nope"}, "nope: there is no such limits; .*internet"),
        ({"limits": "designed"}, "limits: cubic does not say what it was designed for"),
        ({"limits": Limits("rate = 5")}, "limits: limits.toml: expected an axis with more than one value"),
        ({"without": ["x"]}, "axes: expected some of rate, "),
        ({"scheme": "cubik"}, "schemes: expected newreno, .*did you mean cubic"),
    ],
)
def test_mistakes_are_named(change: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        worst(**{"scheme": "cubic", "networks": 2, **change})  # type: ignore[arg-type]


def test_worst_on_the_command_line(exmachina: Command, tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL.text)
    arguments = ["worst", "cubic", "--limits", "small.toml", "--rivals", "bbr3", "--without", "beside"]
    done = exmachina(*arguments, "--networks", "12", "--draws", "1", "--checks", "2")
    assert (done.returncode, done.stderr) == (0, "")
    names = ["worst.toml", "found.toml", "trials.parquet", "summary.csv", "also.toml"]
    names += ["worst.html", "worst.png", "worst.svg", "trace.png"]
    assert done.stdout.splitlines()[-1] == "written: " + ", ".join(f"cubic-worst/{name}" for name in names)
    assert "What matters: " in done.stdout
    run = exmachina("evaluate", "cubic-worst/worst.toml")
    assert run.returncode == 0
    assert "2 runs of" in run.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["worst", "cubic", "--measure", "x"], "measure: expected one of regret, "),
        (["worst", "no.dna"], "no.dna: cannot read it: no such file or directory"),
        (["worst", "cubic", "--limits", "no.toml"], "no.toml: cannot read it: no such file or directory"),
    ],
)
def test_mistakes_on_the_command_line(exmachina: Command, arguments: list[str], message: str) -> None:
    done = exmachina(*arguments)
    assert done.returncode == 2
    assert message in done.stderr


def test_a_scheme_that_there_is_not_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nosuch"):
        worst("nosuch", output=tmp_path / "out")
    assert not (tmp_path / "out").exists()
