"""Predictions of the structures of a construction."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from relvec._linalg import limit_blas_threads
from relvec._typing import Matrix, Vector
from relvec.learning.structures.arbiter import Member
from relvec.learning.structures.columns import ColumnStore
from relvec.learning.structures.mixture import Normal, StructureMixture
from relvec.learning.structures.posterior import ColumnPosterior, KernelPosterior, Latent
from relvec.learning.structures.rows import Scaling

__all__ = ["FittedMember", "Forecaster"]

MAX_EXACT_ROWS = 1000
"""Up to this number of rows predictions are those of the Gaussian process itself, which are exact
everywhere; with more, those of its columns, which are exact within their reach."""


class FittedMember:
    """A structure with the training rows, and its posterior, computed when it is first used."""

    def __init__(self, member: Member, U: Matrix, weight: Vector | None) -> None:
        self.member, self.U, self.weight = member, U, weight
        self._posterior: KernelPosterior | ColumnPosterior | None = None

    def __getstate__(self) -> dict[str, Any]:
        # the posterior is many times larger than what it is computed from
        return self.__dict__ | {"_posterior": None}

    @property
    def posterior(self) -> KernelPosterior | ColumnPosterior:
        """Posterior given all training rows."""
        if self._posterior is None:
            structure, values = self.member.structure, self.member.target.values
            if len(self.U) <= MAX_EXACT_ROWS:
                self._posterior = KernelPosterior(structure, self.U, values, self.weight)
            else:
                store = ColumnStore(self.U, values, self.weight)
                self._posterior = ColumnPosterior(structure, store)
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

    def _clip(self, U: Matrix) -> Matrix:
        """Return inputs within the reach of the columns, if these are used."""
        if len(self.U) <= MAX_EXACT_ROWS:
            return U
        clipped = U.copy()
        for component in self.member.structure.components:
            for factor in component.factors:
                column = clipped[:, factor.feature]
                np.clip(column, *factor.reach, out=column)
        if (clipped != U).any():
            warnings.warn(
                "Some rows are so far outside the range of the training inputs that the basis "
                "functions do not reach them; they are predicted like the nearest inputs that are "
                f"reached. Up to {MAX_EXACT_ROWS} training rows there is no such limit.",
                UserWarning,
                stacklevel=4,
            )
        return clipped


class Forecaster:
    """Average of the predictions of several structures."""

    def __init__(
        self,
        members: tuple[Member, ...],
        weights: Vector,
        scaling: Scaling,
        U: Matrix,
        row_weight: Vector | None,
    ) -> None:
        kept = weights > 0.0
        self.weights = weights[kept] / weights[kept].sum()
        self.scaling = scaling
        self.members = [
            FittedMember(member, U, row_weight)
            for member, is_kept in zip(members, kept, strict=True)
            if is_kept
        ]

    def predict(self, X: Matrix, *, include_noise: bool = True) -> StructureMixture:
        """Return the predictive distributions of targets, or of the function without noise."""
        U, normals = self.scaling.apply(X), []
        for fitted in self.members:
            latent = fitted.predict(U)
            noise = math.exp(fitted.member.structure.log_noise) if include_noise else 0.0
            std = np.sqrt(np.maximum(latent.variance + noise, 1e-300))
            normals.append(Normal(fitted.member.target, latent.mean, std))
        return StructureMixture(normals, self.weights)
