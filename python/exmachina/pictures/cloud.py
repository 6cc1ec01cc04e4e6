"""Schemes in the plane of throughput and delay: clouds of dots, their ellipses and medians (Remy'13 §5.1)."""

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
    """All that was measured of one scheme, a dot each: a sender in a run, or the mean of a specimen."""

    scheme: str
    kind: Kind
    colour: str
    delay_ms: Floats
    """Queueing delay of each dot, ms: mean RTT less minimum RTT."""
    throughput: Floats
    """Of each dot: over an equal share of the link, or in Mbit/s."""
    outline: Floats | None
    """The ellipse of one standard deviation, or another share of it, of log10(delay) and throughput, as delay and
    throughput, shape (points, 2)."""
    median: tuple[float, float]
    """Delay and throughput: of all dots, and of those besides who received nothing."""


def clouds_of(specimens: pl.DataFrame) -> list[Cloud]:
    """A cloud for each scheme of `ScoreReport.specimens`; throughput is over an equal share of the link."""
    colours = family_colours(specimens["scheme"].unique(maintain_order=True))
    return _clouds(specimens, "scheme", "normalised_throughput", colours, {})


def clouds_of_flows(
    flows: pl.DataFrame,
    measure: str = "throughput_mbps",
    *,
    colours: Mapping[str, str] | None = None,
    kinds: Mapping[str, Kind] | None = None,
    sigma: float = 1.0,
) -> list[Cloud]:
    """A cloud for each label, of all senders of all runs.

    The paper's ellipses are of senders, too: it reads from their size how even the performance of a sender is, and
    halves them where the lengths of flows vary much, which the mean of a run does not show.

    Args:
        flows: One row per run and sender that was on: label, queueing_delay_ms and `measure`.
        measure: The column that is up, in Mbit/s.
        colours: By label; by family if not given.
        kinds: By label; by the scheme's name if not given.
        sigma: Of the ellipses.
    """
    colours = colours or family_colours(flows["label"].unique(maintain_order=True))
    return _clouds(flows, "label", measure, colours, kinds or {}, sigma)


def frontier_of(clouds: list[Cloud]) -> list[tuple[float, float]]:
    """The medians that no other beats in both delay and throughput, by delay: the efficient frontier (Remy'13 §5.2)."""
    frontier: list[tuple[float, float]] = []
    for delay_ms, throughput in sorted((cloud.median for cloud in clouds), key=lambda at: (at[0], -at[1])):
        if not frontier or throughput > frontier[-1][1]:
            frontier.append((delay_ms, throughput))
    return frontier


def _clouds(  # noqa: PLR0917
    frame: pl.DataFrame,
    by: str,
    measure: str,
    colours: Mapping[str, str],
    kinds: Mapping[str, Kind],
    sigma: float = 1.0,
) -> list[Cloud]:
    """Who received nothing has no delay, and no dot; the medians count them."""
    clouds = []
    for (scheme,), group in frame.group_by(by, maintain_order=True):
        usable = group.drop_nulls(["queueing_delay_ms", measure])
        if usable.is_empty():
            continue
        name, medians = str(scheme), group.select(pl.col("queueing_delay_ms", measure).median()).row(0)
        delay_ms = np.maximum(usable["queueing_delay_ms"].to_numpy(), LEAST_MS)
        throughput = usable[measure].to_numpy()
        around = None if scheme == REFERENCE else ellipse(np.log10(delay_ms), throughput)
        outline = None if around is None else around.center + sigma * (around.outline() - around.center)
        if outline is not None:
            outline = np.stack([10 ** outline[:, 0], outline[:, 1]], axis=1)
        kind, median = kinds.get(name) or kind_of(name), (max(medians[0], LEAST_MS), medians[1])
        clouds.append(Cloud(name, kind, colours[name], delay_ms, throughput, outline, median))
    return clouds
