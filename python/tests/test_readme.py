"""README.md says what committed results say, and what it says one can run, one can run.

After a change that moves its numbers: `python validation/readme.py`, or the script that the failing test names.
"""

import csv
import re
from pathlib import Path
from statistics import median

import polars as pl
import pytest
from conftest import Command, script

from exmachina import algorithms

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCS = ROOT / "docs"
PAGES = [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")] + sorted(DOCS.glob("*.md"))


# In the order in which they import each other.
script("digests")
script("in_ns3_page")
script("internet_summary")
for name in ("internet_networks", "internet_runs", "internet_slices", "internet_page"):
    script(name)
BESIDE = script("beside")
REALITY = script("reality_page")
script("readme_internet")
SEARCHES = script("time_to_score")
SCRIPT = script("readme")


def said(block: str) -> str:
    """What README.md has between the comments of a block, on one line."""
    return " ".join(SCRIPT.parts(README, block)[1].split())


def numbers(pattern: str, text: str) -> list[float]:
    found = re.search(pattern, text)
    assert found, f"expected {pattern} in {text}"
    return [float(group.replace("−", "-")) for group in found.groups()]


def test_the_results_are_those_that_are_committed() -> None:
    assert SCRIPT.parts(README, "results")[1] == SCRIPT.results_block(ROOT)


def test_tables_that_are_shipped() -> None:
    files = list((ROOT / "python" / "exmachina" / "algorithms").glob("*.dna"))
    assert numbers(r"(\d+) tables come with the program", said("results")) == [len(files)]


def test_the_page_of_sturdiness_is_what_was_measured() -> None:
    sturdy = script("sturdy_page")
    with (DOCS / "results" / "sturdy.csv").open(newline="", encoding="utf-8") as file:
        page = sturdy.page(list(csv.DictReader(file)))
    assert (DOCS / "sturdy.md").read_text(encoding="utf-8") == page, "python validation/sturdy.py --page writes it"


def test_the_page_of_simulation_and_reality_is_what_was_measured() -> None:
    page = (DOCS / "reality.md").read_text(encoding="utf-8")
    found = re.search(r"on Linux ([\d.]+), with.* of\s(\d+) s each", page, re.DOTALL)
    assert found
    rows = pl.read_csv(DOCS / "results" / "reality.csv", schema_overrides={"digest": pl.String})
    assert REALITY.page(rows, found[1], float(found[2])) == page, "python validation/reality.py --page writes it"


def test_the_page_of_flows_beside_the_kernels_own_is_what_was_measured() -> None:
    page = (DOCS / "beside.md").read_text(encoding="utf-8")
    found = re.search(r"on Linux ([\d.]+) at both ends", page)
    assert found
    rows = pl.read_csv(DOCS / "results" / "beside.csv", schema_overrides={"digest": pl.String})
    assert BESIDE.page(rows, found[1]) == page, "python validation/beside.py --page writes it"


def test_the_cost_of_an_ack_is_as_measured() -> None:
    cost = script("kernel_cost")
    page = (DOCS / "deploy.md").read_text(encoding="utf-8")
    assert cost.page(page, cost.read()) == page, "python validation/kernel_cost.py --page writes it"


def test_what_rounding_costs_is_what_was_measured() -> None:
    exports = script("exports")
    page = (DOCS / "export.md").read_text(encoding="utf-8")
    assert exports.page(page, exports.read()) == page, "python validation/exports.py writes it"


def test_what_signals_are_worth_is_what_was_measured() -> None:
    knockout = script("knockout")
    page = (DOCS / "knockout.md").read_text(encoding="utf-8")
    assert knockout.page(pl.read_csv(knockout.RESULTS)) == page, "python validation/knockout.py writes it"


def test_how_far_searches_get_is_what_was_measured() -> None:
    page = (DOCS / "search.md").read_text(encoding="utf-8")
    assert SEARCHES.page(page, pl.read_csv(SEARCHES.RESULTS)) == page, "python validation/time_to_score.py writes it"


@pytest.mark.parametrize("heading", ["Fresh seeds", "Time to score: the two-specimen problem"])
def test_medians_of_searches_are_those_of_the_rows_above(heading: str) -> None:
    """Each row that says so has the medians of the rows of seeds above it, from the last such row on."""
    rows = SCRIPT.markdown_table(DOCS / "search.md", heading)
    first, *columns = rows[0]
    above: list[dict[str, str]] = []
    told = 0
    for row in rows:
        if "median" not in row[first]:
            above.append(row)
            continue
        for column in columns:
            scores = [SCRIPT.number(one[column]) for one in above if one[column]]
            if len(scores) == len(above):
                assert SCRIPT.number(row[column].strip("*")) == pytest.approx(median(scores), abs=5.1e-4), column
                told += 1
        above = []
        if heading == "Fresh seeds":
            break
    assert told >= len(columns)


def test_published_tables_that_ours_are_ahead_of() -> None:
    """README.md, docs/algorithms.md and what comes with the package say the same."""
    page = (DOCS / "algorithms.md").read_text(encoding="utf-8")
    rivals, ahead = (int(n) for n in numbers(r"of (\d+) such tables, the algorithm is ahead of (\d+)", page))
    assert rivals == sum(one.published is not None for one in algorithms())
    found = re.search(r"For (\w+) of their models .* ours are ahead of (\w+) of them", said("results"))
    assert found
    assert found[1] == SCRIPT.in_words(rivals)
    assert found[2] == ("all" if ahead == rivals else SCRIPT.in_words(ahead))


def test_the_page_of_algorithms_is_what_comes_with_the_package() -> None:
    page = script("algorithms_page").page(algorithms())
    assert (DOCS / "algorithms.md").read_text(encoding="utf-8") == page, "python validation/algorithms.py writes it"


def test_speeds() -> None:
    rows = SCRIPT.markdown_table(DOCS / "speed.md", "Beside the authors' simulator")
    times = [float(row["authors'"]) / float(row["ours"]) for row in rows]
    assert [float(row["times as fast"]) for row in rows] == pytest.approx(times, abs=0.051)
    promises = numbers(r"at (\d+) and (\d+) times the speed; one rule alone runs at (\d+) times", said("results"))
    for promised, measured in zip(promises, times, strict=True):
        assert promised <= measured < promised + 1


def test_what_was_measured_of_sturdiness() -> None:
    with (DOCS / "results" / "sturdy.csv").open(newline="", encoding="utf-8") as file:
        asked = [row for row in csv.DictReader(file) if row["held"]]
    for pattern, sections in [
        (r"leaves (\d+) means of (\d+) within 1 %", {"clock"}),
        (r"(\d+) of (\d+) comparisons with the authors' tables hold", {"published", "measure"}),
        (r"(\d+) of (\d+) tables lose at most 0.05", {"acks"}),
        (r"at a time (\d+) of (\d+) things asked of them hold", {"world"}),
    ]:
        own = [row for row in asked if row["section"] in sections]
        held = sum(float(row["difference"]) >= float(row["allowed"]) for row in own)
        assert numbers(pattern, said("results")) == [held, len(own)]


def _anchors(page: Path) -> set[str]:
    """Of the headings of a page, as GitHub makes them."""
    heads = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-") for head in heads}


def test_the_table_of_tuning_is_what_was_measured() -> None:
    section = (DOCS / "search.md").read_text().partition("## Tuning beside rivals")[2].partition("\n## ")[0]
    for line in pl.read_csv(DOCS / "results" / "tuning" / "long-jitter.csv").iter_rows(named=True):
        assert (
            f"| {line['share_before']:.0%}".replace("%", " %") + f" | {line['share']:.0%} |".replace("%", " %")
            in section
        )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if link.startswith("http"):
            continue
        path, _, anchor = link.partition("#")
        there = (page.parent / path) if path else page
        assert there.exists(), link
        assert not anchor or anchor in _anchors(there), link


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_are_named_are_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for name in re.findall(r"\b(?:crates|python/exmachina|python/tests|validation|docs)/[\w./-]*\w", text):
        assert (ROOT / name).exists(), name


def _commands() -> list[str]:
    """Lines of README.md's shell blocks and commands within the text of README.md and CONTRIBUTING.md."""
    shell = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
    lines = [line.split("#")[0].strip() for block in shell for line in block.splitlines()]
    words = README + (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    return [line for line in lines if line] + re.findall(r"`((?:exmachina|make|python) [^`]+)`", words)


def test_commands_exist(exmachina: Command) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    asked: dict[str, set[str]] = {}
    for line in _commands():
        program, *words = line.split()
        if program == "make":
            targets = [word for word in words if not word.startswith("-")]
            assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets), line
        elif program == "python":
            text = (ROOT / words[0]).read_text(encoding="utf-8")
            assert all(f'"{option}"' in text for option in words if option.startswith("--")), line
        elif program == "exmachina":
            asked.setdefault(words[0], set()).update(word for word in words if word.startswith("-"))
    assert {"design", "score", "inspect", "evaluate", "trace", "reproduce"} <= set(asked)
    for command, options in asked.items():
        told = exmachina(command, "--help")
        assert told.returncode == 0, command
        known = {"--help", *re.findall(r"(?<!\w)--?[a-z][a-z-]*", told.stdout)}
        assert options <= known, (command, options - known)


def test_nothing_is_called_a_bound_or_papers_any_more() -> None:
    for page in PAGES:
        text = page.read_text(encoding="utf-8").lower()
        assert "omniscient bound" not in text, page.name
        assert 'preset = "papers"' not in text, page.name
