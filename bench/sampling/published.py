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
EVIDENCE, SHORT, SAMPLED = "evidence", "sampled, short", "sampled"
METHODS = {REGRESSION: (EVIDENCE, SAMPLED), CLASSIFICATION: (EVIDENCE, SHORT, SAMPLED)}
"""Models of each part. Short chains are of classifiers only, which take several times as long as
regressors: more splits can be had of them."""
LEVEL = 0.95
N_BETTER = 4
"""Regressions on which the density of sampled models is to be at least that of the evidence."""
CHAINS_SHORT: dict[str, Any] = {"max_doublings": 1}
CHAINS_QUICK: dict[str, Any] = {"n_draws": 20, "n_chains": 2, "max_doublings": 0}
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
            for method in METHODS[part]:
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
    chains = CHAINS_SHORT if method == SHORT else {}
    return sampled(random_state=0, **(CHAINS_QUICK if quick else chains))


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
        "splits",
        "coverage of y",
        "MLPD",
        "MLPD above evidence",
        "RMSE",
        "CPU s",
        *CHAINS,
    ),
    CLASSIFICATION: (
        "set, model",
        "splits",
        "log loss",
        "log loss above evidence",
        "calibration error",
        "of all splits",
        "error rate",
        "CPU s",
        *CHAINS,
    ),
}


Fits = dict[tuple[str, str], dict[int, Record]]
"""Records by set and model, then by seed."""


def tables(part: str, records: Sequence[Record]) -> list[Table]:
    """Return the table of all sets of a part, and the targets."""
    fits = _group(ok(records))
    if not fits:
        return []
    sizes = {
        name: f"{r['n_train']} / {r['n_test']}"
        for (name, _), own in fits.items()
        for r in own.values()
    }
    title = f"training / test rows: {'; '.join(f'{n} {size}' for n, size in sizes.items())}"
    rows = [_row(part, name, method, fits) for name, method in fits]
    found = [Table(title, HEADS[part], rows)]
    targets = find_targets(part, fits)
    return found + ([target_table(targets)] if targets else [])


def _group(records: Sequence[Record]) -> Fits:
    names = dict.fromkeys(record["problem"] for record in records)
    order = dict.fromkeys(method for each in METHODS.values() for method in each)
    found: Fits = {(name, method): {} for name in names for method in order}
    for record in records:
        found[record["problem"], record["method"]][record["seed"]] = record
    return {fit: own for fit, own in found.items() if own}


def _pair(fits: Fits, name: str, method: str) -> list[tuple[Record, Record]]:
    """Return the records of a model and of the evidence, of the splits that both have."""
    own, reference = fits.get((name, method), {}), fits.get((name, EVIDENCE), {})
    return [(own[seed], reference[seed]) for seed in sorted(own.keys() & reference.keys())]


def _with_error(values: Sequence[float], digits: int) -> str:
    text = f"{statistics.fmean(values):.{digits}f}"
    if len(values) < 2:
        return text
    return f"{text} ({statistics.stdev(values) / math.sqrt(len(values)):.{digits}f})"


def _row(part: str, name: str, method: str, fits: Fits) -> list[str]:
    own = list(fits[name, method].values())

    def mean(what: str, digits: int = 3) -> str:
        return _with_error([record[what] for record in own], digits)

    def above(what: str) -> str:
        pairs = _pair(fits, name, method)
        if method == EVIDENCE or not pairs:
            return "–"
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
    return [f"{name}, {method}", str(len(own)), *figures, *chains]


def _pool_gaps(records: Sequence[Record]) -> float:
    """Return the calibration error of the predictions of all splits together."""
    totals = np.zeros(N_BINS)
    for record in records:
        totals += record["gaps"]
    return float(np.abs(totals).sum() / sum(record["n_test"] for record in records))


def find_targets(part: str, fits: Fits) -> list[Target]:
    """Return the targets of the sampled models; none of a quick run."""
    if any(record["quick"] for own in fits.values() for record in own.values()):
        return []
    names = list(dict.fromkeys(name for name, _ in fits))
    find = _find_regression_targets if part == REGRESSION else _find_class_targets
    return [
        target
        for method in METHODS[part]
        if method != EVIDENCE
        for target in find(method, {name: _pair(fits, name, method) for name in names})
    ]


def _means(pairs: Sequence[tuple[Record, Record]], what: str) -> tuple[float, float]:
    """Return the means of a metric, of the sampled model and of the evidence."""
    mine, other = zip(*pairs, strict=True)
    return statistics.fmean(r[what] for r in mine), statistics.fmean(r[what] for r in other)


def _find_regression_targets(
    method: str, pairs: dict[str, list[tuple[Record, Record]]]
) -> Iterator[Target]:
    known = {name: own for name, own in pairs.items() if own}
    for name, own in known.items():
        covered, _ = _means(own, "coverage")
        yield Target(f"{name}, {method}: coverage of y", covered, 0.93, at_least=True)
        yield Target(f"{name}, {method}: coverage of y", covered, 0.97)
    if known:
        densities = [_means(own, "mlpd") for own in known.values()]
        better = sum(mine >= other for mine, other in densities)
        what = f"{method}: sets of {len(known)} with an MLPD at or above that of the evidence"
        yield Target(what, better, N_BETTER, at_least=True)


def _find_class_targets(
    method: str, pairs: dict[str, list[tuple[Record, Record]]]
) -> Iterator[Target]:
    known = [own for own in pairs.values() if own]
    for what, label in (("log_loss", "log loss"), ("ece", "calibration error")):
        if known:
            each = [_means(own, what) for own in known]
            measured, limit = (statistics.fmean(values) for values in zip(*each, strict=True))
            name = f"{method}: {label}, mean of {len(known)} sets, against that of the evidence"
            yield Target(name, measured, float(f"{limit:.4g}"))
