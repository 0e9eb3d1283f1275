"""The log evidence of a given set of kernel centres, maximised by dense algebra.

It shares no code with the library, so that it can judge every implementation alike, ours
included. With unit centred columns ``Phi``, centred target ``t``, ``N = n - 1`` and
``lam = alpha sigma^2 / norm^2``, the noise drops out in closed form and what remains is::

    J = -1/2 [ N log(2 pi e R / N) + log|K| ],   K = I + Phi Lam^-1 Phi',   R = t' K^-1 t
    dJ / dlog(lam_i) = -1/2 [ N lam_i mu_i^2 / R - (1 - lam_i S_ii) ],      S = (Phi'Phi + Lam)^-1
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_solve, cholesky
from scipy.optimize import minimize

BOUNDS = (np.log(1e-13), np.log(1e13))
"""Range of ``log lam``: beyond it a column is free, or absent, to working precision."""

JITTER = 1e-10
"""Share of the target that no column explains: it keeps ``R`` positive when rounding would not."""


def rbf(X: np.ndarray, Z: np.ndarray, gamma: float) -> np.ndarray:
    """Return ``exp(-gamma |x - z|^2)`` by one matrix product and one exponential, in place."""
    product = X @ (2 * gamma * Z).T
    product -= gamma * np.einsum("ij,ij->i", X, X)[:, None]
    product -= gamma * np.einsum("ij,ij->i", Z, Z)
    np.minimum(product, 0.0, out=product)
    return np.exp(product, out=product)


class ActiveSet:
    """The profiled evidence of a fixed set of columns, as a function of ``theta = log lam``."""

    def __init__(self, columns: np.ndarray, target: np.ndarray) -> None:
        columns = columns - columns.mean(axis=0)
        self.norm = np.linalg.norm(columns, axis=0)
        columns = columns / self.norm
        target = target - target.mean()
        self.n_effective = len(target) - 1
        self.gram = columns.T @ columns
        self.correlation = columns.T @ target
        self.target_ss = (1 + JITTER) * float(target @ target)

    def value_and_gradient(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the log evidence and its derivative."""
        n, lam = self.n_effective, np.exp(theta)
        factor = cholesky(self.gram + np.diag(lam), lower=True)
        inverse = cho_solve((factor, True), np.eye(len(lam)))
        mean = inverse @ self.correlation
        quadratic = self.target_ss - self.correlation @ mean
        log_det = 2 * np.log(np.diag(factor)).sum() - theta.sum()
        value = -0.5 * (n * np.log(2 * np.pi * np.e * quadratic / n) + log_det)
        gradient = n * lam * mean**2 / quadratic - (1 - lam * np.diag(inverse))
        return float(value), -0.5 * gradient

    def maximise(self, theta: np.ndarray) -> float:
        """Return the largest log evidence found by maximisation from `theta`."""

        def negative(theta: np.ndarray) -> tuple[float, np.ndarray]:
            value, gradient = self.value_and_gradient(theta)
            return -value, -gradient

        result = minimize(
            negative,
            np.clip(theta, *BOUNDS),
            jac=True,
            method="L-BFGS-B",
            bounds=[BOUNDS] * len(theta),
            options={"maxiter": 2000, "maxfun": 3000, "maxcor": 30, "ftol": 1e-11, "gtol": 1e-5},
        )
        return -float(result.fun)


def reoptimised_evidence(
    X: np.ndarray,
    y: np.ndarray,
    gamma: float,
    rows: np.ndarray,
    weight_precision: np.ndarray | None = None,
    noise_variance: float | None = None,
) -> float:
    """Return the best log evidence found for the RBF kernel at the centres ``X[rows]``.

    Parameters
    ----------
    X, y : ndarray of shape (n_samples, n_features) and (n_samples,)
        Training data.
    gamma : float
        Parameter of the kernel ``exp(-gamma |x - z|^2)``.
    rows : ndarray of shape (n_relevance,)
        Training rows kept by some method.
    weight_precision, noise_variance : ndarray of shape (n_relevance,) and float, optional
        What that method found for the raw columns; maximisation starts there as well as from the
        best shared precision, and the better local optimum counts.
    """
    rows = np.asarray(rows, dtype=int)
    if not len(rows):
        return ActiveSet(np.empty((len(y), 0)), y).value_and_gradient(np.empty(0))[0]
    active = ActiveSet(rbf(X, X[rows], gamma), y)
    shared = [np.full(len(rows), theta) for theta in np.linspace(*np.log([1e-8, 1e2]), 11)]
    initial = [max(shared, key=lambda theta: active.value_and_gradient(theta)[0])]
    if weight_precision is not None and noise_variance is not None:
        initial.append(np.log(np.asarray(weight_precision) * noise_variance / active.norm**2))
    return max(active.maximise(theta) for theta in initial)
