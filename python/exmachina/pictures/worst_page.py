"""The page of a worst network: how bad it is and for whom, what of it matters, what was tried, and a run over time."""

from typing import Any

from exmachina.hunting import Worst
from exmachina.networks import Span
from exmachina.pictures.pages import fill
from exmachina.pictures.render import spec_of
from exmachina.pictures.style import family_colours
from exmachina.pictures.trace import trace_chart
from exmachina.pictures.worst import worst_chart
from exmachina.probing import AXES
from exmachina.schemes import percent, signed

__all__ = ["worst_page"]


def worst_page(found: Worst) -> str:
    """All of it, as one file."""
    options = found.options
    lead = (
        f"Of {len(found.trials)} networks within {found.limits.file} this is the worst for {found.scheme}: "
        f"{found.words}. "
        f"Measured on {options.checks} draws of traffic that chose nothing; what was tried had {options.draws} each."
    )
    return fill(
        "worst.html",
        title=f"The worst network for {found.scheme}",
        kicker="exmachina worst",
        lead=lead,
        measure=found.measure.title,
        network=found.network.words,
        rows=_rows(found),
        axes=[_axis(found, name) for name in found.limits.reaches],
        tried=spec_of(worst_chart(found)),
        trace=spec_of(trace_chart(found.trace)),
        scenario=found.scenario,
        also=found.also,
    )


def _rows(found: Worst) -> list[dict[str, Any]]:
    """Each scheme on the network: the measure, the score and its parts."""
    colours = family_colours(found.frame["scheme"])
    return [
        {
            "scheme": line["scheme"],
            "colour": colours[line["scheme"]],
            "numbers": [
                _digits(line["value"]),
                signed(line["score"], 2),
                _digits(line["throughput"]),
                _digits(line["delay"]),
                "–" if line["starved_share"] is None else percent(line["starved_share"]),
            ],
        }
        for line in found.frame.iter_rows(named=True)
    ]


def _axis(found: Worst, name: str) -> dict[str, Any]:
    """An axis of the limits: what was allowed, what was found, and what is left of that."""
    axis, reach = AXES[name], found.limits.reaches[name]
    return {
        "title": axis.title[:1].upper() + axis.title[1:],
        "allowed": reach.words() if isinstance(reach, Span) else ", ".join(reach),
        "found": _value(axis.of(found.found)),
        "left": _value(axis.of(found.network)),
        "matters": name in found.matters,
    }


def _value(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.4g}"


def _digits(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}"
