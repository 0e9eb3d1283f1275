"""Conditioning against the normal equations of the raw model, intercept and all."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import null_space

from relvec._typing import Matrix, Vector
from relvec.posterior import Posterior, TrainingBlock, condition, noise_floor
from tests.helpers_dense import DenseMoments, dense_log_evidence


class Case(NamedTuple):
    """A model with everything given."""

    Phi: Matrix
    t: Vector
    weight: Vector | None
    intercept: bool
    log_lam: Vector
    noise: float


def draw(
    seed: int = 0,
    *,
    n: int = 25,
    k: int = 4,
    weighted: bool = False,
    intercept: bool = True,
    noise: float = 0.3,
) -> Case:
    rng = np.random.default_rng(seed)
    Phi = rng.standard_normal((n, k)) * np.exp(rng.uniform(-2, 2, k)) + rng.standard_normal(k)
    t = 3.0 + Phi @ rng.standard_normal(k) + 0.5 * rng.standard_normal(n)
    weight = rng.integers(1, 4, n).astype(float) if weighted else None
    return Case(Phi, t, weight, intercept, rng.uniform(-5, 1, k), noise)


def fit(
    case: Case, noise: float | None = None, cuts: tuple[int, ...] = (), **options: float
) -> Posterior:
    """Condition on a case, its rows read in blocks that end at `cuts`."""
    moments = DenseMoments(case.Phi, case.t, case.weight, fit_intercept=case.intercept)
    blocks = (
        TrainingBlock(
            case.Phi[start:stop],
            case.t[start:stop],
            None if case.weight is None else case.weight[start:stop],
        )
        for start, stop in zip((0, *cuts), (*cuts, len(case.t)), strict=True)
    )
    return condition(
        moments,
        np.arange(case.Phi.shape[1]),
        case.log_lam,
        blocks,
        has_intercept=case.intercept,
        noise_variance=noise,
        **options,
    )


class Normal(NamedTuple):
    """The posterior over raw weights, the intercept first if there is one."""

    mean: Vector
    covariance: Matrix


def brute(case: Case, alpha: Vector, noise: float, weight: Vector | None = None) -> Normal:
    """Bayes' rule on the raw design, a flat intercept as a column of zero precision."""
    weight = np.ones(len(case.t)) if weight is None else weight
    design, precision = case.Phi, alpha
    if case.intercept:
        design, precision = np.c_[np.ones(len(case.t)), design], np.r_[0.0, alpha]
    covariance = np.linalg.inv((design.T * weight) @ design / noise + np.diag(precision))
    return Normal(covariance @ (design.T @ (weight * case.t)) / noise, covariance)


def at(case: Case, Phi: Matrix) -> Matrix:
    return np.c_[np.ones(len(Phi)), Phi] if case.intercept else Phi


CASES = [(w, i) for w in (False, True) for i in (False, True)]


@pytest.mark.parametrize(("weighted", "intercept"), CASES)
@settings(max_examples=25)
@given(seed=st.integers(0, 2**32 - 1), k=st.integers(0, 6), held=st.booleans())
def test_posterior_is_bayes_rule(
    weighted: bool, intercept: bool, seed: int, k: int, held: bool
) -> None:
    case = draw(seed, k=k, weighted=weighted, intercept=intercept)
    posterior = fit(case, case.noise if held else None)
    noise, alpha = posterior.noise_variance, posterior.weight_precision
    assert noise == case.noise or not held
    expected = brute(case, alpha, noise, case.weight)
    mean = np.r_[posterior.intercept, posterior.coef] if intercept else posterior.coef
    np.testing.assert_allclose(mean, expected.mean, rtol=1e-8, atol=1e-9)
    part = expected.covariance[1:, 1:] if intercept else expected.covariance
    scale = 1e-9 * (1.0 + np.abs(part).max(initial=0.0))
    np.testing.assert_allclose(posterior.covariance, part, rtol=1e-8, atol=scale)
    if not intercept:
        assert posterior.intercept == 0.0

    new = at(case, np.random.default_rng(seed).standard_normal((7, k)) * 3)
    raw = new[:, 1:] if intercept else new
    np.testing.assert_allclose(posterior.predict(raw), new @ expected.mean, rtol=1e-8, atol=1e-8)
    joint = new @ expected.covariance @ new.T
    scale = 1e-9 * (1.0 + np.abs(joint).max())
    np.testing.assert_allclose(posterior.joint_covariance(raw), joint, rtol=1e-7, atol=scale)
    np.testing.assert_allclose(posterior.variance(raw), joint.diagonal(), rtol=1e-7, atol=scale)
    assert posterior.log_evidence == pytest.approx(
        dense_log_evidence(case.Phi, case.t, alpha, noise, case.weight, intercept), rel=1e-9
    )


@pytest.mark.parametrize(("weighted", "intercept"), CASES)
def test_precisions_are_those_asked_for(weighted: bool, intercept: bool) -> None:
    case = draw(1, weighted=weighted, intercept=intercept)
    posterior = fit(case, 0.4)
    weight = np.ones(len(case.t)) if case.weight is None else case.weight
    mean = np.average(case.Phi, axis=0, weights=weight) if intercept else 0.0
    norm2 = weight @ (case.Phi - mean) ** 2
    np.testing.assert_allclose(posterior.weight_precision, np.exp(case.log_lam) * norm2 / 0.4)


@pytest.mark.parametrize(("weighted", "intercept"), CASES)
def test_profiled_noise_maximises_the_evidence_at_fixed_lam(
    weighted: bool, intercept: bool
) -> None:
    case = draw(2, weighted=weighted, intercept=intercept)
    best = fit(case)
    n = (len(case.t) if case.weight is None else case.weight.sum()) - intercept
    assert best.noise_variance == pytest.approx(best.quadratic / n, rel=1e-12)
    for factor in (0.99, 1.01):
        assert fit(case, factor * best.noise_variance).log_evidence < best.log_evidence
    slope = [fit(case, best.noise_variance * np.exp(h)).log_evidence for h in (1e-4, -1e-4)]
    assert slope[0] - slope[1] == pytest.approx(0.0, abs=1e-8)


def test_noise_prior_moves_the_noise_to_its_mode() -> None:
    case = draw(3)
    shape, rate = 4.0, 2.5
    best = fit(case, noise_shape=shape, noise_rate=rate).noise_variance

    def density(noise: float) -> float:
        return fit(case, noise).log_evidence - shape * np.log(noise) - rate / noise

    assert density(best) > max(density(best * 1.01), density(best / 1.01))


def test_the_quadratic_is_that_of_the_covariance_matrix() -> None:
    case = draw(4, intercept=False)
    posterior = fit(case, 0.4)
    K = np.eye(len(case.t)) + (case.Phi / (0.4 * posterior.weight_precision)) @ case.Phi.T
    assert posterior.quadratic == pytest.approx(case.t @ np.linalg.solve(K, case.t), rel=1e-10)


@pytest.mark.parametrize(("weighted", "intercept"), CASES)
@pytest.mark.parametrize("noise", [1e-2, 1e-6, 1e-9])
@pytest.mark.parametrize("seed", range(3))
def test_the_quadratic_keeps_its_digits_when_there_is_hardly_any_noise(
    weighted: bool, intercept: bool, noise: float, seed: int
) -> None:
    """``t't - z'z`` would lose as many digits as R is smaller than t't; no oracle may do so."""
    case = draw(seed, weighted=weighted, intercept=intercept)
    rng = np.random.default_rng(seed)
    t = case.Phi @ rng.standard_normal(4) + np.sqrt(noise) * rng.standard_normal(25)
    case = case._replace(t=t, log_lam=np.full(4, np.log(noise)))
    posterior = fit(case)
    weight = np.ones(25) if case.weight is None else case.weight
    root = np.sqrt(weight)
    basis = null_space(root[None, :]) if intercept else np.eye(25)
    unit = basis.T @ (root[:, None] * case.Phi) / posterior.column_norm
    target = basis.T @ (root * t)
    # K = I + U U' / lam from its eigenvectors: those that no atom reaches keep all digits
    left, singular, _ = np.linalg.svd(unit, full_matrices=True)
    eigenvalues = np.ones(len(target))
    eigenvalues[:4] += singular**2 / noise
    expected = float(((left.T @ target) ** 2 / eigenvalues).sum())
    assert expected < 1e3 * noise * len(t)
    assert posterior.quadratic == pytest.approx(expected, rel=1e-6)
    floor = noise_floor(posterior.target_variance, posterior.target_mean)
    best = max(posterior.quadratic / posterior.n_effective, floor)
    assert posterior.noise_variance == pytest.approx(best, rel=1e-12)


@pytest.mark.parametrize(("weighted", "intercept"), CASES)
@pytest.mark.parametrize("k", [0, 4])
@pytest.mark.parametrize("cuts", [(10,), (1, 2, 17), (0, 25)])
def test_rows_may_come_in_blocks(
    weighted: bool, intercept: bool, k: int, cuts: tuple[int, ...]
) -> None:
    case = draw(15, k=k, weighted=weighted, intercept=intercept)
    for noise in (None, 0.4):
        whole, parts = fit(case, noise), fit(case, noise, cuts)
        np.testing.assert_allclose(parts.coef, whole.coef, rtol=1e-10)
        np.testing.assert_allclose(parts.covariance, whole.covariance, rtol=1e-10)
        for name in ("intercept", "noise_variance", "quadratic", "log_evidence"):
            assert getattr(parts, name) == pytest.approx(getattr(whole, name), rel=1e-10)


@pytest.mark.parametrize(("weighted", "intercept"), CASES)
def test_moments_of_the_target_are_kept(weighted: bool, intercept: bool) -> None:
    case = draw(16, weighted=weighted, intercept=intercept)
    posterior = fit(case)
    weight = np.ones(len(case.t)) if case.weight is None else case.weight
    mean = np.average(case.t, weights=weight) if intercept else 0.0
    assert posterior.n_effective + posterior.has_intercept == pytest.approx(weight.sum())
    assert posterior.target_mean == pytest.approx(mean)
    expected = weight @ (case.t - mean) ** 2 / (weight.sum() - intercept)
    assert posterior.target_variance == pytest.approx(expected)


@pytest.mark.parametrize(("weighted", "intercept"), CASES)
def test_effective_dof_is_the_trace_of_the_smoother(weighted: bool, intercept: bool) -> None:
    case = draw(5, weighted=weighted, intercept=intercept)
    posterior = fit(case, 0.4)
    weight = np.ones(len(case.t)) if case.weight is None else case.weight
    design = at(case, case.Phi)
    covariance = brute(case, posterior.weight_precision, 0.4, case.weight).covariance
    smoother = design @ covariance @ (design.T * weight) / 0.4
    assert posterior.effective_dof == pytest.approx(np.trace(smoother), rel=1e-9)
    gamma = posterior.well_determined
    assert ((gamma > 0) & (gamma < 1)).all()
    assert gamma.sum() + intercept == pytest.approx(posterior.effective_dof)


# ------------------------------------------------------------------ leave one out


@pytest.mark.parametrize(("weighted", "intercept"), CASES)
@pytest.mark.parametrize("k", [0, 4])
@pytest.mark.parametrize("left_out", ["one", "half", "all"])
def test_leave_one_out_is_leaving_out_so_much_of_a_row(
    weighted: bool, intercept: bool, k: int, left_out: str
) -> None:
    case = draw(6, n=14, k=k, weighted=weighted, intercept=intercept)
    posterior = fit(case, 0.4)
    every = np.ones(len(case.t)) if case.weight is None else case.weight
    share = {"one": np.ones(len(case.t)), "half": 0.5 * every, "all": every}[left_out]
    if left_out == "one":
        mean, variance = posterior.leave_one_out(case.Phi, case.t)
    else:
        mean, variance = posterior.leave_one_out(case.Phi, case.t, share)
    design = at(case, case.Phi)
    for row in range(len(case.t)):
        weight = every.copy()
        weight[row] -= share[row]
        rest = brute(case, posterior.weight_precision, 0.4, weight)
        assert mean[row] == pytest.approx(design[row] @ rest.mean, rel=1e-8, abs=1e-9)
        spread = design[row] @ rest.covariance @ design[row] + 0.4
        assert variance[row] == pytest.approx(spread, rel=1e-8)


# ------------------------------------------------------------------ samples


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("k", [0, 3])
def test_samples_have_the_posterior_mean_and_covariance(intercept: bool, k: int) -> None:
    case = draw(7, k=k, intercept=intercept)
    posterior = fit(case, 0.4)
    draws = posterior.sample(case.Phi[:5], 40_000, np.random.default_rng(0))
    assert draws.shape == (5, 40_000)
    expected = posterior.joint_covariance(case.Phi[:5])
    error = np.sqrt(expected.diagonal() / draws.shape[1])
    assert (np.abs(draws.mean(axis=1) - posterior.predict(case.Phi[:5])) <= 5 * error).all()
    size = np.sqrt(np.multiply.outer(expected.diagonal(), expected.diagonal()))
    # a sample covariance has standard error at most sqrt(2 / n) of the sizes involved
    assert (np.abs(np.cov(draws) - expected) <= 5 * np.sqrt(2 / draws.shape[1]) * size).all()


def test_samples_are_functions_of_one_weight_vector() -> None:
    """Equal rows get equal values within a draw, and draws repeat with their generator."""
    case = draw(8)
    posterior = fit(case, 0.4)
    rows = case.Phi[[0, 1, 0]]
    draws = posterior.sample(rows, 6, np.random.default_rng(1))
    np.testing.assert_allclose(draws[0], draws[2], rtol=1e-12)
    assert np.unique(draws[0]).size == 6
    np.testing.assert_array_equal(draws, posterior.sample(rows, 6, np.random.default_rng(1)))


# ------------------------------------------------------------------ edges


@pytest.mark.parametrize("intercept", [False, True])
def test_without_atoms_only_the_mean_is_left(intercept: bool) -> None:
    case = draw(9, k=0, intercept=intercept)
    posterior = fit(case)
    n = len(case.t)
    centre = case.t.mean() if intercept else 0.0
    assert posterior.noise_variance == pytest.approx(
        ((case.t - centre) ** 2).sum() / (n - intercept)
    )
    np.testing.assert_allclose(posterior.predict(np.empty((3, 0))), centre)
    spread = posterior.noise_variance / n if intercept else 0.0
    np.testing.assert_allclose(posterior.variance(np.empty((3, 0))), spread)
    np.testing.assert_allclose(posterior.joint_covariance(np.empty((3, 0))), spread)
    assert posterior.covariance.shape == (0, 0)
    assert posterior.effective_dof == intercept


def test_nearly_collinear_atoms_still_give_the_fitted_values() -> None:
    rng = np.random.default_rng(10)
    x = rng.standard_normal(40)
    Phi = np.c_[x, x + 1e-7 * rng.standard_normal(40), x**2]
    t = x + 0.1 * rng.standard_normal(40)
    case = Case(Phi, t, None, True, np.log([1e-9, 1e-9, 1e-2]), 0.01)
    posterior = fit(case, 0.01)
    # by the function-space view, which has no small pivots
    alpha = posterior.weight_precision
    centred = Phi - Phi.mean(axis=0)
    prior = (centred / alpha) @ centred.T
    fitted = t.mean() + prior @ np.linalg.solve(prior + 0.01 * np.eye(40), t - t.mean())
    np.testing.assert_allclose(posterior.predict(Phi), fitted, atol=1e-6)
    assert posterior.log_evidence == pytest.approx(
        dense_log_evidence(Phi, t, alpha, 0.01), rel=1e-6
    )


def test_an_exactly_singular_gram_is_conditioned_all_the_same() -> None:
    x = np.random.default_rng(11).standard_normal(30)
    posterior = fit(Case(np.c_[x, x, x], 2 * x, None, True, np.full(3, -60.0), 0.01), 0.01)
    assert np.isfinite(posterior.coef).all()
    np.testing.assert_allclose(posterior.predict(np.c_[x, x, x]), 2 * x, atol=1e-5)


def test_rescaling_atoms_and_target_rescales_the_answers() -> None:
    case = draw(12)
    scale = np.array([1e-8, 1e8, 1e-3, 10.0])
    plain, scaled = fit(case), fit(case._replace(Phi=case.Phi * scale, t=1e-6 * case.t))
    np.testing.assert_allclose(scaled.coef, 1e-6 * plain.coef / scale, rtol=1e-9)
    assert scaled.noise_variance == pytest.approx(1e-12 * plain.noise_variance, rel=1e-9)
    n = plain.n_effective
    assert scaled.log_evidence == pytest.approx(plain.log_evidence + n * np.log(1e6), rel=1e-9)


@pytest.mark.parametrize("value", [0.0, 5.0, -1e9])
def test_a_constant_target_has_a_tiny_positive_noise(value: float) -> None:
    case = draw(13, k=2)._replace(t=np.full(25, value))
    posterior = fit(case)
    assert posterior.noise_variance > 0
    assert np.sqrt(posterior.noise_variance) <= 1e-6 * abs(value) + 1e-150
    assert np.isfinite(posterior.log_evidence)
    np.testing.assert_allclose(posterior.predict(case.Phi), value, atol=1e-6 * abs(value))


def test_noise_floor_is_a_share_of_the_spread_and_the_rounding_of_the_mean() -> None:
    assert noise_floor(1.0, 0.0) == pytest.approx(1e-10)
    assert noise_floor(1e6, 0.0) == pytest.approx(1e-4)
    assert noise_floor(0.0, 1e8) == pytest.approx((1e8 * np.finfo(float).eps) ** 2)
    assert noise_floor(1.0, -1e15) == pytest.approx((1e15 * np.finfo(float).eps) ** 2)
    assert noise_floor(0.0, 0.0) > 0


def test_conditioning_leaves_the_data_alone() -> None:
    case = draw(14, weighted=True)
    before = case.Phi.copy(), case.t.copy()
    fit(case)
    np.testing.assert_array_equal(case.Phi, before[0])
    np.testing.assert_array_equal(case.t, before[1])
