"""How a design stands, and what it gave."""

from dataclasses import dataclass

import polars as pl

from exmachina.errors import Stopped
from exmachina.schemes import Table

__all__ = ["Design", "DesignStopped", "Progress"]


@dataclass(frozen=True)
class Progress:
    """How a design stands.

    >>> steps = set()
    >>> _ = exmachina.design("known-1x", rounds=1, on_progress=lambda now: steps.add(now.step))
    >>> steps <= {0, 1}
    True
    """

    step: int
    """Steps of the search so far, those before a resume included."""
    rules: int
    """Of all tables together; one where a law is designed."""
    size: str
    """The same in words: how many rules, or that it is a law."""
    score: float | None
    """Of the table when it was measured last: mean per specimen, as `score` has it, on networks of the model itself
    (not of `[[also]]`) that no step trains on or chooses by. None until measured."""
    starved_share: float | None
    """Share of the senders there that were on and received nothing: they are in no score."""
    cpu_s: float
    """CPU-seconds so far, those before a resume included."""
    packets: int
    """Packets simulated so far, those before a resume included."""
    doing: str
    """What the search is at, in words."""
    wall_s: float
    """Seconds since this call began."""
    packets_per_s: float
    """Packets simulated per second since this call began."""
    left_s: float | None
    """Seconds left, where a budget tells."""
    workers: int = 0
    """Workers that are there, where others than this process compute."""


@dataclass(frozen=True)
class Design:
    """What a design gave.

    >>> exmachina.design("known-1x", rounds=1).history.columns
    ['step', 'cpu_s', 'packets', 'rules', 'score', 'starved_share']
    """

    tables: dict[str, Table]
    """The tables by the names of the senders that run them; one without a name where all run the same."""
    history: pl.DataFrame
    """The time-to-score curve, one row per measurement: step, cpu_s, packets (simulated), rules, score,
    starved_share."""
    score: float | None
    """Of these tables: mean per specimen, as `score` has it, on those networks of the model that `progress` is measured
    on. None where nobody received anything there, or nothing was measured."""
    starved_share: float | None
    """Share of the senders there that were on and received nothing: they are in no score. None where nothing was
    measured."""
    progress: Progress
    """How it stood at the end."""

    @property
    def table(self) -> Table:
        """The table; the first one, where several were designed together."""
        return next(iter(self.tables.values()))


class DesignStopped(Stopped):
    """Ctrl-C during a design.

    >>> def press_ctrl_c(now):
    ...     raise KeyboardInterrupt
    >>> try:
    ...     exmachina.design("known-1x", rounds=1, on_progress=press_ctrl_c)
    ... except exmachina.DesignStopped as stopped:
    ...     len(stopped.design.table) >= 1
    True
    """

    def __init__(self, message: str, design: Design) -> None:
        super().__init__(message)
        self.design = design
        """What was found so far."""

    def __reduce__(self) -> tuple[type["DesignStopped"], tuple[str, Design]]:
        return DesignStopped, (str(self), self.design)
