"""How rule tables and laws come back from disturbed states."""

from exmachina.disturbing.disturbing import disturb, disturb_on
from exmachina.disturbing.options import DisturbOptions
from exmachina.disturbing.report import Disturbed

__all__ = ["DisturbOptions", "Disturbed", "disturb", "disturb_on"]
