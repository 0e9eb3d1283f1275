"""The smooth relevance vector machine under one orthonormal transform, in closed form.

With ``z`` a coefficient of the data, its posterior mean is ``z (1 - 1 / (z^2 / sigma^2 - 2 c))``
where that factor is positive, else zero. At ``c = 0`` this is the non-negative garrote with
threshold ``sigma`` (Schmolck 2008, chapter 2).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from relvec._typing import IndexArray, Vector
from relvec.denoising.frame import Array, Bands
from relvec.denoising.shifted_wavelets import WaveletFrame
from relvec.dictionaries.transform import CosineDictionary, TransformDictionary, WaveletDictionary
from relvec.solvers.gaussian.noise_profile import profile_objective
from relvec.solvers.gaussian.shrinkage import shrink, shrinkage

__all__ = ["PlainModel", "fit_plain", "make_dictionary"]


def make_dictionary(
    shape: tuple[int, ...], transform: str, level: int | None
) -> TransformDictionary:
    """Make the orthonormal dictionary of a wavelet, or of "cosine"."""
    if transform == "cosine":
        return CosineDictionary(shape)
    return WaveletDictionary(shape, transform, level)


@dataclass(frozen=True)
class PlainModel:
    """The posterior under one orthonormal dictionary.

    Every coefficient has its own precision, which maximises the log evidence (log marginal
    likelihood) minus `c` per effective degree of freedom.
    """

    dictionary: TransformDictionary
    """The orthonormal transform."""
    noise_variance: float
    """Variance of the noise."""
    c: float
    """Penalty per effective degree of freedom."""
    data: Vector
    """Coefficients of the data."""
    coefficients: Vector
    """Posterior means of the coefficients; most are zero."""

    @cached_property
    def relevance_(self) -> IndexArray:
        """Indices of the non-zero coefficients."""
        return np.flatnonzero(self.coefficients)

    @property
    def n_components_(self) -> int:
        """Number of non-zero coefficients."""
        return len(self.relevance_)

    @cached_property
    def shrinkage_(self) -> Vector:
        """Shrinkage factor ``kappa`` of each coefficient, between 0 and 1."""
        if self.noise_variance == 0.0:
            return (self.coefficients != 0.0).astype(np.float64)
        return shrinkage(self.data * self.data / self.noise_variance, self.c)

    @property
    def effective_dof_(self) -> float:
        """Effective degrees of freedom: the sum of the shrinkage factors."""
        if self.noise_variance == 0.0:
            return float(self.n_components_)
        kept = self.data[self.relevance_]
        return float(shrinkage(kept * kept / self.noise_variance, self.c).sum())

    @cached_property
    def objective_(self) -> float:
        """Maximised objective: log evidence minus `c` per effective degree of freedom.

        Infinite if the noise variance is zero.
        """
        if self.noise_variance == 0.0:
            return math.inf
        return profile_objective(self.noise_variance, self.data * self.data, self.c)

    @property
    def log_evidence_(self) -> float:
        """Log marginal likelihood of the data at the fitted precisions."""
        # objective = log evidence - c D.
        return self.objective_ + self.c * self.effective_dof_

    def mean(self) -> Array:
        """Posterior mean of the signal."""
        return self.dictionary.synthesise(self.coefficients)

    def variance(self) -> Array:
        """Posterior variance of every sample: ``sum_k atom_k(i)^2 * kappa_k * sigma^2``."""
        bands = self._as_bands(self.shrinkage_)
        if bands is not None:
            return self.noise_variance * bands[0].synthesise_variance(bands[1])
        # a general transform: synthesise the atoms that were kept, a block at a time
        kept = self.relevance_
        total = np.zeros(self.dictionary.shape[0])
        block = max(1, (1 << 22) // len(total))
        for start in range(0, len(kept), block):
            index = kept[start : start + block]
            # sum_k atom_k(i)^2 kappa_k; coefficients are independent for an orthonormal transform.
            total += np.square(self.dictionary.columns(index)) @ self.shrinkage_[index]
        return self.noise_variance * total.reshape(self.dictionary.grid_shape)

    def _as_bands(self, values: Vector) -> tuple[WaveletFrame, Bands] | None:
        """Arrange values as bands of a frame without shifts, if all axes halve evenly."""
        dictionary = self.dictionary
        if not isinstance(dictionary, WaveletDictionary):
            return None
        shape = dictionary.grid_shape
        coarsest = dictionary.subbands[0].shape
        levels = tuple(
            int(math.log2(size / left)) for size, left in zip(shape, coarsest, strict=True)
        )
        if any(
            left << level != size for size, left, level in zip(shape, coarsest, levels, strict=True)
        ):
            return None
        by_name = {
            (band.level, band.orientation): values[band.slice].reshape(1, *band.shape)
            for band in dictionary.subbands
        }
        frame = WaveletFrame(shape, dictionary.wavelet, levels, n_doublings=0)
        top = frame.layout[0][1]
        bands = [
            by_name[(0 if letters == top else level, letters)] for level, letters in frame.layout
        ]
        return frame, bands


def fit_plain(
    values: Array, dictionary: TransformDictionary, noise_variance: float, c: float
) -> PlainModel:
    """Fit the model: analyse the data and shrink every coefficient."""
    data = dictionary.analyse(values)
    coefficients, _ = shrink(data, noise_variance, c)
    return PlainModel(dictionary, noise_variance, c, data, coefficients)
