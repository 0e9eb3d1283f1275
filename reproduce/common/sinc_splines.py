"""RVM and SVM with linear spline kernels on sinc, after Tipping."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.svm import SVR

from relvec import RVMRegressor
from relvec.kernels import LinearSpline
from reproduce.common.published import find

__all__ = ["N_DRAWS", "SVM_GRID", "compare", "fit_rvm", "fit_svm", "read_sinc"]

Fit = dict[str, Any]
N_DRAWS = 100
"""Frozen draws of the noise."""
SVM_GRID = {
    "C": (30.0, 100.0, 300.0, 1000.0, 3000.0),
    "epsilon": (0.02, 0.04, 0.06, 0.08, 0.1, 0.12, 0.14, 0.16, 0.18, 0.2),
}
N_FOLDS = 5
FINE = {"tol": 1e-6, "max_iter": 1_000_000}
COARSE = {"tol": 1e-3, "max_iter": 100_000}


def read_sinc(folder: Path | None) -> dict[str, np.ndarray]:
    """Return inputs, the function and draws of noise, by name."""
    with np.load(find(folder, "tipping_sinc.npz"), allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


def compare(curve: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    """Return how far a curve is from the truth: at most, and as a root mean square."""
    difference = curve - truth
    return {
        "largest": float(np.abs(difference).max()),
        "rms": float(np.sqrt(np.mean(difference**2))),
    }


def fit_rvm(data: dict[str, np.ndarray], y: np.ndarray, **options: Any) -> Fit:
    """Fit a relevance vector machine to targets at the 100 inputs, and judge it at 1000.

    Parameters
    ----------
    data : dict of str to array
        What `read_sinc` returns.
    y : array
        Targets.
    **options
        Of `RVMRegressor`; its kernel is the linear spline if not given.
    """
    x = data["x"][:, np.newaxis]
    model = RVMRegressor(**{"kernel": LinearSpline(), "calibrate": False, **options}).fit(x, y)
    curve, deviation = model.predict(data["x_test"][:, np.newaxis], return_std=True)
    return {
        **compare(curve, data["f_test"]),
        "rms_at_data": compare(model.predict(x), data["f"])["rms"],
        "n_vectors": len(model.relevance_),
        "vectors": model.relevance_,
        "noise": float(np.sqrt(model.noise_variance_)),
        "curve": curve,
        "band": deviation,
    }


def fit_svm(data: dict[str, np.ndarray], y: np.ndarray, seed: int = 0, **options: float) -> Fit:
    """Fit a support vector machine with linear splines to targets at the 100 inputs.

    The kernel is positive definite only where inputs are not negative, so they are shifted to
    start from zero; it is divided by the mean of its diagonal, which only changes the unit of C.

    Parameters
    ----------
    data : dict of str to array
        What `read_sinc` returns.
    y : array
        Targets.
    seed : int
        Number and seed of the folds.
    **options
        C and epsilon; found by cross-validation on `SVM_GRID` if not given.
    """
    x = (data["x"] - data["x"].min())[:, np.newaxis]
    x_test = (data["x_test"] - data["x"].min())[:, np.newaxis]
    kernel = LinearSpline()
    unit = float(np.mean(kernel.diag(x)))
    gram = kernel(x) / unit
    with warnings.catch_warnings():
        # corners of the grid need not converge
        warnings.simplefilter("ignore", ConvergenceWarning)
        if not options:
            folds = KFold(N_FOLDS, shuffle=True, random_state=seed)
            machine = SVR(kernel="precomputed", **COARSE)
            search = GridSearchCV(machine, SVM_GRID, cv=folds, scoring="neg_mean_squared_error")
            options = search.fit(gram, y).best_params_
        model = SVR(kernel="precomputed", **FINE, **options).fit(gram, y)
    curve = model.predict(kernel(x_test, x) / unit)
    return {
        **compare(curve, data["f_test"]),
        "rms_at_data": compare(model.predict(gram), data["f"])["rms"],
        "n_vectors": len(model.support_),
        "vectors": model.support_,
        "curve": curve,
        "C": options["C"],
        "epsilon": options["epsilon"],
    }
