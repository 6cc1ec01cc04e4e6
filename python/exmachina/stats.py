"""The statistics of comparisons: confidence intervals, and ellipses of point clouds.

SciPy is imported where it is used: it takes longer to load than all the rest of the package.
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

__all__ = ["Ellipse", "Floats", "Indices", "Interval", "bootstrap_interval", "ellipse", "mean_interval"]

MOST_CORRECTED = 2000
"""Values of a sample that are corrected for."""
DRAWN_AT_ONCE = 1_000_000
"""Values, for memory's sake: many runs are drawn in turns."""
Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Interval:
    """A mean and the half-width of its confidence interval, in the unit of the values; NaN where one value is all."""

    mean: float
    half_width: float


def mean_interval(values: Floats, strata: int = 1, confidence: float = 0.95) -> Interval:
    """The mean of independent values and its Student-t confidence interval; what is NaN is no value, and left out.

    Where the values come from `strata` networks in turn (value i from network i modulo strata), the variance is taken
    within each network: that the networks differ is known, not luck.
    """
    from scipy.special import stdtrit  # noqa: PLC0415

    groups = [group[~np.isnan(group)] for group in (values[start::strata] for start in range(strata))]
    groups = [group for group in groups if len(group) > 0]
    values = values[~np.isnan(values)]
    if len(values) == 0:
        return Interval(float("nan"), float("nan"))
    degrees = len(values) - len(groups)
    if degrees < 1 or min(map(len, groups)) < 2:  # noqa: PLR2004 (a variance needs two values)
        return Interval(float(np.mean(values)), float("nan"))
    shares = np.array([len(group) / len(values) for group in groups])
    variances = np.array([np.var(group, ddof=1) / len(group) for group in groups])
    error = float(np.sqrt(np.sum(shares**2 * variances)))
    return Interval(float(np.mean(values)), float(stdtrit(degrees, 0.5 + confidence / 2)) * error)


def bootstrap_interval(
    statistic: Callable[[Sequence[Indices]], Floats],
    counts: Sequence[int],
    *,
    seed: int,
    resamples: int = 1000,
    confidence: float = 0.95,
) -> tuple[float, float] | None:
    """The BCa bootstrap interval of what follows from some samples (Efron 1987): corrected for bias and skewness.

    Of samples so large that there is next to nothing to correct, the percentile interval: BCa takes their square.

    Args:
        statistic: Told of each sample which of its values are drawn, shape (draws, values drawn), gives one number for
            each draw, shape (draws,).
        counts: How many values each of the samples has.
        seed: Of the draws: the same seed gives the same interval, to the last bit.
        resamples: How many draws.
        confidence: Of the interval.

    Returns:
        Its ends; none where there is nothing to draw from, or where what is drawn does not differ or is not finite.
    """
    from scipy.stats import DegenerateDataWarning, bootstrap  # noqa: PLC0415

    def of(*drawn: Indices, axis: int) -> Floats:
        assert axis == -1
        return statistic([np.atleast_2d(indices) for indices in drawn]).reshape(drawn[0].shape[:-1])

    if not counts or min(counts) < 2:  # noqa: PLR2004 (one value is always drawn)
        return None
    drawn = partial(
        bootstrap,
        [np.arange(count) for count in counts],
        of,
        vectorized=True,
        confidence_level=confidence,
        rng=np.random.default_rng(seed),
        batch=max(1, min(resamples, DRAWN_AT_ONCE // max(counts))),
    )
    method = "BCa" if max(counts) <= MOST_CORRECTED else "percentile"
    with warnings.catch_warnings(), np.errstate(invalid="ignore"):
        warnings.simplefilter("ignore", DegenerateDataWarning)
        found = drawn(n_resamples=resamples, method=method)
        if np.isnan(found.confidence_interval).any():
            # What no single value moves, such as a share of points, has no skewness to correct for.
            found = drawn(n_resamples=0, method="percentile", bootstrap_result=found)
    low, high = map(float, found.confidence_interval)
    different = np.isfinite([low, high]).all() and np.ptp(found.bootstrap_distribution) > 0
    return (low, high) if different else None


@dataclass(frozen=True)
class Ellipse:
    """The 1-sigma ellipse of the maximum-likelihood 2-D Gaussian of some points."""

    center: Floats
    """x and y."""
    axes: Floats
    """Columns: the two half-axes, as vectors."""

    def outline(self, points: int = 100) -> Floats:
        """Points around it, shape (points, 2)."""
        angle = np.linspace(0, 2 * np.pi, points)
        return self.center + np.stack([np.cos(angle), np.sin(angle)], axis=1) @ self.axes.T


def ellipse(x: Floats, y: Floats) -> Ellipse | None:
    """The 1-sigma ellipse of points; none for fewer than three, which have no area."""
    if len(x) < 3:  # noqa: PLR2004
        return None
    values, vectors = np.linalg.eigh(np.cov(x, y, ddof=0))
    return Ellipse(np.array([x.mean(), y.mean()]), vectors * np.sqrt(np.maximum(values, 0)))
