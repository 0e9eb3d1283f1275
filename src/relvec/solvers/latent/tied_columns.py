"""Columns of groups of atoms, in coordinates in which each group has no more than its rank."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from relvec._typing import BoolArray, IndexArray, Matrix, Vector
from relvec.laplace.mode import find_mode
from relvec.solvers.latent.problem import LatentProblem, LatentState

__all__ = ["TiedColumns"]


@dataclass(frozen=True)
class _Rotation:
    """Part of a dictionary: atoms of one group, or with a flat prior, and their rotation."""

    atoms: IndexArray
    rotation: Matrix | None
    """Weights of the atoms are this matrix, with orthonormal columns, times those of the
    coordinates; None if they are the same."""


class TiedColumns:
    """Columns of all atoms, arranged by group, with bounds and initial values of log precisions.

    The prior of a group, ``N(0, I / alpha)``, is invariant to rotations of its weights. A group of
    at least as many atoms as rows is rotated into its principal components: directions without
    effect on the rows contribute nothing to the evidence and are left out.

    Parameters
    ----------
    problem : LatentProblem
        The problem.
    groups : ndarray of shape (n_atoms,)
        Group of each atom; -1 for a nearly flat prior.
    standardise : ndarray of bool of shape (n_atoms,)
        Atoms whose weights have the common precision after scaling them to unit variance over the
        rows; others have it as they are.
    """

    smoothness_power = 3.0
    """Initial prior variances fall with this power of the effective dimension of a group. The
    evidence often has two maxima, of which a group of smooth functions or a finer one explains the
    data. From equal variances one in ten of 50 searches (densities, log variances) ended up to 0.9
    nats below the best maximum, with this power none. Of 44 further problems it missed the best of
    five maxima in two, by up to 0.24 nats; equal variances did in three."""
    smallest_component = 1e-14
    """Principal components of a smaller share of the largest, in squares, are left out."""

    def __init__(self, problem: LatentProblem, groups: IndexArray, standardise: BoolArray) -> None:
        self.problem = problem
        columns = problem.dictionary.columns(np.arange(problem.dictionary.shape[1]))
        # Bounds are log(mean square of the centred column) - 2 log(largest_latent).
        least, _ = problem.bounds(columns)
        reach = 2.0 * np.log(problem.largest_latent or problem.likelihood.largest_latent)
        raw = np.log(np.maximum(np.mean(np.square(columns), axis=0), 1e-300))
        # Constant up to rounding: without effect beside the intercept, and undetermined. An
        # infinite minimum gain excludes atoms.
        usable = (least + reach > raw - 55.0) & np.isfinite(problem.min_gain)
        # The precision of a standardised atom is that of its group times its mean square.
        self.log_scale: Vector = np.where(standardise & usable, 0.5 * (least + reach), 0.0)
        columns, least = columns * np.exp(-self.log_scale), least - 2.0 * self.log_scale
        names = np.unique(groups[groups >= 0])
        self.n_groups = len(names)
        self.least = np.full(self.n_groups, np.inf)
        self.most, self.initial = self.least.copy(), self.least.copy()
        dimension = np.ones(self.n_groups)
        self._parts = [_Rotation(np.flatnonzero(usable & (groups < 0)), None)]
        blocks = [columns[:, self._parts[0].atoms]]
        for number, name in enumerate(names):
            atoms = np.flatnonzero(usable & (groups == name))
            block, rotation = columns[:, atoms], None
            if len(atoms):  # other groups are never in the model
                # No atom may exceed the bound on its prior standard deviation.
                self.least[number] = least[atoms].max()
                self.most[number] = self.least[number] + 30.0
                # Unit prior variance of the effect of the group, on average over the rows.
                self.initial[number] = np.logaddexp.reduce(least[atoms]) + reach
                if len(atoms) >= len(columns):
                    block, rotation = self._rotate(block)
                centred = block - block.mean(axis=0)
                inner = centred.T @ centred
                # (tr K)^2 / tr K^2 of the prior covariance of the effect: the number of principal
                # components if all have the same variance.
                dimension[number] = np.trace(inner) ** 2 / max(float(np.sum(inner**2)), 1e-300)
            self._parts.append(_Rotation(atoms, rotation))
            blocks.append(block)
        ratio = np.log(np.maximum(dimension, 1e-3))
        self.initial += self.smoothness_power * (ratio - ratio.mean() if len(ratio) else ratio)
        self.initial = np.clip(self.initial, self.least, self.most)
        self.columns: Matrix = np.hstack(blocks)
        sizes = [block.shape[1] for block in blocks]
        self.labels: IndexArray = np.repeat(np.arange(-1, self.n_groups), sizes)
        """Group of each column; -1 for a flat prior."""
        self.flat: Vector = np.zeros(len(self.labels))
        """Log precision of columns with a flat prior; zero for others."""
        self.flat[: sizes[0]] = least[self._parts[0].atoms]

    def _rotate(self, block: Matrix) -> tuple[Matrix, Matrix]:
        """Return the principal components of a group, and its rotation."""
        # K = Phi Phi' = U D^2 U': components U D, rotation V = Phi' U / D.
        squares, vectors = np.linalg.eigh(block @ block.T)
        kept = squares > self.smallest_component * squares[-1]
        size = np.sqrt(squares[kept])
        return vectors[:, kept] * size, block.T @ (vectors[:, kept] / size)

    def read_precisions(self, active: IndexArray, log_precision: Vector) -> Vector:
        """Return the log precisions of the groups of a warm start; infinite if not active."""
        theta = np.full(self.n_groups, np.inf)
        common = log_precision - 2.0 * self.log_scale[active]
        for number, part in enumerate(self._parts[1:]):
            values = common[np.isin(active, part.atoms)]
            if len(values):
                theta[number] = np.clip(values.mean(), self.least[number], self.most[number])
        return theta

    def expand(self, state: LatentState, theta: Vector) -> LatentState:
        """Return a state of these columns as one of the atoms of the problem."""
        used = [-1, *np.flatnonzero(np.isfinite(theta)).tolist()]
        parts = [self._parts[1 + number] for number in used]
        labels, weights = self.labels[state.active], state.mode.weights
        atoms, values, precisions = [], [], []
        for number, part in zip(used, parts, strict=True):
            own, inside = weights[: len(labels)][labels == number], state.log_precision
            atoms.append(part.atoms)
            values.append(own if part.rotation is None else part.rotation @ own)
            known = (
                inside[labels == number] if number < 0 else np.full(len(part.atoms), theta[number])
            )
            precisions.append(known)
        active = np.concatenate(atoms)
        order, log_scale = np.argsort(active), self.log_scale[active]
        raw = np.concatenate(values) * np.exp(-log_scale)
        start = np.append(raw[order], weights[len(labels) :])
        log_precision = (np.concatenate(precisions) + 2.0 * log_scale)[order]
        is_same = np.array_equal(order, np.arange(len(order))) and not log_scale.any()
        if is_same and all(part.rotation is None for part in parts):
            return LatentState(active, log_precision, state.mode, state.objective)
        mode = find_mode(
            self.problem.dictionary.columns(active[order]),
            log_precision,
            self.problem.likelihood,
            start,
            has_intercept=self.problem.has_intercept,
        )
        return LatentState(active[order], log_precision, mode, state.objective)
