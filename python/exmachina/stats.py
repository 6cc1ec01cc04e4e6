"""The statistics of comparisons: confidence intervals of means, and ellipses of point clouds."""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

__all__ = ["Ellipse", "Interval", "Median", "ellipse", "mean_interval", "median_interval", "t_quantile"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Interval:
    """A mean and the half-width of its confidence interval, in the unit of the values; NaN where one value is all."""

    mean: float
    half_width: float


def t_quantile(probability: float, degrees: float) -> float:
    """The quantile of Student's t distribution, by the Cornish-Fisher expansion (Hill 1970).

    Within 1 % from 4 degrees of freedom up, 0.1 % from 10: enough for the half-width of an interval.
    """
    z = NormalDist().inv_cdf(probability)
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return sum(term / degrees**power for power, term in enumerate(terms))


def mean_interval(values: Floats, strata: int = 1, confidence: float = 0.95) -> Interval:
    """The mean of independent values and its Student-t confidence interval; what is NaN is no value, and left out.

    Where the values come from `strata` networks in turn (value i from network i modulo strata), the variance is taken
    within each network: that the networks differ is known, not luck.
    """
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
    return Interval(float(np.mean(values)), t_quantile(0.5 + confidence / 2, degrees) * error)


@dataclass(frozen=True)
class Median:
    """A median and its confidence interval, in the unit of the values; NaN where there are too few of them."""

    median: float
    low: float
    high: float


def median_interval(values: Floats, confidence: float = 0.95) -> Median:
    """The median of independent values and a confidence interval, which holds whatever their distribution.

    Its ends are two of the values, as far in from the smallest and the largest as the binomial distribution of how
    many lie below the median allows (Conover 1999, §3.2).
    """
    count = len(values)
    if count == 0:
        return Median(float("nan"), float("nan"), float("nan"))
    ordered, median = np.sort(values), float(np.median(values))
    # Chances of at most 0, 1, ... values below the median, from logarithms: 2^-count may be too small for a number.
    below = np.arange(count)
    steps = np.log(np.maximum(count - below, 1)) - np.log(below + 1)
    chances = np.exp(np.concatenate([[0.0], np.cumsum(steps[:-1])]) - count * np.log(2))
    inside = int(np.searchsorted(np.cumsum(chances), (1 - confidence) / 2, side="right"))
    if inside == 0:
        return Median(median, float("nan"), float("nan"))
    return Median(median, float(ordered[inside - 1]), float(ordered[count - inside]))


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
