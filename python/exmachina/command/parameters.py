"""Parameters that several commands have."""

from typing import Annotated

from cyclopts import Parameter, default_name_transform

__all__ = ["FIELDS", "SHORT", "Output", "Quiet"]

Quiet = Annotated[bool, Parameter(name=["--quiet", "-q"])]
Output = Parameter(name=["--output", "-o"])
FIELDS = Parameter(name="*")
"""The fields of an object of options, each as an option of its own, with the words that stand there."""
SHORT = Parameter(name="*", name_transform=lambda name: default_name_transform(name).removesuffix("-s"))
"""The same; `duration_s` is `--duration`."""
