"""What can go wrong through no fault of the program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exmachina._core import InputError

if TYPE_CHECKING:
    from exmachina.designing import Design

__all__ = ["InputError", "Stopped"]


class Stopped(KeyboardInterrupt):
    """Ctrl-C during a design or an evaluation: what was done is saved, and the message says how to go on."""

    def __init__(self, message: str, design: Design | None = None) -> None:
        super().__init__(message)
        self.design = design
        """What a design had found so far."""
