"""What is scored, as work for an engine: the rows of one scheme on some of the held-out specimens of a model.

A task holds all that rows follow from, and no network: whoever computes them draws the specimens again.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from exmachina import _core
from exmachina.engines import Part
from exmachina.errors import SchemeError
from exmachina.frames import frame_of
from exmachina.networks import Model
from exmachina.schemes import Contender, Table
from exmachina.scoring.report import AIMD, AIMD_BDP, REFERENCE
from exmachina.scoring.transport import in_transport

if TYPE_CHECKING:
    from exmachina._core import Column

__all__ = ["Task", "rows"]


@dataclass(frozen=True)
class _Run:
    """A scheme on the networks that it is scored on."""

    name: str
    networks: _core.Specimens
    compute: Callable[[_core.Specimens, _core.Workers, _core.Stop], "list[Column]"]


@dataclass(frozen=True)
class Task:
    """Which schemes are scored, and on what."""

    model: Model
    entries: tuple[Contender, ...]
    seed: int
    specimens: int
    seconds_each: float
    aimd: bool
    in_world: bool

    def __reduce__(self) -> tuple[type["Task"], tuple[Any, ...]]:
        fields = (self.model, self.entries, self.seed, self.specimens, self.seconds_each, self.aimd, self.in_world)
        return Task, fields

    @cached_property
    def held_out(self) -> _core.Specimens:
        """The specimens."""
        return self.model.held_out(self.seed, self.specimens, self.in_world)

    @cached_property
    def runs(self) -> list[_Run]:
        """Every scheme, AIMD if that is asked for, and the reference.

        Raises:
            SchemeError: If a scheme cannot run there.
        """
        aimd = [self._aimd()] if self.aimd else []
        reference = _Run(REFERENCE, self.held_out, lambda part, *who: _core.reference(part, self.seconds_each, *who))
        return [*map(self._run_of, self.entries), *aimd, reference]

    def _run_of(self, entry: Contender) -> _Run:
        tables = entry.scheme
        if entry.queue is None and isinstance(tables, Table | tuple):
            return self._in_design(entry.label, tables, self.held_out)
        if self.in_world:
            raise SchemeError(
                f"in-world: expected tables, which alone run on the networks of training; got {entry.label}"
            )
        evaluation = in_transport(entry, self.model, self.held_out, self.seconds_each)
        return _Run(entry.label, self.held_out, partial(evaluation.scored, 0))

    def _in_design(
        self, name: str, scheme: Table | tuple[Table, ...] | Literal["aimd"], networks: _core.Specimens
    ) -> _Run:
        return _Run(name, networks, lambda part, *who: _core.evaluate(scheme, part, self.seconds_each, *who))

    def _aimd(self) -> _Run:
        if self.held_out.network(0)["buffer_packets"] is None:
            return self._in_design(AIMD_BDP, "aimd", self.held_out.with_buffer_bdp(1))
        return self._in_design(AIMD, "aimd", self.held_out)


def rows(task: Task, part: Part, workers: _core.Workers, stop: _core.Stop) -> pl.DataFrame:
    """A unit of work: one row per specimen and sender, with the scheme's name before all else."""
    run = task.runs[part.series]
    frame = frame_of(run.compute(run.networks.part(range(part.first, part.last)), workers, stop))
    return frame.select(pl.lit(run.name).alias("scheme"), pl.all())
