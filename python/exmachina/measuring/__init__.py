"""Scenarios in real time, on this machine's kernel or with QUIC: the same networks, traffic and rows as simulated."""

from exmachina.measuring.measurement import Measurement
from exmachina.measuring.options import TestbedOptions
from exmachina.measuring.runner import Measuring, testbed

__all__ = ["Measurement", "Measuring", "TestbedOptions", "testbed"]
