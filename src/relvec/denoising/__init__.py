"""Denoising by sparse Bayesian shrinkage of wavelet and cosine coefficients.

One orthonormal transform gives the smooth relevance vector machine in closed form (`plain`). The
default model adds translation invariance (`shifted_wavelets`, `shifted_cosines`), a common
precision for neighbouring coefficients (`group_shrinkage`) and a weighted mean of several
transforms (`blend`).
"""

from __future__ import annotations

from relvec.denoising.tuning import DenoisingTuning

__all__ = ["DenoisingTuning"]
