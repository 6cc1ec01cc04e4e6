"""The report of experiments and its ledger: as text, and in a real headless browser where there is one.

The browser is Debian's chromium. A script that a test adds to a copy of the page asks it what a person would see.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Queue
from typing import Any
from urllib.parse import unquote

import numpy as np
import polars as pl
import pytest
from madeup import HOSTILE, claim, outcomes

from exmachina import InputError
from exmachina.pictures.cloud import clouds_of_flows
from exmachina.pictures.render import save, spec_of
from exmachina.pictures.style import HUMAN, INK, ON_DARK
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

Ask = Callable[..., Any]
COUNTS = "2 reproduced, 1 better, 1 differ, 1 not reproduced, 1 not measured"
PHONE, TALL = 390, 844
"""Width and height of a phone, px."""
CHART_BYTES, PAGE_BYTES = 200_000, 1_000_000
"""Most that a chart takes of the page, its picture included, and the page without any."""
FOLDED_PX = 1_500
"""Most that the page is high before anything is opened, of four experiments."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> list[Outcome]:
    return outcomes(tmp_path_factory.mktemp("pictures"))


@pytest.fixture(scope="module")
def report(made: list[Outcome], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(made, tmp_path_factory.mktemp("report") / "report.html", facts={"machine": HOSTILE})


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
        "queueing_delay_ms": rng.lognormal(3, 1, 2000 * len(HUMAN)),
        "throughput_mbps": rng.lognormal(1, 0.3, 2000 * len(HUMAN)),
    })  # fmt: skip
    spec = spec_of(tradeoff_chart(clouds_of_flows(flows)))
    png, svg = (save(spec, tmp_path / f"plane{suffix}") for suffix in (".png", ".svg"))

    def size(*pictures: Picture) -> int:
        outcome = Outcome("own", "beyond", "Own", "", {}, "quick", 0.0, list(pictures))
        return write_report([outcome], tmp_path / "report.html", facts={}).stat().st_size

    assert size(Picture("plane", "Clouds", png, svg, spec)) - size() <= CHART_BYTES
    assert size() <= PAGE_BYTES, "what draws charts, and little more"


# The page in a browser.


SETTINGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--enable-logging=stderr"]


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """How to call the browser; the test is skipped where there is none."""
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("no chromium here (Debian: apt-get install chromium)")
    return [program, *SETTINGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}", "--disable-dev-shm-usage"]


@pytest.fixture(scope="module")
def ask(chromium: list[str], report: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    """Opens the page in a frame of the given size, and gives what an expression comes to there once `until` holds.

    A frame, as a window of the browser is never narrower than 500 px. In real time, as what comes near the screen is
    told when a frame is drawn, and the browser's virtual time may pass without one: the page posts its answer.
    """
    folder = tmp_path_factory.mktemp("asked")
    answers: Queue[str] = Queue()

    class Handler(SimpleHTTPRequestHandler):
        def do_POST(self) -> None:
            answers.put(self.rfile.read(int(self.headers["Content-Length"])).decode())
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    def run(
        expression: str,
        *,
        width: int = 1280,
        height: int = 900,
        fragment: str = "",
        before: str = "",
        until: str = "true",
        dark: bool = False,
    ) -> Any:
        tell = f"const tell = () => {until} ? parent.postMessage(JSON.stringify({expression}), '*') : later();"
        tell += "const later = () => setTimeout(tell, 500); later();"
        # Before the last end: scripts of the page have such words, too.
        page, end, _ = report.read_text().rpartition("</body></html>")
        (folder / "inner.html").write_text(f"{page}<script>{before}; {tell}</script>{end}")
        (folder / "outer.html").write_text(
            "<script>onmessage = (told) => fetch('/', {method: 'POST', body: told.data});</script>"
            f'<iframe src="inner.html{fragment}" style="border:0;width:{width}px;height:{height}px"></iframe>'
        )
        address = f"http://127.0.0.1:{server.server_port}/outer.html"
        size = f"--window-size={width + 40},{height + 100}"
        with (folder / "log").open("w") as log:
            look = ["--blink-settings=preferredColorScheme=0"] if dark else []
            browser = subprocess.Popen(
                [*chromium, *look, size, address], stderr=log, stdout=log, start_new_session=True
            )
            try:
                told = answers.get(timeout=120)
            finally:
                os.killpg(browser.pid, signal.SIGKILL)
                browser.wait()
        said = (folder / "log").read_text()
        assert "CONSOLE" not in said, said
        return json.loads(told)

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield run
        server.shutdown()


OPEN = "document.querySelectorAll('details').forEach((fold) => { fold.open = true; });"
ROWS = "[...document.querySelectorAll('#ledger tbody tr')].filter((row) => row.offsetHeight)"
NAMES = f"{ROWS}.map((row) => row.dataset.words.split(' ')[0])"


def test_errors_of_a_page_would_be_seen(ask: Ask) -> None:
    with pytest.raises(AssertionError, match="on purpose"):
        ask("1", before="setTimeout(() => { throw new Error('on purpose'); })")


def test_charts_are_drawn_where_there_are_any_and_hover_values_are_theirs(ask: Ask) -> None:
    seen = (
        "p.matches('.drawn'), p.querySelectorAll('.mark-line path').length, p.querySelector('img').offsetHeight > 0, "
        "p.querySelectorAll('.spec').length"
    )
    until = "document.querySelectorAll('.drawn').length === 3"
    expression = f"[...document.querySelectorAll('.picture')].map((p) => [{seen}])"
    drawn = ask(expression, height=9000, before=OPEN, until=until)
    assert drawn == [[True, 3, False, 1], [False, 0, True, 0], [True, 3, False, 1], [True, 3, False, 1]]


def test_charts_are_in_the_colours_of_the_screen(ask: Ask) -> None:
    look = "[...new Set([...document.querySelectorAll('.live svg text')].map((t) => t.getAttribute('fill')))]"
    until = "document.querySelectorAll('.drawn').length === 3"
    for dark, ink in ((False, INK), (True, ON_DARK[INK])):
        assert ink in ask(look, height=9000, before=OPEN, until=until, dark=dark)


def test_what_is_folded_is_not_drawn_and_the_page_is_short(ask: Ask) -> None:
    tall = "document.documentElement.scrollHeight"
    drawn, height = ask(f"[document.querySelectorAll('.drawn').length, {tall}]", until="performance.now() > 3000")
    assert drawn == 0
    assert height <= FOLDED_PX


def test_a_link_opens_what_it_leads_to(ask: Ask) -> None:
    opened = "[...document.querySelectorAll('details[open]')].map((fold) => fold.id)"
    assert ask(opened) == []
    assert ask(opened, fragment="#tao-fig1") == ["tao-fig1"]
    assert ask(opened, fragment="#claim-order") == ["tao-fig1"]
    assert ask(opened, fragment="#show=failed") == ["ledger"]


@pytest.mark.parametrize(("width", "height"), [(1280, 900), (PHONE, TALL)])
def test_what_was_reproduced_is_on_the_first_screen(ask: Ask, width: int, height: int) -> None:
    ends = "[...document.querySelectorAll('.tile, .share')].map((one) => one.getBoundingClientRect().bottom)"
    assert max(ask(ends, width=width, height=height)) <= height


@pytest.mark.parametrize("fragment", ["", "#fig4"])
def test_a_phone_never_scrolls_sideways(ask: Ask, fragment: str) -> None:
    seen = ask(
        "{width: innerWidth, scrolls: document.documentElement.scrollWidth,"
        "drawn: document.querySelectorAll('.drawn').length,"
        "chart: Math.max(...[...document.querySelectorAll('.live')].map((s) => s.getBoundingClientRect().right)),"
        "wide: [...document.querySelectorAll('.scroll')].filter((box) => box.scrollWidth > box.clientWidth).length}",
        width=PHONE,
        height=TALL if fragment else 15000,
        fragment=fragment,
        before="" if fragment else OPEN,
        until="document.querySelectorAll('.drawn').length >= 1",
    )
    assert seen["width"] == PHONE
    assert seen["scrolls"] <= PHONE
    assert seen["drawn"] >= 1
    assert seen["chart"] <= PHONE
    assert seen["wide"] >= 1  # wide tables and charts scroll within their boxes


def test_the_ledger_is_searched_filtered_and_sorted_by_the_address(ask: Ask) -> None:
    assert ask(NAMES) == ["gain-cubic", "gain-vegas", "delay-cubic", "no-trace", "nothing-lost", "order"]
    assert ask(NAMES, fragment="#q=CUBIC%20gain") == ["gain-cubic"]
    assert ask(NAMES, fragment="#show=reproduced&sort=-off") == ["gain-cubic", "order"]


def test_what_a_person_does_sorts_and_goes_into_the_address(ask: Ask) -> None:
    click = "document.querySelector('#ledger th[data-key=ours] button').click();"
    up, down = ["nothing-lost", "gain-vegas", "gain-cubic", "order", "delay-cubic"], "no-trace"
    assert ask(f"[{NAMES}, location.hash]", before=click) == [[*up, down], "#sort=ours"]
    assert ask(f"[{NAMES}, location.hash]", before=click * 2) == [[*reversed(up), down], "#sort=-ours"]
    assert ask("location.hash", before=click * 3) == ""
    assert ask(
        f"[{NAMES}, location.hash, document.querySelector('#ledger output').textContent]",
        before="document.querySelector('[data-show=unmeasured]').click();",
    ) == [["no-trace"], "#show=unmeasured", "1 of 6"]


def test_tables_sort_by_number_with_missing_ones_last_and_are_searched(ask: Ask) -> None:
    table = "document.querySelector('#table-own-long')"
    names = f"[...{table}.querySelectorAll('tbody tr')].filter((r) => !r.hidden).map((r) => r.cells[0].textContent)"
    click = f"{table}.querySelectorAll('th button')[1].click();"
    by_delay = ask(names, before=click)
    assert by_delay[:2] == ["scheme 19", "scheme 17"]
    assert by_delay[-2:] == ["scheme 18", "scheme 7"]
    typed = "field.value = 'row 12'; field.dispatchEvent(new Event('input'))"
    assert ask(names, before=f"const field = {table}.querySelector('input'); {typed}") == ["scheme 12"]


def test_it_prints(chromium: list[str], report: Path, tmp_path: Path) -> None:
    call = [*chromium, "--virtual-time-budget=10000", f"--print-to-pdf={tmp_path / 'report.pdf'}"]
    call += ["--no-pdf-header-footer", report.as_uri()]
    done = subprocess.run(call, capture_output=True, text=True, timeout=120, check=True)
    assert "CONSOLE" not in done.stderr
    pdf = (tmp_path / "report.pdf").read_bytes()
    assert pdf.startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) >= 3
    assert re.search(rb"/Subtype\s*/Image\b", pdf) is not None


def test_print_opens_what_is_folded_and_folds_it_again(ask: Ask) -> None:
    count = "document.querySelectorAll('details[open]').length"
    before = (
        f"let seen; dispatchEvent(new Event('beforeprint')); seen = {count}; dispatchEvent(new Event('afterprint'))"
    )
    assert ask(f"[seen, {count}]", before=before) == [10, 0]
