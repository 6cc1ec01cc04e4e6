"""An inspection as one picture: the rules most used, what they do to a window and a pace, and a run over time."""

import altair as alt

from exmachina.inspection import Inspection
from exmachina.pictures.laws import law_chart
from exmachina.pictures.rules import rules_chart
from exmachina.pictures.slices import Slice, slice_chart, slice_of
from exmachina.pictures.style import network_words
from exmachina.pictures.theme import heading
from exmachina.pictures.timeline import timeline_chart, timeline_of
from exmachina.schemes import Law

__all__ = ["explained", "inspection_chart", "of_law", "over_time", "slices"]

RULES, SLICE, TIME = 330, (290, 270), 1120
"""Widths of the charts, pixels; of slices, the height as well."""


def inspection_chart(inspection: Inspection) -> alt.VConcatChart:
    """An inspection as one picture."""
    title = f"{inspection.table.name}: {inspection.table.size}"
    chart: alt.VConcatChart = alt.vconcat(*explained(inspection)).resolve_scale(color="independent")
    return chart.properties(title=heading(title, TIME, size=18))


def explained(inspection: Inspection) -> list[alt.HConcatChart | alt.VConcatChart]:
    """The rows of the picture."""
    network = network_words(dict(inspection.network))
    run = over_time(inspection).properties(title=heading(f"On one network: {network}", TIME))
    if inspection.table.law:
        return [of_law(inspection.table.law), run]
    view = slice_of(inspection.table, inspection.sample)
    rules = rules_chart(inspection.usage, width=RULES)
    parts = [
        rules.properties(title=heading("The rules most used, and what they do", RULES)),
        *(chart.properties(title=heading(title, SLICE[0])) for title, chart in slices(view).items()),
    ]
    return [alt.hconcat(*parts).resolve_scale(color="independent"), run]


def of_law(law: Law) -> alt.HConcatChart:
    """What a law says."""
    chart: alt.HConcatChart = law_chart(law, width=TIME)
    return chart.properties(title=heading("What it does, by the length of the queue", TIME))


def over_time(inspection: Inspection) -> alt.VConcatChart:
    """The run that was recorded."""
    return timeline_chart(timeline_of(inspection.record), width=TIME)


def slices(view: Slice) -> dict[str, alt.LayerChart]:
    """Both parts of the action over two signals, by what they are."""
    return {
        f"Change of a window of {view.window:g} packets": slice_chart(
            view, view.window_change, diverging=True, unit="packets", size=SLICE
        ),
        "Least time between sends (ms)": slice_chart(view, view.intersend_ms, diverging=False, unit="ms", size=SLICE),
    }
