"""Scores: schemes side by side on held-out specimens of a model."""

from exmachina.scoring.options import ScoreOptions
from exmachina.scoring.report import AIMD, AIMD_BDP, REFERENCE, ScoreReport, Stratum
from exmachina.scoring.scorer import Scored, designed_for, score
from exmachina.scoring.transport import BUFFER_BDP

__all__ = [
    "AIMD",
    "AIMD_BDP",
    "BUFFER_BDP",
    "REFERENCE",
    "ScoreOptions",
    "ScoreReport",
    "Scored",
    "Stratum",
    "designed_for",
    "score",
]
