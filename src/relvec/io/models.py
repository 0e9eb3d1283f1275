"""Save fitted models to files that are safe to load, and load them."""

from __future__ import annotations

import json
import os
import platform
import warnings
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.exceptions import InconsistentVersionWarning, NotFittedError
from sklearn.utils.validation import check_is_fitted

import relvec
from relvec._compat import import_optional
from relvec.io.audit import audit
from relvec.io.bounded import ModelFileError, printable
from relvec.io.container import ModelFile, read_header, read_payload, write_file
from relvec.io.history import update_names
from relvec.io.own import OwnTypes, collect_own_types
from relvec.io.trusted import TRUSTED_TYPES

__all__ = ["ModelFileWarning", "inspect", "load", "save"]


class ModelFileWarning(UserWarning):
    """A model file was saved with another version of scikit-learn."""


def save(
    model: Any,
    path: str | os.PathLike[str],
    *,
    about: Mapping[str, Any] | None = None,
    trusted: Iterable[Any] = (),
) -> Path:
    """Save a fitted model to a file that is safe to load.

    The file is a zip archive (`.relvec` by custom) with a readable header, `relvec.json`, and the
    model in the format of skops, which contains no code. An existing file is replaced in one step,
    when the new one is complete.

    Parameters
    ----------
    model : estimator
        Any fitted estimator of relvec, or a scikit-learn pipeline, column transformer or search
        with one inside.
    path : str or path-like
        Name of the file.
    about : mapping, optional
        Your own notes, for example names of columns, the source of the data, scores. Anything
        that can be written as JSON.
    trusted : iterable of classes and functions, default=()
        Your own types that the model contains, such as the class of its kernel. The file contains
        their names and the attributes of their instances, never their code. The program that
        loads the file must have them, and pass them to `load`.

    Returns
    -------
    path : Path

    Raises
    ------
    ModelFileError
        If the model contains something that is not data and was not given as `trusted`, such as
        your own function as kernel.

    See Also
    --------
    load : Load a model from a file.
    inspect : Read the header of a file without loading the model.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from pathlib import Path
    >>> from relvec import RVMRegressor
    >>> from relvec.io import inspect, load, save
    >>> X = np.linspace(-5, 5, 40)[:, None]
    >>> model = RVMRegressor(gamma=0.2).fit(X, np.sinc(X[:, 0]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = save(model, Path(folder) / "sinc.relvec", about={"data": "sinc"})
    ...     inspect(path).about
    ...     bool((load(path).predict(X) == model.predict(X)).all())
    {'data': 'sinc'}
    True
    """
    _check_model(model)
    payload = _serialise(model, collect_own_types(trusted))
    header = {
        "class_name": _class_name(model),
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": _versions(),
        "about": _check_about(about),
    }
    write_file(Path(path), header, payload)
    return Path(path)


def load(path: str | os.PathLike[str], *, trusted: Iterable[Any] = ()) -> Any:
    """Load a fitted model.

    Files from unknown sources are safe: a file can only name types from a fixed list
    (`relvec.io.TRUSTED_TYPES`, and harmless types of NumPy and scikit-learn), and nothing else is
    imported or run. The predictions of the model, and the time and memory they take, depend on the
    content of the file.

    Parameters
    ----------
    path : str or path-like
        A file made by `save`.
    trusted : iterable of classes and functions, default=()
        Your own types that the file may name as well, for example ``trusted=[MyKernel]``. The
        attributes of their instances are restored from the file without `__init__`; `__new__` and
        `__setstate__` are called if they are defined.

    Returns
    -------
    model : estimator
        Its predictions equal those of the saved model, to the last bit on the same computer with
        the same versions.

    Raises
    ------
    ModelFileError
        If the file is not a model file, is damaged, was saved by a newer relvec, or names a type
        that is not on the list.

    Warns
    -----
    ModelFileWarning
        If it was saved with another version of scikit-learn.
    """
    path, own = Path(path), collect_own_types(trusted)
    header, payload = read_payload(path)
    try:
        payload = update_names(payload)
        untrusted = audit(payload, own)
    except ModelFileError as error:
        raise ModelFileError(f"{path} was not loaded: {error}.") from error
    if untrusted:
        raise ModelFileError(
            f"{path} was not loaded: it names {_join_names(untrusted)}, which may not be in a "
            "model file. If these types are your own, pass them: load(path, trusted=[...]). If "
            "not, ask the author for a model that consists of types of relvec and scikit-learn."
        )
    _warn_about_versions(header)
    try:
        model = _deserialise(payload, own)
    except Exception as error:
        raise ModelFileError(
            f"{path} was not loaded: the stored model is damaged, or its parts are not those of "
            f"relvec {relvec.__version__} (it was saved by "
            f"{printable(header.relvec_version, 20)}): {printable(repr(error))}."
        ) from error
    if not isinstance(model, BaseEstimator) or _class_name(model) != header.class_name:
        raise ModelFileError(
            f"{path} was not loaded: its header names {printable(header.class_name, 120)}, but the "
            f"stored model is {_class_name(model)}. Copy the file again."
        )
    return model


def inspect(path: str | os.PathLike[str]) -> ModelFile:
    """Read the header of a model file without loading the model.

    Parameters
    ----------
    path : str or path-like
        A file made by `save`.

    Returns
    -------
    file : ModelFile
        Class of the model, versions and time of saving, and `about`.
    """
    return read_header(Path(path))


def _check_model(model: Any) -> None:
    if isinstance(model, type) or not isinstance(model, BaseEstimator):
        raise TypeError(
            "save needs a fitted estimator such as RVMRegressor().fit(X, y), or a pipeline with "
            f"one; got {model!r}."
        )
    try:
        check_is_fitted(model)
    except NotFittedError:
        raise NotFittedError(
            f"this {type(model).__name__} is not fitted; call fit before saving it."
        ) from None


def _deserialise(payload: bytes, own: OwnTypes) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", InconsistentVersionWarning
        )  # load warns once, by the header
        return import_optional("skops.io").loads(payload, trusted=[*TRUSTED_TYPES, *own.names])


def _serialise(model: Any, own: OwnTypes) -> bytes:
    skops = import_optional("skops.io")
    try:
        payload: bytes = skops.dumps(model)
    except Exception as error:
        raise ModelFileError(
            f"this {type(model).__name__} cannot be saved: {error} Model files contain data "
            "only, no code or open files."
        ) from error
    try:
        untrusted = audit(payload, own)
    except ModelFileError as error:
        raise ModelFileError(f"this {type(model).__name__} cannot be saved: {error}.") from error
    if untrusted:
        raise ModelFileError(
            f"this {type(model).__name__} cannot be saved: it contains {_join_names(untrusted)}. A "
            "model file contains no code and only types from a fixed list, so that it is safe to "
            f"load. {_advice(untrusted, own)}"
        )
    if own.names:
        _check_round_trip(model, payload, own)
    return payload


def _check_round_trip(model: Any, payload: bytes, own: OwnTypes) -> None:
    """Check on saving that instances of the user's own classes can be loaded."""
    try:
        _deserialise(payload, own)
    except Exception as error:
        raise ModelFileError(
            f"this {type(model).__name__} cannot be saved: loading it fails "
            f"({printable(repr(error))}). Your own classes must be restorable from their "
            "attributes, or by __getstate__ and __setstate__."
        ) from error


def _advice(untrusted: list[str], own: OwnTypes) -> str:
    if own.names.intersection(untrusted):
        return (
            "Only functions, and classes whose instances consist of their attributes, can be "
            "trusted; subclasses of dict, list or ndarray cannot."
        )
    if all(".callback." in name for name in untrusted):
        return "Call set_callbacks() without arguments first."
    if all(name.startswith(("sklearn.", "scipy.")) for name in untrusted):
        return (
            "Save the estimator that predicts, such as best_estimator_ of a search; or pass "
            "classes and functions as trusted to save and load; or use pickle."
        )
    return (
        "If it is your own, pass it: save(..., trusted=[...]), and the same to load. Otherwise "
        "use the kernels of relvec.kernels or sklearn.gaussian_process.kernels, NumPy's universal "
        'functions (np.sin), or kernel="precomputed".'
    )


def _check_about(about: Mapping[str, Any] | None) -> dict[str, Any]:
    if about is None:
        return {}
    if not isinstance(about, Mapping):
        raise TypeError(f"about must be a dict; got {about!r}.")
    try:
        written: dict[str, Any] = json.loads(json.dumps(dict(about), allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise ModelFileError(
            f"about must contain JSON types only (text, finite numbers, lists, dicts): {error}."
        ) from error
    return written


def _class_name(model: Any) -> str:
    """Return the name of a class as users import it."""
    cls = type(model)
    root = cls.__module__.partition(".")[0]
    return f"{root}.{cls.__qualname__}"


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version(), "relvec": relvec.__version__}
    packages = ("numpy", "scipy", "scikit-learn", "skops")
    return found | {package: version(package) for package in packages}


def _warn_about_versions(header: ModelFile) -> None:
    theirs, ours = header.versions.get("scikit-learn", "unknown"), version("scikit-learn")
    if theirs != ours:
        warnings.warn(
            f"{header.path} was saved with scikit-learn {printable(theirs, 20)} and is loaded with "
            f"{ours}: check a few predictions, or fit and save the model again.",
            ModelFileWarning,
            stacklevel=3,
        )


def _join_names(names: list[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
