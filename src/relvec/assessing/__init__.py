"""Metrics of a regressor that need refits: how its errors arise, and where its error bars fail.

Examples
--------
>>> import numpy as np
>>> from relvec import RVMRegressor
>>> from relvec.assessing import bias_variance_decomposition
>>> X = np.linspace(-3, 3, 40)[:, np.newaxis]
>>> y = np.sin(X[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=40)
>>> result = bias_variance_decomposition(RVMRegressor(gamma=0.5), (X, y), n_fits=10, random_state=0)
>>> result.variance < result.mse
True
"""

from relvec.assessing.bias_variance import bias_variance_decomposition
from relvec.assessing.coverage import coverage_outside
from relvec.assessing.decomposition import BiasVariance, ErrorParts
from relvec.assessing.held_out_metrics import CoverageOutside, Estimate, HeldOutMetrics
from relvec.assessing.length_scale_curve import EvidenceCurve, evidence_curve
from relvec.assessing.refit import RefitError

__all__ = [
    "BiasVariance",
    "CoverageOutside",
    "ErrorParts",
    "Estimate",
    "EvidenceCurve",
    "HeldOutMetrics",
    "RefitError",
    "bias_variance_decomposition",
    "coverage_outside",
    "evidence_curve",
]
