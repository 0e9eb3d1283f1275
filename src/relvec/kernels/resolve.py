"""Turn options such as ``kernel="rbf", gamma="scale"`` into kernel objects."""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import Kernel, WhiteKernel

from relvec._checks import check_choice, check_integer, check_positive, find_closest_name
from relvec._typing import Matrix, Vector

# Importing a module registers its kernels.
from relvec.kernels import pairwise, periodic, scikit, spectral, splines  # noqa: F401
from relvec.kernels.definition import KERNEL_DEFINITIONS, KernelLike

__all__ = [
    "KERNEL_NAMES",
    "LEARNT_BY_DEFAULT",
    "contains_kernel",
    "resolve_gamma",
    "resolve_kernel",
]

_MAKERS = {name: make for each in KERNEL_DEFINITIONS.values() for name, make in each.names.items()}
KERNEL_NAMES: tuple[str, ...] = tuple(_MAKERS)
"""Names of kernels that options accept."""

LEARNT_BY_DEFAULT: frozenset[str] = frozenset(
    name for each in KERNEL_DEFINITIONS.values() if each.learns_length_scales for name in each.names
)
"""Names of kernels whose length-scales are learnt by default, unless `gamma` is given."""


def resolve_kernel(
    kernel: Any,
    gamma: Any = "scale",
    degree: Any = 3,
    coef0: Any = 1.0,
    X: Matrix | None = None,
    sample_weight: Vector | None = None,
) -> KernelLike:
    """Return the kernel object for a name; return kernel objects and callables unchanged.

    Parameters
    ----------
    kernel : str, Kernel or callable
        One of `KERNEL_NAMES`, a scikit-learn kernel object, or a function ``k(X, Z)``.
        For objects and callables the other parameters are ignored.
    gamma : "scale", "auto" or positive number, default="scale"
        Coefficient of a kernel given by name, as in ``exp(-gamma |x - z|^2)``; see
        `resolve_gamma`. Kernels with a length-scale get ``length_scale = 1 / sqrt(2 gamma)``.
    degree : int, default=3
        Exponent of the polynomial kernel.
    coef0 : float, default=1.0
        Constant of the polynomial and sigmoid kernels.
    X : ndarray of shape (n_samples, n_features), default=None
        Inputs, needed for ``gamma="scale"`` and ``"auto"``.
    sample_weight : ndarray of shape (n_samples,), default=None
        Frequency weights, for the variance in ``gamma="scale"``.

    Returns
    -------
    kernel : Kernel or callable

    Raises
    ------
    ValueError
        If the name is unknown, a parameter is out of range, or the kernel contains a WhiteKernel.

    Examples
    --------
    >>> from relvec.kernels import resolve_kernel
    >>> resolve_kernel("rbf", gamma=0.5)
    RBF(length_scale=1)
    """
    if isinstance(kernel, Kernel):
        if contains_kernel(kernel, WhiteKernel):
            raise ValueError(
                f"kernel {kernel!r} contains a WhiteKernel, but noise belongs to the likelihood. "
                "Remove the WhiteKernel and set noise_variance instead."
            )
        return kernel
    if not isinstance(kernel, str):
        if callable(kernel) and not isinstance(kernel, type):
            return kernel
        raise TypeError(
            "kernel must be a name, a scikit-learn kernel object or a function k(X, Z); "
            f"got {kernel!r} of type {type(kernel).__name__}."
        )
    if kernel not in _MAKERS:
        _unknown_kernel(kernel)
    return _MAKERS[kernel](
        resolve_gamma(gamma, X, sample_weight),
        check_integer("degree", degree, minimum=1),
        _check_real("coef0", coef0),
    )


def resolve_gamma(gamma: Any, X: Matrix | None, sample_weight: Vector | None = None) -> float:
    """Return `gamma` as a number.

    Parameters
    ----------
    gamma : "scale", "auto" or positive number
        "scale" is ``1 / (n_features * variance of X)``, or 1 if the variance is zero;
        "auto" is ``1 / n_features``.
    X : ndarray of shape (n_samples, n_features) or None
        Inputs, needed for "scale" and "auto" only.
    sample_weight : ndarray of shape (n_samples,), default=None
        Frequency weights, for the variance.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.kernels import resolve_gamma
    >>> X = np.array([[0.0, 1.0], [4.0, 3.0]])
    >>> resolve_gamma("auto", X), resolve_gamma("scale", X), resolve_gamma(2.0, None)
    (0.5, 0.2, 2.0)
    """
    if not isinstance(gamma, str):
        return check_positive("gamma", gamma, also='or "scale" or "auto"')
    check_choice("gamma", gamma, ("scale", "auto"))
    if X is None:
        raise ValueError(f'gamma="{gamma}" depends on the inputs; give X, or gamma as a number.')
    n_features = X.shape[1]
    if gamma == "auto":
        return 1.0 / float(n_features)
    with np.errstate(over="ignore", invalid="ignore"):
        variance = _variance(X, sample_weight)
    if not np.isfinite(variance):
        raise ValueError(
            'gamma="scale" needs the variance of the inputs, which overflows: X holds values up to '
            f"{np.abs(X).max():.1e}. Standardise the columns, for example by StandardScaler."
        )
    return 1.0 / (float(n_features) * variance) if variance > 0 else 1.0


def _variance(X: Matrix, sample_weight: Vector | None) -> float:
    """Variance of all entries of `X`, as in scikit-learn's support vector machines."""
    weight = np.ones(len(X)) if sample_weight is None else sample_weight
    X, weight = X[weight > 0], weight[weight > 0]
    total = weight.sum() * X.shape[1]
    mean = (weight @ X).sum() / total
    # Two passes: the difference of mean square and squared mean would cancel.
    variance = float((weight @ (X - mean) ** 2).sum() / total)
    # The mean of equal numbers has a rounding error: a variance of that size counts as zero.
    rounding = 4.0 * np.finfo(np.float64).eps * np.abs(X).max(initial=0.0)
    return variance if variance > rounding**2 else 0.0


def _check_real(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number; got {value!r} of type {type(value).__name__}.")
    if not math.isfinite(value):
        raise ValueError(f"{name} must be finite; got {value!r}.")
    return float(value)


def _unknown_kernel(name: str) -> None:
    if name == "precomputed":
        raise ValueError(
            'kernel="precomputed" is not a function of the inputs. Use PrecomputedBasis, and '
            "pass the kernel matrix as X."
        )
    aliases = {
        alias: real for each in KERNEL_DEFINITIONS.values() for alias, real in each.aliases.items()
    }
    close = aliases.get(name.lower()) or find_closest_name(name, _MAKERS)
    hint = f" Did you mean {close!r}?" if close is not None else ""
    listed = ", ".join(repr(valid) for valid in _MAKERS)
    raise ValueError(
        f"kernel must be one of {listed}, a kernel object or a function; got {name!r}.{hint}"
    )


def contains_kernel(kernel: Kernel, kind: type[Kernel]) -> bool:
    """Whether a kernel expression contains a kernel of class `kind`."""
    parts: list[Any] = [kernel]
    while parts:
        part = parts.pop()
        if isinstance(part, kind):
            return True
        if isinstance(part, Kernel):
            parts += vars(part).values()
        elif isinstance(part, (list, tuple)):
            parts += part
    return False
