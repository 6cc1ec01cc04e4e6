"""What may be set of a reproduction."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from exmachina.engines import EngineOptions, EngineSettings
from exmachina.errors import OptionError

__all__ = ["ReproduceOptions", "ReproduceSettings"]


@dataclass(frozen=True, kw_only=True)
class ReproduceOptions(EngineOptions):
    """At what scale, and with whose algorithms.

    >>> exmachina.reproduce("fig6", exmachina.ReproduceOptions(threads=1), output="out")[0].scale
    'quick'
    """

    scale: Literal["quick", "paper"] = "quick"
    """`quick` takes minutes for all, `paper` has as many and as long runs as the papers."""
    tables: Path | str | None = None
    """A folder of the authors' published tables (.dna), to be run beside ours."""
    ours: Path | str | None = None
    """A folder of NAME.dna to take the place of our algorithms."""
    robust: bool = False
    """Our robust tables run, too, and claims are held to them besides, where there are some for all that one names."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.scale not in ("quick", "paper"):
            raise OptionError(f"scale: expected quick or paper, got {self.scale}")


class ReproduceSettings(EngineSettings, total=False):
    """The fields of `ReproduceOptions` as keywords."""

    scale: Literal["quick", "paper"]
    tables: Path | str | None
    ours: Path | str | None
    robust: bool
