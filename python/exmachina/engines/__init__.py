"""Who computes: this process's threads, or workers of a Dask cluster, by one small protocol."""

from exmachina.engines.engine import Computed, Engine, Here, InThisThread
from exmachina.engines.opening import opened
from exmachina.engines.options import EngineOptions, EngineSettings
from exmachina.engines.parts import Part, Parts

__all__ = ["Computed", "Engine", "EngineOptions", "EngineSettings", "Here", "InThisThread", "Part", "Parts", "opened"]
