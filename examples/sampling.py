"""
Sampling of the full posterior
==============================

Problem: the evidence selects one set of basis functions, one noise level and one length-scale. Its
error bars are those of the weights, given this selection. A sampler draws the selection as well:
predictions are averages over models, and bands are wider where plausible models disagree.

Run it with ``python examples/sampling.py``. It needs matplotlib:
``pip install "relvec[plot]"``.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.exceptions import ConvergenceWarning

from relvec import (
    RVMRegressor,
    SampledRVMRegressor,
    SampledSparseBayesRegressor,
    SparseBayesRegressor,
)
from relvec.bases import LinearBasis
from relvec.plotting import InclusionDisplay

MODEL, OTHER, DATA = "#1f5a99", "#c2410c", "0.45"

# The chains are short, so that the example runs in seconds. Without these options chains are
# continued until they have converged.
short = {"n_draws": 100, "n_chains": 2, "thin": 10, "random_state": 0}
warnings.simplefilter("ignore", ConvergenceWarning)

# %%
# The band of a function
# ----------------------
# Fifty noisy points of sinc, one of the data sets where the two bands differ most; the guide has
# averages over many. The thin lines are functions drawn from the posterior.

rng = np.random.default_rng(5)
X = np.linspace(-10.0, 10.0, 50)[:, np.newaxis]
y = np.sinc(X[:, 0] / np.pi) + 0.15 * rng.normal(size=50)
line = np.linspace(-10.0, 10.0, 300)[:, np.newaxis]
truth = np.sinc(line[:, 0] / np.pi)

models = {
    "evidence: one model": RVMRegressor().fit(X, y),
    "sampling: average over models": SampledRVMRegressor(**short).fit(X, y),
}
figure, panels = plt.subplots(1, 2, figsize=(9.5, 3.6), sharey=True, layout="constrained")
for axes, (name, model) in zip(panels, models.items(), strict=True):
    mean, std = model.predict(line, return_std=True, include_noise=False)
    low, high = mean - 1.96 * std, mean + 1.96 * std
    axes.fill_between(line[:, 0], low, high, color=MODEL, alpha=0.2, lw=0, label="95 % band")
    draws = model.sample_y(line, n_samples=8, random_state=0, include_noise=False)
    axes.plot(line, draws, color=MODEL, lw=0.5, alpha=0.6)
    axes.plot(line, mean, color=MODEL, lw=1.8, label="mean")
    axes.plot(line, truth, color=OTHER, lw=1.2, ls=(0, (4, 2)), label="true function")
    axes.plot(X, y, ".", color=DATA, ms=5)
    axes.set_title(name, fontsize=10, loc="left")
    axes.set(xlabel="x", ylim=(-0.6, 1.4))
    axes.spines[["top", "right"]].set_visible(False)
    covered = np.mean((low <= truth) & (truth <= high))
    print(f"{name}: the band covers {100 * covered:.0f} % of the true function")
panels[0].legend(frameon=False, fontsize=8, loc="upper left")

# %%
# Rival columns
# -------------
# ``sensor A`` and ``sensor B`` measure the same quantity, on which the target depends. The evidence
# keeps one of the two. The sampler says that one is needed, and that it may be either.

rng = np.random.default_rng(1)
quantity = rng.normal(size=50)
columns = {f"sensor {each}": quantity + 0.2 * rng.normal(size=50) for each in "AB"}
columns |= {name: rng.normal(size=50) for name in ("dose", "age", "batch")}
table = np.column_stack(list(columns.values()))
effect = quantity + 0.7 * columns["dose"] + 0.6 * rng.normal(size=50)

evidence = SparseBayesRegressor(LinearBasis()).fit(table, effect)
sampled = SampledSparseBayesRegressor(LinearBasis(), **short).fit(table, effect)
names = list(columns)
print("evidence:", " + ".join(names[index] for index in evidence.relevance_))
for rival in sampled.rival_models(4):
    print(f"{rival.probability:.2f}  " + " + ".join(names[index] for index in rival.atoms))

display = InclusionDisplay(sampled.inclusion_probability_, names=names).plot()
display.ax_.set_title("posterior inclusion probability", fontsize=10, loc="left")

plt.show()
