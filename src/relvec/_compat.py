"""Optional dependencies, imported when first needed, and private functions of scikit-learn."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from relvec._typing import ArrayLike

__all__ = ["import_arviz", "import_optional", "take_rows", "to_arviz"]

EXTRAS = {
    "arviz": "mcmc",
    "matplotlib": "plot",
    "onnx": "export",
    "pywt": "wavelets",
    "skops": "export",
}
"""The extra of relvec that installs each optional module."""


def import_optional(module: str) -> Any:
    """Import an optional dependency.

    Parameters
    ----------
    module : str
        Name of the module, for example ``"pywt"`` or ``"matplotlib.pyplot"``.

    Raises
    ------
    ImportError
        If it is not installed; the message has the command that installs it.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        root = module.partition(".")[0]
        if error.name is None or error.name.partition(".")[0] != root:
            raise  # the module is installed, but one of its own dependencies is not
        package = {"pywt": "PyWavelets"}.get(root, root)
        raise ImportError(
            f"This needs {package}, which is not installed. "
            f'Install it with: pip install "relvec[{EXTRAS[root]}]"'
        ) from error


def import_arviz() -> Any:
    """Import ArviZ, without the announcement of its next version."""
    with warnings.catch_warnings():
        # ArviZ 0.23 announces changes of its interface at the first import of each day
        warnings.filterwarnings("ignore", "\\s*ArviZ is undergoing", FutureWarning)
        return import_optional("arviz")


def take_rows(X: Any, rows: Any, columns: Any = None) -> Any:
    """Return rows of an array, data frame, sparse matrix or list, and of columns if given.

    Examples
    --------
    >>> take_rows(["a", "b", "c"], [0, 2])
    ['a', 'c']
    """
    safe_indexing = import_module("sklearn.utils")._safe_indexing
    taken = safe_indexing(X, rows)
    return taken if columns is None else safe_indexing(taken, columns, axis=1)


def to_arviz(
    posterior: Mapping[str, ArrayLike],
    *,
    sample_stats: Mapping[str, ArrayLike] | None = None,
    observed_data: Mapping[str, ArrayLike] | None = None,
    coords: Mapping[str, Sequence[Any]] | None = None,
    dims: Mapping[str, Sequence[str]] | None = None,
) -> Any:
    """Convert draws to the data structure of ArviZ.

    Parameters
    ----------
    posterior : mapping of str to array-like
        Draws of each quantity, of shape (n_chains, n_draws, ...).
    sample_stats : mapping of str to array-like, optional
        What the sampler says of each draw, such as its log posterior (``lp``); of the same shape.
    observed_data : mapping of str to array-like, optional
        Data that the model was fitted to.
    coords : mapping of str to sequence, optional
        Labels along each dimension.
    dims : mapping of str to sequence of str, optional
        Names of the dimensions of each quantity after chain and draw.

    Returns
    -------
    data : xarray.DataTree or arviz.InferenceData
        A data tree with ArviZ 1.0 and newer, inference data with earlier releases; both have
        groups such as ``data["posterior"]``.
    """
    arviz = import_arviz()
    groups = {
        name: {each: np.asarray(values) for each, values in group.items()}
        for name, group in (
            ("posterior", posterior),
            ("sample_stats", sample_stats),
            ("observed_data", observed_data),
        )
        if group is not None
    }
    labels = {
        "coords": None if coords is None else {name: list(each) for name, each in coords.items()},
        "dims": None if dims is None else {name: list(each) for name, each in dims.items()},
    }
    if int(arviz.__version__.partition(".")[0]) >= 1:
        return arviz.from_dict(groups, **labels)
    return arviz.from_dict(**groups, **labels)
