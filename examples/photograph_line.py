"""
Comparing kernels on a line of a photograph
===========================================

Problem: choose a kernel for data with smooth parts and sharp edges. The data are one column of
pixels of a photograph, from the sky down through a temple. Kernels differ in smoothness: Gaussian,
Matérn, Laplacian, linear and thin-plate splines. Every fifth pixel is held out to compare them.

Run it with ``python examples/photograph_line.py``. It needs matplotlib:
``pip install "relvec[plot]"``.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_image

from relvec import RVMRegressor, SparseBayesRegressor
from relvec.bases import WaveletBasis
from relvec.kernels import LinearSpline, ThinPlateSpline

MODEL, OTHER, DATA = "#1f5a99", "#c2410c", "0.45"

# %%
# Every fifth pixel is held out.

photograph = load_sample_image("china.jpg").mean(axis=2)
brightness = photograph[:384, 250:254].mean(axis=1).reshape(192, 2).mean(axis=1)
position = np.linspace(0.0, 10.0, 192)[:, None]
test = np.arange(192) % 5 == 2
noisy = brightness + 6.0 * np.random.default_rng(0).normal(size=192)

kernels = {
    "rbf": RVMRegressor(),
    "matern32": RVMRegressor("matern32"),
    "laplacian": RVMRegressor("laplacian"),
    "LinearSpline(3)": RVMRegressor(LinearSpline(3.0)),
    "ThinPlateSpline(3)": RVMRegressor(ThinPlateSpline(3.0)),
    'rbf, prior="bic"': RVMRegressor(prior="bic"),
}

figure, panels = plt.subplots(
    3, 2, figsize=(9.0, 7.2), sharex=True, sharey=True, layout="constrained"
)
print("length-scales of rbf, matern32 and laplacian are learnt")
print(f"{'':26}{'vectors':>8}{'noise':>8}{'RMSE on held-out pixels':>28}")
for axes, (name, model) in zip(panels.flat, kernels.items(), strict=True):
    model.fit(position[~test], noisy[~test])
    mean, std = model.predict(position, return_std=True)
    error = np.sqrt(np.mean((mean - brightness)[test] ** 2))
    print(f"{name:26}{len(model.relevance_):8d}{model.noise_variance_**0.5:8.1f}{error:28.1f}")
    axes.fill_between(
        position[:, 0], mean - 1.96 * std, mean + 1.96 * std, color=MODEL, alpha=0.18, lw=0
    )
    axes.plot(position, noisy, ".", color=DATA, ms=3)
    axes.plot(position, mean, color=MODEL, lw=1.6)
    rows = np.flatnonzero(~test)[model.relevance_]
    axes.plot(position[rows], noisy[rows], "o", mfc="none", mec=OTHER, ms=7, mew=1.2)
    axes.set_title(f"{name}: {len(rows)} vectors, RMSE {error:.1f}", fontsize=10, loc="left")
    axes.spines[["top", "right"]].set_visible(False)
figure.supxlabel("down the photograph", fontsize=10)
figure.supylabel("brightness; relevance vectors circled", fontsize=10)

# %%
# On a regular grid, Haar wavelets are an alternative that can represent jumps. Here they are fitted
# to all pixels, with the same noise.

haar = SparseBayesRegressor(WaveletBasis("haar", level=6), prior="bic", fit_intercept=False)
haar.fit(position, noisy)
print(f"Haar wavelets: {len(haar.coef_)} of 192 kept, noise {haar.noise_variance_**0.5:.1f}")
figure, axes = plt.subplots(figsize=(7.0, 3.2), layout="constrained")
axes.plot(position, noisy, ".", color=DATA, ms=3)
axes.step(position[:, 0], haar.predict(position), color=MODEL, lw=1.6, where="mid")
axes.set(xlabel="down the photograph", ylabel="brightness")
axes.spines[["top", "right"]].set_visible(False)
plt.show()
