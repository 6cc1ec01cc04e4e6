"""docs/worst: what `validation/worst.py` found are scenarios that run, and do what the page says of them."""

import re
from pathlib import Path

import polars as pl
import pytest
from conftest import script

from exmachina import Evaluation, evaluate
from exmachina.hunting import MEASURES
from exmachina.schemes import contender_of, designed_delta

PROJECT = Path(__file__).parents[2]
FILES = sorted((PROJECT / "docs" / "worst").glob("*.toml"))
ROWS = {row["case"]: row for row in pl.read_csv(PROJECT / "docs" / "results" / "worst.csv").iter_rows(named=True)}
SHORT_S = 2.0


# In the order in which they import each other.
script("digests")
KNOWN, PAGE, SCRIPT = (script(f"worst{name}") for name in ("_known", "_page", ""))


def harm_of(file: Path) -> float | None:
    """How bad it is for its first scheme, by all runs of the scenario."""
    row, evaluation = ROWS[file.stem], Evaluation.load(file)
    found = re.search(r", (\d+) senders?,", evaluation.description)
    assert found
    measure = MEASURES[row["measure"]]
    scheme = contender_of(row["scheme"]).scheme
    delta = 1.0 if isinstance(scheme, str) else designed_delta([scheme])  # type: ignore[list-item]
    values = measure.values(evaluate(evaluation).flows, int(found[1]), delta)
    means = dict(values.group_by("scheme").agg(pl.col("value").mean()).iter_rows())
    return measure.harm(means, row["scheme"])


def test_every_case_has_its_scenario() -> None:
    assert {file.stem for file in FILES} == set(ROWS)
    assert set(ROWS) <= set(SCRIPT.CASES)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_worst_network_runs(file: Path) -> None:
    row = ROWS[file.stem]
    results = evaluate(file, runs=1, duration_s=SHORT_S)
    assert results.summary["label"][0] == row["scheme"] or row["scheme"] in results.flows["scheme"].to_list()
    assert results.description == row["network"]
    assert f"# Found by {row['command']}"[:60] in file.read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("case", KNOWN.PATHOLOGIES)
def test_a_known_pathology_is_as_bad_as_is_said(case: str) -> None:
    assert harm_of(PROJECT / "docs" / "worst" / f"{case}.toml") == pytest.approx(ROWS[case]["harm"], rel=1e-3)


def test_the_page_is_what_was_found() -> None:
    page = PROJECT / "docs" / "worst.md"
    rows = pl.read_csv(PROJECT / "docs" / "results" / "worst.csv")
    assert page.read_text(encoding="utf-8") == PAGE.page(rows), "python validation/worst.py --page writes it"
