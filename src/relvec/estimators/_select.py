"""Estimators that choose inputs: a scikit-learn selector on top of learnt scales."""

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
from relvec.estimators._fronts import CentredKernelFront
from relvec.estimators._options import check_gain, option, with_options
from relvec.learning import LearntLengthScales, LengthScaleLearner

__all__ = ["SelectionFront"]

KINDS = {"auto": "auto", "always": "ard", "never": "isotropic"}
"""Kinds of scales that say whether inputs are chosen."""


@with_options
class SelectionFront(CentredKernelFront, SelectorMixin):
    """Chooses inputs of kernels: `transform`, `get_support` and how sure each choice is.

    Parameters
    ----------
    select : {"auto", "always", "never"}, default="auto"
        Whether inputs are chosen: if the evidence of the sparse model for scales of their own
        exceeds that for one width by more than a nat for each, or `min_feature_gain` if that is
        more; always; or never. Of more than 100 inputs cross-validation decides, which takes
        several times as long.
    min_feature_gain : float or "auto", default="auto"
        Log evidence that an input must bring to be kept. "auto" asks so much that of inputs that
        do not matter one or two stay next to those that do, however many there are. If no input
        matters, none is selected. A high penalty makes "auto" keep all inputs sooner; to have few,
        give it together with ``select="always"``.
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
        # no input says anything: none is selected, unless all were asked for
        return learnt.spread > 0.0 if self.select == "never" else np.zeros(len(learnt.spread), bool)

    @property
    def features_selected_(self) -> bool:
        """Whether inputs were chosen, as `select` says; otherwise all that vary stay.

        False as well if no input says anything, where none is selected.

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
        """How sure it is that each input matters.

        The posterior odds are those of the evidence that the input brings to the process, against
        prior odds of its penalty: one half is where inputs are left out. Not a number where all
        inputs are kept, because then none was asked for.

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
        chance: Vector = expit(learnt.gain - learnt.penalty)
        return np.where(learnt.spread > 0.0, chance, 0.0)
