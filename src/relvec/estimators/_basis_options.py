"""Options that describe the basis functions, and the basis made from them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from relvec._checks import check_choice
from relvec._typing import Matrix
from relvec.bases import KernelAtoms, KernelBasis, PrecomputedBasis, UnionAtoms
from relvec.bases.base import Basis
from relvec.estimators._length_scales import (
    find_atoms_kernel,
    find_atoms_kernels,
    has_unset_length_scale,
    is_held,
)
from relvec.estimators._options import option, with_options
from relvec.kernels import KernelLike
from relvec.learning import KINDS, LengthScaleLearner

__all__ = ["BasisMixin", "BasisOptions", "CentredKernelOptions", "KernelOptions"]


class BasisMixin(ABC):
    """Resolve the basis of an estimator from its options, and describe its basis functions."""

    atoms_: Any
    n_features_in_: int
    length_scales: Any

    @abstractmethod
    def _resolve_basis(self) -> Basis:
        """Return the basis that the options describe."""

    def _resolve_learner(self, basis: Basis) -> LengthScaleLearner | None:
        """Return the learner of the length-scales, or None if they are not learnt."""
        scales = self.length_scales
        if scales is None:
            return None
        if isinstance(scales, LengthScaleLearner):
            scales.check()
            return None if is_held(basis) else scales
        if not isinstance(scales, str):
            raise TypeError(
                f"length_scales must be one of {KINDS}, None or a LengthScaleLearner; got "
                f"{scales!r}."
            )
        if scales.lower() == "none":
            raise ValueError(
                'length_scales="none" is not valid. To use the kernel as it is, give None without '
                "quotes: length_scales=None."
            )
        kind = check_choice("length_scales", scales, KINDS)
        if is_held(basis):  # nothing is to be learnt
            return None
        return LengthScaleLearner(kind) if kind != "auto" or has_unset_length_scale(basis) else None

    def atom_names(self) -> list[str]:
        """Return the names of the relevant basis functions (atoms), in the order of `coef_`.

        Returns
        -------
        names : list of str
            Names of features for `LinearBasis`, expressions with them for other bases.

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
        """Kernel of the model, with learnt length-scales if they were learnt.

        For a sum of bases it is the kernel of the one `KernelBasis` in it; see `kernels_` for
        several. Where `model_kind_` is "linear" it is the dot product of the scaled features.

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
        kernel = find_atoms_kernel(self.atoms_) if learnt is None else learnt.kernel
        if learnt is not None and learnt.blocks:
            kernel = learnt.kept_blocks[0].kernel if len(learnt.kept_blocks) == 1 else None
        if kernel is None:
            raise AttributeError(
                f"this {type(self).__name__} has no kernel_: its basis does not contain exactly "
                "one KernelBasis. Use kernels_."
            )
        return kernel

    @property
    def kernels_(self) -> tuple[KernelLike, ...]:
        """Kernels of the model, one for each `KernelBasis` that is in it, in their order.

        Where kernels of several bases were learnt, `kernel_blocks_` has their variances too, and
        the bases that were removed.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.gaussian_process.kernels import RBF
        >>> from relvec import SparseBayesRegressor
        >>> from relvec.bases import KernelBasis, LinearBasis
        >>> X = np.linspace(-3, 3, 40)[:, np.newaxis]
        >>> y = np.sin(X[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=40)
        >>> SparseBayesRegressor(KernelBasis(RBF(2.0)) + LinearBasis()).fit(X, y).kernels_
        (RBF(length_scale=2),)
        """
        check_is_fitted(self)
        learnt = getattr(self, "learnt_length_scales_", None)
        if learnt is None:
            return find_atoms_kernels(self.atoms_)
        blocks = learnt.kept_blocks
        return tuple(block.kernel for block in blocks) if blocks else (learnt.kernel,)

    def __sklearn_tags__(self) -> Any:
        """Declare whether X may be sparse or a kernel matrix."""
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = self._resolve_basis().accepts_sparse
        kernel = getattr(self, "kernel", None)
        tags.input_tags.pairwise = isinstance(kernel, str) and kernel == "precomputed"
        return tags


@with_options
class BasisOptions(BasisMixin):
    """Options of estimators for any basis.

    Parameters
    ----------
    basis : Basis, optional
        The basis functions, called atoms in this library: `KernelBasis`, `LinearBasis`,
        `PolynomialBasis`, `FunctionBasis`, `PrecomputedBasis`, or a sum of them. Default,
        `KernelBasis()`.
    length_scales : {"ard", "isotropic", "kernel", "auto"}, LengthScaleLearner or None, default=None
        Which length-scales to learn for the one `KernelBasis` in `basis`; see `RVMRegressor`.
        "auto" learns them if its `kernel` is a name and its `gamma` is the default. "kernel" also
        learns the kernels of several `KernelBasis` together, each with a variance of its own, and
        removes those that are not needed (`kernel_blocks_`). Parameters with bounds "fixed", and
        kernels of a ``KernelBasis(..., tune=False)``, are held. None uses kernels as they are.
    precision : {"auto", "atom", "tied"}, default="auto"
        Prior precisions of the weights. "auto" is "tied" for bases with a prior spectrum, such as
        `SmoothBasis` and `PeriodicBasis`, else "atom". "atom" is one for each basis function
        (automatic relevance determination), which removes most of them. "tied" is one for each
        basis of a sum such as ``KernelBasis(RBF(2.0)) + KernelBasis(RBF(0.5))``, and one for a
        single basis: each basis stays in the model with all its functions, or is removed. The model
        is not sparse, but where kernels have several length-scales its error bars cover. It needs
        the flat prior. Kernels share the precision as they are, as do columns with a prior
        spectrum; other explicit columns share it after scaling to unit variance.
    """

    basis: Basis | None = option(default=None, kw_only=False)
    length_scales: Any = option(default=None)
    precision: str = option(
        default="auto", check=partial(check_choice, choices=("auto", "atom", "tied"))
    )

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
class CentredKernelOptions(BasisMixin):
    """Options of estimators with kernels centred on training inputs.

    Parameters
    ----------
    kernel : str or Kernel, default="rbf"
        Name of a kernel, or a kernel object that is a covariance function.
    centers : "all", int or array-like of shape (n_centers, n_features), default="all"
        Centres of the candidate kernels: all training inputs, a number of them, or given points.
    center_method : {"kmeans++", "random", "grid"}, default="kmeans++"
        How centres are selected if `centers` is a number.
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
        """Centres of the kernels in the model.

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
        parts = self.atoms_.parts if isinstance(self.atoms_, UnionAtoms) else (self.atoms_,)
        known = [part.centers for part in parts if isinstance(part, KernelAtoms)]
        # Kernels of different widths are parts of their own.
        centers = np.concatenate(known) if known else None
        if getattr(self, "model_kind_", None) == "linear":
            raise AttributeError(
                "this model has no relevance_vectors_: it is linear in the features, because "
                'kernels do not predict held-out rows better (model_kind_ is "linear"). To use '
                'kernels in any case, give length_scales="ard" or "isotropic".'
            )
        if centers is None:
            raise AttributeError(
                'relevance_vectors_ is not available with kernel="precomputed": the model has not '
                "been given the inputs. Use relevance_, the indices of the training rows."
            )
        return np.asarray(centers)


@with_options
class KernelOptions(CentredKernelOptions):
    """Options of relevance vector machines: the kernel, its parameters and centres.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        "rbf", "laplacian", "matern32", "matern52", "rational_quadratic", "polynomial",
        "linear", "sigmoid", "cosine", "linear_spline", "thin_plate_spline", "periodic",
        "spectral_mixture" or "precomputed"; a kernel of `relvec.kernels` or of
        `sklearn.gaussian_process.kernels` (without WhiteKernel); or a function ``k(X, Z)``.
        Functions, `StringSpectrum` and `Warped` also take inputs that are texts or objects. The
        kernel need not be positive definite. With "precomputed", `X` is the kernel matrix between
        inputs and training inputs, in fit and in predict.
    gamma : "scale", "auto" or positive float, default="scale"
        Parameter of a named kernel: for "rbf" ``k(x, z) = exp(-gamma |x - z|^2)``, that is
        ``gamma = 1 / (2 length_scale^2)``. If a number is given, length-scales are not learnt by
        default; standardise the features if their units differ. Where length-scales are not
        learnt, "scale" is ``1 / (n_features * X.var())`` and "auto" is ``1 / n_features``.
    degree : int, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=1.0
        Constant term of the polynomial and sigmoid kernels.
    length_scales : {"auto", "ard", "isotropic", "kernel"}, LengthScaleLearner or None, \
default="auto"
        Which length-scales to learn, by maximising the evidence of a Gaussian process on at most
        500 rows (300 for classifiers); `gamma` is then not used. "ard" is one length-scale for
        each feature (automatic relevance determination; Neal 1996), and irrelevant features are
        removed; "isotropic" is one length-scale for all features, in units of their standard
        deviations; "kernel" learns the free parameters of a kernel object. "auto" takes "ard" or
        "isotropic", whichever has the higher evidence less a penalty for every length-scale, if
        `kernel` is the name of a kernel that decays and `gamma` is the default; otherwise nothing
        is learnt. None uses the kernel as it is.
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
