"""The scikit-learn front."""

from relvec.estimators.regression import RVMRegressor, SparseBayesRegressor

__all__ = ["RVMRegressor", "SparseBayesRegressor"]
