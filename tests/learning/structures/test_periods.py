import numpy as np
import pytest

from relvec.learning.structures.periods import PeriodFinder
from relvec.learning.structures.rows import SearchRows


def find(t, y):
    u = 2.0 * (t - t[0]) / np.ptp(t) - 1.0
    finder = PeriodFinder(SearchRows(u[:, np.newaxis]))
    return np.array(finder.find_periods(y)) * 0.5 * np.ptp(t)


@pytest.mark.parametrize("seed", range(10))
def test_period_under_a_trend_and_noise(seed):
    rng = np.random.default_rng(seed)
    t, period = np.arange(150.0), rng.uniform(5, 30)
    y = 0.05 * t + np.sin(2 * np.pi * t / period) + 0.5 * rng.normal(size=150)
    found = find(t, y)
    assert np.abs(found / period - 1.0).min() < 0.02


def test_jump_does_not_hide_the_period():
    rng = np.random.default_rng(0)
    t = np.arange(160.0)
    y = np.sin(2 * np.pi * t / 12) + 30.0 * (t > 100) + 0.3 * rng.normal(size=160)
    assert abs(find(t, y)[0] - 12.0) < 0.2


def test_period_below_twice_the_median_spacing_of_sampled_grids():
    rng = np.random.default_rng(0)
    t = np.sort(rng.choice(3000, 700, replace=False)).astype(float)  # median spacing 3 or 4
    y = np.sin(2 * np.pi * t / 7) + 0.5 * rng.normal(size=700)
    assert np.median(np.diff(t)) * 2 > 5.0
    assert np.abs(find(t, y) - 7.0).min() < 0.01


def test_multiple_of_a_period_needs_power_of_its_own():
    rng = np.random.default_rng(0)
    t = np.arange(300.0)
    plain = np.sin(2 * np.pi * t / 10) + 0.3 * rng.normal(size=300)
    double = plain + 0.5 * np.sin(2 * np.pi * t / 20)
    assert np.abs(find(t, plain) - 20.0).min() > 1.0
    assert np.abs(find(t, double) - 20.0).min() < 0.2


@pytest.mark.parametrize("n", [2, 3, 5, 8])
def test_few_rows(n):
    assert len(find(np.arange(float(n)), np.arange(float(n)) ** 2)) <= 6
