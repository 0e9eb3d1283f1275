"""
Probabilities of two classes: how good they are, and what to do with them
=========================================================================

The classes are two "snakes" that lie side by side and overlap, each a mixture of Gaussians, so
the true probability of either class is known everywhere. We fit a relevance vector machine to
200 points and ask what cannot be asked of real data: how close do its errors and its
probabilities come to the best that is possible? Then we decide, first where one mistake costs
five times the other, then with the option to leave the hard cases to somebody else.

Run it with ``python examples/classification.py [picture.png]``. It needs matplotlib:
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

PICTURE = Path("build") / "classification.png"

# Rows are the true class, columns the decision: to miss class 1 costs five times as much as to
# see it where it is not. To ask an expert costs 0.4.
COST = np.array([[0.0, 1.0], [5.0, 0.0]])
ASK = 0.4


def main(picture: Path = PICTURE) -> None:
    pyplot = load_pyplot()
    from relvec.plotting import DecisionSurfaceDisplay, ReliabilityDisplay

    X, y, truth = make_snake(200, random_state=0, return_truth=True)
    X_test, y_test = truth.sample(5000, random_state=1)

    # The width of the kernels is the one thing to choose; everything else is evidence.
    widths = {"gamma": [0.125, 0.25, 0.5, 1.0, 2.0, 4.0]}
    model = GridSearchCV(RVMClassifier(), widths, scoring="neg_log_loss").fit(X, y).best_estimator_
    print(
        f"Kernel width gamma = {model.gamma:g}; {len(model.relevance_)} of {len(y)} training "
        f"points are kept, log evidence {model.log_evidence_:.1f}.\n"
    )

    probability = model.predict_proba(X_test)[:, 1]
    plug_in = model.predict_proba(X_test, marginalise=False)[:, 1]
    print(f"{len(y_test)} test points{'error':>24}{'cross-entropy':>16}")
    for name, values in (
        ("probabilities of the model", probability),
        ("  most probable weights only", plug_in),
        ("best possible: the truth", truth.probability(X_test)),
    ):
        error = np.mean((values > 0.5) != y_test)
        print(f"{name:30}{error:11.1%}{log_loss(y_test, values):16.3f}")

    decision = model.decide(X_test, COST)
    careful = model.decide(X_test, COST, reject_cost=ASK)
    paid = COST[y_test, careful.labels]
    paid[careful.is_rejected] = ASK
    print(f"\n{'Loss per point':30}{'expected':>11}{'paid':>16}")
    print(f"{'the more probable class':30}{'':11}{loss(y_test, model.predict(X_test)):16.3f}")
    print(
        f"{'the cheaper decision':30}{decision.expected_loss.mean():11.3f}"
        f"{loss(y_test, decision.labels):16.3f}"
    )
    print(
        f"{'the same, or ask':30}{careful.expected_loss.mean():11.3f}{paid.mean():16.3f}"
        f"   asks about {careful.is_rejected.mean():.0%}"
    )

    figure = pyplot.figure(figsize=(10.5, 4.8), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=[1.5, 1.0])
    DecisionSurfaceDisplay.from_estimator(model, X, y, truth=truth.probability, ax=left.subplots())
    ReliabilityDisplay.from_predictions(
        y_test,
        {"model": probability, "most probable weights": plug_in},
        ax=right.subplots(2, 1, sharex=True, height_ratios=[3.0, 1.0]),
    )
    picture.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(picture, dpi=100, metadata={"Software": None})
    pyplot.close(figure)
    print(f"\nPicture: {os.path.relpath(picture)}")


def loss(true: np.ndarray, decided: np.ndarray) -> float:
    return float(COST[true, decided].mean())


def load_pyplot():
    try:
        import matplotlib
    except ImportError as missing:
        raise SystemExit(
            "This example draws a picture, which needs matplotlib. "
            'Install it with: pip install "relvec[plot]"'
        ) from missing
    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:2]))
