"""Conformance check for dictionaries."""

from __future__ import annotations

from typing import Any

import numpy as np

from relvec._typing import Matrix
from relvec.dictionaries.base import Dictionary
from relvec.testing._claims import require, require_close


def check_dictionary(dictionary: Dictionary, rng: np.random.Generator | None = None) -> None:
    """Check that all operations of a dictionary describe the same matrix.

    Parameters
    ----------
    dictionary : Dictionary
        The object to check. All its columns are evaluated: use a small one.
    rng : numpy.random.Generator, default=None
        Random numbers for the test vectors; None means a fixed seed.

    Raises
    ------
    AssertionError
        If operations disagree; the message names the dictionary and the operation.

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
    require_close(image, matrix @ weights, f"{name}.matvec disagrees with columns")
    require_close(projection, matrix.T @ residual, f"{name}.rmatvec disagrees with columns")
    scale = np.linalg.norm(image) * np.linalg.norm(residual) + 1.0
    require(
        bool(abs(image @ residual - weights @ projection) <= 1e-9 * scale),
        f"{name}.rmatvec is not the adjoint of matvec: <Phi w, r> = {image @ residual}, "
        f"<w, Phi' r> = {weights @ projection}",
    )
    require_close(
        dictionary.rmatmat(residuals),
        matrix.T @ residuals,
        f"{name}.rmatmat disagrees with columns",
    )
    require_close(
        dictionary.sq_norms(), (matrix**2).sum(axis=0), f"{name}.sq_norms disagrees with columns"
    )
    require_close(
        dictionary.sq_norms(positive),
        positive @ matrix**2,
        f"{name}.sq_norms with weights disagrees with columns",
    )
    start, stop = n_samples // 3, n_samples // 3 + max(1, n_samples // 2)
    require_close(
        dictionary.rows(start, stop), matrix[start:stop], f"{name}.rows disagrees with columns"
    )
    _check_blocks(dictionary, name, matrix)
    if dictionary.is_orthonormal:
        require_close(
            matrix.T @ matrix,
            np.eye(n_atoms),
            f"{name}.is_orthonormal is True, but its columns are not orthonormal",
        )


def _check_columns(dictionary: Dictionary, name: str, rng: np.random.Generator) -> Matrix:
    n_samples, n_atoms = dictionary.shape
    everything = np.arange(n_atoms)
    returned: Any = dictionary.columns(everything)
    require(
        isinstance(returned, np.ndarray) and returned.shape == (n_samples, n_atoms),
        f"{name}.columns must return an ndarray of shape {(n_samples, n_atoms)}; "
        f"got {type(returned).__name__} of shape {np.shape(returned)}",
    )
    require(
        returned.dtype == np.float64,
        f"{name}.columns must return float64; got {returned.dtype}",
    )
    matrix: Matrix = returned.copy()
    # Solvers centre and scale the array in place, so it must not be shared with the dictionary.
    returned += 1.0
    require_close(
        dictionary.columns(everything),
        matrix,
        f"{name}.columns must return a new array: changing the result changed the dictionary",
    )
    index = rng.integers(n_atoms, size=min(5, n_atoms) + 1)
    require_close(
        dictionary.columns(index),
        matrix[:, index],
        f"{name}.columns({index}) returns the wrong columns, or in the wrong order",
    )
    empty = dictionary.columns(np.arange(0))
    require(
        empty.shape == (n_samples, 0), f"{name}.columns of an empty index has shape {empty.shape}"
    )
    return matrix


def _check_blocks(dictionary: Dictionary, name: str, matrix: Matrix) -> None:
    for size in (None, 1, 3):
        seen = np.zeros(matrix.shape[1], dtype=int)
        for index, columns in dictionary.column_blocks(size):
            seen[index] += 1
            require_close(
                columns,
                matrix[:, index],
                f"{name}.column_blocks(size={size}) disagrees with columns",
            )
        require(
            bool((seen == 1).all()),
            f"{name}.column_blocks(size={size}) must yield every atom exactly once",
        )
