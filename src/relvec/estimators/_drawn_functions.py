"""Functions drawn from a posterior: sparse weights of basis functions, one set per draw."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from relvec._typing import IndexArray, Matrix, Vector
from relvec.bases.base import Atoms, BoundBasis
from relvec.sampling import PreparedAtoms, ScaledAtoms, StoredDraws

__all__ = ["DrawnFunctions", "build_functions"]

BLOCK_ENTRIES = 4_000_000
"""Largest number of values of all draws that are in memory at a time."""


@dataclass(frozen=True, eq=False)
class DrawnFunctions:
    """Functions ``intercept + sum_i coef_i phi_i(x)``, with the atoms and weights of each draw."""

    atoms: Atoms
    """Atoms that are in the model of at least one draw."""
    columns: IndexArray
    """Their positions among all candidates."""
    offset: IndexArray
    """Position of the first weight of each draw, and of the end."""
    index: IndexArray
    """Atom of each weight."""
    coef: Vector
    """Weights of all draws."""
    intercept: Vector
    """Intercept of each draw."""
    parameters: Matrix
    """Logarithms of length-scale factors of each draw; no columns if they are fixed."""
    scaled: ScaledAtoms | None = None
    """Atoms as a function of these; None if they are fixed."""

    def __len__(self) -> int:
        return len(self.intercept)

    @property
    def size(self) -> IndexArray:
        """Number of atoms of each draw."""
        return np.diff(self.offset)

    @property
    def weights(self) -> Any:
        """Weights as a sparse matrix, shape (n_draws, n_atoms)."""
        shape = (len(self), len(self.atoms))
        matrix = csr_array((self.coef, self.index, self.offset), shape=shape)
        # compiled code uses the positions unchecked, and a file may contain wrong ones
        matrix.check_format(full_check=True)
        return matrix

    def expand_weights(self, n_atoms: int) -> Any:
        """Weights of all candidates as a sparse array, shape (n_draws, n_atoms)."""
        weights = self.weights
        entries = (weights.data, self.columns[weights.indices], weights.indptr)
        # a copy: SciPy sorts entries in place, which would change the model
        return csr_array(entries, shape=(len(self), n_atoms), copy=True)

    def thinned(self, rows: IndexArray) -> DrawnFunctions:
        """Return some of the draws."""
        some = self.weights[rows]
        return replace(
            self,
            offset=some.indptr.astype(np.intp),
            index=some.indices.astype(np.intp),
            coef=some.data,
            intercept=self.intercept[rows],
            parameters=self.parameters[rows],
        )

    def evaluate(self, X: Any, members: IndexArray | None = None) -> Matrix:
        """Evaluate all functions at the rows of `X`: shape (n_samples, n_draws).

        With `members`, only the contribution of these atoms, without intercept.
        """
        weights = self.weights
        if members is not None:
            keep = np.zeros(len(self.atoms))
            keep[members] = 1.0
            weights = weights.multiply(keep).tocsr()
        values = np.zeros((X.shape[0], len(self)))
        if self.scaled is None:
            values[:] = (weights @ self.atoms.evaluate(X).T).T
        else:
            for rows, parameters in self._group_by_parameters():
                part = weights[rows]
                used = np.unique(part.indices)
                columns = self.scaled.subset(used).at(parameters).evaluate(X)
                values[:, rows] = (part[:, used] @ columns.T).T
        return values if members is not None else values + self.intercept

    def blocks(self, X: Any) -> Iterator[tuple[slice, Matrix]]:
        """Evaluate block by block: slices of rows with the values of all functions there."""
        n_rows, step = X.shape[0], max(1, BLOCK_ENTRIES // max(len(self), 1))
        for start in range(0, max(n_rows, 1), step):
            rows = slice(start, min(start + step, n_rows))
            yield rows, self.evaluate(X[rows])

    def mean(self, X: Any) -> Vector:
        """Return the mean of all functions at the rows of `X`."""
        if self.scaled is None:
            average = np.asarray(self.weights.mean(axis=0)).ravel()
            return np.asarray(self.atoms.evaluate(X) @ average + self.intercept.mean())
        return np.concatenate([values.mean(axis=1) for _, values in self.blocks(X)])

    def _group_by_parameters(self) -> Iterator[tuple[IndexArray, Vector]]:
        """Group draws by their length-scale factors, which change less often than weights."""
        unique, inverse = np.unique(self.parameters, axis=0, return_inverse=True)
        order = np.argsort(inverse, kind="stable")
        bounds = np.cumsum(np.bincount(inverse, minlength=len(unique)))
        yield from zip(np.split(order, bounds[:-1]), unique, strict=True)


def build_functions(
    stored: StoredDraws,
    atoms: PreparedAtoms,
    bound: BoundBasis,
    own: np.ndarray,
    atom: IndexArray,
    scaled: ScaledAtoms | None = None,
) -> DrawnFunctions:
    """Return one latent function of all draws; `own` marks its entries among those of the draws."""
    n_draws, draw = len(stored), stored.draw_of_atom
    is_atom, is_constant = own & (atom < atoms.n_atoms), own & (atom == atoms.n_atoms)
    index, which = atom[is_atom], draw[is_atom]
    coef = stored.weights[is_atom] / atoms.column_norm[index].astype(stored.weights.dtype)
    intercept = np.zeros(n_draws)
    intercept[draw[is_constant]] = stored.weights[is_constant]
    # centred atoms: sum_i w_i (phi_i - m_i) + w_0
    intercept -= np.bincount(which, coef * atoms.column_mean[index], minlength=n_draws)
    used = np.unique(index)
    return DrawnFunctions(
        bound.atoms.subset(used),
        used,
        np.concatenate([[0], np.cumsum(np.bincount(which, minlength=n_draws))]),
        np.searchsorted(used, index),
        coef,
        intercept,
        np.empty((n_draws, 0)) if scaled is None else stored.parameters,
        None if scaled is None else scaled.subset(used),
    )
