"""Principal components of groups of atoms, from moments alone."""

from __future__ import annotations

from itertools import pairwise, starmap

import numpy as np

from relvec._typing import BoolArray, IndexArray, Matrix, Vector
from relvec.moments.base import Moments

__all__ = ["GroupComponents"]


class GroupComponents:
    """Moments of the principal components of each group, which are orthonormal within it.

    The prior of a group, ``N(0, I / alpha)``, is invariant to rotations of its weights. So the
    evidence depends on the components of non-zero variance only, of which a dictionary of smooth
    kernels has far fewer than atoms.

    Parameters
    ----------
    moments : Moments
        Moments of all atoms.
    groups : ndarray of shape (n_atoms,)
        Group of each atom; -1 for a nearly flat prior.
    standardise : ndarray of bool of shape (n_atoms,)
        Atoms whose weights have the common precision after scaling them to unit norm; others have
        it as they are.
    """

    smallest_component = 1e-13
    """Components of a smaller share of the largest variance are rounding errors."""
    flat_log_lam = float(np.log(1e-6))
    """Log precision of atoms with a flat prior, of unit norm and in units of the noise: a prior
    standard deviation of 1000 times the standard error of their weights."""

    def __init__(self, moments: Moments, groups: IndexArray, standardise: BoolArray) -> None:
        usable = np.flatnonzero(moments.usable)
        names = np.unique(groups[groups >= 0])
        self.n_groups = len(names)
        self.atoms: list[IndexArray] = [usable[groups[usable] == name] for name in (-1, *names)]
        """Atoms of a flat prior, then those of each group."""
        self.log_scale = np.zeros(moments.n_atoms)
        """Log of the norm of each atom, relative to the mean square of its group."""
        rotations, variances = [], []
        for number, atoms in enumerate(self.atoms):
            if not number or not len(atoms):
                rotations.append(np.eye(len(atoms)))
                variances.append(np.ones(len(atoms)))
                continue
            norm = np.where(standardise[atoms], 1.0, moments.column_norm[atoms])
            scale = norm / np.sqrt(np.mean(norm**2))
            self.log_scale[atoms] = np.log(scale)
            gram = moments.gram(atoms) * np.multiply.outer(scale, scale)
            variance, vectors = np.linalg.eigh(gram)
            kept = variance > self.smallest_component * variance[-1]
            # Components of unit norm: scaled atoms times these columns.
            rotations.append(scale[:, None] * (vectors[:, kept] / np.sqrt(variance[kept])))
            variances.append(variance[kept])
        order = np.concatenate(self.atoms)
        full = moments.gram(order)
        places = np.cumsum([0, *map(len, self.atoms)])
        parts = list(zip(rotations, starmap(slice, pairwise(places)), strict=True))
        self.gram: Matrix = np.block(
            [
                [left.T @ full[rows, columns] @ right for right, columns in parts]
                for left, rows in parts
            ]
        )
        correlation = moments.correlation
        self.correlation: Vector = np.concatenate(
            [correlation[atoms] @ each for atoms, each in zip(self.atoms, rotations, strict=True)]
        )
        self.labels: IndexArray = np.repeat(
            np.arange(-1, self.n_groups), [len(each) for each in variances]
        )
        self.log_variance: Vector = np.log(np.concatenate(variances))
        """Log variance of each component: its log precision is that of the group less this."""
        self.log_variance[self.labels < 0] = -self.flat_log_lam
        self.total = np.array([each.sum() for each in variances[1:]])
        """Sum of the variances of each group."""
        squares = np.array([np.sum(each**2) for each in variances[1:]])
        self.dimension = self.total**2 / np.maximum(squares, 1e-300)
        """Effective dimension of each group."""

    def find_start(self, total: float, power: float) -> Vector:
        """Return log precisions at which the prior variances of the rows add up to `total`.

        The sum is that of each group, in units of the noise. It falls with a power of the effective
        dimension, so that the data are explained by smooth functions first, or by fine ones.
        """
        log_dimension = np.log(np.maximum(self.dimension, 1e-3))
        if len(log_dimension):
            log_dimension -= log_dimension.mean()
        start = np.log(np.maximum(self.total, 1e-300) / total)
        shifted = start + power * log_dimension
        return np.where(self.total > 0.0, shifted, np.inf)

    def read_precisions(self, active: IndexArray, log_lam: Vector) -> Vector:
        """Return the log precisions of the groups of a warm start; infinite if not active."""
        theta = np.full(self.n_groups, np.inf)
        common = log_lam + 2.0 * self.log_scale[active]
        for number, atoms in enumerate(self.atoms[1:]):
            values = common[np.isin(active, atoms)]
            if len(values):
                theta[number] = values.mean()
        return theta

    def expand(self, theta: Vector) -> tuple[IndexArray, Vector]:
        """Return active atoms and their ``log lam`` at log precisions of the groups."""
        values = [np.full(len(self.atoms[0]), self.flat_log_lam)]
        active = [self.atoms[0]]
        for number in np.flatnonzero(np.isfinite(theta)):
            atoms = self.atoms[1 + number]
            active.append(atoms)
            # A precision common to the scaled atoms: lam = exp(theta) / scale^2 of unit atoms.
            values.append(theta[number] - 2.0 * self.log_scale[atoms])
        order = np.argsort(np.concatenate(active))
        return np.concatenate(active)[order], np.concatenate(values)[order]
