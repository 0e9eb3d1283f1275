"""
Penalties on degrees of freedom
===============================

Problem: a basis function unrelated to the target still increases the evidence (marginal likelihood)
in about one case of three. With a thousand wavelets or a hundred columns, a model then keeps much
noise. A smoothness prior has a penalty per effective degree of freedom: 1 nat (``"aic"``),
½ log n (``"bic"``), log n (``"ric"``), or any number. This example shows where a penalty reduces
the error, and where it only makes models smaller.

Run it with ``python examples/smoothness_priors.py``. It needs PyWavelets and matplotlib:
``pip install "relvec[wavelets,plot]"``.
"""

import matplotlib.pyplot as plt
import numpy as np

from relvec import RVMRegressor, SmoothDenoiser, SparseBayesRegressor
from relvec.bases import LinearBasis
from relvec.datasets import make_noisy_signal
from relvec.plotting import ShrinkageDisplay

MODEL, DATA = "#1f5a99", "0.45"
PRIORS = ("flat", "aic", "bic", "ric")

# %%
# Wavelets: as many basis functions as samples
# --------------------------------------------
# The plain model with one wavelet transform and a known noise level, so that only the penalty
# differs. Without a penalty, a third of the noise coefficients are kept.

data = make_noisy_signal("Bumps", 1024, snr=5, random_state=0)
figure, panels = plt.subplots(
    2, 2, figsize=(9.0, 5.0), sharex=True, sharey=True, layout="constrained"
)
print("RMSE in units of the noise standard deviation")
print(f"{'prior':8}{'wavelets kept':>15}{'RMSE':>8}")
for axes, prior in zip(panels.flat, PRIORS, strict=True):
    denoiser = SmoothDenoiser("plain", prior=prior, noise_std=data.noise_std).fit(data.noisy)
    error = np.sqrt(np.mean((denoiser.signal_ - data.clean) ** 2)) / data.noise_std
    print(f"{prior:8}{denoiser.model_.n_components_:15d}{error:8.2f}")
    axes.plot(data.x, data.noisy, color="0.8", lw=0.6)
    axes.plot(data.x, denoiser.signal_, color=MODEL, lw=1.0)
    axes.set_title(f'"{prior}": RMSE {error:.2f} of the noise', fontsize=10, loc="left")
    axes.spines[["top", "right"]].set_visible(False)

# %%
# Columns: five relevant ones among a hundred
# -------------------------------------------
# Means over twenty draws of 200 rows. ``min_gain=0`` switches off the minimum gain in log evidence
# that explicit columns need by default, so that only the prior decides. The last line is the
# default.

rng = np.random.default_rng(0)
kept = {name: [] for name in (*PRIORS, "default")}
for _ in range(20):
    columns = rng.normal(size=(200, 100))
    target = columns[:, :5] @ [1.0, 1.0, 0.5, 0.5, 0.3] + rng.normal(size=200)
    for name in kept:
        options = {} if name == "default" else {"prior": name, "min_gain": 0.0}
        found = SparseBayesRegressor(LinearBasis(), **options).fit(columns, target).relevance_
        kept[name].append(((found < 5).sum(), (found >= 5).sum()))
print(f"\n{'prior':8}{'relevant kept':>15}{'irrelevant kept':>17}")
for name, counts in kept.items():
    relevant, irrelevant = np.mean(counts, axis=0)
    print(f"{name:8}{relevant:13.1f}/5{irrelevant:14.1f}/95")

# %%
# Kernels: smaller models, no smaller errors
# ------------------------------------------
# Kernels overlap, so an unnecessary one does little harm. Here a penalty gives fewer relevance
# vectors and slightly larger errors; the length-scale matters more. Means over six draws of
# sin(x)/x with noise 0.2.

x = np.linspace(-10, 10, 128)[:, None]
truth = np.sinc(x[:, 0] / np.pi)
print(f"\n{'prior':8}{'gamma=2.0':>26}{'length-scale learnt':>26}")
for prior in PRIORS:
    row = []
    for options in ({"gamma": 2.0}, {}):
        fits = []
        for seed in range(6):
            y = truth + 0.2 * np.random.default_rng(seed).normal(size=128)
            model = RVMRegressor(prior=prior, **options).fit(x, y)
            error = np.sqrt(np.mean((model.predict(x) - truth) ** 2))
            fits.append((len(model.relevance_), error))
        row.append("{:5.1f} vectors, RMSE {:.3f}".format(*np.mean(fits, axis=0)))
    print(f"{prior:8}{row[0]:>26}{row[1]:>26}")

# %%
# The shrinkage rule
# ------------------
# In an orthonormal basis coefficients are independent, and the rule has a closed form: coefficients
# below a threshold are set to zero, larger ones are shrunk. Without a penalty it is the
# non-negative garrote. Soft and hard thresholding (Donoho & Johnstone 1994) are shown for
# comparison.

ShrinkageDisplay.from_priors(PRIORS, n_samples=1024)
plt.show()
