"""The evidence of a Gaussian process, as a function of the scales of its inputs.

A Gaussian process is the dense relative of a relevance vector machine: one weight at every
input, all of one prior variance. Its evidence is smooth in the scales, where that of a sparse model
jumps with every change of the active set, and it overfits less. With ``W`` the weights of rows,
``g`` the ratio of signal to noise and ``U`` explicit columns::

    B = I + W^1/2 (g K + h U U') W^1/2,     -2 log p = n log(t' P t) + log|B| + log(1' B^-1 1)

where ``P`` is the inverse of ``B`` with the intercept projected out: it has a flat prior. The noise
variance is maximised out; several targets share the scales, each with a noise of its own.
"""

from __future__ import annotations

import copy
import math
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from relvec._linalg import (
    cholesky,
    log_det_cholesky,
    lower_inverse,
    solve_cholesky,
    solve_lower,
)
from relvec._typing import BoolArray, Matrix, Vector
from relvec.kernels import (
    kernel_block,
    parameter_gradient,
    raw_scale_slope,
    scaled_inputs,
    takes_any_inputs,
)

__all__ = ["Process", "ProcessPoint"]

_NONE = np.empty(0)


class ProcessPoint(NamedTuple):
    """The log evidence at one choice of parameters, and its derivatives if they were asked for."""

    log_evidence: float
    log_signal: float = 0.0
    """Derivative in log g."""
    log_explicit: float = 0.0
    """Derivative in log h."""
    scale: Vector = _NONE
    """Derivative in the scales themselves; zero, unless asked for, where they are zero."""
    theta: Vector = _NONE
    """Derivative in the log parameters of the kernel, as far as they were given."""


class Process:
    """Data of a Gaussian process whose parameters are to be learnt.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Inputs.
    targets : ndarray of shape (n_samples, n_targets)
        What to explain, every column with a noise of its own.
    weight : ndarray of shape (n_samples,), default=None
        How often each row counts; all positive.
    explicit : ndarray of shape (n_samples, n_columns), default=None
        Columns that are in the model besides the kernels, with one prior variance for all.
    """

    signal_bounds = (-7.0, 20.0)
    """Of log g: beyond these there is no signal, or no noise."""
    max_rows = 500
    """Rows that are learnt from by default: the cost grows with their third power."""
    scale_factors: tuple[float, ...] = (0.5,)
    """Factors of the scales that are proposed to a sparse model, which needs few wider kernels."""
    noise, intercept_variance = 1.0, 0.0
    """What is added to the diagonal of the covariance, and to all of it."""
    weighs_covariance = True
    """Whether weights of rows are inverse variances of noise, rather than part of a likelihood."""

    def __init__(
        self,
        X: Matrix,
        targets: Matrix,
        weight: Vector | None = None,
        explicit: Matrix | None = None,
    ) -> None:
        self.X = X
        self.weight = np.ones(len(X)) if weight is None else weight
        self.n_contrasts = float(self.weight.sum()) - 1.0
        root = np.sqrt(self.weight)
        self.targets = _standardised(targets, self.weight) * root[:, None]
        self.is_empty = self.targets.shape[1] == 0 or self.n_contrasts < 2.0
        self.root = root if self.weighs_covariance else np.ones(len(X))
        self.is_weighted = bool((self.root != 1.0).any())
        self.explicit: Matrix | None = None
        columns = _NONE if explicit is None else _standardised(explicit, self.weight)
        if columns.size:
            self.explicit = (columns * self.root[:, None]) @ (columns * self.root[:, None]).T

    def ranked(self) -> Self:
        """Return the process of normal scores, the quantiles of the ranks of the targets."""
        root, ranked = np.sqrt(self.weight)[:, None], copy.copy(self)
        ranks = rankdata(self.targets / root, axis=0)
        ranked.targets = _standardised(ndtri((ranks - 0.5) / len(ranks)), self.weight) * root
        return ranked

    def evaluate(
        self,
        kernel: Any,
        scale: Vector,
        log_signal: float,
        log_explicit: float = 0.0,
        theta: Vector = _NONE,
        *,
        slopes: bool = True,
        everywhere: bool = False,
    ) -> ProcessPoint | None:
        """Evaluate the log evidence; None where it is numerically not defined.

        Parameters
        ----------
        kernel : Kernel or callable
            Kernel of inputs multiplied by the square roots of `scale`.
        scale : ndarray of shape (n_features,)
            Scales, zero for inputs that are left out.
        log_signal, log_explicit : float
            Logarithms of g and h.
        theta : ndarray, optional
            Log parameters of the kernel, if they are not its own.
        slopes : bool, default=True
            Whether to compute derivatives; else they are empty.
        everywhere : bool, default=False
            Whether to differentiate in scales that are zero as well, which costs more.
        """
        if len(theta):
            kernel = kernel.clone_with_theta(theta)
        inputs = scaled_inputs(kernel, scale, self.X)
        values = kernel_block(kernel, inputs, inputs)
        # symmetric matrices, all in Fortran order: passes over mixed orders take twice as long
        weighting: Matrix | float = math.exp(log_signal)
        if self.weighs_covariance and self.is_weighted:
            weighting = np.multiply.outer(self.root * weighting, self.root).T
        covariance = values * weighting
        covariance.flat[:: len(covariance) + 1] += self.noise
        if self.intercept_variance:
            covariance += self.intercept_variance
        if self.explicit is not None:
            covariance += math.exp(log_explicit) * self.explicit
        found = self._evidence(covariance, slopes)
        if found is None:
            return None
        value, E = found
        if E is None:
            return ProcessPoint(value)
        explicit_slope = 0.0
        if self.explicit is not None:
            explicit_slope = math.exp(log_explicit) * float(np.einsum("ij,ij->", E, self.explicit))
        E *= weighting
        return ProcessPoint(
            value,
            float(np.einsum("ij,ij->", E, values)),
            explicit_slope,
            self._scale_slopes(kernel, scale, E, values, everywhere),
            parameter_gradient(kernel, inputs, inputs, E) if len(theta) else _NONE,
        )

    def _evidence(self, covariance: Matrix, slopes: bool) -> tuple[float, Matrix | None] | None:
        """Log evidence, and on request its derivative in the entries of the covariance.

        The derivative is to be summed against symmetric matrices: the one of an entry below the
        diagonal may stand for both of its kind. The covariance is overwritten.
        """
        root, n, n_targets = self.root, self.n_contrasts, self.targets.shape[1]
        factor = cholesky(np.asfortranarray(covariance), overwrite=True)
        if factor is None:
            return None
        both = np.asfortranarray(np.column_stack([root, self.targets]))
        white = solve_lower(factor, both)
        total = float(white[:, 0] @ white[:, 0])
        along = white[:, 0] @ white[:, 1:]
        quadratic = np.einsum("ij,ij->j", white[:, 1:], white[:, 1:]) - along**2 / total
        if not (quadratic > 0.0).all():
            return None
        log_det = log_det_cholesky(factor) + math.log(total / float(root @ root))
        fit = n * float(np.log(quadratic / n).sum()) + n_targets * n
        value = -0.5 * (fit + n_targets * log_det)
        if not slopes:
            return value, None
        solved = solve_cholesky(factor, both)
        solved[:, 1:] -= np.multiply.outer(solved[:, 0], along / total)
        share = np.concatenate([[n_targets / total], n / quadratic])
        E = (solved @ (0.5 * share * solved).T).T
        E -= lower_inverse(factor, float(n_targets))
        return value, E

    def _scale_slopes(
        self, kernel: Any, scale: Vector, E: Matrix, values: Matrix, everywhere: bool
    ) -> Vector:
        """Sum E over the derivatives of the kernel, at zero scales only where asked for."""
        is_relevant: BoolArray = scale > 0.0
        if everywhere or is_relevant.all() or not is_relevant.any() or not takes_any_inputs(kernel):
            return raw_scale_slope(kernel, scale, self.X, self.X, E, values)
        result = np.zeros(len(scale))
        inside = self.X[:, is_relevant]
        result[is_relevant] = raw_scale_slope(kernel, scale[is_relevant], inside, inside, E, values)
        return result


def _standardised(columns: Matrix, weight: Vector) -> Matrix:
    """Columns of mean zero and variance one; those that are constant say nothing."""
    centred = columns - np.average(columns, axis=0, weights=weight)
    spread = np.sqrt(np.average(centred**2, axis=0, weights=weight))
    result: Matrix = (centred / np.where(spread > 0.0, spread, 1.0))[:, spread > 0.0]
    return result
