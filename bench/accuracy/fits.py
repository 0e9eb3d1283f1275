"""Fits of one candidate on some draws of one problem, each in a process of its own."""

from __future__ import annotations

import importlib
import warnings
from typing import Any

import numpy as np

from bench.accuracy.classifiers import CLASSIFIERS
from bench.accuracy.methods import Method, few_rows
from bench.accuracy.metrics import judge_classes, judge_regression
from bench.accuracy.problems import PROBLEMS, Problem
from bench.accuracy.regressors import REGRESSORS
from bench.classification.problems import Draw
from bench.features.children import in_child
from bench.measure import cpu_clock

__all__ = ["METHODS", "fit_and_judge", "run"]

METHODS: dict[str, dict[str, Method]] = {
    "regression": REGRESSORS,
    "classification": CLASSIFIERS,
}
"""By part and name."""

MOST_ROWS = 1500
"""Training rows for everybody, at random where a split has more."""
MEMORY_GB = 8.0
"""Address space of one fit: a method that asks for more has failed."""
LIBRARIES = (
    "scipy.optimize",
    "sklearn.compose",
    "sklearn.ensemble",
    "sklearn.gaussian_process",
    "sklearn.linear_model",
    "sklearn.model_selection",
    "sklearn.svm",
)
"""Imported before the clock starts, like the package of the method."""


def fit_and_judge(method: Method, problem: Problem, draw: Draw) -> dict[str, Any]:
    """Return the cost of one fit, its size, and its quality on the test rows."""
    warnings.simplefilter("ignore")
    overlap = problem.overlap(draw)
    rows = few_rows(draw.y, MOST_ROWS, problem.part)
    draw = draw._replace(X=draw.X[rows], y=draw.y[rows])
    start = cpu_clock()
    model = method.fit(draw.X, draw.y)
    cpu = cpu_clock() - start
    record = {
        "cpu": cpu,
        "n_train": len(draw.y),
        "n_test": len(draw.y_test),
        "n_features": draw.X.shape[1],
        "overlap": overlap,
        "n_vectors": None if model.n_vectors is None else int(model.n_vectors),
        "is_cut_short": bool(model.is_cut_short),
    }
    if problem.part == "regression":
        return {**record, **judge_regression(model.forecast(draw.X_test), draw.y_test)}
    probability = np.asarray(model.probability(draw.X_test))
    return {**record, **judge_classes(model.decide(draw.X_test), probability, draw.y_test)}


def run(case: dict[str, Any], limit: float) -> dict[str, Any]:
    """Return the records of some draws; who is over the limit is not tried on further ones."""
    problem = PROBLEMS[case["problem"]]
    method = METHODS[problem.part][case["method"]]
    for name in (*LIBRARIES, method.package):
        importlib.import_module(name)
    draws: list[dict[str, Any]] = []
    for seed in case["seeds"]:
        draw = problem.draw(seed)
        record = in_child(lambda draw=draw: fit_and_judge(method, problem, draw), limit, MEMORY_GB)
        if record["status"] != "ok":
            return {**record, "draws": draws, "stopped_at": seed}
        draws.append({**record, "seed": seed})
    return {"draws": draws}
