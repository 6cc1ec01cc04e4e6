"""Designs congestion-control algorithms for the network that you describe, by simulation and search (Remy'13).

import exmachina

result = exmachina.design("demo", "demo.dna", seconds=60)           # a model in, a rule table out
report = exmachina.score([result.table, "cubic"], "demo")           # on networks that it has not seen, beside Cubic
exmachina.draw(exmachina.inspect(result.table), "demo.html")        # what it does, and why
exmachina.evaluate("r4", ["cubic", "newreno", result.table])        # beside the schemes of people, as in the papers
exmachina.probe(result.table, output="passport")                    # inside and far outside what it was made for
exmachina.disturb(result.table)                                     # does it come back from where it should not be?
exmachina.steady(result.table, output="steady")                     # small steps to where it does
exmachina.worst(result.table, output="worst")                       # the worst network for it, found and reduced
exmachina.tune("internet-1", ["r4", "r7"], output="tuned")          # a law, to be ahead of rivals on networks of yours
exmachina.export(result.table, to="bpf", output="kernel")           # sources for the Linux kernel, C, Rust
exmachina.deploy(result.table, route="10.0.0.0/8")                  # in this machine's kernel, or of a `with`
exmachina.algorithms()                                              # those that come with it; "general-1" is a scheme
exmachina.sweep("r4", ["cubic"], over={"link.rate_mbps": [1, 10]})  # any field of a file, over any values
exmachina.reproduce("fig4", output="out")                           # a figure of the papers, and what they claim
"""

from exmachina._core import SIGNALS, Action, __version__
from exmachina.deploying import Connection, Deployed, deploy, deploy_commands
from exmachina.designing import Budget, Design, DesignOptions, DesignStopped, Progress, design
from exmachina.disturbing import Disturbed, DisturbOptions, disturb
from exmachina.engines import Engine, EngineOptions, opened
from exmachina.errors import (
    ClusterError,
    FileError,
    InputError,
    InUseError,
    LimitsError,
    MachineError,
    ModelError,
    OptionError,
    ScenarioError,
    SchemeError,
    Stopped,
    TableError,
    UnknownNameError,
)
from exmachina.evaluation import (
    Evaluation,
    EvaluationOptions,
    Results,
    Standing,
    Trace,
    evaluate,
    shipped_scenarios,
    trace,
)
from exmachina.exporting import Export, export
from exmachina.hunting import Hunting, Limits, Worst, WorstOptions, worst
from exmachina.inspection import Inspection, InspectOptions, inspect, record
from exmachina.measuring import Measurement, Measuring, TestbedOptions, testbed
from exmachina.networks import Dumbbell, Model, dumbbell, shipped_models
from exmachina.pictures import draw
from exmachina.probing import Passport, ProbeOptions, Probing, probe
from exmachina.reproduce import Claim, Outcome, ReproduceOptions, Verdict, reproduce
from exmachina.schemes import Algorithm, Flow, Law, Scheme, Table, algorithms
from exmachina.scoring import ScoreOptions, ScoreReport, score
from exmachina.steadying import Steadied, Steadying, SteadyOptions, steady
from exmachina.sweeping import Sweep, Sweeping, SweepOptions, sweep
from exmachina.tuning import Tuned, TuneOptions, Tuning, tune

__all__ = [
    "SIGNALS",
    "Action",
    "Algorithm",
    "Budget",
    "Claim",
    "ClusterError",
    "Connection",
    "Deployed",
    "Design",
    "DesignOptions",
    "DesignStopped",
    "DisturbOptions",
    "Disturbed",
    "Dumbbell",
    "Engine",
    "EngineOptions",
    "Evaluation",
    "EvaluationOptions",
    "Export",
    "FileError",
    "Flow",
    "Hunting",
    "InUseError",
    "InputError",
    "InspectOptions",
    "Inspection",
    "Law",
    "Limits",
    "LimitsError",
    "MachineError",
    "Measurement",
    "Measuring",
    "Model",
    "ModelError",
    "OptionError",
    "Outcome",
    "Passport",
    "ProbeOptions",
    "Probing",
    "Progress",
    "ReproduceOptions",
    "Results",
    "ScenarioError",
    "Scheme",
    "SchemeError",
    "ScoreOptions",
    "ScoreReport",
    "Standing",
    "Steadied",
    "SteadyOptions",
    "Steadying",
    "Stopped",
    "Sweep",
    "SweepOptions",
    "Sweeping",
    "Table",
    "TableError",
    "TestbedOptions",
    "Trace",
    "TuneOptions",
    "Tuned",
    "Tuning",
    "UnknownNameError",
    "Verdict",
    "Worst",
    "WorstOptions",
    "__version__",
    "algorithms",
    "deploy",
    "deploy_commands",
    "design",
    "disturb",
    "draw",
    "dumbbell",
    "evaluate",
    "export",
    "inspect",
    "opened",
    "probe",
    "record",
    "reproduce",
    "score",
    "shipped_models",
    "shipped_scenarios",
    "steady",
    "sweep",
    "testbed",
    "trace",
    "tune",
    "worst",
]
