"""Comparison of models: held-out predictions, evidence, posterior probabilities, verdict.

Examples
--------
>>> import numpy as np
>>> from relvec import RVMRegressor, compare_models
>>> from relvec.comparing import ModelComparison
>>> X = np.linspace(-3, 3, 40)[:, np.newaxis]
>>> y = np.sin(X[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=40)
>>> comparison = compare_models([RVMRegressor(gamma=0.5), RVMRegressor(gamma=5.0)], X, y)
>>> isinstance(comparison, ModelComparison), comparison.best_
(True, 'RVMRegressor 1')
"""

from relvec.comparing.compare import compare_models
from relvec.comparing.evidences import Evidences
from relvec.comparing.result import ComparedModel, ModelComparison
from relvec.comparing.statistics import Estimate
from relvec.comparing.wording import Verdict

__all__ = [
    "ComparedModel",
    "Estimate",
    "Evidences",
    "ModelComparison",
    "Verdict",
    "compare_models",
]
