"""
Outliers: Student-t and contaminated normal noise
=================================================

Problem: some targets are grossly wrong. With Gaussian noise they pull the fit towards themselves
and make its error bars too wide everywhere. ``noise="robust"`` fits noise with heavy tails instead:
Student-t noise, or a mixture of ordinary rows and outliers. The first plot compares the fits. The
second shows the probability of each row to be an outlier. The third shows how the error grows with
the fraction of outliers.

Run it with ``python examples/outliers.py``. It needs matplotlib:
``pip install "relvec[plot]"``.
"""

import matplotlib.pyplot as plt
import numpy as np

from relvec import RVMRegressor

MODEL, OTHER, DATA = "#1f5a99", "#c2410c", "0.45"

# %%
# Two noise models on the same data
# ---------------------------------
# 200 samples of sin(x) / x with noise of standard deviation 0.1; every seventh row or so is off by
# 10 to 40 standard deviations. The bands are 90 % intervals of the function, without noise.


def make_rows(seed, share, n_rows=200):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-10, 10, size=(n_rows, 1))
    is_outlier = rng.random(n_rows) < share
    error = rng.uniform(1.0, 4.0, n_rows) * rng.choice([-1.0, 1.0], n_rows)
    y = np.sinc(x[:, 0] / np.pi) + 0.1 * rng.normal(size=n_rows) + is_outlier * error
    return x, y, is_outlier


x, y, is_outlier = make_rows(seed=1, share=0.15)
line = np.linspace(-10, 10, 400)[:, np.newaxis]
truth = np.sinc(line[:, 0] / np.pi)

figure, panels = plt.subplots(1, 2, figsize=(9.0, 3.6), sharey=True, layout="constrained")
for axes, noise in zip(panels, ("constant", "robust"), strict=True):
    model = RVMRegressor(noise=noise).fit(x, y)
    mean = model.predict(line)
    lower, upper = model.predict_interval(line, coverage=0.9, include_noise=False).T
    label = "90 % interval of the function"
    axes.fill_between(line[:, 0], lower, upper, color=MODEL, alpha=0.2, lw=0, label=label)
    axes.plot(line, mean, color=MODEL, lw=1.8, label="predicted function")
    axes.plot(line, truth, color=OTHER, lw=1.2, ls="--", label="true function")
    axes.plot(x, y, ".", color=DATA, ms=3.5, label="training rows")
    rmse = np.sqrt(np.mean((mean - truth) ** 2))
    axes.set_title(f'noise="{noise}": RMSE {rmse:.3f}', fontsize=10, loc="left")
    axes.set(xlabel="x", ylim=(-2.2, 2.4))
    axes.spines[["top", "right"]].set_visible(False)
panels[0].set_ylabel("y (outliers beyond the axes are cut)")
panels[0].legend(fontsize=8, frameon=False, loc="lower left", ncols=2)

share, ratio = model.contamination_
print(f"contaminated normal noise: {share:.0%} outliers, {ratio**0.5:.0f} times the noise")
print(f"gain in log evidence: {model.noise_gain_:.0f} nats")

# %%
# Which rows are outliers?
# ------------------------
# ``outlier_probability_`` is the posterior probability that the noise variance of a row is at least
# nine times that of ordinary rows; ``row_weight_`` is the weight that it had in the fit.

probability, residual = model.outlier_probability_, y - model.predict(x)
found = probability > 0.5
print(
    f"{is_outlier.sum()} outliers, {found.sum()} found, "
    f"{np.sum(found & ~is_outlier)} false positive"
)

figure, axes = plt.subplots(figsize=(5.4, 3.4), layout="constrained")
for which, colour, marker, label in (
    (~is_outlier, MODEL, "o", "ordinary rows"),
    (is_outlier, OTHER, "^", "outliers"),
):
    axes.plot(np.abs(residual[which]), probability[which], marker, color=colour, ms=4, label=label)
axes.set(xscale="log", xlabel="absolute residual", ylabel="probability of an outlier")
axes.legend(fontsize=9, frameon=False)
axes.spines[["top", "right"]].set_visible(False)

# %%
# More and more outliers
# ----------------------
# The error of the default grows with the first outliers. That of robust noise hardly grows up to
# 30 % of outliers; with more, some of the fits fail. Without outliers both fits are the same.

shares = np.array([0.0, 0.1, 0.2, 0.3, 0.4])
errors = {noise: np.zeros((len(shares), 3)) for noise in ("constant", "robust")}
for row, share in enumerate(shares):
    for seed in range(3):
        x, y, _ = make_rows(seed, share, n_rows=120)
        for noise, values in errors.items():
            mean = RVMRegressor(noise=noise).fit(x, y).predict(line)
            values[row, seed] = np.sqrt(np.mean((mean - truth) ** 2)) / 0.1
for noise, values in errors.items():
    print(noise, "RMSE / noise:", " ".join(f"{each:.2f}" for each in values.mean(axis=1)))

figure, axes = plt.subplots(figsize=(5.4, 3.4), layout="constrained")
for (noise, values), colour in zip(errors.items(), (OTHER, MODEL), strict=True):
    axes.plot(100 * shares, values.mean(axis=1), "o-", color=colour, ms=4, label=f'"{noise}"')
axes.set(xlabel="outliers (%)", ylabel="RMSE (noise standard deviations)", ylim=(0, None))
axes.legend(title="noise", fontsize=9, frameon=False)
axes.spines[["top", "right"]].set_visible(False)

plt.show()
