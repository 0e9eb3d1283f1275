"""
Noise that varies
=================

Problem: rich households spend more on food than poor ones, and they also differ more among
themselves. With one noise variance for all, intervals are too wide for the poor and too narrow for
the rich. Here the noise level is learnt together with the mean, and the data are simulated so that
the truth is known.

Run it with ``python examples/heteroscedastic_noise.py``. It needs matplotlib:
``pip install "relvec[plot]"``.
"""

import matplotlib.pyplot as plt
import numpy as np

from relvec import RVMRegressor
from relvec.describing import assess_noise_constancy
from relvec.plotting import NoiseDisplay

MODEL, OTHER, DATA = "#1f5a99", "#c2410c", "0.45"


def draw(n, rng):
    """Draw incomes, expenditures and their true standard deviation."""
    income = np.exp(rng.normal(7.0, 0.4, n))
    std = 0.12 * income
    return income[:, None], 80.0 + 0.48 * income + std * rng.normal(size=n), std


rng = np.random.default_rng(4)
X, y, _ = draw(250, rng)

# %%
# A test, then a model
# --------------------
# The score test of Breusch and Pagan says whether the squared residuals depend on the prediction or
# on the features.

constant = RVMRegressor().fit(X, y)
result = assess_noise_constancy(constant, X, y)
print(f"constant noise: p = {result.p_value:.1g}, std differs by a factor of {result.ratio:.1f}")

varying = RVMRegressor(noise="heteroscedastic").fit(X, y)
print(f"varying noise: p = {assess_noise_constancy(varying, X, y).p_value:.2f}")
print(f"gain in log evidence: {varying.noise_gain_:.0f} nats")

# %%
# Intervals for poor and rich
# ---------------------------
# Both models cover about 95 % of all new households, but only one of them covers poor and rich
# alike.

line = np.linspace(X.min(), X.max(), 300)[:, None]
figure, panels = plt.subplots(1, 2, figsize=(9.5, 3.8), sharey=True, layout="constrained")
X_new, y_new, std_new = draw(4000, rng)
groups = np.array_split(np.argsort(std_new), 4)
models = {"constant": constant, "heteroscedastic": varying}
for axes, (name, model) in zip(panels, models.items(), strict=True):
    low, high = model.predict_interval(line).T
    axes.fill_between(line[:, 0], low, high, color=MODEL, alpha=0.18, lw=0, label="95 % interval")
    axes.plot(line[:, 0], model.predict(line), color=MODEL, lw=1.8, label="predicted mean")
    axes.plot(line[:, 0], 80.0 + 0.48 * line[:, 0], "--", color=OTHER, lw=1.2, label="true mean")
    axes.plot(X[:, 0], y, ".", color=DATA, ms=4, label="training rows")
    axes.set_title(f'noise="{name}"', fontsize=10, loc="left")
    axes.set(xlabel="income", ylabel="expenditure")
    axes.legend(fontsize=8, frameon=False, loc="upper left")
    axes.spines[["top", "right"]].set_visible(False)
    low, high = model.predict_interval(X_new).T
    inside = (low < y_new) & (y_new < high)
    shares = ", ".join(f"{100 * inside[rows].mean():.0f} %" for rows in groups)
    density = model.log_predictive_density(X_new, y_new).mean()
    print(f"{name}: coverage by income {shares}; mean log density {density:.3f}")

# %%
# The noise level
# ---------------
# The line is the learnt noise standard deviation with its 95 % band, the dashed line the truth. It
# is too high beyond an income of 2500, where there are few households. The plot ends with the
# training rows: beyond them the level does not follow its trend, but turns towards its average.

_, axes = plt.subplots(figsize=(5.4, 3.8), layout="constrained")
NoiseDisplay.from_estimator(varying, X, y, feature_names=["income"], ax=axes)
axes.plot(line[:, 0], 0.12 * line[:, 0], "--", color=OTHER, lw=1.2, label="true noise std")
axes.set_title("noise level", fontsize=10, loc="left")
axes.set(xlim=(X.min(), X.max()))
axes.legend(fontsize=8, frameon=False, loc="upper left")
axes.grid(visible=False)
plt.show()
