"""All experiments at the papers' scale, for docs: writes docs/reproduced.md, its pictures and docs/results/ledger.csv.

Usage: reproduced.py [--output FOLDER] [--scale paper|quick] [--into PROJECT]. Runs are kept in FOLDER/cache: it goes on
where it was. The authors' published tables and recordings of cellular links are taken from beside the project, where
they are; our robust tables run besides. What README.md says of the ledger is renewed, too. --into writes into another
copy of the project, or, to try it, into any folder: README.md is written where there is one.
"""

import argparse
import io
from pathlib import Path

from PIL import Image
from readme import ledger_path, renew

import exmachina
from exmachina.files import write_atomically
from exmachina.reproduce.ledger import ledger_markdown, write_ledger
from exmachina.reproduce.outcome import Outcome
from exmachina.reproduce.page import write_report

PROJECT = Path(__file__).parents[1]
REFERENCE = PROJECT.parent / "shared" / "reference"
RECORDINGS = {"verizon": "lte/Verizon-LTE-2012-resampled.down", "att": "traces/ATT-LTE-driving.down"}
"""Verizon's is Remy'13's own by the opportunities in each tenth of a second; the instants within are resampled."""
COLOURS = 128
HEAD = """\
# The papers, reproduced

Every figure of Remy'13 and Tao'14 as `exmachina reproduce all --scale {scale} --robust` draws it, {published}, and the
[ledger of claims](#the-ledger-of-claims), in which our robust tables are, too: the papers' numbers beside ours, with
95 % bootstrap intervals over runs, and the rule by which each is reproduced, better, different or not reproduced.
Where the papers' text, their code and we differ, and which way each experiment goes: [differences.md](differences.md).
How our human schemes compare with ns-2's: [validation.md](validation.md). This page is written by
`python validation/reproduced.py`, version {version}; its simulations took {cpu_min:.0f} minutes of CPU time, those not
counted that had been made before without a record of it.
"""


def main() -> None:
    """Runs what is missing, and writes the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=Path("reproduced"))
    parser.add_argument("--scale", choices=["paper", "quick"], default="paper")
    parser.add_argument("--into", type=Path, default=PROJECT, metavar="PROJECT")
    given = parser.parse_args()
    traces = {name: REFERENCE / file for name, file in RECORDINGS.items()}
    tables = REFERENCE / "remycc" if (REFERENCE / "remycc").exists() else None
    outcomes = exmachina.reproduce(
        "all",
        scale=given.scale,
        output=given.output,
        tables=tables,
        robust=True,
        traces={name: path for name, path in traces.items() if path.exists()},
    )
    write_report(outcomes, given.output / "report.html", facts={})
    cpu_min = sum(outcome.cpu_s for outcome in outcomes) / 60
    published = "with the authors' published tables beside ours" if tables else "with our tables alone"
    head = HEAD.format(scale=given.scale, published=published, cpu_min=cpu_min, version=exmachina.__version__)
    write_docs(outcomes, head, given.into)
    print(f"{len(outcomes)} experiments, {cpu_min:.0f} minutes of CPU time: {given.into / 'docs' / 'reproduced.md'}")


def write_docs(outcomes: list[Outcome], head: str, project: Path) -> None:
    """The page, its pictures, the ledger, and what the front page says of it."""
    docs = project / "docs"
    for folder in (docs / "reproduced", docs / "results"):
        folder.mkdir(parents=True, exist_ok=True)
    lines = [head]
    for outcome in outcomes:
        if not outcome.pictures:
            continue
        lines.append(f"## {outcome.paper}, {outcome.title}\n\n{outcome.about.strip()}\n")
        lines += [f"*{warning}*\n" for warning in outcome.warnings]
        for picture in outcome.pictures:
            write_atomically(docs / "reproduced" / f"{picture.name}.png", small(picture.png))
            lines.append(f"![{picture.caption}](reproduced/{picture.name}.png)\n")
    lines.append(f"## The ledger of claims\n\n{ledger_markdown(outcomes)}")
    write_atomically(docs / "reproduced.md", "\n".join(lines).encode())
    write_ledger(outcomes, ledger_path(project))
    if (project / "README.md").exists():
        renew(project)


def small(path: Path) -> bytes:
    """A picture with fewer colours, for a repository."""
    data = io.BytesIO()
    with Image.open(path) as image:
        image.convert("RGB").quantize(COLOURS).save(data, "PNG", optimize=True)
    return data.getvalue()


if __name__ == "__main__":
    main()
