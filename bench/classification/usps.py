"""Postal digits: 7291 rows of 256 pixels, ten classes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from bench.classification.part import Case, Part, Plan, Record, Target, ok
from bench.report import Table, number

__all__ = ["USPS_PART", "choose_gamma", "run"]

FILE = "usps.npz"
GRID = tuple(factor / 256 for factor in (0.5, 1.0, 2.0, 4.0, 8.0))
"""Candidates for gamma; pixels are between -1 and 1."""
N_SUBSET, FOLDS = 1000, 3
"""Rows and folds of the cross-validation of gamma."""
KINDS = ("one_vs_rest", "softmax")
QUICK_ROWS = 500


def cases(plan: Plan) -> Iterator[Case]:
    """Yield one case per multiclass strategy; the first seed chooses the subset."""
    for kind in KINDS:
        yield {"kind": kind, "seed": plan.seeds[0], "n_rows": QUICK_ROWS if plan.quick else None}


def choose_gamma(X: np.ndarray, y: np.ndarray, seed: int) -> float:
    """Return the gamma with the least log loss in cross-validation on some training rows.

    The cheap one-versus-rest models choose gamma for both multiclass strategies.
    """
    from sklearn.model_selection import StratifiedKFold, cross_val_score

    from relvec import RVMClassifier

    rows = np.random.default_rng(seed).permutation(len(X))[:N_SUBSET]
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)

    def loss(gamma: float) -> float:
        model = RVMClassifier(gamma=gamma, multi_class="one_vs_rest")
        scores = cross_val_score(model, X[rows], y[rows], cv=folds, scoring="neg_log_loss")
        return -float(scores.mean())

    return min(GRID, key=loss)


def run(case: Case, limit: float) -> Record:
    """Return the record of one fit on all training rows; no limit of CPU seconds is set."""
    from bench.classification.fits import cut_short, resident_mb
    from bench.classification.metrics import judge
    from bench.classification.problems import read_set
    from bench.measure import PeakMemory, cpu_clock
    from relvec import RVMClassifier

    arrays = read_set(FILE)
    scale = float(arrays["x_scale"])
    X, y = arrays["X_train"][: case["n_rows"]] / scale, arrays["y_train"][: case["n_rows"]]
    start = cpu_clock()
    gamma = choose_gamma(X, y, case["seed"])
    gamma_cpu = cpu_clock() - start
    memory = PeakMemory()
    start = cpu_clock()
    model = RVMClassifier(gamma=gamma, multi_class=case["kind"]).fit(X, y)
    cpu = cpu_clock() - start
    peak, resident = memory.above_start(), resident_mb()
    probability = model.predict_proba(arrays["X_test"] / scale)
    per_class: Any = np.isfinite(model.weight_precision_).sum(axis=1)
    return {
        "gamma": gamma,
        "gamma_cpu": gamma_cpu,
        "cpu": cpu,
        "peak_mb": peak,
        "resident_mb": resident,
        **judge(probability, arrays["y_test"].astype(int)),
        "n_vectors": len(model.relevance_),
        "vectors_per_class": float(per_class.mean()),
        "is_cut_short": cut_short(model),
        "n_train": len(X),
    }


def tables(records: Sequence[Record]) -> list[Table]:
    """Return one line per multiclass strategy."""
    rows = [
        [
            r["case"]["kind"],
            number(r["gamma"] * 256),
            number(r["gamma_cpu"]),
            number(r["cpu"]),
            f"{100 * r['error']:.2f}",
            f"{r['log_loss']:.4f}",
            f"{r['ece']:.3f}",
            number(r["n_vectors"]),
            number(r["vectors_per_class"]),
            number(r["peak_mb"]),
        ]
        for r in ok(records)
    ]
    head = (
        "classes",
        "256 gamma",
        "CPU s of gamma",
        "CPU s",
        "error %",
        "log loss",
        "ECE",
        "distinct vectors",
        "per class",
        "peak MB",
    )
    n_train = next((r["n_train"] for r in ok(records)), 0)
    return [Table(f"Postal digits: N = {n_train}", head, rows)]


def targets(records: Sequence[Record]) -> list[Target]:
    """Return nothing: there is no target here."""
    return []


def notes(records: Sequence[Record]) -> list[str]:
    """Return how gamma was chosen, and who did not converge."""
    lines = [
        f"gamma by {FOLDS}-fold cross-validation of the log loss of one-versus-rest models on "
        f"{N_SUBSET} training rows."
    ]
    cut = [r["case"]["kind"] for r in ok(records) if r["is_cut_short"]]
    return [*lines, *(f"{kind}: ended before it had converged." for kind in cut)]


USPS_PART = Part(
    __name__, cases, tables, targets, notes, repeats=1, needs_data=True, is_default=False
)
