"""Ten classes: scikit-learn's handwritten digits."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from bench.classification.part import Case, Part, Plan, Record, Target, mean_and_error, ok
from bench.report import Table, number, times

__all__ = ["DIGITS_PART", "METHODS", "run"]

GAMMA = 0.1
"""Close to scikit-learn's "scale" for pixels between 0 and 1; tuned for nobody."""
METHODS = (
    "relvec softmax",
    "relvec shared",
    "relvec one-vs-rest",
    "SVC + Platt",
    "LogisticRegression",
)
REFERENCE = "SVC + Platt"
WARM_UP = 100
"""Rows, at least, of the untimed first fit."""


def cases(plan: Plan) -> Iterator[Case]:
    """Yield one case per split and method."""
    for seed in plan.seeds:
        for method in METHODS:
            yield {"method": method, "seed": seed, "n_rows": 400 if plan.quick else None}


def make(method: str) -> Any:
    """Return an unfitted classifier."""
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import SVC

    from relvec import RVMClassifier

    if method == "SVC + Platt":
        return CalibratedClassifierCV(SVC(gamma=GAMMA), method="sigmoid", cv=5, ensemble=False)
    if method == "LogisticRegression":
        return LogisticRegression(max_iter=1000)
    kind = method.removeprefix("relvec ").replace("-", "_")
    return RVMClassifier(gamma=GAMMA, multi_class=kind)


def run(case: Case, limit: float) -> Record:
    """Return the record of one fit on a stratified half of the rows."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    from bench.classification.fits import cut_short
    from bench.classification.metrics import judge
    from bench.measure import PeakMemory, cpu_clock, limit_cpu

    X, y = load_digits(return_X_y=True)
    X, y = X[: case["n_rows"]] / 16.0, y[: case["n_rows"]]
    X, X_test, y, y_test = train_test_split(
        X, y, test_size=0.5, stratify=y, random_state=case["seed"]
    )
    few = np.argsort(y, kind="stable")[:: max(1, len(y) // WARM_UP)]  # some of every class
    make(case["method"]).fit(X[few], y[few])
    limit_cpu(limit)
    memory = PeakMemory()
    start = cpu_clock()
    model = make(case["method"]).fit(X, y)
    cpu, peak = cpu_clock() - start, memory.above_start()
    limit_cpu(None)
    return {
        "cpu": cpu,
        "peak_mb": peak,
        **judge(model.predict_proba(X_test), y_test),
        "n_vectors": _n_vectors(model),
        "is_cut_short": cut_short(model),
        "n_train": len(X),
    }


def _n_vectors(model: Any) -> int | None:
    """Return how many different rows a prediction is made from; None if from weights alone."""
    if hasattr(model, "calibrated_classifiers_"):
        model = model.calibrated_classifiers_[0].estimator
    for name in ("relevance_", "support_"):
        if hasattr(model, name):
            return len(getattr(model, name))
    return None


def tables(records: Sequence[Record]) -> list[Table]:
    """Return one table; ± is a standard error over splits."""
    rows = []
    good = ok(records)
    for method in METHODS:
        mine = {r["case"]["seed"]: r for r in good if r["case"]["method"] == method}
        if not mine:
            rows.append([method, *["–"] * 7])
            continue
        other = {r["case"]["seed"]: r for r in good if r["case"]["method"] == REFERENCE}
        ratios = [r["cpu"] / other[seed]["cpu"] for seed, r in mine.items() if seed in other]
        vectors = [r["n_vectors"] for r in mine.values()]
        rows.append(
            [
                method,
                number(statistics.median(r["cpu"] for r in mine.values())),
                times(statistics.median(ratios) if ratios else None),
                mean_and_error((100 * r["error"] for r in mine.values()), 2),
                mean_and_error(r["log_loss"] for r in mine.values()),
                mean_and_error(r["ece"] for r in mine.values()),
                number(None if None in vectors else statistics.fmean(vectors)),
                number(statistics.median(r["peak_mb"] for r in mine.values())),
            ]
        )
    n_train = good[0]["n_train"] if good else 0
    n_splits = len({r["case"]["seed"] for r in records})
    head = ("method", "CPU s", "/ Platt", "error %", "log loss", "ECE", "vectors", "peak MB")
    return [Table(f"Digits: N = {n_train}, gamma = {GAMMA}, splits: {n_splits}", head, rows)]


def targets(records: Sequence[Record]) -> list[Target]:
    """Return nothing: there is no target here."""
    return []


def notes(records: Sequence[Record]) -> list[str]:
    """Return who did not converge."""
    lines = ["LogisticRegression: linear in the pixels."]
    for name in METHODS:
        mine = [r for r in ok(records) if r["case"]["method"] == name]
        n_cut = sum(r["is_cut_short"] for r in mine)
        if n_cut:
            lines.append(f"{name}: {n_cut} of {len(mine)} fits ended before they had converged.")
    return lines


DIGITS_PART = Part(__name__, cases, tables, targets, notes, repeats=3)
