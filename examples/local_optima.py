"""
Local optima of the evidence
============================

Problem: the evidence (marginal likelihood) of a sparse model has many local optima, so a fit can
depend on the order of its steps. Forty runs that update basis functions in random order end with
different basis functions and different evidence. The default solver compares several
initialisations and lists the optima it found. Both are compared on data with a known truth.

Run it with ``python examples/local_optima.py``. It needs matplotlib:
``pip install "relvec[plot]"``.
"""

import matplotlib.pyplot as plt
import numpy as np

from relvec import RVMRegressor, explore_optima
from relvec.kernels import LinearSpline
from relvec.plotting import OptimaDisplay

MODEL, OTHER, DATA = "#1f5a99", "#c2410c", "0.45"

rng = np.random.default_rng(0)
x = np.linspace(-10, 10, 50)
truth = np.sinc(x / np.pi)
y = truth + 0.07 * rng.normal(size=50)
estimator = RVMRegressor(LinearSpline(3.0), prior="aic")

# %%
# Forty runs in random order
# --------------------------

report = explore_optima(estimator, x[:, None], y, n_runs=40, truth=truth, random_state=0)
print(report.summary())
OptimaDisplay.from_report(report)

# %%
# The optima of the default solver
# --------------------------------
# ``effort`` sets how many initialisations are compared; ``candidates_`` lists the local optima,
# best first. A higher objective does not always mean a smaller error.

for effort in ("fast", "balanced", "thorough"):
    model = RVMRegressor(LinearSpline(3.0), prior="aic", effort=effort).fit(x[:, None], y)
    error = np.mean((model.predict(x[:, None]) - truth) ** 2)
    print(
        f"{effort:9} objective {model.objective_:7.3f}, {len(model.relevance_)} vectors, "
        f"mean squared error {error:.6f}"
    )
for candidate in model.candidates_[:5]:
    print(f"  {candidate.start:30}{candidate.objective:9.3f}{candidate.n_active:4d} vectors")

line = np.linspace(-10, 10, 600)[:, None]
figure, axes = plt.subplots(figsize=(7.0, 3.6), layout="constrained")
axes.plot(x, y, ".", color=DATA)
axes.plot(line, np.sinc(line / np.pi), color=DATA, lw=1.2, ls="--", label="truth")
axes.plot(line, model.predict(line), color=MODEL, lw=1.8, label="best optimum")
axes.plot(
    x[model.relevance_],
    y[model.relevance_],
    "o",
    mfc="none",
    mec=OTHER,
    ms=9,
    mew=1.4,
    label="relevance vectors",
)
axes.set(xlabel="x", ylabel="y")
axes.spines[["top", "right"]].set_visible(False)
axes.legend(frameon=False, fontsize=9)
plt.show()
