"""A kernel of what a function makes of the inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import Kernel

from relvec._checks import as_object_array, check_finite_block
from relvec._typing import Matrix
from relvec.kernels.definition import decays, register_kernel, squeeze_object_column
from relvec.kernels.transformed import TransformedInputsKernel

__all__ = ["Warped"]


class Warped(TransformedInputsKernel):
    """Another kernel of warped inputs, ``k(phi(x), phi(z))``.

    A covariance stays one, whatever the function: a logarithm of inputs that span decades, polar
    coordinates, lengths of texts. Inputs may be texts or other objects if the function takes
    them.

    Parameters
    ----------
    kernel : Kernel
        The kernel of the warped inputs. Its parameters are learnt by `theta`.
    function : callable
        Takes all inputs at once, an array with a row for each, and returns an array of numbers of
        shape (n_samples,) or (n_samples, n_warped). Texts and other objects in one column come as
        an array with one axis. Defined at the top level of a module, it can be pickled, and be in
        model files: ``save(model, path, trusted=[function])``.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.gaussian_process.kernels import RBF
    >>> from relvec.kernels import Warped
    >>> decades = Warped(RBF(1.0), np.log10)
    >>> decades([[1.0], [1000.0]], [[10.0]])
    array([[0.60653066],
           [0.13533528]])
    >>> 2.0 * decades + RBF(1.0)
    1.41**2 * Warped(RBF(length_scale=1), log10) + RBF(length_scale=1)
    """

    def __init__(self, kernel: Kernel, function: Callable[[Any], Any]) -> None:
        if not isinstance(kernel, Kernel) or isinstance(function, Kernel) or not callable(function):
            raise TypeError(
                "Warped needs a kernel object and then a function of all inputs, as in "
                f"Warped(RBF(1.0), np.log); got {kernel!r} and {function!r}."
            )
        self.kernel = kernel
        self.function = function

    def _transformed(self, X: Any) -> Matrix:
        """Return what the function makes of the inputs, checked."""
        given = X
        if not isinstance(X, np.ndarray):
            objects = as_object_array(X)
            given = np.atleast_2d(np.asarray(X)) if objects is None else objects
        returned = np.asarray(self.function(squeeze_object_column(given)))
        if returned.ndim == 1:
            returned = returned[:, np.newaxis]
        if returned.ndim != 2 or len(returned) != len(given) or returned.dtype.kind not in "fiub":
            raise ValueError(
                f"the function of {self!r} returned an array of shape {returned.shape} and dtype "
                f"{returned.dtype}; it must return numbers, a row for each of {len(given)} inputs."
            )
        warped = returned.astype(np.float64, copy=False)
        check_finite_block(warped, f"what the function of {self!r} returns")
        return warped

    @property
    def requires_vector_input(self) -> bool:
        """Return False: what inputs are is left to the function."""
        return False

    @property
    def decays(self) -> bool:
        """Whether the inner kernel does, where functions of inputs are unlike."""
        return decays(self.kernel, np.zeros((1, 1)))

    def is_stationary(self) -> bool:
        """Return False: where inputs are matters to the function."""
        return False

    def __repr__(self) -> str:
        name = getattr(self.function, "__name__", type(self.function).__name__)
        return f"Warped({self.kernel!r}, {name})"


register_kernel(Warped)
