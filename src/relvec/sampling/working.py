"""Moments of a working regression whose row precisions are drawn anew in every sweep.

Augmented likelihoods (`relvec.sampling.augmentation`) are Gaussian given auxiliary variables: row
``n`` has a precision ``omega_n`` and a linear term ``kappa_n``. With the prepared atoms as rows of
``P``, the moments are ``P diag(omega) P'`` and ``P kappa``.

Atoms are prepared once, by the sample weights alone: if they were scaled by the precisions of the
rows, the prior of the weights would change from sweep to sweep.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from relvec._typing import BoolArray, IndexArray, Matrix, Vector
from relvec.dictionaries.base import Dictionary
from relvec.moments.base import Moments
from relvec.moments.columns import compute_column_scales
from relvec.sampling.base import Draw

__all__ = ["PreparedAtoms", "RawWeights", "WorkingMoments", "prepare_atoms"]


class RawWeights(NamedTuple):
    """Weights of raw atoms and an intercept: one latent function of a draw."""

    active: IndexArray
    """Atoms of the dictionary."""
    weights: Vector
    intercept: float


@dataclass(frozen=True, eq=False)
class PreparedAtoms:
    """Atoms that are centred and scaled, and a constant as the last one.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.dictionaries import DenseDictionary
    >>> from relvec.sampling import prepare_atoms
    >>> Phi = np.array([[1.0, 5.0], [2.0, 5.0], [6.0, 5.0]])
    >>> atoms = prepare_atoms(DenseDictionary(Phi), scaling="deviation")
    >>> atoms.values.round(2)
    array([[-0.93, -0.46,  1.39],
           [ 0.  ,  0.  ,  0.  ],
           [ 1.  ,  1.  ,  1.  ]])
    >>> atoms.usable
    array([ True, False,  True])
    """

    values: Matrix
    """Prepared atoms, shape (n_atoms + 1, n_rows); zero for unusable atoms."""
    usable: BoolArray
    """True for atoms that are finite and vary; True for the constant."""
    column_mean: Vector
    """Weighted mean of each raw atom; zero for the constant."""
    column_norm: Vector
    """What each raw, centred atom was divided by; one for the constant."""
    total_weight: float
    """Sum of the sample weights."""

    @property
    def n_atoms(self) -> int:
        """Number of atoms without the constant."""
        return len(self.values) - 1

    @cached_property
    def squares(self) -> Matrix:
        """Squares of all values: their products with row precisions are squared norms."""
        return self.values * self.values

    def to_raw(self, active: IndexArray, weights: Vector) -> RawWeights:
        """Return weights of raw atoms, and the intercept that belongs to them.

        ``sum_i w_i (phi_i - m_i) / c_i + w_0 = sum_i (w_i / c_i) phi_i + intercept``.
        """
        is_constant = active == self.n_atoms
        atoms = active[~is_constant]
        raw = weights[~is_constant] / self.column_norm[atoms]
        intercept = float(weights[is_constant].sum() - raw @ self.column_mean[atoms])
        return RawWeights(atoms, raw, intercept)

    def split_draw(self, draw: Draw) -> list[RawWeights]:
        """Return the raw weights of each latent function of a draw of `AugmentedSampler`."""
        function, atom = np.divmod(draw.active, self.n_atoms + 1)
        # every function has its constant, so that the last one is never missing
        return [
            self.to_raw(atom[function == k], draw.weights[function == k])
            for k in range(int(function.max()) + 1)
        ]


def prepare_atoms(
    dictionary: Dictionary,
    sample_weight: Vector | None = None,
    *,
    scaling: str | BoolArray = "none",
) -> PreparedAtoms:
    """Centre and scale the atoms of a dictionary.

    Parameters
    ----------
    dictionary : Dictionary
        The raw atoms. All their values are stored.
    sample_weight : ndarray of shape (n_rows,), optional
        Frequency weights.
    scaling : {"none", "deviation", "norm"} or ndarray of shape (n_atoms,), default="none"
        Whether to divide centred atoms by nothing, by their standard deviation or by their norm.
        Kernels are used as they are: where few rows are near a centre, the standard deviation is
        small and would make the prior of its contribution wide. A boolean array divides only those
        atoms by their standard deviation for which it is True. "norm" is for likelihoods with a
        noise variance, where precisions have the same meaning as in `CollapsedSampler`.
    """
    n_rows, n_atoms = dictionary.shape
    weight = np.ones(n_rows) if sample_weight is None else sample_weight
    total = float(weight.sum())
    values = np.empty((n_atoms + 1, n_rows))
    for index, columns in dictionary.column_blocks():
        values[index] = columns.T
    values[-1] = 1.0
    raw = values[:-1]
    with np.errstate(invalid="ignore", over="ignore"):  # atoms that are not finite
        mean = raw @ weight / total
        raw -= mean[:, None]
        scales = compute_column_scales(mean, (raw * raw) @ weight, total)
    if isinstance(scaling, str):
        divisors = {"none": 0.0, "deviation": np.sqrt(total), "norm": 1.0}
        if scaling not in divisors:
            raise ValueError(f"scaling must be one of {sorted(divisors)}; got {scaling!r}.")
        divisor = divisors[scaling]
        norm = scales.norm / divisor if divisor else np.ones(n_atoms)
    else:
        norm = np.where(scaling, scales.norm / np.sqrt(total), 1.0)
    norm = np.where(scales.usable, norm, 1.0)
    raw /= norm[:, None]
    raw[~scales.usable] = 0.0
    return PreparedAtoms(
        values,
        np.append(scales.usable, True),
        np.append(np.where(scales.usable, mean, 0.0), 0.0),
        np.append(norm, 1.0),
        total,
    )


class WorkingMoments(Moments):
    """Moments of prepared atoms under one draw of the row precisions.

    Gram rows are computed when they are first asked for, one matrix product per request.

    Parameters
    ----------
    atoms : PreparedAtoms
        Atoms, with the constant as the last one.
    precision : ndarray of shape (n_rows,)
        Precisions ``omega`` of the rows.
    linear : ndarray of shape (n_rows,)
        Linear terms ``kappa`` of the rows.
    target_ss : float
        ``sum_n kappa_n^2 / omega_n``, the sum of squares of the working response.
    """

    def __init__(
        self, atoms: PreparedAtoms, precision: Vector, linear: Vector, target_ss: float
    ) -> None:
        self.atoms, self.precision = atoms, precision
        self.n_effective = atoms.total_weight
        self.target_ss, self.target_mean = target_ss, 0.0
        self.correlation = atoms.values @ linear
        self.sq_norms: Vector = atoms.squares @ precision
        """Squared norm of each atom, the diagonal of the Gram matrix."""
        self.usable = atoms.usable
        self.resolution = np.full(len(self.correlation), 1e-9)
        self.column_mean, self.column_norm = atoms.column_mean, atoms.column_norm
        self._place = np.full(len(self.correlation), -1, dtype=np.intp)
        self._rows: Matrix = np.empty((0, len(self.correlation)))
        self._n_fetched = 0

    @property
    def n_fetched(self) -> int:
        """Number of atoms whose Gram rows have been computed."""
        return self._n_fetched

    def fetch(self, index: IndexArray) -> None:
        """Compute the missing Gram rows of atoms `index`."""
        missing = index[self._place[index] < 0]
        if not len(missing):
            return
        missing = np.unique(missing)
        first, last = self._n_fetched, self._n_fetched + len(missing)
        if last > len(self._rows):  # twice what is needed: few copies in a sweep
            rows = np.empty((2 * last, len(self._place)))
            rows[:first] = self._rows[:first]
            self._rows = rows
        values = self.atoms.values
        np.matmul(values[missing] * self.precision, values.T, out=self._rows[first:last])
        self._place[missing] = np.arange(first, last)
        self._n_fetched = last

    def gram_rows(self, index: IndexArray) -> Matrix:
        """Return Gram rows, computing those that are missing."""
        self.fetch(index)
        return self._rows[self._place[index]]

    def gram(self, index: IndexArray) -> Matrix:
        """Return a block of the Gram matrix."""
        values = self.atoms.values[index]
        block: Matrix = (values * self.precision) @ values.T
        return block
