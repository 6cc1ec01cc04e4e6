"""States that hold themselves."""

import tomllib
from pathlib import Path

import pytest
from conftest import Command

from exmachina import Table, algorithms, dumbbell, score
from exmachina.inspection.equilibria import _rests, equilibria

NETWORK = dumbbell(rate_mbps=10, rtt_ms=99, senders=1, on_s=1e6, off_s=1)
"""A packet each ms, and an RTT of 100 ms."""


def of(multiple: float, increment: int, intersend_ms: float) -> list[tuple[str, float, float]]:
    table = Table.single(["ack_ewma", "rtt_ratio"], multiple, increment, intersend_ms, "x")
    found = equilibria(table, NETWORK.held_out(1, 1))
    assert found["networks"].to_list() == [1.0] * len(found)
    return [(kind, round(lo, 4), round(hi, 4)) for kind, lo, hi in found["kind", "share_from", "share_to"].iter_rows()]


def test_one_rule_holds_what_it_does() -> None:
    assert of(1.0, 1, 4.0) == [("pace", 0.25, 0.25)], "a window without end, and a quarter of the link's pace"
    assert of(0.0, 20, 1.0) == [("window", 0.2, 0.2)]
    assert of(0.9, 5, 0.5) == [("window", 0.41, 0.5)], "from below it rests at 41, as windows are whole"
    assert of(0.0, 1, 0.5) == [("lone packet", 0.0071, 0.0071), ("window", 0.01, 0.01)]
    assert of(1.0, 1, 0.5) == [], "faster than the link: there is a queue"
    assert of(0.99, 0, 0.5) == of(1.0, -1, 0.5) == [("mute", 0.0, 0.0)], "a window of one packet becomes none"


def test_of_what_comes_with_the_program_nothing_mutes() -> None:
    actions = [(one.name, rule.action) for one in algorithms() for rule in one.table.rules]
    assert [(name, does) for name, does in actions if does.multiple + does.increment_packets < 1] == []


def test_a_state_that_holds_itself_is_what_runs_end_in() -> None:
    for multiple, increment, intersend_ms, share in [(1.0, 1, 4.0, 0.25), (0.0, 20, 1.0, 0.2)]:
        table = Table.single(["ack_ewma", "rtt_ratio"], multiple, increment, intersend_ms, "x")
        got = score(table, NETWORK, specimens=1, seconds_each=100).summary
        assert got["normalised_throughput"][0] == pytest.approx(share, rel=0.02)


def test_nothing_that_comes_with_the_program_is_split_at_the_spacing_of_its_link() -> None:
    """Where a link has one rate, ACKs come at its pace, or at a part of it: a clock's last bit would decide."""
    near = dict[str, list[float]]()
    for one in algorithms():
        model = tomllib.loads(one.model.text)
        rates = [link["rate_mbps"] for link in model.get("links", [model.get("link")])]
        spacings = [1250 * 8e-3 / rate for rate in rates if isinstance(rate, int | float)]
        places = {at for signal, at in one.table.edges if signal.endswith("ewma")}
        stands = [at for at in places for ms in spacings for k in range(1, 17) if abs(at / (k * ms) - 1) < 0.0005]
        near |= {one.name: stands} if stands else {}
    assert near == {}


@pytest.mark.slow
@pytest.mark.parametrize("multiple", [0.0, 0.3, 0.5, 0.97, 0.9999, 1.0, 1.2])
@pytest.mark.parametrize("increment", [-3, -1, 0, 1, 2, 7, 256])
def test_windows_rest_where_they_are_brought(multiple: float, increment: int) -> None:
    def brought(window: int) -> int:
        for _ in range(3_000_000):
            after = max(0, min(1_000_000, int(multiple * window + increment)))
            if after == window:
                break
            window = after
        return window

    assert _rests(multiple, increment) == (brought(1_000_000), brought(1))


def test_inspect_names_them(exmachina: Command, tmp_path: Path) -> None:
    one = Table.single(["ack_ewma", "rtt_ratio"], 1.0, 1, 4.0, "x")
    one.save(tmp_path / "x.dna")
    settings = ["--rate-mbps", "10", "--rtt-ms", "99", "--specimens", "2", "--seconds", "5"]
    done = exmachina("inspect", "x.dna", *settings, "--output", "x.png")
    assert done.returncode == 0, done.stderr
    told = "rule 0 can hold a lone flow at 25 % of the link for ever: ACKs come at the pace that it sets"
    assert told in done.stdout
