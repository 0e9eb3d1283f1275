"""
Kernels and explicit terms in one model, and which of them the data call for
============================================================================

The target, after Tipping (2001, section 4.3), is ``sinc(x0) + 0.1 x1`` with noise of standard
deviation 0.1. A kernel machine alone has to build the slope along x1 out of bumps. Offered
the two inputs, their squares and their product next to the kernels, the evidence takes what
it needs. Told that the curve runs along x0 only, it needs little else.

Run it with ``python examples/mixed_basis.py [picture.png]``; only the picture needs matplotlib.
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
    """Any function of two arrays can be a kernel; this one looks at the first input only."""
    return np.exp(-((X[:, :1] - Z[:, 0]) ** 2) / 9)


def main(picture: Path | None = None) -> None:
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
    fitted = {}
    for name, basis in bases.items():
        model = fitted[name] = SparseBayesRegressor(basis).fit(X, y)
        error = root_mean_squared_error(surface(X_test), model.predict(X_test))
        weights = dict(zip(model.atom_names(), model.coef_, strict=True))
        kept = [f"{weights[term]:.4f} {term}" for term in TERMS if term in weights]
        print(
            f"{name:32}{error:7.3f}{model.noise_variance_**0.5:7.3f}{model.log_evidence_:14.1f}"
            f"{len(weights) - len(kept):9d}  {', '.join(kept) or '-'}"
        )

    if picture is not None:
        draw(picture, fitted)


def draw(picture: Path, models: dict[str, SparseBayesRegressor]) -> None:
    """Cuts along x0, at three values of x1; the truth is dashed."""
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
    picture.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(picture, dpi=110)
    pyplot.close(figure)


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:2]))
