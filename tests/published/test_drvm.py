"""The alternating DRVM against a naive transcription of the thesis' algorithm."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from relvec._typing import Matrix, Vector
from relvec.published import AlternatingDRVM


def wave(n: int = 30, seed: int = 0) -> tuple[Matrix, Vector]:
    """Two inputs, of which the first matters."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2.0, 2.0, (n, 2))
    return X, np.sin(2.0 * X[:, 0]) + 0.1 * rng.standard_normal(n)


def sigmoid(x: Vector) -> Vector:
    return 1.0 / (1.0 + np.exp(-x))


def naive_drvm(X, t, *, theta0, n_iter, stale, form, exact, maximum=1e9, its=25, stop=1e-6):
    """Algorithm 4 and appendix A.2 with explicit tensors and inverses; no intercept, no floor."""
    n, p = X.shape
    theta, beta, alpha, s2 = np.full(p, theta0), np.ones(p), np.full(n, n**-2.0), np.var(t) / 10
    rows, feats = np.arange(n), np.arange(p)
    tensor = (X[:, None, :] - X[None, :, :]) ** 2
    lam, smooth = 5.0, 0.0 if exact else 1.0

    def kernel(th):
        return np.exp(-np.einsum("ijk,k->ij", tensor[:, rows][:, :, feats], th))

    for _ in range(n_iter):
        Phi = kernel(theta)
        Sigma = np.linalg.inv(Phi.T @ Phi / s2 + np.diag(alpha))
        w = Sigma @ Phi.T @ t / s2
        gamma = 1.0 - alpha * np.diag(Sigma)
        e = t - Phi @ w
        alpha, s2 = gamma / w**2, e @ e / (n - gamma.sum())
        keep = alpha < maximum
        rows, alpha, w = rows[keep], alpha[keep], w[keep]

        def prior(th, beta=beta):
            return smooth * np.log(sigmoid(lam * th)).sum() - 0.5 * beta @ th**2

        K = kernel(theta)
        y = K @ w
        Q = -0.5 / s2 * np.sum((t - y) ** 2) + prior(theta)
        for j in range(its):
            e = t - y
            D = -np.einsum("j,ij,ijk->ik", w, K, tensor[:, rows][:, :, feats])
            s = sigmoid(lam * theta)
            g = -beta * theta + D.T @ e / s2 + smooth * lam * (1 - s)
            if j >= 1 and np.linalg.norm(g) / len(rows) < stop:
                break
            H = D.T @ D / s2
            if form == "full":
                T = tensor[:, rows][:, :, feats]
                H -= np.einsum("i,j,ij,ija,ijb->ab", e, w, K, T, T) / s2
            if form == "diagonal":
                H = np.diag(np.diag(H))
            H += np.diag(beta + smooth * lam**2 * s * (1 - s))
            S = np.linalg.inv(H)
            delta, done = 0.5, False
            while delta > 2.0**-10:
                new = theta + delta * S @ g
                new = np.maximum(new, 0.0) if exact else new
                K_new = kernel(new)
                e_new = e if stale else t - K_new @ w
                Q_new = -0.5 / s2 * (e_new @ e_new) + prior(new)
                if Q_new > Q:
                    theta, Q, K, y, done = new, Q_new, K_new, K_new @ w, True
                    break
                delta /= 2
            if not done:
                break
        beta = (1.0 - beta * np.diag(S)) / theta**2
        keep = beta < maximum
        feats, theta, beta = feats[keep], theta[keep], beta[keep]
    return rows, feats, theta, beta, alpha, s2


@pytest.mark.parametrize(
    ("form", "stale", "exact"),
    [
        ("diagonal", False, False),
        ("diagonal", True, False),
        ("diagonal", False, True),
        ("gauss_newton", False, False),
        ("full", False, False),
        ("full", False, True),
    ],
)
def test_first_iterations_are_those_of_a_naive_transcription(form, stale, exact) -> None:
    X, y = wave()
    rows, feats, theta, beta, alpha, s2 = naive_drvm(
        X, y, theta0=2.0, n_iter=6, stale=stale, form=form, exact=exact
    )
    model = AlternatingDRVM(
        initial_theta=2.0,
        max_iter=6,
        fit_intercept=False,
        curvature=form,
        line_search="as_printed" if stale else "corrected",
        truncation="exact" if exact else "smoothed",
    ).fit(X, y)
    assert model.relevance_.tolist() == rows.tolist()
    assert model.features_.tolist() == feats.tolist()
    np.testing.assert_allclose(model.feature_weights_[feats], theta, rtol=1e-6)
    np.testing.assert_allclose(model.feature_precision_[feats], beta, rtol=1e-6)
    np.testing.assert_allclose(model.weight_precision_, alpha, rtol=1e-5)
    assert model.noise_variance_ == pytest.approx(s2, rel=1e-6)


def test_line_search_as_printed_does_not_move_feature_weights_against_their_prior() -> None:
    X, y = wave()
    corrected, printed = (
        AlternatingDRVM(initial_theta=1.0, line_search=way, max_iter=20, fit_intercept=False).fit(
            X, y
        )
        for way in ("corrected", "as_printed")
    )
    # the data ask for larger weights, the prior for smaller ones
    assert (corrected.feature_weights_ > 1.05).any()
    np.testing.assert_allclose(printed.feature_weights_, 1.0)


@pytest.mark.slow
def test_sinc_is_found() -> None:
    rng = np.random.default_rng(0)
    x, grid = np.linspace(-10.0, 10.0, 100), np.linspace(-10.0, 10.0, 1000)
    y = np.sinc(x / np.pi) + rng.uniform(-0.1, 0.1, 100)
    model = AlternatingDRVM(initial_theta=0.03, max_iter=100).fit(x[:, None], y)
    mean, std = model.predict(grid[:, None], return_std=True)
    assert np.sqrt(np.mean((mean - np.sinc(grid / np.pi)) ** 2)) < 0.03
    assert len(model.relevance_) < 20
    assert (std > np.sqrt(model.noise_variance_)).all()
    assert np.sqrt(model.noise_variance_) == pytest.approx(0.1 / np.sqrt(3.0), rel=0.25)


@pytest.mark.slow
@pytest.mark.parametrize("curvature", ["diagonal", "gauss_newton", "full"])
@pytest.mark.parametrize("truncation", ["smoothed", "exact"])
def test_an_input_that_starts_small_and_does_not_matter_is_dropped(curvature, truncation) -> None:
    X, y = wave(40)
    model = AlternatingDRVM(
        initial_theta=[0.5, 0.01],
        curvature=curvature,
        truncation=truncation,
        beta_max=500.0,  # precisions grow by a constant in each iteration: 1e9 is out of reach
        max_iter=100,
    ).fit(X, y)
    assert model.features_.tolist() == [0]
    assert model.feature_weights_[1] == 0.0
    assert model.feature_precision_[1] == np.inf
    assert model.score(X, y) > 0.95
    assert np.isfinite(model.trace_).all()
    moved = X + np.array([0.0, 100.0])
    np.testing.assert_allclose(model.predict(moved), model.predict(X))


def test_predictions_far_away_are_finite_when_a_feature_weight_is_negative() -> None:
    X, y = wave()
    model = AlternatingDRVM(max_iter=3).fit(X, y)
    model.feature_weights_ = np.array([0.5, -0.5])
    mean, std = model.predict([[0.0, 1e4]], return_std=True)
    assert np.isfinite([mean, std]).all()


def test_a_low_threshold_leaves_one_vector_and_one_feature() -> None:
    X, y = wave()
    model = AlternatingDRVM(alpha_max=1e-12, beta_max=1e-12, max_iter=10).fit(X, y)
    assert len(model.relevance_) == 1
    assert len(model.features_) == 1
    assert model.intercept_ == 0.0
    assert np.isfinite(model.predict(X)).all()


@pytest.mark.parametrize("y", [np.zeros(30), np.full(30, 1e6), np.full(30, -1e-9)])
@pytest.mark.parametrize("truncation", ["smoothed", "exact"])
def test_degenerate_targets_do_not_break_the_fit(y, truncation) -> None:
    X, _ = wave()
    model = AlternatingDRVM(truncation=truncation, max_iter=30).fit(X, y)
    mean, std = model.predict(X, return_std=True)
    assert np.isfinite(mean).all()
    assert np.isfinite(std).all()
    np.testing.assert_allclose(mean, y, rtol=1e-6, atol=1e-10)


def test_noise_free_targets_do_not_break_the_factorisation() -> None:
    x = np.linspace(-10.0, 10.0, 100)[:, None]
    model = AlternatingDRVM(initial_theta=0.05, max_iter=60).fit(x, np.sinc(x[:, 0] / np.pi))
    np.testing.assert_allclose(model.predict(x), np.sinc(x[:, 0] / np.pi), atol=1e-4)
    # Weights fit so well that nothing is left to learn the width from: the thesis' lock-in.
    assert model.feature_weights_[0] == pytest.approx(0.05, rel=1e-4)


def test_freezing_ends_sooner_and_leaves_weights_of_another_kernel() -> None:
    X, y = wave(40)
    free, frozen = (
        AlternatingDRVM(freeze=freeze, min_change=0.05, max_iter=300).fit(X, y)
        for freeze in (False, True)
    )
    assert frozen.converged_
    assert frozen.n_iter_ <= free.n_iter_
    assert not np.isclose(frozen.log_evidence_, free.log_evidence_, rtol=1e-6)


def test_fits_are_repeatable() -> None:
    X, y = wave()
    model = AlternatingDRVM(max_iter=40).fit(X, y)
    np.testing.assert_array_equal(clone(model).fit(X, y).coef_, model.coef_)


@pytest.mark.parametrize(
    ("constants", "error", "sentence"),
    [
        ({"indicator_scale": 0.0}, ValueError, "indicator_scale must be a positive number"),
        ({"alpha_max": -1.0}, ValueError, r"alpha_max must be a positive number \(or numpy.inf\)"),
        ({"initial_theta": [1.0, 2.0, 3.0]}, ValueError, "shape \\(3,\\) for 2 features"),
        ({"initial_theta": -1.0}, ValueError, "initial_theta must be non-negative"),
        ({"initial_theta": "wide"}, TypeError, "initial_theta must be non-negative"),
        ({"initial_beta": 0.0}, ValueError, "initial_beta must be positive"),
        ({"newton_steps": 0}, ValueError, "newton_steps must be an integer of at least 1"),
        ({"curvature": "diag"}, ValueError, "Did you mean 'diagonal'"),
        ({"line_search": "stale"}, ValueError, "'corrected', 'as_printed'"),
        ({"truncation": "hard"}, ValueError, "'smoothed', 'exact'"),
        ({"freeze": 1}, TypeError, "freeze must be True or False"),
        ({"initial_step": 1e-4}, ValueError, "larger than smallest_step"),
        ({"initial_noise_variance": 0.0}, ValueError, "initial_noise_variance must be a positive"),
    ],
)
def test_bad_constants_are_named(constants, error, sentence) -> None:
    with pytest.raises(error, match=sentence):
        AlternatingDRVM(**constants).fit(*wave())


def test_bad_inputs_are_named() -> None:
    X, y = wave()
    X[4, 1] = np.nan
    with pytest.raises(ValueError, match="X must be finite; the value at row 4, column 1 is NaN"):
        AlternatingDRVM().fit(X, y)


@pytest.mark.estimator_check
@parametrize_with_checks([AlternatingDRVM(max_iter=8, newton_steps=5)])
def test_scikit_learn_contract(estimator, check) -> None:
    check(estimator)
