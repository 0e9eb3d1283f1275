"""The rows that scales are learnt from, and how far each input varies over them."""

from __future__ import annotations

import numpy as np

from relvec._typing import IndexArray, Matrix, Vector

__all__ = ["distinct_rows", "in_own_order", "input_moments"]

FARTHEST = 1e140
"""Squares of larger numbers, or of their inverses, leave the range of floating point."""


def distinct_rows(
    X: Matrix, targets: Matrix, sample_weight: Vector | None
) -> tuple[IndexArray, Vector]:
    """Return rows that differ, in order of first appearance, and how often each counts."""
    rows = np.arange(len(X)) if sample_weight is None else np.flatnonzero(sample_weight > 0.0)
    _, first, group = np.unique(_as_bytes(X, targets, rows), return_index=True, return_inverse=True)
    counts = np.bincount(group, weights=None if sample_weight is None else sample_weight[rows])
    order = np.argsort(first)
    return rows[first[order]], counts[order].astype(np.float64)


def in_own_order(X: Matrix, targets: Matrix, rows: IndexArray) -> IndexArray:
    """Return places that sort rows by what is in them.

    Rows that were seen twice and rows that count twice are then the same to the last digit.
    """
    return np.argsort(_as_bytes(X, targets, rows))


def _as_bytes(X: Matrix, targets: Matrix, rows: IndexArray) -> np.ndarray:
    both = np.ascontiguousarray(np.hstack([X[rows], targets[rows]])) + 0.0  # no -0.0
    return both.view(np.dtype((np.void, both.itemsize * both.shape[1]))).ravel()


def input_moments(X: Matrix, weight: Vector) -> tuple[Vector, Vector]:
    """Mean and standard deviation of every input; zero where it is constant but for rounding."""
    largest = np.abs(X).max(axis=0, initial=0.0)
    unit = np.where(largest > 0.0, largest, 1.0)
    centre = np.average(X / unit, axis=0, weights=weight)
    spread = np.sqrt(np.average((X / unit - centre) ** 2, axis=0, weights=weight))
    spread = np.where(spread > 8.0 * np.finfo(np.float64).eps, spread * unit, 0.0)
    if (spread > FARTHEST).any() or (spread[spread > 0.0] < 1.0 / FARTHEST).any():
        raise ValueError(
            "scales need the variances of the inputs, which are too large for that, or too small: "
            f"standard deviations from {spread[spread > 0.0].min():.1e} to {spread.max():.1e}. "
            "Scale the columns, for example by StandardScaler."
        )
    return centre * unit, spread
