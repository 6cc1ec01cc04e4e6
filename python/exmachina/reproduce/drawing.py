"""Which picture is drawn how."""

import altair as alt

from exmachina.reproduce.comparisons import compare, gains
from exmachina.reproduce.curves import by_sender, cdf, locus, sweep
from exmachina.reproduce.experiment import Experiment, FigureSpec
from exmachina.reproduce.planes import plane
from exmachina.reproduce.recordings import queue, sequence
from exmachina.reproduce.running import Conditions, Ran

__all__ = ["drawing_of", "numbers_of"]

PLAIN = {"plane": plane, "sweep": sweep, "by-sender": by_sender, "locus": locus, "compare": compare, "gains": gains}
RECORDED = {"sequence": sequence, "queue": queue}


def drawing_of(
    experiment: Experiment, figure: FigureSpec, ran: Ran, conditions: Conditions
) -> tuple[alt.ConcatChart | None, dict[tuple[str, str], float]]:
    """A figure's chart, and numbers that claims may use; no chart if nothing ran that would be in it."""
    numbers: dict[tuple[str, str], float] = {}
    if figure.kind in RECORDED:
        if not ran.evaluations:
            return None, numbers
        drawing, numbers = RECORDED[figure.kind](experiment, figure, ran, conditions)
    elif not ran.cases:
        return None, numbers
    elif figure.kind == "cdf":
        drawing, numbers = cdf(experiment, figure, ran)
    else:
        drawing = PLAIN[figure.kind](experiment, figure, ran)
    return drawing, numbers


def numbers_of(
    experiment: Experiment, figure: FigureSpec, ran: Ran, conditions: Conditions
) -> dict[tuple[str, str], float]:
    """The numbers alone, of contenders that no picture shows."""
    return drawing_of(experiment, figure, ran, conditions)[1] if figure.kind in RECORDED else {}
