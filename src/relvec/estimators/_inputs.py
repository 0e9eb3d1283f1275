"""Inputs as the models see them: an array of numbers, or of objects where the basis takes those."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import get_tags
from sklearn.utils.validation import _check_sample_weight, validate_data

from relvec._checks import as_object_array, check_finite_input
from relvec._typing import ArrayLike, Vector

__all__ = ["check_range", "read_weight", "validate_inputs", "warn_of_weights"]

MEAN_OF_NO_COUNTS = 2.0
"""Weights that are not whole numbers count something else if their mean is larger: importances are
usually scaled to a mean of one, and with twice as many rows error bars are 0.7 times as wide."""


def validate_inputs(estimator: Any, X: Any, *targets: Any, **options: Any) -> Any:
    """Check inputs, and targets if there are any, and return them as arrays.

    Parameters
    ----------
    estimator : estimator
        Whose number of features is set or, with ``reset=False``, asked for. Its basis says
        whether inputs may be texts and other objects.
    X : array-like
        Inputs: numbers, a sparse matrix, or where the basis takes them a list of texts or
        objects, or an array of them with one or two axes.
    *targets : array-like
        At most one.
    **options : object
        Passed on to `sklearn.utils.validation.validate_data`.

    Returns
    -------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        Of float64, or of objects.
    y : ndarray
        Only if given.
    """
    if targets and options.get("y_numeric"):
        _check_numbers(targets[0])
    is_numeric = isinstance(X, np.ndarray) and X.dtype.kind in "fiub"
    if not is_numeric and estimator._resolve_basis().accepts_objects:
        objects = as_object_array(X)
        if objects is not None:
            given = X if hasattr(X, "columns") else objects  # with the names of its columns
            return validate_data(
                estimator, given, *targets, dtype=object, ensure_all_finite=False, **options
            )
    check_finite_input(X, "X")
    validated = validate_data(
        estimator, X, *targets, accept_sparse=("csr", "csc"), dtype=np.float64, **options
    )
    tags = get_tags(estimator)
    if targets:
        X = validated[0]
        check_range("X", X.data if issparse(X) else X)
    if targets and tags.input_tags.pairwise and options.get("reset", True):
        shape = validated[0].shape
        if shape[0] != shape[1]:
            raise ValueError(
                'kernel="precomputed" needs a square matrix between the training inputs in fit; '
                f"got shape {shape}. For other design matrices use "
                f"SparseBayes{str(tags.estimator_type).title()}(PrecomputedBasis())."
            )
    return validated


def _check_numbers(y: Any) -> None:
    """Raise if targets are texts that are no numbers: they are classes."""
    values = np.asarray(y)
    if values.dtype.kind in "OUS":
        try:
            values.astype(np.float64)
        except ValueError:
            raise ValueError(
                f"y must hold numbers; got values such as {values.flat[0]!r}. For classes use "
                "RVMClassifier or another classifier."
            ) from None
        except TypeError:
            return  # no array: scikit-learn says what is wrong


def check_range(name: str, values: np.ndarray, *, of: str = "") -> None:
    """Refuse numbers whose squares are not floating-point numbers.

    Parameters
    ----------
    name : str
        Of what the user can rescale.
    values : ndarray
        Numbers.
    of : str, default=""
        What the numbers are, if they are made of that.
    """
    limit = 1e140  # squares of larger numbers, or of their inverses, times the number of rows
    largest = float(np.abs(values).max(initial=0.0))
    spread = float(np.ptp(values, axis=0).max(initial=0.0)) if len(values) else 0.0
    if largest > limit or 0.0 < spread < 1.0 / limit:
        raise ValueError(
            f"{of or name} has values up to {largest:.3g} that differ by up to {spread:.3g}; their "
            f"squares leave the range of floating-point numbers. Rescale {name}, for instance to "
            "unit variance."
        )


def read_weight(sample_weight: ArrayLike, X: Any) -> Vector | None:
    """Return how often each row counts; None if all count once."""
    weight: Vector = _check_sample_weight(
        sample_weight, X, dtype=np.float64, ensure_non_negative=True
    )
    if not weight.any():
        raise ValueError("sample_weight must have a positive entry; all are zero.")
    return None if (weight == 1.0).all() else weight


def warn_of_weights(weight: Vector | None, *, stacklevel: int) -> None:
    """Warn of weights that are no counts but make rows count several times."""
    if weight is None:
        return
    given = weight[weight > 0.0]
    if given.mean() <= MEAN_OF_NO_COUNTS or (given == np.rint(given)).all():
        return
    warnings.warn(
        f"sample_weight sums to {given.sum():.3g} for {len(given)} rows and is not made of whole "
        "numbers. Weights say how often each row was seen, so the model takes the data for so many "
        "independent rows: it keeps too many atoms and is too sure of itself. Divide weights that "
        "are inverse variances or importances by their mean; round counts, or repeat the rows.",
        UserWarning,
        stacklevel=stacklevel,
    )
