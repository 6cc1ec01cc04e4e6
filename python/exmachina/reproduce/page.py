"""The report: one HTML file with every experiment, its pictures, tables and claims, and the ledger of all claims.

It needs no network and no other file. Charts are drawn when they come near the screen; until then, in print and without
scripts, the picture stands in their place.
"""

import base64
import io
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
from PIL import Image

from exmachina import _core
from exmachina.errors import InputError
from exmachina.files import read_file, write_atomically
from exmachina.pictures.pages import fill
from exmachina.reproduce.claimtable import COLUMNS, anchor, badges, claim_rows, kinds_of, style, views_of
from exmachina.reproduce.ledger import number, tally
from exmachina.reproduce.outcome import Outcome, Picture, TableOf
from exmachina.reproduce.verdicts import RULE, Verdict

__all__ = ["write_report"]

TITLE = "TCP ex Machina, run again"
LEAD = (
    "Experiments of “TCP ex Machina” (Winstein and Balakrishnan, SIGCOMM 2013) and “An Experimental Study of the "
    "Learnability of Congestion Control” (Sivaraman, Winstein, Thaker and Balakrishnan, SIGCOMM 2014), run in the "
    "simulator of exmachina. Each claim of the papers stands beside our number."
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
COLOURS = 256
"""Of a picture within the page: a third of the bytes, and no difference to see."""


def write_report(outcomes: list[Outcome], path: Path, *, facts: dict[str, str]) -> Path:
    """Writes the report.

    Args:
        outcomes: Experiments, in the order in which they are to appear within their paper.
        path: The HTML file.
        facts: What holds for all of them, name and value: machine, command, date.

    Raises:
        InputError: If a picture cannot be read.
    """
    scales = list(dict.fromkeys(outcome.scale for outcome in outcomes))
    papers = {paper: [o for o in outcomes if o.paper == paper] for paper in dict.fromkeys(o.paper for o in outcomes)}
    counts = tally(claim for outcome in outcomes for claim in outcome.claims)
    text = fill(
        "report.html",
        title=TITLE,
        kicker=f"exmachina reproduce · scale {' and '.join(scales)}",
        lead=LEAD,
        counts=counts,
        totals=[(f"#show={style(verdict)}", style(verdict), counts[verdict], verdict.value) for verdict in Verdict],
        experiments=len(outcomes),
        rule=RULE,
        facts={"version": f"exmachina {_core.__version__}", **_scale_fact(scales), **facts},
        views=views_of(outcomes),
        kinds=kinds_of(outcomes),
        columns=COLUMNS,
        claims=claim_rows([(claim, outcome) for outcome in outcomes for claim in outcome.claims]),
        papers=[
            {"title": PAPERS.get(paper, paper), "experiments": list(map(_experiment, own))}
            for paper, own in papers.items()
        ],
    )
    write_atomically(path, text.encode())
    return path


def _scale_fact(scales: Sequence[str]) -> dict[str, str]:
    return {"scale": "; ".join(f"{scale} ({SCALES[scale]})" if scale in SCALES else scale for scale in scales)}


def _experiment(outcome: Outcome) -> dict[str, Any]:
    """All of one experiment."""
    counts = tally(outcome.claims)
    return {
        "anchor": anchor(outcome.id),
        "title": outcome.title,
        "about": outcome.about,
        "warnings": outcome.warnings,
        "counts": counts,
        "badges": badges(counts),
        "pictures": [_picture(picture, outcome) for picture in outcome.pictures],
        "claims": claim_rows([(claim, outcome) for claim in outcome.claims]),
        "tables": list(map(_table, outcome.tables)),
        "method": _method(outcome),
    }


def _picture(picture: Picture, outcome: Outcome) -> dict[str, Any]:
    """A picture, and the chart that takes its place once it is near the screen."""
    kind, data, (width, height) = _image(picture)
    return {
        "alt": f"{outcome.title}: {picture.caption}",
        "caption": picture.caption,
        "width": width,
        "height": height,
        "src": f"data:image/{kind};base64,{base64.b64encode(data).decode()}",
        "files": f"{picture.png.name}, {picture.svg.name}",
        "chart": picture.chart,
    }


def _image(picture: Picture) -> tuple[str, bytes, tuple[int, int]]:
    """The smaller of its two files, with the kind that browsers know it by, and its width and height, px."""
    try:
        with Image.open(io.BytesIO(read_file(picture.png)), formats=["PNG"]) as image:
            small = io.BytesIO()
            image.convert("RGB").quantize(COLOURS).save(small, "PNG", optimize=True)
            size = image.size
    except (OSError, SyntaxError) as error:  # what Pillow raises for a file that is no PNG, or a broken one
        raise InputError(f"{picture.png}: expected a PNG file: {error}") from None
    png, svg = small.getvalue(), read_file(picture.svg)
    return ("png", png, size) if len(png) <= len(svg) else ("svg+xml", svg, size)


def _table(table: TableOf) -> dict[str, Any]:
    """A table that sorts, and that can be searched if it is long."""
    rows = table.rows
    numeric = [kind.is_numeric() for kind in rows.dtypes]
    return {
        "anchor": anchor(f"table-{table.name}"),
        "title": table.title,
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
    pairs = {
        "again": f"exmachina reproduce {outcome.id} --scale {outcome.scale}",
        **outcome.method,
        "CPU time": f"{number(outcome.cpu_s)} s",
    }
    if outcome.parquet:
        pairs["results"] = ", ".join(path.name for path in outcome.parquet)
    return pairs
