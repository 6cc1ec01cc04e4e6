"""Designs congestion-control algorithms for the network that you describe, by simulation and search (Remy'13).

import exmachina

result = exmachina.design("demo", "demo.dna", seconds=60)           # a model in, a rule table out
report = exmachina.score(result.table, exmachina.Model.load("demo"))  # on networks that it has not seen
exmachina.inspect(result.table).save("demo.html")                   # what it does, and why
"""

from exmachina._core import SIGNALS, __version__
from exmachina.designing import Design, Progress, design
from exmachina.errors import InputError, Stopped
from exmachina.inspection import Inspection, dumbbell, inspect, record
from exmachina.model import Model, shipped_models
from exmachina.scoring import ScoreReport, score
from exmachina.table import Table

__all__ = [
    "SIGNALS",
    "Design",
    "InputError",
    "Inspection",
    "Model",
    "Progress",
    "ScoreReport",
    "Stopped",
    "Table",
    "__version__",
    "design",
    "dumbbell",
    "inspect",
    "record",
    "score",
    "shipped_models",
]
