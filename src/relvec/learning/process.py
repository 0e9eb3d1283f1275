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

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from relvec._linalg import cholesky, inverse_from_cholesky, log_det_cholesky, solve_lower
from relvec._typing import Matrix, Vector
from relvec.kernels import (
    KernelLike,
    kernel_block,
    parameter_gradient,
    raw_scale_slope,
    scaled_inputs,
    takes_any_inputs,
)

__all__ = ["Process", "ProcessPoint"]


class ProcessPoint(NamedTuple):
    """The log evidence at one choice of parameters, and its derivatives."""

    log_evidence: float
    log_signal: float
    """Derivative in log g."""
    log_explicit: float
    """Derivative in log h."""
    scale: Vector
    """Derivative in the scales themselves; zero, unless asked for, where they are zero."""
    theta: Vector
    """Derivative in the log parameters of the kernel; empty unless asked for."""


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

    def __init__(
        self,
        X: Matrix,
        targets: Matrix,
        weight: Vector | None = None,
        explicit: Matrix | None = None,
    ) -> None:
        self.X = X
        self._scores: Vector | None = None
        n_samples = len(X)
        weight = np.ones(n_samples) if weight is None else weight
        self.n_contrasts = float(weight.sum()) - 1.0
        self.root = np.sqrt(weight)
        self.explicit: Matrix | None = None
        if explicit is not None and explicit.shape[1]:
            columns = explicit - np.average(explicit, axis=0, weights=weight)
            spread = np.sqrt(np.average(columns**2, axis=0, weights=weight))
            columns = columns[:, spread > 0.0] / spread[spread > 0.0]
            if columns.shape[1]:
                self.explicit = (columns * self.root[:, None]) @ (columns * self.root[:, None]).T
        centred = targets - np.average(targets, axis=0, weights=weight)
        spread = np.sqrt(np.average(centred**2, axis=0, weights=weight))
        # a constant target says nothing of scales
        self.targets = (centred / np.where(spread > 0.0, spread, 1.0))[:, spread > 0.0]
        self.targets = self.targets * self.root[:, None]

    def single_scores(self, compute: Callable[[Process], Vector]) -> Vector:
        """Return what single inputs are worth, computed once."""
        if self._scores is None:
            self._scores = compute(self)
        return self._scores

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to learn from."""
        return self.targets.shape[1] == 0 or self.n_contrasts < 2.0

    def at(
        self,
        kernel: KernelLike,
        scale: Vector,
        log_signal: float,
        log_explicit: float = 0.0,
        *,
        slopes: bool = True,
        parameters: bool = False,
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
        slopes : bool, default=True
            Whether to compute derivatives; else they are empty.
        parameters : bool, default=False
            Whether to differentiate in the parameters of the kernel as well.
        everywhere : bool, default=False
            Whether to differentiate in scales that are zero as well, which costs more.
        """
        inputs = scaled_inputs(kernel, scale, self.X)
        root = self.root
        values = kernel_block(kernel, inputs, inputs)
        signal, explicit = math.exp(log_signal), math.exp(log_explicit)
        B = values * np.multiply.outer(root * signal, root)
        B.flat[:: len(B) + 1] += 1.0
        if self.explicit is not None:
            B += explicit * self.explicit
        factor = cholesky(np.asfortranarray(B))
        if factor is None:
            return None
        n, n_targets = self.n_contrasts, self.targets.shape[1]
        white = solve_lower(factor, np.column_stack([root, self.targets]))
        total = float(white[:, 0] @ white[:, 0])
        along = white[:, 0] @ white[:, 1:]
        quadratic = np.einsum("ij,ij->j", white[:, 1:], white[:, 1:]) - along**2 / total
        if not (quadratic > 0.0).all():
            return None
        log_det = log_det_cholesky(factor) + math.log(total / float(root @ root))
        fit = n * float(np.log(quadratic / n).sum()) + n_targets * n
        value = -0.5 * (fit + n_targets * log_det)
        if not slopes:
            return ProcessPoint(value, 0.0, 0.0, np.empty(0), np.empty(0))
        inverse = inverse_from_cholesky(factor)
        ones = inverse @ root
        inverse -= np.multiply.outer(ones / total, ones)
        solved = inverse @ self.targets
        E = (n / quadratic * solved) @ solved.T - n_targets * inverse
        E *= 0.5
        of_explicit = 0.0
        if self.explicit is not None:
            of_explicit = explicit * float(np.einsum("ij,ij->", E, self.explicit))
        E *= np.multiply.outer(root * signal, root)
        of_signal = float(np.einsum("ij,ij->", E, values))
        by_scale = self._slopes(kernel, scale, E, everywhere)
        by_theta = np.empty(0)
        if parameters:
            by_theta = parameter_gradient(kernel, inputs, inputs, E)
        return ProcessPoint(value, of_signal, of_explicit, by_scale, by_theta)

    def _slopes(self, kernel: KernelLike, scale: Vector, E: Matrix, everywhere: bool) -> Vector:
        matters = scale > 0.0
        if everywhere or not takes_any_inputs(kernel) or matters.all() or not matters.any():
            return raw_scale_slope(kernel, scale, self.X, self.X, E)
        inside = self.X[:, matters]
        result = np.zeros(len(scale))
        result[matters] = raw_scale_slope(kernel, scale[matters], inside, inside, E)
        return result
