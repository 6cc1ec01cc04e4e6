"""Schemes in the plane of throughput and delay: clouds of runs, their ellipses and medians (Remy'13 §5.2)."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from exmachina.scoring import BOUND
from exmachina.stats import ellipse
from exmachina.style import colour_of

__all__ = ["Cloud", "clouds_of", "scheme_colours"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Cloud:
    """All runs of one scheme."""

    scheme: str
    colour: str
    delay_ms: Floats
    """Queueing delay of each run, ms: mean RTT less minimum RTT."""
    throughput: Floats
    """Of each run, over an equal share of the link."""
    outline: Floats | None
    """The 1-sigma ellipse of log10(delay) and throughput, as delay and throughput, shape (points, 2)."""
    median: tuple[float, float]
    """Delay and throughput."""


def scheme_colours(schemes: list[str]) -> dict[str, str]:
    """A colour for each scheme; that of the bound and of AIMD is always the same."""
    colours: dict[str, str] = {}
    free = 0
    for scheme in schemes:
        colours[scheme] = colour_of(scheme, free)
        free += colours[scheme] == colour_of("", free)
    return colours


def clouds_of(specimens: pl.DataFrame) -> list[Cloud]:
    """A cloud for each scheme of `ScoreReport.specimens`; runs in which nobody received anything are left out."""
    usable = specimens.drop_nulls(["queueing_delay_ms", "normalised_throughput"])
    colours = scheme_colours(usable["scheme"].unique(maintain_order=True).to_list())
    clouds = []
    for (scheme,), group in usable.group_by("scheme", maintain_order=True):
        delay_ms = np.maximum(group["queueing_delay_ms"].to_numpy(), 1e-3)
        throughput = group["normalised_throughput"].to_numpy()
        around = None if scheme == BOUND else ellipse(np.log10(delay_ms), throughput)
        outline = None if around is None else around.outline()
        if outline is not None:
            outline = np.stack([10 ** outline[:, 0], outline[:, 1]], axis=1)
        median = (float(np.median(delay_ms)), float(np.median(throughput)))
        clouds.append(Cloud(str(scheme), colours[str(scheme)], delay_ms, throughput, outline, median))
    return clouds
