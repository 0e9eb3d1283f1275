"""scikit-learn's own checks of regressors, without exceptions.

All checks run on one configuration of each way through `fit`. On the others run those whose outcome
may depend on the configuration: the rest look at what every regressor inherits.
"""

from __future__ import annotations

import pytest
from sklearn.base import clone
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

from relvec import RVMRegressor, SparseBayesRegressor
from relvec.bases import KernelBasis, LinearBasis, PolynomialBasis, PrecomputedBasis

EVERY_CHECK = [
    RVMRegressor(),
    RVMRegressor("precomputed"),
    SparseBayesRegressor(LinearBasis(), prior="ric", low_memory=True),
    SparseBayesRegressor(KernelBasis() + LinearBasis()),
]
OTHERS = [
    RVMRegressor("matern52", prior="bic", effort="fast"),
    RVMRegressor(scales=None, solver="mackay"),
    RVMRegressor(solver="em", centers=40),
    RVMRegressor(solver="textbook"),
    RVMRegressor(low_memory=True, centers=40),
    RVMRegressor(error_bars="plain", fit_intercept=False),
    RVMRegressor(error_bars="augmented", noise_variance=0.01),
    RVMRegressor(warm_start=True),
    SparseBayesRegressor(effort="fast"),
    SparseBayesRegressor(LinearBasis()),
    SparseBayesRegressor(PolynomialBasis()),
    SparseBayesRegressor(PrecomputedBasis()),
]
OF_THE_CONFIGURATION = [
    "check_fit2d_1sample",
    "check_fit2d_1feature",
    "check_fit_check_is_fitted",
    "check_fit_idempotent",
    "check_fit_score_takes_y",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_readonly_memmap_input",
    "check_regressors_int",
    "check_regressors_train",
    "check_sample_weight_equivalence_on_dense_data",
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
@pytest.mark.parametrize("check", OF_THE_CONFIGURATION)
@pytest.mark.parametrize("estimator", OTHERS, ids=repr)
def test_scikit_learn_check_of_the_configuration(estimator, check):
    getattr(estimator_checks, check)(type(estimator).__name__, clone(estimator))
