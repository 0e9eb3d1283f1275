"""Sampled models and the model of highest evidence on published sets, both at their defaults."""

from __future__ import annotations

import math
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from bench.accuracy.problems import PROBLEMS as SETS
from bench.classification.metrics import N_BINS, find_gaps, judge
from bench.classification.problems import Draw, folder, read_set
from bench.denoising.part import Record, Target, ok, target_table
from bench.report import Table, number

__all__ = [
    "CLASSIFICATION",
    "METHODS",
    "PARTS",
    "PROBLEMS",
    "REGRESSION",
    "Published",
    "list_jobs",
    "run",
    "tables",
]

REGRESSION, CLASSIFICATION = "published regression", "published classification"
PARTS = (REGRESSION, CLASSIFICATION)
EVIDENCE, SAMPLED = "evidence", "sampled"
METHODS = (EVIDENCE, SAMPLED)
LEVEL = 0.95
N_BETTER = 4
"""Regressions on which the density of sampled models is to be at least that of the evidence."""
SHORT: dict[str, Any] = {"n_draws": 20, "n_chains": 2, "max_doublings": 0}
"""Chains of a quick run."""


class Published(NamedTuple):
    """Splits of a set by seed."""

    part: str
    draw: Callable[[int], Draw]
    file: str | None
    repeats: int
    """Splits unless asked otherwise."""

    @property
    def is_there(self) -> bool:
        """Whether the set can be read."""
        where = folder()
        return self.file is None or (where is not None and (where / self.file).exists())


def _split_at_random(file: str, features: str, test_share: float) -> Callable[[int], Draw]:
    def draw(seed: int) -> Draw:
        arrays = read_set(file)
        X, y = np.asarray(arrays[features], dtype=float), arrays["y"]
        order = np.random.default_rng(seed).permutation(len(y))
        n_test = round(test_share * len(y))
        test, train = order[:n_test], order[n_test:]
        return Draw(X[train], y[train], X[test], y[test])

    return draw


def _regression(file: str, features: str, test_share: float, repeats: int) -> Published:
    draw = _split_at_random(file, features, test_share)
    return Published(REGRESSION, draw, file, repeats)


def _from_accuracy(name: str, part: str, repeats: int) -> Published:
    """Return a set of the accuracy suite; a seed is the number of a split, or makes one."""
    return Published(part, SETS[name].draw, SETS[name].file, repeats)


PROBLEMS = {
    "boston": _regression("boston.npz", "X", 0.1, 10),
    "diabetes": _regression("diabetes.npz", "X_raw", 0.5, 10),
    "friedman1": _from_accuracy("friedman1", REGRESSION, 10),
    "uci_yacht": _regression("uci_yacht.npz", "X", 0.1, 10),
    "uci_energy": _regression("uci_energy.npz", "X", 0.1, 5),
    "pima": _from_accuracy("pima", CLASSIFICATION, 10),
    "ripley": _from_accuracy("ripley", CLASSIFICATION, 10),
    "ida_banana": _from_accuracy("ida_banana", CLASSIFICATION, 5),
    "ida_german": _from_accuracy("ida_german", CLASSIFICATION, 3),
    "iris": _from_accuracy("iris", CLASSIFICATION, 10),
    "wine": _from_accuracy("wine", CLASSIFICATION, 10),
}
QUICK = {REGRESSION: ("friedman1",), CLASSIFICATION: ("wine",)}
"""Sets that need no file."""


def list_jobs(part: str, seed: int, repeats: int | None, quick: bool) -> Iterator[Record]:
    """Yield the jobs of a part, one for each fit; sets that are not there are named."""
    names = [name for name, each in PROBLEMS.items() if each.part == part]
    if quick:
        names = list(QUICK[part])
    missing = [name for name in names if not PROBLEMS[name].is_there]
    if missing:
        print(
            f"left out: {', '.join(missing)}; they need --data FOLDER or RELVEC_DATA",
            file=sys.stderr,
        )
    for name in names:
        if name in missing:
            continue
        n_splits = repeats or (1 if quick else PROBLEMS[name].repeats)
        for own in range(seed, seed + n_splits):
            for method in METHODS:
                job = {"part": part, "problem": name, "method": method, "seed": own}
                yield {**job, "quick": quick}


def run(job: Record) -> Record:
    """Fit a model to the training rows of a split and judge its predictions of the test rows."""
    problem = PROBLEMS[job["problem"]]
    data = problem.draw(job["seed"])
    model = _make_model(problem.part, job["method"], job["quick"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of chains that have not converged: R-hat is reported
        _make_model(problem.part, job["method"], True).fit(data.X[::4], data.y[::4])  # imports
        began = time.process_time()
        model.fit(data.X, data.y)
        cpu = time.process_time() - began
    found = {"n_train": len(data.y), "n_test": len(data.y_test), "cpu": cpu}
    is_regression = problem.part == REGRESSION
    found |= _judge_regression(model, data) if is_regression else _judge_classes(model, data)
    if hasattr(model, "r_hat_"):
        found |= {"r_hat": model.r_hat_, "ess": model.ess_, "converged": bool(model.converged_)}
    return {**job, "status": "ok", **found}


def _make_model(part: str, method: str, quick: bool) -> Any:
    import relvec

    if method == EVIDENCE:
        return relvec.RVMRegressor() if part == REGRESSION else relvec.RVMClassifier()
    sampled = relvec.SampledRVMRegressor if part == REGRESSION else relvec.SampledRVMClassifier
    return sampled(random_state=0, **(SHORT if quick else {}))


def _judge_regression(model: Any, data: Draw) -> Record:
    low, high = model.predict_interval(data.X_test, LEVEL).T
    return {
        "coverage": float(np.mean((low <= data.y_test) & (data.y_test <= high))),
        "mlpd": float(np.mean(model.log_predictive_density(data.X_test, data.y_test))),
        "rmse": float(np.sqrt(np.mean((model.predict(data.X_test) - data.y_test) ** 2))),
    }


def _judge_classes(model: Any, data: Draw) -> Record:
    probability = model.predict_proba(data.X_test)
    gaps = find_gaps(probability, data.y_test)
    return {**judge(probability, data.y_test), "gaps": gaps.tolist()}


# ---------------------------------------------------------------- tables

CHAINS = ("median R-hat", "smallest ESS", "converged")
HEADS = {
    REGRESSION: (
        "set, model",
        "coverage of y",
        "MLPD",
        "MLPD above evidence",
        "RMSE",
        "CPU s",
        *CHAINS,
    ),
    CLASSIFICATION: (
        "set, model",
        "log loss",
        "log loss above evidence",
        "calibration error",
        "of all splits",
        "error rate",
        "CPU s",
        *CHAINS,
    ),
}


def tables(part: str, records: Sequence[Record]) -> list[Table]:
    """Return the table of all sets of a part, and the targets."""
    by_fit = _group(ok(records))
    if not by_fit:
        return []
    names = dict.fromkeys(name for name, _ in by_fit)
    rows = [_row(part, name, method, by_fit) for name in names for method in METHODS]
    sizes = "; ".join(
        f"{name} {r['n_train']} / {r['n_test']} ({len(by_fit[name, SAMPLED])})"
        for name in names
        for r in by_fit[name, SAMPLED][:1]
    )
    title = f"training / test rows (splits): {sizes}"
    targets = find_targets(part, by_fit)
    found = [Table(title, HEADS[part], rows)]
    return found + ([target_table(targets)] if targets else [])


def _group(records: Sequence[Record]) -> dict[tuple[str, str], list[Record]]:
    """Return records by set and model, of the splits that both models were fitted to."""
    found = {}
    for name in dict.fromkeys(record["problem"] for record in records):
        own = {m: {r["seed"]: r for r in _only(records, name, m)} for m in METHODS}
        both = sorted(own[EVIDENCE].keys() & own[SAMPLED].keys())
        if both:
            found.update({(name, m): [own[m][seed] for seed in both] for m in METHODS})
    return found


def _only(records: Sequence[Record], name: str, method: str) -> list[Record]:
    return [r for r in records if r["problem"] == name and r["method"] == method]


def _with_error(values: Sequence[float], digits: int) -> str:
    text = f"{statistics.fmean(values):.{digits}f}"
    if len(values) < 2:
        return text
    return f"{text} ({statistics.stdev(values) / math.sqrt(len(values)):.{digits}f})"


def _row(
    part: str, name: str, method: str, by_fit: dict[tuple[str, str], list[Record]]
) -> list[str]:
    own, reference = by_fit[name, method], by_fit[name, EVIDENCE]

    def mean(what: str, digits: int = 3) -> str:
        return _with_error([record[what] for record in own], digits)

    def above(what: str) -> str:
        if method == EVIDENCE:
            return "–"
        pairs = zip(own, reference, strict=True)
        return _with_error([mine[what] - other[what] for mine, other in pairs], 3)

    chains = ["–"] * 3
    if "r_hat" in own[0]:
        chains = [
            f"{statistics.median(record['r_hat'] for record in own):.3f}",
            number(min(record["ess"] for record in own)),
            f"{sum(record['converged'] for record in own)} of {len(own)}",
        ]
    cpu = number(statistics.fmean(record["cpu"] for record in own), 2)
    if part == REGRESSION:
        figures = [mean("coverage"), mean("mlpd"), above("mlpd"), mean("rmse"), cpu]
    else:
        figures = [mean("log_loss"), above("log_loss"), mean("ece"), f"{_pool_gaps(own):.3f}"]
        figures += [mean("error"), cpu]
    return [f"{name}, {method}", *figures, *chains]


def _pool_gaps(records: Sequence[Record]) -> float:
    """Return the calibration error of the predictions of all splits together."""
    totals = np.zeros(N_BINS)
    for record in records:
        totals += record["gaps"]
    return float(np.abs(totals).sum() / sum(record["n_test"] for record in records))


def find_targets(part: str, by_fit: dict[tuple[str, str], list[Record]]) -> list[Target]:
    """Return the targets of the sampled models; none of a quick run."""
    names = list(dict.fromkeys(name for name, _ in by_fit))
    if any(record["quick"] for own in by_fit.values() for record in own):
        return []

    def mean(name: str, method: str, what: str) -> float:
        return statistics.fmean(record[what] for record in by_fit[name, method])

    targets = []
    if part == REGRESSION:
        for name in names:
            covered = mean(name, SAMPLED, "coverage")
            targets.append(Target(f"{name}: coverage of y", covered, 0.93, at_least=True))
            targets.append(Target(f"{name}: coverage of y", covered, 0.97))
        better = sum(mean(n, SAMPLED, "mlpd") >= mean(n, EVIDENCE, "mlpd") for n in names)
        what = f"sets of {len(names)} with an MLPD at or above that of the evidence"
        return [*targets, Target(what, better, N_BETTER, at_least=True)]
    for what, label in (("log_loss", "log loss"), ("ece", "calibration error")):
        measured, limit = (
            statistics.fmean(mean(name, method, what) for name in names)
            for method in (SAMPLED, EVIDENCE)
        )
        label = f"{label}, mean of {len(names)} sets, against that of the evidence"
        targets.append(Target(label, measured, float(f"{limit:.4g}")))
    return targets
