"""Our side of the comparisons with ns-3 (docs/validation.md, docs/ns3.md) still gives what stands beside theirs.

After a change that is meant to move these: `python validation/against_ns3.py`, and look at what it says.
"""

import csv
import math

import polars as pl
import pytest
from conftest import script

THROUGHPUT = 0.03
DELAY, DELAY_MS = 0.1, 1.0


SCRIPT = script("against_ns3")
script("digests")
script("published")
WORDS = script("in_ns3_page")
THERE = script("in_ns3")
KEPT = SCRIPT.read(SCRIPT.RESULTS)
CASES = SCRIPT.cases()


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(filter(None, SCRIPT.key(case))))
def test_our_side(case: object) -> None:
    """Throughput to 3 %, delay to 10 % or a millisecond."""
    row = KEPT[SCRIPT.key(case)]
    ours = SCRIPT.measure_ours(case)
    assert ours.mbps == pytest.approx(float(row["ours_mbps"]), rel=THROUGHPUT)
    assert ours.delay_ms == pytest.approx(float(row["ours_delay_ms"]), rel=DELAY, abs=DELAY_MS)


def test_every_case_was_compared_and_every_difference_is_noted() -> None:
    """The verdicts follow from the numbers, and the script says what is known of those not within the tolerance."""
    with SCRIPT.RESULTS.open() as file:
        assert sum(1 for _ in csv.DictReader(file)) == len(CASES)
    for case in CASES:
        row = KEPT[SCRIPT.key(case)]
        ours, theirs = (SCRIPT.Measured(float(row[f"{s}_mbps"]), float(row[f"{s}_delay_ms"])) for s in ("ours", "ns3"))
        assert row["right"] == ("yes" if SCRIPT.right(ours, theirs) else "no")
        assert row["right"] == "yes" or SCRIPT.note(case)


def test_the_page_of_what_they_got_there() -> None:
    rows = THERE.read()
    assert list(rows) == [case.line for case in THERE.cases()], "python validation/in_ns3.py measures what is missing"
    assert THERE.PAGE.read_text(encoding="utf-8") == WORDS.page(pl.DataFrame(list(rows.values())))


def test_networks_are_the_same_here() -> None:
    # A flow that does not end has all of a link that it does not share, and waits no longer than the buffer is.
    one = next(case for case in THERE.cases() if case.line == "one flow: 12 Mbit/s, 50 ms: newreno")
    assert one.network.packets == 100
    here = THERE.here(one)
    assert here["here_mbps"] == pytest.approx(12, rel=0.02)
    assert 10 < here["here_delay_ms"] < 100


def test_who_is_ahead() -> None:
    one = {"mbps": 2.0, "here_mbps": 1.0, "delay_ms": 10.0, "here_delay_ms": 50.0, "rtt_ms": 100.0}
    other = {"mbps": 1.0, "here_mbps": 1.0, "delay_ms": 10.0, "here_delay_ms": 0.0, "rtt_ms": 100.0}
    ahead = WORDS.ahead(one, other, 10.0)
    assert (ahead.there, ahead.here) == pytest.approx((math.log(2), -10 * math.log(1.5)))
    assert (WORDS.told(-0.021), WORDS.told(-0.019)) == ("**−0.021**", "−0.019")
