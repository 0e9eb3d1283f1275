"""
How sparsity arises
===================

Problem: understand why a relevance vector machine keeps only a few basis functions, although
nothing limits or penalises their number. Three plots show the evidence (marginal likelihood) as a
function of one precision, the prior of the weights after the precisions are integrated out, and
the few kernels of a fitted curve.

Run it with ``python examples/how_sparsity_arises.py``. It needs matplotlib:
``pip install "relvec[plot]"``.
"""

import matplotlib.pyplot as plt
import numpy as np

from relvec import RVMRegressor

MODEL, OTHER, DATA = "#1f5a99", "#c2410c", "0.55"

# %%
# One weight
# ----------
# Every weight has a zero-mean normal prior with its own precision. With all other precisions fixed,
# the log evidence depends on this precision through two numbers: the quality factor `q` measures
# how well the basis function fits the residual of the others, the sparsity factor `s` how much it
# overlaps with them (Faul & Tipping 2002). If ``q² > s`` the best precision is finite. Otherwise
# the evidence increases with the precision without limit: the weight is exactly zero, and the basis
# function is removed. No threshold has to be chosen.

precision = np.logspace(-2, 4, 400)


def log_evidence(q, s):
    """Contribution of a basis function to the log evidence (Tipping & Faul 2003, eq. 18)."""
    return 0.5 * (np.log(precision / (precision + s)) + q**2 / (precision + s))


figure, axes = plt.subplots(figsize=(7.0, 3.6), layout="constrained")
axes.semilogx(precision, log_evidence(3.0, 2.0), color=MODEL, lw=2)
axes.semilogx(precision, log_evidence(1.0, 2.0), color=OTHER, lw=2)
best = 2.0**2 / (3.0**2 - 2.0)
axes.plot(best, 0.5 * (np.log(best / (best + 2)) + 9 / (best + 2)), "o", color=MODEL)
axes.text(2.0, 1.05, "q² = 9, s = 2: finite optimum, kept", color=MODEL)
axes.text(5.0, -0.75, "q² = 1, s = 2: increases without limit,\nremoved", color=OTHER)
axes.axhline(0.0, color=DATA, lw=0.8, ls=":")
axes.set(xlabel="precision of the weight", ylabel="gain in log evidence", ylim=(-1.6, 1.8))
axes.spines[["top", "right"]].set_visible(False)

# %%
# Two weights
# -----------
# With the precision integrated out, the normal prior becomes a prior with a peak at zero and heavy
# tails. For two weights most of its mass is near the axes, where one weight is zero. The contours
# of ridge regression are circles, without preferred directions; those of the lasso are diamonds.

grid = np.linspace(-3.0, 3.0, 301)
first, second = np.meshgrid(grid, grid)
heights = {
    "ridge: $w_1^2 + w_2^2$": first**2 + second**2,
    "lasso: $|w_1| + |w_2|$": np.abs(first) + np.abs(second),
    "sparse Bayes: $\\log|w_1| + \\log|w_2|$": np.log(np.abs(first) + 0.02)
    + np.log(np.abs(second) + 0.02),
}
figure, panels = plt.subplots(1, 3, figsize=(9.0, 3.2), layout="constrained", sharey=True)
for axes, (name, height) in zip(panels, heights.items(), strict=True):
    axes.contourf(grid, grid, -height, levels=14, cmap="Blues")
    axes.set_title(name, fontsize=10)
    axes.set(aspect="equal", xlabel="weight 1", xticks=[-2, 0, 2], yticks=[-2, 0, 2])
panels[0].set_ylabel("weight 2")

# %%
# A curve
# -------
# One hundred noisy samples, with a kernel centred on each. The plot shows the kernels that were
# kept, multiplied by their weights. Their sum plus the intercept is the curve.

rng = np.random.default_rng(0)
X = rng.uniform(-10, 10, size=(100, 1))
y = np.sinc(X[:, 0] / np.pi) + 0.1 * rng.normal(size=100)
model = RVMRegressor(gamma=0.1).fit(X, y)
print(f"{len(model.relevance_)} of {len(y)} kernels kept")
print(f"noise {model.noise_variance_**0.5:.3f}, true value 0.1")

line = np.linspace(-12, 12, 400)[:, np.newaxis]
terms = model.coef_ * np.exp(-0.1 * (line - model.relevance_vectors_.T) ** 2)
mean, std = model.predict(line, return_std=True)
figure, (top, bottom) = plt.subplots(2, 1, figsize=(7.0, 5.4), sharex=True, layout="constrained")
first, *_ = top.plot(line, terms, color=MODEL, lw=1, alpha=0.8)
first.set_label("kernels that were kept")
top.axhline(model.intercept_, color=DATA, lw=0.8, ls="--", label="intercept")
top.set_ylabel("weight × kernel")
top.legend(frameon=False, fontsize=9, loc="upper left")
bottom.fill_between(
    line[:, 0],
    mean - 1.96 * std,
    mean + 1.96 * std,
    color=MODEL,
    alpha=0.15,
    lw=0,
    label="95 % of new points",
)
bottom.plot(line, mean, color=MODEL, lw=2, label="mean")
bottom.plot(X[:, 0], y, ".", color=DATA, label="observed")
kept = model.relevance_
bottom.plot(
    X[kept, 0], y[kept], "o", mfc="none", mec=OTHER, ms=10, mew=1.6, label="relevance vectors"
)
bottom.set(xlabel="x", ylabel="y")
bottom.legend(frameon=False, fontsize=9, loc="upper left")
for axes in (top, bottom):
    axes.spines[["top", "right"]].set_visible(False)
plt.show()
