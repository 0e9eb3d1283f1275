"""Widths and centres of single kernels of a sparse model, moved along the gradient of the evidence.

With the contribution of all other basis functions in ``C``, and ``s = phi' C^-1 phi``, ``q = phi'
C^-1 t``, the log evidence of one basis function ``phi`` of precision ``alpha`` is (Tipping & Faul
2003)::

    l = (log alpha - log(alpha + s) + q^2 / (alpha + s)) / 2
    dl / dphi = (q C^-1 t - (1 + q^2 / (alpha + s)) C^-1 phi) / (alpha + s)

Without a restriction it leads to ``phi`` proportional to ``t``, which does not generalise (Lalchand
2017, chapter 5). Here ``phi`` remains a kernel, and the chain rule gives the derivatives in its
width and centre. `SparseEvidence` has the derivatives in all basis functions jointly.

A width is the factor of the length-scale of one kernel. At widths below the distance between
neighbouring inputs a kernel would give a single row a variance of its own, so they are bounded.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from sklearn.gaussian_process.kernels import Kernel

from relvec._typing import Matrix, Vector
from relvec.kernels import (
    ScaledInputs,
    center_gradient,
    kernel_block,
    log_scale_gradient,
    scale_features,
)
from relvec.learning.ascent import ascend
from relvec.learning.rows import measure_spacing
from relvec.learning.sparse_evidence import SparseEvidence
from relvec.solvers.gaussian.newton import THETA_MAX, THETA_MIN

__all__ = ["ATOM_MOVES", "AtomShape", "ShapeEvidence"]

ATOM_MOVES = ("widths", "centers", "both")
"""What may be moved."""


class AtomShape(NamedTuple):
    """One kernel with its own width and centre."""

    kernel: Kernel
    """Kernel of the scaled features."""
    scale: Vector
    """Input scale of each feature at width one."""
    center: Vector
    log_width: float = 0.0
    """Logarithm of the factor of its length-scale."""

    @classmethod
    def from_kernel(cls, kernel: Kernel, center: Vector) -> Self:
        """Return the shape of a kernel at a centre."""
        if isinstance(kernel, ScaledInputs):
            return cls(kernel.kernel, np.asarray(kernel.scale, dtype=np.float64), center)
        return cls(kernel, np.ones(len(center)), center)

    @property
    def widened_scale(self) -> Vector:
        """Input scales with the width: lengths are proportional to ``scale^(-1/2)``."""
        widened: Vector = self.scale * math.exp(-2.0 * self.log_width)
        return widened

    def evaluate(self, X: Matrix) -> Vector:
        """Evaluate the kernel at the rows of `X`."""
        scale = self.widened_scale
        inputs = scale_features(self.kernel, scale, X)
        center = scale_features(self.kernel, scale, self.center[None])
        column: Vector = kernel_block(self.kernel, inputs, center)[:, 0]
        return column

    def find_width_bounds(self, X: Matrix) -> tuple[float, float]:
        """Return bounds of the log width: the spacing of the inputs, and twice their diameter."""
        unit = float(np.min(getattr(self.kernel, "length_scale", math.sqrt(0.5))))
        inputs = scale_features(self.kernel, self.scale, X)
        spacing = measure_spacing(inputs) / unit
        diameter = float(np.linalg.norm(np.ptp(inputs, axis=0))) / unit
        # A kernel that is outside the bounds already may stay as it is.
        low = min(math.log(spacing), 0.0) if spacing > 0.0 else 0.0
        return low, max(math.log(2.0 * diameter), 0.0) if diameter > 0.0 else 0.0


class ShapeEvidence:
    """Evidence of a sparse model as a function of precisions, widths and centres.

    Parameters
    ----------
    evidence : SparseEvidence
        Evidence with kernels that may be moved first, then other atoms.
    shapes : sequence of AtomShape
        These kernels.
    moves : {"widths", "centers", "both"}
        What may be moved.
    """

    def __init__(self, evidence: SparseEvidence, shapes: Sequence[AtomShape], moves: str) -> None:
        self.evidence, self.shapes = evidence, tuple(shapes)
        self.has_widths, self.has_centers = moves != "centers", moves != "widths"
        X = evidence.X
        # Centres are moved in units of the range of each feature.
        self.low, high = X.min(axis=0), X.max(axis=0)
        self.unit = np.where(high > self.low, high - self.low, 1.0)

    def pack(self, theta: Vector, shapes: Sequence[AtomShape]) -> Vector:
        """Return log precisions, log widths and centres as one vector of numbers of order one."""
        parts = [theta]
        if self.has_widths:
            parts.append(np.array([shape.log_width for shape in shapes]))
        if self.has_centers:
            parts.append(np.ravel([(shape.center - self.low) / self.unit for shape in shapes]))
        return np.concatenate(parts)

    def unpack(self, vector: Vector) -> tuple[Vector, list[AtomShape]]:
        """Return log precisions and shapes of a vector."""
        n_atoms, n_shapes = self._n_atoms, len(self.shapes)
        shapes, place = list(self.shapes), n_atoms
        if self.has_widths:
            widths = vector[place : place + n_shapes].tolist()
            shapes = [each._replace(log_width=w) for each, w in zip(shapes, widths, strict=True)]
            place += n_shapes
        if self.has_centers:
            centers = vector[place:].reshape(n_shapes, -1) * self.unit + self.low
            shapes = [each._replace(center=c) for each, c in zip(shapes, centers, strict=True)]
        return vector[:n_atoms], shapes

    def evaluate(self, vector: Vector) -> tuple[float, Vector] | None:
        """Evaluate the objective and its gradient; None if they are numerically undefined."""
        theta, shapes = self.unpack(vector)
        X = self.evidence.X
        kernels = np.column_stack([shape.evaluate(X) for shape in shapes])
        found = self.evidence.evaluate_atoms(theta, kernels)
        if found is None:
            return None
        objective, by_theta, slope = found
        by_width, by_center = [], []
        for shape, E in zip(shapes, slope[:, : len(shapes)].T, strict=True):
            given = shape.kernel, shape.widened_scale, X, shape.center[None], E[:, None]
            if self.has_widths:
                # scale = width^-2 times a constant: d / d log width = -2 d / d log scale.
                by_width.append(-2.0 * log_scale_gradient(*given).sum())
            if self.has_centers:
                by_center.append(center_gradient(*given)[0] * self.unit)
        return objective, np.concatenate([by_theta, by_width, np.ravel(by_center)])

    def maximise(self, theta: Vector, max_iter: int) -> tuple[list[AtomShape], float]:
        """Maximise the objective over precisions and shapes; return shapes and rise.

        Parameters
        ----------
        theta : ndarray of shape (n_atoms,)
            Initial log precisions.
        max_iter : int
            Largest number of steps.
        """
        start, n_shapes = self.pack(theta, self.shapes), len(self.shapes)
        bounds = [np.tile([[THETA_MIN], [THETA_MAX]], len(theta))]
        if self.has_widths:
            widths = [shape.find_width_bounds(self.evidence.X) for shape in self.shapes]
            own = start[len(theta) : len(theta) + n_shapes]
            # Widths of an earlier round are inside, up to rounding.
            low, high = np.array(widths).T
            bounds.append(np.array([np.minimum(low, own), np.maximum(high, own)]))
        if self.has_centers:
            bounds.append(np.tile([[0.0], [1.0]], n_shapes * len(self.unit)))
        end = ascend(self.evaluate, start, np.hstack(bounds), max_iter)
        if not end.value > end.first:
            return list(self.shapes), 0.0
        return self.unpack(end.vector)[1], end.value - end.first

    @property
    def _n_atoms(self) -> int:
        return len(self.shapes) + self.evidence.others.shape[1]
