"""
Finding relevant features
=========================

Problem: find the features that a target depends on. Three tests: Friedman's function, which depends
on five of ten features; a ring, where two of fifty features together determine the class and none
is correlated with it; and diabetes patients, where the truth is unknown and the stability of the
selection is checked on random halves.

Run it with ``python examples/feature_selection.py [plot.png]``. It takes half a minute and
needs matplotlib: ``pip install "relvec[plot]"``.
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.linear_model import LinearRegression
from sklearn.metrics import root_mean_squared_error
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.svm import SVC

from relvec import DRVMRegressor, PFCVMClassifier, RVMClassifier, RVMRegressor
from relvec.datasets import make_friedman, make_ring

PLOT = Path("build") / "feature_selection.png"
HALVES = 12


def main(path: Path = PLOT) -> None:
    pyplot = load_pyplot()
    print(f"{'':34}{'error':>10}{'vectors':>10}  features kept")
    model = friedman()
    two, y = ring()
    names, supports, relevances = diabetes()

    print()
    path.parent.mkdir(parents=True, exist_ok=True)
    draw_relevance(pyplot, model, path)
    draw_ring(pyplot, two, y, path.with_stem(path.stem + "_ring"))
    draw_frequency(pyplot, names, supports, relevances, path.with_stem(path.stem + "_frequency"))


def friedman() -> DRVMRegressor:
    """Fit Friedman's function of five relevant features; the RMSE is without noise."""
    X, y, truth = make_friedman(1, n_samples=240, random_state=0, return_truth=True)
    X_test, _ = truth.sample(1000, random_state=1)
    process = ConstantKernel() * RBF(np.ones(10), (1e-3, 1e5)) + WhiteKernel()
    selector = DRVMRegressor()
    models = {
        "RVM, fixed length-scale": RVMRegressor(length_scales=None),
        "RVM, length-scales learnt": RVMRegressor(),
        "DRVM, features selected": selector,
        "Gaussian process with ARD": GaussianProcessRegressor(process, normalize_y=True),
    }
    print("Friedman #1: 240 rows, 10 features, x0 to x4 are relevant; RMSE")
    for name, model in models.items():
        with warnings.catch_warnings():
            # the process warns that length-scales of irrelevant features are at their bounds
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X, y)
        error = root_mean_squared_error(truth(X_test), model.predict(X_test))
        print_row(name, f"{error:.2f}", vectors(model, X), kept(model, 10))
    return selector


def ring() -> tuple[np.ndarray, np.ndarray]:
    """Classify a ring with two relevant features of fifty; return the selected features."""
    X, y, truth = make_ring(200, n_features=50, random_state=0, return_truth=True)
    X_test, y_test = truth.sample(4000, random_state=1)
    grid = {"gamma": [0.001, 0.01, 0.1, 1.0], "C": [0.1, 1.0, 10.0, 100.0]}
    selector = PFCVMClassifier()
    models = {
        "RVM, fixed length-scale": RVMClassifier(length_scales=None),
        "PFCVM, features selected": selector,
        "SVM, cross-validated": GridSearchCV(SVC(), grid),
    }
    print("\nRing: 200 rows, 50 features, x0 and x1 are relevant; error rate")
    for name, model in models.items():
        model.fit(X, y)
        error = 1.0 - model.score(X_test, y_test)
        print_row(name, f"{error:.1%}", vectors(model, X), kept(model, 50))
    print_row("Bayes classifier", f"{truth.bayes_error:.1%}", "-", "x0 x1")
    return selector.transform(X), y


def diabetes() -> tuple[list[str], np.ndarray, np.ndarray]:
    """Fit random halves of the patients, and predict the other halves."""
    data = load_diabetes(scaled=False)
    X, y, names = data.data, data.target, list(data.feature_names)
    errors: list[tuple[float, float]] = []
    supports, relevances, n_vectors = [], [], []
    for seed in range(HALVES):
        X_fit, X_test, y_fit, y_test = train_test_split(X, y, test_size=0.5, random_state=seed)
        model = DRVMRegressor(select="always").fit(X_fit, y_fit)
        line = LinearRegression().fit(X_fit, y_fit)
        errors.append(
            tuple(root_mean_squared_error(y_test, m.predict(X_test)) for m in (model, line))
        )
        supports.append(model.get_support())
        relevances.append(model.feature_relevance_)
        n_vectors.append(len(model.relevance_))
    frequency = np.mean(supports, axis=0)
    print(f"\nDiabetes: {HALVES} random halves of 442 patients, 10 features; mean RMSE")
    for name, column, count, features in (
        ("DRVM, features selected", 0, f"{np.mean(n_vectors):.1f}", f"{frequency.sum():.1f}"),
        ("least squares", 1, "-", "10"),
    ):
        print_row(name, f"{np.mean(errors, axis=0)[column]:.1f}", count, f"{features} of 10")
    order = np.argsort(-frequency, kind="stable")
    print("  kept in " + ", ".join(f"{frequency[i]:.0%} {names[i]}" for i in order))
    return names, np.array(supports), np.array(relevances)


def vectors(model, X: np.ndarray) -> str:
    model = getattr(model, "best_estimator_", model)
    if hasattr(model, "relevance_"):
        return str(len(model.relevance_))
    return str(len(getattr(model, "support_", X)))


def kept(model, n_features: int) -> str:
    relevance = getattr(model, "feature_relevance_", np.ones(n_features))
    if np.all(relevance > 0.0):
        return "all"
    return " ".join(f"x{i}" for i in np.flatnonzero(relevance))


def print_row(name: str, error: str, count: str, features: str) -> None:
    print(f"  {name:32}{error:>10}{count:>10}  {features}")


def draw_relevance(pyplot, model: DRVMRegressor, path: Path) -> None:
    """Plot the relevance of each feature, and its gain in log evidence."""
    from relvec.plotting import FeatureRelevanceDisplay

    figure, (left, right) = pyplot.subplots(
        1, 2, figsize=(9.0, 3.6), layout="constrained", width_ratios=[1.4, 1.0]
    )
    FeatureRelevanceDisplay.from_estimator(model, sort=False, ax=left)
    left.set_title("relevance: how fast the function varies", fontsize=10, loc="left")
    right.barh(np.arange(10), model.feature_gain_, color="#1f5a99", alpha=0.55, height=0.6)
    right.set(ylim=left.get_ylim(), yticks=[], xlabel="gain in log evidence (nats)")
    right.spines[["top", "right"]].set_visible(False)
    right.set_title("gain from including the feature", fontsize=10, loc="left")
    save(pyplot, figure, path)


def draw_ring(pyplot, X: np.ndarray, y: np.ndarray, path: Path) -> None:
    """Plot class probabilities over the selected features, if they are two."""
    from relvec.plotting import DecisionSurfaceDisplay

    if X.shape[1] == 2:
        model = PFCVMClassifier().fit(X, y)
        display = DecisionSurfaceDisplay.from_estimator(model, X, y)
        save(pyplot, display.figure_, path)


def draw_frequency(pyplot, names, supports, relevances, path: Path) -> None:
    from relvec.plotting import SelectionFrequencyDisplay

    display = SelectionFrequencyDisplay.from_supports(supports, relevances, feature_names=names)
    save(pyplot, display.figure_, path)


def save(pyplot, figure, path: Path) -> None:
    figure.savefig(path, dpi=100, metadata={"Software": None})
    pyplot.close(figure)
    print(f"Plot: {os.path.relpath(path)}")


def load_pyplot():
    try:
        import matplotlib
    except ImportError as missing:
        raise SystemExit(
            "This example draws plots, which need matplotlib. "
            'Install it with: pip install "relvec[plot]"'
        ) from missing
    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:2]))
