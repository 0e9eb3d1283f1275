"""Conformance checks for what you write yourself.

A new dictionary, kernel or basis that passes its check works with every solver and
estimator of the library. Each check raises `AssertionError` with a sentence that names the
object and what it does wrong.
"""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.gaussian_process.kernels import Kernel

from relvec._typing import Matrix
from relvec.bases.base import Atoms, Basis, BoundBasis
from relvec.dictionaries.base import Dictionary
from relvec.kernels import KernelEvaluator, KernelLike, kernel_block

__all__ = ["check_basis", "check_dictionary", "check_kernel"]

TOLERANCE = 1e-9
"""Allowed difference of two routes to one quantity, relative to its largest entry."""

GRADIENT_TOLERANCE = 1e-6
"""The same for gradients: central differences with a step of 1e-5 are good to about 1e-10,
less what cancellation costs."""


def check_dictionary(dictionary: Dictionary, rng: np.random.Generator | None = None) -> None:
    """Check that all operations of a dictionary describe the same matrix.

    Parameters
    ----------
    dictionary : Dictionary
        The object to check. All its columns are evaluated: use a small one.
    rng : numpy.random.Generator, default=None
        Source of the test vectors; None means a fixed seed.

    Raises
    ------
    AssertionError
        Naming the dictionary and the operation that disagrees.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.dictionaries import DenseDictionary
    >>> from relvec.testing import check_dictionary
    >>> check_dictionary(DenseDictionary(np.ones((3, 2))))
    """
    rng = np.random.default_rng(0) if rng is None else rng
    name = type(dictionary).__name__
    n_samples, n_atoms = dictionary.shape
    matrix = _check_columns(dictionary, name, rng)
    weights = rng.normal(size=n_atoms)
    residual = rng.normal(size=n_samples)
    residuals = rng.normal(size=(n_samples, 3))
    positive = rng.uniform(size=n_samples)

    image, projection = dictionary.matvec(weights), dictionary.rmatvec(residual)
    _require_close(image, matrix @ weights, f"{name}.matvec does not agree with its columns")
    _require_close(projection, matrix.T @ residual, f"{name}.rmatvec does not agree with columns")
    scale = np.linalg.norm(image) * np.linalg.norm(residual) + 1.0
    _require(
        bool(abs(image @ residual - weights @ projection) <= TOLERANCE * scale),
        f"{name}.rmatvec is not the adjoint of matvec: <Phi w, r> = {image @ residual}, "
        f"<w, Phi' r> = {weights @ projection}",
    )
    _require_close(
        dictionary.rmatmat(residuals),
        matrix.T @ residuals,
        f"{name}.rmatmat disagrees with columns",
    )
    _require_close(
        dictionary.sq_norms(), (matrix**2).sum(axis=0), f"{name}.sq_norms disagrees with columns"
    )
    _require_close(
        dictionary.sq_norms(positive),
        positive @ matrix**2,
        f"{name}.sq_norms with weights disagrees with columns",
    )
    start, stop = n_samples // 3, n_samples // 3 + max(1, n_samples // 2)
    _require_close(
        dictionary.rows(start, stop), matrix[start:stop], f"{name}.rows disagrees with columns"
    )
    _check_blocks(dictionary, name, matrix)
    if dictionary.is_orthonormal:
        _require_close(
            matrix.T @ matrix, np.eye(n_atoms), f"{name} says it is orthonormal and is not"
        )


def _check_columns(dictionary: Dictionary, name: str, rng: np.random.Generator) -> Matrix:
    n_samples, n_atoms = dictionary.shape
    everything = np.arange(n_atoms)
    returned: Any = dictionary.columns(everything)
    _require(
        isinstance(returned, np.ndarray) and returned.shape == (n_samples, n_atoms),
        f"{name}.columns must return an ndarray of shape {(n_samples, n_atoms)}; "
        f"got {type(returned).__name__} of shape {np.shape(returned)}",
    )
    _require(
        returned.dtype == np.float64,
        f"{name}.columns must return float64; got {returned.dtype}",
    )
    matrix: Matrix = returned.copy()
    # Solvers centre and scale what they are given, so it must be theirs.
    returned += 1.0
    _require_close(
        dictionary.columns(everything), matrix, f"{name}.columns must return a fresh array"
    )
    index = rng.integers(n_atoms, size=min(5, n_atoms) + 1)
    _require_close(
        dictionary.columns(index), matrix[:, index], f"{name}.columns({index}) has the wrong order"
    )
    empty = dictionary.columns(np.arange(0))
    _require(empty.shape == (n_samples, 0), f"{name}.columns of no index has shape {empty.shape}")
    return matrix


def _check_blocks(dictionary: Dictionary, name: str, matrix: Matrix) -> None:
    for size in (None, 1, 3):
        seen = np.zeros(matrix.shape[1], dtype=int)
        for index, columns in dictionary.column_blocks(size):
            seen[index] += 1
            _require_close(
                columns, matrix[:, index], f"{name}.column_blocks(size={size}) disagrees"
            )
        _require(
            bool((seen == 1).all()),
            f"{name}.column_blocks(size={size}) must yield every atom exactly once",
        )


def check_kernel(kernel: KernelLike, X: Matrix | None = None) -> None:
    """Check that a kernel can be evaluated in blocks, copied and differentiated.

    Parameters
    ----------
    kernel : Kernel or callable
        A scikit-learn kernel object, or a function ``k(X, Z)``.
    X : ndarray of shape (n_samples, n_features), default=None
        Inputs; by default a dozen in three dimensions, two of them equal.

    Raises
    ------
    AssertionError
        Naming the kernel and what it does wrong.

    Examples
    --------
    >>> from relvec.kernels import LinearSpline
    >>> from relvec.testing import check_kernel
    >>> check_kernel(LinearSpline())
    """
    X = _default_inputs() if X is None else X
    Z = X[:5]
    name = repr(kernel)
    try:
        whole = kernel_block(kernel, X, Z)
    except ValueError as error:
        raise AssertionError(f"{name} cannot be evaluated: {error}") from error
    evaluator = KernelEvaluator(kernel, X, Z)
    for index in (np.array([3]), np.array([4, 1])):
        _require_close(
            evaluator.columns(index), whole[:, index], f"{name} gives other values column by column"
        )
    _require_close(evaluator.rows(2, 6), whole[2:6], f"{name} gives other values row by row")
    if isinstance(kernel, Kernel):
        _check_kernel_values(kernel, X, whole, name)
        _check_kernel_parameters(kernel, X, name)
        _check_kernel_gradient(kernel, X, name)


def _check_kernel_values(kernel: Kernel, X: Matrix, whole: Matrix, name: str) -> None:
    square = kernel(X)
    _require_close(kernel(X, X), square, f"{name}: k(X) differs from k(X, X)")
    _require_close(whole, square[:, :5], f"{name}: k(X, X[:5]) differs from columns of k(X)")
    _require_close(
        kernel.diag(X), np.diag(square), f"{name}.diag differs from the diagonal of k(X)"
    )
    if kernel.is_stationary():
        _require_close(kernel(X + 1.0), square, f"{name} says it is stationary and is not")


def _check_kernel_parameters(kernel: Kernel, X: Matrix, name: str) -> None:
    value = kernel(X)
    copy = clone(kernel)
    _require(copy == kernel, f"the clone of {name} differs from it")
    _require_close(copy(X), value, f"the clone of {name} has other values")
    rebuilt = type(kernel)(**kernel.get_params(deep=False))
    _require_close(rebuilt(X), value, f"{name} rebuilt from get_params has other values")
    _require_close(
        kernel.clone_with_theta(kernel.theta)(X), value, f"{name} set to its own theta changes"
    )
    _require(
        kernel.bounds.size == 2 * kernel.n_dims,
        f"{name} has {kernel.n_dims} free hyper-parameters but bounds {kernel.bounds}",
    )


def _check_kernel_gradient(kernel: Kernel, X: Matrix, name: str) -> None:
    value, gradient = kernel(X, eval_gradient=True)
    _require_close(value, kernel(X), f"{name} has other values when asked for the gradient")
    needed = (len(X), len(X), kernel.n_dims)
    _require(
        gradient.shape == needed,
        f"the gradient of {name} must have shape {needed}; got {gradient.shape}",
    )
    step = 1e-5
    for number in range(kernel.n_dims):
        shift = np.zeros(kernel.n_dims)
        shift[number] = step
        above = kernel.clone_with_theta(kernel.theta + shift)(X)
        below = kernel.clone_with_theta(kernel.theta - shift)(X)
        _require_close(
            gradient[:, :, number],
            (above - below) / (2 * step),
            f"the gradient of {name} with respect to theta[{number}] is not its derivative",
            GRADIENT_TOLERANCE,
        )


def check_basis(basis: Basis, X: Matrix | None = None) -> None:
    """Check that a basis binds to inputs as solvers and estimators expect.

    Parameters
    ----------
    basis : Basis
        The recipe to check.
    X : ndarray of shape (n_samples, n_features), default=None
        Inputs; by default a dozen in three dimensions, two of them equal.

    Raises
    ------
    AssertionError
        Naming the basis and what it does wrong.

    Examples
    --------
    >>> from relvec.bases import KernelBasis
    >>> from relvec.testing import check_basis
    >>> check_basis(KernelBasis("rbf"))
    """
    X = _default_inputs() if X is None else X
    name = repr(basis)
    inputs, parameters = X.copy(), repr(basis.get_params())
    bound = _bind(basis, X)
    _require(np.array_equal(inputs, X), f"{name}.bind changes its input")
    _require(repr(basis.get_params()) == parameters, f"{name}.bind changes its parameters")
    _check_bound(bound, X, name)
    check_dictionary(bound.dictionary)
    matrix = bound.dictionary.columns(np.arange(bound.dictionary.shape[1]))
    _check_atoms(bound.atoms, X, matrix, name)
    _require_close(
        _bind(clone(basis), X).atoms.at(X), matrix, f"the clone of {name} makes other atoms"
    )
    _check_zero_weights(basis, X, matrix, name)


def _bind(basis: Basis, X: Matrix, sample_weight: Any = None) -> BoundBasis:
    return basis.bind(X, sample_weight=sample_weight, random_state=np.random.RandomState(0))


def _check_bound(bound: BoundBasis, X: Matrix, name: str) -> None:
    n_samples, n_atoms = bound.dictionary.shape
    _require(n_samples == len(X), f"the dictionary of {name} has {n_samples} rows, not {len(X)}")
    _require(
        len(bound.atoms) == n_atoms,
        f"{name} makes {n_atoms} columns but {len(bound.atoms)} atoms",
    )
    _require(
        bound.is_localised.shape == (n_atoms,) and bound.is_localised.dtype == bool,
        f"is_localised of {name} must be a mask with one entry per atom",
    )
    rows = bound.source_row
    _require(
        rows.shape == (n_atoms,) and rows.dtype.kind == "i",
        f"source_row of {name} must hold one integer per atom",
    )
    _require(
        bool(((rows >= -1) & (rows < n_samples)).all()),
        f"source_row of {name} must lie between -1 and n_samples - 1",
    )


def _check_atoms(atoms: Atoms, X: Matrix, matrix: Matrix, name: str) -> None:
    _require_close(atoms.at(X), matrix, f"atoms.at(X) of {name} differs from the dictionary")
    _require_close(
        atoms.at(X[2:5]), matrix[2:5], f"an atom of {name} at one input depends on the others"
    )
    index = np.array([len(atoms) - 1, 0])
    taken = atoms.take(index)
    _require(len(taken) == 2, f"atoms.take of two atoms of {name} has length {len(taken)}")
    _require_close(taken.at(X), matrix[:, index], f"atoms.take of {name} returns other atoms")
    again = taken.take(np.array([1]))
    _require_close(again.at(X), matrix[:, [0]], f"atoms.take twice of {name} returns other atoms")
    feature_names = [f"x{i}" for i in range(X.shape[1])]
    names = atoms.names(feature_names)
    _require(
        len(names) == len(atoms) and all(isinstance(item, str) for item in names),
        f"{name} must give one name per atom; got {names}",
    )
    _require(
        taken.names(feature_names) == [names[i] for i in index],
        f"atoms.take of {name} must keep the names of the atoms",
    )
    _require(
        _pickled_size(again) <= _pickled_size(atoms),
        f"atoms.take of {name} must forget the other atoms",
    )


def _check_zero_weights(basis: Basis, X: Matrix, matrix: Matrix, name: str) -> None:
    absurd = np.full((2, X.shape[1]), 1e3)
    padded = np.vstack([absurd, X, -absurd])
    weight = np.concatenate([np.zeros(2), np.ones(len(X)), np.zeros(2)])
    bound = _bind(basis, padded, weight)
    values = bound.atoms.at(X)
    _require(
        values.shape == matrix.shape,
        f"rows of zero weight change the number of atoms of {name}",
    )
    _require_close(values, matrix, f"rows of zero weight change the atoms of {name}")
    rows = bound.source_row[bound.source_row >= 0]
    _require(bool((weight[rows] > 0).all()), f"{name} centres an atom on a row of zero weight")


def _pickled_size(item: Any) -> float:
    """Return the size of a pickle; infinite if the user's functions cannot be pickled."""
    try:
        return len(pickle.dumps(item))
    except (pickle.PicklingError, AttributeError, TypeError):
        return math.inf


def _default_inputs() -> Matrix:
    inputs = np.random.default_rng(0).uniform(0.1, 2.0, size=(12, 3))
    inputs[7] = inputs[2]
    return inputs


def _require(condition: bool, claim: str) -> None:
    if not condition:
        raise AssertionError(f"{claim}.")


def _require_close(
    value: np.ndarray, reference: np.ndarray, claim: str, tolerance: float = TOLERANCE
) -> None:
    """Compare two routes to the same numbers, relative to the largest of them."""
    if np.shape(value) != np.shape(reference):
        raise AssertionError(f"{claim}: shapes {np.shape(value)} and {np.shape(reference)}.")
    allowed = tolerance * max(1.0, float(np.abs(reference).max(initial=0.0)))
    difference = float(np.abs(np.asarray(value) - reference).max(initial=0.0))
    # Written so that NaN fails.
    if not difference <= allowed:
        raise AssertionError(
            f"{claim}: largest difference {difference:.3g}, allowed {allowed:.3g}."
        )
