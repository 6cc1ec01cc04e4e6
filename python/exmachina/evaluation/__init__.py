"""Evaluations: schemes side by side on the networks of a scenario, what they got, and single runs packet by packet."""

from exmachina.evaluation.counted import COUNTED, counted
from exmachina.evaluation.options import EvaluationOptions, RunOptions
from exmachina.evaluation.packets import TRACE_S, Trace, trace
from exmachina.evaluation.results import Results
from exmachina.evaluation.runner import Standing, evaluate
from exmachina.evaluation.scenario import Evaluation, ScenarioLike, shipped_scenarios

__all__ = [
    "COUNTED",
    "TRACE_S",
    "Evaluation",
    "EvaluationOptions",
    "Results",
    "RunOptions",
    "ScenarioLike",
    "Standing",
    "Trace",
    "counted",
    "evaluate",
    "shipped_scenarios",
    "trace",
]
