"""The candidates: how each is called, and what is read from it afterwards.

Libraries are imported inside the functions: a process pays only for the one it measures.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bench.evidence import rbf


@dataclass(frozen=True)
class Fit:
    """What a fitted candidate says about itself."""

    predict: Callable[[np.ndarray], np.ndarray]
    n_vectors: int
    rows: np.ndarray | None = None
    """Training rows kept, for a method with a sparse set of kernel centres."""
    weight_precision: np.ndarray | None = None
    noise_variance: float | None = None
    log_evidence: float | None = None
    """As the method itself reports it, if it is that of the model of `bench.evidence`."""
    n_iter: int | None = None
    is_cut_short: bool = False
    """Whether it stopped at its limit of iterations: its CPU seconds are then a lower bound."""
    n_columns_fetched: int | None = None


@dataclass(frozen=True)
class Method:
    """A candidate: importing it, fitting it, reading it."""

    name: str
    package: str
    load: Callable[[], Any]
    """Import the library; the result is handed to `fit`."""
    fit: Callable[..., Any]
    """What is timed, kernel evaluation included: (loaded, X, y, gamma) to a fitted object."""
    read: Callable[[Any, np.ndarray, float], Fit]
    max_samples: int | None = None
    note: str = ""

    @property
    def is_installed(self) -> bool:
        """Whether the library is there to be measured."""
        return importlib.util.find_spec(self.package) is not None


# ---------------------------------------------------------------- relvec


def relvec(name: str, **options: Any) -> Method:
    """Return our own regressor with the given options."""

    def load() -> Any:
        from relvec import RVMRegressor

        return RVMRegressor

    def fit(RVMRegressor: Any, X: np.ndarray, y: np.ndarray, gamma: float, **more: Any) -> Any:
        return RVMRegressor(kernel="rbf", gamma=gamma, **options, **more).fit(X, y)

    def read(model: Any, X: np.ndarray, gamma: float) -> Fit:
        return Fit(
            predict=model.predict,
            n_vectors=len(model.relevance_),
            rows=model.relevance_,
            weight_precision=model.weight_precision_,
            noise_variance=model.noise_variance_,
            log_evidence=model.log_evidence_,
            n_iter=model.n_iter_,
            n_columns_fetched=getattr(model, "n_columns_fetched_", None),
        )

    return Method(name, "relvec", load, fit, read)


# ---------------------------------------------------------------- other relevance vector machines


def _load_fastrvm() -> Any:
    from fastrvm import RVR

    return RVR


def _fit_fastrvm(RVR: Any, X: np.ndarray, y: np.ndarray, gamma: float) -> Any:
    return RVR(kernel="rbf", gamma=float(gamma), fit_intercept=True).fit(X, y)


def _read_fastrvm(model: Any, X: np.ndarray, gamma: float) -> Fit:
    # alpha_ of fastrvm 0.1.5 was divided by the squared norm of its column where the change of
    # units asks for a product: only with norm^4 is it a stationary point of the evidence
    norm = np.linalg.norm(rbf(X, model.relevance_vectors_, gamma), axis=0)
    return Fit(
        predict=model.predict,
        n_vectors=len(model.relevance_),
        rows=model.relevance_,
        weight_precision=model.alpha_.ravel() * norm**4,
        noise_variance=1 / float(model.beta_),
        n_iter=int(model.n_iter_),
        is_cut_short=bool(model.n_iter_ >= model.max_iter),
    )


def _load_emrvr() -> Any:
    from sklearn_rvm import EMRVR

    return EMRVR


def _fit_emrvr(EMRVR: Any, X: np.ndarray, y: np.ndarray, gamma: float) -> Any:
    model = EMRVR(kernel="rbf", gamma=gamma)
    model.fit(X, y)  # returns None
    return model


def _read_emrvr(model: Any, X: np.ndarray, gamma: float) -> Fit:
    n_vectors = len(model.relevance_)
    return Fit(
        predict=model.predict,
        n_vectors=n_vectors,
        rows=model.relevance_,
        weight_precision=model.alpha_[len(model.alpha_) - n_vectors :] * model._scale**2,
        noise_variance=1 / float(model.beta_),
    )


# ---------------------------------------------------------------- scikit-learn


def _load_ard() -> Any:
    from sklearn.linear_model import ARDRegression

    return ARDRegression


def _fit_ard(ARDRegression: Any, X: np.ndarray, y: np.ndarray, gamma: float) -> Any:
    return ARDRegression().fit(rbf(X, X, gamma), y)


def _read_ard(model: Any, X: np.ndarray, gamma: float) -> Fit:
    rows = np.flatnonzero(model.coef_)
    return Fit(
        predict=lambda X_new: model.predict(rbf(X_new, X, gamma)),
        n_vectors=len(rows),
        rows=rows,
        weight_precision=model.lambda_[rows],
        noise_variance=1 / float(model.alpha_),
        n_iter=int(model.n_iter_),
    )


def _load_svr() -> Any:
    from sklearn.svm import SVR

    return SVR


def _fit_svr(SVR: Any, X: np.ndarray, y: np.ndarray, gamma: float) -> Any:
    return SVR(kernel="rbf", gamma=gamma).fit(X, y)


def _read_svr(model: Any, X: np.ndarray, gamma: float) -> Fit:
    return Fit(predict=model.predict, n_vectors=len(model.support_))


def _load_gpr() -> Any:
    from sklearn.gaussian_process import GaussianProcessRegressor, kernels

    return GaussianProcessRegressor, kernels


def _fit_gpr(loaded: Any, X: np.ndarray, y: np.ndarray, gamma: float) -> Any:
    GaussianProcessRegressor, kernels = loaded
    kernel = kernels.ConstantKernel() * kernels.RBF((2 * gamma) ** -0.5) + kernels.WhiteKernel(0.1)
    return GaussianProcessRegressor(kernel, normalize_y=True).fit(X, y)


def _read_gpr(model: Any, X: np.ndarray, gamma: float) -> Fit:
    return Fit(predict=model.predict, n_vectors=len(X))


METHODS = {
    method.name: method
    for method in (
        relvec("relvec fast", effort="fast", low_memory=False),
        relvec("relvec balanced", effort="balanced", low_memory=False),
        relvec("relvec thorough", effort="thorough", low_memory=False),
        relvec("relvec low-memory", effort="fast", low_memory=True),
        Method("fastrvm", "fastrvm", _load_fastrvm, _fit_fastrvm, _read_fastrvm),
        Method("sklearn-rvm", "sklearn_rvm", _load_emrvr, _fit_emrvr, _read_emrvr),
        Method(
            "ARDRegression",
            "sklearn",
            _load_ard,
            _fit_ard,
            _read_ard,
            max_samples=240,
            note="on the kernel matrix as columns",
        ),
        Method(
            "SVR",
            "sklearn",
            _load_svr,
            _fit_svr,
            _read_svr,
            note="untuned: default C and epsilon",
        ),
        Method(
            "GaussianProcess",
            "sklearn",
            _load_gpr,
            _fit_gpr,
            _read_gpr,
            max_samples=2000,
            note="learns its own length-scale and keeps every row",
        ),
    )
}

REFERENCE = "fastrvm"
"""The peer that ratios refer to: the fastest published implementation."""
