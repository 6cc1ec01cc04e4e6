"""Our side of the comparison with ns-3 (docs/validation.md) still gives what was written down beside ns-3's numbers.

After a change that is meant to move these: `python validation/against_ns3.py`, and look at what it says.
"""

import csv

import pytest
from conftest import script

THROUGHPUT = 0.03
DELAY, DELAY_MS = 0.1, 1.0


SCRIPT = script("against_ns3")
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
