"""Passports: how schemes do along one dimension at a time, inside and far outside what they were designed for."""

from exmachina.probing.axes import AXES, NONE, Axis
from exmachina.probing.base import Base
from exmachina.probing.options import ProbeOptions
from exmachina.probing.passport import Passport
from exmachina.probing.walk import Probing, probe

__all__ = ["AXES", "NONE", "Axis", "Base", "Passport", "ProbeOptions", "Probing", "probe"]
