"""README.md's "How good it is", from results that are committed: what is between its comments is written here.

Usage: readme.py [--picture]. Reads docs/results/ledger.csv, what comes with the package, and tables of docs/*.md; the
scripts that renew these call it. --picture draws docs/r4.png anew, too. python/tests/test_readme.py holds README.md to
all of this.
"""

import argparse
import math
import re
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import polars as pl
from digests import outdated
from in_ns3_page import in_brief
from readme_internet import internet, share
from reality_page import paired
from time_to_score import TODAY, scores_after

import exmachina
from exmachina.command.terminal import duration
from exmachina.files import write_atomically
from exmachina.networks import trained
from exmachina.reproduce.ledger import GROUPS, Tally
from exmachina.reproduce.verdicts import Verdict
from exmachina.schemes import signed

PROJECT = Path(__file__).parents[1]
GENERAL = ("general-0.1", "general-1", "general-10")
SHOWN = {
    "xcp": "XCP",
    "cubic/sfqcodel": "Cubic over sfqCoDel",
    "cubic": "Cubic",
    "compound": "Compound",
    "newreno": "NewReno",
    "vegas": "Vegas",
}
"""The schemes of figure 4 that people wrote, as the front page calls them."""
SISTERS = {"-published": "the published table", "": "`general-0.1`", "-robust": "`general-0.1-robust`"}
"""The tables for delta = 0.1, by the ends of their claims' ids."""
SECTIONS = {"clock": ["clock"], "published": ["published", "measure"], "acks": ["acks"], "world": ["world"]}
"""What README.md says of docs/sturdy.md, by its sections."""
WORDS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
DRAWN_S = 30
"""CPU-seconds after which README.md says how far a search on networks that are drawn has got."""
WIDTH = 120
PICTURE_RUNS = 64

TABLES = """
{count} tables come with the program. Their designs took {all} of CPU time together, {longest} at most. For {rivals} of
their models there is a table that the papers' authors published for the same networks ({distinct} tables, some for a
model and the one with `-robust` both), the work of days to a year: by the design score, in this simulator,
ours are ahead of {ahead} of them on {specimens} networks that no design has seen, with 95 % confidence{looked}
([by how much, and by what each was chosen](docs/algorithms.md)).
"""
ELSEWHERE = """
Do they hold up where they were not made? [docs/sturdy.md](docs/sturdy.md) measures it, line by line, in this simulator:
a microsecond of jitter leaves {clock} means of {clock_asked} within 1 %; on runs of 1000 s and by the papers' own
measure {published} of {published_asked} comparisons with the authors' tables hold, whole or in a part of a range;
{acks} of {acks_asked} tables lose at most 0.05 in ln(throughput / delay) to delayed ACKs. Those called `-robust` were
trained with jitter, losses, delayed ACKs, short buffers and upsets; with one of these at a time {world} of
{world_asked} things asked of them hold.
What testers found of earlier tables in the authors' simulator and ns-2 is in
[docs/designs.md](docs/designs.md#run-elsewhere); these have not been run there yet.
"""
KERNEL = """
In Linux's kernel, with the simulator's path between real hosts and eight senders on 15 Mbit/s and 150 ms, which are in
the range that `{table}` was trained on, medians of runs: each 5 s on and 5 s off, it has throughput and queue
of {turns}; with transfers of 100 kB, {r4}. Of {networks} networks, how far simulations are from the kernel
in the median, and on how many the queue is right within 10 % or 2 ms: {humans}; {tables}.
In throughput those that were trained in the world as it is are off by {most} at most, on one of them, those that
were not by {clean} ([network by network](docs/reality.md);
[what is known of it](docs/testbed.md#where-simulation-and-kernel-differ)).{outdated}
"""
KERNELS = {"cubic": "Cubic", "newreno": "Reno", "bbr1": "BBR"}
IN_KERNEL = "general-0.1-robust"
SPEED = """
Published tables do in this simulator what they do in their authors', within {percent:g} %, at {first} and {second}
times the speed; one rule alone runs at {one_rule} times ([how measured](docs/speed.md#beside-the-authors-simulator)).
"""
SEARCH = """
On the small problem of [docs/search.md](docs/search.md#fresh-seeds) the search has a score of {one} after one
CPU-second and {ten} after ten (medians of {seeds} fresh seeds), the authors' program {theirs} after {theirs_s};
{reached} of the {seeds} seeds are there after one. On networks drawn from a tenfold range of rates (tao-10x) it has
{drawn} after {drawn_s} CPU-seconds ([ten seeds](docs/search.md#fresh-seeds-of-networks-that-are-drawn)).
"""
FIGURE_4 = """
Figure 4 of Remy'13 (8 senders, transfers of 100 kB), medians of senders, throughput and delay over the RTT as its
scripts count them: {medians}. Of the {count} schemes that people wrote, {ahead}. Ahead of all of them in both {both}.
Was such a network in training or in choosing these tables? {seen}.
"""
CLAIMS = """
What the two papers claim was measured {all} times
([each of them, and the rule](docs/reproduced.md#the-ledger-of-claims)). With {groups}.
A number is reproduced if our 95 % interval, widened by the error of reading it, has it inside; those that differ do so
by {typical} in the median and {most} at most. Of the {both} claims that our tables and the published ones can both be
held to, ours reproduce or better {ours}, the published ones {published}; of the {three} that robust ones can be held
to besides, ours {ours_of_three}, the published ones {published_of_three}, the robust ones {robust}. The networks of
{training} claims with tables of ours were in the training of all of these, those of {choosing} in choosing one.
"""

Rows = list[dict[str, str]]


def main() -> None:
    """Writes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--picture", action="store_true")
    given = parser.parse_args()
    renew(PROJECT)
    if given.picture:
        draw(PROJECT / "docs" / "r4.png")


def renew(project: Path) -> None:
    """Writes README.md's blocks; the one of the ledger only if there is one."""
    path = project / "README.md"
    text = path.read_text(encoding="utf-8")
    for name, block in BLOCKS.items():
        if name != "ledger" or ledger_path(project).exists():
            text = with_block(text, name, block(project))
    write_atomically(path, text.encode())


def with_block(text: str, name: str, block: str) -> str:
    """The page with a block in place of what was there."""
    begin, _, end = parts(text, name)
    return f"{begin}{block}{end}"


def parts(text: str, name: str) -> tuple[str, str, str]:
    """A page before, within and after the comments of a block.

    Raises:
        ValueError: If the page has no such block.
    """
    found = re.search(rf"(<!-- {name}: [^>]*-->\n)(.*?)(<!-- {name} ends -->)", text, re.DOTALL)
    if found is None:
        raise ValueError(f"README.md: there is no block {name}")
    return text[: found.end(1)], found[2], text[found.start(3) :]


def ledger_path(project: Path) -> Path:
    """Where `reproduced.py` writes the ledger of claims."""
    return project / "docs" / "results" / "ledger.csv"


def ledger_block(project: Path) -> str:
    """Figure 4, and what became of the papers' claims."""
    ledger = pl.read_csv(ledger_path(project))
    return listed(figure_4(ledger), claims(ledger))


def figure_4(ledger: pl.DataFrame) -> str:
    """The medians of figure 4."""
    rows = {row["id"]: row for row in ledger.iter_rows(named=True)}
    tables = {f"general-0.1{end}": words for end, words in SISTERS.items() if f"fig4-delay-general-0.1{end}" in rows}
    at = {
        name: tuple(rows[f"fig4-{what}-{name}"]["ours"] for what in ("throughput", "delay")) for name in tables | SHOWN
    }
    leads = {
        name: [sum(ahead) for ahead in zip(*(leads_of(at[name], at[other]) for other in SHOWN), strict=True)]
        for name in tables
    }
    both = [words for name, words in tables.items() if min(leads[name]) == len(SHOWN)]
    told = [f"{words} {at[name][0]:.2f} Mbit/s at {at[name][1]:.1f} ms" for name, words in (tables | SHOWN).items()]
    ahead = [
        f"{words} is ahead of {in_words(leads[name][0])} in throughput and of {in_words(leads[name][1])} in delay"
        for name, words in tables.items()
    ]
    seen = [f"{words}: {rows[f'fig4-throughput-{name}']['seen']}" for name, words in tables.items()]
    return FIGURE_4.format(
        medians=", ".join(told),
        count=in_words(len(SHOWN)),
        ahead=", ".join(ahead),
        both=f"is {' and '.join(both)}" if len(both) == 1 else f"are {' and '.join(both) or 'none'}",
        seen="; ".join(seen),
    )


def leads_of(one: Sequence[float], other: Sequence[float]) -> tuple[bool, bool]:
    """Whether one has more throughput than the other, and whether it has less delay."""
    return one[0] > other[0], one[1] < other[1]


def claims(ledger: pl.DataFrame) -> str:
    """What became of the papers' claims, and with whose tables."""
    measured = ledger.filter(pl.col("verdict") != Verdict.UNMEASURED).with_columns(
        good=pl.col("verdict").is_in([Verdict.REPRODUCED, Verdict.BETTER])
    )
    kinds = {
        kind: measured.filter(tables=kind).select(claim_of(kind), "good") for kind in ("ours", "published", "robust")
    }
    both = kinds["ours"].join(kinds["published"], on="id", suffix="_published")
    three = both.join(kinds["robust"], on="id", suffix="_robust")
    off = [abs(each) for each in measured.filter(verdict=Verdict.DIFFERS)["difference"]]
    seen = ledger.filter(pl.col("tables").is_in(["ours", "robust"]))["seen"]
    return CLAIMS.format(
        all=len(ledger),
        groups="; with ".join(counts(words, ledger.filter(tables=name)) for name, words in GROUPS.items()),
        typical=share(float(np.median(off))),
        most=share(max(off)),
        both=len(both),
        ours=both["good"].sum(),
        published=both["good_published"].sum(),
        three=len(three),
        ours_of_three=three["good"].sum(),
        published_of_three=three["good_published"].sum(),
        robust=three["good_robust"].sum(),
        training=sum("in training" in words and "neither" not in words for words in seen.drop_nulls()),
        choosing=sum("in choosing" in words for words in seen.drop_nulls()),
    )


def claim_of(kind: str) -> pl.Expr:
    """The claim that rows of tables of a kind are of: their id without its end."""
    return pl.col("id").str.strip_suffix(f"-{kind}")


def counts(group: str, ledger: pl.DataFrame) -> str:
    """How many claims came to what, in words."""
    verdicts = ledger["verdict"].to_list()
    return f"{group}: {Tally({verdict: verdicts.count(verdict) for verdict in Verdict})}, of {len(verdicts)}"


def results_block(project: Path) -> str:
    """What the tables are worth here and elsewhere, how fast the simulator is, and how far the search gets."""
    docs = project / "docs"
    return listed(tables(), elsewhere(docs), ns3(docs), internet(docs), kernel(docs), speed(docs), search(docs))


def tables() -> str:
    """The tables that come with the program, beside the published ones."""
    every = exmachina.algorithms()
    rivals = [one.published for one in every if one.published is not None]
    ahead = sum(rival.lead > rival.lead_ci95 for rival in rivals)
    looked = [f"`{one.name}`" for one in every if one.choosing.held_out]
    designs = {one.metadata["model"]: one.cpu_s for one in every}.values()
    return TABLES.format(
        count=len(every),
        all=duration(sum(designs)),
        longest=duration(max(designs)),
        rivals=in_words(len(rivals)),
        distinct=in_words(len({rival.name for rival in rivals})),
        ahead="all" if ahead == len(rivals) else in_words(ahead),
        looked=f"; only with {' and '.join(looked)} we went on after a look at scores there" if looked else "",
        specimens=min(one.metadata["held_out"]["specimens"] for one in every if one.published is not None),
    )


def elsewhere(docs: Path) -> str:
    """What became of it outside."""
    rows = pl.read_csv(docs / "results" / "sturdy.csv").filter(pl.col("held").is_not_null())
    counts: dict[str, int] = {}
    for name, sections in SECTIONS.items():
        own = rows.filter(pl.col("section").is_in(sections))
        counts |= {name: own.filter(held="yes").height, f"{name}_asked": own.height}
    return ELSEWHERE.format(**counts)


def ns3(docs: Path) -> str:
    """What tables do in ns-3."""
    rows = pl.read_csv(docs / "results" / "ns3-senders.csv", schema_overrides={"digest": pl.String})
    return in_brief(rows.with_columns(pl.col("digest").fill_null("")))


def in_world(name: str) -> bool:
    """Whether it met jitter and losses while it was designed."""
    met = trained(exmachina.Algorithm(name).model.text)
    return all(span is not None and span.high > 0 for span in (met.jitter_ms, met.loss))


def kernel(docs: Path) -> str:
    """What tables do in a kernel, and how far simulations are from it."""
    rows = pl.read_csv(docs / "results" / "reality.csv")
    pairs = paired(rows).filter(side="measured")
    gaps = {name: own for (name,), own in pairs.group_by("scheme", maintain_order=True)}
    off = {
        name: f"{100 * float(np.median(own['gap'])):.1f} % in throughput, queues right on {own['close'].sum()}"
        for name, own in gaps.items()
    }
    own = [name for name in gaps if not str(name).startswith(tuple(KERNELS))]
    return KERNEL.format(
        table=IN_KERNEL,
        turns=in_kernel(pairs, "turns"),
        r4=in_kernel(pairs, "r4"),
        networks=pairs["cell"].n_unique(),
        humans="; ".join(f"{words} {off[name]}" for name, words in KERNELS.items()),
        tables="; ".join(f"`{name}` {off[name]}" for name in own),
        most=share(max(float(gaps[name]["gap"].to_numpy().max()) for name in own if in_world(str(name)))),
        clean=share(max(float(gaps[name]["gap"].to_numpy().max()) for name in own if not in_world(str(name)))),
        outdated=f" {said}" if (said := outdated(rows, "scheme")) else "",
    )


def in_kernel(pairs: pl.DataFrame, cell: str) -> str:
    """What the table has on a network there, and what the kernel's own schemes have."""
    rows = {row["scheme"]: row for row in pairs.filter(cell=cell).to_dicts()}
    got = {name: f"{row['mbps']:.2f} Mbit/s at {row['delay_ms']:.0f} ms" for name, row in rows.items()}
    return f"{got[IN_KERNEL]} ({', '.join(f'{words} {got[name]}' for name, words in KERNELS.items())})"


def speed(docs: Path) -> str:
    """How fast the simulator is, and how near to the authors'."""
    rows = markdown_table(docs / "speed.md", "Beside the authors' simulator")
    # Rounded down: nobody is promised more than was measured.
    first, second, one_rule = (math.floor(number(row["authors'"]) / number(row["ours"])) for row in rows)
    known = re.findall(r"known [\d.]+: ([+-][\d.]+) %", (docs / "validation.md").read_text(encoding="utf-8"))
    percent = math.ceil(10 * max(abs(number(share)) for share in known)) / 10
    return SPEED.format(percent=percent, first=first, second=second, one_rule=one_rule)


def search(docs: Path) -> str:
    """How far the search gets in a second."""
    rows = [row for row in markdown_table(docs / "search.md", "Fresh seeds") if row["seed"].isdigit()]
    after = [[number(row[column]) for row in rows] for column in ("now, 1 s", "now, 10 s")]
    page = (docs / "search.md").read_text(encoding="utf-8")
    found = re.search(r"authors' program took .* CPU-seconds to .* and (\d+) to (\S\d\.\d+)[;.,]", page)
    if found is None:
        raise ValueError("docs/search.md: it is not said how far the authors' program gets")
    drawn = pl.read_csv(docs / "results" / "time-to-score.csv")
    one, ten = (signed(float(np.median(scores)), 2) for scores in after)
    return SEARCH.format(
        one=one,
        ten=ten,
        seeds=in_words(len(rows)),
        reached=in_words(sum(score >= number(found[2]) for score in after[0])),
        theirs=found[2],
        theirs_s=found[1],
        drawn=signed(float(np.median(scores_after(drawn, "tao-10x", TODAY, DRAWN_S))), 2),
        drawn_s=DRAWN_S,
    )


def in_words(count: int) -> str:
    """A small number as a word."""
    return WORDS[count] if count < len(WORDS) else str(count)


def number(text: str) -> float:
    """A number as people write it."""
    return float(text.replace("−", "-"))


def markdown_table(page: Path, heading: str) -> Rows:
    """The first table under a heading, by the names of its columns.

    Raises:
        ValueError: If there is none.
    """
    text = page.read_text(encoding="utf-8")
    found = re.search(rf"^#+ {re.escape(heading)}$[^|]*((?:^\|.*\n)+)", text, re.MULTILINE)
    if found is None:
        raise ValueError(f"{page}: there is no table under {heading}")
    head, _, *rows = ([cell.strip(" `") for cell in line.strip("|").split("|")] for line in found[1].splitlines())
    return [dict(zip(head, row, strict=True)) for row in rows]


def listed(*items: str) -> str:
    """A list in Markdown."""
    look = textwrap.TextWrapper(
        WIDTH, initial_indent="- ", subsequent_indent="  ", break_on_hyphens=False, break_long_words=False
    )
    return "".join(f"{look.fill(item.strip())}\n" for item in items)


def draw(path: Path) -> None:
    """Figure 4 with schemes of today and the tables of now, for the front page."""
    schemes = [*GENERAL, *exmachina.Evaluation.load("r4").contenders, "bbr3", "copa"]
    results = exmachina.evaluate("r4", schemes, runs=PICTURE_RUNS)
    from exmachina.pictures.render import save  # noqa: PLC0415 (drawing takes a second to load)
    from exmachina.pictures.tradeoff import results_chart  # noqa: PLC0415

    save(results_chart(results), path)


BLOCKS: dict[str, Callable[[Path], str]] = {"results": results_block, "ledger": ledger_block}
"""What writes what is between `<!-- NAME: ... -->` and `<!-- NAME ends -->`."""

if __name__ == "__main__":
    main()
