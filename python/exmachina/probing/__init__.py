"""Passports: how schemes do along one dimension at a time, inside and far outside what they were designed for."""

from exmachina.probing.axes import AXES, NONE, PASSPORT, Axis, Value, axes_named
from exmachina.probing.base import Base
from exmachina.probing.measures import measured
from exmachina.probing.options import ProbeOptions
from exmachina.probing.passport import Passport
from exmachina.probing.walk import Probing, probe

__all__ = [
    "AXES",
    "NONE",
    "PASSPORT",
    "Axis",
    "Base",
    "Passport",
    "ProbeOptions",
    "Probing",
    "Value",
    "axes_named",
    "measured",
    "probe",
]
