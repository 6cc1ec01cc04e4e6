"""Tables in this machine's kernel: under a name that connections can ask for, and in use by some of them."""

from exmachina.deploying.deployment import Deployed, deploy, deploy_commands
from exmachina.deploying.flows import Connection
from exmachina.deploying.loading import loaded, registered
from exmachina.deploying.needs import lacking

__all__ = [
    "Connection",
    "Deployed",
    "deploy",
    "deploy_commands",
    "lacking",
    "loaded",
    "registered",
]
