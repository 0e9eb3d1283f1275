"""Estimators that choose inputs: a scikit-learn selector on top of learnt scales."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from relvec._typing import BoolArray, Matrix, Vector
from relvec.learning import LearntScales
from relvec.learning.feature_rule import scale_deviations

__all__ = ["FeatureSelectionMixin"]


class FeatureSelectionMixin(SelectorMixin):
    """`transform`, `get_support` and how sure each choice is."""

    learnt_scales_: LearntScales
    feature_relevance_: Vector

    def _get_support_mask(self) -> BoolArray:
        check_is_fitted(self)
        mask: BoolArray = self.feature_relevance_ > 0.0
        return mask

    @property
    def feature_inclusion_probability_(self) -> Vector:
        """How sure it is that each input matters.

        The posterior odds are those of the evidence that the input brings to the process, against
        prior odds of its price: one half is where inputs are left out.
        """
        check_is_fitted(self)
        learnt = self.learnt_scales_
        chance: Vector = expit(learnt.gain - learnt.price)
        return np.where(learnt.spread > 0.0, chance, 0.0)

    def _expose_deviations(self, curvature: Matrix) -> Matrix:
        """Set the standard deviations of relevances; return the covariance of the kept ones.

        Parameters
        ----------
        curvature : ndarray of shape (n_features, n_features) or (n_kept, n_kept)
            What the data say of the relevances, or of those that are not zero.
        """
        relevance = self.feature_relevance_
        kept = relevance > 0.0
        if len(curvature) == len(kept):
            curvature = curvature[np.ix_(kept, kept)]
        std = np.zeros(len(relevance))
        std[kept], covariance = scale_deviations(curvature, relevance[kept])
        self.feature_relevance_std_ = std
        return covariance

    def __sklearn_tags__(self) -> Any:
        """Declare what the estimator is: a predictor first."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags
