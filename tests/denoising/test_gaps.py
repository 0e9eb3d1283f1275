"""Missing samples: interpolation and its variance."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relvec.denoising.gaps import compute_gap_variance, fill_gaps


@given(
    shape=st.sampled_from([(1,), (2,), (30,), (6, 7), (1, 9), (3, 4, 5)]),
    share=st.floats(0.02, 0.98),
    seed=st.integers(0, 1000),
)
def test_what_is_observed_stays_and_the_rest_lies_between(shape, share, seed):
    random = np.random.default_rng(seed)
    observed = random.random(shape) < share
    observed.flat[random.integers(observed.size)] = True
    values = random.normal(size=shape)
    values[~observed] = np.nan
    kept = values.copy()
    filled = fill_gaps(values, observed)
    np.testing.assert_array_equal(filled[observed], values[observed])
    np.testing.assert_array_equal(values, kept)
    assert filled.min() >= values[observed].min() - 1e-12
    assert filled.max() <= values[observed].max() + 1e-12


def test_along_a_line_linearly():
    nan = np.nan
    values = np.array([nan, nan, 1.0, nan, nan, nan, 3.0, nan])
    expected = [1.0, 1.0, 1.0, 1.5, 2.0, 2.5, 3.0, 3.0]
    np.testing.assert_allclose(fill_gaps(values, ~np.isnan(values)), expected)


def test_values_of_missing_samples_are_ignored():
    random = np.random.default_rng(0)
    for shape in ((50,), (20, 20)):
        observed = random.random(shape) < 0.7
        values = random.normal(size=shape)
        poisoned = np.where(observed, values, np.inf)
        np.testing.assert_array_equal(fill_gaps(values, observed), fill_gaps(poisoned, observed))


def test_planes_are_continued_through_small_gaps():
    rows, columns = np.mgrid[:30, :40]
    plane = 2.0 * rows - columns
    observed = np.ones(plane.shape, dtype=bool)
    observed[10:15, 20:24] = False
    observed[3, 5] = False
    np.testing.assert_allclose(fill_gaps(plane, observed), plane, atol=0.3)


def test_all_observed_is_left_alone():
    values = np.random.default_rng(1).normal(size=(5, 5))
    assert fill_gaps(values, np.ones((5, 5), dtype=bool)) is values


def test_gap_variance_against_a_loop():
    mean = np.sin(np.arange(60) / 5)
    observed = np.ones(60, dtype=bool)
    observed[20:31] = False
    found = compute_gap_variance(mean, observed)
    variance = [0.0]
    for step in range(1, 7):
        errors = [
            (mean[i] - 0.5 * (mean[i - step] + mean[i + step])) ** 2 for i in range(step, 60 - step)
        ]
        variance.append(max(variance[-1], np.mean(errors)))
    expected = [variance[min(abs(i - 19), abs(i - 31)) if 20 <= i < 31 else 0] for i in range(60)]
    np.testing.assert_allclose(found, expected)


def test_gap_variance_grows_into_a_gap_and_is_zero_elsewhere():
    random = np.random.default_rng(2)
    mean = np.cumsum(random.normal(size=(40, 50)), axis=1)
    observed = np.ones(mean.shape, dtype=bool)
    observed[10:21, 10:31] = False
    variance = compute_gap_variance(mean, observed)
    assert (variance[observed] == 0.0).all()
    assert (np.diff(variance[15, 9:16]) >= 0.0).all()
    assert variance[15, 20] > variance[15, 10] > 0.0


def test_gap_variance_of_a_straight_line_is_zero():
    observed = np.ones(100, dtype=bool)
    observed[40:60] = False
    np.testing.assert_allclose(compute_gap_variance(np.arange(100.0), observed), 0.0, atol=1e-20)


@pytest.mark.parametrize("shape", [(2,), (3,), (2, 2), (1, 3)])
def test_gap_variance_of_the_smallest_arrays(shape):
    observed = np.zeros(shape, dtype=bool)
    observed.flat[0] = True
    variance = compute_gap_variance(np.arange(float(np.prod(shape))).reshape(shape), observed)
    assert variance.shape == shape
    assert np.isfinite(variance).all()
