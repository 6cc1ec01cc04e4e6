"""The report: one HTML file with every experiment, its pictures, tables and claims, and the ledger of all claims.

It needs no network and no other file. Charts are drawn when they come near the screen; until then, in print and without
scripts, the picture stands in their place.
"""

import base64
import io
import json
import math
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import polars as pl
from PIL import Image
from plotly.io.json import to_json_plotly

from exmachina import _core
from exmachina.errors import InputError
from exmachina.files import read_file, write_atomically
from exmachina.pictures import report
from exmachina.reproduce.claimtable import anchor, claims_table, ledger_board
from exmachina.reproduce.ledger import Tally, number, tally
from exmachina.reproduce.outcome import Outcome, Picture, TableOf

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
    body = [
        _summary(outcomes, {"version": f"exmachina {_core.__version__}", **_scale_fact(scales), **facts}),
        _contents(papers),
        _ledger(outcomes),
    ]
    for paper, own in papers.items():
        body.append(f'<h2 class="paper">{escape(PAPERS.get(paper, paper))}</h2>')
        body += [_experiment(outcome) for outcome in own]
    body.append(f'<script type="application/json" id="chart-config">{json.dumps(report.CONFIG)}</script>')
    text = report.page(
        TITLE,
        f"exmachina reproduce · scale {' and '.join(scales)}",
        LEAD,
        body,
        style=report.asset("exmachina.reproduce", "page.css"),
        script=report.asset("exmachina.reproduce", "page.js"),
    )
    write_atomically(path, text.encode())
    return path


def _scale_fact(scales: Sequence[str]) -> dict[str, str]:
    return {"scale": "; ".join(f"{scale} ({SCALES[scale]})" if scale in SCALES else scale for scale in scales)}


def _summary(outcomes: Sequence[Outcome], facts: dict[str, str]) -> str:
    """Totals as large figures and as a bar, and what holds for all experiments."""
    counts = tally(claim for outcome in outcomes for claim in outcome.claims)
    tiles = [
        ("#show=held", "held", counts.held, f"of {counts.measured} measured claims held"),
        ("#show=failed", "failed", counts.failed, "not held"),
        ("#show=unmeasured", "unmeasured", counts.unmeasured, "not measured"),
        ("#contents", "", len(outcomes), "experiments" if len(outcomes) != 1 else "experiment"),
    ]
    links = "".join(
        f'<a class="tile {style}" href="{link}"><b>{count}</b><span>{escape(words)}</span></a>'
        for link, style, count, words in tiles
    )
    parts = "".join(f'<i class="{style}" style="flex-grow:{count}"></i>' for _, style, count, _ in tiles[:3] if count)
    return (
        f'<div class="tiles">{links}</div><div class="share" role="img" aria-label="{counts}">{parts}</div>'
        f'<dl class="facts">{_pairs(facts)}</dl>'
    )


def _pairs(pairs: dict[str, str]) -> str:
    return "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in pairs.items())


def _contents(papers: dict[str, list[Outcome]]) -> str:
    """Links to the experiments, by paper, each with how many of its claims held."""
    lists = []
    for paper, outcomes in papers.items():
        links = "".join(
            f'<li><a href="#{anchor(outcome.id)}">{escape(outcome.title)}</a>{_score(tally(outcome.claims))}</li>'
            for outcome in outcomes
        )
        lists.append(f"<div><h3>{escape(PAPERS.get(paper, paper))}</h3><ol>{links}</ol></div>")
    return (
        '<nav class="card" id="contents" aria-labelledby="contents-title"><h2 id="contents-title">Contents</h2>'
        f'<p><a href="#ledger">All claims</a></p><div class="lists">{"".join(lists)}</div></nav>'
    )


def _score(counts: Tally) -> str:
    """How many claims held, small."""
    if not counts.all:
        return ""
    if not counts.measured:
        style = "unmeasured"
    else:
        style = "held" if not counts.failed else "some" if counts.held else "failed"
    return f'<span class="badge {style}" title="{counts}" aria-label="{counts}">{counts.held}/{counts.all}</span>'


def _ledger(outcomes: Sequence[Outcome]) -> str:
    words = (
        "The paper's number, ours with its 95 % bootstrap confidence interval, and by how much ours is off. In the "
        "drawing, the middle is the paper's number, the left end a third of it, the right end three times it; shaded "
        "is what counts as held, the line is the interval. “Tables” says with whose algorithms: those designed here, "
        "or the authors' published ones."
    )
    return f'<section id="ledger"><h2>All claims</h2><p>{words}</p>{ledger_board(outcomes)}</section>'


def _experiment(outcome: Outcome) -> str:
    """All of one experiment."""
    name = anchor(outcome.id)
    warnings = "".join(
        f'<p class="warning" role="note"><span aria-hidden="true">⚠ </span>{escape(text)}</p>'
        for text in outcome.warnings
    )
    pictures = "".join(_picture(picture, outcome) for picture in outcome.pictures)
    claims = [(claim, outcome) for claim in outcome.claims]
    parts = [
        f'<div class="pictures">{pictures}</div>' if pictures else "",
        f"<h3>Claims</h3>{claims_table(claims, f'Claims of {outcome.title}')}" if claims else "",
        *(_table(table) for table in outcome.tables),
        _method(outcome),
    ]
    return (
        f'<section class="experiment" id="{name}" aria-labelledby="{name}.title"><h2 id="{name}.title">'
        f"{escape(outcome.title)} {_score(tally(outcome.claims))}</h2><p>{escape(outcome.about)}</p>{warnings}"
        f'{"".join(parts)}<p class="up"><a href="#contents">Contents</a></p></section>'
    )


def _picture(picture: Picture, outcome: Outcome) -> str:
    """A picture, and the chart that takes its place once it is near the screen."""
    kind, data, (width, height) = _image(picture)
    words = escape(f"{outcome.title}: {picture.caption}")
    image = (
        f'<img alt="{words}" width="{width}" height="{height}" decoding="async" '
        f'src="data:image/{kind};base64,{base64.b64encode(data).decode()}">'
    )
    chart = ""
    if picture.chart is not None:
        chart = (
            f'<div class="live" role="img" aria-label="{escape(picture.caption)}" hidden></div>'
            f'<script type="application/json">{_json(picture.chart)}</script>'
        )
    files = f"<small>{escape(picture.png.name)}, {escape(picture.svg.name)}</small>"
    return f'<figure class="picture">{image}{chart}<figcaption>{escape(picture.caption)} {files}</figcaption></figure>'


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


def _json(chart: dict[str, Any]) -> str:
    """A chart as JSON that is safe within a script element, whatever its labels are."""
    return str(to_json_plotly(chart)).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _table(table: TableOf) -> str:
    """A table that sorts, and that can be searched if it is long."""
    rows = table.rows
    numeric = [kind.is_numeric() for kind in rows.dtypes]
    head = "".join(
        f'<th scope="col" data-key="{place}" class="{"number" if is_number else ""}">{escape(name)}</th>'
        for place, (name, is_number) in enumerate(zip(rows.columns, numeric, strict=True))
    )
    lines = "".join(
        f"<tr>{''.join(_cell(value, is_number=n) for value, n in zip(row, numeric, strict=True))}</tr>"
        for row in rows.iter_rows()
    )
    title = escape(table.title)
    tools = ""
    if len(rows) > SEARCHED_ROWS:
        tools = (
            f'<div class="tools"><input type="search" placeholder="Search" aria-label="Search {title}">'
            '<output aria-live="polite"></output></div>'
        )
    tall = " tall" if len(rows) > TALL_ROWS else ""
    return (
        f'<div class="board" id="{anchor(f"table-{table.name}")}"><h3>{title}</h3>{tools}'
        f'<div class="scroll{tall}" tabindex="0" role="region" aria-label="{title}"><table><caption>{title}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table></div></div>"
    )


def _cell(value: Any, *, is_number: bool) -> str:
    if is_number:
        usable = value is not None and math.isfinite(value)
        key = f' data-sort="{float(value)!r}"' if usable else ""
        text = (
            f"{value:,}".replace("-", "−")
            if isinstance(value, int)
            else number(None if value is None else float(value))
        )
        return f'<td class="number"{key}>{text}</td>'
    if value is None:
        return "<td>–</td>"
    if isinstance(value, bool):
        return f"<td>{'yes' if value else 'no'}</td>"
    text = ", ".join(map(str, value)) if isinstance(value, (list, pl.Series)) else str(value)
    return f'<td class="{"tight" if len(text) <= SHORT else "wide"}">{escape(text)}</td>'


def _method(outcome: Outcome) -> str:
    """How it was run, folded away."""
    pairs = {
        "again": f"exmachina reproduce {outcome.id} --scale {outcome.scale}",
        **outcome.method,
        "CPU time": f"{number(outcome.cpu_s)} s",
    }
    if outcome.parquet:
        pairs["results"] = ", ".join(path.name for path in outcome.parquet)
    return f'<details><summary>How it was run</summary><dl class="facts">{_pairs(pairs)}</dl></details>'
