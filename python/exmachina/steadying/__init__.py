"""Steps to rule tables and laws that come back from disturbed states: a climb for tables, an evolution for laws."""

from exmachina.steadying.options import SteadyOptions
from exmachina.steadying.steadied import Steadied
from exmachina.steadying.steadying import Steadying, steady

__all__ = ["Steadied", "SteadyOptions", "Steadying", "steady"]
