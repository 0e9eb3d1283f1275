"""User-defined functions as basis functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from relvec._checks import check_dense, check_finite_block
from relvec._typing import IndexArray, Matrix, Vector
from relvec.bases.base import Atoms, Basis, BoundBasis
from relvec.dictionaries import DenseDictionary
from relvec.kernels.definition import squeeze_object_column

__all__ = ["FunctionAtoms", "FunctionBasis"]

AtomFunction: TypeAlias = Callable[[Any], Any]
"""Function of the whole input array; returns shape (n_samples,) or (n_samples, n_columns)."""


class FunctionColumn(NamedTuple):
    """One column of the array that a function returns: one atom."""

    function: AtomFunction
    column: int
    width: int
    """Number of columns that the function returned in fit, and must return in predict."""
    name: str


@dataclass(frozen=True, eq=False)
class FunctionAtoms(Atoms):
    """Basis functions computed by user-defined functions.

    Parameters
    ----------
    entries : tuple of FunctionColumn
        One per atom.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.bases import FunctionBasis
    >>> X = np.array([[0.0, 2.0], [1.0, 3.0]])
    >>> atoms = FunctionBasis([lambda X: X[:, 0] * X[:, 1]]).bind(X).atoms
    >>> atoms.evaluate(X)
    array([[0.],
           [3.]])
    """

    entries: tuple[FunctionColumn, ...]

    def __len__(self) -> int:
        return len(self.entries)

    def evaluate(self, X: Any) -> Matrix:
        """Evaluate every atom at the rows of `X`; each function is called once."""
        result = np.empty((X.shape[0], len(self.entries)), order="F")
        values: dict[int, Matrix] = {}
        for position, (function, column, width, name) in enumerate(self.entries):
            if id(function) not in values:
                values[id(function)] = _call_function(function, X, name)
            returned = values[id(function)]
            if returned.shape[1] != width:
                raise ValueError(
                    f"function {name!r} returned {returned.shape[1]} columns; "
                    f"it must return {width} as it did in fit."
                )
            result[:, position] = returned[:, column]
        return result

    def subset(self, index: IndexArray) -> FunctionAtoms:
        """Return the atoms at positions `index`, with the functions they need."""
        return FunctionAtoms(tuple(self.entries[i] for i in index))

    def names(self, feature_names: Sequence[str]) -> list[str]:
        """Return the name of the function, with the column if it returns several."""
        return [
            entry.name if entry.width == 1 else f"{entry.name}[{entry.column}]"
            for entry in self.entries
        ]


class FunctionBasis(Basis):
    """Basis functions computed by your own Python functions.

    Parameters
    ----------
    functions : callable or list of callables
        Each is called with the whole input array and returns an array of shape (n_samples,) or
        (n_samples, n_columns): one basis function per column. A single column of strings or other
        objects is passed as a one-dimensional array. To save a fitted model, use functions that
        can be pickled: defined at the top level of a module, not lambdas.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.bases import FunctionBasis
    >>> bound = FunctionBasis([np.sin, np.cos]).bind(np.array([[0.0], [1.0]]))
    >>> bound.atoms.names(["angle"])
    ['sin', 'cos']
    """

    def __init__(self, functions: Any) -> None:
        self.functions = functions

    @property
    def accepts_objects(self) -> bool:
        """Return True: any input that the functions accept."""
        return True

    def bind(
        self,
        X: Any,
        *,
        sample_weight: Vector | None = None,
        random_state: np.random.RandomState | None = None,
    ) -> BoundBasis:
        """Call every function once. Sample weights and the random state have no influence."""
        check_dense(X, "FunctionBasis")
        entries: list[FunctionColumn] = []
        blocks: list[Matrix] = []
        for position, function in enumerate(self._checked_functions()):
            name = _function_name(function, position)
            block = _call_function(function, X, name)
            width = block.shape[1]
            entries += [FunctionColumn(function, column, width, name) for column in range(width)]
            blocks.append(block)
        return BoundBasis(
            dictionary=DenseDictionary(np.asfortranarray(np.hstack(blocks))),
            atoms=FunctionAtoms(tuple(entries)),
            is_localised=np.zeros(len(entries), dtype=bool),
            source_row=np.full(len(entries), -1, dtype=np.intp),
        )

    def _checked_functions(self) -> list[AtomFunction]:
        listed = [self.functions] if callable(self.functions) else list(self.functions)
        if not listed:
            raise ValueError("FunctionBasis needs at least one function; got an empty list.")
        for position, function in enumerate(listed):
            if not callable(function):
                raise TypeError(
                    "FunctionBasis needs callables f(X); "
                    f"functions[{position}] is {function!r} of type {type(function).__name__}."
                )
        return listed


def _function_name(function: AtomFunction, position: int) -> str:
    name = getattr(function, "__name__", type(function).__name__)
    return f"f{position}" if name == "<lambda>" else str(name)


def _call_function(function: AtomFunction, X: Any, name: str) -> Matrix:
    """Evaluate one function as a finite float64 array of two dimensions."""
    returned = np.asarray(function(squeeze_object_column(X)))
    n_samples = X.shape[0]
    if returned.ndim == 1:
        returned = returned[:, np.newaxis]
    if returned.ndim != 2 or returned.shape[0] != n_samples or returned.shape[1] == 0:
        raise ValueError(
            f"function {name!r} returned an array of shape {returned.shape}; "
            f"it must return ({n_samples},) or ({n_samples}, n_columns) "
            f"for an input of shape {X.shape}."
        )
    if returned.dtype.kind not in "fiub":
        raise ValueError(
            f"function {name!r} returned values of dtype {returned.dtype}; "
            "it must return real numbers."
        )
    block = returned.astype(np.float64, copy=False)
    check_finite_block(block, f"the values of function {name!r}")
    return block
