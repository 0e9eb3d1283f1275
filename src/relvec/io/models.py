"""Fitted models in files that are safe to load."""

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
from relvec.io.bounded import ModelFileError, shown
from relvec.io.container import ModelFile, read_header, read_payload, write_file
from relvec.io.history import renewed
from relvec.io.own import OwnTypes, own_types
from relvec.io.trusted import TRUSTED_TYPES

__all__ = ["ModelFileWarning", "inspect", "load", "save"]


class ModelFileWarning(UserWarning):
    """A model file that was made with other versions."""


def save(
    model: Any,
    path: str | os.PathLike[str],
    *,
    about: Mapping[str, Any] | None = None,
    trusted: Iterable[Any] = (),
) -> Path:
    """Write a fitted model to a file that anyone can load safely.

    The file is a zip archive (`.relvec` by custom) with a readable header, `relvec.json`, and the
    model in the format of skops, which holds no code. It is complete or not there at all: a file
    of that name is replaced in one step.

    Parameters
    ----------
    model : estimator
        Any fitted estimator of relvec, or a scikit-learn pipeline, column transformer or search
        with one inside.
    path : str or path-like
        Name of the file.
    about : mapping, optional
        What you want to know later: names of columns, where the data came from, scores. Anything
        that can be written as JSON.
    trusted : iterable of classes and functions, default=()
        Of your own that the model holds, such as the class of its kernel. The file keeps their
        names and the attributes of their objects, never their code: whoever loads it must have
        them, and give them to `load`.

    Returns
    -------
    path : Path

    Raises
    ------
    ModelFileError
        If the model holds something that is not data and was not given as `trusted`, such as a
        kernel that is a function of yours.

    See Also
    --------
    load : Read it again.
    inspect : What a file is, without loading it.

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
    payload = _dumped(model, own_types(trusted))
    header = {
        "class_name": _class_name(model),
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": _versions(),
        "about": _checked_about(about),
    }
    write_file(Path(path), header, payload)
    return Path(path)


def load(path: str | os.PathLike[str], *, trusted: Iterable[Any] = ()) -> Any:
    """Read a fitted model.

    Safe with files from strangers: a file can only name types from a fixed list
    (`relvec.io.TRUSTED_TYPES`, and those of NumPy's and scikit-learn's that do no harm), and
    nothing else is imported or run. What a model predicts, and how much time and memory that
    takes, is of course up to who made it.

    Parameters
    ----------
    path : str or path-like
        A file made by `save`.
    trusted : iterable of classes and functions, default=()
        Of your own that the file may name besides, as in ``trusted=[MyKernel]``. Their objects get
        back their attributes from the file without `__init__`; `__new__` and `__setstate__` are
        run if there are any.

    Returns
    -------
    model : estimator
        Its predictions are those of the model that was saved, to the last bit on the same machine
        with the same versions.

    Raises
    ------
    ModelFileError
        If the file is not a model file, damaged, made by a newer relvec, or names a type that is
        not on the list.

    Warns
    -----
    ModelFileWarning
        If it was made with another version of scikit-learn.
    """
    path, own = Path(path), own_types(trusted)
    header, payload = read_payload(path)
    try:
        payload = renewed(payload)
        strange = audit(payload, own)
    except ModelFileError as error:
        raise ModelFileError(f"{path} was not loaded: {error}.") from error
    if strange:
        raise ModelFileError(
            f"{path} was not loaded: it names {_listed(strange)}, which a model file may not hold. "
            "If these are your own, give them: load(path, trusted=[...]). If not, ask who made it "
            "for a model of relvec's and scikit-learn's own parts."
        )
    _warn_of_versions(header)
    try:
        model = _built(payload, own)
    except Exception as error:
        raise ModelFileError(
            f"{path} was not loaded: the stored model is damaged, or its parts are not those of "
            f"relvec {relvec.__version__} (it was made by {shown(header.relvec_version, 20)}): "
            f"{shown(repr(error))}."
        ) from error
    if not isinstance(model, BaseEstimator) or _class_name(model) != header.class_name:
        raise ModelFileError(
            f"{path} was not loaded: its header announces {shown(header.class_name, 120)}, but it "
            f"holds {_class_name(model)}."
        )
    return model


def inspect(path: str | os.PathLike[str]) -> ModelFile:
    """Return what a model file says of itself, without loading the model.

    Parameters
    ----------
    path : str or path-like
        A file made by `save`.

    Returns
    -------
    file : ModelFile
        Class of the model, versions it was made with, when, and `about`.
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
            f"this {type(model).__name__} is not fitted: there is nothing to save yet. Call fit."
        ) from None


def _built(payload: bytes, own: OwnTypes) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InconsistentVersionWarning)  # said once, of the header
        return import_optional("skops.io").loads(payload, trusted=[*TRUSTED_TYPES, *own.names])


def _dumped(model: Any, own: OwnTypes) -> bytes:
    skops = import_optional("skops.io")
    try:
        payload: bytes = skops.dumps(model)
    except Exception as error:
        raise ModelFileError(
            f"this {type(model).__name__} cannot be saved: {error} Only data can be, not code or "
            "open files."
        ) from error
    try:
        strange = audit(payload, own)
    except ModelFileError as error:
        raise ModelFileError(f"this {type(model).__name__} cannot be saved: {error}.") from error
    if strange:
        raise ModelFileError(
            f"this {type(model).__name__} cannot be saved: it holds {_listed(strange)}. A model "
            "file holds no code and only types from a fixed list, so that files from strangers are "
            f"safe to load. {_advice(strange, own)}"
        )
    if own.names:
        _check_return(model, payload, own)
    return payload


def _check_return(model: Any, payload: bytes, own: OwnTypes) -> None:
    """Find out now whether classes that are not ours can be rebuilt."""
    try:
        _built(payload, own)
    except Exception as error:
        raise ModelFileError(
            f"this {type(model).__name__} cannot be saved: it would not load again "
            f"({shown(repr(error))}). Classes of your own must be rebuilt by their attributes, or "
            "by __getstate__ and __setstate__."
        ) from error


def _advice(strange: list[str], own: OwnTypes) -> str:
    if own.names.intersection(strange):
        return (
            "Of what was given as trusted, only functions, and classes whose objects consist of "
            "their attributes, can be kept; subclasses of dict, list or ndarray cannot."
        )
    if all(".callback." in name for name in strange):
        return "Call set_callbacks() without arguments first."
    if all(name.startswith(("sklearn.", "scipy.")) for name in strange):
        return (
            "Save the part that predicts, such as best_estimator_ of a search. Or give classes and "
            "functions as trusted to save and load; or pickle it."
        )
    return (
        "If it is your own, give it: save(..., trusted=[...]), and load it in the same way. Else "
        "use the kernels of relvec.kernels or sklearn.gaussian_process.kernels, NumPy's universal "
        'functions (np.sin), or kernel="precomputed".'
    )


def _checked_about(about: Mapping[str, Any] | None) -> dict[str, Any]:
    if about is None:
        return {}
    if not isinstance(about, Mapping):
        raise TypeError(f"about must be a dict; got {about!r}.")
    try:
        written: dict[str, Any] = json.loads(json.dumps(dict(about), allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise ModelFileError(
            f"about must hold what JSON knows (text, finite numbers, lists, dicts): {error}."
        ) from error
    return written


def _class_name(model: Any) -> str:
    """Name of a class as users import it."""
    cls = type(model)
    root = cls.__module__.partition(".")[0]
    return f"{root}.{cls.__qualname__}"


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version(), "relvec": relvec.__version__}
    packages = ("numpy", "scipy", "scikit-learn", "skops")
    return found | {package: version(package) for package in packages}


def _warn_of_versions(header: ModelFile) -> None:
    theirs, ours = header.versions.get("scikit-learn", "unknown"), version("scikit-learn")
    if theirs != ours:
        warnings.warn(
            f"{header.path} was made with scikit-learn {shown(theirs, 20)} and is loaded with "
            f"{ours}: check a few predictions, or fit and save the model again.",
            ModelFileWarning,
            stacklevel=3,
        )


def _listed(names: list[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
