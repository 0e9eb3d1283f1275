"""Log loss on published sets, every method at its cross-validated gamma."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from bench.classification.part import Case, Part, Plan, Record, Target, mean_and_error, ok
from bench.classification.problems import SETS, Draw
from bench.report import Table, number

__all__ = ["CALIBRATION_PART", "METHODS", "choose", "run", "standardised"]

METHODS = ("relvec", "fastrvm", "SVC + Platt")
OURS = METHODS[0]
GRID = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
"""Candidates for gamma times the number of features."""
STRENGTHS = (0.1, 1.0, 10.0)
"""Candidates for C, which only the support vector machine has."""
FOLDS = 5
N_CHOOSING = 5
"""Splits on whose training rows gamma is chosen, as is usual for these sets; it is then
the same on all splits."""


def cases(plan: Plan) -> Iterator[Case]:
    """Yield one case per set and method: all splits in one process."""
    for name, problem in SETS.items():
        if not problem.is_there or (plan.quick and name != "Pima"):
            continue
        for method in METHODS:
            n_splits = min(len(plan.seeds), problem.n_draws or 1)
            yield {"set": name, "method": method, "n_splits": n_splits}


def options(method: str) -> list[dict[str, float]]:
    """Return the candidates among which cross-validation chooses."""
    strengths = STRENGTHS if method == "SVC + Platt" else (1.0,)
    return [{"gamma_factor": factor, "C": C} for factor in GRID for C in strengths]


def make(method: str, n_features: int, gamma_factor: float, C: float) -> Any:
    """Return an unfitted classifier."""
    gamma = gamma_factor / n_features
    if method == "relvec":
        from relvec import RVMClassifier

        return RVMClassifier(gamma=gamma)
    if method == "fastrvm":
        from fastrvm import RVC

        return RVC(gamma=float(gamma), fit_intercept=True)
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.svm import SVC

    return CalibratedClassifierCV(SVC(gamma=gamma, C=C), method="sigmoid", cv=FOLDS, ensemble=False)


def standardised(draw: Draw) -> Draw:
    """Return the draw with features of mean zero and unit deviation on the training rows."""
    mean, deviation = draw.X.mean(axis=0), draw.X.std(axis=0)
    deviation[deviation == 0.0] = 1.0
    return draw._replace(X=(draw.X - mean) / deviation, X_test=(draw.X_test - mean) / deviation)


def probability(model: Any, X: np.ndarray) -> np.ndarray:
    """Return the probabilities of the classes; fastrvm cannot say them if it kept no vector."""
    if len(getattr(model, "relevance_", "unknown")):
        return np.asarray(model.predict_proba(X))
    positive = 1.0 / (1.0 + np.exp(-float(np.ravel(model.intercept_)[0])))
    return np.tile([1.0 - positive, positive], (len(X), 1))


def choose(method: str, draws: Sequence[Draw]) -> dict[str, float]:
    """Return the candidate of least log loss in cross-validation on the training rows."""
    from sklearn.model_selection import StratifiedKFold

    from bench.classification.metrics import log_loss

    def loss(option: dict[str, float]) -> float:
        losses = []
        for draw in draws:
            folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
            for train, test in folds.split(draw.X, draw.y):
                model = make(method, draw.X.shape[1], **option).fit(draw.X[train], draw.y[train])
                losses.append(log_loss(probability(model, draw.X[test]), draw.y[test]))
        return float(np.mean(losses))

    return min(options(method), key=loss)


def run(case: Case, limit: float) -> Record:
    """Return the quality on every split, at the gamma chosen on the first of them."""
    from bench.classification.fits import cut_short
    from bench.classification.metrics import judge
    from bench.measure import cpu_clock, limit_cpu

    problem, method = SETS[case["set"]], case["method"]
    draws = [standardised(problem.draw(number)) for number in range(case["n_splits"])]
    limit_cpu(limit)
    start = cpu_clock()
    best = choose(method, draws[:N_CHOOSING])
    choosing_cpu = cpu_clock() - start
    splits, cpu, cut = [], [], 0
    for draw in draws:
        start = cpu_clock()
        model = make(method, draw.X.shape[1], **best).fit(draw.X, draw.y)
        cpu.append(cpu_clock() - start)
        cut += cut_short(model)
        splits.append(judge(probability(model, draw.X_test), draw.y_test))
    limit_cpu(None)
    return {
        **best,
        "choosing_cpu": choosing_cpu,
        "cpu": statistics.median(cpu),
        "n_cut_short": cut,
        "splits": splits,
    }


def tables(records: Sequence[Record]) -> list[Table]:
    """Return one line per set and method, and the means over sets."""
    rows, means = [], []
    for name in dict.fromkeys(r["case"]["set"] for r in records):
        for record in (r for r in records if r["case"]["set"] == name):
            rows.append([f"{name}, {record['case']['method']}", *_cells(record)])
    common = _common(records)
    for method in METHODS:
        mine = [common[name][method] for name in common]
        if mine:
            means.append(
                [
                    method,
                    f"{statistics.fmean(_mean(r, 'log_loss') for r in mine):.4f}",
                    f"{100 * statistics.fmean(_mean(r, 'error') for r in mine):.2f}",
                    f"{statistics.fmean(_mean(r, 'ece') for r in mine):.3f}",
                ]
            )
    head = (
        "set, method",
        "splits",
        "log loss",
        "error %",
        "ECE",
        "γ × features",
        "C",
        "CPU s",
        "CV CPU s",
    )
    title = f"Means over sets that all methods finished, sets: {len(common)}"
    return [
        Table("Log loss at the cross-validated gamma, ± standard error over splits", head, rows),
        Table(title, ("method", "log loss", "error %", "ECE"), means),
    ]


def _cells(record: Record) -> list[str]:
    if record["status"] != "ok":
        over = record["status"] == "over limit"
        return ["–", f"> {record['limit']:.0f} CPU s" if over else "failed", *["–"] * 6]
    splits = record["splits"]
    return [
        str(len(splits)),
        mean_and_error((s["log_loss"] for s in splits), 4),
        mean_and_error((100 * s["error"] for s in splits), 2),
        mean_and_error((s["ece"] for s in splits), 3),
        number(record["gamma_factor"]),
        number(record["C"]) if record["case"]["method"] == "SVC + Platt" else "–",
        number(record["cpu"]),
        number(record["choosing_cpu"]),
    ]


def _mean(record: Record, key: str) -> float:
    return statistics.fmean(split[key] for split in record["splits"])


def _common(records: Sequence[Record]) -> dict[str, dict[str, Record]]:
    """Return the records by set and method, for sets that all methods finished."""
    result: dict[str, dict[str, Record]] = {}
    for record in ok(records):
        result.setdefault(record["case"]["set"], {})[record["case"]["method"]] = record
    return {name: known for name, known in result.items() if set(METHODS) <= set(known)}


def targets(records: Sequence[Record]) -> list[Target]:
    """Return our mean log loss against that of each peer, on sets that both finished."""
    by_set: dict[str, dict[str, Record]] = {}
    for record in ok(records):
        by_set.setdefault(record["case"]["set"], {})[record["case"]["method"]] = record
    result = []
    for peer in METHODS[1:]:
        both = [known for known in by_set.values() if {OURS, peer} <= set(known)]
        if both:
            gap = statistics.fmean(
                _mean(known[OURS], "log_loss") - _mean(known[peer], "log_loss") for known in both
            )
            label = f"mean log loss above that of {peer}, sets: {len(both)}"
            result.append(Target(label, gap, 0.0))
    return result


def notes(records: Sequence[Record]) -> list[str]:
    """Return how gamma was chosen, and who did not converge."""
    lines = [
        f"γ × features (gamma times the number of features, from {', '.join(map(str, GRID))}; for "
        f"SVC also C from {', '.join(map(str, STRENGTHS))}) by {FOLDS}-fold cross-validation of "
        f"each method's own log loss on the training rows of the first {N_CHOOSING} splits."
    ]
    for record in ok(records):
        if record["n_cut_short"]:
            lines.append(
                f"{record['case']['set']}, {record['case']['method']}: {record['n_cut_short']} of "
                f"{len(record['splits'])} fits ended before they had converged."
            )
    return lines


CALIBRATION_PART = Part(__name__, cases, tables, targets, notes, repeats=10, needs_data=True)
