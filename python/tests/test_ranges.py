"""From where to where networks go, as models, scenarios and tables say; and what is said of networks outside."""

from math import inf
from pathlib import Path

import pytest
from conftest import SMALL, Command, network, published

from exmachina import Evaluation, Model, Table, design, dumbbell, evaluate, inspect, score
from exmachina.networks import Ranges, Span, outside, stated, trained
from exmachina.schemes import designed_range


def test_all_forms_of_a_quantity_have_their_ends() -> None:
    forms = ["{ uniform = [10, 20] }", "{ log_uniform = [10, 20] }", "{ list = [15, 10, 20] }"]
    forms += ["{ grid = [10, 20], points = 50 }", "{ log_grid = [10, 20], points = 50 }"]
    for form in forms:
        text = SMALL.replace("rate_mbps = 10", f"rate_mbps = {form}")
        assert stated(Model(text).text).rate_mbps == Span(10, 20), form


def test_what_a_model_does_not_say_is_its_default() -> None:
    found = stated(SMALL)
    assert (found.jitter_ms, found.loss, found.ack_packets) == (Span(0, 0), Span(0, 0), Span(1, 1))
    assert (found.buffer_bdp, found.duty, found.neighbours) == (Span(inf, inf), Span(0.5, 0.5), ())


def test_rtts_follow_from_groups_routes_and_lists() -> None:
    of = [stated(network(path={"rtt_ms": None, "rtt_ms_each": [50, 100]}, senders={"count": None})).rtt_ms]
    of += [stated(network(senders=[{"count": 1, "rtt_ms": 7}, {"count": 2}])).rtt_ms]
    of += [stated(Evaluation.load("parking-lot").text).rtt_ms]
    assert of == [Span(50, 100), Span(7, 40), Span(150, 300)]


def test_senders_are_those_of_all_groups() -> None:
    groups = [{"count": {"list": [0, 1, 2]}}, {"count": 3, "scheme": "cubic"}]
    found = stated(network(senders=groups))
    assert (found.senders, found.neighbours) == (Span(3, 5), ("cubic",))


def test_room_in_packets_is_room_in_bdp() -> None:
    assert stated(network(link={"buffer": {"packets": 80}})).buffer_bdp == Span(2, 2)
    assert stated(network(link={"buffer": {"bytes": 100_000}})).buffer_bdp == Span(2, 2)
    assert stated(network(link={"rate_mbps": None, "trace": "x", "buffer": {"packets": 80}})).buffer_bdp is None


def test_receivers_of_presets_answer_one_packet_or_two() -> None:
    presets = {"today": Span(2, 2), "tao14": Span(1, 1), "remy13": Span(1, 1)}
    assert {name: stated(network(transport={"preset": name})).ack_packets for name in presets} == presets
    assert stated(network(transport={"ack_packets": 8})).ack_packets == Span(8, 8)
    assert stated(network(transport={"delayed_ack_ms": 0})).ack_packets == Span(1, 1)


def test_the_world_widens_what_was_trained_with_alone() -> None:
    world = {"jitter_ms": {"log_uniform": [0.1, 10]}, "loss": 0.01, "rtt_spread": 4, "on_times": {"list": [1, 10]}}
    world |= {"ack_packets": {"list": [1, 2]}, "buffer_bdp": {"list": [0, 1, 5]}, "bbr": {"list": [0, 1]}}
    text = Model(network(design={"world": world})).text
    assert stated(text).jitter_ms == Span(0, 0)
    found = trained(text)
    assert (found.jitter_ms, found.loss, found.rtt_ms) == (Span(0, 10), Span(0, 0.01), Span(20, 80))
    assert (found.ack_packets, found.buffer_bdp, found.on_s) == (Span(1, 2), Span(1, inf), Span(1, 10))
    assert found.neighbours == ("bbr3",)


def test_other_networks_to_train_with_count() -> None:
    also = [{"link": {"rate_mbps": {"uniform": [100, 200]}}}, {"path": {"rtt_ms": 4}, "world": {"loss": 0.1}}]
    found = trained(Model(network(link={"rate_mbps": {"uniform": [10, 11]}}, also=also)).text)
    assert (found.rate_mbps, found.rtt_ms, found.loss) == (Span(10, 200), Span(4, 40), Span(0, 0.1))


def test_the_middle_of_a_range() -> None:
    middles = [Span(1, 100).middle, Span(0, 10).middle, Span(3, 3).middle, Span(2, inf).middle]
    assert middles == [10, 5, 3, 2]


def test_tables_of_the_authors_say_something_or_nothing() -> None:
    assert designed_range(Table.load(published("RemyCC-2013-delta1"))) is None
    found = designed_range(Table.load(published("tao-10x")))
    assert found is not None
    assert (found.rate_mbps, found.loss) == (Span(10, 100), None)


def test_what_is_outside_is_named_with_both_ranges() -> None:
    designed = Ranges(rate_mbps=Span(10, 20), rtt_ms=Span(100, 200), loss=Span(0, 0), senders=Span(1, 16))
    there = Ranges(rate_mbps=Span(100, 100), rtt_ms=Span(150, 150), loss=Span(0, 0.01), senders=Span(1, 16))
    assert outside("mine", designed, there) == (
        "mine was designed for links of 10-20 Mbit/s and 0 % of random loss; "
        "the network here has a link of 100 Mbit/s and 0-1 % of random loss"
    )
    assert outside("mine", designed, designed) is None
    assert outside("mine", None, there) is None
    assert outside("mine", Ranges(), there) is None


FAR = network(link={"rate_mbps": 100}, path={"rtt_ms": 150})


def test_an_evaluation_warns_of_tables_alone() -> None:
    (warning,) = evaluate(FAR, ["general-1", "cubic"], runs=1, duration_s=2).outside
    assert warning == "general-1 was designed for links of 10-20 Mbit/s; the network here has a link of 100 Mbit/s"
    named = evaluate("schemes = ['general-1/codel', 'cubic']\n" + FAR, runs=1, duration_s=2)
    assert [line.partition(" was")[0] for line in named.warnings] == ["general-1/codel"]


def test_nothing_is_said_of_tables_whose_file_says_nothing(one_rule: Table) -> None:
    assert one_rule.provenance is None
    assert evaluate(FAR, [one_rule], runs=1, duration_s=2).outside == ()
    assert score(one_rule, Model(FAR), specimens=2, seconds_each=1).warnings == ()
    assert inspect(one_rule, Model(FAR), specimens=2, seconds=2).warnings == ()


def test_scores_and_inspections_warn(model: Model) -> None:
    table = design(model, rounds=1, threads=1).table
    assert score(table, model, specimens=2, seconds_each=1).warnings == ()
    (warning,) = score([table, "cubic"], Model(FAR), specimens=2, seconds_each=1).warnings
    assert "was designed for links of 10 Mbit/s and RTTs of 40 ms; the network here has" in warning
    assert inspect(table, specimens=2, seconds=2).warnings == ()
    (warning,) = inspect(table, network=dumbbell(rate_mbps=10, rtt_ms=40, senders=9), specimens=2, seconds=2).warnings
    assert warning.endswith("was designed for 1-2 senders; the network here has 9 senders")


@pytest.mark.parametrize("name", ["evaluate", "score", "inspect"])
def test_commands_print_one_line(exmachina: Command, tmp_path: Path, name: str) -> None:
    (tmp_path / "far.toml").write_text(FAR)
    arguments = {
        "evaluate": ["far.toml", "--schemes", "general-1", "--runs", "1", "--duration", "1"],
        "score": ["general-1", "--model", "far.toml", "--specimens", "2", "--seconds-each", "1"],
        "inspect": ["general-1", "--model", "far.toml", "--specimens", "2", "--seconds", "2", "-o", "x.png"],
    }
    done = exmachina(name, *arguments[name])
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("general-1 was designed for links of 10-20 Mbit/s; the network here has") == 1
