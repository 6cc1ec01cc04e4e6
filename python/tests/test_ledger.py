"""The ledger of claims is of the catalogue as it is, and README.md says of it what it says.

Where this fails, `python validation/reproduced.py` has to run again, at the papers' scale.
"""

import csv

import pytest
from test_readme import README, ROOT, SCRIPT, numbers, said

from exmachina.reproduce.experiment import catalogue

LEDGER = ROOT / "docs" / "results" / "ledger.csv"


def _ledger() -> list[dict[str, str]]:
    assert LEDGER.exists(), f"{LEDGER} is missing: python validation/reproduced.py writes it"
    with LEDGER.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_the_front_page_has_its_numbers() -> None:
    assert _ledger()
    assert SCRIPT.parts(README, "ledger")[1] == SCRIPT.ledger_block(ROOT)


def test_the_ledger_is_of_the_catalogue_as_it_is_and_of_the_papers_scale() -> None:
    rows = {row["id"]: row for row in _ledger()}
    claims = {spec.id: spec for experiment in catalogue().values() for spec in experiment.claims}
    assert {name.removesuffix("-published") for name in rows} == set(claims)
    for name, spec in claims.items():
        row = rows[name]
        assert (row["claim"], row["kind"], row["unit"]) == (spec.text, spec.kind, spec.unit)
        assert (float(row["paper_value"]), float(row["tolerance"])) == (spec.paper, spec.tolerance)
    assert {row["scale"] for row in rows.values()} == {"paper"}


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("have a median of", "general-0.1"),
        ("the published table of the same objective", "general-0.1-published"),
        ("XCP", "xcp"),
        ("Cubic over sfqCoDel", "cubic/sfqcodel"),
        ("Cubic", "cubic"),
        ("Vegas", "vegas"),
    ],
)
def test_figure_4(words: str, name: str) -> None:
    measured = {row["id"]: float(row["ours"]) for row in _ledger() if row["experiment"] == "fig4"}
    mbps, ms = numbers(rf"{words} ([\d.]+) Mbit/s at ([\d.]+) ms", said("ledger"))
    assert mbps == pytest.approx(measured[f"fig4-throughput-{name}"], abs=0.0051)
    assert ms == pytest.approx(measured[f"fig4-delay-{name}"], abs=0.051)


def test_claims_that_hold() -> None:
    rows = [row for row in _ledger() if row["held"]]
    counts = numbers(r"Of (\d+) claims .* (\d+) hold here .* the (\d+) among", said("ledger"))
    ours, published = (
        {row["id"]: row["held"] for row in rows if row["tables"] == kind} for kind in ("ours", "published")
    )
    both = [name for name in ours if f"{name}-published" in published]
    assert counts == [len(rows), sum(row["held"] == "true" for row in rows), len(both)]
    hold = [sum(ours[name] == "true" for name in both), sum(published[f"{name}-published"] == "true" for name in both)]
    assert numbers(r"ours hold (\d+), the published ones (\d+)", said("ledger")) == hold
