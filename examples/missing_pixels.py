"""
A photograph with noise and missing pixels
==========================================

A tenth of the pixels is lost, and the rest has noise. The denoiser is told which pixels are missing
(they are NaN) and nothing else. It fills them in, takes the noise out, and says how uncertain every
pixel is. The photograph comes with scikit-learn.

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
lost = rng.random(photograph.shape) < 0.1
observed[lost] = np.nan

# %%
# The fit
# -------

denoiser = SmoothDenoiser().fit(observed)
error = denoiser.signal_ - photograph
print(f"noise added 15.0, found {np.mean(denoiser.noise_std_):.1f}")
print(
    f"error of the pixels that were seen {np.sqrt(np.mean(error[~lost] ** 2)):.1f}, "
    f"of those that were lost {np.sqrt(np.mean(error[lost] ** 2)):.1f}"
)
for name, rows in (("seen", ~lost), ("lost", lost)):
    share = np.mean(np.abs(error[rows]) <= 1.96 * denoiser.std_[rows])
    print(f"95 % bands hold {share:.1%} of the {name} pixels")

# %%
# The pictures
# ------------

figure, panels = plt.subplots(2, 2, figsize=(7.2, 7.2), layout="constrained")
grey = {"cmap": mpl.colormaps["gray"].with_extremes(bad="#c2410c"), "vmin": 0, "vmax": 255}
for axes, (title, image, options) in zip(
    panels.flat,
    (
        ("observed; lost pixels red", observed, grey),
        ("denoised and filled in", denoiser.signal_, grey),
        ("the truth", photograph, grey),
        ("standard deviation", denoiser.std_, {"cmap": "magma"}),
    ),
    strict=True,
):
    shown = axes.imshow(image, interpolation="nearest", **options)
    axes.set_title(title, fontsize=10, loc="left")
    axes.set(xticks=[], yticks=[])
figure.colorbar(shown, ax=panels[1, 1], shrink=0.8)
plt.show()
