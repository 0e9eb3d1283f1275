"""
Counts, exposure and overdispersion
===================================

Problem: the targets are numbers of events, counted over times of different length. Their noise is
not Gaussian: it grows with the rate, and counts are never negative. The model is of the logarithm
of the rate. The first plot compares kernels with a precision each, which gives few of them, with
one precision for each width, whose bands cover the true rate more often. The second is of counts
that vary more than Poisson counts do: rootograms show it, and the evidence (marginal likelihood)
selects the negative binomial distribution.

Run it with ``python examples/counts.py``. It needs matplotlib:
``pip install "relvec[plot]"``.
"""

import matplotlib.pyplot as plt
import numpy as np

from relvec import SparseBayesCountRegressor
from relvec.plotting import RootogramDisplay

MODEL, OTHER, DATA = "#1f5a99", "#c2410c", "0.45"


def compute_rate(hour):
    """Calls per hour, with a peak in the morning and a lower one in the evening."""
    morning = 12.0 * np.exp(-0.5 * ((hour - 8.5) / 0.9) ** 2)
    return 1.0 + morning + 6.0 * np.exp(-0.5 * ((hour - 17.0) / 2.2) ** 2)


# %%
# A rate with two peaks
# ---------------------
# Each point is a watch of 5 to 90 minutes: its number of calls divided by its length. Short watches
# scatter more, and the exposure says so. The dashed line is the true rate; bands are 95 % intervals
# of the rate.

rng = np.random.default_rng(4)
hour = rng.uniform(4.0, 23.0, size=250)
length = rng.uniform(5.0, 90.0, size=250) / 60.0
calls = rng.poisson(length * compute_rate(hour))
line = np.linspace(0.0, 26.0, 500)

figure, panels = plt.subplots(1, 2, figsize=(10.0, 3.6), sharey=True, layout="constrained")
for axes, precision in zip(panels, ("atom", "tied"), strict=True):
    model = SparseBayesCountRegressor(precision=precision)
    model.fit(hour[:, None], calls, exposure=length)
    mean, std = model.predict_log_rate(line[:, None], return_std=True)
    low, high = np.exp(mean - 1.96 * std), np.exp(mean + 1.96 * std)
    for minutes in (10, 80):  # two points for the legend
        size = 12.0 * minutes / 60.0 + 2.0
        axes.scatter([], [], s=size, color=DATA, alpha=0.5, lw=0, label=f"watch of {minutes} min")
    axes.scatter(hour, calls / length, s=12.0 * length + 2.0, color=DATA, alpha=0.5, lw=0)
    axes.fill_between(line, low, high, color=MODEL, alpha=0.2, lw=0, label="95 % interval")
    axes.plot(line, np.exp(mean), color=MODEL, label="median rate")
    axes.plot(line, compute_rate(line), color="0.1", lw=1.0, ls="--", label="true rate")
    axes.set_title(f'precision="{precision}": {len(model.relevance_)} kernels', fontsize=10)
    axes.set(xlabel="hour", ylim=(0.0, 22.0))
    axes.spines[["top", "right"]].set_visible(False)
    inside = (line > hour.min()) & (line < hour.max())
    covers = (low < compute_rate(line)) & (compute_rate(line) < high)
    print(f"{precision}: the band covers the true rate at {covers[inside].mean():.0%} of the hours")
panels[0].set_ylabel("calls per hour")
panels[1].legend(frameon=False, fontsize=8, loc="upper right")

# %%
# Overdispersed counts
# --------------------
# The same rate, but every watch has a random factor of its own: the counts vary more than Poisson
# counts of the same mean. Bars of a rootogram hang from the expected frequencies. With the Poisson
# likelihood there are too many zeros and large counts (bars end below zero) and too few in between.
# Bars that end beyond the dashed lines, at plus and minus one, are two standard deviations off.

busy = rng.poisson(length * compute_rate(hour) * rng.gamma(2.0, 0.5, size=250))
figure, panels = plt.subplots(1, 2, figsize=(10.0, 3.6), sharey=True, layout="constrained")
for axes, likelihood in zip(panels, ("poisson", "auto"), strict=True):
    model = SparseBayesCountRegressor(likelihood=likelihood)
    model.fit(hour[:, None], busy, exposure=length)
    RootogramDisplay.from_estimator(model, hour[:, None], busy, exposure=length, ax=axes)
    chosen = model.likelihood_.replace("_", " ")
    selected = f": {chosen} selected" if likelihood == "auto" else ""
    axes.set_title(f'likelihood="{likelihood}"{selected}', fontsize=10)
    axes.set_xlabel("calls, in bins of two")
    density = model.log_predictive_density(hour[:, None], busy, exposure=length).mean()
    evidence = model.log_evidence_
    print(f"{model.likelihood_}: evidence {evidence:.0f} nats, mean log density {density:.2f}")
print(f"shape {model.shape_:.1f} (true: 2), gain {model.overdispersion_gain_:.0f} nats")
plt.show()
