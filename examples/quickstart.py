"""
Quick start: regression with error bars
=======================================

Problem: predict a number, with a prediction interval, from a small table of data. The data are 442
patients with ten measurements (age, sex, body mass index, blood pressure, six blood values) and a
score of diabetes progression one year later. We fit a relevance vector machine to three quarters of
the patients. On the others we check the RMSE and the coverage of the intervals. We also count the
relevance vectors, and plot predictions far from the data.

Run it with ``make demo`` or ``python examples/quickstart.py [plot.png]``. No network is
needed: the data come with scikit-learn.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import RidgeCV
from sklearn.metrics import root_mean_squared_error
from sklearn.model_selection import GridSearchCV, KFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from relvec import RVMRegressor

FOLDS = KFold(5, shuffle=True, random_state=0)
GAMMAS = [0.001, 0.003, 0.01, 0.03, 0.1]
PLOT = Path("build") / "quickstart.png"

INK, DATA, MODEL, VECTORS = "0.15", "0.45", "#1f5a99", "#c2410c"


def main(path: Path = PLOT) -> None:
    pyplot = load_pyplot()
    data = load_diabetes(scaled=False)
    X, X_test, y, y_test = train_test_split(data.data, data.target, test_size=0.25, random_state=1)

    # Nothing to tune, and columns in any units: `fit` learns the length-scales of the kernel.
    began = time.perf_counter()
    rvm = RVMRegressor().fit(X, y)
    seconds = time.perf_counter() - began

    mean = rvm.predict(X_test)
    interval = rvm.predict_interval(X_test, coverage=0.95)
    inside = (interval[:, 0] <= y_test) & (y_test <= interval[:, 1])
    baseline = DummyRegressor().fit(X, y)
    ridge = make_pipeline(StandardScaler(), RidgeCV(np.logspace(-2, 4, 25))).fit(X, y)
    svr = tuned_svr(X, y)

    print(f"Diabetes progression: {len(y)} training patients, {len(y_test)} test patients\n")
    print("RMSE on the test patients")
    print(f"  mean of the training targets   {error(y_test, baseline.predict(X_test)):6.1f}")
    print(f"  ridge regression, tuned        {error(y_test, ridge.predict(X_test)):6.1f}   linear")
    print(
        f"  SVR, tuned by 5-fold CV        {error(y_test, svr.predict(X_test)):6.1f}"
        f"   keeps {len(svr[-1].support_):3d} of {len(y)} training patients"
    )
    print(f"  RVM, nothing tuned             {error(y_test, mean):6.1f}   {kept(rvm, len(y))}\n")
    print("The relevance vector machine")
    print(f"  noise standard deviation {rvm.noise_variance_**0.5:.1f}")
    print(f"  log evidence             {rvm.log_evidence_:.1f}")
    print(
        f"  95 % intervals           cover {inside.sum()} of {len(y_test)} test targets "
        f"({inside.mean():.1%})"
    )
    print(f"  fit time                 {seconds:.2f} s")

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10.0, 4.3), layout="constrained")
    draw_curve(left, rvm, X, y, column=2)
    draw_calibration(right, y_test, mean, interval, inside)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110, metadata={"Software": None})
    pyplot.close(figure)
    print(f"\nPlot: {os.path.relpath(path)}")


def tuned_svr(X: np.ndarray, y: np.ndarray):
    return (
        GridSearchCV(
            make_pipeline(StandardScaler(), SVR()),
            {
                "svr__C": [1, 10, 100, 1000],
                "svr__gamma": GAMMAS,
                "svr__epsilon": [1, 10, 30],
            },
            cv=FOLDS,
            scoring="neg_root_mean_squared_error",
        )
        .fit(X, y)
        .best_estimator_
    )


def kept(model: RVMRegressor, n_rows: int) -> str:
    """Describe the relevance vectors; a model that fell back to a linear basis has none."""
    if not hasattr(model, "relevance_vectors_"):
        return "linear: kernels do not improve predictions of held-out patients"
    return f"keeps {len(model.relevance_):3d} of {n_rows} training patients"


def error(observed: np.ndarray, predicted: np.ndarray) -> float:
    return root_mean_squared_error(observed, predicted)


def draw_curve(axes, model, X: np.ndarray, y: np.ndarray, column: int) -> None:
    """Plot the model along one feature, with all others at their medians."""
    grid = np.linspace(5, 60, 400)
    along = np.tile(np.median(X, axis=0), (len(grid), 1))
    along[:, column] = grid
    mean, std = model.predict(along, return_std=True)
    _, curve = model.predict(along, return_std=True, include_noise=False)
    axes.fill_between(
        grid,
        mean - 1.96 * std,
        mean + 1.96 * std,
        color=MODEL,
        alpha=0.12,
        lw=0,
        label="95 %, a new patient",
    )
    axes.fill_between(
        grid,
        mean - 1.96 * curve,
        mean + 1.96 * curve,
        color=MODEL,
        alpha=0.3,
        lw=0,
        label="95 %, the curve",
    )
    axes.plot(grid, mean, color=MODEL, lw=1.8, label="mean")
    axes.plot(X[:, column], y, ".", color=DATA, ms=4, alpha=0.7, mew=0, label="training patients")
    rows = model.relevance_ if hasattr(model, "relevance_vectors_") else []
    axes.plot(
        X[rows, column],
        y[rows],
        "o",
        mfc="none",
        mec=VECTORS,
        ms=9,
        mew=1.6,
        label="relevance vectors",
    )
    axes.set(
        xlim=(5, 60),
        ylim=(-150, 450),
        xlabel="body mass index (kg/m²)",
        ylabel="disease progression (score)",
    )
    finish(axes, "One feature, the others at their medians", "lower right")


def draw_calibration(axes, observed, mean, interval, inside) -> None:
    """Plot every test patient with the prediction interval."""
    axes.vlines(mean, *interval.T, color=MODEL, alpha=0.3, lw=0.9, label="95 % interval")
    axes.axline((150, 150), slope=1, color=MODEL, lw=1.8, label="mean")
    for mask, colour, label in (
        (inside, INK, f"observed, inside ({inside.sum()})"),
        (~inside, VECTORS, f"observed, outside ({(~inside).sum()})"),
    ):
        axes.plot(mean[mask], observed[mask], "o", color=colour, ms=4, mew=0, label=label)
    axes.set(
        ylim=(-80, 450),
        xlabel="predicted progression (score)",
        ylabel="observed progression (score)",
    )
    finish(axes, f"{len(observed)} test patients", "upper left")


def finish(axes, title: str, legend_at: str) -> None:
    axes.set_title(title, fontsize=12, loc="left")
    axes.xaxis.label.set_size(11)
    axes.yaxis.label.set_size(11)
    axes.tick_params(labelsize=10)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=9, loc=legend_at)


def load_pyplot():
    try:
        import matplotlib
    except ImportError as missing:
        raise SystemExit(
            "This example draws a plot, which needs matplotlib. "
            'Install it with: pip install "relvec[plot]"'
        ) from missing
    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:2]))
