"""
Error bars inside, between and outside the data
===============================================

The posterior of a kernel machine knows how uncertain its weights are. Away from the data all
kernels are zero, and with them that uncertainty: a plain relevance vector machine is most certain
where it knows least. The first picture shows this, and two remedies. The second asks the question
that counts on real patients: do intervals cover as many of the new targets as they promise? The
third shows which new inputs the training inputs say little of.

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
# Three kinds
# -----------
# Samples of a sine, with a gap. All three models have the same weights. ``"plain"`` is the variance
# of the posterior plus the noise. ``"novelty"``, the default, adds the variance of a Gaussian
# process with the same kernel, known at a few stored inputs. ``"augmented"`` adds one kernel at the
# input that is asked about.

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
# What intervals promise, and what they cover
# -------------------------------------------
# Ten-fold cross-validation of the diabetes data: of the patients not seen by the fit, how many are
# inside intervals of 10 %, 20 %, ... 95 %? The band is what chance alone would do to 442 patients.

X, y = load_diabetes(return_X_y=True, scaled=False)
promised = np.append(np.arange(0.1, 1.0, 0.1), 0.95)
inside = np.zeros((len(y), len(promised)), dtype=bool)
for train, test in KFold(10, shuffle=True, random_state=0).split(X):
    model = RVMRegressor().fit(X[train], y[train])
    for column, coverage in enumerate(promised):
        lower, upper = model.predict_interval(X[test], coverage=coverage).T
        inside[test, column] = (lower <= y[test]) & (y[test] <= upper)
covered = inside.mean(axis=0)
for level, share in zip(promised, covered, strict=True):
    print(f"promised {level:4.0%}, covered {share:6.1%}")

figure, axes = plt.subplots(figsize=(4.6, 4.4), layout="constrained")
chance = 1.96 * np.sqrt(promised * (1 - promised) / len(y))
axes.fill_between(
    promised, promised - chance, promised + chance, color=DATA, alpha=0.2, lw=0, label="chance"
)
axes.plot([0, 1], [0, 1], color=DATA, lw=0.8, ls=":")
axes.plot(promised, covered, "o-", color=MODEL, label="held-out patients")
axes.set(xlabel="promised", ylabel="covered", aspect="equal", xlim=(0, 1), ylim=(0, 1))
axes.spines[["top", "right"]].set_visible(False)
axes.legend(frameon=False)

# %%
# Which inputs are beyond the data?
# ---------------------------------
# The model of the first picture at its defaults, and eight new inputs. Where the background is
# coloured the training inputs say little: intervals are long, and means that would be far from all
# targets are drawn to the mean of these.

model = RVMRegressor().fit(x[:, None], curve)
new = np.array([-3.0, 1.0, 2.5, 4.5, 5.5, 7.0, 8.8, 12.0])[:, None]
display = ExtrapolationDisplay.from_estimator(model, x[:, None], new, np.sin(new[:, 0]))
for place, share in zip(new[:, 0], display.share, strict=True):
    print(f"x = {place:4.1f}: {share:.2f} beyond the data")
plt.show()
