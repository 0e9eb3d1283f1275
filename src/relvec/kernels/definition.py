"""Registry of kernels, and the optional properties that a kernel may provide.

Each kernel module registers its kernel once, with `register_kernel`: the names it has in options,
whether it may be stored in model files, how its blocks are evaluated. A kernel object may also
provide these properties, all of them optional:

- ``measure``, with either ``slope(X, Z, E)`` or ``rate``: what the kernel is a function of, and its
  derivative, for closed-form gradients with respect to length-scales. ``rate`` is for kernels of
  the form ``exp(-rate * measure)``;
- ``profile()``: the kernel as a function of one number, for export to ONNX, C and Python;
- ``decays``: whether the kernel tends to zero for dissimilar inputs.

Kernels of this library and user-defined kernels provide them as attributes and methods. For
scikit-learn's kernels, `relvec.kernels.scikit` has one adapter class each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from sklearn.gaussian_process.kernels import Exponentiation, Kernel, KernelOperator

from relvec._typing import Matrix
from relvec.dictionaries.base import Dictionary

__all__ = [
    "KERNEL_DEFINITIONS",
    "KernelDefinition",
    "KernelLike",
    "KernelProfile",
    "decays",
    "format_parameter",
    "get_kernel_property",
    "kernel_accepts_objects",
    "register_kernel",
    "squeeze_object_column",
]

KernelLike: TypeAlias = Kernel | Callable[[Any, Any], Matrix]
"""A scikit-learn kernel object, or a function ``k(X, Z)`` of whole arrays."""

Maker: TypeAlias = Callable[[float, int, float], Kernel]
"""Function that makes a kernel from ``gamma``, ``degree`` and ``coef0``."""


@dataclass(frozen=True, eq=False)
class KernelProfile:
    """A kernel as a function of one number, usable for arrays, source code and ONNX graphs.

    ``k(x, z) = variance * value(t)``, where ``t`` compares ``factor * x`` with ``factor * z``.

    Parameters
    ----------
    name : str
        Name of the kernel, for reports and comments.
    measure : {"squared", "absolute", "product"}
        What ``t`` is: the squared Euclidean distance of two inputs, the sum of absolute
        differences, or the inner product.
    value : callable
        Function ``value(t, f)``. The namespace ``f`` has `exp`, `sqrt`, `tanh`, `log`, `power` and
        `maximum`, as `numpy` has; use only these and arithmetic operators.
    factor : float or ndarray of shape (n_features,), default=1.0
        Inverse length-scale by which features are multiplied before they are compared; zero for
        features that have no influence.
    variance : float, default=1.0
        Factor of the value: the prior variance of a Gaussian process, ``k(x, x)``.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.kernels import KernelProfile
    >>> profile = KernelProfile("inverse multiquadric", "squared", lambda t, f: 1 / f.sqrt(1 + t))
    >>> profile.value(profile.compare(np.array([[0.0], [3.0]]), np.array([[0.0]])), np).round(3)
    array([[1.   ],
           [0.316]])
    """

    name: str
    measure: str
    value: Callable[[Any, Any], Any]
    factor: Any = 1.0
    variance: float = 1.0

    @property
    def is_stationary(self) -> bool:
        """Whether the kernel depends on the difference of two inputs only."""
        return self.measure != "product"

    def is_same_function(self, other: KernelProfile) -> bool:
        """Whether two kernels differ in scales and variance only."""
        if (self.name, self.measure) != (other.name, other.measure):
            return False
        numbers = np.array([0.0, 1e-3, 0.1, 1.0, 3.0, 10.0])
        return np.array_equal(self.value(numbers, np), other.value(numbers, np))

    def compare(self, left: Any, right: Any) -> Any:
        """Return ``t`` for all pairs of rows of two arrays, already multiplied by `factor`."""
        if self.measure == "product":
            return left @ right.T
        difference = left[:, None, :] - right[None, :, :]
        each = np.abs(difference) if self.measure == "absolute" else difference * difference
        return each.sum(axis=-1)


@dataclass(frozen=True, eq=False)
class KernelDefinition:
    """What is registered about a kernel class of this library or of scikit-learn."""

    kind: type[Kernel]
    """The class."""
    names: Mapping[str, Maker] = field(default_factory=dict)
    """Names in options such as ``kernel="rbf"``, each with the function that makes the kernel."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Names in other libraries, for the hint "Did you mean ...?"; they are not accepted."""
    decays: bool | None = None
    """Whether it tends to zero for dissimilar inputs; None if that depends on the object."""
    learns_length_scales: bool = False
    """Whether length-scales are learnt by default, unless `gamma` is given."""
    dictionary: Callable[[Any, Any, Any], Dictionary] | None = None
    """Fast dictionary, made from kernel, inputs and centres; None to call the kernel blockwise."""
    adapter: Callable[[Any], Any] | None = None
    """Class that provides the optional properties for a scikit-learn kernel."""


KERNEL_DEFINITIONS: dict[type, KernelDefinition] = {}
"""Registered kernels by class: those with names, and those that model files may contain."""


def register_kernel(kind: type[Kernel], **about: Any) -> None:
    """Register a kernel class; the keywords are the fields of `KernelDefinition`."""
    KERNEL_DEFINITIONS[kind] = KernelDefinition(kind, **about)


def get_kernel_property(kernel: Any, name: str) -> Any:
    """Return an optional property of a kernel (see the module docstring), or None.

    A property that a class inherits is ignored if the class overrides ``__call__``: it then
    describes the kernel of the parent class, not this one.

    Examples
    --------
    >>> from sklearn.gaussian_process.kernels import RBF
    >>> from relvec.kernels import Laplacian
    >>> from relvec.kernels.definition import get_kernel_property
    >>> get_kernel_property(RBF(), "measure"), get_kernel_property(Laplacian(), "measure")
    ('squared', 'absolute')
    >>> class Doubled(Laplacian):
    ...     def __call__(self, X, Y=None, eval_gradient=False):
    ...         return 2.0 * super().__call__(X, Y)
    >>> get_kernel_property(Doubled(), "measure") is None
    True
    """
    definition = KERNEL_DEFINITIONS.get(type(kernel))
    provider = kernel
    if definition is not None and definition.adapter is not None:
        provider = definition.adapter(kernel)
    for kind in type(provider).__mro__:
        if name in vars(kind):
            return getattr(provider, name)
        if "__call__" in vars(kind):
            return None
    return None


def decays(kernel: Any, X: Any) -> bool:
    """Whether a kernel object is a covariance function that tends to zero for dissimilar inputs.

    Parameters
    ----------
    kernel : Kernel
        A kernel object.
    X : ndarray
        One or more inputs, at which the variance ``k(x, x)`` is checked to be positive.
    """
    definition = KERNEL_DEFINITIONS.get(type(kernel))
    known = None if definition is None else definition.decays
    if known is None:
        known = get_kernel_property(kernel, "decays")
    if known is not None:
        return bool(known)
    # A stationary covariance function need not decay; without other information it counts as one
    # that does, if its variance is positive.
    if kernel.is_stationary():
        return bool((kernel.diag(squeeze_object_column(X)) > 0).all())
    if isinstance(kernel, KernelOperator):
        # A sum decays only if both terms do. For a product one factor would suffice if the other is
        # bounded, which is not known.
        return decays(kernel.k1, X) and decays(kernel.k2, X)
    return isinstance(kernel, Exponentiation) and decays(kernel.kernel, X)


def kernel_accepts_objects(kernel: Any) -> bool:
    """Whether a kernel accepts strings and other objects: callables do, and some kernel objects.

    Examples
    --------
    >>> from sklearn.gaussian_process.kernels import RBF
    >>> from relvec.kernels import StringSpectrum
    >>> from relvec.kernels.definition import kernel_accepts_objects
    >>> (
    ...     kernel_accepts_objects(RBF()),
    ...     kernel_accepts_objects(StringSpectrum()),
    ...     kernel_accepts_objects(max),
    ... )
    (False, True, True)
    """
    return not kernel.requires_vector_input if isinstance(kernel, Kernel) else callable(kernel)


def squeeze_object_column(X: Any) -> Any:
    """Return inputs as kernels and functions expect them: a column of objects as a 1-D array."""
    is_column = X.dtype == object and X.ndim == 2 and X.shape[1] == 1
    return X[:, 0] if is_column else X


def format_parameter(parameter: Any) -> str:
    """Format a parameter for the `repr` of a kernel: numbers with three digits."""
    values = np.asarray(parameter)
    if values.dtype.kind not in "fiu":  # invalid; `fit` raises the error
        return repr(parameter)
    digits = [f"{value:.3g}" for value in values.ravel()]
    return digits[0] if values.ndim == 0 else f"[{', '.join(digits)}]"
