"""
Error bars away from the data
=============================

Problem: the error bars of a relevance vector machine shrink away from the data, where they should
grow. All localised kernels vanish there, and with them the posterior variance of the function. The
first plot shows this and two remedies. The second checks the coverage of prediction intervals by
cross-validation. The third shows which new inputs are extrapolations.

Run it with ``python examples/error_bars.py``. It needs matplotlib:
``pip install "relvec[plot]"``.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.model_selection import KFold

from relvec import RVMRegressor
from relvec.plotting import ExtrapolationDisplay

MODEL, OTHER, DATA = "#1f5a99", "#c2410c", "0.45"

# %%
# Three kinds of error bars
# -------------------------
# Samples of a sine, with a gap. All three models have the same weights. ``"plain"`` is the
# posterior variance plus the noise. ``"novelty"``, the default, adds the posterior variance of a
# Gaussian process with the same kernel, conditioned on a few stored inputs. ``"augmented"`` adds a
# kernel centred on the new input (the RVM* of Rasmussen & Quiñonero-Candela, 2005).

rng = np.random.default_rng(3)
x = np.concatenate([rng.uniform(0.0, 3.0, 35), rng.uniform(6.0, 9.0, 35)])
curve = np.sin(x) + 0.15 * rng.normal(size=70)
line = np.linspace(-4, 13, 400)

figure, panels = plt.subplots(1, 3, figsize=(10.0, 3.4), sharey=True, layout="constrained")
for axes, kind in zip(panels, ("plain", "novelty", "augmented"), strict=True):
    model = RVMRegressor(gamma=0.5, error_bars=kind).fit(x[:, None], curve)
    mean, std = model.predict(line[:, None], return_std=True)
    axes.fill_between(line, mean - 1.96 * std, mean + 1.96 * std, color=MODEL, alpha=0.18, lw=0)
    axes.plot(line, mean, color=MODEL, lw=1.8)
    axes.plot(x, curve, ".", color=DATA, ms=4)
    axes.set_title(f'error_bars="{kind}"', fontsize=10, loc="left")
    axes.set(xlabel="x", ylim=(-2.5, 2.5))
    axes.spines[["top", "right"]].set_visible(False)
panels[0].set_ylabel("y, and 95 % of new points")

# %%
# Nominal and actual coverage
# ---------------------------
# Ten-fold cross-validation of the diabetes data: how many held-out patients are inside intervals
# of 10 %, 20 %, ... 95 %? The band is the sampling variation for 442 patients.

X, y = load_diabetes(return_X_y=True, scaled=False)
nominal = np.append(np.arange(0.1, 1.0, 0.1), 0.95)
inside = np.zeros((len(y), len(nominal)), dtype=bool)
for train, test in KFold(10, shuffle=True, random_state=0).split(X):
    model = RVMRegressor().fit(X[train], y[train])
    for column, coverage in enumerate(nominal):
        lower, upper = model.predict_interval(X[test], coverage=coverage).T
        inside[test, column] = (lower <= y[test]) & (y[test] <= upper)
actual = inside.mean(axis=0)
for level, fraction in zip(nominal, actual, strict=True):
    print(f"nominal {level:4.0%}, actual {fraction:6.1%}")

figure, axes = plt.subplots(figsize=(4.6, 4.4), layout="constrained")
spread = 1.96 * np.sqrt(nominal * (1 - nominal) / len(y))
axes.fill_between(
    nominal,
    nominal - spread,
    nominal + spread,
    color=DATA,
    alpha=0.2,
    lw=0,
    label="sampling variation",
)
axes.plot([0, 1], [0, 1], color=DATA, lw=0.8, ls=":")
axes.plot(nominal, actual, "o-", color=MODEL, label="held-out patients")
axes.set(
    xlabel="nominal coverage", ylabel="actual coverage", aspect="equal", xlim=(0, 1), ylim=(0, 1)
)
axes.spines[["top", "right"]].set_visible(False)
axes.legend(frameon=False)

# %%
# Which inputs are extrapolations?
# --------------------------------
# The model of the first plot at its defaults, and eight new inputs. Where the background is
# coloured, training inputs are far away: intervals are wide, and predictions far from all targets
# are shrunk towards the mean of the targets.

model = RVMRegressor().fit(x[:, None], curve)
new = np.array([-3.0, 1.0, 2.5, 4.5, 5.5, 7.0, 8.8, 12.0])[:, None]
display = ExtrapolationDisplay.from_estimator(model, x[:, None], new, np.sin(new[:, 0]))
for position, fraction in zip(new[:, 0], display.share, strict=True):
    print(f"x = {position:4.1f}: degree of extrapolation {fraction:.2f}")
plt.show()
