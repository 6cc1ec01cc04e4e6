"""Intervals and ellipses against closed forms and published quantiles."""

import subprocess
import sys
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exmachina.stats import Floats, Indices, bootstrap_interval, ellipse, mean_interval


@pytest.mark.parametrize(
    ("degrees", "confidence", "published"),
    [(1, 0.95, 12.706), (2, 0.95, 4.303), (4, 0.95, 2.776), (30, 0.95, 2.042), (1, 0.9, 6.314), (10, 0.99, 3.169)],
)
def test_means_have_the_quantiles_of_student_t(degrees: int, confidence: float, published: float) -> None:
    values = np.arange(degrees + 1.0)
    error = values.std(ddof=1) / np.sqrt(len(values))
    assert mean_interval(values, confidence=confidence).half_width / error == pytest.approx(published, abs=5e-4)


def test_interval_of_a_mean() -> None:
    interval = mean_interval(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0]))
    assert interval.mean == 6
    assert interval.half_width == pytest.approx(2.2281 * np.sqrt(11) / np.sqrt(11), rel=1e-3)


def test_what_differs_between_networks_is_not_luck() -> None:
    rng = np.random.default_rng(1)
    noise = rng.normal(size=400)
    apart = noise + np.tile([0.0, 1000.0], 200)
    assert mean_interval(apart, strata=2).half_width == pytest.approx(mean_interval(noise).half_width, rel=0.01)
    assert mean_interval(apart).half_width > 40


@pytest.mark.parametrize("count", [2, 3, 10])
def test_the_interval_of_few_values_covers_the_truth_as_often_as_it_says(count: int) -> None:
    samples = np.random.default_rng(2).normal(size=(4000, count))
    covered = np.mean([abs(i.mean) <= i.half_width for i in map(mean_interval, samples)])
    # Three standard errors of 4000 trials are 1 %.
    assert 0.94 < covered < 0.96


def test_the_interval_of_many_skewed_values_covers_the_truth_nearly_as_often_as_it_says() -> None:
    samples = np.random.default_rng(2).exponential(size=(2000, 200)) - 1
    covered = np.mean([abs(i.mean) <= i.half_width for i in map(mean_interval, samples)])
    assert 0.925 < covered < 0.965


@pytest.mark.slow
def test_a_large_sample_takes_neither_long_nor_much_memory_and_is_as_well_known() -> None:
    values = np.random.default_rng(3).normal(5, 1, size=20_000)
    interval = bootstrap_interval(lambda drawn: np.asarray(values[drawn[0]].mean(axis=1)), [len(values)], seed=1)
    assert interval is not None
    half = 1.96 / np.sqrt(len(values))
    assert np.subtract(interval, values.mean()) == pytest.approx([-half, half], rel=0.15)


def mean_of(values: Floats) -> Callable[[Sequence[Indices]], Floats]:
    return lambda drawn: np.asarray(values[drawn[0]].mean(axis=1))


@pytest.mark.slow
def test_the_bootstrap_misses_less_of_few_skewed_values_than_percentiles_do() -> None:
    """Of 15 values of an exponential distribution, whose mean is 1; what is above both intervals is what they miss."""
    samples, missed = np.random.default_rng(4).exponential(size=(600, 15)), np.zeros((2, 2))
    for sample in samples:
        low, high = bootstrap_interval(mean_of(sample), [15], seed=1) or (0.0, 0.0)
        drawn = sample[np.random.default_rng(1).integers(0, 15, (1000, 15))].mean(axis=1)
        plain_low, plain_high = np.percentile(drawn, [2.5, 97.5])
        missed += [[low > 1, high < 1], [plain_low > 1, plain_high < 1]]
    ours, plain = missed / len(samples)
    assert ours.sum() < plain.sum()
    assert ours[1] < 0.9 * plain[1]
    assert 0.02 < ours.sum() < 0.13


def test_the_bootstrap_is_skewed_as_its_values_are() -> None:
    values = np.random.default_rng(5).exponential(size=30)
    found = bootstrap_interval(mean_of(values), [30], seed=1)
    assert found is not None
    assert found[1] - values.mean() > 1.1 * (values.mean() - found[0])


def test_the_bootstrap_repeats_to_the_last_bit() -> None:
    values = np.random.default_rng(6).normal(size=12)
    first, again, other = (bootstrap_interval(mean_of(values), [12], seed=seed) for seed in (1, 1, 2))
    assert first == again != other


def test_the_bootstrap_of_several_samples_draws_from_each() -> None:
    rng = np.random.default_rng(7)
    left, right = rng.normal(5, 1, size=50), rng.normal(3, 2, size=80)
    found = bootstrap_interval(
        lambda drawn: left[drawn[0]].mean(axis=1) - right[drawn[1]].mean(axis=1), [50, 80], seed=1
    )
    assert found is not None
    half = 1.96 * np.sqrt(left.var(ddof=1) / 50 + right.var(ddof=1) / 80)
    assert found == pytest.approx(
        (left.mean() - right.mean() - half, left.mean() - right.mean() + half), abs=0.1 * half
    )


def test_what_no_single_value_moves_has_an_interval() -> None:
    """The share of points at which one is ahead of another, say."""
    values = np.array([1.0, 2.0, 3.0, 4.0, 60.0, 70.0, 80.0, 90.0, 100.0])
    found = bootstrap_interval(lambda drawn: (np.median(values[drawn[0]], axis=1) > 50).astype(float), [9], seed=1)
    assert found == (0, 1)


@pytest.mark.parametrize("values", [[], [3.0], [2.0, 2.0, 2.0], [1.0, np.nan]])
def test_what_has_no_bootstrap(values: list[float]) -> None:
    counts = [len(values)] if values else []
    assert bootstrap_interval(mean_of(np.array(values)), counts, seed=1) is None


@pytest.mark.slow
@pytest.mark.parametrize("arguments", ["--help", "design --help", "models"])
def test_scipy_is_loaded_where_it_is_used_and_not_before(arguments: str) -> None:
    code = (
        "import sys, contextlib, exmachina.command.cli\n"
        f"sys.argv = ['exmachina', *'{arguments}'.split()]\n"
        "with contextlib.suppress(SystemExit): exmachina.command.cli.main()\n"
        "assert not [name for name in sys.modules if name.partition('.')[0] == 'scipy']"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, timeout=60)


@pytest.mark.parametrize(("values", "strata"), [([1.0], 1), ([1.0, 2.0], 2), ([1.0, 2.0, 3.0], 2)])
def test_too_few_values_have_no_interval(values: list[float], strata: int) -> None:
    interval = mean_interval(np.array(values), strata)
    assert interval.mean == np.mean(values)
    assert np.isnan(interval.half_width)


@given(st.lists(st.floats(-100, 100), min_size=4, max_size=50), st.floats(-50, 50), st.floats(0.1, 10))
def test_intervals_move_and_stretch_with_the_values(values: list[float], shift: float, scale: float) -> None:
    plain, moved = mean_interval(np.array(values)), mean_interval(np.array(values) * scale + shift)
    assert moved.mean == pytest.approx(plain.mean * scale + shift, abs=1e-6)
    assert moved.half_width == pytest.approx(plain.half_width * scale, abs=1e-6)


def test_an_ellipse_holds_what_one_sigma_holds() -> None:
    rng = np.random.default_rng(3)
    points = rng.multivariate_normal([3, -1], [[2, 1.2], [1.2, 1]], size=20_000)
    around = ellipse(points[:, 0], points[:, 1])
    assert around is not None
    inside = np.linalg.solve(around.axes, (points - around.center).T)
    # 1 - exp(-1/2) of a 2-D Gaussian lies within one sigma.
    assert np.mean(np.sum(inside**2, axis=0) < 1) == pytest.approx(1 - np.exp(-0.5), abs=0.01)
    on_the_line = np.linalg.solve(around.axes, (around.outline(7) - around.center).T)
    np.testing.assert_allclose(np.sum(on_the_line**2, axis=0), 1)


def test_two_points_have_no_ellipse() -> None:
    assert ellipse(np.array([1.0, 2.0]), np.array([1.0, 2.0])) is None
