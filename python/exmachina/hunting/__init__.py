"""The worst network for a scheme: searched for within stated limits, and reduced to what matters."""

from exmachina.hunting.found import Worst
from exmachina.hunting.hunt import Hunting, worst
from exmachina.hunting.limits import Limits, LimitsLike
from exmachina.hunting.measures import MEASURES, Measure
from exmachina.hunting.options import WorstOptions
from exmachina.hunting.training import also_text, trained_also

__all__ = [
    "MEASURES",
    "Hunting",
    "Limits",
    "LimitsLike",
    "Measure",
    "Worst",
    "WorstOptions",
    "also_text",
    "trained_also",
    "worst",
]
