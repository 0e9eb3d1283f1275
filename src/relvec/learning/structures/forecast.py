"""Predictions of the structures of a construction."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from relvec._linalg import limit_blas_threads
from relvec._typing import Matrix, Vector
from relvec.learning.structures.arbiter import Member
from relvec.learning.structures.columns import ColumnStore
from relvec.learning.structures.mixture import Normal, StructureMixture
from relvec.learning.structures.posterior import ColumnPosterior, KernelPosterior, Latent
from relvec.learning.structures.rows import OutputScaling, Scaling
from relvec.learning.structures.structure import Structure

__all__ = ["FittedMember", "Forecaster"]

MAX_EXACT_ROWS = 1000
"""Up to this number of rows predictions are those of the Gaussian process itself, which are exact
everywhere; with more, those of its columns, which are exact within their reach."""


class FittedMember:
    """A structure with its posterior.

    Parameters
    ----------
    member : Member
        The structure, and the training targets.
    U : ndarray of shape (n_samples, n_features)
        Scaled training inputs.
    weight : ndarray of shape (n_samples,) or None
        Frequency weights of the rows.
    """

    def __init__(self, member: Member, U: Matrix, weight: Vector | None) -> None:
        self.structure: Structure = member.structure
        self.output: OutputScaling = member.target.scaling
        self._rows = (U, member.target.values, weight) if len(U) <= MAX_EXACT_ROWS else None
        self._posterior: KernelPosterior | ColumnPosterior | None = None
        if self._rows is None:
            with limit_blas_threads(0.0):
                store = ColumnStore(U, member.target.values, weight)
                self._posterior = ColumnPosterior(self.structure, store)

    @classmethod
    def of_columns(cls, member: Member, U: Matrix, weight: Vector | None, min_gamma: float) -> Self:
        """Return the structure with the columns that the data determine, without the rows."""
        fitted = cls.__new__(cls)
        fitted.structure, fitted.output = member.structure, member.target.scaling
        with limit_blas_threads(0.0):
            store = ColumnStore(U, member.target.values, weight)
            fitted._posterior = ColumnPosterior(member.structure, store, min_gamma)
        fitted._rows = None
        return fitted

    def __getstate__(self) -> dict[str, Any]:
        # the posterior of a Gaussian process is many times larger than what it is computed from
        return self.__dict__ | ({} if self._rows is None else {"_posterior": None})

    @property
    def posterior(self) -> KernelPosterior | ColumnPosterior:
        """Posterior given all training rows, computed when it is first used."""
        if self._posterior is None:
            assert self._rows is not None
            self._posterior = KernelPosterior(self.structure, *self._rows)
        return self._posterior

    def predict(self, U: Matrix) -> Latent:
        """Predict the function, in standardised transformed units."""
        with limit_blas_threads(0.0):
            return self.posterior.predict(self._clip(U))

    def predict_components(self, U: Matrix) -> list[Latent]:
        """Predict each component, in standardised transformed units."""
        with limit_blas_threads(0.0):
            return self.posterior.predict_components(self._clip(U))

    def predict_sum(
        self, U: Matrix, places: Sequence[int], contrasts: Matrix | None = None
    ) -> Latent:
        """Predict the sum of some components, or contrasts of it: combinations of the rows."""
        with limit_blas_threads(0.0):
            return self.posterior.predict_sum(self._clip(U), places, contrasts)

    def predict_target(self, U: Matrix, *, include_noise: bool) -> Normal:
        """Return the predictive distribution of targets, or of the function without noise."""
        latent = self.predict(U)
        noise = math.exp(self.structure.log_noise) if include_noise else 0.0
        std = np.sqrt(np.maximum(latent.variance + noise, 1e-300))
        return Normal(self.output, latent.mean, std)

    def _clip(self, U: Matrix) -> Matrix:
        """Return inputs within the reach of the columns, if these are used."""
        if self._rows is not None:
            return U
        clipped = U.copy()
        for component in self.structure.components:
            for factor in component.factors:
                column = clipped[:, factor.feature]
                np.clip(column, *factor.reach, out=column)
        if (clipped != U).any():
            warnings.warn(
                "Some rows are so far outside the range of the training inputs that the basis "
                "functions do not reach them; they are predicted like the nearest inputs that are "
                f"reached. A model of at most {MAX_EXACT_ROWS} training rows has no such limit, "
                "unless it comes from sparse_model().",
                UserWarning,
                stacklevel=5,
            )
        return clipped


class Forecaster:
    """Average of the predictions of several structures.

    Parameters
    ----------
    members : sequence of FittedMember
        The structures.
    weights : ndarray of shape (n_members,)
        Their weights, positive, of sum one.
    scaling : Scaling
        Scaling of the inputs.
    """

    def __init__(self, members: list[FittedMember], weights: Vector, scaling: Scaling) -> None:
        self.members, self.weights, self.scaling = members, weights, scaling

    def predict(self, X: Matrix, *, include_noise: bool = True) -> StructureMixture:
        """Return the predictive distributions of targets, or of the function without noise."""
        U = self.scaling.apply(X)
        normals = [fitted.predict_target(U, include_noise=include_noise) for fitted in self.members]
        return StructureMixture(normals, self.weights)
