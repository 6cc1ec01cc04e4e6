"""The core's evaluations: rows, records, files, and schemes that are Python classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from conftest import network

from exmachina import Scheme, _core

SETTINGS: dict[str, Any] = {
    "schemes": ["newreno", "cubic/sfqcodel"],
    "runs": 3,
    "duration_s": 10,
    "link": {"rate_mbps": 15, "buffer": {"packets": 100}},
    "path": {"rtt_ms": 100},
    "workload": {"on": {"seconds": 5}},
}
SCENARIO = network(**SETTINGS)


def evaluation(text: str = SCENARIO) -> _core.Evaluation:
    return _core.Evaluation(text, "x.toml")


def arrays(columns: list[_core.Column]) -> dict[str, np.ndarray]:
    return {column.name: np.frombuffer(column.data, column.dtype) for column in columns}


class Additive:
    """Adds a packet per RTT, halves on a loss."""

    def __init__(self) -> None:
        self.window = 2.0

    def on_ack(self, ack: _core.Ack) -> None:
        assert 100 <= ack.min_rtt_ms <= ack.rtt_ms < ack.now_ms
        if not ack.in_recovery:
            self.window += ack.acked / self.window

    def on_loss(self, loss: _core.Congestion) -> None:
        assert loss.lost > 0
        self.window = max(2.0, self.window / 2)


@dataclass
class Given:
    """A contender."""

    label: str
    scheme: object
    queue: str | None = None


class Wide:
    """Keeps a queue, whatever is dropped."""

    window = 200

    def on_ack(self, ack: _core.Ack) -> None: ...


def test_rows_are_the_same_on_any_number_of_threads() -> None:
    e = evaluation()
    assert (e.contenders, e.runs, e.duration_s, e.seed) == (["newreno", "cubic/sfqcodel"], 3, 10, 1)
    for contender in range(2):
        columns = e.run(contender, 0, 3, _core.Workers(1), _core.Stop())
        assert columns == e.run(contender, 0, 3, _core.Workers(2), _core.Stop())
        rows = arrays(columns)
        assert rows["run"].tolist() == [0, 0, 1, 1, 2, 2]
        assert rows["scheme"].tolist() == [contender] * 6
        on = rows["delivered_packets"] > 0
        assert on.any() and (rows["throughput_mbps"][on] <= 15).all() and (rows["queueing_delay_ms"][on] > 0).all()


def test_a_class_is_a_scheme() -> None:
    e = evaluation().with_schemes(
        [
            Given("Additive", Additive),
            Given("wide", Wide),
            Given("wide/codel", Wide, "codel"),
            Given("window:10", "window:10"),
        ]
    )
    assert e.contenders == ["Additive", "wide", "wide/codel", "window:10"]
    rows = arrays(e.run(0, 0, 3, _core.Workers(2), _core.Stop()))
    assert rows["delivered_packets"].sum() > 1000
    assert e.run(0, 0, 3, _core.Workers(1), _core.Stop()) == e.run(0, 0, 3, _core.Workers(2), _core.Stop())
    # The queue is the contender's, for classes too.
    wide, over_codel = (arrays(e.run(i, 0, 3, _core.Workers(1), _core.Stop())) for i in (1, 2))
    assert np.nanmean(over_codel["queueing_delay_ms"]) < np.nanmean(wide["queueing_delay_ms"])


def test_a_class_may_set_the_pace() -> None:
    class Paced:
        window = 1000
        intersend_ms = 2.0

        def on_ack(self, ack: _core.Ack) -> None:
            pass

    # 1250 bytes every 2 ms.
    rows = arrays(evaluation().with_schemes([Given("Paced", Paced)]).run(0, 0, 1, _core.Workers(1), _core.Stop()))
    assert rows["throughput_mbps"] == pytest.approx([5.0, 5.0], rel=0.1)


def with_link(**link: Any) -> str:
    return network(**{**SETTINGS, "link": {**SETTINGS["link"], **link}})


def test_a_class_may_have_its_packets_marked() -> None:
    class Halving(Scheme):
        losses = marks = seen = 0

        def __init__(self) -> None:
            self.window = 10.0

        def on_ack(self, ack: _core.Ack) -> None:
            type(self).seen += ack.marked
            if not ack.in_recovery:
                self.window += ack.newly_delivered / self.window

        def on_loss(self, loss: _core.Congestion) -> None:
            if loss.lost:
                type(self).losses += 1
            else:
                type(self).marks += 1
            self.window = max(2.0, self.window / 2)

    class Marked(Halving):
        losses = marks = seen = 0
        ecn = True

    e = evaluation(with_link(rate_mbps=2, queue={"codel": {"ecn": True}}))
    e = e.with_schemes([Given("Halving", Halving), Given("Marked", Marked)])
    for contender in range(2):
        e.run(contender, 0, 1, _core.Workers(1), _core.Stop())
    # The queue drops what it cannot mark; a mark counts as a loss where the class says nothing else.
    assert Halving.losses > 3 and (Halving.marks, Halving.seen) == (0, 0)
    assert Marked.marks > 3 and Marked.seen >= Marked.marks and Marked.losses == 0


def test_a_class_may_keep_its_window_in_recovery() -> None:
    class Wide40(Scheme):
        window = 40.0

    class Steadfast(Wide40):
        owns_recovery = True

    e = evaluation(with_link(loss=0.05)).with_schemes([Given("Wide40", Wide40), Given("Steadfast", Steadfast)])
    sums = [arrays(e.run(i, 0, 3, _core.Workers(1), _core.Stop()))["delivered_packets"].sum() for i in range(2)]
    assert sums[1] > 1.02 * sums[0]


def test_what_is_neither_true_nor_false_is_told() -> None:
    class Odd(Scheme):
        ecn = "yes"  # type: ignore[assignment]

    with pytest.raises(TypeError, match="ecn: expected True or False, got yes"):
        evaluation().with_schemes([Given("Odd", Odd)]).run(0, 0, 1, _core.Workers(1), _core.Stop())


def test_what_a_class_raises_is_raised_again() -> None:
    calls = 0

    class Failing(Additive):
        def on_ack(self, ack: _core.Ack) -> None:
            nonlocal calls
            calls += 1
            if ack.now_ms > 3000:
                raise LookupError("no luck")

    e = evaluation().with_schemes([Given("Failing", Failing)])
    with pytest.raises(LookupError, match="no luck"):
        e.run(0, 0, 3, _core.Workers(1), _core.Stop())
    first = calls
    with pytest.raises(LookupError, match="no luck"):
        e.record(0, 0, None, 10**6)
    # Nothing is called after the error.
    assert calls == 2 * first


@pytest.mark.parametrize(
    ("body", "error", "message"),
    [
        ("pass", AttributeError, "window"),
        ("window = 'wide'", TypeError, "str"),
        ("window = float('nan')", ValueError, "window: expected packets, got nan"),
        ("window = 1; intersend_ms = float('nan')", ValueError, "intersend_ms: expected a time in ms, got nan"),
        ("window = 1", AttributeError, "on_ack"),
    ],
)
def test_what_is_no_scheme_is_told(body: str, error: type[Exception], message: str) -> None:
    names: dict[str, object] = {}
    exec(f"class Odd:\n    {body}", names)
    odd = names["Odd"]
    assert isinstance(odd, type)
    with pytest.raises(error, match=message):
        evaluation().with_schemes([Given("Odd", odd)]).run(0, 0, 1, _core.Workers(1), _core.Stop())


def test_records_packet_by_packet() -> None:
    recorded = evaluation().record(0, 0, 5.0, 10**6)
    senders, hops = arrays(recorded.senders), arrays(recorded.hops)
    assert senders["time_s"].max() <= 5.0
    names = np.array(_core.SENDER_EVENTS)[senders["event"]]
    sent = (names == "send").sum()
    assert sent == (np.array(_core.HOP_EVENTS)[hops["event"]] == "enter").sum() > 100
    assert (senders["window"][names == "send"] > 0).all()
    short = arrays(evaluation().record(0, 0, None, 200).senders)
    assert 200 <= len(short["time_s"]) < 210


def test_files_are_loaded_by_name() -> None:
    files = network(**{**SETTINGS, "link": {"rate_mbps": None, "trace": "a.down", "buffer": {"packets": 100}}})
    e = evaluation(files).with_schemes([Given("x.dna", "x.dna")])
    assert e.files == ["x.dna", "a.down"]
    with pytest.raises(_core.InputError, match=r"the rule table x\.dna is not loaded"):
        e.run(0, 0, 1, _core.Workers(1), _core.Stop())
    e.load("x.dna", _core.Table.single_dna(["rtt_ratio"], 0.9, 5, 1.0))
    with pytest.raises(_core.InputError, match=r"a\.down:2: expected a time in ms"):
        e.load("a.down", b"1\ntwo\n")
    e.load("a.down", b"1\n2\n")
    assert e.files == []
    assert arrays(e.run(0, 0, 1, _core.Workers(1), _core.Stop()))["delivered_packets"].sum() > 0


def test_mistakes_name_their_place() -> None:
    with pytest.raises(_core.InputError) as told:
        evaluation(SCENARIO.replace("sfqcodel", "blue"))
    assert told.value.field == "schemes"
    assert str(told.value).startswith("x.toml:3: schemes: expected droptail, red")
    with pytest.raises(_core.InputError, match="expected names, tables or classes, got 3"):
        evaluation().with_schemes([Given("three", 3)])
    with pytest.raises(_core.InputError, match=r"expected droptail, red, .* got blue$"):
        evaluation().with_schemes([Given("wide/blue", Wide, "blue")])
