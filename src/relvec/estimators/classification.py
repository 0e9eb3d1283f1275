"""Sparse Bayesian classification: with any basis, and with kernels at the training points."""

from __future__ import annotations

from typing import Any

from relvec.bases.base import Basis
from relvec.estimators._classify import BaseSparseBayesClassifier
from relvec.estimators._fronts import AnyBasisMixin, KernelMixin

__all__ = ["RVMClassifier", "SparseBayesClassifier"]


class SparseBayesClassifier(AnyBasisMixin, BaseSparseBayesClassifier):
    """Sparse Bayesian classification on any basis."""

    def __init__(
        self,
        basis: Basis | None = None,
        *,
        prior: Any = "flat",
        multi_class: str = "softmax",
        class_weight: Any = None,
        exact: bool = False,
        price_curvature: str = "bound",
        fit_intercept: bool = True,
        min_gain: float | str = "auto",
        largest_logit: float = 100.0,
        error_bars: str = "novelty",
        low_memory: bool | str = "auto",
        random_state: Any = None,
    ) -> None:
        self.basis = basis
        self.prior = prior
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.exact = exact
        self.price_curvature = price_curvature
        self.fit_intercept = fit_intercept
        self.min_gain = min_gain
        self.largest_logit = largest_logit
        self.error_bars = error_bars
        self.low_memory = low_memory
        self.random_state = random_state


class RVMClassifier(KernelMixin, BaseSparseBayesClassifier):
    """Relevance vector machine for classification."""

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        centers: Any = "all",
        center_method: str = "kmeans++",
        prior: Any = "flat",
        multi_class: str = "softmax",
        class_weight: Any = None,
        exact: bool = False,
        price_curvature: str = "bound",
        fit_intercept: bool = True,
        min_gain: float | str = "auto",
        largest_logit: float = 100.0,
        error_bars: str = "novelty",
        low_memory: bool | str = "auto",
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.centers = centers
        self.center_method = center_method
        self.prior = prior
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.exact = exact
        self.price_curvature = price_curvature
        self.fit_intercept = fit_intercept
        self.min_gain = min_gain
        self.largest_logit = largest_logit
        self.error_bars = error_bars
        self.low_memory = low_memory
        self.random_state = random_state
