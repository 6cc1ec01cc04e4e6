"""Scores: schemes side by side on held-out specimens of a model."""

from exmachina.scoring.report import AIMD, AIMD_BDP, REFERENCE, ScoreReport, Stratum
from exmachina.scoring.rivals import BUFFER_BDP, with_schemes
from exmachina.scoring.scorer import designed_for, distinct_names, score

__all__ = [
    "AIMD",
    "AIMD_BDP",
    "BUFFER_BDP",
    "REFERENCE",
    "ScoreReport",
    "Stratum",
    "designed_for",
    "distinct_names",
    "score",
    "with_schemes",
]
