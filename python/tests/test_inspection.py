"""Explaining tables."""

import signal
import threading
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from conftest import published
from laws import drawn
from rich.console import Console

from exmachina import SIGNALS, InputError, Model, Table, _core, dumbbell, inspect, record
from exmachina.command.terminal import show_rules
from exmachina.frames import frame_of
from exmachina.interrupts import interruptible
from exmachina.pictures import draw
from exmachina.pictures.axes import log_ticks
from exmachina.pictures.inspection import inspection_chart, over_time, slices
from exmachina.pictures.render import render, spec_of
from exmachina.pictures.slices import slice_chart, slice_of
from exmachina.pictures.timeline import timeline_of
from exmachina.schemes import action_words, box_words, digits, law_levels, law_words, percent, rules_at, signed


def test_boxes_and_the_simulator_agree_on_the_rule(designed: Table) -> None:
    acks = record(designed, dumbbell(rate_mbps=8, rtt_ms=40, senders=3, on_s=1, off_s=1), seconds=30).filter(
        pl.col("rule").is_not_null()
    )
    assert acks["rule"].n_unique() > 1
    np.testing.assert_array_equal(rules_at(designed, acks.select(SIGNALS).to_numpy()), acks["rule"].to_numpy())


def test_a_published_table_is_looked_up_alike() -> None:
    table = Table.load(published("RemyCC-2013-delta1"))
    acks = record(table, dumbbell(senders=3), seconds=20).filter(pl.col("rule").is_not_null())
    assert acks["rule"].n_unique() > 10
    np.testing.assert_array_equal(rules_at(table, acks.select(SIGNALS).to_numpy()), acks["rule"].to_numpy())


def test_a_record_has_what_each_event_has(one_rule: Table) -> None:
    frame = record(one_rule, dumbbell(rate_mbps=10, rtt_ms=40), seconds=20)
    assert frame["time_s"].is_sorted()
    events = dict(frame.group_by("event").len().iter_rows())
    assert events["start"] - events["stop"] in {0, 1, 2}
    acks = frame.filter(pl.col("event") == "ack")
    assert acks["rtt_ms"].min() >= 40 + 1  # type: ignore[operator]  # one packet takes 1 ms
    assert frame.filter(pl.col("event") != "ack")["rtt_ms"].null_count() == len(frame) - len(acks)
    assert frame.filter(pl.col("event") == "send")["seq"].null_count() == 0


def test_uses_add_up(designed: Table, model: Model) -> None:
    found = inspect(designed, model, specimens=10, seconds=5)
    assert found.usage["share"].sum() == pytest.approx(1)
    assert found.usage["uses"].is_sorted(descending=True)
    assert sorted(found.usage["rule"]) == list(range(len(designed)))
    for rule in found.usage.filter(pl.col("uses") > 0).iter_rows(named=True):
        for name in designed.signals:
            assert rule[f"{name}_from"] <= rule[f"median_{name}"] < rule[f"{name}_to"]


def test_the_slice_shows_what_the_rules_do(designed: Table, model: Model) -> None:
    seen = inspect(designed, model, specimens=10, seconds=5)
    view = slice_of(seen.table, seen.sample)
    action = designed.rules[view.rule[3, 5]].action
    window = int(action.multiple * view.window + action.increment_packets)
    assert view.window_change[3, 5] == max(0, window) - view.window
    assert view.intersend_ms[3, 5] == action.intersend_ms
    assert {view.x.signal, view.y.signal, *view.at} == set(designed.signals)
    for axis in (view.x, view.y):
        assert np.all(np.diff(axis.drawn) > 0)
        assert np.all(np.diff(axis.memory) >= 0)


@pytest.mark.slow
def test_a_table_of_one_rule_and_one_signal_can_be_shown(tmp_path: Path, model: Model) -> None:
    found = inspect(Table.single(["rtt_ratio"], 1, 1, 2, "r"), model, specimens=2, seconds=3)
    draw(found, tmp_path / "r.png")
    draw(found, tmp_path / "r.html")
    assert np.ptp(slice_of(found.table, found.sample).window_change) == 0


def test_lines_over_time(designed: Table) -> None:
    frame = record(designed, dumbbell(rate_mbps=10, rtt_ms=40, on_s=2, off_s=1), seconds=30)
    lines = timeline_of(frame)
    time_s, mbps = lines.rates[0]
    sent = len(frame.filter((pl.col("sender") == 0) & (pl.col("event") == "send")))
    assert np.sum(mbps) * (time_s[1] - time_s[0]) == pytest.approx(sent * 0.01)
    assert max(lines.queue[1]) == frame["queue_packets"].max()
    assert len(lines.queue[0]) <= 901
    # Every on-period ends with a gap.
    stops = len(frame.filter((pl.col("sender") == 0) & (pl.col("event") == "stop")))
    assert np.isnan(lines.windows[0][1]).sum() == stops


def test_a_page_holds_all_it_needs(tmp_path: Path, designed: Table) -> None:
    evil = Table(designed.dna, "<script>alert(1)</script>.dna")
    found = inspect(evil, specimens=2, seconds=3)
    draw(found, tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text()
    assert "<script>alert" not in page
    assert " src=" not in page.split("</script>")[-1]
    assert "<link" not in page
    assert page.count('class="live"') == page.count('class="spec"') == 3
    assert page.count("window.vegaEmbed=") == 1
    assert "What an ACK does to the window" in page


def boxes_of(spec: dict[str, Any]) -> list[dict[str, float]]:
    """The rows of the data of a chart's first layer."""
    rows: list[dict[str, float]] = spec["datasets"][spec["layer"][0]["data"]["name"]]
    return rows


def test_a_slice_is_drawn_as_the_boxes_of_its_rules(designed: Table, model: Model) -> None:
    seen = inspect(designed, model, specimens=10, seconds=5)
    view = slice_of(seen.table, seen.sample)
    spec = spec_of(slice_chart(view, view.window_change, diverging=True, unit="packets"))
    boxes = boxes_of(spec)
    assert {box["rule"] for box in boxes} == set(np.unique(view.rule).tolist())
    for row, column in [(3, 5), (80, 80), (150, 20)]:
        x, y = view.x.drawn[column], view.y.drawn[row]
        (box,) = [box for box in boxes if box["x"] <= x <= box["x2"] and box["y"] <= y <= box["y2"]]
        assert (box["rule"], box["value"]) == (view.rule[row, column], view.window_change[row, column])
    colour = spec["layer"][0]["encoding"]["color"]["scale"]
    assert colour["domain"][0] == -colour["domain"][1], "no change is in the middle of the colours"
    for channel, axis in (("x", view.x), ("y", view.y)):
        scale = spec["layer"][0]["encoding"][channel]["scale"]
        assert scale["domain"] == [axis.drawn[0], axis.drawn[-1]]
        assert (scale.get("type") == "log") == axis.log


def test_paper_and_page_show_the_same_run(designed: Table, model: Model) -> None:
    seen = inspect(designed, model, specimens=2, seconds=3)
    page, paper = spec_of(over_time(seen)), spec_of(inspection_chart(seen))
    assert [panel["encoding"]["y"]["title"] for panel in page["vconcat"]] == [
        "window (packets)",
        "sending (Mbit/s)",
        "queue (packets)",
    ]
    end_s = timeline_of(seen.record).end_s
    assert all(panel["encoding"]["x"]["scale"]["domain"] == [0, end_s] for panel in page["vconcat"])
    assert paper["vconcat"][1]["vconcat"] == page["vconcat"]
    (moved,) = page["params"]
    assert (moved["views"], moved["bind"]) == ([panel["name"] for panel in page["vconcat"]], "scales")
    charts = [spec_of(chart) for chart in slices(slice_of(seen.table, seen.sample)).values()]
    drawn = paper["vconcat"][0]["hconcat"][1:]
    assert [panel["layer"] for panel in drawn] == [chart["layer"] for chart in charts]
    svg = render(paper, ".svg").decode()
    assert all(words in svg for words in ("window (packets)", "share of all uses (%)", view_words(charts[0])))


def view_words(chart: dict[str, Any]) -> str:
    """What is across in a chart of a slice."""
    return str(chart["layer"][0]["encoding"]["x"]["title"])


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["png", "html"])
def test_pictures_and_pages_repeat(tmp_path: Path, designed: Table, model: Model, kind: str) -> None:
    one, two = tmp_path / f"one.{kind}", tmp_path / f"two.{kind}"
    for path in (one, two):
        draw(inspect(designed, model, specimens=2, seconds=3), path)
    assert one.read_bytes() == two.read_bytes()


def test_ctrl_c_is_heard_while_the_core_computes() -> None:
    never = threading.Event()
    threading.Timer(0.3, signal.raise_signal, [signal.SIGINT]).start()
    with pytest.raises(KeyboardInterrupt):
        interruptible(lambda _: never.wait())
    never.set()
    with pytest.raises(ZeroDivisionError):
        interruptible(lambda _: 1 / 0)


@pytest.mark.slow
def test_a_run_of_hours_ends_with_ctrl_c() -> None:
    hours = dumbbell(rate_mbps=1000, senders=8, on_s=1e9, off_s=1e-6)
    table = Table.single(["rtt_ratio"], 1.0, 1, 0.001, "fast")
    ended: list[float] = []
    let_go = threading.Event()

    def compute(stop: _core.Stop) -> None:
        workers = _core.Workers(1)
        columns = _core.evaluate(table, hours.held_out(1, 1), 35_000.0, workers, stop)
        ended.append(float(frame_of(columns)["on_s"].max()))  # type: ignore[arg-type]
        let_go.set()

    threading.Timer(0.5, signal.raise_signal, [signal.SIGINT]).start()
    with pytest.raises(KeyboardInterrupt):
        interruptible(compute)
    # Not by joining the thread: where ctrl-C came while Python 3.11 joined it, it is taken for ended.
    assert let_go.wait(60), "the core has let go"
    assert ended[0] < 30_000


def test_nobody_was_on(one_rule: Table) -> None:
    with pytest.raises(InputError, match=r"^inspect: nobody was on in 2 networks of network, 100 s each; expected "):
        inspect(one_rule, dumbbell(off_s=1e9), specimens=2)
    busy, quiet = dumbbell(), dumbbell(off_s=1e9)
    with pytest.raises(InputError, match=r"^inspect: nobody was on in the network of the time plot"):
        inspect(one_rule, busy, network=quiet, specimens=2, seconds=3)


def test_what_is_not_possible(tmp_path: Path, one_rule: Table) -> None:
    with pytest.raises(
        InputError,
        match=r"^rtt-ms: expected an RTT from 0\.001 ms \(the clock counts whole ns\) to 1000000 ms, got -1$",
    ):
        dumbbell(rtt_ms=-1)
    with pytest.raises(InputError, match=r"^buffer-bdp: expected bdp > 0, got 0$"):
        dumbbell(buffer_bdp=0)
    with pytest.raises(InputError, match=r"^senders: expected from 1 to 1000 senders, got 0$"):
        dumbbell(senders=0)
    with pytest.raises(InputError, match=r"^specimens: expected from 1 to 100000, got 0$"):
        inspect(one_rule, specimens=0)
    with pytest.raises(InputError, match=r"a.pdf: expected a name that ends in .html or .png$"):
        draw(inspect(one_rule, specimens=1, seconds=1), tmp_path / "a.pdf")


def test_rules_in_words() -> None:
    rule = {"multiple": 0.5, "increment_packets": -3, "intersend_ms": 1.25}
    assert action_words(rule) == "w → 0.5 w − 3, every ≥ 1.25 ms"
    assert action_words({**rule, "multiple": 1, "increment_packets": 0}) == "w → w, every ≥ 1.25 ms"
    assert action_words({**rule, "multiple": 0, "increment_packets": 7}) == "w → 7, every ≥ 1.25 ms"
    assert action_words({**rule, "multiple": 0, "increment_packets": 0}) == "w → 0, every ≥ 1.25 ms"
    box = {"rtt_ratio_from": 1.2, "rtt_ratio_to": 9.0, "ack_ewma_from": 0.0, "ack_ewma_to": 3.0}
    domain = {"ack_ewma": (0.0, 9.0), "rtt_ratio": (0.0, 9.0)}
    assert box_words(box, domain) == "ack_ewma < 3, rtt_ratio ≥ 1.2"
    assert box_words({**box, "rtt_ratio_to": 2}, {"rtt_ratio": (0.0, 9.0)}) == "1.2 ≤ rtt_ratio < 2"
    assert box_words({"ack_ewma_from": 0.0, "ack_ewma_to": 9.0}, {"ack_ewma": (0.0, 9.0)}) == "always"
    assert [signed(-0.5, 2), signed(0.5, 1, plus=True), signed(None)] == ["−0.50", "+0.5", "–"]


def test_numbers_and_shares_have_no_exponent() -> None:
    shares = [percent(share) for share in (0, 0.00123, 0.126, 0.994, 0.996, 1)]
    assert shares == ["0 %", "0.12 %", "13 %", "99 %", "100 %", "100 %"]
    numbers = [digits(number, 3) for number in (0.01234, 12.34, 999.4, 999.6, 1234.5, -310_000)]
    assert numbers == ["0.0123", "12.3", "999", "1000", "1234", "-310000"]


def test_ticks_are_round_and_few() -> None:
    assert log_ticks(0.3, 40) == [(0.5, "0.5"), (1, "1"), (2, "2"), (5, "5"), (10, "10"), (20, "20")]
    assert log_ticks(1e-3, 1e3)[0] == (0.001, "0.001")
    assert len(log_ticks(1e-3, 1e3)) == 7


def test_a_law_is_shown_by_its_levels_and_no_state_is_said_to_hold_itself() -> None:
    made = drawn(0)
    view = inspect(made, "known-1x", specimens=2, seconds=2)
    assert view.equilibria.is_empty()
    law = made.law
    assert law
    with StringIO() as out:
        show_rules(Console(file=out, width=200), view)
        assert f"{100 * law['growth'][0] / 65536:+.3g} %" in out.getvalue()
    assert list(law_levels(law)["queue"]) == [0, 0.5, 1, 2, 4]
    assert "no state without a queue holds itself" in law_words(law)[-1]


def test_the_words_of_a_law_say_what_its_first_packets_count_for() -> None:
    law = drawn(0).law
    assert law
    law |= {"first_train": 1 << 14, "first_train_ns": 2_000_000}
    assert (
        "; by how far apart its first ACKs are, as if they had come in 2 ms more, it has 0.25 of what the path holds"
        in (" ".join(law_words(law)))
    )
    law["first_train_ns"] = 0
    assert "; by how far apart its first ACKs are it has 0.25 of what" in " ".join(law_words(law))
    law["first_train"] = 0
    assert "first ACKs" not in " ".join(law_words(law))


def test_pages_and_pictures_of_a_law_show_it_and_no_rule(tmp_path: Path) -> None:
    found = inspect(drawn(0), "known-1x", specimens=2, seconds=2)
    draw(found, tmp_path / "law.html")
    page = (tmp_path / "law.html").read_text()
    assert "no state without a queue holds itself" in page
    assert "What it does, by the length of the queue" in page
    assert "What an ACK does to the window" not in page
    assert spec_of(inspection_chart(found))["title"]["text"] == ["law-0: a law"]
