"""Explaining a rule table: which rules fire and when, what they do, which states hold themselves, and knife edges."""

from exmachina.inspection.equilibria import ACK_DELAY_MS, equilibria
from exmachina.inspection.inspection import Inspection, inspect
from exmachina.inspection.knives import KNIFE, by_split, knife_edges
from exmachina.inspection.options import InspectOptions
from exmachina.inspection.recording import record

__all__ = [
    "ACK_DELAY_MS",
    "KNIFE",
    "InspectOptions",
    "Inspection",
    "by_split",
    "equilibria",
    "inspect",
    "knife_edges",
    "record",
]
