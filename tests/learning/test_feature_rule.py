"""The fast rule for scales of inputs, against quadrature and enumeration."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize, minimize_scalar
from scipy.stats import multivariate_normal

from relvec.learning.feature_rule import half_normal_gain, select_features
from relvec.learning.length_scale_uncertainty import compute_scale_deviations


def log_evidence(s, q, b):
    """Log of the integral of the likelihood times a half-normal prior, by quadrature."""
    middle, width = max(q / (s + b), 0.0), 1.0 / math.sqrt(s + b)
    top = q * middle - 0.5 * (s + b) * middle**2

    def density(eta):
        return math.exp(q * eta - 0.5 * (s + b) * eta**2 - top)

    low, high = max(0.0, middle - 40 * width), middle + 40 * width
    value, _ = quad(density, low, high, points=[middle], epsabs=0.0, epsrel=1e-11, limit=200)
    return math.log(2.0 * value) + 0.5 * math.log(b / (2.0 * math.pi)) + top


@pytest.mark.parametrize("s", [1e-3, 1.0, 400.0])
@pytest.mark.parametrize("z", [0.3, 1.0, 1.5, 2.5, 6.0, 30.0])
def test_gain_is_the_best_evidence(s, z):
    q = z * math.sqrt(s)
    grid = s * np.geomspace(1e-6, 1e7, 60)
    start = grid[np.argmax([log_evidence(s, q, b) for b in grid])]
    found = minimize_scalar(
        lambda log_b: -log_evidence(s, q, math.exp(log_b)),
        bounds=(math.log(start) - 1.0, math.log(start) + 1.0),
        method="bounded",
        options={"xatol": 1e-6},
    )
    [gain], [precision] = half_normal_gain(np.array([s]), np.array([q]))
    assert gain == pytest.approx(-found.fun, abs=1e-6)
    if gain > 0.05:
        assert precision == pytest.approx(math.exp(found.x), rel=1e-2)
        assert log_evidence(s, q, precision) == pytest.approx(gain, abs=1e-7)


def test_nothing_is_gained_by_a_scale_that_wants_to_be_negative():
    gain, precision = half_normal_gain(np.array([1.0, 2.0, 1.0]), np.array([-3.0, 0.0, 5.0]))
    np.testing.assert_array_equal(gain[:2], 0.0)
    assert np.isinf(precision[:2]).all()
    assert gain[2] > 0.0
    assert np.isfinite(precision[2])


def test_gain_grows_with_the_slope_and_is_never_negative():
    q = np.linspace(-5.0, 40.0, 500)
    gain, _ = half_normal_gain(np.ones(500), q)
    assert (gain >= 0.0).all()
    assert (np.diff(gain) >= -1e-9).all()
    assert gain[-1] == pytest.approx(0.5 * 40.0**2 + math.log(2.0) - math.log(40.0) - 0.5, abs=0.01)


def test_the_printed_rule_is_a_minimum():
    """Heimsaeter (2021), A.1.1: l(b) = [log b - log(1 + b S) + e^2 / b] / 2 with e held."""
    for e2, S in [(0.5, 1.0), (0.1, 3.0), (2.0, 0.3)]:
        assert e2 * S < 1.0
        printed = e2 / (1.0 - e2 * S)

        def objective(b, e2=e2, S=S):
            return 0.5 * (math.log(b) - math.log1p(b * S) + e2 / b)

        around = [objective(printed * factor) for factor in (0.5, 0.9, 0.999, 1.001, 1.1, 2.0)]
        assert min(around) > objective(printed)
        assert objective(1e-6 * printed) > objective(printed) + 100.0
    # the rule of this library is a maximum of the evidence it speaks of
    s, q = 2.0, 4.0
    [gain], [precision] = half_normal_gain(np.array([s]), np.array([q]))
    for factor in (0.5, 0.9, 1.1, 2.0):
        assert log_evidence(s, q, factor * precision) < gain


def support_evidence(H, h, kept):
    """Best log evidence with some inputs, over their precisions; orthants by brute force."""
    kept = np.array(kept, dtype=int)
    if not len(kept):
        return 0.0
    H, h = H[np.ix_(kept, kept)], h[kept]

    def cost(log_b):
        b = np.exp(log_b)
        covariance = np.linalg.inv(H + np.diag(b))
        mean = covariance @ h
        deviate = mean / np.sqrt(covariance.diagonal())
        correlation = covariance / np.sqrt(np.outer(covariance.diagonal(), covariance.diagonal()))
        inside = multivariate_normal(np.zeros(len(kept)), correlation, seed=0).cdf(deviate)
        value = len(kept) * math.log(2.0) + 0.5 * log_b.sum() + math.log(max(inside, 1e-300))
        value += 0.5 * np.linalg.slogdet(covariance)[1] + 0.5 * h @ mean
        return -value

    start = np.log(1.0 / np.maximum(np.linalg.solve(H, h), 1e-2) ** 2)
    start = np.clip(start, -12.0, 12.0)
    return -minimize(cost, start, method="Nelder-Mead", options={"maxiter": 120}).fun


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_choice_is_that_of_enumeration(seed):
    """Coordinate steps need not end in the best support, but must not be far from it."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(30, 3)) + 0.7 * rng.normal(size=(30, 1))
    scale = np.array([0.5, 0.0, 0.2])
    truth = np.array([0.8, 0.6 * (seed % 2), 0.0])
    H = A.T @ A
    h = A.T @ (A @ truth + rng.normal(size=30))
    penalty = 1.5
    kept, mean, gain = select_features(H, h - H @ scale, scale, penalty)
    worth = {
        support: support_evidence(H, h, support) - penalty * len(support)
        for size in range(4)
        for support in itertools.combinations(range(3), size)
    }
    chosen = tuple(np.flatnonzero(kept))
    assert worth[chosen] > max(worth.values()) - 0.3
    assert (mean[~kept] == 0.0).all()
    assert (mean[kept] > 0.0).all()
    assert (gain >= 0.0).all()
    assert (gain[kept] > penalty).all()


@pytest.mark.parametrize("seed", range(4))
def test_independent_features_are_selected_one_by_one(seed):
    rng = np.random.default_rng(seed)
    s, z = rng.uniform(0.5, 50.0, 8), rng.normal(1.0, 2.5, 8)
    q = z * np.sqrt(s)
    scale = rng.choice([0.0, 1.0], 8) * rng.uniform(0.1, 1.0, 8)
    kept, mean, gain = select_features(np.diag(s), q - s * scale, scale, 1.0)
    expected, precision = half_normal_gain(s, q)
    np.testing.assert_allclose(gain, expected, atol=1e-9)
    np.testing.assert_array_equal(kept, expected > 1.0)
    np.testing.assert_allclose(mean[kept], (q / (s + precision))[kept])


def test_result_does_not_depend_on_the_units_of_features():
    rng = np.random.default_rng(3)
    A = rng.normal(size=(40, 4))
    H, h = A.T @ A, A.T @ (A @ [0.9, 0.0, 0.5, 0.0] + rng.normal(size=40))
    scale, unit = np.array([0.5, 0.1, 0.0, 0.0]), np.array([1e-6, 1e3, 1e6, 1.0])
    kept, mean, gain = select_features(H, h - H @ scale, scale, 1.0)
    moved = H * np.outer(unit, unit), (h - H @ scale) * unit
    kept_there, mean_there, gain_there = select_features(*moved, scale / unit, 1.0)
    np.testing.assert_array_equal(kept, kept_there)
    np.testing.assert_allclose(mean, mean_there * unit, rtol=1e-6)
    np.testing.assert_allclose(gain, gain_there, atol=1e-6)


def test_what_the_others_know_already_is_left_out():
    """Of inputs that do the same, or nothing, no gain is made of rounding errors."""
    rng = np.random.default_rng(3)
    A = rng.normal(size=(40, 4)) * [1.0, 1.0, 1.0, 0.0]
    A[:, 1] = A[:, 0]
    H = 1e20 * A.T @ A
    scale = np.array([0.5, 0.4, 0.0, 0.0])
    kept, mean, gain = select_features(H, np.array([1.0, 1.0, 0.0, -7.0]), scale, 1.0)
    assert np.isfinite(mean).all()
    assert np.isfinite(gain).all()
    assert kept[0] != kept[1]
    assert not kept[3]


# ------------------------------------------------------------------ deviations


@pytest.mark.parametrize("strength", [1e-8, 1e-4, 1e-2, 0.5, 10.0, 1e6])
def test_deviations_of_one_scale_have_a_closed_form(strength):
    """b = a / (a + b) for scales relative to their values, a the curvature there."""
    scale = np.array([0.3, 20.0])
    curvature = np.diag(strength / scale**2)
    a = strength
    b = 2.0 * a / (a + math.sqrt(a * a + 4.0 * a))
    std, covariance = compute_scale_deviations(curvature, scale)
    np.testing.assert_allclose(std, scale / math.sqrt(a + b), rtol=1e-3)
    np.testing.assert_allclose(covariance, np.diag(std**2), atol=1e-12)


def test_deviations_of_several_are_a_fixed_point():
    rng = np.random.default_rng(1)
    A = rng.normal(size=(20, 3)) * [1.0, 5.0, 0.3]
    scale = np.array([0.4, 0.1, 2.0])
    std, covariance = compute_scale_deviations(A.T @ A, scale)
    np.testing.assert_allclose(std, np.sqrt(covariance.diagonal()))
    prior = np.linalg.inv(covariance) - A.T @ A
    np.testing.assert_allclose(prior, np.diag(prior.diagonal()), atol=1e-6)
    b = prior.diagonal()
    np.testing.assert_allclose(b, (1.0 - b * covariance.diagonal()) / scale**2, rtol=1e-5)


def test_rounding_errors_of_the_curvature_do_no_harm():
    curvature = np.array([[1.0, 1.0 + 1e-6], [1.0 + 1e-6, 1.0]])  # not quite positive
    std, covariance = compute_scale_deviations(curvature, np.array([0.5, 2.0]))
    assert np.isfinite(std).all()
    assert (np.linalg.eigvalsh(covariance) > 0.0).all()


def test_no_scales_no_deviations():
    std, covariance = compute_scale_deviations(np.empty((0, 0)), np.empty(0))
    assert std.shape == (0,)
    assert covariance.shape == (0, 0)
