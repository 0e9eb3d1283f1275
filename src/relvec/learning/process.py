"""Evidence of a Gaussian process, as a function of its input scales.

A Gaussian process is the dense counterpart of a relevance vector machine. Its evidence (marginal
likelihood; Rasmussen & Williams 2006, eq. 5.8) is smooth in the input scales, whereas that of a
sparse model jumps with every change of the active set, and it overfits less. With ``W`` the weights
of the rows, ``g`` the signal-to-noise ratio, ``U`` explicit columns with the variance ratio ``h``,
and the noise variance maximised out::

    B = I + W^1/2 (g K + h U U') W^1/2,     -2 log p = n log(t' P t) + log|B| + log(1' B^-1 1)

where ``P`` is the inverse of ``B`` with the intercept projected out. The intercept has a flat prior
(Rasmussen & Williams 2006, section 2.7), which adds the last term. Several targets share the
scales; each has its own noise variance.
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
    accepts_any_n_features,
    kernel_block,
    parameter_gradient,
    raw_scale_gradient,
    scale_features,
)

__all__ = ["Process", "ProcessPoint"]

_NONE = np.empty(0)


class ProcessPoint(NamedTuple):
    """Log evidence at given parameters and, on request, its derivatives."""

    log_evidence: float
    log_signal: float = 0.0
    """Derivative in log g."""
    log_explicit: float = 0.0
    """Derivative in log h."""
    scale: Vector = _NONE
    """Derivative in the scales (not their logarithms); zero at zero scales, unless requested."""
    theta: Vector = _NONE
    """Derivative in the log parameters of the kernel, if they were given."""


class Process:
    """Data of a Gaussian process whose parameters are to be learnt.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Inputs.
    targets : ndarray of shape (n_samples, n_targets)
        Targets, each with its own noise variance.
    weight : ndarray of shape (n_samples,), default=None
        Frequency weights of the rows; all positive.
    explicit : ndarray of shape (n_samples, n_columns), default=None
        Columns that are in the model in addition to the kernels, with one common prior variance.
    """

    signal_bounds = (-7.0, 20.0)
    """Bounds of log g: beyond them there is no signal, or no noise."""
    max_rows = 500
    """Default number of rows for learning; the cost grows with their third power."""
    scale_factors: tuple[float, ...] = (0.5,)
    """Ratios of the input scales of candidate sparse models to those of the process. Below one,
    length-scales are longer and fewer kernels suffice."""
    noise, intercept_variance = 1.0, 0.0
    """Constants added to the diagonal of the covariance, and to all its entries."""
    weighs_covariance = True
    """Whether row weights are inverse noise variances, rather than part of a likelihood."""

    def __init__(
        self,
        X: Matrix,
        targets: Matrix,
        weight: Vector | None = None,
        explicit: Matrix | None = None,
    ) -> None:
        self.X = X
        self.weight = np.ones(len(X)) if weight is None else weight
        # The flat prior of the intercept leaves n - 1 contrasts (REML; docs/notation.md).
        self.n_contrasts = float(self.weight.sum()) - 1.0
        root = np.sqrt(self.weight)
        # A row of frequency weight w acts as one of noise variance sigma^2 / w; the factor makes
        # the noise white.
        self.targets = _standardised(targets, self.weight) * root[:, None]
        self.is_empty = self.targets.shape[1] == 0 or self.n_contrasts < 2.0
        self.root = root if self.weighs_covariance else np.ones(len(X))
        self.is_weighted = bool((self.root != 1.0).any())
        self.explicit: Matrix | None = None
        columns = _NONE if explicit is None else _standardised(explicit, self.weight)
        if columns.size:
            self.explicit = (columns * self.root[:, None]) @ (columns * self.root[:, None]).T

    @classmethod
    def affordable_rows(cls, n_targets: int) -> int:
        """Return how many rows are shown, however many targets there are."""
        return cls.max_rows

    def compute_min_gain(self, n_parameters: int) -> float:
        """Compute the minimum gain in log evidence of a kernel, for parameters and variance.

        It is ``log(n) / 2`` per parameter, as in BIC, and at least one nat: a parameter fitted to
        pure noise from several initialisations gains more than half a nat.
        """
        return max(1.0, 0.5 * math.log(self.n_contrasts)) * (1.0 + n_parameters)

    def ranked(self) -> Self:
        """Return the process with the targets replaced by their normal scores."""
        root, ranked = np.sqrt(self.weight)[:, None], copy.copy(self)
        # Normal scores Phi^-1((rank - 1/2) / n): an outlier is no farther than its rank implies.
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
        """Evaluate the log evidence; None if it is numerically undefined.

        Parameters
        ----------
        kernel : Kernel or callable
            Kernel of features multiplied by the square roots of `scale`.
        scale : ndarray of shape (n_features,)
            Input scales; zero for features that are left out.
        log_signal, log_explicit : float
            Logarithms of g and h.
        theta : ndarray, optional
            Log parameters of the kernel, if they differ from its own.
        slopes : bool, default=True
            Whether to compute derivatives.
        everywhere : bool, default=False
            Whether to compute derivatives in zero scales as well, which costs more.
        """
        if len(theta):
            kernel = kernel.clone_with_theta(theta)
        inputs = scale_features(kernel, scale, self.X)
        values = kernel_block(kernel, inputs, inputs)
        # All symmetric matrices are in Fortran order: mixed orders would take twice as long.
        weighting = self.weight_signal(log_signal)
        found = self.compute_evidence(values * weighting, log_explicit, slopes=slopes)
        if found is None:
            return None
        value, E, explicit_slope = found
        if E is None:
            return ProcessPoint(value)
        # Chain rule through B = I + g W^1/2 K W^1/2: E becomes g times the derivative in K, so that
        # its sum with K is the derivative in log g.
        E *= weighting
        return ProcessPoint(
            value,
            float(np.einsum("ij,ij->", E, values)),
            explicit_slope,
            self._scale_slopes(kernel, scale, E, values, everywhere),
            parameter_gradient(kernel, inputs, inputs, E) if len(theta) else _NONE,
        )

    def weight_signal(self, log_signal: float) -> Matrix | float:
        """Return what a kernel matrix is multiplied by: signal and root weights of the rows."""
        if self.weighs_covariance and self.is_weighted:
            weighting: Matrix = np.multiply.outer(self.root * math.exp(log_signal), self.root).T
            return weighting
        return math.exp(log_signal)

    def compute_evidence(
        self, covariance: Matrix, log_explicit: float, *, slopes: bool
    ) -> tuple[float, Matrix | None, float] | None:
        """Compute the log evidence, its derivative in the covariance, and that in log h.

        Parameters
        ----------
        covariance : ndarray of shape (n_samples, n_samples)
            Covariance of the kernels in units of the noise variance, ``g W^1/2 K W^1/2``; it is
            overwritten.
        log_explicit : float
            Logarithm of h.
        slopes : bool
            Whether to compute derivatives; None and zero otherwise.
        """
        # In a regression g W^1/2 K W^1/2 + I, in units of the noise variance (maximised out).
        covariance.flat[:: len(covariance) + 1] += self.noise
        if self.intercept_variance:
            covariance += self.intercept_variance
        if self.explicit is not None:
            covariance += math.exp(log_explicit) * self.explicit
        found = self._evidence(covariance, slopes)
        if found is None:
            return None
        value, E = found
        if E is None or self.explicit is None:
            return value, E, 0.0
        # d/d log h of h U U' is h U U'.
        return value, E, math.exp(log_explicit) * float(np.einsum("ij,ij->", E, self.explicit))

    def _evidence(self, covariance: Matrix, slopes: bool) -> tuple[float, Matrix | None] | None:
        """Compute the log evidence and, on request, its derivative ``E`` in the covariance.

        ``E = (a a' n / R - P) / 2`` with ``a = P t`` and ``R = t' P t`` (Rasmussen & Williams 2006,
        eq. 5.9, with the noise maximised out). It is meant for sums against symmetric matrices: an
        entry below the diagonal may stand for both entries. The covariance is overwritten.
        """
        root, n, n_targets = self.root, self.n_contrasts, self.targets.shape[1]
        factor = cholesky(np.asfortranarray(covariance), overwrite=True)
        if factor is None:
            return None
        # Weighted constant and targets are whitened together by one triangular solve.
        both = np.asfortranarray(np.column_stack([root, self.targets]))
        white = solve_lower(factor, both)
        # 1' B^-1 1, and below it t' P t = t' B^-1 t - (1' B^-1 t)^2 / (1' B^-1 1): least squares of
        # the intercept (R&W 2006, eq. 2.45).
        total = float(white[:, 0] @ white[:, 0])
        along = white[:, 0] @ white[:, 1:]
        quadratic = np.einsum("ij,ij->j", white[:, 1:], white[:, 1:]) - along**2 / total
        # The difference cancels if the constant explains a target: no digits are left.
        if not (quadratic > 0.0).all():
            return None
        # log|B| + log(1' B^-1 1): the second term is from the flat prior of the intercept.
        log_det = log_det_cholesky(factor) + math.log(total / float(root @ root))
        # At the maximum sigma^2 = R / n the quadratic term R / sigma^2 is the constant n.
        fit = n * float(np.log(quadratic / n).sum()) + n_targets * n
        value = -0.5 * (fit + n_targets * log_det)
        if not slopes:
            return value, None
        solved = solve_cholesky(factor, both)
        # P t = B^-1 t - B^-1 1 (1' B^-1 t) / (1' B^-1 1).
        solved[:, 1:] -= np.multiply.outer(solved[:, 0], along / total)
        # -d log(1' B^-1 1) / dB = B^-1 1 1' B^-1 / (1' B^-1 1), which turns B^-1 into P in `E`.
        share = np.concatenate([[n_targets / total], n / quadratic])
        E = (solved @ (0.5 * share * solved).T).T
        # Half of n_targets B^-1 in total: sums against symmetric matrices need one triangle only.
        E -= lower_inverse(factor, float(n_targets))
        return value, E

    def _scale_slopes(
        self, kernel: Any, scale: Vector, E: Matrix, values: Matrix, everywhere: bool
    ) -> Vector:
        """Sum ``E`` times the derivative of the kernel in each scale."""
        is_relevant: BoolArray = scale > 0.0
        if (
            everywhere
            or is_relevant.all()
            or not is_relevant.any()
            or not accepts_any_n_features(kernel)
        ):
            return raw_scale_gradient(kernel, scale, self.X, self.X, E, values)
        result = np.zeros(len(scale))
        # Derivatives in zero scales are not needed, and each feature costs a pass over E.
        inside = self.X[:, is_relevant]
        result[is_relevant] = raw_scale_gradient(
            kernel, scale[is_relevant], inside, inside, E, values
        )
        return result


def _standardised(columns: Matrix, weight: Vector) -> Matrix:
    """Standardise columns to mean zero and variance one; drop constant columns."""
    centred = columns - np.average(columns, axis=0, weights=weight)
    spread = np.sqrt(np.average(centred**2, axis=0, weights=weight))
    # The mean of equal numbers need not be exactly that number, so the spread alone does not tell.
    varies = (spread > 0.0) & (np.ptp(columns, axis=0) > 0.0)
    result: Matrix = (centred / np.where(varies, spread, 1.0))[:, varies]
    return result
