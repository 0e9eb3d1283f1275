"""scikit-learn's own checks, without exceptions."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from relvec import RVMRegressor, SparseBayesRegressor
from relvec.bases import KernelBasis, LinearBasis, PolynomialBasis, PrecomputedBasis

ESTIMATORS = [
    RVMRegressor(),
    RVMRegressor("precomputed"),
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
    SparseBayesRegressor(LinearBasis(), prior="ric", low_memory=True),
    SparseBayesRegressor(PolynomialBasis()),
    SparseBayesRegressor(KernelBasis() + LinearBasis()),
    SparseBayesRegressor(PrecomputedBasis()),
]


# The checks fit targets without noise and targets that are noise; a warning is then right.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_check(estimator, check):
    check(estimator)
