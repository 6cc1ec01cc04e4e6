"""Tables in this machine's kernel, from sources to a name that connections can ask for."""

from exmachina.deploying.loading import loaded, unload
from exmachina.deploying.needs import lacking

__all__ = ["lacking", "loaded", "unload"]
