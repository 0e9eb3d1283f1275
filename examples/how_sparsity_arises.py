"""
Where the sparsity comes from
=============================

A relevance vector machine is told nothing about how many functions it may use, and there is no
penalty on their number. It still keeps a handful. This example shows why, in three pictures: the
evidence of one weight, the prior that is left when precisions are integrated out, and the few
functions that carry a curve.

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
# Every weight has a normal prior around zero with a precision of its own. Seen from one weight,
# with all others as they are, the log evidence depends on that precision through two numbers: `q`
# says how well its function points towards what is not yet explained, `s` how much of it others
# already cover. If ``q² > s`` the best precision is finite. If not, the evidence rises for ever as
# the precision grows: the best weight is exactly zero, and the function leaves the model. No
# threshold was chosen.

precision = np.logspace(-2, 4, 400)


def log_evidence(q, s):
    """What a function adds to the log evidence (Tipping & Faul 2003, eq. 18)."""
    return 0.5 * (np.log(precision / (precision + s)) + q**2 / (precision + s))


figure, axes = plt.subplots(figsize=(7.0, 3.6), layout="constrained")
axes.semilogx(precision, log_evidence(3.0, 2.0), color=MODEL, lw=2)
axes.semilogx(precision, log_evidence(1.0, 2.0), color=OTHER, lw=2)
best = 2.0**2 / (3.0**2 - 2.0)
axes.plot(best, 0.5 * (np.log(best / (best + 2)) + 9 / (best + 2)), "o", color=MODEL)
axes.text(2.0, 1.05, "q² = 9, s = 2: kept, with this precision", color=MODEL)
axes.text(5.0, -0.75, "q² = 1, s = 2: rises for ever,\nthe function leaves", color=OTHER)
axes.axhline(0.0, color=DATA, lw=0.8, ls=":")
axes.set(xlabel="precision of the weight", ylabel="gain in log evidence", ylim=(-1.6, 1.8))
axes.spines[["top", "right"]].set_visible(False)

# %%
# Two weights
# -----------
# Integrated over its precision, a normal prior becomes one with a spike at zero and heavy tails.
# For two weights its contours are stars: mass lies along the axes, where one weight is zero. Ridge
# regression has circles, which prefer no direction, and the lasso diamonds, in between.

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
# One hundred noisy samples, one kernel on each. The kernels that were kept are drawn with their
# weights; their sum, with the intercept, is the curve.

rng = np.random.default_rng(0)
X = rng.uniform(-10, 10, size=(100, 1))
y = np.sinc(X[:, 0] / np.pi) + 0.1 * rng.normal(size=100)
model = RVMRegressor(gamma=0.1).fit(X, y)
print(f"{len(model.relevance_)} of {len(y)} kernels kept")
print(f"noise {model.noise_variance_**0.5:.3f}, really 0.1")

line = np.linspace(-12, 12, 400)[:, np.newaxis]
bumps = model.coef_ * np.exp(-0.1 * (line - model.relevance_vectors_.T) ** 2)
mean, std = model.predict(line, return_std=True)
figure, (top, bottom) = plt.subplots(2, 1, figsize=(7.0, 5.4), sharex=True, layout="constrained")
first, *_ = top.plot(line, bumps, color=MODEL, lw=1, alpha=0.8)
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
bottom.plot(line, mean, color=MODEL, lw=2, label="their sum")
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
