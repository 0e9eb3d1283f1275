"""Validation of inputs, targets and sample weights."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import get_tags
from sklearn.utils.validation import _check_sample_weight, validate_data

from relvec._checks import as_object_array, check_finite_input
from relvec._typing import ArrayLike, Matrix, Vector

__all__ = [
    "check_numbers",
    "check_range",
    "read_noise_variance",
    "read_weight",
    "validate_inputs",
    "warn_about_weights",
]

MAX_MEAN_WEIGHT = 2.0
"""Mean of weights that are not whole numbers above which a warning is issued. Importance weights
usually have mean one; with mean two, error bars are 0.7 times as wide."""


def validate_inputs(estimator: Any, X: Any, *targets: Any, **options: Any) -> Any:
    """Validate inputs, and targets if they are given, and return them as arrays.

    Parameters
    ----------
    estimator : estimator
        Its number of features is set or, with ``reset=False``, checked. Its basis determines
        whether inputs may be texts and other objects.
    X : array-like
        Inputs: numbers, a sparse matrix or, if the basis accepts them, texts or objects as a list
        or an array of one or two axes.
    *targets : array-like
        At most one array of targets.
    **options : object
        Passed to `sklearn.utils.validation.validate_data`.

    Returns
    -------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        Validated inputs, of dtype float64 or object.
    y : ndarray
        Validated targets. Only if `targets` is given.
    """
    if targets and options.get("y_numeric"):
        check_numbers(targets[0])
    is_numeric = isinstance(X, np.ndarray) and X.dtype.kind in "fiub"
    if not is_numeric and estimator._resolve_basis().accepts_objects:
        objects = as_object_array(X)
        if objects is not None:
            given = X if hasattr(X, "columns") else objects  # a data frame keeps its names
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
                'kernel="precomputed" needs the square kernel matrix of the training inputs in '
                f"fit; got shape {shape}. For other basis matrices use "
                f"SparseBayes{str(tags.estimator_type).title()}(PrecomputedBasis())."
            )
    return validated


def check_numbers(y: Any) -> None:
    """Raise if targets are dates, or texts that are not numbers."""
    values = np.asarray(y)
    if values.dtype.kind in "mM":
        raise ValueError(f"y must contain numbers; got dates such as {values.flat[0]!s}.")
    if values.dtype.kind in "OUS":
        try:
            values.astype(np.float64)
        except ValueError:
            value = values.astype(object).flat[0]
            raise ValueError(
                f"y must contain numbers; got values such as {value!r}. For class labels "
                "use RVMClassifier or another classifier."
            ) from None
        except TypeError:
            return  # not an array: scikit-learn raises


def check_range(name: str, values: np.ndarray, *, of: str = "") -> None:
    """Raise if squares of numbers are outside the range of floating-point numbers.

    Parameters
    ----------
    name : str
        Name of the array that the user can rescale.
    values : ndarray
        Numbers to check.
    of : str, default=""
        Description of the numbers if they are computed from that array.
    """
    limit = 1e140  # squares of larger numbers, or of their inverses, may overflow in sums over rows
    largest = float(np.abs(values).max(initial=0.0))
    spread = float(np.ptp(values, axis=0).max(initial=0.0)) if len(values) else 0.0
    if largest > limit or 0.0 < spread < 1.0 / limit:
        raise ValueError(
            f"{of or name} has values up to {largest:.3g} that differ by up to {spread:.3g}; their "
            f"squares leave the range of floating-point numbers. Rescale {name}, for instance to "
            "unit variance."
        )


def read_weight(sample_weight: ArrayLike, X: Any) -> Vector | None:
    """Validate frequency weights; return None if all are one."""
    weight: Vector = _check_sample_weight(
        sample_weight, X, dtype=np.float64, ensure_non_negative=True
    )
    if not weight.any():
        raise ValueError(
            "sample_weight is zero for all rows. Give at least one row a positive weight."
        )
    return None if (weight == 1.0).all() else weight


def read_noise_variance(noise_variance: Any, X: Any, n_outputs: int) -> Matrix:
    """Validate noise variances of rows, and return one column per output.

    Parameters
    ----------
    noise_variance : float, array-like or callable
        One number, one for each row, one for each row and output, or a function of `X` that returns
        one of these.
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        Validated inputs.
    n_outputs : int
        Number of outputs.
    """
    values = noise_variance(X) if callable(noise_variance) else noise_variance
    try:
        variances = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"noise_variance must be a number, an array of numbers or a function of X that returns "
            f"one of these; got {values!r}."
        ) from None
    limit = 1e140  # its square is a number
    if not np.isfinite(variances).all() or variances.max(initial=0.0) > limit:
        raise ValueError(
            f"noise_variance must be finite and at most {limit:g}; it contains NaN, infinity or "
            "larger numbers."
        )
    shape = (X.shape[0], n_outputs)
    if variances.shape == shape[:1]:
        variances = variances[:, None]
    if variances.ndim and variances.shape not in (shape, (shape[0], 1)):
        raise ValueError(
            f"noise_variance must be a number or an array of shape {shape[:1]}"
            f"{f' or {shape}' if n_outputs > 1 else ''}, one entry per row; got shape "
            f"{np.shape(values)}."
        )
    if (variances < 0.0).any():
        raise ValueError(
            f"noise_variance must not be negative; got {variances.min():g}. It is a variance, the "
            "square of a standard deviation."
        )
    return np.broadcast_to(variances, shape)


def warn_about_weights(weight: Vector | None, advice: str = "", *, stacklevel: int) -> None:
    """Warn about weights that are not whole numbers and have a large mean."""
    if weight is None:
        return
    given = weight[weight > 0.0]
    if given.mean() <= MAX_MEAN_WEIGHT or (given == np.rint(given)).all():
        return
    warnings.warn(
        f"sample_weight sums to {given.sum():.3g} for {len(given)} rows and contains fractions. "
        "Sample weights are frequency weights, so the data count as that many independent rows: "
        "the model keeps too many basis functions and its error bars are too narrow. Divide "
        f"importance weights by their mean; round counts. {advice}".rstrip(),
        UserWarning,
        stacklevel=stacklevel,
    )
