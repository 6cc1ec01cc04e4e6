"""Designing rule tables for a model: the search, its budget, its files, and how it stands."""

from exmachina.designing.options import Budget, DesignOptions
from exmachina.designing.outcome import Design, DesignStopped, Progress
from exmachina.designing.search import design

__all__ = ["Budget", "Design", "DesignOptions", "DesignStopped", "Progress", "design"]
