"""Tables for transports elsewhere: sources that anybody can compile, and the rounded table that they hold."""

from exmachina.exporting.exporter import Export, Form, export
from exmachina.exporting.facts import kernel_name
from exmachina.exporting.rounding import Moved

__all__ = ["Export", "Form", "Moved", "export", "kernel_name"]
