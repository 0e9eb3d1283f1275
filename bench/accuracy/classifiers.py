"""The classifiers, of two classes or of more.

Libraries are imported inside the functions: a process pays only for the one it measures.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bench.accuracy.boosting import LEAVES, MOST_TREES, NGBOOST_TREES, fit_ngboost, tuned_boosting
from bench.accuracy.methods import (
    FOLDS,
    GAMMAS,
    MOST_TUNED,
    OURS,
    STRENGTHS,
    Classified,
    Method,
    few_rows,
    folds_of,
    one_vs_rest,
    widths,
)
from bench.classification.calibration import probability as rvm_probability
from bench.classification.fits import cut_short
from bench.classification.metrics import log_loss

__all__ = ["CLASSIFIERS"]

PART = "classification"
MOST_LEARNT = 300
"""Rows on which a Gaussian process learns its kernel; it then predicts from all."""


def _plain(model: Any, n_vectors: int | None = None, is_cut: bool = False) -> Classified:
    """Return a classifier of scikit-learn's kind with probabilities of its own."""
    return Classified(model.predict, model.predict_proba, n_vectors, is_cut)


def _by_probability(probability: Callable[[np.ndarray], np.ndarray], **more: Any) -> Classified:
    """Return a classifier that decides for the most probable class."""
    return Classified(lambda X: np.argmax(probability(X), axis=1), probability, **more)


def _standardised(classifier: Any) -> Any:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), classifier)


def fit_relvec(X: np.ndarray, y: np.ndarray) -> Classified:
    """Fit our classifier as it comes, to columns as they are."""
    from relvec import RVMClassifier

    model = RVMClassifier().fit(X, y)
    return _plain(model, len(model.relevance_), cut_short(model))


def fit_logistic(X: np.ndarray, y: np.ndarray, l1_ratio: int) -> Classified:
    """Fit a linear model, its strength by cross-validation."""
    from sklearn.linear_model import LogisticRegressionCV
    from sklearn.multiclass import OneVsRestClassifier

    logistic = LogisticRegressionCV(
        Cs=np.logspace(-3, 2, 11),
        l1_ratios=(l1_ratio,),
        solver="liblinear" if l1_ratio else "lbfgs",
        cv=folds_of(y, PART),
        scoring="neg_log_loss",
        max_iter=1000,
        use_legacy_attributes=False,
    )
    several = OneVsRestClassifier(logistic) if l1_ratio and y.max() > 1 else logistic
    return _plain(_standardised(several).fit(X, y))


def fit_svc(X: np.ndarray, y: np.ndarray) -> Classified:
    """Fit a support vector machine, tuned by its error rate; probabilities by Platt's sigmoid."""
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.model_selection import GridSearchCV
    from sklearn.svm import SVC

    plain, folds = _standardised(SVC()), folds_of(y, PART)
    grid = {"svc__C": STRENGTHS, "svc__gamma": widths(X.shape[1])}
    search = GridSearchCV(plain, grid, cv=folds, refit=False).fit(X, y)
    best = plain.set_params(**search.best_params_)
    calibrated = CalibratedClassifierCV(best, method="sigmoid", cv=folds, ensemble=False).fit(X, y)
    model = calibrated.calibrated_classifiers_[0].estimator
    return Classified(model.predict, calibrated.predict_proba, len(model[-1].support_))


def fit_process(X: np.ndarray, y: np.ndarray) -> Classified:
    """Fit a Gaussian process with a length-scale for each input, one class against the rest."""
    from sklearn.gaussian_process import GaussianProcessClassifier, kernels
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler().fit(X)
    columns, n_features = scaler.transform(X), X.shape[1]
    rows = few_rows(y, MOST_LEARNT, PART)

    def positive(label: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        start = kernels.ConstantKernel(1.0, (1e-3, 1e4)) * kernels.RBF(
            np.full(n_features, np.sqrt(n_features)), (1e-2, 1e3)
        )
        model = GaussianProcessClassifier(start).fit(columns[rows], label[rows])
        if len(rows) < len(label):
            model = GaussianProcessClassifier(model.kernel_, optimizer=None).fit(columns, label)
        return lambda X_new: model.predict_proba(scaler.transform(X_new))[:, 1]

    return _by_probability(one_vs_rest(positive, y), n_vectors=len(y))


def fit_boosting(X: np.ndarray, y: np.ndarray) -> Classified:
    """Fit boosted trees, their size and number by cross-validation."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    return _plain(tuned_boosting(HistGradientBoostingClassifier, X, y, PART).fit(X, y))


def fit_natural(X: np.ndarray, y: np.ndarray) -> Classified:
    """Fit NGBoost with its categorical distribution."""
    from ngboost import NGBClassifier
    from ngboost.distns import k_categorical

    def make(n_trees: int) -> Any:
        kind = k_categorical(int(y.max()) + 1)
        return NGBClassifier(Dist=kind, n_estimators=n_trees, verbose=False, random_state=0)

    return _plain(fit_ngboost(make, X, y, PART))


def fit_fastrvm(X: np.ndarray, y: np.ndarray) -> Classified:
    """Fit another relevance vector machine, one class against the rest; gamma is tuned."""
    from fastrvm import RVC
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler().fit(X)
    columns = scaler.transform(X)
    models: list[Any] = []

    def fitted(gamma: float, rows: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        models.clear()

        def positive(label: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
            model = RVC(gamma=float(gamma), fit_intercept=True).fit(columns[rows], label)
            models.append(model)
            return lambda columns_new: rvm_probability(model, columns_new)[:, 1]

        return one_vs_rest(positive, y[rows])

    few = few_rows(y, MOST_TUNED, PART)

    def loss(gamma: float) -> float:
        return float(
            np.mean(
                [
                    log_loss(fitted(gamma, few[train])(columns[few[test]]), y[few[test]])
                    for train, test in folds_of(y, PART).split(few, y[few])
                ]
            )
        )

    final = fitted(min(widths(X.shape[1]), key=loss), np.arange(len(y)))
    return _by_probability(
        lambda X_new: final(scaler.transform(X_new)),
        n_vectors=len(set().union(*(model.relevance_ for model in models))),
        is_cut_short=any(cut_short(model) for model in models),
    )


_GAMMAS = ", ".join(f"{factor:g}" for factor in GAMMAS)
_STANDARD = "features standardised"
_LINEAR = f"{_STANDARD}; 11 values of C from 1e-3 to 1e2 by {FOLDS}-fold cross-validated log loss"
_ONE_VS_REST = "several classes one against the rest"

CLASSIFIERS = {
    method.name: method
    for method in (
        Method(OURS, PART, "relvec", fit_relvec, "`RVMClassifier()`, features as they are"),
        Method(
            "logistic L2", PART, "sklearn", lambda X, y: fit_logistic(X, y, 0), f"linear; {_LINEAR}"
        ),
        Method(
            "logistic L1",
            PART,
            "sklearn",
            lambda X, y: fit_logistic(X, y, 1),
            f"linear; {_LINEAR}; {_ONE_VS_REST}",
        ),
        Method(
            "SVC",
            PART,
            "sklearn",
            fit_svc,
            f"{_STANDARD}; Gaussian kernel; C from {STRENGTHS} and gamma times the number of "
            f"features from ({_GAMMAS}) by {FOLDS}-fold cross-validation of the error rate; "
            "probabilities by Platt scaling of cross-validated decision values, decisions by the "
            "sign of the decision value",
        ),
        Method(
            "GPC",
            PART,
            "sklearn",
            fit_process,
            f"{_STANDARD}; Gaussian kernel with a length-scale for each feature (ARD) and "
            f"amplitude by the log evidence (Laplace's approximation), learnt on at most "
            f"{MOST_LEARNT} rows, then conditioned on all; one initialisation, as two random ones "
            "found no more evidence on the first training rows of eight sets; "
            f"{_ONE_VS_REST}",
        ),
        Method(
            "HistGradientBoosting",
            PART,
            "sklearn",
            fit_boosting,
            f"features as they are; leaves and least rows of a leaf from {LEAVES} and up to "
            f"{MOST_TREES} trees by {FOLDS}-fold cross-validation of the log loss",
        ),
        Method(
            "NGBoost",
            PART,
            "ngboost",
            fit_natural,
            f"features as they are; defaults; number of trees, at most {NGBOOST_TREES[PART]}, by "
            "the log loss of a fifth of the training rows, then fitted to all",
        ),
        Method(
            "fastrvm",
            PART,
            "fastrvm",
            fit_fastrvm,
            f"{_STANDARD}; Gaussian kernel with intercept; gamma times the number of features from "
            f"({_GAMMAS}) by {FOLDS}-fold cross-validation of the log loss on at most "
            f"{MOST_TUNED} rows, then fitted to all; {_ONE_VS_REST}",
        ),
    )
}
