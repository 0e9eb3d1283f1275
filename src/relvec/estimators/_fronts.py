"""How the parameters of an estimator become a basis; one place for regressors and classifiers."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from relvec._typing import Matrix
from relvec.bases import KernelBasis, PrecomputedBasis
from relvec.bases.base import Basis

__all__ = ["AnyBasisMixin", "KernelMixin"]


class _NamedAtoms:
    """Says in words which atoms are in the model."""

    atoms_: Any
    n_features_in_: int

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


class AnyBasisMixin(_NamedAtoms):
    """Takes a basis as it is."""

    basis: Basis | None

    def _resolve_basis(self) -> Basis:
        if self.basis is None:
            return KernelBasis()
        if not isinstance(self.basis, Basis):
            raise TypeError(
                "basis must be a Basis such as KernelBasis() or LinearBasis(); "
                f"got {self.basis!r} of type {type(self.basis).__name__}."
            )
        return self.basis


class KernelMixin(_NamedAtoms):
    """Puts kernels at training inputs."""

    kernel: Any
    gamma: Any
    degree: int
    coef0: float
    centers: Any
    center_method: str

    def _resolve_basis(self) -> Basis:
        if isinstance(self.kernel, str) and self.kernel == "precomputed":
            return PrecomputedBasis(localised=True)
        return KernelBasis(
            self.kernel,
            gamma=self.gamma,
            degree=self.degree,
            coef0=self.coef0,
            centers=self.centers,
            center_method=self.center_method,
        )

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
        if centers is None:
            raise AttributeError(
                'relevance_vectors_ is not known for kernel="precomputed"; '
                "relevance_ has the training rows."
            )
        return np.asarray(centers)

    def __sklearn_tags__(self) -> Any:
        """Declare a pairwise input for precomputed kernels."""
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags
