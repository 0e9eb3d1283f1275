"""The one-atom rules and the derivatives against the N x N objective itself."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.stats import multivariate_normal

from relvec._typing import Matrix, Vector
from relvec.evidence import gaussian_objective
from tests.helpers_priors import best_precision, gradient_and_hessian, removal_loss

NOISE = [None, 0.3]
SMOOTHNESS = [0.0, 0.4, 2.5]
GRID = np.linspace(-20.0, 20.0, 161)


class Setting(NamedTuple):
    """What turns a design and precisions into one number."""

    n_effective: float
    smoothness: float
    noise: float | None


def dense(Phi: Matrix, t: Vector, lam: Vector, setting: Setting) -> complex:
    """J from the covariance matrix; analytic in `lam`, so a complex step differentiates it."""
    n, c, noise = setting
    K = np.eye(len(t)) + (Phi / lam) @ Phi.T
    inverse = np.linalg.inv(K)
    R = t @ inverse @ t
    noise = R / n if noise is None else noise
    fit = n * np.log(2 * np.pi * noise) + R / noise
    penalty = c * np.trace(np.eye(len(t)) - inverse)
    return -0.5 * (fit + np.log(np.linalg.det(K))) - penalty


def draw(seed: int, k: int, n: int = 12, signal: float = 1.0) -> tuple[Matrix, Vector, Vector]:
    """Unit columns, some of them nearly parallel, a target, and precisions."""
    rng = np.random.default_rng(seed)
    Phi = rng.standard_normal((n, k)) + rng.uniform(0.0, 2.0) * rng.standard_normal((n, 1))
    Phi /= np.linalg.norm(Phi, axis=0)
    t = signal * Phi @ rng.standard_normal(k) + rng.standard_normal(n) * 0.5
    return Phi, t, np.exp(rng.uniform(-5.0, 2.0, k))


def rule(
    Phi: Matrix, t: Vector, lam: Vector, setting: Setting
) -> tuple[float, float, tuple[float, float, float, float]]:
    """Gain and lam of column 0 given the others, and its dense statistics (s, q, p, R)."""
    inverse = np.linalg.inv(np.eye(len(t)) + (Phi[:, 1:] / lam[1:]) @ Phi[:, 1:].T)
    phi, back = Phi[:, 0], inverse @ Phi[:, 0]
    s, q, p, R = phi @ back, back @ t, back @ back, t @ inverse @ t
    gain, best = best_precision(np.array([s]), np.array([q]), np.array([p]), R, *setting)
    return float(gain[0]), float(best[0]), (s, q, p, R)


# ------------------------------------------------------------------ value


def test_gaussian_objective_is_a_normal_log_density() -> None:
    Phi, t, lam = draw(0, 4)
    noise = 0.7
    K = np.eye(len(t)) + (Phi / lam) @ Phi.T
    R, log_det = float(t @ np.linalg.solve(K, t)), float(np.linalg.slogdet(K)[1])
    density = multivariate_normal(np.zeros(len(t)), noise * K).logpdf(t)
    assert gaussian_objective(len(t), R, log_det, noise) == pytest.approx(density, rel=1e-12)


def test_profiled_objective_is_the_best_over_the_noise() -> None:
    n, R, log_det = 17.0, 3.2, 1.1
    best = minimize_scalar(
        lambda v: -gaussian_objective(n, R, log_det, float(np.exp(v))),
        bounds=(-10.0, 10.0),
        method="bounded",
        options={"xatol": 1e-9},
    )
    assert gaussian_objective(n, R, log_det, None) == pytest.approx(-best.fun, rel=1e-12)
    assert np.exp(best.x) == pytest.approx(R / n, rel=1e-6)


# ------------------------------------------------------------------ one atom


@pytest.mark.slow
@pytest.mark.parametrize("noise", NOISE)
@pytest.mark.parametrize("smoothness", SMOOTHNESS)
@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32 - 1),
    k=st.integers(1, 6),
    signal=st.sampled_from([0.0, 1.0, 10.0]),
    extra=st.sampled_from([0.0, 4.5]),
)
def test_best_precision_is_the_numerical_maximiser(
    noise: float | None, smoothness: float, seed: int, k: int, signal: float, extra: float
) -> None:
    Phi, t, lam = draw(seed, k, signal=signal)
    setting = Setting(len(t) + extra, smoothness, noise)
    gain, best, _ = rule(Phi, t, lam, setting)

    def value(theta: float) -> float:
        return dense(Phi, t, np.r_[np.exp(theta), lam[1:]], setting).real

    without = dense(Phi[:, 1:], t, lam[1:], setting).real
    values = np.array([value(theta) for theta in GRID])
    top = int(np.argmax(values))
    around = GRID[max(top - 1, 0)], GRID[min(top + 1, len(GRID) - 1)]
    found = minimize_scalar(lambda v: -value(v), bounds=around, method="bounded")
    numerical = max(-found.fun, values[top]) - without
    scale = 1.0 + abs(without)
    if np.isinf(gain):
        assert gain < 0
        assert numerical < 1e-9 * scale
        return
    assert gain > 0
    assert gain >= numerical - 1e-9 * scale
    if abs(np.log(best)) < 20:
        # What the rule promises is what the dense objective gives at the rule's precision.
        assert value(np.log(best)) - without == pytest.approx(gain, abs=1e-9 * scale)
        # The 1-D search resolves the position only as well as the objective is curved.
        if gain > 1e-2:
            assert np.log(best) == pytest.approx(found.x, abs=2e-2)


@pytest.mark.parametrize("noise", NOISE)
@settings(max_examples=40)
@given(seed=st.integers(0, 2**32 - 1), k=st.integers(1, 5))
def test_a_vanishing_smoothness_is_the_flat_rule(noise: float | None, seed: int, k: int) -> None:
    Phi, t, lam = draw(seed, k)
    flat = rule(Phi, t, lam, Setting(12.0, 0.0, noise))
    almost = rule(Phi, t, lam, Setting(12.0, 1e-12, noise))
    if np.isfinite(flat[0]) and flat[0] > 1e-6:
        assert almost[0] == pytest.approx(flat[0], rel=1e-5)
        assert almost[1] == pytest.approx(flat[1], rel=1e-5)
    elif np.isfinite(almost[0]):
        assert almost[0] < 2e-6


@settings(max_examples=40)
@given(seed=st.integers(0, 2**32 - 1))
def test_flat_rule_is_the_published_closed_form(seed: int) -> None:
    """Spec 01 §1.1, and Tipping and Faul's rule at a held noise."""
    Phi, t, lam = draw(seed, 4, signal=3.0)
    n = 12.0
    gain, best, (s, q, _, R) = rule(Phi, t, lam, Setting(n, 0.0, None))
    u = q**2 / R
    assert np.isfinite(gain) == (n * u > s)
    if np.isfinite(gain):
        assert best == pytest.approx(s * (s - u) / (n * u - s), rel=1e-9)
    noise = R / n
    gain, best, _ = rule(Phi, t, lam, Setting(n, 0.0, noise))
    assert np.isfinite(gain) == (q**2 / noise > s)
    if np.isfinite(gain):
        assert best == pytest.approx(s**2 / (q**2 / noise - s), rel=1e-9)


def test_best_precision_is_elementwise() -> None:
    rng = np.random.default_rng(3)
    s = rng.uniform(0.05, 1.0, 200)
    p = s * rng.uniform(0.1, 1.0, 200)
    q = rng.standard_normal(200)
    R = 5.0 + q**2 / s
    for setting in (Setting(20.0, c, noise) for c in SMOOTHNESS for noise in NOISE):
        gain, lam = best_precision(s, q, p, R, *setting)
        assert 0 < np.isfinite(gain).sum() < 200
        for i in range(0, 200, 23):
            one, lam_one = best_precision(s[i : i + 1], q[i : i + 1], p[i : i + 1], R[i], *setting)
            assert one[0] == gain[i]
            if np.isfinite(gain[i]):
                assert lam_one[0] == pytest.approx(lam[i], rel=1e-14)


@pytest.mark.parametrize("noise", NOISE)
@pytest.mark.parametrize("smoothness", SMOOTHNESS)
def test_rounding_cannot_explain_more_than_everything(
    noise: float | None, smoothness: float
) -> None:
    """``q^2 = s R`` to the last bit, or a bit beyond: gain and precision stay numbers."""
    s, q = np.array([1.0, 1.0]), np.array([1.0, 1.0 + 1e-12])
    gain, lam = best_precision(s, q, s, 1.0, 50.0, smoothness, noise)
    assert not np.isnan(gain).any()
    assert (lam[np.isfinite(gain)] > 0).all()


@pytest.mark.slow
@pytest.mark.parametrize("noise", NOISE)
@pytest.mark.parametrize("smoothness", SMOOTHNESS)
@settings(max_examples=40)
@given(seed=st.integers(0, 2**32 - 1), k=st.integers(1, 6))
def test_removal_loss_is_a_difference_of_objectives(
    noise: float | None, smoothness: float, seed: int, k: int
) -> None:
    Phi, t, lam = draw(seed, k)
    setting = Setting(12.0, smoothness, noise)
    _, _, (s, _, p, without) = rule(Phi, t, lam, setting)
    full = np.linalg.inv(np.eye(len(t)) + (Phi / lam) @ Phi.T)
    loss = removal_loss(
        np.array([s]), lam[:1], np.array([without]), t @ full @ t, np.array([p]), *setting
    )
    difference = dense(Phi, t, lam, setting) - dense(Phi[:, 1:], t, lam[1:], setting)
    assert loss[0] == pytest.approx(difference.real, abs=1e-9, rel=1e-9)


# ------------------------------------------------------------------ derivatives


def dense_gradient(Phi: Matrix, t: Vector, theta: Vector, setting: Setting) -> Vector:
    """Complex-step derivatives of -2 J: exact to rounding."""
    step = 1e-30
    return np.array(
        [
            -2.0
            * dense(Phi, t, np.exp(theta + 1j * step * (np.arange(len(theta)) == i)), setting).imag
            / step
            for i in range(len(theta))
        ]
    )


@pytest.mark.slow
@pytest.mark.parametrize("noise", NOISE)
@pytest.mark.parametrize("smoothness", SMOOTHNESS)
@settings(max_examples=40)
@given(seed=st.integers(0, 2**32 - 1), k=st.integers(1, 5))
def test_gradient_and_hessian_against_the_dense_objective(
    noise: float | None, smoothness: float, seed: int, k: int
) -> None:
    Phi, t, lam = draw(seed, k)
    setting = Setting(12.0, smoothness, noise)
    theta = np.log(lam)
    covariance = np.linalg.inv(Phi.T @ Phi + np.diag(lam))
    mean = covariance @ Phi.T @ t
    R = float(t @ (t - Phi @ mean))
    shrunk = covariance @ Phi.T @ Phi @ covariance
    gradient, hessian = gradient_and_hessian(covariance, mean, lam, shrunk, R, *setting)
    expected = dense_gradient(Phi, t, theta, setting)
    scale = 1.0 + np.abs(lam * mean**2).max() / (R if noise is None else noise)
    np.testing.assert_allclose(gradient, expected, rtol=1e-8, atol=1e-8 * scale)
    # the same by central differences of values, which share nothing with complex steps
    step = 1e-4
    for i, unit in enumerate(np.eye(k)):
        up, down = (dense(Phi, t, np.exp(theta + h * unit), setting).real for h in (step, -step))
        assert -2 * (up - down) / (2 * step) == pytest.approx(gradient[i], abs=1e-5 * scale)
        column = dense_gradient(Phi, t, theta + step * unit, setting)
        column -= dense_gradient(Phi, t, theta - step * unit, setting)
        np.testing.assert_allclose(hessian[i], column / (2 * step), rtol=1e-5, atol=1e-5 * scale)


def test_the_flat_gradient_does_not_need_the_shrunk_matrix() -> None:
    Phi, t, lam = draw(1, 3)
    covariance = np.linalg.inv(Phi.T @ Phi + np.diag(lam))
    mean = covariance @ Phi.T @ t
    given_none = gradient_and_hessian(covariance, mean, lam, None, 2.0, 12.0, 0.0, None)
    given_some = gradient_and_hessian(covariance, mean, lam, covariance, 2.0, 12.0, 0.0, None)
    np.testing.assert_array_equal(given_none[0], given_some[0])
    np.testing.assert_array_equal(given_none[1], given_some[1])
