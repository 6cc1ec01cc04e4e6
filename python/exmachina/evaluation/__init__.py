"""Evaluations: schemes side by side on the networks of a scenario, what they got, and single runs packet by packet."""

from exmachina.evaluation.counted import COUNTED, counted
from exmachina.evaluation.network import NetworkLike, network_of
from exmachina.evaluation.options import EvaluationOptions, EvaluationSettings, RunOptions
from exmachina.evaluation.outside import outside_words
from exmachina.evaluation.packets import TRACE_S, Trace, trace
from exmachina.evaluation.results import Results
from exmachina.evaluation.runner import Standing, evaluate, results_of
from exmachina.evaluation.scenario import Evaluation, ScenarioLike, shipped_scenarios

__all__ = [
    "COUNTED",
    "TRACE_S",
    "Evaluation",
    "EvaluationOptions",
    "EvaluationSettings",
    "NetworkLike",
    "Results",
    "RunOptions",
    "ScenarioLike",
    "Standing",
    "Trace",
    "counted",
    "evaluate",
    "network_of",
    "outside_words",
    "results_of",
    "shipped_scenarios",
    "trace",
]
