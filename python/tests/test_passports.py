"""docs/passports: one for every algorithm as it is now and for the four human schemes, as it was measured."""

from pathlib import Path

import polars as pl
import pytest
from conftest import script

DOCS = Path(__file__).parents[2] / "docs"
# In the order in which they import each other.
PAGE, DIGESTS, SCRIPT = (script(name) for name in ("passports_page", "digests", "passports"))
NUMBERS = pl.read_parquet(DOCS / "results" / "passports.parquet")


def test_everyone_has_one() -> None:
    assert NUMBERS["passport"].unique(maintain_order=True).to_list() == SCRIPT.everyone()
    for name in SCRIPT.everyone():
        assert (DOCS / "passports" / f"{name}.png").read_bytes().startswith(b"\x89PNG"), name


@pytest.mark.parametrize("name", SCRIPT.everyone())
def test_it_is_of_the_table_that_comes_with_the_program(name: str) -> None:
    digest = NUMBERS.filter(pl.col("passport") == name)["digest"].unique().to_list()
    assert digest == ["" if name in SCRIPT.HUMAN else DIGESTS.digest_of(name)], f"python validation/passports.py {name}"


def test_the_pages_are_what_was_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SCRIPT, "PROJECT", tmp_path)
    monkeypatch.setattr(SCRIPT, "PAGES", tmp_path / "docs" / "passports")
    SCRIPT.PAGES.mkdir(parents=True)
    SCRIPT.write_pages(NUMBERS)
    pages = sorted((tmp_path / "docs").rglob("*.md"))
    assert len(pages) == len(SCRIPT.everyone()) + 1
    for page in pages:
        committed = DOCS / page.relative_to(tmp_path / "docs")
        assert committed.read_text(encoding="utf-8") == page.read_text(encoding="utf-8"), (
            "validation/passports.py --page"
        )


ROWS = pl.DataFrame(
    [
        ("mine", "rate", "1", True, -0.5, 1.0, 1.6),
        ("mine", "rate", "9", False, -1.5, 0.3, 1.0),
        ("mine", "beside", "none", None, -0.5, 1.0, 1.6),
        ("cubic", "rate", "1", None, -0.9, 1.0, 2.4),
        ("cubic", "rate", "9", None, -0.9, 1.0, 2.4),
        ("cubic", "beside", "none", None, -0.9, 1.0, 2.4),
    ],
    schema=["scheme", "axis", "label", "inside", "score", "throughput", "delay"],
    orient="row",
).with_columns(passport=pl.lit("mine"), base=pl.lit("1 Mbit/s"), delta=1.0, edges=0, states=2, starved_share=0.0)


def test_what_a_page_says() -> None:
    page = PAGE.page("mine", ROWS, "links of 1 Mbit/s")
    assert (
        "- Ahead of Cubic at 2 of 3 points (1 of 1 inside); behind by more than 0.1 at link rate, Mbit/s 9.\n" in page
    )
    assert "- Less than 0.5 of an equal share: link rate, Mbit/s 9.\n" in page
    assert "- An RTT above 2 times the least: nowhere.\n" in page
    assert "| 1* | **-0.50** (1, 1.60) | -0.90 (1, 2.40) |\n| 9 | -1.50 (0.3, 1.00) | **-0.90** (1, 2.40) |\n" in page


def test_its_line_among_all() -> None:
    line = "| [mine](passports/mine.md) | -0.50 | 1 of 1 | 2 of 3 | 1 of 3 | 0 | 0 | 2 |\n"
    assert PAGE.index(ROWS).endswith(line)
