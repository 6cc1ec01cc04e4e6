"""The report of experiments and its ledger, as text; `test_report_browser.py` has what a person sees of it."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import polars as pl
import pytest
from madeup import HOSTILE, claim

from exmachina import InputError
from exmachina.pictures.cloud import clouds_of_flows
from exmachina.pictures.render import save, spec_of
from exmachina.pictures.style import HUMAN
from exmachina.pictures.tradeoff import tradeoff_chart
from exmachina.reproduce.claimtable import HEIGHT, WIDTH, claims_table, mark, style
from exmachina.reproduce.ledger import (
    Tally,
    by_how_much,
    difference,
    ledger_frame,
    ledger_markdown,
    number,
    paper_words,
    quantity,
    reading_words,
    tally,
    write_ledger,
)
from exmachina.reproduce.outcome import Outcome, Picture
from exmachina.reproduce.page import write_report
from exmachina.reproduce.verdicts import Verdict

COUNTS = "2 reproduced, 1 better, 1 differ, 1 not reproduced, 1 not measured"
CHART_BYTES, PAGE_BYTES = 200_000, 1_000_000
"""Most that a chart takes of the page, its picture included, and the page without any."""


# The ledger.


def test_claims_are_counted_by_verdict(made: list[Outcome]) -> None:
    counts = tally(each for outcome in made for each in outcome.claims)
    assert [counts[verdict] for verdict in Verdict] == [2, 1, 1, 1, 1]
    assert counts.all == 6
    assert str(counts) == COUNTS
    assert str(Tally({Verdict.BETTER: 1})) == "0 reproduced, 1 better, 0 differ, 0 not reproduced"


def test_numbers_have_three_digits_and_no_exponent() -> None:
    assert [number(x) for x in (1344.4, 999.7, 0.0123456, -2.5, 0.0, 12)] == [
        "1,344",
        "1,000",
        "0.0123",
        "−2.5",
        "0",
        "12",
    ]
    assert number(4.5, zeros=True) == "4.50"
    assert number(100.2, zeros=True) == "100"
    assert number(None) == number(float("nan")) == "–"
    assert quantity(1.7, "x") == "1.7 ×"
    assert quantity(3, "") == "3"


def test_the_difference_is_a_share_of_the_papers_number() -> None:
    assert by_how_much(claim("a", 2.0, 2.5)) == "+25 %"
    assert by_how_much(claim("a", 2.0, 1.5)) == "−25 %"
    assert by_how_much(claim("a", 2.0, 1.9999)) == "0 %"
    assert difference(claim("a", -2.0, -1.0)) == 0.5
    assert by_how_much(claim("a", 2.0, None)) == "–"
    assert by_how_much(claim("a", 0.0, -0.25, unit="Mbit/s")) == "−0.25 Mbit/s"
    assert by_how_much(claim("a", 0.0, 0.0, unit="Mbit/s")) == "0 Mbit/s"
    assert by_how_much(claim("a", 1.0, 4.0, kind="order")) == "–", "what an order is above is no number of the paper's"
    assert by_how_much(claim("a", 0.0, 4.0, kind="order")) == "–"
    assert paper_words(claim("a", 2.0, 1.0, kind="at-most")) == "≤ 2 ×"
    assert paper_words(claim("a", 1.0, 2.0, kind="order")) == "> 1 ×"
    assert paper_words(claim("a", 2.0, 1.0)) == "2 ×"
    assert reading_words(claim("a", 2.0, 1.0)) == "± 0.1"
    assert reading_words(claim("a", 2.0, 1.0, reading=0.0)) == ""


def test_the_frame_has_a_row_per_claim_and_null_where_nothing_was_measured(made: list[Outcome], tmp_path: Path) -> None:
    frame = ledger_frame(made)
    assert frame["id"].to_list() == [each.id for outcome in made for each in outcome.claims]
    missing = frame.row(by_predicate=pl.col("id") == "no-trace", named=True)
    assert [missing[name] for name in ("ours", "low", "high", "difference", "better")] == [None] * 5
    assert missing["verdict"] == "not measured"
    assert ledger_frame([]).schema == frame.schema
    read = pl.read_csv(write_ledger(made, tmp_path / "claims.csv"))
    assert read["note"].to_list()[1] == HOSTILE
    assert read["ours"].to_list() == frame["ours"].to_list()


def test_markdown_has_a_line_per_claim_and_keeps_cells_apart(made: list[Outcome]) -> None:
    text = ledger_markdown(made)
    lines = [
        line
        for line in text.splitlines()
        if re.match(r"\| (\*\*not reproduced|reproduced|better|differs|not measured)", line)
    ]
    assert len(lines) == 6
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} == {12}
    assert "- *reproduced*: the paper's number is within our 95 % interval" in text
    assert "| all | 2 | 1 | 1 | 1 | 1 | 6 |" in text
    assert "| the authors' published tables | 1 | 0 | 0 | 0 | 0 | 1 |" in text
    assert "### Remy'13: 1 reproduced, 0 better, 1 differ, 1 not reproduced, 1 not measured" in text
    assert "### beyond" not in text  # it has no claims
    assert not re.search(r"(?<!\\)<", text)


# The page as text.


class Reader(HTMLParser):
    """Notes elements, ids and text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def test_nothing_from_data_becomes_markup(report: Path) -> None:
    reader = Reader(report.read_text())
    assert not [name for _, attributes in reader.tags for name in attributes if name.startswith("on")]
    assert all((image["src"] or "").startswith("data:image/") for image in reader.all("img"))
    kinds = [script.get("type") for script in reader.all("script")]
    # Vega, once, and ours; colours on dark screens; three charts.
    assert sorted(map(str, kinds)) == ["None"] * 2 + ["application/json"] + ["text/plain"] * 3


def test_the_page_asks_the_network_for_nothing(report: Path) -> None:
    reader = Reader(report.read_text())
    assert not reader.all("link")
    assert not [script for script in reader.all("script") if "src" in script]
    assert "default-src 'none'" in str(reader.all("meta")[1]["content"])


def test_every_link_leads_somewhere_and_every_picture_has_words(report: Path) -> None:
    reader = Reader(report.read_text())
    ids = [attributes["id"] for _, attributes in reader.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    links = [link["href"] or "" for link in reader.all("a")]
    inside, files = ([link for link in links if link.startswith("#") == is_inside] for is_inside in (True, False))
    assert {link[1:] for link in inside if "=" not in link} <= set(ids)
    assert {link for link in inside if "=" in link} == {f"#show={style(verdict)}" for verdict in Verdict}
    assert {Path(link).suffix for link in files} == {".csv", ".parquet", ".png", ".svg"}
    assert all((report.parent / unquote(link)).is_file() for link in files)
    assert all(image["alt"] for image in reader.all("img"))
    assert all(head.get("scope") in ("col", "row") for head in reader.all("th"))


def test_sort_keys_are_numbers_and_missing_where_nothing_was_measured(made: list[Outcome]) -> None:
    rows = claims_table([(each, made[0]) for each in made[0].claims + made[1].claims], "x").split("<tr ")[2:]

    def keys(row: str) -> list[str | None]:
        cells = re.findall(r"<td [^>]*>", row)
        found = [re.search(r'data-sort="([^"]*)"', cell) for cell in cells]
        return [match and match[1] for match in found]

    assert keys(rows[0])[:5] == ["3", None, "1.7", "1.75", repr((1.75 - 1.7) / 1.7)]
    assert keys(rows[3])[:5] == ["2", None, "2.0", None, None]


@pytest.mark.parametrize("ratio", [0.0, 1e-9, 0.5, 1.0, 2.0, 1e9])
@pytest.mark.parametrize("kind", ["number", "at-least", "at-most", "order"])
def test_the_mark_stays_within_its_box(ratio: float, kind: str) -> None:
    drawn = mark(claim("a", 4.0, 4.0 * ratio, kind=kind))
    across = [float(x) for x in re.findall(r' (?:x|x1|x2|cx)="([^"]*)"', drawn)]
    assert len(across) >= 6
    assert 0 <= min(across) <= max(across) <= WIDTH
    assert f'height="{HEIGHT}"' in drawn
    assert not any(float(width) <= 0 for width in re.findall(r'width="([^"]*)" height="16', drawn))


def test_what_has_no_ratio_has_no_mark() -> None:
    assert mark(claim("a", 0.0, 1.0)) == mark(claim("a", 1.0, None)) == ""


def test_a_picture_that_is_no_picture_is_named(made: list[Outcome], tmp_path: Path) -> None:
    broken = tmp_path / "broken.png"
    broken.write_bytes(b"\x89PNG, not really")
    spoilt = replace(made[0], pictures=[replace(made[0].pictures[0], png=broken)])
    with pytest.raises(InputError, match=r"broken\.png: expected a PNG file"):
        write_report([spoilt], tmp_path / "report.html", facts={})
    assert not (tmp_path / "report.html").exists()


def test_the_counts_are_the_first_thing_that_the_page_says(report: Path) -> None:
    body = re.sub(r"<[^>]*>", " ", report.read_text().partition("<body>")[2])
    assert f"{COUNTS}, of 6 claims" in " ".join(body.split())[:400]


def test_a_chart_of_many_runs_takes_little_of_the_page(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    flows = pl.DataFrame({
        "label": [name for name in HUMAN for _ in range(2000)],
        "run": [run for _ in HUMAN for run in range(2000)],
        "counted_delay_ms": rng.lognormal(3, 1, 2000 * len(HUMAN)),
        "counted_mbps": rng.lognormal(1, 0.3, 2000 * len(HUMAN)),
    })  # fmt: skip
    spec = spec_of(tradeoff_chart(clouds_of_flows(flows)))
    png, svg = (save(spec, tmp_path / f"plane{suffix}") for suffix in (".png", ".svg"))

    def size(*pictures: Picture) -> int:
        outcome = Outcome("own", "beyond", "Own", "", {}, "quick", 0.0, list(pictures))
        return write_report([outcome], tmp_path / "report.html", facts={}).stat().st_size

    assert size(Picture("plane", "Clouds", png, svg, spec)) - size() <= CHART_BYTES
    assert size() <= PAGE_BYTES, "what draws charts, and little more"
