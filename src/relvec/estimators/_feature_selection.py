"""Feature selection: a scikit-learn selector based on learnt length-scales."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from relvec._checks import check_choice
from relvec._typing import BoolArray, Vector
from relvec.bases.base import Basis
from relvec.estimators._basis_options import CentredKernelOptions
from relvec.estimators._options import check_gain, option, with_options
from relvec.learning import LearntLengthScales, LengthScaleLearner

__all__ = ["FeatureSelectionOptions"]

KINDS = {"auto": "auto", "always": "ard", "never": "isotropic"}
"""Kind of length-scales for each value of `select`."""


@with_options
class FeatureSelectionOptions(CentredKernelOptions, SelectorMixin):
    """Options and attributes of estimators with feature selection.

    Parameters
    ----------
    select : {"auto", "always", "never"}, default="auto"
        Whether to select features. "auto" selects them if the log evidence of the sparse model
        with a length-scale for each relevant feature exceeds that with one length-scale for all by
        more than the penalty of the additional length-scales: 1 nat each, or `min_feature_gain` if
        that is larger. For more than 100 features cross-validation decides, which takes several
        times as long.
    min_feature_gain : float or "auto", default="auto"
        Minimum gain in log evidence, in nats, for a feature to be kept. "auto" depends on the
        number of features, such that one or two irrelevant features are kept besides the relevant
        ones. If no feature is relevant, none is selected. With ``select="auto"`` a large value
        makes it more likely that all features are kept; to select few features, combine it with
        ``select="always"``.
    """

    select: str = option(default="auto", check=partial(check_choice, choices=KINDS))
    min_feature_gain: float | str = option(default="auto", check=check_gain)

    if TYPE_CHECKING:
        learnt_length_scales_: LearntLengthScales
        feature_relevance_: Vector

    def _resolve_learner(self, basis: Basis) -> LengthScaleLearner:
        return LengthScaleLearner(KINDS[self.select], min_gain=self.min_feature_gain)

    def _get_support_mask(self) -> BoolArray:
        check_is_fitted(self)
        learnt = self.learnt_length_scales_
        if learnt.kind not in ("none", "null"):
            mask: BoolArray = self.feature_relevance_ > 0.0
            return mask
        # No feature is related to the target: none is selected, except with select="never".
        return learnt.spread > 0.0 if self.select == "never" else np.zeros(len(learnt.spread), bool)

    @property
    def features_selected_(self) -> bool:
        """Whether features were selected; if not, all features that vary are kept.

        It is also False if no feature is related to the target, in which case none is selected.

        Examples
        --------
        >>> from relvec import DRVMRegressor
        >>> from relvec.datasets import make_friedman
        >>> X, y = make_friedman(1, n_samples=80, random_state=0)
        >>> drvm = DRVMRegressor(effort="fast", n_refinements=0, select="always").fit(X, y)
        >>> drvm.features_selected_, drvm.get_support(indices=True)
        (True, array([0, 1, 2, 3, 4]))
        >>> drvm.transform(X).shape
        (80, 5)
        """
        check_is_fitted(self)
        return self.learnt_length_scales_.is_selection

    @property
    def feature_inclusion_probability_(self) -> Vector:
        """Posterior probability that each feature is relevant.

        ``1 / (1 + exp(penalty - gain))``, with the gain in log evidence by the feature and the
        penalty as log prior odds against it; features below one half are removed. NaN if all
        features are kept without selection.

        Examples
        --------
        >>> from relvec import DRVMRegressor
        >>> from relvec.datasets import make_friedman
        >>> X, y = make_friedman(1, n_samples=80, random_state=0)
        >>> drvm = DRVMRegressor(effort="fast", n_refinements=0, select="always").fit(X, y)
        >>> drvm.feature_inclusion_probability_[[3, 9]].round(1)
        array([1. , 0.4])
        """
        check_is_fitted(self)
        learnt = self.learnt_length_scales_
        if not learnt.is_selection and learnt.kind not in ("none", "null"):
            return np.full(len(learnt.spread), np.nan)
        probability: Vector = expit(learnt.gain - learnt.penalty)
        return np.where(learnt.spread > 0.0, probability, 0.0)
