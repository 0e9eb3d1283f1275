"""Hyper-parameters of bases with a prior spectrum."""

from __future__ import annotations

import numpy as np
import pytest

from relvec.bases import (
    KernelBasis,
    LinearBasis,
    PeriodicBasis,
    SlopeWalkBasis,
    SmoothBasis,
    WalkBasis,
)
from relvec.learning.prior_spectra import has_unset_parameters, learn_prior_spectra


def learn(basis, X, y, weight=None, noise=None):
    return learn_prior_spectra(basis, X, y[:, None], [weight], [noise])


def draw(length, seed, n=150, noise=0.3):
    """A Gaussian process on [0, 10] of squared exponential covariance."""
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(0.0, 10.0, n))
    covariance = np.exp(-0.5 * ((x[:, None] - x) / length) ** 2) + 1e-9 * np.eye(n)
    signal = np.linalg.cholesky(covariance) @ rng.normal(size=n)
    return x[:, None], signal + noise * rng.normal(size=n)


@pytest.mark.parametrize("length", [0.3, 1.0, 3.0])
def test_length_scales_are_recovered(length):
    ratios = []
    for seed in range(20, 28):
        X, y = draw(length, seed)
        ratios.append(learn(SmoothBasis(), X, y).length_scale / length)
    assert 0.75 < np.median(ratios) < 1.33


def test_the_evidence_is_largest_at_the_learnt_length_scale():
    """Of the exact process; the prior of length-scales is weak."""
    X, y = draw(1.0, 30)
    found = learn(SmoothBasis(), X, y).length_scale

    def evidence(length):
        distance = (X - X.T) / length
        unit = np.exp(-0.5 * distance**2)
        best = -np.inf
        for amplitude in np.geomspace(0.2, 5.0, 15):
            for noise in np.geomspace(0.05, 0.2, 10):
                covariance = amplitude * unit + noise * np.eye(len(y)) + 10.0
                log_det = np.linalg.slogdet(2.0 * np.pi * covariance)[1]
                value = -0.5 * (log_det + y @ np.linalg.solve(covariance, y))
                best = max(best, value)
        return best

    assert evidence(found) > max(evidence(0.7 * found), evidence(1.4 * found))


def test_given_parameters_stay():
    X, y = draw(1.0, 31)
    season = PeriodicBasis(2.0, length_scale=0.7) * SmoothBasis()
    basis = SmoothBasis(2.5) + season + LinearBasis() + WalkBasis()
    learnt = learn(basis, X, y)
    assert learnt.bases[0].length_scale == 2.5
    assert learnt.bases[1].factors[0].length_scale == 0.7
    assert learnt.bases[1].factors[1].length_scale > 0.0
    assert basis.bases[1].factors[1].length_scale is None  # a copy
    assert not has_unset_parameters(learnt)


def test_units_and_order_of_rows():
    X, y = draw(1.0, 32)
    basis = SmoothBasis() + PeriodicBasis(3.0)
    first = learn(basis, X, y)
    scaled = learn(SmoothBasis() + PeriodicBasis(300.0), 100.0 * X[::-1] + 7.0, 5.0 * y[::-1] - 1.0)
    assert scaled.bases[0].length_scale == pytest.approx(
        100 * first.bases[0].length_scale, rel=0.01
    )
    assert scaled.bases[1].length_scale == pytest.approx(first.bases[1].length_scale, rel=0.01)


def test_weights_count_as_repetitions():
    X, y = draw(1.0, 33, n=60)
    weight = np.random.default_rng(0).integers(0, 3, 60).astype(float)
    repeated = np.repeat(np.arange(60), weight.astype(int))
    one = learn(SmoothBasis(), X, y, weight)
    two = learn(SmoothBasis(), X[repeated], y[repeated])
    assert one.length_scale == pytest.approx(two.length_scale, rel=1e-3)


def test_other_parts_explain_their_share():
    """A slope is left to the linear part, and the smooth part finds the length-scale."""
    X, y = draw(0.5, 34)
    y = y + 2.0 * X[:, 0]
    assert learn(SmoothBasis() + LinearBasis(), X, y).bases[0].length_scale < 1.0
    with_kernel = learn(SmoothBasis() + KernelBasis(gamma=0.01), X, y)
    assert with_kernel.bases[0].length_scale < 1.0
    with_slope = learn(SmoothBasis() + SlopeWalkBasis(), X, y)
    assert with_slope.bases[0].length_scale < 1.0


def test_several_outputs_and_constant_targets():
    X, y = draw(0.5, 35)
    other = draw(2.0, 36)[1]
    each = [learn(SmoothBasis(), X, target).length_scale for target in (y, other)]
    targets = np.column_stack([y, np.ones(len(y)), other])
    both = learn_prior_spectra(SmoothBasis(), X, targets, [None] * 3, [None] * 3)
    assert both.length_scale == pytest.approx(np.sqrt(each[0] * each[1]))
    assert learn(SmoothBasis(), X, np.ones(len(y))).length_scale is None


def test_known_noise_is_held():
    X, y = draw(1.0, 37)
    assert learn(SmoothBasis(), X, y, noise=0.09).length_scale == pytest.approx(1.0, rel=0.5)
    # With next to no noise the function must follow every observation.
    short = learn(SmoothBasis(), X, y, noise=1e-4).length_scale
    assert short < 0.5 * learn(SmoothBasis(), X, y).length_scale
