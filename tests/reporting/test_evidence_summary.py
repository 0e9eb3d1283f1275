"""Evidence, log likelihood and information criteria of a fit."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from relvec import RVMRegressor, SparseBayesClassifier, SparseBayesRegressor
from relvec.bases import KernelBasis, LinearBasis
from relvec.reporting.evidence import compute_evidence_summary
from relvec.reporting.subject import Subject

RNG = np.random.default_rng(0)
X = RNG.normal(size=(50, 2))
Y = 3.0 * X[:, 0] + RNG.normal(size=50)
HUGE_GAIN = 1e6
"""A minimum gain that no atom reaches, so that the fit is the null model."""


def compute_facts(model, y, rows="training"):
    return compute_evidence_summary(Subject.build(model, X, y, names=None, target="y", rows=rows))


@pytest.mark.parametrize("noise", [None, 2.0])
@pytest.mark.parametrize("intercept", [True, False])
def test_null_evidence_of_a_regression_is_that_of_a_fit_without_atoms(noise, intercept):
    model = SparseBayesRegressor(
        LinearBasis(), min_gain=HUGE_GAIN, noise_variance=noise, fit_intercept=intercept
    ).fit(X, Y)
    assert len(model.relevance_) == 0
    assert compute_facts(model, Y).log_evidence_gain == pytest.approx(0.0, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("multi_class", ["softmax", "shared", "one_vs_rest"])
@pytest.mark.parametrize("intercept", [True, False, "auto"])
@pytest.mark.parametrize("basis", [LinearBasis(), KernelBasis(gamma=1.0)])
def test_null_evidence_of_a_classification_is_that_of_a_fit_without_atoms(
    n_classes, multi_class, intercept, basis
):
    y = np.random.default_rng(1).integers(0, n_classes, size=50)
    model = SparseBayesClassifier(
        basis, min_gain=HUGE_GAIN, fit_intercept=intercept, multi_class=multi_class
    ).fit(X, y)
    assert len(model.relevance_) == 0
    assert compute_facts(model, y).log_evidence_gain == pytest.approx(0.0, abs=1e-6)


def test_class_weights_give_no_null_evidence():
    y = np.arange(50) % 3 == 0
    model = SparseBayesClassifier(LinearBasis(), class_weight="balanced").fit(X, y)
    assert np.isnan(compute_facts(model, y).log_evidence_gain)


def test_aic_and_bic_use_likelihood_and_effective_degrees_of_freedom():
    model = SparseBayesRegressor(LinearBasis()).fit(X, Y)
    facts = compute_facts(model, Y)
    noise = stats.norm(model.predict(X), np.sqrt(model.noise_variance_))
    likelihood = noise.logpdf(Y).sum()
    count = model.effective_dof_ + 1.0
    assert facts.log_likelihood == pytest.approx(likelihood)
    assert facts.n_parameters == pytest.approx(count)
    assert facts.aic == pytest.approx(2.0 * count - 2.0 * likelihood)
    assert facts.bic == pytest.approx(np.log(50) * count - 2.0 * likelihood)


def test_a_fixed_noise_variance_is_no_parameter():
    model = SparseBayesRegressor(LinearBasis(), noise_variance=1.0).fit(X, Y)
    assert compute_facts(model, Y).n_parameters == pytest.approx(model.effective_dof_)


def test_likelihood_is_nan_without_training_rows():
    model = RVMRegressor(gamma=0.5).fit(X, Y)
    facts = compute_facts(model, Y, rows="new")
    assert np.isnan(facts.log_likelihood)
    assert np.isfinite(facts.log_evidence_gain)  # the fitted model stores what it needs


@pytest.mark.parametrize("multi_class", ["softmax", "one_vs_rest"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_class_frequencies_count_as_parameters(multi_class, n_classes):
    y = np.random.default_rng(1).integers(0, n_classes, size=50)
    counts = {}
    for intercept in (True, "auto", False):
        model = SparseBayesClassifier(
            KernelBasis(gamma=1.0),
            min_gain=HUGE_GAIN,
            fit_intercept=intercept,
            multi_class=multi_class,
        ).fit(X, y)
        counts[intercept] = compute_facts(model, y).n_parameters
    assert counts["auto"] == counts[True] > 0.0
    assert counts[False] == 0.0
