"""Explaining a rule table: which rules fire and when, what they do, and which states hold themselves."""

from exmachina.inspection.equilibria import ACK_DELAY_MS, equilibria
from exmachina.inspection.inspection import PLOT_S, SPECIMENS, Inspection, inspect
from exmachina.inspection.recording import record

__all__ = ["ACK_DELAY_MS", "PLOT_S", "SPECIMENS", "Inspection", "equilibria", "inspect", "record"]
