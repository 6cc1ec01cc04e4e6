"""Scenarios on this machine's kernel: the same networks, traffic and rows as in a simulation, in real time."""

from exmachina.measuring.measurement import Measurement
from exmachina.measuring.options import TestbedOptions
from exmachina.measuring.runner import Measuring, testbed

__all__ = ["Measurement", "Measuring", "TestbedOptions", "testbed"]
