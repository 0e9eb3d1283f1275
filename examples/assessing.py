"""
Bias, evidence and coverage
===========================

Problem: a model predicts badly. Is its function too stiff (bias), does it change with every data
set (variance), or are the targets noisy? Which length-scale do the data support? Do its intervals
cover where the data end? Three functions answer by refitting the model.

Run it with ``python examples/assessing.py``. It needs matplotlib:
``pip install "relvec[plot]"``.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from relvec import RVMRegressor, bias_variance_decomposition, coverage_outside, evidence_curve
from relvec.plotting import BiasVarianceDisplay, CoverageOutsideDisplay, EvidenceCurveDisplay


def function(X):
    return np.sinc(X[:, 0] / np.pi)


def make(random_state, noise=0.1):
    rng = np.random.default_rng(random_state)
    X = rng.uniform(-10, 10, size=(100, 1))
    return X, function(X) + noise * rng.normal(size=100)


# %%
# Bias, variance and noise
# ------------------------
# Three models are fitted to the same forty data sets. Long length-scales have bias, short ones
# variance.

grid = np.linspace(-10, 10, 80)[:, np.newaxis]
models = {
    "long length-scale": RVMRegressor(gamma=0.02),
    "default": RVMRegressor(),
    "short length-scale": RVMRegressor(gamma=5.0),
}
results = [
    bias_variance_decomposition(
        model, make, function=function, X_test=grid, n_fits=40, random_state=0, name=name
    )
    for name, model in models.items()
]
for each in results:
    print(
        f"{each.name:20} squared bias {each.squared_bias:.5f}  variance {each.variance:.5f}  "
        f"noise {each.noise:.5f}"
    )
BiasVarianceDisplay.from_results(results)
BiasVarianceDisplay.from_results(results, kind="bars")

# %%
# Evidence against the length-scale
# ---------------------------------
# With strong noise the evidence of the sparse model is largest below the spacing of the inputs.
# The penalised evidence, the evidence with tied precisions and held-out rows agree on another
# length-scale.

rng = np.random.default_rng(1)
X = np.linspace(-10, 10, 100)[:, np.newaxis]
y = function(X) + 0.4 * rng.normal(size=100)
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it says what the summary says
    curve = evidence_curve(RVMRegressor(), X, y)
print(curve.summary())
EvidenceCurveDisplay.from_curve(curve)

# %%
# Coverage outside the range of the data
# --------------------------------------
# A tenth of the rows at each end is held out. Error bars of the posterior alone ("plain") are too
# short there.

X = rng.uniform(-10, 10, size=(150, 1))
y = np.sin(X[:, 0]) + 0.2 * rng.normal(size=150)
kinds = ("novelty", "augmented", "plain")
outside = [coverage_outside(RVMRegressor(error_bars=kind), X, y, name=kind) for kind in kinds]
for each in outside:
    share, error = each.outside.coverage(0.95)
    print(f"{each.name:10} covers {100 * share:.0f} % outside (standard error {100 * error:.0f} %)")
CoverageOutsideDisplay.from_results(outside)
plt.show()
