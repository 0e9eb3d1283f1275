"""Conformance check for kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.gaussian_process.kernels import Kernel

from relvec._checks import as_object_array
from relvec._typing import Matrix, Vector
from relvec.kernels import KernelLike, kernel_block, kernel_dictionary, log_scale_gradient
from relvec.kernels.definition import decays, get_kernel_property, squeeze_object_column
from relvec.testing._claims import default_inputs, require, require_close


def check_kernel(kernel: KernelLike, X: Any = None) -> None:
    """Check that a kernel can be evaluated in blocks, copied, differentiated and exported.

    Optional properties are checked if the kernel has them: `measure` and `slope` for gradients with
    respect to length-scales, `profile` for export.

    Parameters
    ----------
    kernel : Kernel or callable
        A scikit-learn kernel object, or a function ``k(X, Z)``.
    X : ndarray of shape (n_samples, n_features) or list of objects, default=None
        At least six inputs; by default a dozen in three dimensions, two of them equal.

    Raises
    ------
    AssertionError
        If a requirement is violated; the message names the kernel and the requirement.

    Examples
    --------
    >>> from relvec.kernels import LinearSpline
    >>> from relvec.testing import check_kernel
    >>> check_kernel(LinearSpline())
    """
    X = default_inputs() if X is None else X
    objects = as_object_array(X)
    X = X if objects is None else squeeze_object_column(objects)
    Z = X[:5]
    name = repr(kernel)
    try:
        whole = kernel_block(kernel, X, Z)
    except ValueError as error:
        raise AssertionError(f"{name} cannot be evaluated: {error}") from error
    dictionary = kernel_dictionary(kernel, X, Z)
    for index in (np.array([3]), np.array([4, 1])):
        columns = dictionary.columns(index)
        require_close(
            columns, whole[:, index], f"{name}: columns evaluated separately differ from k(X, Z)"
        )
    require_close(
        dictionary.rows(2, 6), whole[2:6], f"{name}: rows evaluated separately differ from k(X, Z)"
    )
    if isinstance(kernel, Kernel):
        _check_kernel_values(kernel, X, whole, name)
        _check_kernel_parameters(kernel, X, name)
        _check_kernel_gradient(kernel, X, name)
    if get_kernel_property(kernel, "measure") is not None:
        _check_slope(kernel, X, name)
    if get_kernel_property(kernel, "profile") is not None:
        _check_profile(kernel, X, name)


def _check_kernel_values(kernel: Kernel, X: Matrix, whole: Matrix, name: str) -> None:
    square = kernel(X)
    require_close(kernel(X, X), square, f"{name}: k(X) differs from k(X, X)")
    require_close(whole, square[:, :5], f"{name}: k(X, X[:5]) differs from columns of k(X)")
    require_close(kernel.diag(X), np.diag(square), f"{name}.diag differs from the diagonal of k(X)")
    require_close(square, square.T, f"{name} is not symmetric: k(x, z) differs from k(z, x)")
    if decays(kernel, X):
        least = float(np.linalg.eigvalsh(square)[0])
        require(
            least >= -1e-8 * max(1.0, float(np.abs(square).max())),
            f"{name} claims to be a covariance that decays, but is not positive semi-definite: an "
            f"eigenvalue of k(X) is {least:.3g}; if that is intended, set decays = False",
        )
    if kernel.is_stationary():
        require_close(
            kernel(X + 1.0),
            square,
            f"{name}.is_stationary() is True, but k(X + 1) differs from k(X)",
        )


def _check_kernel_parameters(kernel: Kernel, X: Matrix, name: str) -> None:
    value = kernel(X)
    copy = clone(kernel)
    require(copy == kernel, f"a clone of {name} is not equal to it")
    require_close(copy(X), value, f"a clone of {name} has different values")
    rebuilt = type(kernel)(**kernel.get_params(deep=False))
    require_close(rebuilt(X), value, f"{name} rebuilt from get_params has different values")
    require_close(
        kernel.clone_with_theta(kernel.theta)(X),
        value,
        f"{name} changes when theta is set to its own value",
    )
    require(
        kernel.bounds.size == 2 * kernel.n_dims,
        f"{name} has {kernel.n_dims} free hyper-parameters but bounds {kernel.bounds}",
    )


def _check_slope(kernel: KernelLike, X: Matrix, name: str) -> None:
    measure = get_kernel_property(kernel, "measure")
    require(
        measure in ("squared", "absolute", "product", None),
        f'measure of {name} must be "squared", "absolute" or "product"; got {measure!r}',
    )
    scale, Z, step = np.linspace(0.5, 2.0, X.shape[1]), X[:5], 1e-5
    weights = np.cos(np.arange(len(X) * len(Z))).reshape(len(X), len(Z))
    found = log_scale_gradient(kernel, scale, X, Z, weights)

    def weighted_sum(log_scale: Vector) -> float:
        root = np.exp(0.5 * log_scale)
        return float(np.sum(weights * kernel_block(kernel, X * root, Z * root)))

    ends = [(np.log(scale) + move, np.log(scale) - move) for move in step * np.eye(len(scale))]
    require_close(
        found,
        np.array([(weighted_sum(up) - weighted_sum(down)) / (2 * step) for up, down in ends]),
        f"{name}.slope (or rate) is not E times the derivative in the {measure} measure",
        1e-6,
    )


def _check_profile(kernel: KernelLike, X: Matrix, name: str) -> None:
    profile = get_kernel_property(kernel, "profile")()
    if profile is not None:
        t = profile.compare(X * profile.factor, X[:5] * profile.factor)
        require_close(
            profile.variance * profile.value(t, np),
            kernel_block(kernel, X, X[:5]),
            f"the profile of {name} has different values than the kernel",
        )


def _check_kernel_gradient(kernel: Kernel, X: Matrix, name: str) -> None:
    value, gradient = kernel(X, eval_gradient=True)
    require_close(value, kernel(X), f"{name}: values differ with eval_gradient=True")
    needed = (len(X), len(X), kernel.n_dims)
    require(
        gradient.shape == needed,
        f"the gradient of {name} must have shape {needed}; got {gradient.shape}",
    )
    step = 1e-5
    for number in range(kernel.n_dims):
        shift = np.zeros(kernel.n_dims)
        shift[number] = step
        above = kernel.clone_with_theta(kernel.theta + shift)(X)
        below = kernel.clone_with_theta(kernel.theta - shift)(X)
        require_close(
            gradient[:, :, number],
            (above - below) / (2 * step),
            f"the gradient of {name} in theta[{number}] differs from central differences",
            # Central differences of this step have errors of about 1e-10, plus cancellation.
            1e-6,
        )
