"""
Kernels and polynomial terms in one model
=========================================

Problem: fit a function that is non-linear in one feature and linear in another. The target, after
Tipping (2001, section 4.3), is ``sinc(x0) + 0.1 x1`` with noise of standard deviation 0.1. With
kernels alone, the linear trend in x1 needs many of them. If the basis also has linear and quadratic
terms, the evidence (marginal likelihood) keeps only the terms that are needed. With kernels of x0
alone the model is smallest.

Run it with ``python examples/mixed_basis.py [plot.png]``; only the plot needs matplotlib.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from sklearn.metrics import root_mean_squared_error

from relvec import SparseBayesRegressor
from relvec._compat import import_optional
from relvec.bases import KernelBasis, LinearBasis, PolynomialBasis

NOISE = 0.1
TERMS = ("x0", "x1", "x0^2", "x0 x1", "x1^2")


def surface(X: np.ndarray) -> np.ndarray:
    return np.sinc(X[:, 0] / np.pi) + 0.1 * X[:, 1]


def kernel_of_x0(X: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """Any function of two arrays can be a kernel; this one depends on the first feature only."""
    return np.exp(-((X[:, :1] - Z[:, 0]) ** 2) / 9)


def main(path: Path | None = None) -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-10, 10, size=(100, 2))
    y = surface(X) + NOISE * rng.normal(size=100)
    X_test = rng.uniform(-10, 10, size=(2000, 2))

    kernels = KernelBasis("rbf", gamma=1 / 9)
    terms = LinearBasis() + PolynomialBasis(degree=2, include_linear=False)
    bases = {
        "kernels of both features": kernels,
        "kernels of both features + terms": kernels + terms,
        "kernels of x0 + terms": KernelBasis(kernel_of_x0) + terms,
    }
    print(f"sinc(x0) + 0.1 x1, {len(y)} rows, noise {NOISE}; terms: {', '.join(TERMS)}\n")
    print(f"{'basis':34}{'RMSE':>7}{'noise':>7}{'log evidence':>14}{'kernels':>9}  terms kept")
    fitted = {}
    for name, basis in bases.items():
        model = fitted[name] = SparseBayesRegressor(basis).fit(X, y)
        error = root_mean_squared_error(surface(X_test), model.predict(X_test))
        weights = dict(zip(model.atom_names(), model.coef_, strict=True))
        kept = [f"{weights[term]:.4f} {term}" for term in TERMS if term in weights]
        print(
            f"{name:34}{error:7.3f}{model.noise_variance_**0.5:7.3f}{model.log_evidence_:14.1f}"
            f"{len(weights) - len(kept):9d}  {', '.join(kept) or '-'}"
        )

    if path is not None:
        draw(path, fitted)


def draw(path: Path, models: dict[str, SparseBayesRegressor]) -> None:
    """Plot the function of x0 at three values of x1; the truth is dashed."""
    pyplot = import_optional("matplotlib.pyplot")
    line = np.linspace(-10, 10, 300)
    figure, panels = pyplot.subplots(
        1, 3, figsize=(9.5, 3.2), sharex=True, sharey=True, layout="constrained"
    )
    for axes, (name, model) in zip(panels, models.items(), strict=True):
        for x1, colour in ((-8.0, "#1f5a99"), (0.0, "0.35"), (8.0, "#c2410c")):
            cut = np.column_stack([line, np.full(300, x1)])
            axes.plot(line, surface(cut), color=colour, lw=1, ls="--")
            axes.plot(line, model.predict(cut), color=colour, lw=1.8, label=f"x1 = {x1:g}")
        axes.set_title(name, fontsize=10, loc="left")
        axes.set_xlabel("x0")
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("y")
    panels[0].legend(frameon=False, fontsize=8, loc="upper left")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:2]))
