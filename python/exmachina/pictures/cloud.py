"""Schemes in the plane of throughput and delay: clouds of runs, their ellipses and medians (Remy'13 §5.2).

Where runs have several senders, all of a cloud is of medians: a dot that of a run's senders, the circle that of all.
Senders of a run differ by much and by more upwards than downwards, so that their means lie elsewhere.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from exmachina.pictures.style import colour_of, family_colours
from exmachina.scoring import REFERENCE
from exmachina.stats import ellipse

__all__ = ["Cloud", "Floats", "clouds_of", "clouds_of_flows", "frontier_of", "scheme_colours"]

Floats = npt.NDArray[np.float64]
LEAST_MS = 1e-3
"""Shorter queueing delays are drawn here: a logarithm has no end."""


@dataclass(frozen=True)
class Cloud:
    """All runs of one scheme."""

    scheme: str
    colour: str
    delay_ms: Floats
    """Queueing delay of each run, ms."""
    throughput: Floats
    """Of each run: over an equal share of the link, or in Mbit/s."""
    outline: Floats | None
    """The ellipse of one standard deviation, or another share of it, of log10(delay) and throughput, as delay and
    throughput, shape (points, 2)."""
    median: tuple[float, float]
    """Delay and throughput, of all senders of all runs, as Remy'13 (§5.2) has it."""


def scheme_colours(schemes: list[str]) -> dict[str, str]:
    """A colour for each scheme; that of the reference and of AIMD is always the same."""
    colours: dict[str, str] = {}
    free = 0
    for scheme in schemes:
        colours[scheme] = colour_of(scheme, free)
        free += colours[scheme] == colour_of("", free)
    return colours


def clouds_of(frame: pl.DataFrame) -> list[Cloud]:
    """A cloud for each scheme of `ScoreReport.frame`; throughput is over an equal share of the link."""
    flows = frame.filter(pl.col("on_s") > 0).select(
        "normalised_throughput",
        label="scheme",
        run="specimen",
        counted_delay_ms=pl.col("mean_rtt_ms") - pl.col("min_rtt_ms"),
    )
    colours = scheme_colours(flows["label"].unique(maintain_order=True).to_list())
    return clouds_of_flows(flows, "normalised_throughput", colours=colours)


def clouds_of_flows(
    flows: pl.DataFrame,
    measure: str = "counted_mbps",
    *,
    colours: dict[str, str] | None = None,
    sigma: float = 1.0,
) -> list[Cloud]:
    """A cloud for each label: a dot for each run, where the median of its senders is, and the median of all senders.

    Args:
        flows: One row per run and sender that was on: label, run, counted_delay_ms and `measure`.
        measure: The column that is up.
        colours: By label; by family if not given.
        sigma: Of the ellipses.
    """
    colours = colours or family_colours(flows["label"].unique(maintain_order=True))
    columns = ["counted_delay_ms", measure]
    runs = flows.group_by("label", "run", maintain_order=True).agg(pl.col(columns).median())
    medians = flows.group_by("label").agg(pl.col(columns).median())
    found = {label: (max(delay_ms or 0, LEAST_MS), up) for label, delay_ms, up in medians.iter_rows()}
    clouds = []
    for (label,), group in runs.drop_nulls(columns).group_by("label", maintain_order=True):
        delay_ms, throughput = np.maximum(group[columns[0]].to_numpy(), LEAST_MS), group[measure].to_numpy()
        around = None if label == REFERENCE else ellipse(np.log10(delay_ms), throughput)
        outline = None if around is None else around.center + sigma * (around.outline() - around.center)
        if outline is not None:
            outline = np.stack([10 ** outline[:, 0], outline[:, 1]], axis=1)
        name = str(label)
        clouds.append(Cloud(name, colours[name], delay_ms, throughput, outline, found[name]))
    return clouds


def frontier_of(clouds: list[Cloud]) -> list[tuple[float, float]]:
    """The medians that no other beats in both delay and throughput, by delay: the efficient frontier (Remy'13 §5.2)."""
    frontier: list[tuple[float, float]] = []
    for delay_ms, throughput in sorted((cloud.median for cloud in clouds), key=lambda at: (at[0], -at[1])):
        if not frontier or throughput > frontier[-1][1]:
            frontier.append((delay_ms, throughput))
    return frontier
