"""
Calibrated class probabilities, costs and a reject option
=========================================================

Problem: predict class probabilities that are close to the true ones, and use them for decisions.
The classes are mixtures of Gaussians along two parallel sine curves, so the true probabilities are
known. We fit a relevance vector machine to 200 points and compare its error rate and cross-entropy
with the best possible values. Then we decide with unequal costs, first without and then with the
option to reject difficult cases.

Run it with ``python examples/classification.py [plot.png]``. It needs matplotlib:
``pip install "relvec[plot]"``.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV

from relvec import RVMClassifier
from relvec.datasets import make_snake

PLOT = Path("build") / "classification.png"

# Rows are the true class, columns the decision: a false negative costs five times as much as a
# false positive. To reject a case (ask an expert) costs 0.4.
COST = np.array([[0.0, 1.0], [5.0, 0.0]])
ASK = 0.4


def main(path: Path = PLOT) -> None:
    pyplot = load_pyplot()
    from relvec.plotting import DecisionSurfaceDisplay, ReliabilityDisplay

    X, y, truth = make_snake(200, random_state=0, return_truth=True)
    X_test, y_test = truth.sample(5000, random_state=1)

    # The length-scale is chosen by cross-validation; everything else maximises the evidence.
    grid = {"gamma": [0.125, 0.25, 0.5, 1.0, 2.0, 4.0]}
    model = GridSearchCV(RVMClassifier(), grid, scoring="neg_log_loss").fit(X, y).best_estimator_
    print(
        f"gamma = {model.gamma:g}; {len(model.relevance_)} of {len(y)} training points are "
        f"relevance vectors; log evidence {model.log_evidence_:.1f}.\n"
    )

    probability = model.predict_proba(X_test)[:, 1]
    plug_in = model.predict_proba(X_test, marginalise=False)[:, 1]
    print(f"{len(y_test)} test points{'error rate':>24}{'cross-entropy':>16}")
    for name, values in (
        ("marginalised over the weights", probability),
        ("most probable weights only", plug_in),
        ("true probabilities", truth.probability(X_test)),
    ):
        error = np.mean((values > 0.5) != y_test)
        print(f"{name:30}{error:11.1%}{log_loss(y_test, values):16.3f}")

    decision = model.decide(X_test, COST)
    with_reject = model.decide(X_test, COST, reject_cost=ASK)
    actual = COST[y_test, with_reject.labels]
    actual[with_reject.is_rejected] = ASK
    print(f"\n{'Loss per point':30}{'expected':>11}{'actual':>16}")
    print(f"{'most probable class':30}{'':11}{loss(y_test, model.predict(X_test)):16.3f}")
    print(
        f"{'minimum expected loss':30}{decision.expected_loss.mean():11.3f}"
        f"{loss(y_test, decision.labels):16.3f}"
    )
    print(
        f"{'the same, with reject option':30}{with_reject.expected_loss.mean():11.3f}"
        f"{actual.mean():16.3f}   rejects {with_reject.is_rejected.mean():.0%}"
    )

    figure = pyplot.figure(figsize=(10.5, 4.8), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=[1.5, 1.0])
    DecisionSurfaceDisplay.from_estimator(model, X, y, truth=truth.probability, ax=left.subplots())
    ReliabilityDisplay.from_predictions(
        y_test,
        {"marginalised": probability, "most probable weights": plug_in},
        ax=right.subplots(2, 1, sharex=True, height_ratios=[3.0, 1.0]),
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=100, metadata={"Software": None})
    pyplot.close(figure)
    print(f"\nPlot: {os.path.relpath(path)}")


def loss(true: np.ndarray, decided: np.ndarray) -> float:
    return float(COST[true, decided].mean())


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
