"""Reports of models with known, unequal or heavy-tailed noise, transformed targets, and counts."""

from __future__ import annotations

import re
from html import unescape

import numpy as np
import pytest
from scipy import stats
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from relvec import RVMRegressor, SparseBayesCountRegressor
from relvec.bases import LinearBasis
from relvec.describing import compute_quantile_residuals, predict_distribution
from relvec.reporting import make_report
from relvec.reporting.evidence import compute_evidence_summary
from relvec.reporting.noise import assess_noise
from relvec.reporting.predictions import predict_rows
from relvec.reporting.subject import Subject

RNG = np.random.default_rng(5)
X = RNG.uniform(0.0, 10.0, size=(150, 1))
E = RNG.normal(size=150)
F = np.sin(X[:, 0])
FAST = {"cv": 3, "n_bootstrap": 0}


def read(html):
    """Text of the page without markup."""
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", html)))


def subject_of(model, y, **options):
    return Subject.build(model, X, y, names=None, target="y", rows="training", **options)


@pytest.mark.slow
def test_constant_noise_is_tested_and_advised_on():
    unequal = F + (0.05 + 0.08 * X[:, 0]) * E
    page = make_report(RVMRegressor().fit(X, unequal), X, unequal, **FAST)
    text = read(page.html)
    assert "The noise is not constant (p" in text
    assert 'Use noise="heteroscedastic".' in text
    assert "test of constancy" in text
    equal = F + 0.2 * E
    text = read(make_report(RVMRegressor().fit(X, equal), X, equal, **FAST).html)
    assert "test of constancy" in text
    assert "noise=" not in text


@pytest.mark.slow
def test_heteroscedastic_noise_has_a_level_with_a_band():
    y = F + (0.05 + 0.08 * X[:, 0]) * E
    model = RVMRegressor(noise="heteroscedastic").fit(X, y)
    report = make_report(model, X, y, cv=3, n_bootstrap=8)
    text = read(report.html)
    assert "gain in log evidence over constant noise" in text
    assert "95 % interval of the noise level" in text
    assert "The noise is not constant" not in text
    cover = report.metrics["3-fold cross-validation"]["coverage_95"]
    assert 0.88 < cover <= 1.0
    # the same density as in Python
    expected = model.log_predictive_density(X, y).mean()
    assert report.metrics["training rows"]["mlpd"] == pytest.approx(expected)
    noise = np.mean(model.predict_noise(X) ** 2)
    assert report.bias_variance.noise == pytest.approx(noise, rel=0.1)


@pytest.mark.slow
def test_robust_noise_lists_its_outliers():
    is_outlier = np.zeros(150, bool)
    is_outlier[[3, 40, 77, 121]] = True
    y = F + np.where(is_outlier, 6.0, 0.1 * E)
    model = RVMRegressor(noise="robust").fit(X, y)
    text = read(make_report(model, X, y, **FAST).html)
    assert "Rows that are probably outliers: 4 of 150" in text
    for row in (3, 40, 77, 121):
        assert re.search(rf" {row} +\S+ +\S+ +1.000 ", text), row
    advice = assess_noise(subject_of(RVMRegressor().fit(X, y), y), _evaluate(y)).advice
    assert "heavy tails" in advice
    assert 'Use noise="robust".' in advice


def _evaluate(y, **options):
    model = RVMRegressor(**options).fit(X, y)
    return predict_rows(model, X, y, "rows", is_training=True)


@pytest.mark.slow
def test_transformed_target_is_stated_and_its_residuals_are_normal():
    y = np.exp(F + 0.7 * E)
    model = RVMRegressor(target_transform="auto").fit(X, y)
    report = make_report(model, X, y, **FAST)
    text = read(report.html)
    assert "transform of the target log" in text
    assert "chosen by evidence" in text
    assert "skewed" not in text
    score = compute_quantile_residuals(predict_distribution(model, X), y)
    assert np.allclose(score, _evaluate(y, target_transform="auto").standardised_residuals)
    mean, half = report.metrics["training rows"], stats.norm.ppf(0.75)
    assert mean["coverage_50"] == pytest.approx(np.mean(np.abs(score) <= half))
    plain = read(make_report(RVMRegressor().fit(X, y), X, y, **FAST).html)
    assert 'Use target_transform="auto".' in plain


@pytest.mark.slow
def test_known_noise_is_used_in_all_refits():
    err = 0.05 * np.exp(0.9 * RNG.normal(size=150))
    y = F + err * E
    model = make_pipeline(StandardScaler(), RVMRegressor())
    model.fit(X, y, rvmregressor__noise_variance=err**2)
    report = make_report(
        model, X, y, noise_variance=err**2, held_out=(X, y + 1e-9, err**2), cv=3, n_bootstrap=3
    )
    for rows in report.metrics.values():
        assert 0.85 < rows["coverage_95"] <= 1.0
    text = read(report.html)
    assert "noise known Gaussian, with a given variance for each row" in text
    assert "the noise of new targets is not known" in text
    with pytest.raises(ValueError, match="was fitted with noise_variance for each row; give the"):
        make_report(model, X, y)
    with pytest.raises(ValueError, match="held_out must be a triple"):
        make_report(model, X, y, noise_variance=err**2, held_out=(X, y))
    with pytest.raises(ValueError, match="one finite, non-negative number per row, 150 in total"):
        make_report(model, X, y, noise_variance=err[:9] ** 2)
    with pytest.raises(ValueError, match="exposure does not apply to a model of other targets"):
        make_report(model, X, y, noise_variance=err**2, exposure=err)


@pytest.mark.slow
def test_counts_have_deviance_dispersion_and_rootogram():
    hours = RNG.uniform(1.0, 6.0, 150)
    counts = RNG.poisson(hours * np.exp(0.2 * X[:, 0]))
    model = SparseBayesCountRegressor(LinearBasis()).fit(X, counts, exposure=hours)
    report = make_report(model, X, counts, exposure=hours, **FAST)
    training = report.metrics["training rows"]
    assert training["deviance"] == pytest.approx(model.deviance(X, counts, exposure=hours))
    assert training["d2"] == pytest.approx(model.score(X, counts, exposure=hours))
    assert 0.7 < training["dispersion"] < 1.3
    assert training["coverage_95"] > 0.9
    text = read(report.html)
    for words in ("Rootogram", "per unit of exposure", "distribution of counts", "the log rate"):
        assert words in text
    assert report.held_out_gain.total > 20.0
    with pytest.raises(ValueError, match="noise_variance does not apply to a model of counts"):
        make_report(model, X, counts, noise_variance=hours)


@pytest.mark.slow
def test_overdispersed_counts_are_a_finding():
    counts = RNG.poisson(np.exp(1.0 + 0.1 * X[:, 0]) * RNG.gamma(1.0, 1.0, 150))
    model = SparseBayesCountRegressor(LinearBasis(), likelihood="poisson").fit(X, counts)
    assert "the counts are overdispersed" in read(make_report(model, X, counts, **FAST).html)
    better = SparseBayesCountRegressor(LinearBasis(), likelihood="auto").fit(X, counts)
    assert "overdispersed. " not in read(make_report(better, X, counts, **FAST).html)


def test_likelihood_of_rows_is_that_of_their_noise():
    """Against a sum of normal log densities, for known noise."""
    variance = 0.01 * np.exp(RNG.normal(size=150))
    y = F + np.sqrt(variance) * E
    model = RVMRegressor(gamma=0.5).fit(X, y, noise_variance=variance)
    facts = compute_evidence_summary(subject_of(model, y, row_values=variance))
    expected = stats.norm(model.predict(X), np.sqrt(variance)).logpdf(y).sum()
    assert facts.log_likelihood == pytest.approx(expected)


def test_quantile_residuals_of_counts_are_standard_normal():
    rate = np.exp(RNG.uniform(0.0, 2.0, 4000))
    model = SparseBayesCountRegressor(LinearBasis()).fit(np.log(rate)[:, None], RNG.poisson(rate))
    score = compute_quantile_residuals(
        predict_distribution(model, np.log(rate)[:, None]), RNG.poisson(rate)
    )
    assert stats.kstest(score, "norm").pvalue > 0.01
