"""The classifiers: how each is made, and which features and rows the fitted model uses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["METHODS", "Method"]

FOLDS = 5
GAMMAS = (1 / 16, 1 / 4, 1.0, 4.0, 16.0)
"""Candidates for gamma times the number of features, on standardised columns."""
STRENGTHS = (0.1, 1.0, 10.0, 100.0)
"""Candidates for C of support vector machines."""
LASSO = np.logspace(-2, 2, 9)
"""Candidates for C of logistic regression with an L1 penalty."""

Reader = Callable[[Any], Any]


@dataclass(frozen=True)
class Method:
    """A classifier: how it is made for a number of features, and what is read from it."""

    name: str
    make: Callable[[int], Any]
    """An unfitted classifier of scikit-learn's kind."""
    kept: Reader = lambda model: None
    """Positions of the features that the fitted classifier uses; None for all."""
    vectors: Reader = lambda model: None
    """How many kernels it evaluates for a prediction; None if that makes no sense."""
    max_draws: int | None = None
    note: str = ""


def gamma_candidates(n_features: int) -> list[float]:
    """Return the candidates for gamma."""
    return [factor / n_features for factor in GAMMAS]


# ---------------------------------------------------------------- relevance vector machines


def pfcvm(name: str, select: str) -> Method:
    """Return our classifier that selects samples and features."""

    def make(n_features: int) -> Any:
        from relvec import PFCVMClassifier

        return PFCVMClassifier(select=select)

    return Method(name, make, _scaled, _relevance)


def _default(n_features: int) -> Any:
    from relvec import RVMClassifier

    return RVMClassifier()


def _scaled(model: Any) -> np.ndarray:
    return np.flatnonzero(np.isfinite(model.length_scale_))


def _relevance(model: Any) -> int:
    return len(model.relevance_)


def _one_length_scale(n_features: int) -> Any:
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from relvec import RVMClassifier

    return GridSearchCV(
        make_pipeline(StandardScaler(), RVMClassifier(length_scales=None)),
        {"rvmclassifier__gamma": gamma_candidates(n_features)},
        cv=FOLDS,
        scoring="neg_log_loss",
    )


# ---------------------------------------------------------------- scikit-learn


class TunedSVC:
    """Support vector machine, tuned by its error rate; probabilities by Platt's sigmoid."""

    def __init__(self, n_features: int, kernel: str = "rbf") -> None:
        self.kernel = kernel
        self.grid = {"svc__C": STRENGTHS}
        if kernel == "rbf":
            self.grid["svc__gamma"] = tuple(gamma_candidates(n_features))

    def fit(self, X: np.ndarray, y: np.ndarray) -> TunedSVC:
        """Choose the options, then fit classifier and sigmoid."""
        from sklearn.calibration import CalibratedClassifierCV
        from sklearn.model_selection import GridSearchCV
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler
        from sklearn.svm import SVC

        plain = make_pipeline(StandardScaler(), SVC(kernel=self.kernel))
        search = GridSearchCV(plain, self.grid, cv=FOLDS, refit=False).fit(X, y)
        best = plain.set_params(**search.best_params_)
        self.calibrated_ = CalibratedClassifierCV(best, cv=FOLDS, ensemble=False).fit(X, y)
        self.svc_ = self.calibrated_.calibrated_classifiers_[0].estimator
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the decisions of the support vector machine itself."""
        return np.asarray(self.svc_.predict(X))

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Return the probabilities by the sigmoid."""
        return np.asarray(self.calibrated_.predict_proba(X))


def _lasso(n_features: int) -> Any:
    from sklearn.linear_model import LogisticRegressionCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    logistic = LogisticRegressionCV(
        Cs=LASSO,
        l1_ratios=(1,),
        solver="liblinear",
        cv=FOLDS,
        scoring="neg_log_loss",
        use_legacy_attributes=False,
    )
    return make_pipeline(StandardScaler(), logistic)


def _gaussian_process(n_features: int) -> Any:
    from sklearn.gaussian_process import GaussianProcessClassifier, kernels
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    start = kernels.RBF(np.full(n_features, np.sqrt(n_features)))
    process = GaussianProcessClassifier(kernels.ConstantKernel() * start)
    return make_pipeline(StandardScaler(), process)


def _majority(n_features: int) -> Any:
    from sklearn.dummy import DummyClassifier

    return DummyClassifier(strategy="prior")


METHODS = {
    method.name: method
    for method in (
        pfcvm("PFCVM", "auto"),
        pfcvm("PFCVM always", "always"),
        pfcvm("PFCVM never", "never"),
        Method(
            "RVM", _default, _scaled, _relevance, note="learns length-scales, as it does by default"
        ),
        Method(
            "RVM, one length-scale",
            _one_length_scale,
            vectors=lambda search: _relevance(search.best_estimator_[-1]),
            note="`length_scales=None` on standardised columns; gamma by five-fold "
            "cross-validation of the log loss, whose time counts",
        ),
        Method(
            "SVC",
            TunedSVC,
            vectors=lambda model: len(model.svc_[-1].support_),
            note="standardised columns; C and gamma by five-fold cross-validation of the error "
            "rate, probabilities by Platt's sigmoid, all of whose time counts",
        ),
        Method("linear SVC", lambda n: TunedSVC(n, "linear"), note="as SVC; C alone is chosen"),
        Method(
            "L1 logistic",
            _lasso,
            kept=lambda model: np.flatnonzero(model[-1].coef_.any(axis=0)),
            note="linear in standardised columns; C by five-fold cross-validation of the log "
            "loss, whose time counts",
        ),
        Method(
            "GP, ARD",
            _gaussian_process,
            max_draws=3,
            note="scikit-learn's, a length-scale for each standardised column; at most three draws",
        ),
        Method("majority", _majority, note="the class frequencies of the training rows"),
    )
}
