"""Intervals and ellipses against closed forms and published quantiles."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exmachina.stats import ellipse, mean_interval, t_quantile


@pytest.mark.parametrize(
    ("probability", "degrees", "published"),
    [(0.975, 4, 2.7764), (0.975, 10, 2.2281), (0.975, 30, 2.0423), (0.95, 10, 1.8125), (0.975, 1e9, 1.9600)],
)
def test_quantiles_of_student_t(probability: float, degrees: float, published: float) -> None:
    assert t_quantile(probability, degrees) == pytest.approx(published, rel=0.01 if degrees < 10 else 1e-3)


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


def test_the_interval_covers_the_truth_as_often_as_it_says() -> None:
    rng = np.random.default_rng(2)
    samples = (rng.exponential(size=200) - 1 for _ in range(2000))
    intervals = [mean_interval(sample) for sample in samples]
    covered = np.mean([abs(i.mean) <= i.half_width for i in intervals])
    # Three standard errors of 2000 trials are 1.5 %; exponentials are skewed, which costs a little.
    assert 0.925 < covered < 0.965


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
