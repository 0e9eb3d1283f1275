"""The thin LAPACK wrappers against NumPy's checked routines."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from relvec._linalg import (
    cholesky,
    gram_of_rows,
    inverse_from_cholesky,
    log_det_cholesky,
    lower_inverse,
    shifted_cholesky,
    solve_cholesky,
    solve_lower,
    solve_lower_rows,
    solve_upper_rows,
    tridiagonal,
    tridiagonal_terms,
)
from relvec._typing import Matrix

SIZES = [1, 2, 7, 65]


def positive_definite(size: int) -> Matrix:
    root = np.random.default_rng(size).standard_normal((size, size + 3))
    return root @ root.T


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("order", ["C", "F"])
def test_cholesky_is_the_lower_factor_with_a_clean_upper_triangle(size: int, order: str) -> None:
    matrix = np.array(positive_definite(size), order=order)
    before = matrix.copy()
    factor = cholesky(matrix)
    assert factor is not None
    np.testing.assert_allclose(factor, np.linalg.cholesky(matrix), rtol=1e-10, atol=1e-10)
    np.testing.assert_array_equal(np.triu(factor, 1), 0.0)
    np.testing.assert_array_equal(matrix, before)


@pytest.mark.parametrize("size", SIZES)
def test_shifted_cholesky_adds_to_the_diagonal_and_leaves_its_arguments_alone(size: int) -> None:
    matrix, shift = positive_definite(size), np.arange(1.0, size + 1.0)
    before = matrix.copy()
    factor = shifted_cholesky(matrix, shift)
    assert factor is not None
    np.testing.assert_allclose(factor @ factor.T, matrix + np.diag(shift), rtol=1e-12)
    np.testing.assert_array_equal(np.triu(factor, 1), 0.0)
    by_one = shifted_cholesky(np.asfortranarray(matrix), 2.0)
    assert by_one is not None
    np.testing.assert_allclose(by_one @ by_one.T, matrix + 2.0 * np.eye(size), rtol=1e-12)
    np.testing.assert_array_equal(matrix, before)


@pytest.mark.parametrize("factorise", [cholesky, lambda m: shifted_cholesky(m, np.zeros(2))])
def test_indefinite_matrices_have_no_factor(
    factorise: Callable[[Matrix], Matrix | None],
) -> None:
    assert factorise(np.array([[1.0, 2.0], [2.0, 1.0]])) is None


@pytest.mark.parametrize("size", SIZES)
def test_triangular_solves(size: int) -> None:
    factor = cholesky(positive_definite(size))
    assert factor is not None
    rows = np.random.default_rng(0).standard_normal((size, 5))
    vector = rows[:, 0].copy()
    before = rows.copy()
    forward, backward = np.linalg.solve(factor, rows), np.linalg.solve(factor.T, rows)
    close = {"rtol": 1e-8, "atol": 1e-8}
    np.testing.assert_allclose(solve_lower(factor, vector), forward[:, 0], **close)
    np.testing.assert_allclose(
        solve_lower(factor, vector, transposed=True), backward[:, 0], **close
    )
    np.testing.assert_allclose(solve_lower(factor, np.asfortranarray(rows)), forward, **close)
    np.testing.assert_allclose(solve_lower_rows(factor, rows), forward, **close)
    np.testing.assert_allclose(solve_upper_rows(factor, rows), backward, **close)
    np.testing.assert_allclose(
        solve_cholesky(factor, vector), np.linalg.solve(factor @ factor.T, vector), **close
    )
    np.testing.assert_array_equal(rows, before)
    np.testing.assert_allclose(
        solve_lower_rows(factor, rows.copy(), overwrite=True), forward, **close
    )


def test_a_singular_triangle_is_refused() -> None:
    with pytest.raises(np.linalg.LinAlgError, match="singular triangular factor"):
        solve_lower(np.zeros((2, 2)), np.ones(2))


@pytest.mark.parametrize("size", SIZES)
def test_inverse_and_determinant(size: int) -> None:
    matrix = positive_definite(size)
    factor = cholesky(matrix)
    assert factor is not None
    before = factor.copy()
    inverse = inverse_from_cholesky(factor)
    np.testing.assert_allclose(inverse @ matrix, np.eye(size), atol=1e-8)
    np.testing.assert_array_equal(inverse, inverse.T)
    assert log_det_cholesky(factor) == pytest.approx(np.linalg.slogdet(matrix)[1], rel=1e-12)
    np.testing.assert_array_equal(factor, before)


@pytest.mark.parametrize("size", SIZES)
def test_half_an_inverse_has_the_sums_of_the_whole(size: int) -> None:
    matrix, other = positive_definite(size), positive_definite(size + 1)[:size, :size]
    factor = cholesky(matrix)
    assert factor is not None
    half = lower_inverse(factor, 3.0)
    np.testing.assert_array_equal(np.triu(half, 1), 0.0)
    expected = 1.5 * float((np.linalg.inv(matrix) * other).sum())
    assert float((half * other).sum()) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("size", [2, 3, 40])
@pytest.mark.parametrize("order", ["C", "F"])
def test_tridiagonal_matrices_have_the_terms_of_what_they_were(size: int, order: str) -> None:
    matrix = np.array(positive_definite(size), order=order)
    vector = np.random.default_rng(0).standard_normal(size)
    expected = []
    for shift in (0.0, 0.7):
        shifted = matrix + shift * np.eye(size)
        by_solve = float(vector @ np.linalg.solve(shifted, vector))
        expected.append((shift, by_solve, float(np.linalg.slogdet(shifted)[1])))
    diagonal, beside, turned = tridiagonal(matrix, vector)
    assert diagonal.shape == turned.shape == (size,)
    assert beside.shape == (size - 1,)
    for shift, quadratic, log_det in expected:
        found = tridiagonal_terms(diagonal + shift, beside, turned)
        assert found == pytest.approx((quadratic, log_det), rel=1e-8)
    assert tridiagonal_terms(diagonal - 1e6, beside, turned) is None


def test_of_nothing() -> None:
    empty = np.empty((0, 0))
    assert inverse_from_cholesky(empty).shape == (0, 0)
    assert log_det_cholesky(empty) == 0.0
    assert shifted_cholesky(empty, np.empty(0)).shape == (0, 0)
    for solve in (solve_lower, solve_lower_rows, solve_upper_rows, solve_cholesky):
        assert solve(empty, np.empty((0, 3))).shape == (0, 3)


@pytest.mark.parametrize("shape", [(1, 4), (4, 1), (6, 3), (3, 50)])
def test_gram_of_rows_is_the_full_symmetric_product(shape: tuple[int, int]) -> None:
    rows = np.random.default_rng(1).standard_normal(shape)
    gram = gram_of_rows(rows)
    np.testing.assert_allclose(gram, rows @ rows.T, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(gram, gram.T)
