"""Sweeps: any field of a scenario or model over a range of values, schemes side by side at each point."""

from exmachina.sweeping.options import SweepOptions
from exmachina.sweeping.results import Measure, Sweep
from exmachina.sweeping.runner import Sweeping, sweep
from exmachina.sweeping.values import Value, Values, are_numbers, words_of

__all__ = ["Measure", "Sweep", "SweepOptions", "Sweeping", "Value", "Values", "are_numbers", "sweep", "words_of"]
