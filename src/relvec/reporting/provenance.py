"""Whether rows are those a model was fitted to, as far as a fitted model can tell."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import numpy as np

from relvec._typing import Matrix
from relvec.describing import get_final_estimator, get_kernel_centers, transform_inputs

__all__ = ["Provenance", "as_numbers", "provenance_of", "rows_shared"]


class Provenance(NamedTuple):
    """What is known of rows."""

    are_training: bool
    """Whether they are taken for all the rows of the fit, so that it can be repeated."""
    are_seen: bool
    """Whether the fit is taken to have seen some of them, so that figures flatter."""
    doubt: str = ""
    """What speaks against it, in a sentence; empty if nothing does."""


def provenance_of(estimator: Any, X: Any, y: np.ndarray, rows: str) -> Provenance:
    """Find out whether rows are those of the fit.

    Kernels sit on training rows, where a model has any; and a regressor knows the number and the
    spread of its targets.

    Parameters
    ----------
    estimator : estimator
        Fitted.
    X : array-like or data frame
        Inputs.
    y : ndarray of shape (n_samples,)
        Their targets.
    rows : {"auto", "training", "new"}
        What the user says; "auto" is to find out.
    """
    if rows == "new":
        return Provenance(False, False)
    if rows == "training":
        return Provenance(True, True)
    found, total = _vectors_among(estimator, X)
    if total and not found:
        return Provenance(False, False)
    if found < total:
        words = (
            f"{found} of {total} vectors are among the rows given: some of these rows were seen in "
            "the fit, which flatters all figures. Give all rows of the fit, or only others; "
            'rows="new" says that likeness is by chance.'
        )
        return Provenance(False, True, words)
    if _has_other_targets(get_final_estimator(estimator), y):
        words = (
            "The targets given do not add up to those of the fit: there are more or fewer rows, "
            "other targets or weights. Figures of training rows and of the fit may be off; "
            'rows="new" says that these are others.'
        )
        return Provenance(True, True, words)
    return Provenance(True, True)


def rows_shared(
    estimator: Any, X: Any, y: np.ndarray, other_X: Any, other_y: np.ndarray
) -> int | None:
    """Count the second rows that are among the first, inputs and target alike; None if unknown."""
    first, second = (as_numbers(transform_inputs(estimator, each)) for each in (X, other_X))
    if first is None or second is None or first.shape[1] != second.shape[1]:
        return None
    known = Counter(zip(_keys(first), y.tolist(), strict=True))
    return sum((row, t) in known for row, t in zip(_keys(second), other_y.tolist(), strict=True))


def as_numbers(X: Any) -> Matrix | None:
    """Inputs as a matrix, if they are finite numbers."""
    try:
        array = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return array if array.ndim == 2 and np.isfinite(array).all() else None


def _vectors_among(estimator: Any, X: Any) -> tuple[int, int]:
    """How many vectors sit on one of the rows, and of how many that can be said."""
    atoms = getattr(get_final_estimator(estimator), "atoms_", None)
    centers, seen = (
        get_kernel_centers(get_final_estimator(estimator)),
        as_numbers(transform_inputs(estimator, X)),
    )
    if centers is None or seen is None or not getattr(atoms, "from_rows", False):
        return 0, 0
    if np.array_equal(seen, seen.astype(np.float32)):
        centers = centers.astype(np.float32).astype(np.float64)  # rows may have been stored so
    known = set(_keys(seen))
    return sum(row in known for row in _keys(centers)), len(centers)


def _has_other_targets(model: Any, y: np.ndarray) -> bool:
    """Whether number or spread of targets differ from those a regressor was fitted to."""
    outputs = list(getattr(model, "outputs_", []))
    posterior = getattr(outputs[0], "posterior", None) if len(outputs) == 1 else None
    if posterior is None or y.dtype.kind != "f":
        return False
    centred = y - y.mean() if posterior.has_intercept else y
    count = len(y) - int(posterior.has_intercept)
    squares = float(centred @ centred)
    known = posterior.n_effective * posterior.target_variance
    # a millionth is what storing targets in single precision leaves
    room = 1e-6 * float(y @ y) + np.finfo(np.float64).tiny
    return bool(posterior.n_effective != count or abs(squares - known) > room)


def _keys(matrix: Matrix) -> list[bytes]:
    return [row.tobytes() for row in np.ascontiguousarray(matrix) + 0.0]
