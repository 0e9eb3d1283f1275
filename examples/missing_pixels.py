"""
Denoising a photograph with missing pixels
==========================================

Problem: restore an image that has noise and missing pixels. A tenth of the pixels is missing (NaN),
and all others have white noise of unknown level. The denoiser interpolates the missing pixels,
removes the noise, and returns a standard deviation for every pixel. The photograph comes with
scikit-learn.

Run it with ``python examples/missing_pixels.py``. It needs PyWavelets and matplotlib:
``pip install "relvec[wavelets,plot]"``.
"""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_image

from relvec import SmoothDenoiser

photograph = (
    load_sample_image("flower.jpg")[100:356, 200:456]
    .mean(axis=2)
    .reshape(128, 2, 128, 2)
    .mean(axis=(1, 3))
)
rng = np.random.default_rng(0)
observed = photograph + 15.0 * rng.normal(size=photograph.shape)
missing = rng.random(photograph.shape) < 0.1
observed[missing] = np.nan

# %%
# The fit
# -------

denoiser = SmoothDenoiser().fit(observed)
error = denoiser.signal_ - photograph
print(f"noise 15.0, estimated {np.mean(denoiser.noise_std_):.1f}")
print(
    f"RMSE of observed pixels {np.sqrt(np.mean(error[~missing] ** 2)):.1f}, "
    f"of missing pixels {np.sqrt(np.mean(error[missing] ** 2)):.1f}"
)
for name, rows in (("observed", ~missing), ("missing", missing)):
    coverage = np.mean(np.abs(error[rows]) <= 1.96 * denoiser.std_[rows])
    print(f"95 % bands cover {coverage:.1%} of the {name} pixels")

# %%
# The images
# ----------

figure, panels = plt.subplots(2, 2, figsize=(7.2, 7.2), layout="constrained")
grey = {"cmap": mpl.colormaps["gray"].with_extremes(bad="#c2410c"), "vmin": 0, "vmax": 255}
for axes, (title, image, options) in zip(
    panels.flat,
    (
        ("observed; missing pixels red", observed, grey),
        ("denoised", denoiser.signal_, grey),
        ("truth", photograph, grey),
        ("standard deviation", denoiser.std_, {"cmap": "magma"}),
    ),
    strict=True,
):
    shown = axes.imshow(image, interpolation="nearest", **options)
    axes.set_title(title, fontsize=10, loc="left")
    axes.set(xticks=[], yticks=[])
figure.colorbar(shown, ax=panels[1, 1], shrink=0.8)
plt.show()
