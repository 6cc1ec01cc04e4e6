"""Numbers that people wrote into docs/*.md are those of the results file beside them.

Pages and tables that a script writes are held to it by test_readme.py, test_ledger.py and test_internet.py; here is
what stands in sentences.
"""

import csv
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
RESULTS = DOCS / "results"


def rows(name: str) -> list[dict[str, str]]:
    with (RESULTS / name).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def said(page: str, pattern: str) -> list[float]:
    """The numbers of a sentence."""
    text = " ".join((DOCS / page).read_text(encoding="utf-8").split())
    found = re.search(pattern, text)
    assert found, f"{page}: expected {pattern}"
    return [float(group.replace("−", "-").replace(",", "")) for group in found.groups()]


Place = tuple[str, str, str]
"""Scheme, axis and label of a row of a passport."""
MIDDLE = {"general-1": ("rate", "14.1"), "internet-1": ("rate", "44.7"), "internet-shared-1": ("rate", "44.7")}


def of_passport(name: str, place: Place, column: str) -> float:
    (row,) = (row for row in rows(f"probe-{name}.csv") if (row["scheme"], row["axis"], row["label"]) == place)
    return float(row[column])


@pytest.mark.parametrize(
    ("name", "pattern", "column", "decimals"),
    [
        ("general-1", r"\((-[\d.]+) against (-[\d.]+) and (-[\d.]+) in its middle\)", "score", 2),
        ("general-1", r"RTTs of ([\d.]+) times the least, against [\d.]+ and", "delay", 2),
        ("general-1", r"times the least, against ([\d.]+) and ([\d.]+)\.", "delay", 1),
        ("internet-1", r"ahead of both: (-[\d.]+) against (-[\d.]+) and (-[\d.]+) in the middle", "score", 2),
        ("internet-1", r"in the middle, with an RTT of ([\d.]+) times the least", "delay", 1),
    ],
)
def test_passports_in_their_middle(name: str, pattern: str, column: str, decimals: int) -> None:
    told = said("probe.md", pattern)
    schemes = (name, "cubic", "bbr3") if len(told) != 2 else ("cubic", "bbr3")
    for number, scheme in zip(told, schemes, strict=False):
        assert number == round(of_passport(name, (scheme, *MIDDLE[name]), column), decimals)


@pytest.mark.parametrize(
    ("pattern", "axis", "label"),
    [
        (r"Jitter of 3 ms costs it ([\d.]+)", "jitter", "3"),
        (r"losses of 10 % ([\d.]+)", "loss", "10"),
        (r"64 packets an ACK ([\d.]+)", "acks", "64"),
        (r"jitter of 10 ms ([\d.]+)\.", "jitter", "10"),
    ],
)
def test_what_imperfections_cost_internet_1(pattern: str, axis: str, label: str) -> None:
    here, there = ("internet-1", *MIDDLE["internet-1"]), ("internet-1", axis, label)
    lost = of_passport("internet-1", here, "score") - of_passport("internet-1", there, "score")
    assert said("probe.md", pattern) == [round(lost, 2)]


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        (
            "internet-shared-1",
            r"its six have ([\d.]+) of an equal share each, beside NewReno ([\d.]+), beside BBRv3 ([\d.]+)",
        ),
        ("internet-1", r"where internet-1's have ([\d.]+), ([\d.]+) and ([\d.]+)\."),
        ("cubic", r"Six of Cubic's in their place have ([\d.]+), ([\d.]+) and ([\d.]+)\."),
    ],
)
def test_what_is_left_to_six_flows_beside_another(name: str, pattern: str) -> None:
    passport = "internet-1" if name == "internet-1" else "internet-shared-1"
    shares = [of_passport(passport, (name, "beside", other), "throughput") for other in ("cubic", "newreno", "bbr3")]
    assert said("probe.md", pattern) == [round(share, 2) for share in shares]


@pytest.mark.parametrize(
    ("pattern", "places"),
    [
        (r"([\d.]+) with eight flows, ([\d.]+) with sixteen", [("senders", "8"), ("senders", "16")]),
        (r"([\d.]+) at 16 Mbit/s, ([\d.]+) at an RTT of 2.4 ms", [("rate", "15.6"), ("rtt", "2.38")]),
        (r"([\d.]+) where the buffer is of 100 BDP", [("buffer", "100")]),
    ],
)
def test_what_sharing_costs(pattern: str, places: list[tuple[str, str]]) -> None:
    def lost(axis: str, label: str) -> float:
        own, shared = (of_passport(name, (name, axis, label), "score") for name in ("internet-1", "internet-shared-1"))
        return round(own - shared, 2)

    assert said("probe.md", pattern) == [lost(*place) for place in places]
    free = {"senders": "1 2 3 5", "rate": "116 299 773 2000", "rtt": "83.1 244 716 2100", "acks": "4 8 16"}
    assert {lost(axis, label) for axis, labels in free.items() for label in labels.split()} == {0}


def test_what_sharing_costs_in_the_middle() -> None:
    told = said("probe.md", r"it has (-[\d.]+) where internet-1 has (-[\d.]+), with an RTT of ([\d.]+) times the least")
    told += said("probe.md", r"times the least instead of ([\d.]+), and nearly as much")
    told += said("probe.md", r"the standard error of that mean is ([\d.]+), internet-1's ([\d.]+)\)")
    shared, own = (
        {column: of_passport(name, (name, *MIDDLE[name]), column) for column in ("score", "delay", "score_error")}
        for name in ("internet-shared-1", "internet-1")
    )
    scores = [round(of["score"], 2) for of in (shared, own)]
    delays = [round(of["delay"], 1) for of in (shared, own)]
    assert told == scores + delays + [round(shared["score_error"], 2), round(own["score_error"], 3)]


def test_passports_far_out() -> None:
    assert said("probe.md", r"It uses (\d+) % of a link of 446") == [
        round(100 * of_passport("general-1", ("general-1", "rate", "446"), "throughput"))
    ]
    (queue,) = said("probe.md", r"a queue of ([\d.]+) RTTs at 2\.5 Mbit/s")
    assert queue == round(of_passport("general-1", ("general-1", "rate", "2.51"), "delay") - 1, 1)
    (sixteen,) = said("probe.md", r"sixteen senders on 45 Mbit/s have an RTT of ([\d.]+) times")
    assert sixteen == round(of_passport("internet-1", ("internet-1", "senders", "16"), "delay"), 1)


def test_where_passports_say_that_a_table_is_ahead_of_both() -> None:
    """In every place of an axis, or from a value on: each as its paragraph says."""
    ahead: dict[str, dict[str, float]] = {
        "general-1": {"rtt": 0, "buffer": 0, "loss": 0, "on": 0},
        "internet-1": {"rtt": 0.69, "rate": 1.9, "buffer": 0, "on": 0, "jitter": 0, "acks": 0},
        "internet-shared-1": {"buffer": 0, "jitter": 0, "acks": 0, "rate": 5.4, "rtt": 0.69, "on": 0},
    }
    for name, axes in ahead.items():
        scores: dict[tuple[str, str], dict[str, float]] = {}
        for row in rows(f"probe-{name}.csv"):
            if row["axis"] in axes and float(row["value"]) >= axes[row["axis"]]:
                scores.setdefault((row["axis"], row["label"]), {})[row["scheme"]] = float(row["score"])
        assert scores
        for place, of in scores.items():
            assert of[name] == max(of.values()), (name, place)


def test_how_many_networks_a_passport_has() -> None:
    networks, runs = said("probe.md", r"(\d+) networks, (\d+) runs of each scheme on each")
    every = [row for row in rows("probe-general-1.csv") if row["scheme"] == "general-1"]
    distinct = {(row["score"], row["delay"], row["throughput"]) for row in every}
    assert len(distinct) <= networks <= len(every)
    assert {float(row["runs"]) for row in every} == {runs}


def test_the_curve_of_a_design() -> None:
    told = said("validation.md", r"(−[\d.]+) after (\d+) CPU-seconds, (−[\d.]+) after (\d+), (−[\d.]+) after (\d+)\.")
    points = [(float(row["cpu_s"]), float(row["score_per_specimen"])) for row in rows("general-1-curve.csv")]
    for score, cpu_s in zip(told[::2], told[1::2], strict=True):
        nearest = min(points, key=lambda point: abs(point[0] - cpu_s))
        assert nearest[0] == pytest.approx(cpu_s, abs=0.51)
        assert nearest[1] == pytest.approx(score, abs=5.1e-3)


def test_the_table_beside_ns3_is_what_was_measured() -> None:
    text = (DOCS / "validation.md").read_text(encoding="utf-8")
    measured = rows("ns3.csv")
    assert measured
    for row in measured:
        numbers = [row["ns3_mbps"], row["ours_mbps"], row["ns3_delay_ms"], row["ours_delay_ms"], row["right"]]
        told = r"\s+".join(re.escape(number) for number in numbers)
        assert re.search(rf"^{row['scheme']}\s.*\s{told}(\s|$)", text, re.MULTILINE), row


def test_what_xcp_is_told_on_a_recording() -> None:
    """validation.md says what the ledger says."""
    at = {row["id"]: float(row["ours"]) for row in rows("ledger.csv") if row["id"].endswith("-xcp")}
    told = said("validation.md", r"XCP has ([\d.]+) Mbit/s at ([\d.]+) ms in figure 7")
    assert told == [round(at["fig7-throughput-xcp"], 2), round(at["fig7-delay-xcp"], 1)]
