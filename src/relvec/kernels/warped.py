"""Kernels of warped inputs ``k(phi(x), phi(z))``."""

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
    """Kernel of warped inputs, ``k(phi(x), phi(z))`` with a fixed function `phi`.

    If `k` is a covariance function, so is the warped kernel, whatever the function (Rasmussen &
    Williams 2006, section 4.2.3): logarithms of inputs that span decades, polar coordinates,
    lengths of strings. Inputs may be strings or other objects if the function accepts them.

    Parameters
    ----------
    kernel : Kernel
        The kernel of the warped inputs. `theta` holds its hyper-parameters.
    function : callable
        The function `phi`: called with the whole input array, it returns an array of numbers of
        shape (n_samples,) or (n_samples, n_warped_features). A single column of strings or other
        objects is passed as a one-dimensional array. A function defined at the top level of a
        module can be pickled, and stored in model files by ``save(model, path,
        trusted=[function])``.

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
                "Warped needs a kernel object and a function of the whole input array, as in "
                f"Warped(RBF(1.0), np.log); got {kernel!r} and {function!r}."
            )
        self.kernel = kernel
        self.function = function

    def _transformed(self, X: Any) -> Matrix:
        """Return ``phi(X)``, after checking its shape, dtype and finiteness."""
        array = X
        if not isinstance(X, np.ndarray):
            objects = as_object_array(X)
            array = np.atleast_2d(np.asarray(X)) if objects is None else objects
        returned = np.asarray(self.function(squeeze_object_column(array)))
        if returned.ndim == 1:
            returned = returned[:, np.newaxis]
        if returned.ndim != 2 or len(returned) != len(array) or returned.dtype.kind not in "fiub":
            raise ValueError(
                f"the function of {self!r} returned an array of shape {returned.shape} and dtype "
                f"{returned.dtype}; it must return numbers, a row for each of {len(array)} inputs."
            )
        warped = returned.astype(np.float64, copy=False)
        check_finite_block(warped, f"the values of the function of {self!r}")
        return warped

    @property
    def requires_vector_input(self) -> bool:
        """Return False: any input that the function accepts."""
        return False

    @property
    def decays(self) -> bool:
        """Whether the inner kernel decays, as a function of the warped inputs."""
        return decays(self.kernel, np.zeros((1, 1)))

    def is_stationary(self) -> bool:
        """Return False: the function may depend on the origin of the inputs."""
        return False

    def __repr__(self) -> str:
        name = getattr(self.function, "__name__", type(self.function).__name__)
        return f"Warped({self.kernel!r}, {name})"


register_kernel(Warped)
