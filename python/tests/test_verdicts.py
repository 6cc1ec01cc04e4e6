"""What becomes of a claim, by numbers made by hand on both sides of each boundary; and what shipped claims ask for."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from madeup import claim

import exmachina
from exmachina.reproduce.cast import ALGORITHMS, Cast
from exmachina.reproduce.claims import claims_of, why_missed
from exmachina.reproduce.experiment import Experiment, catalogue
from exmachina.reproduce.measuring import operands
from exmachina.reproduce.running import Ran
from exmachina.reproduce.verdicts import RULE, Verdict

REPRODUCED, BETTER, DIFFERS, FAILED, UNMEASURED = Verdict
HIGHER: dict[str, Any] = {"better": "higher", "above": 1.0}
LOWER: dict[str, Any] = {"better": "lower", "below": 8.0}


def ruling(paper: float, interval: tuple[float, float, float], reading: float, **more: Any) -> Verdict:
    """What becomes of a number; the interval is its low end, ours, and its high end."""
    low, ours, high = interval
    return claim("a", paper, ours, low=low, high=high, reading=reading, **more).verdict


@pytest.mark.parametrize(
    ("interval", "verdict"),
    [
        ((1.5, 2.0, 2.5), REPRODUCED),  # it is inside
        ((2.0, 2.5, 3.0), REPRODUCED),  # at the lower end
        ((1.0, 1.5, 2.0), REPRODUCED),  # at the upper end
        ((2.125, 2.5, 3.0), REPRODUCED),  # as far outside as it can be misread
        ((2.126, 2.5, 3.0), DIFFERS),
        ((1.0, 1.5, 1.875), REPRODUCED),
        ((1.0, 1.5, 1.874), DIFFERS),
    ],
)
def test_a_number_is_reproduced_within_the_interval_widened_by_the_reading(
    interval: tuple[float, float, float], verdict: Verdict
) -> None:
    assert ruling(2.0, interval, 0.125) is verdict


@pytest.mark.parametrize(
    ("ours", "reading", "verdict"),
    [
        (2.5, 0.5, REPRODUCED),
        (2.51, 0.5, DIFFERS),
        (1.5, 0.5, REPRODUCED),
        (1.49, 0.5, DIFFERS),
        (2.0, 0.0, REPRODUCED),
    ],
)
def test_without_an_interval_the_reading_alone_widens(ours: float, reading: float, verdict: Verdict) -> None:
    assert claim("a", 2.0, ours, low=None, high=None, reading=reading).verdict is verdict


@pytest.mark.parametrize(
    ("ours", "asked", "verdict"),
    [
        (2.2, HIGHER, BETTER),
        (1.8, HIGHER, DIFFERS),  # less than the paper's, and still a gain
        (1.01, HIGHER, DIFFERS),
        (1.0, HIGHER, FAILED),  # no gain
        (0.5, HIGHER, FAILED),
        (1.8, LOWER, BETTER),
        (2.2, LOWER, DIFFERS),
        (7.9, LOWER, DIFFERS),
        (8.0, LOWER, FAILED),
        (2.2, {}, DIFFERS),
        (0.0, {}, DIFFERS),  # what has no direction can only differ
        (2.2, {"better": "lower"}, DIFFERS),
        (0.5, {"above": 1.0}, FAILED),
        (3.0, {"above": 1.0}, DIFFERS),
        (1.5, {"better": "higher", "below": 1.0}, FAILED),  # a cost that is none is not a smaller cost
    ],
)
@pytest.mark.parametrize("widths", [None, 0.01])
def test_beyond_it_the_side_and_the_direction_decide(
    ours: float, asked: dict[str, Any], verdict: Verdict, widths: float | None
) -> None:
    low, high = (None, None) if widths is None else (ours - widths, ours + widths)
    paper = 0.8 if "below" in asked and asked["below"] == 1.0 else 2.0
    assert claim("a", paper, ours, low=low, high=high, reading=0.05, **asked).verdict is verdict


def test_what_chance_may_have_turned_round_is_reproduced() -> None:
    assert ruling(1.2, (0.5, 0.9, 1.5), 0.05, **HIGHER) is REPRODUCED


@pytest.mark.parametrize(
    ("kind", "ours", "verdict"),
    [
        ("at-least", 2.0, REPRODUCED),
        ("at-least", 1.999, FAILED),
        ("at-least", 9.0, REPRODUCED),  # a bound has no side on which more is better
        ("at-most", 2.0, REPRODUCED),
        ("at-most", 2.001, FAILED),
        ("order", 2.001, REPRODUCED),
        ("order", 2.0, FAILED),  # as much is not more
        ("order", 1.9, FAILED),
    ],
)
def test_bounds_and_orders_have_no_slack(kind: str, ours: float, verdict: Verdict) -> None:
    """The interval of a made-up claim is 10 % wide, and does not matter."""
    assert claim("a", 2.0, ours, kind=kind).verdict is verdict


@pytest.mark.parametrize("kind", ["number", "at-least", "at-most", "order"])
def test_what_has_no_number_is_not_measured(kind: str) -> None:
    assert claim("a", 2.0, None, kind=kind).verdict is UNMEASURED


NUMBER = st.floats(-1e6, 1e6)


@given(
    ends=st.lists(NUMBER, min_size=4, max_size=4).map(sorted),
    reading=st.floats(0, 10),
    better=st.sampled_from(["higher", "lower", None]),
    above=st.none() | NUMBER,
    below=st.none() | NUMBER,
    ours_first=st.booleans(),
)
def test_a_number_with_the_papers_inside_its_interval_is_reproduced(  # noqa: PLR0917
    ends: list[float], reading: float, better: str | None, above: float | None, below: float | None, ours_first: bool
) -> None:
    low, one, other, high = ends
    ours, paper = (one, other) if ours_first else (other, one)
    asked = {"better": better, "above": above, "below": below}
    assert ruling(paper, (low, ours, high), reading, **asked) is REPRODUCED


@pytest.mark.parametrize(
    ("published", "words"),
    [
        (1.5, "The published tables do not miss it, "),
        (0.5, "The published tables miss it, too, "),
        (None, "Why it is missed, we do not know."),
    ],
)
def test_whether_a_missed_claim_is_our_tables_doing_follows_from_the_published_ones(
    published: float | None, words: str
) -> None:
    missed, met = (replace(claim("a", 1.0, ours, kind="order"), tables="ours") for ours in (0.9, 1.1))
    theirs = replace(claim("a-published", 1.0, published, kind="order"), tables="published")
    assert why_missed(missed, [missed, theirs]).startswith(words)
    assert why_missed(missed, [missed]) == "Why it is missed, we do not know."
    assert why_missed(met, [met, theirs]) == ""


def test_every_verdict_has_its_rule_and_compares_with_its_words() -> None:
    assert list(RULE) == list(Verdict)
    assert [f"{verdict}" for verdict in Verdict] == [
        "reproduced",
        "better",
        "differs",
        "not reproduced",
        "not measured",
    ]
    assert exmachina.Verdict is Verdict


def claims() -> list[Any]:
    return [(spec, experiment) for experiment in catalogue().values() for spec in experiment.claims]


def test_shipped_claims_are_well_formed() -> None:
    """What the schema does not ask for: orders are against 0 or 1, and the paper itself reproduces each claim."""
    for spec, _ in claims():
        if spec.kind == "order":
            assert spec.paper == (1 if spec.unit == "x" else 0), spec.id
            continue
        asked = {name: getattr(spec, name) for name in ("kind", "better", "above", "below")}
        itself = claim(spec.id, spec.paper, spec.paper, reading=spec.reading or 0.0, low=None, high=None, **asked)
        assert itself.verdict is REPRODUCED, spec.id
        if spec.kind == "number":
            assert spec.reading <= 0.5 * max(1.0, abs(spec.paper)), spec.id
        if spec.unit == "x" and (spec.above, spec.below) != (None, None):
            assert 1 in (spec.above, spec.below), spec.id


def test_a_bound_that_is_ours_says_so() -> None:
    """The papers' bounds: three on the frontier, within 3 %, more than doubled, more than 1.7 or 2.7 times, all."""
    papers = {3, 0.97, 2, 1.7, 2.7, 1}
    for spec, _ in claims():
        if spec.kind in ("at-least", "at-most") and spec.paper not in papers:
            assert "is ours" in spec.note, spec.id


@pytest.mark.parametrize(
    ("name", "tables"),
    [
        ("tao-fig9-codesigned-delay", "ours"),  # by who the senders of its case are
        ("tao-fig9-coexist", "ours"),
        ("tao-fig7-naive", "ours"),
        ("fig4-delay-vegas", ""),
        ("datacenter-RTT-mean-dctcp", ""),
    ],
)
def test_whose_tables_a_claim_is_about(name: str, tables: str) -> None:
    experiment: Experiment = next(one for spec, one in claims() if spec.id == name)
    found = {one.id: one for one in claims_of(experiment, Ran(), Cast({}), {})}
    assert found[name].tables == tables
    assert found[name].verdict is UNMEASURED


def test_robust_tables_are_held_to_what_they_all_have_a_sister_for() -> None:
    cast = Cast.load(robust=True)
    assert set(cast.robust) < set(ALGORITHMS)
    for experiment in catalogue().values():
        found = {one.id: one for one in claims_of(experiment, Ran(), cast, {})}
        for spec in experiment.claims:
            named = {name for name in operands(spec.measure) if name in ALGORITHMS}
            has = bool(named) and named <= set(cast.robust)
            assert (f"{spec.id}-robust" in found) == has, spec.id
            assert not has or found[f"{spec.id}-robust"].tables == "robust"
