"""The candidates: how each is made, and what is read from it afterwards.

Libraries are imported inside the functions, and this file imports little: the part `memory`
measures processes that hold nothing but the one candidate.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["METHODS", "PEERS", "Method"]

FOLDS = 5


@dataclass(frozen=True)
class Method:
    """A classifier: how it is made for a given gamma, and what is read from it."""

    name: str
    package: str
    make: Callable[[float], Any]
    """An unfitted classifier of scikit-learn's kind with ``exp(-gamma |x - z|^2)``."""
    vectors: Callable[[Any], int | None]
    """How many kernels the fitted classifier evaluates for a prediction; None for all."""
    is_sparse: bool = False
    """Whether it is a relevance vector machine, to which the unavoidable cost applies."""
    has_probability: bool = True
    max_samples: int | None = None
    note: str = ""

    @property
    def is_installed(self) -> bool:
        """Whether the library is there to be measured."""
        return importlib.util.find_spec(self.package) is not None


# ---------------------------------------------------------------- relevance vector machines


def relvec(name: str, **options: Any) -> Method:
    """Return our own classifier with the given options."""

    def make(gamma: float) -> Any:
        from relvec import RVMClassifier

        return RVMClassifier(kernel="rbf", gamma=gamma, **options)

    return Method(name, "relvec", make, _n_relevance, is_sparse=True)


def fastrvm(name: str, fit_intercept: bool) -> Method:
    """Return the C++ implementation, with or without an intercept."""

    def make(gamma: float) -> Any:
        from fastrvm import RVC

        return RVC(kernel="rbf", gamma=float(gamma), fit_intercept=fit_intercept)

    note = "" if fit_intercept else "its default; another model than that of the others"
    return Method(name, "fastrvm", make, _n_relevance, is_sparse=True, note=note)


def _n_relevance(model: Any) -> int:
    return len(model.relevance_)


def _sklearn_rvm(gamma: float) -> Any:
    from sklearn_rvm import EMRVC

    return EMRVC(kernel="rbf", gamma=gamma)


# ---------------------------------------------------------------- scikit-learn


def _svc(gamma: float) -> Any:
    from sklearn.svm import SVC

    return SVC(kernel="rbf", gamma=gamma)


def _platt(gamma: float) -> Any:
    from sklearn.calibration import CalibratedClassifierCV

    return CalibratedClassifierCV(_svc(gamma), method="sigmoid", cv=FOLDS, ensemble=False)


def _n_support(model: Any) -> int:
    if hasattr(model, "calibrated_classifiers_"):
        model = model.calibrated_classifiers_[0].estimator
    return len(model.support_)


class KernelLasso:
    """Logistic regression with an L1 penalty on kernel columns, its strength cross-validated."""

    def __init__(self, gamma: float) -> None:
        self.gamma = gamma

    def fit(self, X: np.ndarray, y: np.ndarray) -> KernelLasso:
        """Evaluate the columns and fit, cross-validation included."""
        from sklearn.linear_model import LogisticRegressionCV
        from sklearn.metrics.pairwise import rbf_kernel

        self.inner_ = LogisticRegressionCV(
            Cs=np.logspace(-1.5, 1.5, 7),
            l1_ratios=(1,),
            solver="liblinear",
            cv=FOLDS,
            scoring="neg_log_loss",
            use_legacy_attributes=False,
        ).fit(rbf_kernel(X, gamma=self.gamma), y)
        self.rows_ = np.flatnonzero(self.inner_.coef_.any(axis=0))
        self.centres_ = X[self.rows_]
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Probability of the two classes, from the columns that were kept."""
        from scipy.special import expit
        from sklearn.metrics.pairwise import rbf_kernel

        columns = rbf_kernel(X, self.centres_, gamma=self.gamma)
        odds = columns @ self.inner_.coef_[0, self.rows_] + self.inner_.intercept_[0]
        return np.column_stack([expit(-odds), expit(odds)])


def _gaussian_process(gamma: float, optimizer: str | None) -> Any:
    from sklearn.gaussian_process import GaussianProcessClassifier, kernels

    kernel = kernels.ConstantKernel() * kernels.RBF((2 * gamma) ** -0.5)
    return GaussianProcessClassifier(kernel, optimizer=optimizer)


METHODS = {
    method.name: method
    for method in (
        relvec("relvec", low_memory=False),
        relvec("relvec low-memory", low_memory=True),
        fastrvm("fastrvm", fit_intercept=True),
        fastrvm("fastrvm, no intercept", fit_intercept=False),
        Method(
            "sklearn-rvm",
            "sklearn_rvm",
            _sklearn_rvm,
            _n_relevance,
            is_sparse=True,
            max_samples=2000,
            note="not tried beyond 2000 rows",
        ),
        Method("SVC", "sklearn", _svc, _n_support, has_probability=False, note="untuned: C = 1"),
        Method(
            "SVC + Platt",
            "sklearn",
            _platt,
            _n_support,
            note="C = 1, probabilities by a sigmoid through five-fold cross-validated decisions",
        ),
        Method(
            "L1 logistic",
            "sklearn",
            KernelLasso,
            lambda model: len(model.rows_),
            max_samples=1000,
            note="on the kernel columns; strength by five-fold cross-validation, whose time counts",
        ),
        Method(
            "GP, fixed",
            "sklearn",
            lambda gamma: _gaussian_process(gamma, None),
            lambda model: None,
            max_samples=1000,
            note="the given gamma, amplitude 1",
        ),
        Method(
            "GP",
            "sklearn",
            lambda gamma: _gaussian_process(gamma, "fmin_l_bfgs_b"),
            lambda model: None,
            max_samples=400,
            note="learns its own length-scale and amplitude and keeps every row",
        ),
    )
}

PEERS = ("fastrvm", "fastrvm, no intercept")
"""The fastest other relevance vector machine, with the model of relvec and with its own."""
