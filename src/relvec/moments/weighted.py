"""Moments for sample weights that change at every step, as in the Laplace approximation."""

from __future__ import annotations

import numpy as np

from relvec._typing import IndexArray, Matrix, Vector
from relvec.dictionaries.base import Dictionary
from relvec.moments.base import Moments, resolved_target_ss
from relvec.moments.columns import compute_column_scales

__all__ = ["WeightedMoments"]


class WeightedMoments(Moments):
    """Moments of a working response, of which only a few Gram rows will be needed.

    One matrix product with all atoms gives their means and correlations together with the Gram
    rows of the active atoms; further rows cost one product per request. Nothing is stored between
    steps.

    Parameters
    ----------
    dictionary : Dictionary
        The raw atoms.
    target : ndarray of shape (n_samples,)
        Working response.
    weight : ndarray of shape (n_samples,)
        Weights of the samples: the curvature of the log likelihood.
    centre : bool
        Whether the model has an intercept.
    active : ndarray of shape (k,)
        Atoms whose Gram rows are needed.
    """

    def __init__(
        self,
        dictionary: Dictionary,
        target: Vector,
        weight: Vector,
        *,
        centre: bool,
        active: IndexArray,
    ) -> None:
        self.dictionary = dictionary
        self.weight = weight
        # Sum of the curvatures B_nn of the log likelihood (Tipping 2001, eq. 25), in the place of
        # the number of observations of a regression on the working response.
        total = float(weight.sum())
        self.target_mean = float(weight @ target) / total if centre else 0.0
        centred = target - self.target_mean
        self.active = active
        atoms = dictionary.columns(active)
        # Right-hand sides of one product Phi' B [1, t, Phi_a]: means, correlations and Gram rows.
        sides = np.column_stack([weight, weight * centred, weight[:, None] * atoms])
        products = dictionary.rmatmat(sides)
        mean = products[:, 0] / total if centre else np.zeros(dictionary.shape[1])
        raw_ss = dictionary.sq_norms(weight)
        # A difference of sums: `raw_ss` is passed on so that its cancellation enters the
        # resolution.
        centred_ss = np.maximum(raw_ss - total * mean * mean, 0.0)
        scales = compute_column_scales(mean, centred_ss, total, raw_ss)
        self.usable, self.resolution = scales.usable, scales.resolution
        self.column_mean, self.column_norm = mean, scales.norm
        self._unit = self.usable / scales.norm
        # The target is centred, so the means of the atoms drop out of Phi' B t.
        self.correlation = products[:, 1] * self._unit
        self.target_ss = resolved_target_ss(
            float(weight @ (centred * centred)), self.target_mean, total
        )
        self.n_effective = total - float(centre)
        self._total = total
        self._rows = self._scaled(products[:, 2:].T, active)

    def _scaled(self, products: Matrix, index: IndexArray) -> Matrix:
        """Turn raw inner products with the atoms `index` into Gram rows."""
        # sum b (x - m_x)(y - m_y) = sum b x y - (sum b) m_x m_y.
        offset = np.multiply.outer(self._total * self.column_mean[index], self.column_mean)
        rows = (products - offset) * np.multiply.outer(self._unit[index], self._unit)
        # The diagonal is one by definition; the difference above has rounding errors.
        rows[np.arange(len(index)), index] = self.usable[index]
        return rows

    def fetch(self, index: IndexArray) -> None:
        """Compute the Gram rows of atoms that are not active."""
        missing = np.setdiff1d(index, self.active)
        if len(missing):
            sides = self.weight[:, None] * self.dictionary.columns(missing)
            rows = self._scaled(self.dictionary.rmatmat(sides).T, missing)
            self.active = np.concatenate([self.active, missing])
            self._rows = np.concatenate([self._rows, rows])

    def gram_rows(self, index: IndexArray) -> Matrix:
        """Return Gram rows, computing those that are missing."""
        self.fetch(index)
        order = np.argsort(self.active, kind="stable")
        return self._rows[order[np.searchsorted(self.active, index, sorter=order)]]

    def gram(self, index: IndexArray) -> Matrix:
        """Return a block of the Gram matrix."""
        return self.gram_rows(index)[:, index]
