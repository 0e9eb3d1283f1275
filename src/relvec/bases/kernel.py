"""Kernel basis functions ``k(x, center)``: the basis of relevance vector machines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import Exponentiation, Kernel, KernelOperator

from relvec._checks import check_dense
from relvec._typing import BoolArray, IndexArray, Matrix, Vector
from relvec.bases.base import Atoms, Basis, BoundBasis
from relvec.bases.centers import choose_centers
from relvec.kernels import (
    KernelLike,
    ScaledInputs,
    kernel_block,
    kernel_dictionary,
    resolve_kernel,
)
from relvec.kernels.definition import decays, kernel_accepts_objects

__all__ = ["KernelAtoms", "KernelBasis"]


class KernelBasis(Basis):
    """Kernel basis functions: one ``k(x, center)`` per centre (Tipping 2001, eq. 2).

    The kernel need not be positive definite (a Mercer kernel).

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        A name ("rbf", "laplacian", "matern32", "matern52", "rational_quadratic", "polynomial",
        "linear", "sigmoid", "cosine", "linear_spline", "thin_plate_spline", "periodic",
        "spectral_mixture"), a kernel of `relvec.kernels` or of scikit-learn's Gaussian
        processes, or a function ``k(X, Z)`` that returns an array of shape (len(X), len(Z)).
    gamma : "scale", "auto" or positive number, default="scale"
        Coefficient of a kernel given by name, as in scikit-learn: ``exp(-gamma |x - z|^2)``. It
        corresponds to the length-scale ``1 / sqrt(2 gamma)``. "scale" is ``1 / (n_features *
        X.var())``, "auto" is ``1 / n_features``. Ignored unless `kernel` is a name.
    degree : int, default=3
        Exponent of the polynomial kernel.
    coef0 : float, default=1.0
        Constant of the polynomial and sigmoid kernels.
    centers : "all", int or array-like of shape (n_centers, n_features), default="all"
        "all" centres a kernel on every training input; an int is the number of centres to choose;
        an array gives the centres themselves. Duplicate centres are dropped.
    center_method : {"kmeans++", "random", "grid"}, default="kmeans++"
        How a number of centres is chosen. For "grid", `centers` is the number of points
        per feature, over the range of the inputs.
    tune : bool, default=True
        Whether the kernel may be learnt, if the option `length_scales` of an estimator asks for
        it. False uses it as it is; in a sum of bases the kernels of the others are learnt.
        Single parameters of a kernel object are held by the bounds "fixed".

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.bases import KernelBasis
    >>> bound = KernelBasis("rbf", gamma=0.5).bind(np.array([[0.0], [1.0], [1.0]]))
    >>> bound.dictionary.shape
    (3, 2)
    >>> bound.atoms.names(["time"])
    ['rbf(x_0)', 'rbf(x_1)']
    """

    def __init__(
        self,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        centers: Any = "all",
        center_method: str = "kmeans++",
        tune: bool = True,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.centers = centers
        self.center_method = center_method
        self.tune = tune

    @property
    def accepts_objects(self) -> bool:
        """Whether the kernel accepts strings or other objects; callables do, and some kernels."""
        return kernel_accepts_objects(self.kernel)

    def bind(
        self,
        X: Any,
        *,
        sample_weight: Vector | None = None,
        random_state: np.random.RandomState | None = None,
    ) -> BoundBasis:
        """Choose `gamma` and the centres, and return one kernel per centre.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Inputs.
        sample_weight : ndarray of shape (n_samples,), default=None
            Frequency weights. Rows of zero weight become no centres and do not influence `gamma`.
        random_state : RandomState, default=None
            Random numbers for the choice of centres; None means a fixed seed.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec.bases import KernelBasis
        >>> bound = KernelBasis("rbf", gamma=0.5).bind(np.array([[0.0], [1.0], [2.0]]))
        >>> bound.dictionary.columns([1]).round(1)
        array([[0.6],
               [1. ],
               [0.6]])
        """
        check_dense(X, "KernelBasis")
        kernel = resolve_kernel(self.kernel, self.gamma, self.degree, self.coef0, X, sample_weight)
        options: dict[str, Any] = {"sample_weight": sample_weight, "random_state": random_state}
        are_rows = isinstance(self.centers, str | int) and self.center_method != "grid"
        if are_rows and isinstance(kernel, ScaledInputs):
            # Centres are spread out in the metric of the kernel, that is after scaling.
            scaled = kernel.scaled(X)
            source_row = choose_centers(scaled, self.centers, self.center_method, **options)[1]
            centers = X[source_row]
        else:
            centers, source_row = choose_centers(X, self.centers, self.center_method, **options)
        from_rows = bool((source_row >= 0).all())
        number = source_row if from_rows else np.arange(len(centers))
        return BoundBasis(
            dictionary=kernel_dictionary(kernel, X, centers),
            atoms=KernelAtoms(kernel, centers, number, from_rows),
            is_localised=np.ones(len(centers), dtype=bool),
            source_row=source_row,
        )


@dataclass(frozen=True, eq=False)
class KernelAtoms(Atoms):
    """Kernel functions ``k(., center)`` at fixed centres.

    Parameters
    ----------
    kernel : Kernel or callable
        Evaluated with `relvec.kernels.kernel_block`.
    centers : ndarray of shape (n_centers, n_features)
        Second argument of the kernel.
    number : ndarray of shape (n_centers,), default=None
        Numbers by which the centres are named: training rows, or positions among the centres.
    from_rows : bool, default=False
        Whether `number` holds training rows.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.gaussian_process.kernels import RBF
    >>> from relvec.bases import KernelAtoms
    >>> atoms = KernelAtoms(RBF(1.0), np.array([[0.0], [3.0]]))
    >>> atoms.evaluate(np.array([[0.0], [1.0]])).round(3)
    array([[1.   , 0.011],
           [0.607, 0.135]])
    """

    kernel: KernelLike
    centers: Matrix
    number: IndexArray | None = None
    from_rows: bool = False

    def __len__(self) -> int:
        return len(self.centers)

    def evaluate(self, X: Any) -> Matrix:
        """Evaluate every atom at the rows of `X`."""
        check_dense(X, "KernelBasis")
        return kernel_block(self.kernel, X, self.centers)

    def subset(self, index: IndexArray) -> KernelAtoms:
        """Return the atoms at positions `index`, with copies of their centres."""
        number = index if self.number is None else self.number[index]
        return KernelAtoms(self.kernel, self.centers[index], number, self.from_rows)

    def find_used_features(self, n_features: int) -> BoolArray:
        """Return the features of positive scale."""
        used = np.ones(n_features, dtype=bool)
        if isinstance(self.kernel, ScaledInputs):
            used = np.asarray(self.kernel.scale) > 0.0
        return np.tile(used, (len(self), 1))

    def names(self, feature_names: Sequence[str]) -> list[str]:
        """Return the kernel and the training row (x) or centre (c) of each atom."""
        kernel, letter = _short_name(self.kernel), "x" if self.from_rows else "c"
        numbers = range(len(self.centers)) if self.number is None else self.number
        return [f"{kernel}({letter}_{number})" for number in numbers]

    def decaying_kernel(self) -> Any:
        """Return the kernel, unless it is known not to decay as a covariance does."""
        if isinstance(self.kernel, Kernel) and not decays(self.kernel, self.centers[:1]):
            return None
        return self.kernel

    def is_known_to_decay(self) -> bool:
        """Whether the kernel is known to decay; nothing is known of plain callables."""
        return isinstance(self.kernel, Kernel) and self.decaying_kernel() is not None


def _short_name(kernel: KernelLike) -> str:
    if isinstance(kernel, ScaledInputs):
        return _short_name(kernel.kernel)
    if isinstance(kernel, (KernelOperator, Exponentiation)):
        return "kernel"
    if isinstance(kernel, Kernel):
        return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", type(kernel).__name__).lower()
    name = getattr(kernel, "__name__", type(kernel).__name__)
    return "kernel" if name == "<lambda>" else str(name)
