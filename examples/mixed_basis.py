"""Kernels and explicit terms in one model, and which of them the data call for.

The target, after Tipping (2001, section 4.3), is ``sinc(x0) + 0.1 x1`` with noise of standard
deviation 0.1. A kernel machine alone has to build the slope along x1 out of bumps. Offered
the two inputs, their squares and their product next to the kernels, the evidence takes what
it needs. Told that the curve runs along x0 only, it needs little else.

Run it with ``python examples/mixed_basis.py``.
"""

from __future__ import annotations

import numpy as np
from sklearn.metrics import root_mean_squared_error

from relvec import SparseBayesRegressor
from relvec.bases import KernelBasis, LinearBasis, PolynomialBasis

NOISE = 0.1
TERMS = ("x0", "x1", "x0^2", "x0 x1", "x1^2")


def surface(X: np.ndarray) -> np.ndarray:
    return np.sinc(X[:, 0] / np.pi) + 0.1 * X[:, 1]


def kernel_of_x0(X: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """Any function of two arrays can be a kernel; this one looks at the first input only."""
    return np.exp(-((X[:, :1] - Z[:, 0]) ** 2) / 9)


def main() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-10, 10, size=(100, 2))
    y = surface(X) + NOISE * rng.normal(size=100)
    X_test = rng.uniform(-10, 10, size=(2000, 2))

    kernels = KernelBasis("rbf", gamma=1 / 9)
    terms = LinearBasis() + PolynomialBasis(degree=2, include_linear=False)
    bases = {
        "kernels of both inputs": kernels,
        "kernels of both inputs + terms": kernels + terms,
        "kernels of x0 + terms": KernelBasis(kernel_of_x0) + terms,
    }
    print(f"sinc(x0) + 0.1 x1, {len(y)} rows, noise {NOISE}; terms offered: {', '.join(TERMS)}\n")
    print(f"{'basis':32}{'RMSE':>7}{'noise':>7}{'log evidence':>14}{'kernels':>9}  terms kept")
    for name, basis in bases.items():
        model = SparseBayesRegressor(basis).fit(X, y)
        error = root_mean_squared_error(surface(X_test), model.predict(X_test))
        weights = dict(zip(model.atom_names(), model.coef_, strict=True))
        kept = [f"{weights[term]:.4f} {term}" for term in TERMS if term in weights]
        print(
            f"{name:32}{error:7.3f}{model.noise_variance_**0.5:7.3f}{model.log_evidence_:14.1f}"
            f"{len(weights) - len(kept):9d}  {', '.join(kept) or '-'}"
        )


if __name__ == "__main__":
    main()
