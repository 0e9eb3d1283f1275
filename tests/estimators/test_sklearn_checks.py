"""scikit-learn's own checks of regressors, without exceptions.

All checks run on one configuration of each way through `fit`. On the others run those whose outcome
may depend on the configuration: the rest look at what every regressor inherits.
"""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from relvec import RVMRegressor, SparseBayesRegressor
from relvec.bases import KernelBasis, LinearBasis, PolynomialBasis, PrecomputedBasis
from tests.estimators import checks

# checks of weights repeat rows, which is told
pytestmark = pytest.mark.filterwarnings("ignore:Rows are repeated:UserWarning")

EVERY_CHECK = [
    RVMRegressor(),
    RVMRegressor("precomputed"),
    SparseBayesRegressor(LinearBasis(), prior="ric", low_memory=True),
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
