"""A law made better than rivals on networks of one's own, which scenario files state."""

from exmachina.tuning.options import TuneOptions
from exmachina.tuning.tuned import Tuned
from exmachina.tuning.tuning import Tuning, tune

__all__ = ["TuneOptions", "Tuned", "Tuning", "tune"]
