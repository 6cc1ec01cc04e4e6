"""The report: one HTML file with every experiment, its pictures, tables and claims, and the ledger of all claims.

What was reproduced stands on its first screen; experiments are folded below. It needs no network and no other file, and
links to those that lie beside it. Charts are drawn when they come near the screen; until then, in print and without
scripts, the picture stands in their place.
"""

import base64
import io
import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import polars as pl
from PIL import Image

from exmachina import _core
from exmachina.errors import InputError
from exmachina.files import read_file, write_atomically
from exmachina.pictures.pages import fill
from exmachina.pictures.render import SCALE
from exmachina.reproduce.claimtable import COLUMNS, SIGNS, anchor, badges, claim_rows, kinds_of, style, views_of
from exmachina.reproduce.ledger import GROUPS, number, tally, write_ledger
from exmachina.reproduce.outcome import Outcome, Picture, TableOf
from exmachina.reproduce.verdicts import RULE, Verdict

__all__ = ["write_report"]

TITLE = "TCP ex Machina, run again"
CLAIMS = "claims.csv"
"""The ledger, beside the page."""
LEAD = (
    "{counts}, of {all} claims in experiments of “TCP ex Machina” (Winstein and Balakrishnan, SIGCOMM 2013) and “An "
    "Experimental Study of the Learnability of Congestion Control” (Sivaraman, Winstein, Thaker and Balakrishnan, "
    "SIGCOMM 2014), run in the simulator of exmachina."
)
PAPERS = {
    "Remy'13": "Remy'13: TCP ex Machina",
    "Tao'14": "Tao'14: Learnability of Congestion Control",
    "beyond": "Beyond the papers",
}
SCALES = {
    "quick": "fewer runs and points than in the papers, and some runs are shorter",
    "paper": "as many and as long runs as in the papers, where an experiment says nothing else",
}
SEARCHED_ROWS = 8
"""A table with more rows than this has a field to search it."""
TALL_ROWS = 16
"""A table with more rows than this scrolls in a box."""
SHORT = 32
"""Text of a table that is no longer than this many letters stays on one line."""
DOTS, QUALITY = 1.5, 80
"""Of a picture within the page, which stands in for its chart: dots to a pixel, and WebP's quality, per cent."""


def write_report(outcomes: list[Outcome], path: Path, *, facts: dict[str, str]) -> Path:
    """Writes the report, and beside it the ledger as `claims.csv`.

    Args:
        outcomes: Experiments, in the order in which they are to appear within their paper.
        path: The HTML file.
        facts: What holds for all of them, name and value: machine, command, date.

    Raises:
        InputError: If a picture cannot be read.
    """
    scales = list(dict.fromkeys(outcome.scale for outcome in outcomes))
    papers = {paper: [o for o in outcomes if o.paper == paper] for paper in dict.fromkeys(o.paper for o in outcomes)}
    claims = [claim for outcome in outcomes for claim in outcome.claims]
    counts = tally(claims)
    by_tables = {words: tally(claim for claim in claims if claim.tables == key) for key, words in GROUPS.items()}
    groups = {"all": counts, **{words: own for words, own in by_tables.items() if own.all}}
    text = fill(
        "report.html",
        title=TITLE,
        kicker=f"exmachina reproduce · scale {' and '.join(scales)}",
        lead=LEAD.format(counts=counts, all=counts.all),
        counts=counts,
        totals=[(f"#show={style(it)}", style(it), counts[it], it.value, SIGNS[it]) for it in Verdict],
        groups=[(words, [own[verdict] for verdict in Verdict]) for words, own in groups.items()],
        claims_csv=CLAIMS,
        experiments=len(outcomes),
        rule=RULE,
        facts={"version": f"exmachina {_core.__version__}", **_scale_fact(scales), **facts},
        views=views_of(outcomes),
        kinds=kinds_of(outcomes),
        columns=COLUMNS,
        claims=claim_rows([(claim, outcome) for outcome in outcomes for claim in outcome.claims]),
        papers=[
            {"title": PAPERS.get(paper, paper), "experiments": [_experiment(outcome, path.parent) for outcome in own]}
            for paper, own in papers.items()
        ],
    )
    write_atomically(path, text.encode())
    write_ledger(outcomes, path.with_name(CLAIMS))
    return path


def _links(folder: Path, *files: Path) -> dict[str, str]:
    """Names of files, and where they are from the page's folder."""
    return {file.name: quote(Path(os.path.relpath(file, folder)).as_posix()) for file in files}


def _scale_fact(scales: Sequence[str]) -> dict[str, str]:
    return {"scale": "; ".join(f"{scale} ({SCALES[scale]})" if scale in SCALES else scale for scale in scales)}


def _experiment(outcome: Outcome, folder: Path) -> dict[str, Any]:
    """All of one experiment, for a page in a folder."""
    counts = tally(outcome.claims)
    return {
        "anchor": anchor(outcome.id),
        "title": outcome.title,
        "about": outcome.about,
        "warnings": outcome.warnings,
        "counts": counts,
        "badges": badges(counts),
        "pictures": [_picture(picture, outcome, folder) for picture in outcome.pictures],
        "claims": claim_rows([(claim, outcome) for claim in outcome.claims]),
        "tables": [_table(table, folder) for table in outcome.tables],
        "files": _links(folder, *outcome.parquet),
        "method": _method(outcome),
    }


def _picture(picture: Picture, outcome: Outcome, folder: Path) -> dict[str, Any]:
    """A picture, and the chart that takes its place once it is near the screen."""
    data, (width, height) = _image(picture)
    return {
        "alt": f"{outcome.title}: {picture.caption}",
        "caption": picture.caption,
        "width": width,
        "height": height,
        "src": f"data:image/webp;base64,{base64.b64encode(data).decode()}",
        "files": _links(folder, picture.png, picture.svg),
        "chart": picture.chart,
    }


def _image(picture: Picture) -> tuple[bytes, tuple[int, int]]:
    """The picture as WebP, and its width and height, px."""
    try:
        with Image.open(io.BytesIO(read_file(picture.png)), formats=["PNG"]) as image:
            small = io.BytesIO()
            size = round(image.width / SCALE), round(image.height / SCALE)
            shrunk = image.convert("RGB").resize(
                (round(DOTS * size[0]), round(DOTS * size[1])), Image.Resampling.LANCZOS
            )
            shrunk.save(small, "WEBP", quality=QUALITY, method=6)
    except (OSError, SyntaxError) as error:  # what Pillow raises for a file that is no PNG, or a broken one
        raise InputError(f"{picture.png}: expected a PNG file: {error}") from None
    return small.getvalue(), size


def _table(table: TableOf, folder: Path) -> dict[str, Any]:
    """A table that sorts, and that can be searched if it is long."""
    rows = table.rows
    numeric = [kind.is_numeric() for kind in rows.dtypes]
    return {
        "anchor": anchor(f"table-{table.name}"),
        "title": table.title,
        "csv": "" if table.csv is None else _links(folder, table.csv)[table.csv.name],
        "searched": len(rows) > SEARCHED_ROWS,
        "tall": len(rows) > TALL_ROWS,
        "head": [(name, "number" if is_number else "") for name, is_number in zip(rows.columns, numeric, strict=True)],
        "rows": [
            [_cell(value, is_number=n) for value, n in zip(row, numeric, strict=True)] for row in rows.iter_rows()
        ],
    }


def _cell(value: Any, *, is_number: bool) -> dict[str, str | None]:
    """A cell: its style, what it sorts by if that is a number, and its text."""
    if is_number:
        usable = value is not None and math.isfinite(value)
        text = (
            f"{value:,}".replace("-", "−")
            if isinstance(value, int)
            else number(None if value is None else float(value))
        )
        return {"style": "number", "key": repr(float(value)) if usable else None, "text": text}
    if value is None or isinstance(value, bool):
        return {"style": "", "key": None, "text": {None: "–", True: "yes", False: "no"}[value]}
    text = ", ".join(map(str, value)) if isinstance(value, (list, pl.Series)) else str(value)
    return {"style": "tight" if len(text) <= SHORT else "wide", "key": None, "text": text}


def _method(outcome: Outcome) -> dict[str, str]:
    """How it was run, folded away."""
    return {
        "again": f"exmachina reproduce {outcome.id} --scale {outcome.scale}",
        **outcome.method,
        "CPU time": f"{number(outcome.cpu_s)} s",
    }
