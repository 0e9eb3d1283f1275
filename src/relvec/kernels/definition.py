"""What the library knows of a kernel, read from one definition.

A kernel says what it is where it is written: its names, what stands in files, how it is evaluated
in blocks, and answers that are all optional:

- ``measure`` and ``slope(X, Z, E)`` for derivatives in the scales of inputs in closed form, or
  instead of the slope the ``rate`` of a kernel ``exp(-rate * measure)``;
- ``profile()`` for programs and graphs that predict without relvec;
- ``decays``, whether it goes to zero for inputs that are unlike.

Kernels of this library and of users answer by attributes and methods of these names. For those of
scikit-learn, `relvec.kernels.scikit` has a class each that answers in their place.
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
"""Makes a kernel of ``gamma``, ``degree`` and ``coef0``."""


@dataclass(frozen=True, eq=False)
class KernelProfile:
    """A kernel as a function of one number, written once for arrays, program text and graphs.

    Parameters
    ----------
    name : str
        What people call it.
    measure : {"squared", "absolute", "product"}
        What the number is: the squared distance of two inputs, the sum of absolute differences, or
        their inner product.
    value : callable
        Takes the number and a place that has `exp`, `sqrt`, `tanh`, `log`, `power` and `maximum`,
        such as `numpy`; uses these and ordinary operators only.
    factor : float or ndarray of shape (n_features,), default=1.0
        What inputs are multiplied by before they are compared; zero for those left out.
    variance : float, default=1.0
        What the value is multiplied by.

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
        """Whether only differences of inputs matter."""
        return self.measure != "product"

    def compare(self, left: Any, right: Any) -> Any:
        """Return the number for all rows of two arrays that were multiplied by the factor."""
        if self.measure == "product":
            return left @ right.T
        difference = left[:, None, :] - right[None, :, :]
        each = np.abs(difference) if self.measure == "absolute" else difference * difference
        return each.sum(axis=-1)


@dataclass(frozen=True, eq=False)
class KernelDefinition:
    """A kernel of the library, or of scikit-learn: what is known of its class."""

    kind: type[Kernel]
    names: Mapping[str, Maker] = field(default_factory=dict)
    """What it is called in options, and how it is made then."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """What other libraries call it: a hint, not a second name."""
    decays: bool | None = None
    """Whether it goes to zero for inputs that are unlike; None where the kernel has to be asked."""
    learns_length_scales: bool = False
    """Whether its inputs get learnt scales unless a width is given."""
    dictionary: Callable[[Any, Any, Any], Dictionary] | None = None
    """Takes kernel, inputs and centres; None where every block is a call of the kernel."""
    adapter: Callable[[Any], Any] | None = None
    """Given a kernel, what answers in its place."""


KERNEL_DEFINITIONS: dict[type, KernelDefinition] = {}
"""The kernels that have names, may be in model files without being told to be trusted, or both."""


def register_kernel(kind: type[Kernel], **about: Any) -> None:
    """Say what is known of a kernel class of this library or of scikit-learn."""
    KERNEL_DEFINITIONS[kind] = KernelDefinition(kind, **about)


def get_kernel_property(kernel: Any, name: str) -> Any:
    """Return an attribute or method by which a kernel answers; None if it has nothing to say.

    A class that computes something else than the one it inherits an answer from is not taken at
    that word.

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
    speaker = kernel
    if definition is not None and definition.adapter is not None:
        speaker = definition.adapter(kernel)
    for kind in type(speaker).__mro__:
        if name in vars(kind):
            return getattr(speaker, name)
        if "__call__" in vars(kind):
            return None
    return None


def decays(kernel: Any, X: Any) -> bool:
    """Whether a kernel object goes to zero for inputs that are unlike, as a covariance does.

    Parameters
    ----------
    kernel : Kernel
        A kernel object.
    X : ndarray
        An input or several, for the variance there.
    """
    definition = KERNEL_DEFINITIONS.get(type(kernel))
    known = None if definition is None else definition.decays
    if known is None:
        known = get_kernel_property(kernel, "decays")
    if known is not None:
        return bool(known)
    if kernel.is_stationary():
        return bool((kernel.diag(squeeze_object_column(X)) > 0).all())
    if isinstance(kernel, KernelOperator):
        return decays(kernel.k1, X) and decays(kernel.k2, X)
    return isinstance(kernel, Exponentiation) and decays(kernel.kernel, X)


def kernel_accepts_objects(kernel: Any) -> bool:
    """Whether a kernel may be given texts and other objects: functions may, and kernels say.

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
    """Return inputs as kernels and functions get them: objects of one column with one axis."""
    is_column = X.dtype == object and X.ndim == 2 and X.shape[1] == 1
    return X[:, 0] if is_column else X


def format_parameter(parameter: Any) -> str:
    """Return a parameter as `repr` of a kernel writes it: numbers with three digits."""
    values = np.asarray(parameter)
    if values.dtype.kind not in "fiu":  # a mistake, which `fit` will tell
        return repr(parameter)
    digits = [f"{value:.3g}" for value in values.ravel()]
    return digits[0] if values.ndim == 0 else f"[{', '.join(digits)}]"
