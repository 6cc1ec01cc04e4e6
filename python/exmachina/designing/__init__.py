"""Designing rule tables for a model: the search, its budget, its files, and how it stands."""

from exmachina.designing.search import Design, DesignStopped, Progress, design

__all__ = ["Design", "DesignStopped", "Progress", "design"]
