"""Self-contained HTML pages: everything in one file, plotly's script included, readable on a phone."""

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from html import escape
from importlib import resources

import numpy as np
import plotly.graph_objects as go
import polars as pl
from plotly.offline import get_plotlyjs

from exmachina import _core
from exmachina.inspection import Inspection
from exmachina.pictures import charts
from exmachina.pictures.slices import slice_of
from exmachina.pictures.style import network_words, signal_words
from exmachina.pictures.timeline import timeline_of
from exmachina.schemes import action_words, box_words, percent, signed

__all__ = ["CONFIG", "asset", "chart", "columns", "inspection_page", "inspection_sections", "page", "section", "tiles"]

CONFIG = {"displayModeBar": False, "responsive": True}
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data: blob:; "
    "font-src data:; worker-src blob:"
)
"""What a browser lets a page of ours do: everything in the file, nothing of the network. Plotly compiles some drawing
code as it goes."""
TOP_RULES = 12


def page(title: str, kicker: str, lead: str, body: Iterable[str], *, style: str = "", script: str | None = None) -> str:
    """A page: title, a line above it, a paragraph below it (these three are text), and sections of HTML.

    Args:
        title: Of the page and of the window.
        kicker: The line above the title.
        lead: The paragraph below it.
        body: Sections.
        style: CSS after that of all pages.
        script: If given, the page shows before plotly's script, megabytes, is read: that then comes at the end, and
            after it this one. Charts of `chart` need plotly before them.
    """
    css = asset("exmachina", "page.css") + style
    plotly = f"<script>{get_plotlyjs()}</script>"
    first, last = (plotly, "") if script is None else ("", f"{plotly}<script>{script}</script>")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{css}</style>{first}</head>\n<body><main>"
        f'<header><p class="kicker">{escape(kicker)}</p><h1>{escape(title)}</h1><p>{escape(lead)}</p></header>\n'
        + "\n".join(body)
        + f"\n<footer>Made by exmachina {_core.__version__}.</footer></main>{last}</body></html>\n"
    )


def asset(package: str, name: str) -> str:
    """A style sheet or script that comes with a package of ours."""
    return resources.files(package).joinpath(name).read_text(encoding="utf-8")


def section(title: str, words: str, *content: str) -> str:
    """A section; title and words are text, the content is HTML."""
    return f"<section><h2>{escape(title)}</h2><p>{escape(words)}</p>{''.join(content)}</section>"


def columns(*sections: str) -> str:
    """Sections side by side where there is room."""
    return f'<div class="columns">{"".join(sections)}</div>'


def tiles(facts: Sequence[tuple[str, str]]) -> str:
    """Large figures, each with what it is."""
    each = (f'<div class="tile"><b>{escape(figure)}</b><span>{escape(words)}</span></div>' for figure, words in facts)
    return f'<div class="tiles">{"".join(each)}</div>'


def chart(figure: go.Figure) -> str:
    """An interactive figure. The same figure always gives the same text."""
    name = "chart-" + sha256(figure.to_json().encode()).hexdigest()[:12]
    return str(figure.to_html(full_html=False, include_plotlyjs=False, config=CONFIG, div_id=name))


def table_of_scores(summary: pl.DataFrame, colours: Mapping[str, str]) -> str:
    """The summary of a score report, the best on top."""
    first = summary["scheme"][0]
    starve = summary["starved_senders"].sum() > 0
    rows = []
    for line in summary.sort("score", descending=True, nulls_last=True).iter_rows(named=True):
        is_first = line["scheme"] == first
        difference = "" if is_first else _with_interval(line["difference"], line["difference_ci95"], plus=True)
        dot = f'<i class="dot" style="background:{colours[line["scheme"]]}"></i>'
        rows.append(
            f'<tr><td class="tight">{dot}{escape(line["scheme"])}</td>'
            f'<td class="number">{_with_interval(line["score"], line["score_ci95"])}</td>'
            f'<td class="number">{difference}</td>'
            f'<td class="number">{_or_dash(line["normalised_throughput"], ".2f")}</td>'
            f'<td class="number">{_or_dash(line["queueing_delay_ms"], ",.1f")}</td>'
            + (f'<td class="number">{percent(line["starved_share"])}</td></tr>' if starve else "</tr>")
        )
    head = (
        '<tr><th>scheme</th><th class="number">score ± 95 %</th>'
        f'<th class="number">to {escape(first)}</th><th class="number">throughput / equal share</th>'
        '<th class="number">queueing delay, ms</th>'
        + ('<th class="number">starved senders</th></tr>' if starve else "</tr>")
    )
    return f'<div class="scroll"><table><thead>{head}</thead><tbody>{"".join(rows)}</tbody></table></div>'


def _with_interval(value: float | None, half_width: float, *, plus: bool = False) -> str:
    text = signed(value, plus=plus)
    return text if value is None or np.isnan(half_width) else f"{text} ± {half_width:.3f}"


def _or_dash(value: float | None, spec: str) -> str:
    return "–" if value is None else format(value, spec)


def inspection_page(inspection: Inspection) -> str:
    """The page of an inspection."""
    table, model = inspection.table, inspection.model
    used = int((inspection.usage["uses"] > 0).sum())
    facts = [
        (f"{len(table)}", "rules"),
        (f"{used}", "of them used on these networks"),
        (f"{inspection.usage['share'][0] * 100:.3g} %", f"of all uses by rule {inspection.usage['rule'][0]}"),
        (f"{slice_of(inspection.table, inspection.sample).window:g}", "packets: the median window"),
    ]
    lead = (
        "What this congestion-control algorithm does, and when, on "
        f"{model.description or network_words(dict(inspection.network))}. Its rules look at {_listed(table.signals)}."
    )
    return page(table.name, "exmachina inspect", lead, [tiles(facts), *inspection_sections(inspection)])


def inspection_sections(inspection: Inspection) -> list[str]:
    """The sections that explain a table: a run over time, the action over memory, the rules."""
    view = slice_of(inspection.table, inspection.sample)
    held = ", ".join(f"{signal} {value:.3g}" for signal, value in view.at.items())
    where = f" Held at their medians: {held}." if held else ""
    dots = f"Dots are memories that occurred.{where}"
    seen = f"Across: {signal_words(view.x.signal)}. Upwards: {signal_words(view.y.signal)}."
    return [
        section(
            "On one network, over time",
            f"{network_words(dict(inspection.network))}. A line breaks where its sender is off.",
            chart(charts.timeline_chart(timeline_of(inspection.record))),
        ),
        columns(
            section(
                "What an ACK does to the window",
                f"Change of a window of {view.window:g} packets: blue grows, red shrinks. {seen}",
                chart(charts.slice_chart(view, view.window_change, diverging=True, unit="packets")),
            ),
            section(
                "How fast it may send",
                f"Least time between two packets. {dots}",
                chart(charts.slice_chart(view, view.intersend_ms, diverging=False, unit="ms")),
            ),
        ),
        section(
            "The rules",
            "The most used first. A rule fires when an ACK leaves the memory in its box; w is the window in packets. "
            "The medians are of the memory it fired at.",
            rule_table(inspection),
        ),
    ]


def rule_table(inspection: Inspection) -> str:
    """The rules, the most used on top; the rest folded away."""
    rows = [_rule_row(inspection, rule) for rule in inspection.usage.iter_rows(named=True)]
    head = (
        '<thead><tr><th class="number">rule</th><th class="number">uses</th><th></th><th>what it does</th>'
        "<th>when</th><th>median memory</th></tr></thead>"
    )

    def table(some: list[str]) -> str:
        return f'<div class="scroll"><table>{head}<tbody>{"".join(some)}</tbody></table></div>'

    if len(rows) <= TOP_RULES:
        return table(rows)
    rest = f"<details><summary>{len(rows) - TOP_RULES} more rules</summary>{table(rows[TOP_RULES:])}</details>"
    return table(rows[:TOP_RULES]) + rest


def _rule_row(inspection: Inspection, rule: Mapping[str, float]) -> str:
    signals = inspection.table.signals
    usage = inspection.usage
    domain = {s: (min(usage[f"{s}_from"]), max(usage[f"{s}_to"])) for s in signals}
    medians = ", ".join(f"{s} {rule[f'median_{s}']:.3g}" for s in signals) if rule["uses"] else "never used"
    most = usage["share"].max() or 1.0
    share = 100 * rule["share"]
    return (
        f'<tr><td class="number">{rule["rule"]}</td><td class="number">{share:.3g} %</td>'
        f'<td class="bar"><i style="width:{100 * rule["share"] / most:.1f}%"></i></td>'  # type: ignore[operator]
        f'<td class="tight">{escape(action_words(rule))}</td><td class="wide">{escape(box_words(rule, domain))}</td>'
        f'<td class="wide">{escape(medians)}</td></tr>'
    )


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
