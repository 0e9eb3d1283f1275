"""
Skewed targets
==============

Problem: sales are positive, and their noise is a percentage rather than a number of units. A model
with Gaussian noise covers about 95 % of new sales with its 95 % intervals, but only because
intervals of weak days are too wide and those of strong days too narrow; its 50 % intervals cover
far more than half. A transform of the target, chosen by the evidence, mends both.

Run it with ``python examples/skewed_targets.py``. It needs matplotlib:
``pip install "relvec[plot]"``.
"""

import matplotlib.pyplot as plt
import numpy as np

from relvec import RVMRegressor

MODEL, OTHER, DATA = "#1f5a99", "#c2410c", "0.45"


def make_sales(n_days, seed):
    """Make log-normal sales over three years, with a yearly cycle."""
    rng = np.random.default_rng(seed)
    year = rng.uniform(0.0, 3.0, size=n_days)
    level = np.exp(3.0 + 0.2 * year + 0.9 * np.sin(2.0 * np.pi * year))
    return year[:, np.newaxis], level * np.exp(0.6 * rng.normal(size=n_days))


X, y = make_sales(250, seed=0)
models = {
    "no transform": RVMRegressor().fit(X, y),
    'target_transform="auto"': RVMRegressor(target_transform="auto").fit(X, y),
}
for name, model in models.items():
    print(f"{name}: {model.target_transform_}, log evidence {model.log_evidence_:.0f} nats")

# %%
# Intervals
# ---------
# Without a transform the intervals have the same width everywhere, and are negative in weak months.

line = np.linspace(0.0, 3.0, 300)[:, np.newaxis]
figure, panels = plt.subplots(1, 2, figsize=(9.5, 3.6), sharey=True, layout="constrained")
for axes, (name, model) in zip(panels, models.items(), strict=True):
    for coverage, alpha in ((0.95, 0.15), (0.5, 0.3)):
        low, high = model.predict_interval(line, coverage).T
        label = f"{100 * coverage:.0f} % interval"
        axes.fill_between(line[:, 0], low, high, color=MODEL, alpha=alpha, lw=0, label=label)
    axes.plot(line, model.predict(line), color=MODEL, lw=1.8, label="mean")
    axes.plot(X, y, ".", color=DATA, ms=3.5)
    axes.axhline(0.0, color="0.2", lw=0.8)
    axes.set_title(name, fontsize=10, loc="left")
    axes.set(xlabel="year", ylim=(-70.0, 330.0))
    axes.spines[["top", "right"]].set_visible(False)
panels[0].set_ylabel("sales")
panels[0].legend(frameon=False, fontsize=8, loc="upper left")

# %%
# Coverage by level
# -----------------
# The share of new targets inside the intervals, by quartile of the prediction.

new, sales = make_sales(4000, seed=1)
figure, panels = plt.subplots(1, 2, figsize=(9.5, 3.2), sharey=True, layout="constrained")
for axes, coverage in zip(panels, (0.5, 0.95), strict=True):
    for name, model, colour in zip(models, models.values(), (OTHER, MODEL), strict=True):
        low, high = model.predict_interval(new, coverage).T
        inside = (low <= sales) & (sales <= high)
        quartile = np.argsort(np.argsort(model.predict(new))) * 4 // len(new)
        shares = [inside[quartile == number].mean() for number in range(4)]
        axes.plot([1, 2, 3, 4], shares, "o-", color=colour, label=name)
        print(f"{100 * coverage:.0f} % intervals, {name}: {100 * inside.mean():.1f} % of new sales")
    axes.axhline(coverage, color="0.2", lw=0.8, ls=(0, (4, 2)))
    axes.set_title(f"{100 * coverage:.0f} % intervals", fontsize=10, loc="left")
    axes.set(xlabel="quartile of the prediction", xticks=[1, 2, 3, 4], ylim=(0.0, 1.05))
    axes.spines[["top", "right"]].set_visible(False)
panels[0].set_ylabel("share of new sales inside")
panels[0].legend(frameon=False, fontsize=8, loc="lower left")

plt.show()
