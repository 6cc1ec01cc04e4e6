"""Explaining a rule table: which rules fire and when, what they do, and which states hold themselves."""

from exmachina.inspection.equilibria import ACK_DELAY_MS, equilibria
from exmachina.inspection.inspection import Inspection, inspect
from exmachina.inspection.options import InspectOptions
from exmachina.inspection.recording import record

__all__ = ["ACK_DELAY_MS", "InspectOptions", "Inspection", "equilibria", "inspect", "record"]
