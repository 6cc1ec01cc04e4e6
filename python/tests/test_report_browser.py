"""The report of experiments in a real headless browser, where there is one: what a person sees and does.

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
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from queue import Queue
from typing import Any

import pytest

from exmachina.pictures.style import INK, ON_DARK

Ask = Callable[..., Any]
PHONE, TALL = 390, 844
"""Width and height of a phone, px."""
FOLDED_PX = 1_500
"""Most that the page is high before anything is opened, of four experiments."""
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
    answers: Queue[tuple[str, str]] = Queue()
    asked = count()

    class Handler(SimpleHTTPRequestHandler):
        def do_POST(self) -> None:
            answers.put((self.path, self.rfile.read(int(self.headers["Content-Length"])).decode()))
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
        # An address of its own: neither a page that the browser kept nor a late answer is taken for this one.
        name = str(next(asked))
        # Before the last end: scripts of the page have such words, too.
        page, end, _ = report.read_text().rpartition("</body></html>")
        (folder / f"{name}.html").write_text(f"{page}<script>{before}; {tell}</script>{end}")
        (folder / f"outer-{name}.html").write_text(
            f"<script>onmessage = (told) => fetch('/{name}', {{method: 'POST', body: told.data}});</script>"
            f'<iframe src="{name}.html{fragment}" style="border:0;width:{width}px;height:{height}px"></iframe>'
        )
        address = f"http://127.0.0.1:{server.server_port}/outer-{name}.html"
        size = f"--window-size={width + 40},{height + 100}"
        with (folder / "log").open("w") as log:
            look = ["--blink-settings=preferredColorScheme=0"] if dark else []
            browser = subprocess.Popen(
                [*chromium, *look, size, address], stderr=log, stdout=log, start_new_session=True
            )
            try:
                told = next(said for to, said in iter(partial(answers.get, timeout=120), None) if to == f"/{name}")
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
