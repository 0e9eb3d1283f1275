"""Estimators that choose inputs: a scikit-learn selector on top of learnt scales."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from relvec._checks import check_choice, check_positive
from relvec._linalg import robust_cholesky
from relvec._typing import BoolArray, Matrix, Vector
from relvec.learning import LearntScales, ScaleLearner
from relvec.learning.feature_rule import scale_deviations

__all__ = ["FeatureSelectionMixin"]

SELECT = {"auto": "auto", "always": "ard", "never": "isotropic"}
"""Kinds of scales that say whether inputs are chosen."""
UNKNOWN = 100.0
"""Standard deviations so many times a scale say that nothing is known of it."""


class FeatureSelectionMixin(SelectorMixin):
    """Whether to choose, `transform`, `get_support` and how sure each choice is."""

    select: str
    min_feature_gain: float | str
    refine: int
    learnt_scales_: LearntScales
    feature_relevance_: Vector

    @property
    def scales(self) -> ScaleLearner:
        """Who learns the scales.

        Examples
        --------
        >>> from relvec import DRVMRegressor
        >>> DRVMRegressor(select="always").scales.kind
        'ard'
        """
        kind = SELECT[check_choice("select", self.select, SELECT)]
        return ScaleLearner(kind, min_gain=self.min_feature_gain, refine=self.refine)

    def _check_options(self) -> None:
        gain = self.min_feature_gain
        if isinstance(gain, str):
            check_choice("min_feature_gain", gain, ("auto",))
        else:
            check_positive("min_feature_gain", gain, allow_zero=True, also='or "auto"')
        super()._check_options()

    def _get_support_mask(self) -> BoolArray:
        check_is_fitted(self)
        mask: BoolArray = self.feature_relevance_ > 0.0
        return mask & (self.learnt_scales_.kind != "none")

    @property
    def inputs_chosen_(self) -> bool:
        """Whether inputs were chosen, as `select` says; otherwise all that vary stay.

        False as well if no input says anything, where none is selected.

        Examples
        --------
        >>> from relvec import DRVMRegressor
        >>> from relvec.datasets import make_friedman
        >>> X, y = make_friedman(1, n_samples=80, random_state=0)
        >>> drvm = DRVMRegressor(effort="fast", refine=0, select="always").fit(X, y)
        >>> drvm.inputs_chosen_, drvm.get_support(indices=True)
        (True, array([0, 1, 2, 3, 4]))
        >>> drvm.transform(X).shape
        (80, 5)
        """
        check_is_fitted(self)
        return self.learnt_scales_.is_choice

    @property
    def feature_inclusion_probability_(self) -> Vector:
        """How sure it is that each input matters.

        The posterior odds are those of the evidence that the input brings to the process, against
        prior odds of its price: one half is where inputs are left out. Not a number where all
        inputs are kept, because then none was asked for.

        Examples
        --------
        >>> from relvec import DRVMRegressor
        >>> from relvec.datasets import make_friedman
        >>> X, y = make_friedman(1, n_samples=80, random_state=0)
        >>> drvm = DRVMRegressor(effort="fast", refine=0, select="always").fit(X, y)
        >>> drvm.feature_inclusion_probability_[[3, 9]].round(1)
        array([1. , 0.4])
        """
        check_is_fitted(self)
        learnt = self.learnt_scales_
        if not learnt.is_choice and learnt.kind != "none":
            return np.full(len(learnt.spread), np.nan)
        chance: Vector = expit(learnt.gain - learnt.price)
        return np.where(learnt.spread > 0.0, chance, 0.0)

    def _directions(self) -> Matrix:
        """Return independent changes of the scales that are not zero, one in each column.

        They are in units of relevance; if all inputs share a width, it is the only one.
        """
        learnt = self.learnt_scales_
        kept = learnt.scale > 0.0
        if learnt.is_shared and kept.any():
            return learnt.scale[kept, None]
        return np.diag(1.0 / learnt.spread[kept] ** 2)

    def _expose_deviations(self, curvature: Matrix) -> Matrix:
        """Set the standard deviations of relevances; return a root of the covariance of scales.

        Parameters
        ----------
        curvature : ndarray of shape (n_directions, n_directions)
            What the data say along the changes of `_directions`.
        """
        relevance = self.feature_relevance_
        kept = relevance > 0.0
        is_shared = self.learnt_scales_.is_shared
        value = np.ones(1) if is_shared and kept.any() else relevance[kept]
        deviation, covariance = scale_deviations(curvature, value)
        deviation = np.where(deviation > UNKNOWN * value, np.inf, deviation)
        std = np.zeros(len(relevance))
        std[kept] = relevance[kept] * deviation if is_shared and kept.any() else deviation
        if self.learnt_scales_.kind == "none":
            std[kept] = np.inf
        self.feature_relevance_std_ = std
        root: Matrix = self._directions() @ robust_cholesky(covariance)
        return root

    def __sklearn_tags__(self) -> Any:
        """Declare what the estimator is: a predictor first."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags
