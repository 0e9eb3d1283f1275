"""How the parameters of an estimator become a basis; one place for regressors and classifiers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from relvec._checks import check_choice
from relvec._typing import Matrix
from relvec.bases import KernelBasis, PrecomputedBasis
from relvec.bases.base import Basis
from relvec.estimators._length_scales import kernel_in, needs_width
from relvec.estimators._options import option, with_options
from relvec.kernels import KernelLike
from relvec.learning import KINDS, LengthScaleLearner

__all__ = ["BasisFront", "CentredKernelFront", "Front", "KernelFront"]


class Front(ABC):
    """Turns options into a basis, and says in words which atoms are in the model."""

    atoms_: Any
    n_features_in_: int
    length_scales: Any

    @abstractmethod
    def _resolve_basis(self) -> Basis:
        """Return the basis that the parameters describe."""

    def _resolve_learner(self, basis: Basis) -> LengthScaleLearner | None:
        """Return who learns the scales of inputs, or None if they are given."""
        scales = self.length_scales
        if scales is None:
            return None
        if isinstance(scales, LengthScaleLearner):
            scales.check()
            return scales
        if not isinstance(scales, str):
            raise TypeError(
                f"length_scales must be one of {KINDS}, None or a LengthScaleLearner; got "
                f"{scales!r}."
            )
        if scales.lower() == "none":
            raise ValueError(
                'length_scales="none" is not an option; leave out the quotes: length_scales=None.'
            )
        kind = check_choice("length_scales", scales, KINDS)
        return LengthScaleLearner(kind) if kind != "auto" or needs_width(basis) else None

    def atom_names(self) -> list[str]:
        """Names of the relevant atoms, in the order of `coef_`.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import SparseBayesRegressor
        >>> from relvec.bases import LinearBasis
        >>> X = np.random.default_rng(0).normal(size=(50, 3))
        >>> y = 2.0 * X[:, 1] + 0.1 * X[:, 2]
        >>> SparseBayesRegressor(LinearBasis()).fit(X, y).atom_names()
        ['x1', 'x2']
        """
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            names = [f"x{i}" for i in range(self.n_features_in_)]
        return list(self.atoms_.names(list(names)))

    @property
    def kernel_(self) -> KernelLike:
        """The kernel of the model: as it was learnt or, where it was not, as it was given.

        Of a sum of bases it is that of the one `KernelBasis` in it. Where ``model_kind_`` is
        "linear" it is the dot product of the scaled inputs.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import RVMRegressor
        >>> X = np.linspace(-3, 3, 40)[:, np.newaxis]
        >>> y = np.sin(X[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=40)
        >>> RVMRegressor(gamma=0.5).fit(X, y).kernel_
        RBF(length_scale=1)
        """
        check_is_fitted(self)
        learnt = getattr(self, "learnt_length_scales_", None)
        kernel = kernel_in(self.atoms_) if learnt is None else learnt.kernel
        if kernel is None:
            raise AttributeError(
                f"this {type(self).__name__} has no kernel_: its basis is not one with one "
                "KernelBasis in it."
            )
        return kernel

    def __sklearn_tags__(self) -> Any:
        """Declare which inputs the basis accepts."""
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = self._resolve_basis().accepts_sparse
        kernel = getattr(self, "kernel", None)
        tags.input_tags.pairwise = isinstance(kernel, str) and kernel == "precomputed"
        return tags


@with_options
class BasisFront(Front):
    """Takes a basis as it is.

    Parameters
    ----------
    basis : Basis, optional
        What the atoms are: `KernelBasis`, `LinearBasis`, `PolynomialBasis`, `FunctionBasis`,
        `PrecomputedBasis`, or sums of them. Default, `KernelBasis()`.
    length_scales : {"ard", "isotropic", "kernel", "auto"}, LengthScaleLearner or None, default=None
        Learn on which scales inputs matter to the one `KernelBasis` of `basis`, by the evidence of
        a Gaussian process; see `RVMRegressor`. "auto" does if its kernel is a name and its gamma
        was left alone.
    """

    basis: Basis | None = option(default=None, kw_only=False)
    length_scales: Any = option(default=None)

    def _resolve_basis(self) -> Basis:
        if self.basis is None:
            return KernelBasis()
        if not isinstance(self.basis, Basis):
            raise TypeError(
                "basis must be a Basis such as KernelBasis() or LinearBasis(); "
                f"got {self.basis!r} of type {type(self.basis).__name__}."
            )
        return self.basis


@with_options
class CentredKernelFront(Front):
    """Puts kernels at training inputs.

    Parameters
    ----------
    kernel : str or Kernel, default="rbf"
        A kernel by name, or a kernel object that is a covariance.
    centers : "all", int or array-like of shape (n_centers, n_features), default="all"
        Where kernels may be centred: all training inputs, that many of them, or these points.
    center_method : {"kmeans++", "random", "grid"}, default="kmeans++"
        How a number of centres is chosen.
    """

    kernel: Any = option(default="rbf", kw_only=False)
    centers: Any = option(default="all")
    center_method: str = option(default="kmeans++")

    def _resolve_basis(self) -> Basis:
        if isinstance(self.kernel, str) and self.kernel == "precomputed":
            return PrecomputedBasis(localised=True)
        return KernelBasis(self.kernel, centers=self.centers, center_method=self.center_method)

    @property
    def relevance_vectors_(self) -> Matrix:
        """The centres of the relevant kernels.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import RVMRegressor
        >>> X = np.linspace(-3, 3, 40)[:, np.newaxis]
        >>> y = np.sin(X[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=40)
        >>> model = RVMRegressor(gamma=0.5).fit(X, y)
        >>> bool((model.relevance_vectors_ == X[model.relevance_]).all())
        True
        """
        check_is_fitted(self)
        centers = getattr(self.atoms_, "centers", None)
        if getattr(self, "model_kind_", None) == "linear":
            raise AttributeError(
                "this model has no relevance_vectors_: it is linear in the features, "
                'as kernels predict no better here (model_kind_ is "linear"). '
                'length_scales="ard" or "isotropic" insists on kernels.'
            )
        if centers is None:
            raise AttributeError(
                'relevance_vectors_ is not known for kernel="precomputed"; '
                "relevance_ has the training rows."
            )
        return np.asarray(centers)


@with_options
class KernelFront(CentredKernelFront):
    """Puts kernels of any kind and width at training inputs.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        "rbf", "laplacian", "matern32", "matern52", "rational_quadratic", "polynomial",
        "linear", "sigmoid", "cosine", "linear_spline", "thin_plate_spline", "periodic",
        "spectral_mixture" or "precomputed"; a kernel of `relvec.kernels` or of
        `sklearn.gaussian_process.kernels` (without WhiteKernel); or a function ``k(X, Z)``.
        Functions, `StringSpectrum` and `Warped` also take inputs that are texts or objects. It
        need not be positive definite. With "precomputed", `X` is the kernel matrix between
        inputs and training inputs, in fit and in predict.
    gamma : "scale", "auto" or positive number, default="scale"
        Inverse squared width of a named kernel, as in ``exp(-gamma |x - z|^2)``. If it is given,
        scales are not learnt by default: scale the columns of `X` first if their units differ.
        Where no scales are learnt, "scale" is ``1 / (n_features * X.var())``.
    degree : int, default=3
        Of the polynomial kernel.
    coef0 : float, default=1.0
        Constant of the polynomial and sigmoid kernels.
    length_scales : {"auto", "ard", "isotropic", "kernel"}, LengthScaleLearner or None, \
default="auto"
        Learn on which scales inputs matter, by the evidence of a Gaussian process on at most 500
        rows (300 if targets are classes), and leave out those that do not: one for each input
        ("ard"), or one width for all, each in units of its standard deviation ("isotropic");
        `gamma` is then not used. "auto" is whichever of the two has more evidence for its
        parameters, if `kernel` is a name of one that decays and `gamma` was left alone. "kernel"
        learns the free parameters of a kernel object. None takes the kernel as it is.
    """

    gamma: Any = option(default="scale")
    degree: int = option(default=3)
    coef0: float = option(default=1.0)
    length_scales: Any = option(default="auto")

    def _resolve_basis(self) -> Basis:
        if isinstance(self.kernel, str) and self.kernel == "precomputed":
            return PrecomputedBasis(localised=True)
        return KernelBasis(
            self.kernel, self.gamma, self.degree, self.coef0, self.centers, self.center_method
        )
