"""Argument checks and their error messages.

Every message states what was given, what is needed, and where possible what to do.
"""

from __future__ import annotations

import difflib
import math
import numbers
from collections.abc import Iterable
from itertools import filterfalse
from typing import Any

import numpy as np
from scipy.sparse import issparse

__all__ = [
    "as_object_array",
    "check_bool",
    "check_choice",
    "check_counts",
    "check_dense",
    "check_exposure",
    "check_finite_block",
    "check_finite_input",
    "check_integer",
    "check_positive",
    "check_probability",
    "check_targets",
    "find_closest_name",
]


def find_closest_name(name: str, choices: Iterable[str]) -> str | None:
    """Return the choice spelled most like `name`, or None if none is close.

    Examples
    --------
    >>> find_closest_name("RFB", ["rbf", "linear"])
    'rbf'
    """
    by_lower = {choice.lower(): choice for choice in choices}
    found = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=0.5)
    return by_lower[found[0]] if found else None


def check_choice(name: str, value: Any, choices: Iterable[str], *, also: str = "") -> str:
    """Return `value` if it is one of `choices`.

    Parameters
    ----------
    name : str
        Name of the parameter, for the message.
    value : object
        The value to check.
    choices : iterable of str
        Accepted values.
    also : str, default=""
        Other accepted values, for the message.

    Raises
    ------
    ValueError
        If `value` is something else; the message lists the choices and the closest one.
    """
    choices = list(choices)
    if isinstance(value, str) and value in choices:
        return value
    close = find_closest_name(value, choices) if isinstance(value, str) else None
    listed = ", ".join(repr(choice) for choice in choices)
    hint = f" Did you mean {close!r}?" if close is not None else ""
    others = f" {also}" if also else ""
    raise ValueError(f"{name} must be one of {listed}{others}; got {value!r}.{hint}")


def check_positive(name: str, value: Any, *, allow_zero: bool = False, also: str = "") -> float:
    """Return `value` as a float if it is a positive finite real number of any numeric type.

    Parameters
    ----------
    name : str
        Name of the parameter, for the message.
    value : object
        The value to check.
    allow_zero : bool, default=False
        Whether zero passes.
    also : str, default=""
        What else the parameter accepts, for the message: for instance ``'or "scale"'``.
    """
    needed = "a non-negative number" if allow_zero else "a positive number"
    needed = f"{needed} {also}".rstrip()
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be {needed}; got {value!r} of type {type(value).__name__}.")
    number = float(value)
    if not math.isfinite(number) or number < 0 or (number == 0 and not allow_zero):
        raise ValueError(f"{name} must be {needed}; got {value!r}.")
    return number


def check_probability(name: str, value: Any) -> float:
    """Return `value` as a float if it is a number strictly between 0 and 1."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number strictly between 0 and 1; got {value!r}.")
    if not 0.0 < float(value) < 1.0:
        raise ValueError(f"{name} must be a number strictly between 0 and 1; got {value!r}.")
    return float(value)


def check_targets(target: Any, shape: tuple[int, ...]) -> Any:
    """Return targets as an array if there is one per prediction."""
    values = np.asarray(target)
    if values.shape != shape:
        raise ValueError(
            f"target must have one entry per prediction, shape {shape}; got shape {values.shape}."
        )
    return values


def check_predictions(owner: str, name: str, values: Any, n_rows: int) -> Any:
    """Return what a model predicted as an array, if it is one finite number for each row.

    Parameters
    ----------
    owner : str
        The model, for the message.
    name : str
        What was predicted, for the message.
    values : array-like of shape (n_rows,) or (n_rows, 1)
        The predictions.
    n_rows : int
        Number of rows.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.shape not in ((n_rows,), (n_rows, 1)):
        raise ValueError(
            f"{owner} must predict one {name} for each of {n_rows} rows; got shape {array.shape}."
        )
    if not np.isfinite(array).all():
        n_bad = int(np.count_nonzero(~np.isfinite(array)))
        raise ValueError(
            f"{owner} must predict finite values; {n_bad} of {n_rows} are not ({name})."
        )
    return array.ravel()


def check_mean_and_std(owner: str, predicted: Any, n_rows: int) -> tuple[Any, Any]:
    """Return mean and standard deviation, as ``predict(X, return_std=True)`` should return them."""
    if not isinstance(predicted, tuple) or len(predicted) != 2:
        raise TypeError(
            f"{owner} must return mean and standard deviation from predict(X, return_std=True); "
            f"got {type(predicted).__name__}."
        )
    mean = check_predictions(owner, "mean", predicted[0], n_rows)
    std = check_predictions(owner, "standard deviation", predicted[1], n_rows)
    if (std < 0.0).any():
        raise ValueError(f"{owner} predicted negative standard deviations; got {std.min():.4g}.")
    return mean, std


MAX_COUNT = 1e12
"""Largest count. Error bars of the log rate of larger ones are below the rounding errors of its
mean, and their log likelihoods have no digits left to compare models by."""

EXPOSURE_RANGE = 1e-100, 1e100
"""Smallest and largest exposure, so that exponentials of the log exposure, and their sums, stay in
the range of numbers."""


def check_counts(name: str, values: Any) -> Any:
    """Return counts as an array of floats; raise unless all are integers from 0 to `MAX_COUNT`.

    Examples
    --------
    >>> check_counts("y", [0, 3])
    array([0., 3.])
    """
    counts = np.asarray(values, dtype=np.float64)
    is_wrong = ~((counts >= 0.0) & (counts == np.floor(counts)) & np.isfinite(counts))
    if is_wrong.any():
        place, wrong = int(np.argmax(is_wrong.ravel())), counts[is_wrong][0]
        reason = (
            "Counts of events cannot be negative; for a target of either sign use RVMRegressor."
            if wrong < 0.0
            else "If these are rates, give the numbers of events as y and the time, area or "
            "population of each row as exposure; for a continuous target use RVMRegressor."
        )
        raise ValueError(
            f"{name} must hold counts, which are non-negative integers; the value at position "
            f"{place} is {wrong:g} ({int(is_wrong.sum())} of {counts.size} are no counts). {reason}"
        )
    if (counts > MAX_COUNT).any():
        raise ValueError(
            f"{name} must hold counts of at most {MAX_COUNT:g}; the value at position "
            f"{int(np.argmax(counts.ravel() > MAX_COUNT))} is {counts[counts > MAX_COUNT][0]:g}. "
            "If it is a code for a missing value, leave out the row; for quantities of this size "
            "use RVMRegressor of their logarithms."
        )
    return counts


def check_exposure(exposure: Any, n_rows: int) -> Any:
    """Return the exposure of each row as an array; raise unless all are in `EXPOSURE_RANGE`.

    One number is the exposure of every row; None is one unit for each.

    Examples
    --------
    >>> check_exposure([0.5, 2.0], 2), check_exposure(None, 2)
    (array([0.5, 2. ]), array([1., 1.]))
    """
    if exposure is None:
        return np.ones(n_rows)
    try:
        values = np.asarray(exposure, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"exposure must hold positive numbers; got {exposure!r}.") from None
    if values.shape not in ((), (n_rows,)):
        raise ValueError(
            f"exposure must be a number or have one value for each of the {n_rows} rows; got shape "
            f"{values.shape}."
        )
    least, most = EXPOSURE_RANGE
    is_wrong = ~((values >= least) & (values <= most))
    if is_wrong.any():
        wrong = values[is_wrong][0] if values.ndim else float(values)
        advice = (
            "Use another unit."
            if 0.0 < wrong < np.inf
            else "It is the time, area or population in which the events of a row were counted; "
            "leave out rows without any."
        )
        raise ValueError(
            f"exposure must be positive and finite, from {least:g} to {most:g}; got {wrong:g}. "
            f"{advice}"
        )
    return np.array(np.broadcast_to(values, n_rows))


def check_bool(name: str, value: Any, *, also: str = "") -> bool:
    """Return `value` if it is True or False.

    Parameters
    ----------
    name : str
        Name of the parameter, for the message.
    value : object
        The value to check.
    also : str, default=""
        What else the parameter accepts, for the message.
    """
    if not isinstance(value, (bool, np.bool_)):
        needed = f"True or False {also}".rstrip()
        raise TypeError(f"{name} must be {needed}; got {value!r}.")
    return bool(value)


def check_integer(name: str, value: Any, *, minimum: int) -> int:
    """Return `value` as an int if it is a whole number of at least `minimum`."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Integral):
        raise TypeError(
            f"{name} must be an integer of at least {minimum}; "
            f"got {value!r} of type {type(value).__name__}."
        )
    if value < minimum:
        raise ValueError(f"{name} must be an integer of at least {minimum}; got {value!r}.")
    return int(value)


def check_dense(X: Any, owner: str) -> None:
    """Raise if `X` is a sparse matrix, which `owner` cannot use."""
    if issparse(X):
        raise TypeError(
            f"{owner} needs dense inputs; got a sparse matrix. "
            "Use LinearBasis, or pass X.toarray()."
        )


def check_finite_input(values: Any, name: str) -> None:
    """Raise if an input is not finite, or a column holds text, naming row and column.

    All other checks are left to scikit-learn.
    """
    if issparse(values):
        values = values.tocoo().data
    columns = getattr(values, "columns", None)
    names = None if columns is None else [repr(str(column)) for column in columns]
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "fOUT" or array.ndim not in (1, 2):
            return
        array = array.astype(np.float64, copy=False)
    except (TypeError, ValueError):
        if names is not None and array.ndim == 2:
            _refuse_text(array, name, names)
        elif name == "X":
            _refuse_strings(array)
        return
    check_finite_block(array, name, names)


def _refuse_text(array: np.ndarray, what: str, names: list[str]) -> None:
    """Raise an error that names the first column with values that are not numbers."""
    for column, column_name in zip(array.T, names, strict=True):
        for value in filterfalse(_is_convertible, column):
            raise ValueError(
                f"{what} must hold numbers; column {column_name} holds {value!r}. Drop the column, "
                "or encode it first, for example by scikit-learn's OneHotEncoder in a "
                "ColumnTransformer; the command `relvec fit` does so automatically."
            ) from None


def _refuse_strings(array: np.ndarray) -> None:
    """Raise an error for inputs that hold strings; other objects are left to scikit-learn."""
    for row, values in enumerate(array):
        for value in filterfalse(_is_convertible, np.ravel(values)):
            if not isinstance(value, str):
                return
            raise ValueError(
                f"X must hold numbers for this model; row {row} holds the string {str(value)!r}. "
                "Use a kernel for strings, such as relvec.kernels.StringSpectrum(3) or a "
                "function k(X, Z), or encode strings as numbers first, for example by "
                "scikit-learn's TfidfVectorizer or OneHotEncoder."
            ) from None


def _is_convertible(value: Any) -> bool:
    """Whether a value can be converted to a float."""
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def as_object_array(values: Any) -> np.ndarray | None:
    """Return inputs that are not numbers as a 2-D array of objects; return None for numbers.

    A sequence of strings or other objects becomes one column. Rows that are lists, tuples or arrays
    of equal length become several columns; to use each row as one object, pass a one-dimensional
    array of objects.

    Examples
    --------
    >>> as_object_array(["one", "two"])
    array([['one'],
           ['two']], dtype=object)
    >>> as_object_array([[1.0], [2]]) is None
    True
    """
    if isinstance(values, str | bytes):
        raise ValueError(
            f"X must be a list of strings; got one string, {values[:40]!r}. Pass [string]."
        )
    if issparse(values) or (isinstance(values, np.ndarray) and values.dtype.kind in "fiubc"):
        return None
    if isinstance(values, np.ndarray) or hasattr(values, "columns") or hasattr(values, "dtype"):
        array = np.asarray(values, dtype=object)
    else:
        array = _stack_objects(list(values))
    if array.ndim not in (1, 2) or all(map(_is_number, array.flat)):
        return None
    return array.reshape(len(array), -1)


def _stack_objects(listed: list[Any]) -> np.ndarray:
    """Return rows of equal length as a 2-D array, anything else as a 1-D array of objects."""
    are_rows = all(isinstance(each, list | tuple | np.ndarray) for each in listed)
    if listed and are_rows and len({np.shape(row)[:1] for row in listed}) == 1:
        return np.array([list(row) for row in listed], dtype=object)
    array = np.empty(len(listed), dtype=object)
    for place, each in enumerate(listed):
        array[place] = each
    return array


def _is_number(value: Any) -> bool:
    return value is None or isinstance(value, numbers.Number | np.bool_)


def check_finite_block(array: np.ndarray, what: str, columns: list[str] | None = None) -> None:
    """Raise if `array` holds NaN or infinity, naming the position of the first one.

    Parameters
    ----------
    array : ndarray
        Values to check.
    what : str
        What the array is, as the subject of the error sentence.
    columns : list of str, optional
        Names of the columns for the message; numbers by default.

    Raises
    ------
    ValueError
        If a value is not finite; the message has the first position and the number of such values.
    """
    # If the sum is finite, so are all values: one pass, no temporary array. An infinite sum may
    # also be an overflow, which the count below finds out.
    with np.errstate(all="ignore"):
        if np.isfinite(array.sum()):
            return
    bad = ~np.isfinite(array)
    n_bad = int(np.count_nonzero(bad))
    if n_bad == 0:
        return
    position: tuple[Any, ...] = np.unravel_index(int(np.argmax(bad)), array.shape)
    position = tuple(int(i) for i in position)
    value = "NaN" if np.isnan(array[position]) else str(array[position])
    if columns is not None and array.ndim == 2:
        position = (position[0], columns[position[1]])
    where = {1: "position {}", 2: "row {}, column {}"}.get(array.ndim, "index {}")
    place = where.format(*position) if array.ndim in (1, 2) else where.format(position)
    count = "1 value is" if n_bad == 1 else f"{n_bad} of {array.size} values are"
    raise ValueError(
        f"{what} must be finite; the value at {place} is {value} "
        f"({count} not finite). Remove or replace these values."
    )
