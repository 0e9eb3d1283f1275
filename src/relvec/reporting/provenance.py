"""Whether rows are the training rows of a fitted model."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import numpy as np

from relvec._typing import Matrix
from relvec.describing import (
    get_final_estimator,
    get_kernel_centers,
    is_kernel_search,
    is_sampled,
    transform_inputs,
)

__all__ = ["Provenance", "convert_to_finite_matrix", "count_shared_rows", "find_provenance"]


class Provenance(NamedTuple):
    """Relation of given rows to the training rows."""

    are_training: bool
    """Whether they are taken to be all training rows, so that the fit can be repeated."""
    include_training: bool
    """Whether some of them are training rows, so that metrics are optimistic."""
    warning: str = ""
    """Evidence against this assumption, for the findings; empty if there is none."""


def find_provenance(estimator: Any, X: Any, y: np.ndarray, rows: str) -> Provenance:
    """Determine whether rows are the training rows of a model.

    Relevance vectors are training rows, and a regressor stores the number and the variance of its
    training targets.

    Parameters
    ----------
    estimator : estimator
        Fitted.
    X : array-like or data frame
        Inputs.
    y : ndarray of shape (n_samples,)
        Their targets.
    rows : {"auto", "training", "new"}
        As stated by the user; "auto" to determine it.
    """
    if rows == "new":
        return Provenance(False, False)
    if rows == "training":
        return Provenance(True, True)
    if is_kernel_search(estimator):
        return _compare_with_search(estimator, X, y)
    found, total = _count_vectors_among(estimator, X)
    if total and not found:
        return Provenance(False, False)
    if found < total:
        text = (
            f"{found} of {total} relevance vectors are among the given rows: some of them are "
            "training rows, so all metrics are too optimistic. Give all training rows or only "
            'held-out rows, or pass rows="new" if the match is a coincidence.'
        )
        return Provenance(False, True, text)
    if _has_other_targets(get_final_estimator(estimator), y):
        text = (
            "The given targets are not the training targets: their number or variance differs. "
            "Training metrics, AIC and BIC may be wrong. Give the training rows, or pass "
            'rows="new" if these are other rows.'
        )
        return Provenance(True, True, text)
    return Provenance(True, True)


def _compare_with_search(estimator: Any, X: Any, y: np.ndarray) -> Provenance:
    """Compare rows with those of a kernel search, which stores them."""
    model = get_final_estimator(estimator)
    rows = model.training_rows_
    inputs = model.convert_inputs(transform_inputs(estimator, X))
    low, high = rows.inputs.min(axis=0), rows.inputs.max(axis=0)
    # stored rows were scaled and scaled back, which is exact up to rounding errors
    unit = 1e-9 * np.where(high > low, high - low, 1.0)
    table, known = (
        np.column_stack([np.rint((each - low) / unit), values])
        for each, values in ((inputs, y), (rows.inputs, rows.target))
    )
    stored = set(_keys(known))
    n_shared = sum(row in stored for row in _keys(table))
    if n_shared == len(y) == round(float(rows.weight.sum())):
        return Provenance(True, True)
    if not n_shared:
        return Provenance(False, False)
    text = (
        f"{n_shared} of {len(y)} given rows are training rows, of which there are "
        f"{len(rows.target)}: metrics are too optimistic. Give all training rows or only held-out "
        "rows."
    )
    return Provenance(False, True, text)


def count_shared_rows(
    estimator: Any, X: Any, y: np.ndarray, other_X: Any, other_y: np.ndarray
) -> int | None:
    """Count rows of the second data set that are also in the first; None if not comparable."""
    first, second = (
        convert_to_finite_matrix(transform_inputs(estimator, each)) for each in (X, other_X)
    )
    if first is None or second is None or first.shape[1] != second.shape[1]:
        return None
    known = Counter(zip(_keys(first), y.tolist(), strict=True))
    return sum((row, t) in known for row, t in zip(_keys(second), other_y.tolist(), strict=True))


def convert_to_finite_matrix(X: Any) -> Matrix | None:
    """Convert inputs to a matrix; None unless all values are finite numbers."""
    try:
        array = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return array if array.ndim == 2 and np.isfinite(array).all() else None


def _count_vectors_among(estimator: Any, X: Any) -> tuple[int, int]:
    """Count the relevance vectors among the rows, and all that can be compared."""
    atoms = getattr(get_final_estimator(estimator), "atoms_", None)
    centers, transformed = (
        get_kernel_centers(get_final_estimator(estimator)),
        convert_to_finite_matrix(transform_inputs(estimator, X)),
    )
    if centers is None or transformed is None or not getattr(atoms, "from_rows", False):
        return 0, 0
    if np.array_equal(transformed, transformed.astype(np.float32)):
        centers = centers.astype(np.float32).astype(
            np.float64
        )  # rows may have been stored in single precision
    known = set(_keys(transformed))
    return sum(row in known for row in _keys(centers)), len(centers)


def _has_other_targets(model: Any, y: np.ndarray) -> bool:
    """Whether number or variance of the targets differ from those of the training targets."""
    model = model.evidence_model_ if is_sampled(model) else model
    outputs = list(getattr(model, "outputs_", []))
    posterior = getattr(outputs[0], "posterior", None) if len(outputs) == 1 else None
    if posterior is None or y.dtype.kind != "f":
        return False
    if outputs[0].has_row_variance or outputs[0].noise is not None:
        return False  # moments of the targets are weighted
    transform = outputs[0].transform
    if transform is not None:
        if not transform.supports(y).all():
            return True
        y = transform.forward(y)
    centred = y - y.mean() if posterior.has_intercept else y
    count = len(y) - int(posterior.has_intercept)
    squares = float(centred @ centred)
    known = posterior.n_effective * posterior.target_variance
    # The tolerance allows for targets stored in single precision.
    tolerance = 1e-6 * float(y @ y) + np.finfo(np.float64).tiny
    return bool(posterior.n_effective != count or abs(squares - known) > tolerance)


def _keys(matrix: Matrix) -> list[bytes]:
    return [row.tobytes() for row in np.ascontiguousarray(matrix) + 0.0]
