"""Kernels as functions of one length-scale, and the spacing of inputs to compare it with."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial import cKDTree
from sklearn.base import clone
from sklearn.gaussian_process.kernels import Kernel

from relvec._typing import Matrix, Vector
from relvec.bases import KernelBasis
from relvec.estimators import RVMRegressor, SparseBayesRegressor
from relvec.kernels import ScaledInputs, resolve_kernel

__all__ = ["LengthScaleFamily", "compute_spacing"]


class LengthScaleFamily:
    """An estimator with its kernel at any length-scale, as its own model and with tied precisions.

    If the kernel has several length-scales, all are multiplied by one factor, and their geometric
    mean is *the* length-scale.

    Examples
    --------
    >>> family = LengthScaleFamily(RVMRegressor(), np.zeros((5, 1)))
    >>> family.make(2.0).kernel
    RBF(length_scale=2)
    """

    def __init__(self, estimator: Any, X: Matrix) -> None:
        if isinstance(estimator, RVMRegressor):
            source: Any = estimator
        elif isinstance(estimator, SparseBayesRegressor) and isinstance(
            estimator.basis, KernelBasis | None
        ):
            source = KernelBasis() if estimator.basis is None else estimator.basis
        else:
            raise TypeError(
                "evidence_curve needs an RVMRegressor, or a SparseBayesRegressor with one "
                f"KernelBasis; got {estimator!r}. For a pipeline give its last step with "
                "transformed inputs."
            )
        kernel = None
        if not (isinstance(source.kernel, str) and source.kernel == "precomputed"):
            kernel = resolve_kernel(source.kernel, source.gamma, source.degree, source.coef0, X)
        self.estimator, self.kernel = estimator, kernel
        self.centers = {"centers": source.centers, "center_method": source.center_method}
        self.length_scales = _find_length_scales(kernel)
        if not self.length_scales:
            raise ValueError(
                f"evidence_curve needs a kernel with a length-scale; got {source.kernel!r}. Use a "
                'kernel such as "rbf" or relvec.kernels.LinearSpline(3.0).'
            )

    @property
    def own_length_scales(self) -> Vector:
        """All length-scales of the kernel, as given."""
        return np.concatenate([np.ravel(each) for each in self.length_scales.values()])

    def make_kernel(self, length_scale: float) -> Any:
        """Return the kernel with this length-scale."""
        factor = length_scale / np.exp(np.mean(np.log(self.own_length_scales)))
        scaled = {
            name: float(value * factor) if np.ndim(value) == 0 else np.asarray(value) * factor
            for name, value in self.length_scales.items()
        }
        return clone(self.kernel).set_params(**scaled)

    def make(self, length_scale: float) -> Any:
        """Return the estimator with this length-scale, which it does not learn."""
        return self._with_kernel(clone(self.estimator), self.make_kernel(length_scale))

    def make_tied(self, length_scale: float) -> Any:
        """Return the same model with one precision for all basis functions."""
        own = self.estimator.get_params(deep=False)
        shared = SparseBayesRegressor().get_params(deep=False).keys() & own.keys()
        # the solver and the penalties of single basis functions have no meaning there
        kept = shared - {"basis", "length_scales", "precision", "prior", "solver", "min_gain"}
        kept -= {"tune_atoms"}  # one precision keeps all kernels equal
        options = {name: own[name] for name in kept}
        model = SparseBayesRegressor(precision="tied", **options)
        return self._with_kernel(model, self.make_kernel(length_scale))

    def _with_kernel(self, model: Any, kernel: Any) -> Any:
        if isinstance(model, SparseBayesRegressor):
            model.set_params(basis=KernelBasis(kernel, **self.centers))
        else:
            model.set_params(kernel=kernel)
        return model.set_params(length_scales=None, warm_start=False)

    def scale_inputs(self, X: Matrix) -> Matrix:
        """Return inputs in units in which the length-scale is the same for all features."""
        if isinstance(self.kernel, ScaledInputs):
            return self.kernel.scaled(X)
        single = list(self.length_scales.values())
        if len(single) > 1 or np.ndim(single[0]) == 0:
            return X
        return X / (single[0] / np.exp(np.mean(np.log(single[0]))))


def _find_length_scales(kernel: Any) -> dict[str, Any]:
    """Return the length-scales among the parameters of a kernel, by name."""
    if not isinstance(kernel, Kernel):
        return {}
    return {
        name: np.asarray(value, dtype=np.float64)
        for name, value in kernel.get_params().items()
        if name.rpartition("__")[2] == "length_scale"
    }


def compute_spacing(X: Matrix) -> float:
    """Return the spacing of inputs: the scale below which they do not resolve a function.

    Of one feature, the mean distance of neighbouring distinct values; of several, the median
    distance of distinct inputs to their nearest neighbour. Infinite if all inputs are equal.

    Examples
    --------
    >>> compute_spacing(np.array([[0.0], [1.0], [1.0], [4.0]]))
    2.0
    >>> compute_spacing(np.array([[0.0, 0.0], [3.0, 4.0], [3.0, 4.0]]))
    5.0
    """
    distinct = np.unique(X, axis=0)
    if len(distinct) < 2:
        return float("inf")
    if X.shape[1] == 1:
        values: Vector = distinct[:, 0]
        return float((values[-1] - values[0]) / (len(values) - 1))
    nearest = cKDTree(distinct).query(distinct, k=2)[0][:, 1]
    return float(np.median(nearest))
