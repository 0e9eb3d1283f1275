"""scikit-learn's own checks of regressors, without exceptions, and of sampled estimators.

All checks run on one configuration of each way through `fit`. On the others run those whose outcome
may depend on the configuration: the rest look at what every regressor inherits.
"""

from __future__ import annotations

import pytest
from sklearn.base import is_classifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from relvec import (
    KernelSearchRegressor,
    RVMRegressor,
    SampledRVMClassifier,
    SampledRVMRegressor,
    SampledSparseBayesClassifier,
    SampledSparseBayesRegressor,
    SparseBayesRegressor,
)
from relvec.bases import KernelBasis, LinearBasis, PolynomialBasis, PrecomputedBasis
from tests.estimators import checks

# checks of weights repeat rows, which is told
pytestmark = pytest.mark.filterwarnings("ignore:Rows are repeated:UserWarning")

EVERY_CHECK = [
    RVMRegressor(),
    RVMRegressor("precomputed"),
    SparseBayesRegressor(LinearBasis(), prior="ric", low_memory=True),
    KernelSearchRegressor(effort="fast"),
]
OTHERS = [
    RVMRegressor("matern52", prior="bic", effort="fast"),
    RVMRegressor(length_scales=None, solver="mackay"),
    RVMRegressor(solver="em", centers=10),
    RVMRegressor(solver="textbook"),
    RVMRegressor(low_memory=True, centers=40),
    RVMRegressor(error_bars="plain", fit_intercept=False),
    RVMRegressor(error_bars="augmented", noise_variance=0.01),
    RVMRegressor(warm_start=True),
    RVMRegressor(noise="robust"),
    SparseBayesRegressor(LinearBasis(), noise="student_t"),
    RVMRegressor(noise="heteroscedastic", effort="fast"),
    SparseBayesRegressor(LinearBasis(), noise="heteroscedastic"),
    SparseBayesRegressor(effort="fast"),
    SparseBayesRegressor(LinearBasis()),
    SparseBayesRegressor(PolynomialBasis()),
    SparseBayesRegressor(PrecomputedBasis()),
    SparseBayesRegressor(KernelBasis() + LinearBasis()),
    SparseBayesRegressor(KernelBasis() + LinearBasis(), precision="tied"),
    SparseBayesRegressor(KernelBasis() + LinearBasis(), length_scales="ard"),
    KernelSearchRegressor(),
    KernelSearchRegressor(mode="interpretable"),
]

# The checks fit targets without noise, targets that are noise and repeated rows; a warning is then
# right.
may_warn = pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning", "ignore:Rows are repeated"
)


@pytest.mark.estimator_check
@may_warn
@parametrize_with_checks(EVERY_CHECK)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.estimator_check
@may_warn
@checks.parametrize_with_checks_of_the_configuration(OTHERS)
def test_scikit_learn_check_of_the_configuration(estimator, check):
    checks.run(estimator, check)


SHORT = {"n_chains": 2, "n_draws": 10, "max_doublings": 0, "random_state": 0}
SAMPLED = [
    SampledRVMRegressor(gamma=0.1, **SHORT),
    SampledSparseBayesRegressor(LinearBasis(), **SHORT),
    SampledSparseBayesClassifier(LinearBasis(), **SHORT),
]
SAMPLED_OTHERS = [
    SampledRVMRegressor("precomputed", **SHORT),
    SampledRVMRegressor(gamma=0.1, sample_length_scales="shared", **SHORT),
    SampledSparseBayesRegressor(PolynomialBasis(), draw_dtype="float32", **SHORT),
    SampledSparseBayesRegressor(LinearBasis(), noise="student_t", **SHORT),
    SampledSparseBayesRegressor(LinearBasis(), weight_prior="horseshoe", **SHORT),
    SampledRVMClassifier(gamma=0.1, **SHORT),
]
_WEIGHTS = {
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
}


def _find_expected_failures(estimator):
    """Return checks of the equality of draws that are equal in distribution only, with a reason."""
    if is_classifier(estimator):
        reason = "Each row has Polya-Gamma variables of its own: copies of a row have more of them."
    elif estimator.noise == "student_t":
        reason = "Each row has a scale of its own: copies of a row have several."
    elif estimator.weight_prior == "horseshoe":
        reason = "Hamiltonian trajectories amplify rounding errors if columns explain all targets."
    else:
        return {}
    return dict.fromkeys(_WEIGHTS, reason)


sampled_may_warn = pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning",
    "ignore:Rows are repeated",
    "ignore:sample_weight sums to",
    "ignore:.* cannot estimate the noise variance from so few samples",
)


@pytest.mark.estimator_check
@sampled_may_warn
@parametrize_with_checks(SAMPLED, expected_failed_checks=_find_expected_failures)
def test_check_of_sampled(estimator, check):
    check(estimator)


@pytest.mark.estimator_check
@sampled_may_warn
@checks.parametrize_with_checks_of_the_configuration(SAMPLED_OTHERS)
def test_check_of_the_configuration_of_sampled(estimator, check):
    if check in _find_expected_failures(estimator):
        pytest.skip("draws are equal in distribution only")
    checks.run(estimator, check)
