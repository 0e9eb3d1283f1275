"""Cholesky factorisations and triangular solves, by direct calls of LAPACK and BLAS.

At the size of an active set the checks of SciPy's wrappers cost more than the arithmetic, so the
routines are called directly. No function modifies its arguments unless it says so. Empty systems,
which LAPACK and BLAS refuse, have an empty solution.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import numpy as np
import numpy.typing as npt
from scipy.linalg import get_blas_funcs, get_lapack_funcs
from threadpoolctl import ThreadpoolController

from relvec._typing import Matrix, Vector

RoughArray = npt.NDArray[np.float32]

EPS = float(np.finfo(np.float64).eps)
"""Machine epsilon of float64."""

_EXAMPLE = np.empty((1, 1))
_potrf, _potri, _potrs, _trtri, _trtrs = get_lapack_funcs(
    ("potrf", "potri", "potrs", "trtri", "trtrs"), (_EXAMPLE,)
)
_sytrd, _ormqr, _pttrf, _pttrs = get_lapack_funcs(("sytrd", "ormqr", "pttrf", "pttrs"), (_EXAMPLE,))
_trsm, _syrk = get_blas_funcs(("trsm", "syrk"), (_EXAMPLE,))
_ROUGH = np.empty((1, 1), dtype=np.float32)
_spotrf, _strtrs = get_lapack_funcs(("potrf", "trtrs"), (_ROUGH,))
(_strsm,) = get_blas_funcs(("trsm",), (_ROUGH,))


THREADED_ENTRIES = 4e6
"""Largest number of entries of a dictionary for which a single BLAS thread is used."""


@cache
def _threadpools() -> ThreadpoolController:
    return ThreadpoolController()  # cached: finding the libraries takes milliseconds


@contextmanager
def limit_blas_threads(n_entries: float) -> Iterator[None]:
    """Context manager that limits BLAS to one thread for small problems.

    A fit computes thousands of products of small matrices. Waking a pool of threads for each of
    them takes many times longer than the product itself.
    """
    if n_entries > THREADED_ENTRIES:
        yield
    else:
        with _threadpools().limit(limits=1, user_api="blas"):
            yield


def cholesky(matrix: Matrix, *, overwrite: bool = False) -> Matrix | None:
    """Lower Cholesky factor, or None if `matrix` is not numerically positive definite."""
    factor, info = _potrf(matrix, lower=1, clean=1, overwrite_a=int(overwrite))
    return factor if info == 0 else None


def shifted_cholesky(matrix: Matrix, diagonal: Vector | float) -> Matrix | None:
    """Lower Cholesky factor of ``matrix + diag(diagonal)``, or None."""
    shifted = matrix.copy()  # in C order: LAPACK reads the transpose, which is the same
    shifted.ravel()[:: len(matrix) + 1] += diagonal
    factor, info = _potrf(shifted.T, lower=1, clean=1, overwrite_a=1)
    return factor if info == 0 else None


def robust_cholesky(matrix: Matrix) -> Matrix:
    """Return the lower Cholesky factor of a matrix that may be singular up to rounding.

    The matrix has a unit diagonal, to which the smallest sufficient jitter is added.
    """
    size = len(matrix)
    jitter = 0.0
    while size:
        # The diagonal is one, so the jitter is relative: from 1e-14, some fifty rounding errors,
        # upwards.
        factor = shifted_cholesky(matrix, np.full(size, jitter))
        if factor is not None:
            return factor
        # No jitter helps against NaN or infinity: without this check the loop would not end.
        if not np.isfinite(matrix).all():
            raise FloatingPointError("the Hessian of the log posterior is not finite")
        jitter = max(10.0 * jitter, 1e-14)
    return matrix


def solve_lower(factor: Matrix, right: Matrix, *, transposed: bool = False) -> Matrix:
    """Solve ``L x = right`` (or ``L' x = right``) for a lower triangular `factor`."""
    if not len(factor):
        return right
    solution, info = _trtrs(factor, right, lower=1, trans=int(transposed))
    if info != 0:
        raise np.linalg.LinAlgError("singular triangular factor")
    return solution


def solve_lower_rows(factor: Matrix, rows: Matrix, *, overwrite: bool = False) -> Matrix:
    """Return ``L^-1 rows`` for C-ordered `rows` (k, m), without transposing copies."""
    if not len(factor):
        return rows
    # L X = rows is X' L' = rows': a solve from the right with the transposed factor. rows' is
    # Fortran-ordered, as BLAS requires.
    return _trsm(1.0, factor, rows.T, side=1, lower=1, trans_a=1, overwrite_b=int(overwrite)).T


def solve_upper_rows(factor: Matrix, rows: Matrix) -> Matrix:
    """Return ``L^-T rows`` for C-ordered `rows` (k, m)."""
    if not len(factor):
        return rows
    # L' X = rows is X' L = rows'.
    return _trsm(1.0, factor, rows.T, side=1, lower=1).T


def inverse_from_cholesky(factor: Matrix) -> Matrix:
    """Return ``(L L')^-1`` as a full symmetric array."""
    if not len(factor):
        return np.empty((0, 0))
    inverse, _ = _potri(factor, lower=1)  # only the lower triangle is filled
    inverse += inverse.T
    # The sum with the transpose counts the diagonal twice.
    inverse.flat[:: len(inverse) + 1] *= 0.5
    return inverse


def lower_inverse(factor: Matrix, scale: float = 1.0) -> Matrix:
    """Return a triangle that stands for ``scale (L L')^-1 / 2`` in sums over symmetric matrices.

    Entries below the diagonal count for those above. `factor` is overwritten.
    """
    inverse, _ = _potri(factor, lower=1, overwrite_c=1)
    inverse *= scale
    # sum_ij M_ij A_ij = 2 [sum_(i > j) M_ij A_ij + sum_i M_ii A_ii / 2] for symmetric M and A.
    inverse.flat[:: len(inverse) + 1] *= 0.5
    return inverse


def inverse_diagonal_from_cholesky(factor: Matrix) -> Vector:
    """Return the diagonal of ``(L L')^-1``, at half the cost of the whole inverse."""
    # (L L')^-1 = L^-T L^-1, so its diagonal has the squared norms of the columns of L^-1.
    root = _trtri(factor, lower=1)[0]
    return np.einsum("ij,ij->j", root, root)


def solve_cholesky(factor: Matrix, right: Vector) -> Vector:
    """Solve ``L L' x = right``."""
    return _potrs(factor, right, lower=1)[0] if len(factor) else right


def log_det_cholesky(factor: Matrix) -> float:
    """Return the log determinant of ``L L'``."""
    return float(2.0 * np.log(factor.diagonal()).sum())


def gram_of_rows(rows: Matrix) -> Matrix:
    """Return ``rows @ rows.T`` of a C-ordered array as a full symmetric array."""
    if not rows.size:  # BLAS prints a message about the leading dimension
        return np.zeros((len(rows), len(rows)))
    # rows.T is Fortran-ordered, so trans=1 needs no copy.
    full = _syrk(1.0, rows.T, trans=1, lower=1)  # upper triangle zero
    full += full.T
    full.flat[:: len(full) + 1] *= 0.5
    return full


def lower_gram_of_rows(rows: Matrix) -> Matrix:
    """Return the lower triangle of ``rows @ rows.T`` in Fortran order; the rest is zero."""
    if not rows.size:
        return np.zeros((len(rows), len(rows)), order="F")
    return _syrk(1.0, rows.T, trans=1, lower=1)


def project_rows(
    inner: RoughArray, cross: RoughArray, vector: RoughArray
) -> tuple[RoughArray, RoughArray, float] | None:
    """Return ``C' P^-1 v``, the diagonal of ``C' P^-1 C`` and ``v' P^-1 v``, in single precision.

    `inner` ``P`` and `cross` ``C`` are C-ordered arrays of float32, and are overwritten. None if
    `inner` is not numerically positive definite.
    """
    if not len(inner):
        nothing = np.zeros(cross.shape[1], dtype=np.float32)
        return nothing, nothing.copy(), 0.0
    # LAPACK reads the transpose of a C-ordered array, which is the same here.
    factor, info = _spotrf(inner.T, lower=1, clean=0, overwrite_a=1)
    if info != 0:
        return None
    solved = _strsm(1.0, factor, cross.T, side=1, lower=1, trans_a=1, overwrite_b=1)
    white, _ = _strtrs(factor, vector, lower=1)
    return solved @ white, np.einsum("ij,ij->i", solved, solved), float(white @ white)


def tridiagonal(matrix: Matrix, vector: Vector) -> tuple[Vector, Vector, Vector]:
    """Rotate a symmetric matrix into a tridiagonal one, and a vector with it.

    Returns the diagonal, what is beside it, and the vector. It takes a third of the time of
    eigenvectors, and as with them a multiple of the identity is then cheap to add. A matrix in
    Fortran order is overwritten; it has two rows at least.
    """
    work = 32 * len(matrix)
    reflectors, diagonal, beside, tau, _ = _sytrd(matrix, lower=1, lwork=work, overwrite_a=1)
    rest = np.asfortranarray(vector[1:, np.newaxis])
    # sytrd with lower=1 stores matrix = Q T Q' with Q = diag(1, Q_1); Q_1 is in the form of a QR
    # factorisation. The first component is not rotated, the others by Q_1'.
    turned, _, _ = _ormqr("L", "T", reflectors[1:, :-1], tau, rest, 32)
    return diagonal, beside, np.concatenate([vector[:1], turned[:, 0]])


def tridiagonal_terms(
    diagonal: Vector, beside: Vector, vector: Vector
) -> tuple[float, float] | None:
    """Return ``v' T^-1 v`` and ``log|T|``; None unless the matrix is positive definite."""
    # T = L D L' with unit lower bidiagonal L: log|T| is the sum of the logs of D. O(n) operations.
    pivots, ratios, info = _pttrf(diagonal, beside)
    if info != 0:
        return None
    solved = _pttrs(pivots, ratios, vector)[0]
    return float(vector @ solved), float(np.log(pivots).sum())
