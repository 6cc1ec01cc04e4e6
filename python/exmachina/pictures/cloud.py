"""Schemes in the plane of throughput and delay: clouds of runs, their ellipses and medians (Remy'13 §5.1).

Where runs have several senders, all of a cloud is of medians: a dot that of a run's senders, the large mark that of
all. Senders of a run differ by much and by more upwards than downwards, so that their means lie elsewhere.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from exmachina.pictures.style import Kind, family_colours, kind_of
from exmachina.scoring import REFERENCE
from exmachina.stats import ellipse

__all__ = ["Cloud", "Floats", "clouds_of", "clouds_of_flows", "frontier_of"]

Floats = npt.NDArray[np.float64]
LEAST_MS = 1e-3
"""Shorter queueing delays are drawn here: a logarithm has no end."""


@dataclass(frozen=True)
class Cloud:
    """All runs of one scheme."""

    scheme: str
    kind: Kind
    colour: str
    delay_ms: Floats
    """Queueing delay of each run, ms."""
    throughput: Floats
    """Of each run: over an equal share of the link, or in Mbit/s."""
    outline: Floats | None
    """The ellipse of one standard deviation, or another share of it, of log10(delay) and throughput, as delay and
    throughput, shape (points, 2)."""
    median: tuple[float, float]
    """Delay and throughput, of all senders of all runs, as Remy'13 (§5.1) has it."""


def clouds_of(frame: pl.DataFrame) -> list[Cloud]:
    """A cloud for each scheme of `ScoreReport.frame`; throughput is over an equal share of the link."""
    flows = frame.filter(pl.col("on_s") > 0).select(
        "normalised_throughput",
        label="scheme",
        run="specimen",
        counted_delay_ms=pl.col("mean_rtt_ms") - pl.col("min_rtt_ms"),
    )
    return clouds_of_flows(flows, "normalised_throughput")


def clouds_of_flows(
    flows: pl.DataFrame,
    measure: str = "counted_mbps",
    *,
    colours: Mapping[str, str] | None = None,
    kinds: Mapping[str, Kind] | None = None,
    sigma: float = 1.0,
) -> list[Cloud]:
    """A cloud for each label: a dot for each run, where the median of its senders is, and the median of all senders.

    Args:
        flows: One row per run and sender that was on: label, run, counted_delay_ms and `measure`.
        measure: The column that is up.
        colours: By label; by family if not given.
        kinds: By label; by the scheme's name if not given.
        sigma: Of the ellipses.
    """
    colours = colours or family_colours(flows["label"].unique(maintain_order=True))
    kinds = kinds or {}
    columns = ["counted_delay_ms", measure]
    runs = flows.group_by("label", "run", maintain_order=True).agg(pl.col(columns).median())
    medians = flows.group_by("label").agg(pl.col(columns).median())
    found = {label: (max(delay_ms or 0, LEAST_MS), up) for label, delay_ms, up in medians.iter_rows()}
    clouds = []
    for (label,), group in runs.drop_nulls(columns).group_by("label", maintain_order=True):
        name = str(label)
        delay_ms, throughput = np.maximum(group[columns[0]].to_numpy(), LEAST_MS), group[measure].to_numpy()
        outline = None if name == REFERENCE else _outline(delay_ms, throughput, sigma)
        kind = kinds.get(name) or kind_of(name)
        clouds.append(Cloud(name, kind, colours[name], delay_ms, throughput, outline, found[name]))
    return clouds


def _outline(delay_ms: Floats, throughput: Floats, sigma: float) -> Floats | None:
    """The ellipse of so many standard deviations; none where there are too few runs, or they are all alike."""
    around = ellipse(np.log10(delay_ms), throughput)
    if around is None:
        return None
    outline = around.center + sigma * (around.outline() - around.center)
    return np.stack([10 ** outline[:, 0], outline[:, 1]], axis=1)


def frontier_of(clouds: list[Cloud]) -> list[tuple[float, float]]:
    """The medians that no other beats in both delay and throughput, by delay: the efficient frontier (Remy'13 §5.2)."""
    frontier: list[tuple[float, float]] = []
    for delay_ms, throughput in sorted((cloud.median for cloud in clouds), key=lambda at: (at[0], -at[1])):
        if not frontier or throughput > frontier[-1][1]:
            frontier.append((delay_ms, throughput))
    return frontier
