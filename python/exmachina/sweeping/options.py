"""What may be set of a sweep."""

from dataclasses import dataclass

from exmachina.evaluation import EvaluationOptions, EvaluationSettings

__all__ = ["SweepOptions", "SweepSettings"]


@dataclass(frozen=True, kw_only=True)
class SweepOptions(EvaluationOptions):
    """How much is simulated at each point, and who computes.

    >>> options = exmachina.SweepOptions(runs=1, duration_s=1)
    >>> exmachina.sweep("r4", ["cubic"], options, over={"senders.count": [1, 2]}).summary["senders.count"].to_list()
    [1.0, 2.0]
    """

    runs: int | None = None
    """Runs of each scheme at each point; the scenario's if not given. Of a model, each is on a network of its own, and
    there are 1000 if not given."""


class SweepSettings(EvaluationSettings, total=False):
    """The fields of `SweepOptions` as keywords."""
