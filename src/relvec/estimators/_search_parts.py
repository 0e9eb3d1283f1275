"""Components of the best structure of a kernel search: their posterior, and what they are worth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from relvec._linalg import limit_blas_threads
from relvec._typing import Matrix, Vector
from relvec.learning.structures.arbiter import Member
from relvec.learning.structures.columns import ColumnStore
from relvec.learning.structures.construct import Construction
from relvec.learning.structures.fit import StructureFitter
from relvec.learning.structures.forecast import Forecaster
from relvec.learning.structures.score import ScoreRule
from relvec.learning.structures.table_grammar import TableGrammar, TableScoreRule
from relvec.learning.structures.tuning import SearchTuning

__all__ = ["SearchPartsMixin", "TrainingRows"]


class TrainingRows(NamedTuple):
    """Rows that a model was fitted to, sorted, with equal rows merged."""

    inputs: Matrix
    """Inputs; days since 1970 if they are dates."""
    target: Vector
    """Targets."""
    weight: Vector
    """Frequency weights: how often a row occurs."""


class SearchPartsMixin:
    """The best structure of a `KernelSearchRegressor`, for descriptions and plots."""

    structure_penalty: tuple[float, float]
    _construction: Construction
    _best_forecaster: Forecaster
    _component_order: np.ndarray

    @property
    def best_(self) -> Member:
        """The best structure and the transformed target.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import KernelSearchRegressor
        >>> X = np.arange(60.0)[:, np.newaxis]
        >>> y = 0.1 * X[:, 0] + np.sin(X[:, 0] / 2) + 0.1 * np.random.default_rng(0).normal(size=60)
        >>> model = KernelSearchRegressor(effort="fast", mode="interpretable").fit(X, y)
        >>> model.best_.structure.name(), str(model.best_.target.transform)
        ('LIN + PER', 'identity')
        """
        return self._construction.best

    @property
    def training_rows_(self) -> TrainingRows:
        """Rows that the model was fitted to.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import KernelSearchRegressor
        >>> X = np.arange(60.0)[:, np.newaxis]
        >>> y = 0.1 * X[:, 0] + np.sin(X[:, 0] / 2) + 0.1 * np.random.default_rng(0).normal(size=60)
        >>> model = KernelSearchRegressor(effort="fast", mode="interpretable").fit(X, y)
        >>> model.training_rows_.inputs.shape, model.training_rows_.target.shape
        ((60, 1), (60,))
        """
        found, target = self._construction, self.best_.target.target
        weight = np.ones(len(target)) if found.weight is None else found.weight
        return TrainingRows(found.scaling.invert(found.rows.U), target, weight)

    def convert_inputs(self, X: Any) -> Matrix:
        """Return inputs as numbers; days since 1970 if the model was fitted to dates.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import KernelSearchRegressor
        >>> days = np.datetime64("2020-01-01") + np.arange(30)
        >>> model = KernelSearchRegressor(effort="fast").fit(days, np.arange(30.0))
        >>> model.convert_inputs(days[:2]).ravel()
        array([18262., 18263.])
        """
        check_is_fitted(self)
        return self._read_inputs(X)

    def _read_inputs(self, X: Any) -> Matrix:
        raise NotImplementedError

    def predict_part(
        self, X: Matrix, components: Sequence[int], contrasts: Matrix | None = None
    ) -> tuple[Vector, Vector]:
        """Predict the sum of some components of the best structure, with its standard deviation.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Inputs as numbers; days since 1970 if the model was fitted to dates.
        components : sequence of int
            Places in `components_`.
        contrasts : ndarray of shape (n_contrasts, n_samples), optional
            Coefficients of linear combinations of the rows, such as -1 and 1 for the change from
            one row to another. Their posterior standard deviations respect that rows are
            correlated.

        Returns
        -------
        mean, std : ndarray of shape (n_samples,) or (n_contrasts,)
            In units of the transformed target.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import KernelSearchRegressor
        >>> X = np.arange(60.0)[:, np.newaxis]
        >>> y = 0.1 * X[:, 0] + np.sin(X[:, 0] / 2) + 0.1 * np.random.default_rng(0).normal(size=60)
        >>> model = KernelSearchRegressor(effort="fast", mode="interpretable").fit(X, y)
        >>> [component.name for component in model.components_]
        ['LIN', 'PER']
        >>> change, std = model.predict_part(X[[0, -1]], [0], contrasts=np.array([[-1.0, 1.0]]))
        >>> change.round(1), bool(std[0] < 0.1)  # 0.1 for each of 59 steps
        (array([5.9]), True)
        """
        check_is_fitted(self)
        places = self._component_order[list(components)].tolist()
        U = self._construction.scaling.apply(X)
        found = self._best_forecaster.members[0].predict_sum(U, places, contrasts)
        scale = self.best_.target.std
        return scale * found.mean, scale * np.sqrt(np.maximum(found.variance, 0.0))

    def predict_latent(self, X: Matrix, return_std: bool = False) -> Vector | tuple[Vector, Vector]:
        """Predict the transformed target by the best structure, without noise.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Inputs as numbers; days since 1970 if the model was fitted to dates.
        return_std : bool, default=False
            Whether to return the posterior standard deviation.

        Returns
        -------
        mean, std : ndarray of shape (n_samples,)
            `std` only if `return_std` is True.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import KernelSearchRegressor
        >>> X = np.arange(60.0)[:, np.newaxis]
        >>> y = 0.1 * X[:, 0] + np.sin(X[:, 0] / 2) + 0.1 * np.random.default_rng(0).normal(size=60)
        >>> model = KernelSearchRegressor(effort="fast", mode="interpretable").fit(X, y)
        >>> mean, std = model.predict_latent(X, return_std=True)
        >>> bool(np.abs(mean - y).max() < 0.5)
        True
        """
        check_is_fitted(self)
        target = self.best_.target
        U = self._construction.scaling.apply(X)
        latent = self._best_forecaster.members[0].predict(U)
        mean: Vector = target.mean + target.std * latent.mean
        return (mean, target.std * np.sqrt(latent.variance)) if return_std else mean

    def compute_score_loss(self, components: Sequence[int]) -> float:
        """Compute the penalised log evidence that is lost without some components.

        The others are fitted again. For a single component it is its `score_loss`.

        Parameters
        ----------
        components : sequence of int
            Places in `components_`.

        Returns
        -------
        loss : float
            In nats.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import KernelSearchRegressor
        >>> X = np.arange(60.0)[:, np.newaxis]
        >>> y = 0.1 * X[:, 0] + np.sin(X[:, 0] / 2) + 0.1 * np.random.default_rng(0).normal(size=60)
        >>> model = KernelSearchRegressor(effort="fast", mode="interpretable").fit(X, y)
        >>> bool(np.isclose(model.compute_score_loss([1]), model.components_[1].score_loss))
        True
        >>> bool(model.compute_score_loss([0, 1]) > 10.0)
        True
        """
        check_is_fitted(self)
        places = set(self._component_order[list(components)].tolist())
        if len(places) == 1:
            return float(self._construction.lost[places.pop()].score)
        found, best = self._construction, self.best_
        kept = [part for i, part in enumerate(best.structure.components) if i not in places]
        with limit_blas_threads(0.0):
            store = ColumnStore(found.rows.U, best.target.values, found.weight)
            fitter = StructureFitter(store, found.rows.spacing)
            others = fitter.fit(best.structure.with_components(kept), SearchTuning.n_settle_steps)
        rule = self._make_rule(store)
        return rule(best.structure).score - rule(others).score

    def _make_rule(self, store: ColumnStore) -> ScoreRule:
        """Return the rule of comparison; the Jacobian cancels in differences."""
        values = (store.n_samples, 0.0, *self.structure_penalty)
        if store.U.shape[1] == 1:
            return ScoreRule(*values)
        n_features = len(TableGrammar(store.U, frozenset(), 0).features)
        return TableScoreRule(*values, n_features=n_features)
