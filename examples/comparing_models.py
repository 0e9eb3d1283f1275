"""
Comparing models
================

Problem: a series with a trend and a season. Five models could explain it: a line, narrow or wide
kernels, periodic kernels, or a line with periodic kernels. ``compare_models`` refits each to every
fold, compares their predictive densities row by row, and adds the evidence with one precision for
each basis, which can be compared between bases of different size.

The second part shows why the maximised evidence alone does not choose a length-scale: with weak
signals it prefers kernels so narrow that each fits a single row, and ``compare_models`` warns.
"""

from __future__ import annotations

import warnings

import numpy as np
from matplotlib import pyplot
from sklearn.gaussian_process.kernels import RBF, ExpSineSquared

from relvec import SparseBayesRegressor, compare_models
from relvec.bases import KernelBasis, LinearBasis
from relvec.plotting import ModelComparisonDisplay

rng = np.random.default_rng(0)
time = rng.uniform(0.0, 10.0, size=(120, 1))
series = 0.3 * time[:, 0] + np.abs(np.sin(np.pi * time[:, 0] / 2.5)) + 0.3 * rng.normal(size=120)

season = KernelBasis(ExpSineSquared(length_scale=1.0, periodicity=2.5))
models = {
    "line": SparseBayesRegressor(LinearBasis()),
    "wide kernels": SparseBayesRegressor(KernelBasis(RBF(5.0))),
    "narrow kernels": SparseBayesRegressor(KernelBasis(RBF(0.5))),
    "season": SparseBayesRegressor(season),
    "line + season": SparseBayesRegressor(LinearBasis() + season),
}
comparison = compare_models(models, time, series)
print(comparison)

# %%
# The bars are one and two standard errors of the paired difference to the best predictor.

ModelComparisonDisplay.from_comparison(comparison)
pyplot.show()

# %%
# Rows after each of five origins in time, instead of shuffled folds: which model extrapolates?

rolling = compare_models(models, time, series, cv="rolling")
print(rolling.verdict.text)

# %%
# A weak signal: half of the variance or more is noise.

x = rng.uniform(-10.0, 10.0, size=(100, 1))
weak = np.sinc(x[:, 0] / np.pi) + 0.4 * rng.normal(size=100)
length_scales = {
    f"length-scale {scale}": SparseBayesRegressor(KernelBasis(RBF(scale)))
    for scale in (0.05, 0.5, 1.6, 2.4)
}
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # printed below
    weak_comparison = compare_models(length_scales, x, weak)
print(weak_comparison)
ModelComparisonDisplay.from_comparison(weak_comparison)
pyplot.show()
