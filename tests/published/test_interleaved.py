"""Tipping's interleaved scheme: derivatives, monotone climbs, the toy problem of section 4.3."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from relvec._typing import Matrix, Vector
from relvec.published import InterleavedRVM
from relvec.published.interleaved_scales import _State, quadratic_columns


def toy(n: int = 60, seed: int = 0) -> tuple[Matrix, Vector, Vector]:
    """Inputs, targets and truth of ``sinc(x1) + 0.1 x2``."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-10.0, 10.0, (n, 2))
    truth = np.sinc(X[:, 0] / np.pi) + 0.1 * X[:, 1]
    return X, truth + 0.1 * rng.standard_normal(n), truth


def small_state(seed: int = 0) -> _State:
    X, y, _ = toy(25, seed)
    rng = np.random.default_rng(seed)
    kept = np.array([0, 2, 5, 9, 14, 20, 27])
    return _State(
        X=X,
        y=y,
        fixed=np.column_stack([np.ones(25), X]),
        kept=kept,
        alpha=rng.uniform(0.2, 3.0, len(kept)),
        noise=0.05,
        log_eta=np.log([0.1, 0.02]),
        step=0.1,
    )


def dense_evidence(state: _State, log_eta: Vector) -> float:
    """Density of the targets under the covariance of equation 34."""
    columns = []
    for i in state.kept:
        if i < 3:
            columns.append(state.fixed[:, i])
        else:
            apart = state.X - state.X[i - 3]
            columns.append(np.exp(-(apart**2) @ np.exp(log_eta)))
    Phi = np.array(columns).T
    C = state.noise * np.eye(len(state.y)) + (Phi / state.alpha) @ Phi.T
    return multivariate_normal(np.zeros(len(C)), C).logpdf(state.y)


def test_gradient_in_the_scales_by_finite_differences_of_the_dense_evidence() -> None:
    state = small_state()
    found, design = state.evaluate(state.log_eta)
    assert found.log_evidence == pytest.approx(dense_evidence(state, state.log_eta))
    gradient = state.gradient(found, design)
    for k, e in enumerate(1e-5 * np.eye(2)):
        up = dense_evidence(state, state.log_eta + e)
        down = dense_evidence(state, state.log_eta - e)
        assert gradient[k] == pytest.approx((up - down) / 2e-5, rel=1e-5)


@pytest.mark.parametrize("initial_step", [1e-3, 0.1, 50.0])
def test_climbs_never_lower_the_evidence(initial_step) -> None:
    state = small_state()
    state.step = initial_step
    before = dense_evidence(state, state.log_eta)
    found, reported, moved = InterleavedRVM(max_shrinks=20)._ascend_scales(state)
    assert reported == pytest.approx(before)
    assert found.log_evidence > before
    assert found.log_evidence == pytest.approx(dense_evidence(state, state.log_eta))
    assert moved > 0.0


@pytest.mark.parametrize("scale_steps", [1, 3, 5])
def test_no_climb_of_a_fit_lowers_the_evidence(scale_steps) -> None:
    X, y, _ = toy()
    model = InterleavedRVM(scale_steps=scale_steps, max_iter=60).fit(X, y)
    before, after = model.trace_.T
    assert len(before) == model.n_iter_
    assert (after >= before).all()
    assert after[-1] == model.log_evidence_


def test_updates_of_precisions_and_noise_are_equations_16_and_18() -> None:
    X, y, _ = toy(20)
    model = InterleavedRVM(scale_steps=0, max_iter=1, initial_scale=0.3, gamma_min=0.0).fit(X, y)
    apart = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    Phi = np.column_stack([np.ones(20), np.exp(-0.3 * apart)])
    noise, alpha = np.var(y) / 10.0, np.full(21, 20.0**-2)
    Sigma = np.linalg.inv(Phi.T @ Phi / noise + np.diag(alpha))
    mu = Sigma @ Phi.T @ y / noise
    gamma = 1.0 - alpha * Sigma.diagonal()
    np.testing.assert_allclose(model.weight_precision_, (gamma / mu**2)[1:], rtol=1e-7)
    expected = np.sum((y - Phi @ mu) ** 2) / (20 - gamma.sum())
    assert model.noise_variance_ == pytest.approx(expected)
    np.testing.assert_array_equal(model.input_scales_, [0.3, 0.3])


@pytest.mark.slow
def test_toy_problem_of_section_4_3() -> None:
    X, y, truth = toy(100)
    model = InterleavedRVM(columns="quadratic", max_iter=600).fit(X, y)
    mean, std = model.predict(X, return_std=True)
    assert np.sqrt(np.mean((mean - truth) ** 2)) < 0.06
    assert model.column_coef_[1] == pytest.approx(0.1, abs=0.01)
    assert 1 in model.columns_
    np.testing.assert_allclose(np.delete(model.column_coef_, 1), 0.0, atol=5e-3)
    assert model.input_scales_[0] > 30.0 * model.input_scales_[1]
    assert np.sqrt(model.noise_variance_) == pytest.approx(0.1, rel=0.25)
    assert len(model.relevance_) < 15
    assert (std > np.sqrt(model.noise_variance_)).all()


@pytest.mark.slow
def test_sinc_is_found() -> None:
    rng = np.random.default_rng(0)
    x, grid = np.linspace(-10.0, 10.0, 100), np.linspace(-10.0, 10.0, 1000)
    y = np.sinc(x / np.pi) + rng.uniform(-0.1, 0.1, 100)
    model = InterleavedRVM().fit(x[:, None], y)
    assert np.sqrt(np.mean((model.predict(grid[:, None]) - np.sinc(grid / np.pi)) ** 2)) < 0.03
    assert len(model.relevance_) < 15


def test_explicit_columns_may_be_a_function() -> None:
    X, y, _ = toy()
    named = InterleavedRVM(columns="quadratic", max_iter=30).fit(X, y)
    given = InterleavedRVM(columns=quadratic_columns, max_iter=30).fit(X, y)
    np.testing.assert_array_equal(named.predict(X), given.predict(X))
    with pytest.raises(ValueError, match="columns must return a matrix of 60 rows"):
        InterleavedRVM(columns=lambda X: X[:3]).fit(X, y)


def test_fits_are_repeatable_and_do_not_depend_on_the_order_of_features() -> None:
    X, y, _ = toy()
    model = InterleavedRVM(max_iter=40)
    first, again = clone(model).fit(X, y), clone(model).fit(X, y)
    np.testing.assert_array_equal(first.input_scales_, again.input_scales_)
    turned = clone(model).fit(X[:, ::-1], y)
    np.testing.assert_allclose(turned.input_scales_[::-1], first.input_scales_, rtol=1e-3)


@pytest.mark.parametrize("y", [np.zeros(60), np.full(60, 1e6)])
def test_constant_targets_do_not_break_the_fit(y) -> None:
    X, _, _ = toy()
    mean, std = InterleavedRVM(max_iter=30).fit(X, y).predict(X, return_std=True)
    np.testing.assert_allclose(mean, y, rtol=1e-6, atol=1e-6)
    assert np.isfinite(std).all()


def test_a_low_threshold_leaves_one_column() -> None:
    X, y, _ = toy()
    model = InterleavedRVM(alpha_max=1e-12, max_iter=5).fit(X, y)
    assert len(model.relevance_) + (model.intercept_ != 0.0) == 1
    assert np.isfinite(model.predict(X)).all()


@pytest.mark.parametrize(
    ("constants", "error", "sentence"),
    [
        ({"columns": "cubic"}, ValueError, "columns must be one of 'linear', 'quadratic'"),
        ({"initial_scale": 0.0}, ValueError, "initial_scale must be positive"),
        ({"initial_scale": [1.0]}, ValueError, "shape \\(1,\\) for 2 features"),
        ({"scale_steps": -1}, ValueError, "scale_steps must be an integer of at least 0"),
        ({"step_shrink": 1.5}, ValueError, "step_shrink must be below 1"),
        ({"max_step": 0.0}, ValueError, "max_step must be a positive number"),
        ({"tol": "small"}, TypeError, "tol must be a positive number"),
        ({"alpha_max": 0.0}, ValueError, "alpha_max must be a positive number"),
        ({"fit_intercept": "yes"}, TypeError, "fit_intercept must be True or False"),
    ],
)
def test_bad_constants_are_named(constants, error, sentence) -> None:
    X, y, _ = toy()
    with pytest.raises(error, match=sentence):
        InterleavedRVM(**constants).fit(X, y)


@pytest.mark.estimator_check
@parametrize_with_checks([InterleavedRVM(max_iter=10)])
def test_scikit_learn_contract(estimator, check) -> None:
    check(estimator)
