"""docs/adversarial.md says what was measured, of the laws that are beside it."""

from pathlib import Path

import polars as pl
from conftest import script

from exmachina import Table

DOCS = Path(__file__).parents[2] / "docs"
RESULTS = DOCS / "results"
PAGE = script("adversarial_page")


def test_the_page_is_what_was_measured() -> None:
    frames = (pl.read_csv(RESULTS / f"adversarial{which}.csv") for which in ("", "-networks"))
    page = (DOCS / "adversarial.md").read_text(encoding="utf-8")
    assert page == PAGE.page(*frames), "python validation/adversarial.py --page writes it"


def test_every_law_was_measured_by_all_measures() -> None:
    rows = pl.read_csv(RESULTS / "adversarial.csv")
    laws = rows["law"].unique(maintain_order=True).to_list()
    assert rows["measure"].to_list() == len(laws) * list(PAGE.MEASURES)
    assert rows["value"].is_finite().all()
    kept = {path.stem for path in (RESULTS / "adversarial").glob("*.dna")}
    assert kept == set(laws[1:])
    assert all(Table.load(RESULTS / "adversarial" / f"{name}.dna").law for name in kept)


def test_a_page_by_hand() -> None:
    rows = pl.DataFrame({"law": "mine", "measure": PAGE.MEASURES, "value": [0.1, 0.02, 0.5, 0.06, 0.25, 2.0, -0.7]})
    networks = pl.DataFrame({"round": [2], "harm": [1.234], "network": ["1 Mbit/s"], "words": ["bad"]})
    page = PAGE.page(rows, networks)
    assert "does 2 such rounds" in page
    assert "\n| mine | 0.100 ± 0.020 | 0.50 ± 0.06 | 25 % | 2.00 | -0.700 |\n" in page
    assert page.endswith("\n| 2 | 1.23 | 1 Mbit/s |\n")
