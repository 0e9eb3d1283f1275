"""The plain model against dense formulas and the general regressor."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from relvec import SparseBayesRegressor
from relvec.bases import CosineBasis, WaveletBasis
from relvec.denoising.plain import fit_plain, make_dictionary
from relvec.priors import resolve_prior

pytest.importorskip("pywt")

PRIORS = ["flat", "aic", "bic", "ric"]


def signal(n=64, seed=0):
    places = np.arange(n)
    clean = np.where(places < n // 3, 2.0, -1.0) + np.sin(places / 7)
    return clean + 0.4 * np.random.default_rng(seed).normal(size=n)


def fitted(values, transform, prior, noise=0.16, level=None):
    c = resolve_prior(prior).bind(values.size).penalty
    return fit_plain(values, make_dictionary(values.shape, transform, level), noise, c)


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("transform", ["haar", "sym8", "cosine"])
@pytest.mark.parametrize("shape", [(64,), (37,), (6, 9)])
def test_dense_formulas(shape, transform, prior):
    values = signal(int(np.prod(shape))).reshape(shape)
    model = fitted(values, transform, prior)
    n, noise = values.size, 0.16
    W = model.dictionary.columns(np.arange(n))
    # prior variances of the weights from the closed form, in the notation of the textbook
    z = W.T @ values.ravel()
    prior_variance = np.maximum(z**2 - (1.0 + 2.0 * model.c) * noise, 0.0)
    covariance = noise * np.eye(n) + W @ np.diag(prior_variance) @ W.T
    evidence = multivariate_normal(np.zeros(n), covariance).logpdf(values.ravel())
    assert model.log_evidence_ == pytest.approx(evidence)

    gain = np.diag(prior_variance) @ W.T @ np.linalg.inv(covariance)
    smoother = W @ gain
    mean, variance = smoother @ values.ravel(), np.diagonal(noise * smoother)
    np.testing.assert_allclose(model.mean(), mean.reshape(shape), atol=1e-11)
    np.testing.assert_allclose(model.variance(), variance.reshape(shape), atol=1e-11)
    assert model.effective_dof_ == pytest.approx(np.trace(smoother))
    assert model.effective_dof_ == pytest.approx(model.shrinkage_.sum())
    assert model.objective_ == pytest.approx(evidence - model.c * np.trace(smoother))
    np.testing.assert_array_equal(model.relevance_, np.flatnonzero(prior_variance))
    assert model.n_components_ == np.count_nonzero(prior_variance)


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize(
    ("transform", "basis"),
    [("haar", WaveletBasis("haar")), ("sym8", WaveletBasis("sym8")), ("cosine", CosineBasis())],
    ids=["haar", "sym8", "cosine"],
)
def test_equals_the_general_regressor(transform, basis, prior):
    values = signal(128)
    model = fitted(values, transform, prior)
    places = np.arange(128.0)[:, None]
    penalty = 0.0 if prior == "flat" else "auto"
    general = SparseBayesRegressor(
        basis, prior=prior, fit_intercept=False, noise_variance=0.16, min_gain=penalty
    ).fit(places, values)
    np.testing.assert_allclose(general.predict(places), model.mean(), atol=1e-8)
    np.testing.assert_array_equal(np.sort(general.relevance_), model.relevance_)
    assert general.objective_ == pytest.approx(model.objective_, abs=1e-8)
    _, std = general.predict(places, return_std=True)
    np.testing.assert_allclose(std**2 - 0.16, model.variance(), atol=1e-8)


@pytest.mark.parametrize("level", [0, 1, 3])
def test_depth(level):
    pywt = pytest.importorskip("pywt")
    values = signal(64)
    model = fitted(values, "db2", "flat", level=level)
    parts = pywt.wavedec(values, "db2", "periodization", level=level)
    shrunk = [pywt.threshold(part, 0.4, "garrote") for part in parts]
    expected = pywt.waverec(shrunk, "db2", "periodization")
    np.testing.assert_allclose(model.mean(), expected, atol=1e-12)


def test_nothing_but_noise_leaves_nothing():
    values = 0.01 * signal(64)
    model = fitted(values, "sym8", "ric")
    assert model.n_components_ == 0
    assert model.effective_dof_ == 0.0
    np.testing.assert_array_equal(model.mean(), 0.0)
    np.testing.assert_array_equal(model.variance(), 0.0)


def test_without_noise_everything_is_kept():
    values = signal(32)
    model = fitted(values, "haar", "bic", noise=0.0)
    np.testing.assert_allclose(model.mean(), values, atol=1e-13)
    np.testing.assert_array_equal(model.variance(), 0.0)
    assert model.effective_dof_ == 32
    assert model.objective_ == np.inf
    assert model.log_evidence_ == np.inf
    np.testing.assert_array_equal(model.shrinkage_, 1.0)
    assert fitted(np.zeros(8), "haar", "bic", noise=0.0).effective_dof_ == 0.0
