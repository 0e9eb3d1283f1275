"""Moments under changing weights against those that are prepared once."""

from __future__ import annotations

import numpy as np
import pytest

from relvec.dictionaries import DenseDictionary
from relvec.moments import LazyMoments
from relvec.moments.weighted import WeightedMoments


@pytest.mark.parametrize("centre", [True, False])
def test_the_same_as_prepared_moments(centre):
    rng = np.random.default_rng(0)
    Phi = rng.normal(size=(30, 12)) * np.exp(rng.uniform(-3, 3, 12)) + 1.0
    Phi[:, 5] = 2.0
    t, weight = rng.normal(size=30) + 3.0, rng.uniform(0.0, 0.25, 30)
    weight[3] = 0.0
    dictionary = DenseDictionary(Phi)
    active = np.array([1, 4, 7])
    found = WeightedMoments(dictionary, t, weight, centre=centre, active=active)
    expected = LazyMoments(dictionary, t, weight, centre=centre, store=True)
    assert found.n_effective == pytest.approx(expected.n_effective)
    assert found.target_ss == pytest.approx(expected.target_ss)
    assert found.target_mean == pytest.approx(expected.target_mean)
    np.testing.assert_array_equal(found.usable, expected.usable)
    np.testing.assert_allclose(found.column_mean, expected.column_mean, atol=1e-12)
    usable = found.usable
    np.testing.assert_allclose(found.column_norm[usable], expected.column_norm[usable], rtol=1e-10)
    np.testing.assert_allclose(found.correlation, expected.correlation, atol=1e-9)
    for index in (active, np.array([0, 4, 11, 2]), np.array([7, 1])):
        np.testing.assert_allclose(
            found.gram_rows(index)[:, usable], expected.gram_rows(index)[:, usable], atol=1e-9
        )
        np.testing.assert_allclose(found.gram(index), expected.gram(index), atol=1e-9)


def test_a_column_that_centring_leaves_to_rounding_is_not_usable():
    rng = np.random.default_rng(1)
    Phi = rng.normal(size=(20, 3))
    Phi[:, 1] = 1e8 + 1e-8 * Phi[:, 1]
    moments = WeightedMoments(
        DenseDictionary(Phi),
        Phi[:, 0],
        np.full(20, 0.25),
        centre=True,
        active=np.empty(0, dtype=np.intp),
    )
    np.testing.assert_array_equal(moments.usable, [True, False, True])
