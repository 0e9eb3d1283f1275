"""
Which inputs matter, where the answer is known and where it is not
==================================================================

Three questions. Of Friedman's ten inputs five matter: are those found, and does it help? Of fifty
inputs two decide, together, whether a point is inside a ring, and none is correlated with the
answer: are they found? And of real patients, where nobody knows: does the choice stay the same
when the data are other ones? For that the fit is repeated on random halves.

Run it with ``python examples/feature_selection.py [picture.png]``. It takes half a minute and
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

PICTURE = Path("build") / "feature_selection.png"
HALVES = 12


def main(picture: Path = PICTURE) -> None:
    pyplot = load_pyplot()
    print(f"{'':34}{'error':>10}{'vectors':>10}  inputs kept")
    machine = friedman()
    two, y = ring()
    names, supports, relevances = diabetes()

    print()
    picture.parent.mkdir(parents=True, exist_ok=True)
    draw_relevance(pyplot, machine, picture)
    draw_ring(pyplot, two, y, picture.with_stem(picture.stem + "_ring"))
    draw_frequency(
        pyplot, names, supports, relevances, picture.with_stem(picture.stem + "_frequency")
    )


def friedman() -> DRVMRegressor:
    """Half of ten inputs matter; the error is that of the function without noise."""
    X, y, truth = make_friedman(1, n_samples=240, random_state=0, return_truth=True)
    X_test, _ = truth.sample(1000, random_state=1)
    process = ConstantKernel() * RBF(np.ones(10), (1e-3, 1e5)) + WhiteKernel()
    machine = DRVMRegressor()
    models = {
        "kernels of one given width": RVMRegressor(length_scales=None),
        "scales learnt: RVMRegressor()": RVMRegressor(),
        "inputs chosen: DRVMRegressor()": machine,
        "Gaussian process, scales learnt": GaussianProcessRegressor(process, normalize_y=True),
    }
    print("Friedman #1: 240 rows, 10 inputs, x0 to x4 matter; root mean squared error")
    for name, model in models.items():
        with warnings.catch_warnings():
            # the process warns that scales of inputs that do not matter are at their bounds
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X, y)
        error = root_mean_squared_error(truth(X_test), model.predict(X_test))
        print_row(name, f"{error:.2f}", vectors(model, X), kept(model, 10))
    return machine


def ring() -> tuple[np.ndarray, np.ndarray]:
    """Two of fifty inputs matter, and neither is correlated; return those that were kept."""
    X, y, truth = make_ring(200, n_features=50, random_state=0, return_truth=True)
    X_test, y_test = truth.sample(4000, random_state=1)
    grid = {"gamma": [0.001, 0.01, 0.1, 1.0], "C": [0.1, 1.0, 10.0, 100.0]}
    machine = PFCVMClassifier()
    models = {
        "kernels of one given width": RVMClassifier(length_scales=None),
        "inputs chosen: PFCVMClassifier()": machine,
        "support vectors, cross-validated": GridSearchCV(SVC(), grid),
    }
    print("\nA ring: 200 rows, 50 inputs, x0 and x1 matter; share of errors")
    for name, model in models.items():
        model.fit(X, y)
        error = 1.0 - model.score(X_test, y_test)
        print_row(name, f"{error:.1%}", vectors(model, X), kept(model, 50))
    print_row("best possible: the truth", f"{truth.bayes_error:.1%}", "-", "x0 x1")
    return machine.transform(X), y


def diabetes() -> tuple[list[str], np.ndarray, np.ndarray]:
    """Fit random halves of the patients, and predict the others."""
    data = load_diabetes(scaled=False)
    X, y, names = data.data, data.target, list(data.feature_names)
    errors: list[tuple[float, float]] = []
    supports, relevances, n_vectors = [], [], []
    for seed in range(HALVES):
        X_fit, X_test, y_fit, y_test = train_test_split(X, y, test_size=0.5, random_state=seed)
        machine = DRVMRegressor(select="always").fit(X_fit, y_fit)
        line = LinearRegression().fit(X_fit, y_fit)
        errors.append(
            tuple(root_mean_squared_error(y_test, m.predict(X_test)) for m in (machine, line))
        )
        supports.append(machine.get_support())
        relevances.append(machine.feature_relevance_)
        n_vectors.append(len(machine.relevance_))
    share = np.mean(supports, axis=0)
    print(f"\nDiabetes: {HALVES} random halves of 442 patients, 10 inputs; mean over halves")
    for name, column, count, inputs in (
        ("inputs always chosen: DRVM", 0, f"{np.mean(n_vectors):.1f}", f"{share.sum():.1f}"),
        ("least squares", 1, "-", "10"),
    ):
        print_row(name, f"{np.mean(errors, axis=0)[column]:.1f}", count, f"{inputs} of 10")
    order = np.argsort(-share, kind="stable")
    print("  kept in " + ", ".join(f"{share[i]:.0%} {names[i]}" for i in order))
    return names, np.array(supports), np.array(relevances)


def vectors(model, X: np.ndarray) -> str:
    model = getattr(model, "best_estimator_", model)
    if hasattr(model, "relevance_"):
        return str(len(model.relevance_))
    return str(len(getattr(model, "support_", X)))


def kept(model, n_inputs: int) -> str:
    relevance = getattr(model, "feature_relevance_", np.ones(n_inputs))
    if np.all(relevance > 0.0):
        return "all"
    return " ".join(f"x{i}" for i in np.flatnonzero(relevance))


def print_row(name: str, error: str, count: str, inputs: str) -> None:
    print(f"  {name:32}{error:>10}{count:>10}  {inputs}")


def draw_relevance(pyplot, model: DRVMRegressor, picture: Path) -> None:
    """How fast the function bends along each input, and how much each explains."""
    from relvec.plotting import FeatureRelevanceDisplay

    figure, (left, right) = pyplot.subplots(
        1, 2, figsize=(9.0, 3.6), layout="constrained", width_ratios=[1.4, 1.0]
    )
    FeatureRelevanceDisplay.from_estimator(model, sort=False, ax=left)
    left.set_title("how fast the function bends", fontsize=10, loc="left")
    right.barh(np.arange(10), model.feature_gain_, color="#1f5a99", alpha=0.55, height=0.6)
    right.set(ylim=left.get_ylim(), yticks=[], xlabel="gain (nats of log evidence)")
    right.spines[["top", "right"]].set_visible(False)
    right.set_title("how much the input explains", fontsize=10, loc="left")
    save(pyplot, figure, picture)


def draw_ring(pyplot, X: np.ndarray, y: np.ndarray, picture: Path) -> None:
    """Probabilities over the inputs that were kept, if they are two as they should be."""
    from relvec.plotting import DecisionSurfaceDisplay

    if X.shape[1] == 2:
        model = PFCVMClassifier().fit(X, y)
        display = DecisionSurfaceDisplay.from_estimator(model, X, y)
        save(pyplot, display.figure_, picture)


def draw_frequency(pyplot, names, supports, relevances, picture: Path) -> None:
    from relvec.plotting import SelectionFrequencyDisplay

    display = SelectionFrequencyDisplay.from_supports(supports, relevances, feature_names=names)
    save(pyplot, display.figure_, picture)


def save(pyplot, figure, picture: Path) -> None:
    figure.savefig(picture, dpi=100, metadata={"Software": None})
    pyplot.close(figure)
    print(f"Picture: {os.path.relpath(picture)}")


def load_pyplot():
    try:
        import matplotlib
    except ImportError as missing:
        raise SystemExit(
            "This example draws pictures, which need matplotlib. "
            'Install it with: pip install "relvec[plot]"'
        ) from missing
    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:2]))
