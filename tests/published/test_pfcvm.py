"""PFCVM and PCVM against a naive transcription of the thesis' Algorithm 3."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import norm
from sklearn.utils.estimator_checks import parametrize_with_checks

from relvec._typing import Matrix
from relvec.published import LiteralPFCVM


def ring(n: int = 60, n_features: int = 3, seed: int = 0) -> tuple[Matrix, np.ndarray]:
    """Points within and outside a circle in the first two inputs."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, n_features))
    return X, (np.hypot(X[:, 0], X[:, 1]) > 1.2).astype(int)


def naive_newton(value, derivatives, x, steps, exact, free_first, stop=1e-6):
    """Damped Newton ascent; with `exact`, projected, coordinates held at zero left out."""
    S = None
    for j in range(steps):
        g, H = derivatives(x)
        free = np.ones(len(x), dtype=bool)
        if exact:
            free = ~((x <= 0) & (g <= 0) & (np.arange(len(x)) >= free_first))
        if j and np.linalg.norm(g[free]) / len(x) < stop:
            break
        S, step = np.zeros(len(x)), np.zeros(len(x))
        values, vectors = np.linalg.eigh(H[np.ix_(free, free)])
        inverse = vectors @ np.diag(1.0 / np.abs(values)) @ vectors.T
        S[free], step[free] = np.diag(inverse), inverse @ g[free]
        delta, done = 1.0, False
        while delta > 2.0**-10:
            new = x + delta * step
            if exact:
                new[free_first:] = np.maximum(new[free_first:], 0.0)
            if value(new) > value(x):
                x, done = new, True
                break
            delta /= 2
        if not done:
            break
    return x, S


def naive_pfcvm(X, t, *, n_iter, signed, exact, lam=5.0, maximum=1e4):
    """Algorithm 3 with explicit tensors, from the constants that are the defaults."""
    n, p = X.shape
    theta, beta, alpha = np.full(p, 0.5 / p), np.ones(p), np.ones(n + 1)
    w = np.concatenate([[0.0], np.full(n, 0.1)])
    sign = 2.0 * t - 1.0 if signed else np.ones(n)
    rows, feats, smooth = np.arange(n), np.arange(p), 0.0 if exact else 1.0
    tensor = (X[:, None, :] - X[None, :, :]) ** 2

    def log_prior(x, precision, mask):
        return -0.5 * precision @ x**2 + smooth * mask @ np.log(expit(lam * x))

    def prior_slope(x, precision, mask):
        return -precision * x + smooth * mask * lam * expit(-lam * x)

    def prior_bend(x, precision, mask):
        return precision + smooth * mask * lam**2 * expit(lam * x) * expit(-lam * x)

    def log_likelihood(f):
        return t @ f - np.log1p(np.exp(f)).sum()

    def pruned(x, precision, S):
        with np.errstate(divide="ignore"):
            new = (1.0 - precision * S) / x**2
        return new, new < maximum

    for _ in range(n_iter):
        T = tensor[:, rows][:, :, feats]
        Phi = np.column_stack([np.ones(n), np.exp(-T @ theta) * sign[rows]])
        mask = np.concatenate([[0.0], np.ones(len(rows))])

        def value(w, Phi=Phi, alpha=alpha, mask=mask):
            return log_likelihood(Phi @ w) + log_prior(w, alpha, mask)

        def derivatives(w, Phi=Phi, alpha=alpha, mask=mask):
            q = expit(Phi @ w)
            H = Phi.T @ np.diag(q * (1 - q)) @ Phi + np.diag(prior_bend(w, alpha, mask))
            return Phi.T @ (t - q) + prior_slope(w, alpha, mask), H

        w, S = naive_newton(value, derivatives, w, 25, exact, 1)
        alpha, keep = pruned(w, alpha, S)
        assert keep[0]  # the transcription does not prune the intercept
        w, alpha, rows = w[keep], alpha[keep], rows[keep[1:]]
        T, v, b, ones = tensor[:, rows][:, :, feats], w[1:] * sign[rows], w[0], np.ones(len(feats))

        def value(th, T=T, v=v, b=b, beta=beta, ones=ones):
            return log_likelihood(np.exp(-T @ th) @ v + b) + log_prior(th, beta, ones)

        def derivatives(th, T=T, v=v, b=b, beta=beta, ones=ones):
            K = np.exp(-T @ th)
            q = expit(K @ v + b)
            D = -np.einsum("j,ij,ijk->ik", v, K, T)
            E = np.einsum("i,j,ij,ija,ijb->ab", t - q, v, K, T, T)
            H = D.T @ np.diag(q * (1 - q)) @ D - E + np.diag(prior_bend(th, beta, ones))
            return D.T @ (t - q) + prior_slope(th, beta, ones), H

        theta, S = naive_newton(value, derivatives, theta, 5, exact, 0)
        beta, keep = pruned(theta, beta, S)
        theta, beta, feats = theta[keep], beta[keep], feats[keep]
    return rows, feats, w[1:] * sign[rows], w[0], theta, beta, alpha


@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("exact", [False, True])
def test_first_iterations_are_those_of_a_naive_transcription(signed, exact) -> None:
    X, outside = ring(30)
    y = 1 - outside  # kernels of positive weight alone can say "inside"
    rows, feats, v, b, theta, beta, alpha = naive_pfcvm(
        X, y.astype(float), n_iter=4, signed=signed, exact=exact
    )
    truncation = "exact" if exact else "smoothed"
    model = LiteralPFCVM(max_iter=4, signed=signed, truncation=truncation).fit(X, y)
    assert model.relevance_.tolist() == rows.tolist()
    assert model.features_.tolist() == feats.tolist()
    np.testing.assert_allclose(model.feature_weights_[feats], theta, rtol=1e-5)
    np.testing.assert_allclose(model.feature_precision_[feats], beta, rtol=1e-4)
    np.testing.assert_allclose(model.coef_[0], v, rtol=1e-4, atol=1e-7)
    assert model.intercept_[0] == pytest.approx(b, rel=1e-5)
    np.testing.assert_allclose(model.weight_precision_, alpha[1:], rtol=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("curvature", ["diagonal", "gauss_newton", "full"])
def test_exact_truncation_finds_the_ring_among_noise(curvature) -> None:
    X, y = ring(120, n_features=5)
    new, labels = ring(400, n_features=5, seed=1)
    model = LiteralPFCVM(truncation="exact", curvature=curvature, alpha_max=1e6, beta_max=1e6).fit(
        X, y
    )
    assert model.score(new, labels) > 0.9
    assert set(np.argsort(model.feature_weights_)[-2:]) == {0, 1}
    assert (model.feature_weights_ >= 0.0).all()
    assert len(model.relevance_) < 30
    # weights before their signs may not be negative
    assert (model.coef_[0] * (2 * y[model.relevance_] - 1) > 0.0).all()


def test_smoothing_destroys_the_sparsity_of_samples() -> None:
    X, y = ring(80)
    smoothed, exact = (
        LiteralPFCVM(truncation=way, curvature="gauss_newton", max_iter=40).fit(X, y)
        for way in ("smoothed", "exact")
    )
    assert len(smoothed.relevance_) > 2 * len(exact.relevance_)


def test_without_learning_features_stay_as_they_start() -> None:
    X, y = ring()
    model = LiteralPFCVM(learn_features=False, truncation="exact", initial_theta=0.4).fit(X, y)
    np.testing.assert_array_equal(model.feature_weights_, 0.4)
    assert model.features_.tolist() == [0, 1, 2]
    assert model.score(X, y) > 0.85
    assert len(model.trace_) == model.n_iter_


def test_unsigned_weights_are_not_negative() -> None:
    X, y = ring()
    model = LiteralPFCVM(signed=False, truncation="exact", max_iter=40).fit(X, y)
    assert (model.coef_ > 0.0).all()
    assert model.score(X, y) > 0.8


def test_moderated_probabilities_average_over_the_posterior() -> None:
    X, y = ring()
    model = LiteralPFCVM(truncation="exact", max_iter=30).fit(X, y)
    plain, mackay, probit = (
        model.predict_proba(X, moderation=way)[:, 1] for way in ("plug_in", "mackay", "probit")
    )
    logit = model.decision_function(X)
    np.testing.assert_allclose(plain, expit(logit))
    # the variance that the probit form implies, put into the exact integral
    for i in (0, 7, 31):
        sd = np.sqrt(max((logit[i] / norm.ppf(probit[i])) ** 2 - 8.0 / np.pi, 0.0))
        exact = quad(lambda a, i=i, sd=sd: expit(logit[i] + sd * a) * norm.pdf(a), -12.0, 12.0)[0]
        assert mackay[i] == pytest.approx(exact, abs=0.02)
        assert probit[i] == pytest.approx(exact, abs=0.03)
    assert (np.abs(mackay - 0.5) <= np.abs(plain - 0.5)).all()
    for p in (plain, mackay, probit):
        np.testing.assert_array_equal(p > 0.5, logit > 0.0)


def test_labels_may_be_words() -> None:
    X, y = ring()
    numbers = LiteralPFCVM(max_iter=5).fit(X, y)
    words = LiteralPFCVM(max_iter=5).fit(X, np.where(y, "out", "in"))
    np.testing.assert_array_equal(words.predict(X) == "out", numbers.predict(X) == 1)


def test_a_low_threshold_leaves_one_vector_and_one_feature() -> None:
    X, y = ring()
    for truncation in ("smoothed", "exact"):
        model = LiteralPFCVM(
            alpha_max=1e-12, beta_max=1e-12, max_iter=10, truncation=truncation
        ).fit(X, y)
        assert len(model.relevance_) == 1
        assert len(model.features_) == 1
        assert np.isfinite(model.predict_proba(X, moderation="mackay")).all()


def test_separable_classes_and_labels_of_pure_noise_do_not_break_the_fit() -> None:
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(-5.0, 0.1, (20, 2)), rng.normal(5.0, 0.1, (20, 2))])
    y = np.repeat([0, 1], 20)
    assert LiteralPFCVM(truncation="exact").fit(X, y).score(X, y) == 1.0
    for truncation in ("smoothed", "exact"):
        model = LiteralPFCVM(truncation=truncation, max_iter=30).fit(X, rng.permutation(y))
        assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize(
    ("constants", "error", "sentence"),
    [
        ({"indicator_scale": -5.0}, ValueError, "indicator_scale must be a positive number"),
        ({"initial_weight": -0.1}, ValueError, "initial_weight must be a non-negative number"),
        ({"beta_max": 0.0}, ValueError, "beta_max must be a positive number"),
        ({"feature_steps": 0}, ValueError, "feature_steps must be an integer of at least 1"),
        ({"truncation": "smooth"}, ValueError, "Did you mean 'smoothed'"),
        ({"signed": None}, TypeError, "signed must be True or False"),
        ({"initial_theta": np.ones((1, 3))}, ValueError, "for 3 features"),
    ],
)
def test_bad_constants_are_named(constants, error, sentence) -> None:
    with pytest.raises(error, match=sentence):
        LiteralPFCVM(**constants).fit(*ring())


def test_bad_labels_and_moderations_are_named() -> None:
    X, y = ring()
    with pytest.raises(ValueError, match="needs two classes; y has 3 classes"):
        LiteralPFCVM().fit(X, np.arange(60) % 3)
    with pytest.raises(ValueError, match="y has 1 class"):
        LiteralPFCVM().fit(X, np.zeros(60))
    model = LiteralPFCVM(max_iter=2).fit(X, y)
    with pytest.raises(ValueError, match="Did you mean 'mackay'"):
        model.predict_proba(X, moderation="macKay")


@pytest.mark.estimator_check
@parametrize_with_checks([LiteralPFCVM(max_iter=20, truncation="exact")])
def test_scikit_learn_contract(estimator, check) -> None:
    check(estimator)
