"""The ledger of claims is of the catalogue as it is; README.md and docs/reproduced.md say of it what it says.

Where this fails, `python validation/reproduced.py` has to run again, at the papers' scale.
"""

import csv
import re
from statistics import median

import pytest
from test_readme import README, ROOT, SCRIPT, numbers, said

from exmachina.reproduce.experiment import catalogue
from exmachina.reproduce.ledger import ledger_markdown
from exmachina.reproduce.outcome import Outcome
from exmachina.reproduce.verdicts import Claim

LEDGER = ROOT / "docs" / "results" / "ledger.csv"


def _ledger() -> list[dict[str, str]]:
    assert LEDGER.exists(), f"{LEDGER} is missing: python validation/reproduced.py writes it"
    with LEDGER.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def number(text: str) -> float | None:
    return float(text) if text else None


def _claim(row: dict[str, str]) -> Claim:
    """A row of the ledger as a claim: its verdict follows from its numbers."""
    told = {name: row[name] for name in ("id", "source", "unit", "note", "tables", "seen")}
    numbers = {name: number(row[name]) for name in ("ours", "low", "high", "above", "below")}
    asked = {"kind": row["kind"], "paper": float(row["paper_value"]), "reading": float(row["reading"])}
    return Claim(**told, **numbers, **asked, text=row["claim"], better=row["better"] or None)  # type: ignore[arg-type]


def test_verdicts_follow_from_the_numbers_beside_them() -> None:
    for row in _ledger():
        assert row["verdict"] == _claim(row).verdict, row["id"]


def test_the_page_has_the_ledger() -> None:
    rows: dict[tuple[str, str], list[Claim]] = {}
    for row in _ledger():
        rows.setdefault((row["experiment"], row["paper"]), []).append(_claim(row))
    outcomes = [Outcome(name, paper, "", "", {}, "paper", 0.0, claims=own) for (name, paper), own in rows.items()]
    page = (ROOT / "docs" / "reproduced.md").read_text(encoding="utf-8")
    assert page.partition("## The ledger of claims\n\n")[2] == ledger_markdown(outcomes)


def test_the_front_page_has_its_numbers() -> None:
    assert _ledger()
    assert SCRIPT.parts(README, "ledger")[1] == SCRIPT.ledger_block(ROOT)


def test_the_ledger_is_of_the_catalogue_as_it_is_and_of_the_papers_scale() -> None:
    rows = {row["id"]: row for row in _ledger()}
    claims = {spec.id: spec for experiment in catalogue().values() for spec in experiment.claims}
    assert {name.removesuffix("-published").removesuffix("-robust") for name in rows} == set(claims)
    for name, spec in claims.items():
        row = rows[name]
        assert (row["claim"], row["kind"], row["unit"]) == (spec.text, spec.kind, spec.unit)
        assert (float(row["paper_value"]), float(row["reading"])) == (spec.paper, spec.reading or 0.0)
        assert (row["better"] or None, number(row["above"]), number(row["below"])) == (
            spec.better,
            spec.above,
            spec.below,
        )
    assert {row["scale"] for row in rows.values()} == {"paper"}


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("the published table", "general-0.1-published"),
        ("`general-0.1`", "general-0.1"),
        ("`general-0.1-robust`", "general-0.1-robust"),
        ("XCP", "xcp"),
        ("Cubic over sfqCoDel", "cubic/sfqcodel"),
        ("Cubic", "cubic"),
        ("Compound", "compound"),
        ("NewReno", "newreno"),
        ("Vegas", "vegas"),
    ],
)
def test_figure_4(words: str, name: str) -> None:
    measured = {row["id"]: float(row["ours"]) for row in _ledger() if row["experiment"] == "fig4"}
    mbps, ms = numbers(rf"{words} ([\d.]+) Mbit/s at ([\d.]+) ms", said("ledger"))
    assert mbps == pytest.approx(measured[f"fig4-throughput-{name}"], abs=0.0051)
    assert ms == pytest.approx(measured[f"fig4-delay-{name}"], abs=0.051)


def test_who_wins_figure_4() -> None:
    """Both axes, against the six schemes that people wrote: no more is claimed of ours than is so."""
    at = {row["id"]: float(row["ours"]) for row in _ledger() if row["experiment"] == "fig4"}
    people = ("xcp", "cubic/sfqcodel", "cubic", "compound", "newreno", "vegas")
    winners = []
    for words, end in [
        ("the published table", "-published"),
        ("`general-0.1`", ""),
        ("`general-0.1-robust`", "-robust"),
    ]:
        more, less = (f"fig4-{what}-general-0.1{end}" for what in ("throughput", "delay"))
        up = sum(at[more] > at[f"fig4-throughput-{name}"] for name in people)
        down = sum(at[less] < at[f"fig4-delay-{name}"] for name in people)
        expected = f"{words} is ahead of {SCRIPT.in_words(up)} in throughput and of {SCRIPT.in_words(down)} in delay"
        assert expected in said("ledger")
        winners += [words] if up == down == len(people) else []
    found = re.search(r"Ahead of all of them in both (?:is|are) (.*?)\. Was", said("ledger"))
    assert found
    assert found[1] == (" and ".join(winners) or "none")


def test_counts_of_the_front_page() -> None:
    rows = _ledger()
    assert numbers(r"was measured (\d+) times", said("ledger")) == [len(rows)]
    for words, tables in [
        ("published tables", "published"),
        ("networks of the paper's model", "ours"),
        ("in the world as it is", "robust"),
        ("no table", ""),
    ]:
        own = [row["verdict"] for row in rows if row["tables"] == tables]
        counts = [own.count(verdict) for verdict in ("reproduced", "better", "differs", "not reproduced")]
        pattern = rf"{words}: (\d+) reproduced, (\d+) better, (\d+) differ, (\d+) not reproduced, of (\d+)"
        assert numbers(pattern, said("ledger")) == [*counts, len(own)]


@pytest.mark.parametrize(
    ("pattern", "ends"),
    [
        (r"Of the (\d+) claims .* reproduce or better (\d+), the published ones (\d+);", ("", "-published")),
        (
            r"of the (\d+) that robust ones .*, ours (\d+), the published ones (\d+), the robust ones (\d+)\.",
            ("", "-published", "-robust"),
        ),
    ],
)
def test_kinds_of_tables_side_by_side(pattern: str, ends: tuple[str, ...]) -> None:
    verdicts = {row["id"]: row["verdict"] for row in _ledger()}
    both = [name for name in verdicts if all(name + end in verdicts for end in ends)]
    good = [[verdicts[name + end] in ("reproduced", "better") for name in both] for end in ends]
    assert numbers(pattern, said("ledger")) == [len(both), *map(sum, good)]


def test_what_tables_had_seen() -> None:
    seen = [row["seen"] for row in _ledger() if row["tables"] in ("ours", "robust")]
    assert all(seen), "each claim says it"
    training = sum("in training" in words and "neither" not in words for words in seen)
    choosing = sum("in choosing" in words for words in seen)
    pattern = r"networks of (\d+) claims .* were in the training of all of these, those of (\d+) in choosing"
    assert numbers(pattern, said("ledger")) == [training, choosing]


def test_by_how_much_claims_differ() -> None:
    off = [abs(float(row["ours"]) / float(row["paper_value"]) - 1) for row in _ledger() if row["verdict"] == "differs"]
    typical, most = numbers(r"by ([\d,]+) % in the median and ([\d,]+) % at most", said("ledger").replace(",", ""))
    assert typical == pytest.approx(100 * median(off), abs=0.51)
    assert most == pytest.approx(100 * max(off), abs=0.51)
