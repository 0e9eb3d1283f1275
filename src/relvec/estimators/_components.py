"""Contributions of the bases of a sum to a fitted model."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from relvec._checks import check_bool
from relvec._typing import IndexArray, Matrix
from relvec.bases.base import BasisPart
from relvec.estimators._output import FittedOutput
from relvec.estimators._predict import PredictionMixin


class Component(NamedTuple):
    """Summary of one basis of a sum in a fitted model."""

    name: str
    n_atoms: int
    """Number of candidate basis functions (atoms)."""
    n_relevant: int
    """Number of basis functions in the model."""
    effective_dof: float
    """Effective degrees of freedom of these basis functions."""
    share: float
    """Variance of the contribution over the training rows, divided by that of the target. Shares
    sum to that of the fit only if contributions are uncorrelated."""


class ComponentsMixin(PredictionMixin):
    """Methods and attributes about the contributions of each basis of a sum."""

    _parts: tuple[BasisPart, ...]

    @property
    def components_(self) -> tuple[Component, ...] | list[tuple[Component, ...]]:
        """Summary of each basis of a sum ``a + b`` (a list for several outputs).

        There is one `Component` for each basis, with its number of basis functions, effective
        degrees of freedom and share of the variance of the target.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import SparseBayesRegressor
        >>> from relvec.bases import KernelBasis, LinearBasis
        >>> X = np.linspace(-5, 5, 50)[:, np.newaxis]
        >>> y = X[:, 0] + np.exp(-(X[:, 0] ** 2)) + 0.05 * np.random.default_rng(0).normal(size=50)
        >>> model = SparseBayesRegressor(LinearBasis() + KernelBasis(gamma=1.0)).fit(X, y)
        >>> for part in model.components_:
        ...     print(part.name, part.n_relevant, "of", part.n_atoms)
        LinearBasis 1 of 1
        KernelBasis 5 of 50
        """
        check_is_fitted(self)
        described = [self._describe_output(output) for output in self.outputs_]
        return described[0] if self._single else described

    def _describe_output(self, output: FittedOutput) -> tuple[Component, ...]:
        posterior = output.posterior
        determined = posterior.well_determined
        components = []
        for part, index in zip(self._parts, self._find_members(output), strict=True):
            variance = posterior.component_variance(index)
            components.append(
                Component(
                    part.name,
                    part.n_atoms,
                    len(index),
                    float(determined[index].sum()),
                    variance / posterior.target_variance if posterior.target_variance else 0.0,
                )
            )
        return tuple(components)

    def _find_members(self, output: FittedOutput) -> list[IndexArray]:
        """Return the positions of the active atoms of each basis."""
        bounds = np.cumsum([0, *(part.n_atoms for part in self._parts)])
        owner = np.searchsorted(bounds, output.active, side="right") - 1
        return [np.flatnonzero(owner == number) for number in range(len(self._parts))]

    def predict_components(
        self, X: Any, return_std: bool = False, *, centred: bool = False
    ) -> Matrix | tuple[Matrix, Matrix]:
        """Predict the contribution of each basis of a sum to the target.

        Within the range of the data, `predict` is the sum of the contributions and the intercept
        (with ``error_bars="augmented"``, before its correction). Where predictions move towards the
        mean of the targets, contributions are shrunk towards zero by the same fraction: the
        prediction is then the sum of centred contributions and that mean.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        return_std : bool, default=False
            Whether to return the posterior standard deviation of each contribution. If two bases
            can represent the same function, it is larger than that of their sum.
        centred : bool, default=False
            Whether to subtract the mean of each contribution over the training rows. Constants are
            not identifiable between the bases and the intercept, so centred contributions are
            easier to compare. Their sum is less than `predict` by the mean of the training targets.
            Without an intercept nothing is subtracted.

        Returns
        -------
        contributions : ndarray of shape (n_samples, n_parts) or (n_samples, n_parts, n_outputs)
            Contributions in units of the target, in the order of `components_`. With
            `target_transform` they are contributions to the transformed target, where they add up.
        std : ndarray of the same shape
            Only if `return_std` is True.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import SparseBayesRegressor
        >>> from relvec.bases import KernelBasis, LinearBasis
        >>> X = np.linspace(-5, 5, 50)[:, np.newaxis]
        >>> y = X[:, 0] + np.exp(-(X[:, 0] ** 2)) + 0.05 * np.random.default_rng(0).normal(size=50)
        >>> model = SparseBayesRegressor(LinearBasis() + KernelBasis(gamma=1.0)).fit(X, y)
        >>> model.predict_components([[0.0], [4.0]]).round(1)
        array([[0., 1.],
               [4., 0.]])
        """
        check_bool("return_std", return_std)
        check_bool("centred", centred)
        X = self._validate(X)
        means, stds = [], []
        for output in self.outputs_:
            atoms = output.atoms.evaluate(X)
            known = [
                output.posterior.component(atoms[:, index], index, centred=centred)
                for index in self._find_members(output)
            ]
            kept = 1.0 - output.compute_mean_shrinkage(X)[:, None]
            means.append(kept * np.stack([mean for mean, _ in known], axis=1))
            variance = output.calibration * np.stack([variance for _, variance in known], axis=1)
            stds.append(kept * np.sqrt(variance))
        mean: Matrix = self._stack_outputs(means)
        return (mean, self._stack_outputs(stds)) if return_std else mean
