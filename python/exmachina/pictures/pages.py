"""Pages: templates filled in. Each is one file, with everything in it, readable on a phone."""

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
import polars as pl
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from exmachina import _core
from exmachina.inspection import Inspection
from exmachina.pictures.inspection import of_law, over_time, slices
from exmachina.pictures.render import javascript, spec_of
from exmachina.pictures.slices import slice_of
from exmachina.pictures.style import ON_DARK, network_words, signal_words
from exmachina.schemes import action_words, box_words, law_levels, law_words, percent, signed

__all__ = ["explained", "fill", "inspection_page", "part", "table_of_scores"]

POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; font-src data:"
)
"""What a browser lets a page of ours do: everything in the file, nothing of the network."""
TOP_RULES = 12


def fill(template: str, **values: Any) -> str:
    """A page: a template with values, of which all text is escaped.

    Args:
        template: A file of `exmachina/templates`; it extends `page.html`, which has to have title, kicker and lead.
        values: What stands in it. A chart is its specification.
    """
    return _templates().get_template(template).render(values)


def part(template: str, name: str, *values: Any) -> Markup:
    """A part of a page: a macro of a template with values."""
    found: Markup = getattr(_templates().get_template(template).module, name)(*values)
    return found


@cache
def _templates() -> Environment:
    found = Environment(
        loader=PackageLoader("exmachina", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    found.filters["packed"] = _packed
    found.globals |= {
        "asset": _asset,
        "javascript": lambda: Markup(javascript()),
        "on_dark": ON_DARK,
        "policy": POLICY,
        "version": _core.__version__,
    }
    return found


def _packed(spec: Mapping[str, Any]) -> str:
    """A chart's specification in a tenth of the letters, none of which is markup: charts.js unpacks it."""
    text = json.dumps(spec, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def _asset(name: str) -> Markup:
    """A style sheet or script that comes with the templates."""
    return Markup(resources.files("exmachina").joinpath("templates", name).read_text(encoding="utf-8"))


def table_of_scores(summary: pl.DataFrame, colours: Mapping[str, str]) -> dict[str, Any]:
    """The summary of a score report, the best on top, for the macro `scores`."""
    first, starve = summary["scheme"][0], bool(summary["starved_senders"].sum() > 0)
    rows = []
    for line in summary.sort("score", descending=True, nulls_last=True).iter_rows(named=True):
        is_first = line["scheme"] == first
        numbers = [
            _with_interval(line["score"], line["score_ci95"]),
            "" if is_first else _with_interval(line["difference"], line["difference_ci95"], plus=True),
            _or_dash(line["normalised_throughput"], ".2f"),
            _or_dash(line["queueing_delay_ms"], ",.1f"),
            *([percent(line["starved_share"])] if starve else []),
        ]
        rows.append({"scheme": line["scheme"], "colour": colours[line["scheme"]], "numbers": numbers})
    return {"first": first, "starve": starve, "rows": rows}


def _with_interval(value: float | None, half_width: float, *, plus: bool = False) -> str:
    text = signed(value, plus=plus)
    return text if value is None or np.isnan(half_width) else f"{text} ± {half_width:.3f}"


def _or_dash(value: float | None, spec: str) -> str:
    return "–" if value is None else format(value, spec)


def inspection_page(inspection: Inspection) -> str:
    """The page of an inspection."""
    table, model = inspection.table, inspection.model
    by = "It is a law, and goes by the queue on a flow's own path"
    lead = (
        "What this congestion-control algorithm does, and when, on "
        f"{model.description or network_words(dict(inspection.network))}. "
        + (f"{by}." if table.law else f"Its rules look at {_listed(table.signals)}.")
        + "".join(f" {warning}." for warning in inspection.warnings)
    )
    return fill(
        "inspection.html",
        title=table.name,
        kicker="exmachina inspect",
        lead=lead,
        facts=_facts(inspection),
        seen=explained(inspection),
    )


def _facts(inspection: Inspection) -> list[tuple[str, str]]:
    usage, law = inspection.usage, inspection.table.law
    median = f"{slice_of(inspection.table, inspection.sample).window:g}", "packets: the median window"
    if law:
        levels = law_levels(law)
        return [
            (f"{100 * levels['growth'][0]:.3g} %", "more window in an RTT, at least, without a queue"),
            (f"{100 * levels['growth'][-1]:+.3g} %", "in an RTT with a queue of four targets"),
            median,
        ]
    return [
        (f"{len(inspection.table)}", "rules"),
        (f"{int((usage['uses'] > 0).sum())}", "of them used on these networks"),
        (f"{usage['share'][0] * 100:.3g} %", f"of all uses by rule {usage['rule'][0]}"),
        median,
    ]


def explained(inspection: Inspection) -> dict[str, Any]:
    """What the macro `explained` shows of a table: a run over time, the action over memory, the rules; or the law."""
    run = {"network": network_words(dict(inspection.network)), "over_time": spec_of(over_time(inspection))}
    if inspection.table.law:
        return {**run, "law": spec_of(of_law(inspection.table.law)), "words": law_words(inspection.table.law)}
    view = slice_of(inspection.table, inspection.sample)
    change, pace = (spec_of(chart) for chart in slices(view).values())
    held = ", ".join(f"{signal} {value:.3g}" for signal, value in view.at.items())
    rules = [_rule(inspection, rule) for rule in inspection.usage.iter_rows(named=True)]
    return {
        **run,
        "law": None,
        "window": f"{view.window:g}",
        "change": change,
        "pace": pace,
        "axes": f"Across: {signal_words(view.x.signal)}. Upwards: {signal_words(view.y.signal)}.",
        "dots": f"Dots are memories that occurred.{f' Held at their medians: {held}.' if held else ''}",
        "top": rules[:TOP_RULES],
        "rest": rules[TOP_RULES:],
    }


def _rule(inspection: Inspection, rule: Mapping[str, float]) -> dict[str, Any]:
    signals, usage = inspection.table.signals, inspection.usage
    domain = {s: (min(usage[f"{s}_from"]), max(usage[f"{s}_to"])) for s in signals}
    most = usage["share"].to_numpy().max() or 1.0
    return {
        "rule": rule["rule"],
        "share": f"{100 * rule['share']:.3g} %",
        "width": f"{100 * rule['share'] / most:.1f}",
        "action": action_words(rule),
        "box": box_words(rule, domain),
        "medians": ", ".join(f"{s} {rule[f'median_{s}']:.3g}" for s in signals) if rule["uses"] else "never used",
    }


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
