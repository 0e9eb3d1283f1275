"""Conformance check for bases."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
from sklearn.base import clone

from relvec._typing import Matrix
from relvec.bases.base import Atoms, Basis, BoundBasis
from relvec.testing._claims import default_inputs, require, require_close
from relvec.testing.dictionaries import check_dictionary


def check_basis(basis: Basis, X: Matrix | None = None) -> None:
    """Check that a basis and its atoms satisfy the protocol of `relvec.bases.Basis`.

    The dictionary must pass `check_dictionary`; the atoms must agree with it at the training inputs
    and keep their values and names under `subset`; rows of zero weight must have no influence; a
    clone must give the same atoms.

    Parameters
    ----------
    basis : Basis
        The basis to check.
    X : ndarray of shape (n_samples, n_features), default=None
        Inputs; by default a dozen in three dimensions, two of them equal.

    Raises
    ------
    AssertionError
        If a requirement is violated; the message names the basis and the requirement.

    Examples
    --------
    >>> from relvec.bases import KernelBasis
    >>> from relvec.testing import check_basis
    >>> check_basis(KernelBasis("rbf"))
    """
    X = default_inputs() if X is None else X
    name = repr(basis)
    inputs, parameters = X.copy(), repr(basis.get_params())
    bound = _bind(basis, X)
    require(np.array_equal(inputs, X), f"{name}.bind modifies its input X")
    require(
        repr(basis.get_params()) == parameters, f"{name}.bind modifies the parameters of the basis"
    )
    _check_bound(bound, X, name)
    check_dictionary(bound.dictionary)
    matrix = bound.dictionary.columns(np.arange(bound.dictionary.shape[1]))
    _check_atoms(bound.atoms, X, matrix, name)
    require_close(
        _bind(clone(basis), X).atoms.evaluate(X), matrix, f"a clone of {name} gives different atoms"
    )
    _check_zero_weights(basis, X, matrix, name)


def _bind(basis: Basis, X: Matrix, sample_weight: Any = None) -> BoundBasis:
    return basis.bind(X, sample_weight=sample_weight, random_state=np.random.RandomState(0))


def _check_bound(bound: BoundBasis, X: Matrix, name: str) -> None:
    n_samples, n_atoms = bound.dictionary.shape
    require(
        n_samples == len(X),
        f"the dictionary of {name} has {n_samples} rows; expected one per input, {len(X)}",
    )
    require(
        len(bound.atoms) == n_atoms,
        f"the dictionary of {name} has {n_atoms} columns, but bound.atoms has {len(bound.atoms)} "
        "atoms",
    )
    require(
        bound.is_localised.shape == (n_atoms,) and bound.is_localised.dtype == bool,
        f"is_localised of {name} must be a boolean array with one entry per atom",
    )
    rows = bound.source_row
    require(
        rows.shape == (n_atoms,) and rows.dtype.kind == "i",
        f"source_row of {name} must be an integer array with one entry per atom",
    )
    require(
        bool(((rows >= -1) & (rows < n_samples)).all()),
        f"source_row of {name} must lie between -1 and n_samples - 1",
    )


def _check_atoms(atoms: Atoms, X: Matrix, matrix: Matrix, name: str) -> None:
    require_close(
        atoms.evaluate(X),
        matrix,
        f"atoms.evaluate(X) of {name} differs from the columns of the dictionary",
    )
    require_close(
        atoms.evaluate(X[2:5]),
        matrix[2:5],
        f"the value of an atom of {name} at one input depends on the other inputs",
    )
    index = np.array([len(atoms) - 1, 0])
    subset = atoms.subset(index)
    require(len(subset) == 2, f"atoms.subset of two atoms of {name} has length {len(subset)}")
    claim = f"atoms.subset of {name} returns the wrong atoms, or in the wrong order"
    require_close(subset.evaluate(X), matrix[:, index], claim)
    again = subset.subset(np.array([1]))
    claim = f"atoms.subset of a subset of {name} returns the wrong atoms"
    require_close(again.evaluate(X), matrix[:, [0]], claim)
    feature_names = [f"x{i}" for i in range(X.shape[1])]
    names = atoms.names(feature_names)
    require(
        len(names) == len(atoms) and all(isinstance(item, str) for item in names),
        f"atoms.names of {name} must return one string per atom; got {names}",
    )
    _, first, place = np.unique(names, return_index=True, return_inverse=True)
    differs = (matrix != matrix[:, first[place]]).any(axis=0)
    require(
        not differs.any(),
        f"{name} gives different atoms the same name, {names[int(np.argmax(differs))]!r}",
    )
    require(
        subset.names(feature_names) == [names[i] for i in index],
        f"atoms.subset of {name} must keep the names of the atoms",
    )
    require(
        _pickled_size(again) <= _pickled_size(atoms),
        f"atoms.subset of {name} must not store the other atoms: its pickle is larger than that of "
        "all atoms",
    )


def _check_zero_weights(basis: Basis, X: Matrix, matrix: Matrix, name: str) -> None:
    absurd = np.full((2, X.shape[1]), 1e3)
    padded = np.vstack([absurd, X, -absurd])
    weight = np.concatenate([np.zeros(2), np.ones(len(X)), np.zeros(2)])
    bound = _bind(basis, padded, weight)
    values = bound.atoms.evaluate(X)
    require(
        values.shape == matrix.shape,
        f"rows of zero weight change the number of atoms of {name}; they must have no influence",
    )
    require_close(
        values, matrix, f"rows of zero weight change the atoms of {name}; drop them first"
    )
    rows = bound.source_row[bound.source_row >= 0]
    require(bool((weight[rows] > 0).all()), f"{name} centres an atom on a row of zero weight")


def _pickled_size(item: Any) -> float:
    """Return the size of a pickle; infinite if a user-defined function cannot be pickled."""
    try:
        return len(pickle.dumps(item))
    except (pickle.PicklingError, AttributeError, TypeError):
        return math.inf
