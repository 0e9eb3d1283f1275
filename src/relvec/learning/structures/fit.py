"""Evidence of a structure, and its maximisation over variances, parameters and noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from relvec._linalg import inverse_diagonal_from_cholesky, solve_lower
from relvec._typing import BoolArray, Vector
from relvec.evidence import Factor, factorise, gaussian_objective
from relvec.kernels.expansions import Harmonics, Smooth
from relvec.learning.ascent import ascend
from relvec.learning.structures.columns import ColumnStore, Design
from relvec.learning.structures.structure import Component, Structure

__all__ = ["Evidence", "StructureFitter", "compute_evidence", "find_used_columns"]

NEGLIGIBLE_LOG_RATIO = math.log(1e-9)
"""Columns whose prior variance adds less than this share of the noise to the squared norm of the
targets are left out: together they change the evidence by less than 1e-7 nats."""


class Evidence(NamedTuple):
    """Log evidence and its derivatives."""

    value: float
    by_variance: Vector
    """Derivative in the log prior variance of each column."""
    by_noise: float
    """Derivative in the log noise variance."""


def find_used_columns(log_variance: Vector, log_noise: float) -> BoolArray:
    """Return which columns, of unit norm, have more than a negligible prior variance."""
    used: BoolArray = log_variance - log_noise > NEGLIGIBLE_LOG_RATIO
    return used


class _Factorised(NamedTuple):
    used: BoolArray
    noise: float
    factor: Factor
    whitened: Vector
    """``L^-1 Phi't`` with the Cholesky factor ``L`` of ``G + Lam``."""
    quadratic: float
    value: float
    """Log evidence."""


def _factorise(design: Design, log_variance: Vector, log_noise: float) -> _Factorised:
    used = find_used_columns(log_variance, log_noise)
    noise, lam = math.exp(log_noise), np.exp(log_noise - log_variance[used])
    factor = factorise(design.gram[np.ix_(used, used)], lam)
    whitened = solve_lower(factor.lower, design.correlation[used])
    quadratic = design.target_ss - float(whitened @ whitened)
    value = gaussian_objective(design.n_samples, quadratic, factor.log_det, noise)
    return _Factorised(used, noise, factor, whitened, quadratic, value)


def compute_evidence(design: Design, log_variance: Vector, log_noise: float) -> Evidence:
    """Compute the log evidence of prior variances ``v`` and noise variance, with derivatives.

    It is Tipping's (2001, eq. 36) with ``lam_j = sigma^2 / v_j``; see `relvec.evidence`. With the
    posterior mean ``mu`` and ``gamma_j = 1 - lam_j S_jj``::

        dL / d log v_j     = (mu_j^2 / v_j - gamma_j) / 2
        dL / d log sigma^2 = (|t - Phi mu|^2 / sigma^2 - N + sum_j gamma_j) / 2

    These are MacKay's statistics; the derivative in a variance that columns share is their sum.
    """
    used, noise, factor, whitened, quadratic, value = _factorise(design, log_variance, log_noise)
    mean = solve_lower(factor.lower, whitened, transposed=True)
    gamma = 1.0 - factor.lam * inverse_diagonal_from_cholesky(factor.lower)
    squares = factor.lam * mean**2 / noise
    by_variance = np.zeros(len(log_variance))
    by_variance[used] = 0.5 * (squares - gamma)
    # R = |t - Phi mu|^2 + mu' Lam mu, of which only the first term is the residual.
    by_noise = 0.5 * (
        quadratic / noise - float(squares.sum()) - design.n_samples + float(gamma.sum())
    )
    return Evidence(value, by_variance, by_noise)


class _Density(NamedTuple):
    """Normal prior density of a log parameter, and its bounds."""

    mean: float
    precision: float
    low: float
    high: float


@dataclass(frozen=True)
class StructureFitter:
    """Maximise the evidence of structures for one set of targets.

    Parameters
    ----------
    store : ColumnStore
        The rows.
    spacing : float
        Distance between neighbouring inputs, in scaled units; length-scales are at least twice it.
    """

    store: ColumnStore
    spacing: float
    noise_bounds: tuple[float, float] = (-12.0, 1.5)
    """Bounds of the log noise variance; targets have variance one. Equal bounds hold it."""

    variance_bounds = (-16.0, 7.0)
    """Bounds of log variances."""

    def fit(self, structure: Structure, max_iter: int) -> Structure:
        """Return the structure with the parameters of largest evidence times prior density."""
        design = self.store.design(structure)
        densities = self._list_densities(structure)
        means, precisions, low, high = np.array(densities).T
        places = np.cumsum([design.n_diffuse] + [c.product.n_columns for c in structure.components])

        def objective(vector: Vector) -> tuple[float, Vector] | None:
            trial = structure.with_vector(vector)
            found = compute_evidence(design, design.log_variances(trial), trial.log_noise)
            if not math.isfinite(found.value):
                return None
            slopes = [np.array([found.by_noise])]
            for component, start, end in zip(
                trial.components, places[:-1], places[1:], strict=True
            ):
                part = found.by_variance[start:end]
                slopes += [part.sum(keepdims=True), component.product.spectrum_slopes() @ part]
            away = vector - means
            value = found.value - 0.5 * float(precisions @ away**2)
            return value, np.concatenate(slopes) - precisions * away

        end = ascend(objective, structure.vector, np.array([low, high]), max_iter)
        away = end.vector - means
        log_evidence = end.value + 0.5 * float(precisions @ away**2)
        return structure.with_vector(end.vector).evaluated(log_evidence, end.value)

    def compute_log_evidence(self, structure: Structure) -> float:
        """Compute the log evidence at the parameters of a structure."""
        design = self.store.design(structure)
        log_variance = design.log_variances(structure)
        return _factorise(design, log_variance, structure.log_noise).value

    def _list_densities(self, structure: Structure) -> list[_Density]:
        """Return prior density and bounds of each parameter of a structure."""
        found = [_Density(0.0, 0.0, *self.noise_bounds)]
        for component in structure.components:
            found.append(_Density(0.0, 0.0, *self.variance_bounds))
            found += self._list_length_scales(component)
        return found

    def _list_length_scales(self, component: Component) -> list[_Density]:
        """Weak priors: ln l of smooth functions N(-1, 2^2), of periodic functions N(0, 1)."""
        found = []
        for factor in component.factors:
            if isinstance(factor, Smooth):
                # Shorter ones need more terms than there are.
                low = max(2.0 * self.spacing, 1.6 * factor.half_width / factor.n_terms)
                found.append(_Density(-1.0, 0.25, min(math.log(low), 1.2), 1.2))
            elif isinstance(factor, Harmonics):
                found.append(_Density(0.0, 1.0, -1.2, 1.6))
        return found
