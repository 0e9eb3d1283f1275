"""One problem, in a process of its own.

Run by `bench.counts.suite` as ``python -m bench.counts.worker JOB`` with a JSON job; prints a JSON
record.
"""

from __future__ import annotations

import json
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import xlogy
from scipy.stats import poisson
from sklearn.base import clone
from sklearn.linear_model import PoissonRegressor
from sklearn.model_selection import GridSearchCV, KFold

from bench.counts.problems import SIMULATED, CountDraw, read_claims
from relvec import SparseBayesCountRegressor
from relvec.bases import LinearBasis

__all__ = ["CLAIM_MODELS", "SIMULATED_MODELS", "run"]

N_FOLDS = 10
SIMULATED_MODELS = {
    "atom": SparseBayesCountRegressor(likelihood="auto"),
    "tied": SparseBayesCountRegressor(likelihood="auto", precision="tied"),
}
CLAIM_MODELS = {
    "relvec linear": SparseBayesCountRegressor(LinearBasis()),
    "relvec linear, tied": SparseBayesCountRegressor(LinearBasis(), precision="tied"),
    "relvec kernels": SparseBayesCountRegressor(),
    "PoissonRegressor()": PoissonRegressor(max_iter=1000),
    "PoissonRegressor, alpha by cv": GridSearchCV(
        PoissonRegressor(max_iter=1000), {"alpha": np.geomspace(1e-6, 1.0, 13)}, cv=5
    ),
}


def run(job: dict[str, Any]) -> dict[str, Any]:
    """Measure all models on all draws of a job."""
    measure: Callable[[int], dict[str, Any]]
    if job["part"] == "simulated":
        draw = SIMULATED[job["problem"]]
        measure = lambda seed: measure_simulated(draw(seed))  # noqa: E731
    else:
        measure = measure_claims
    return {**job, "status": "ok", "draws": [measure(seed) for seed in job["seeds"]]}


def measure_simulated(draw: CountDraw) -> dict[str, Any]:
    """Compare with the true rate: excess deviance, and coverage of the 95 % band of its log."""
    result = {}
    truth = draw.exposure * draw.rate
    for name, model in SIMULATED_MODELS.items():
        began = time.process_time()
        fitted = clone(model).fit(draw.X, draw.counts, exposure=draw.exposure)
        cpu = time.process_time() - began
        estimate = fitted.predict(draw.X, exposure=draw.exposure)
        mean, std = fitted.predict_log_rate(draw.X, return_std=True)
        excess = 2.0 * np.mean(truth * np.log(truth / estimate) - truth + estimate)
        result[name] = {
            "excess": float(excess),
            "coverage": float(np.mean(np.abs(mean - np.log(draw.rate)) < 1.96 * std)),
            "is_overdispersed": fitted.likelihood_ == "negative_binomial",
            "cpu": cpu,
        }
    return result


def measure_claims(seed: int) -> dict[str, Any]:
    """Predict held-out groups of policies: deviance, log probability, coverage of 90 %."""
    X, holders, claims = read_claims()
    result = {}
    for name, model in CLAIM_MODELS.items():
        began = time.process_time()
        parts = []
        for train, test in KFold(N_FOLDS, shuffle=True, random_state=seed).split(X):
            given = X[train], claims[train], holders[train]
            parts.append(
                (test, *_predict(clone(model), given, X[test], holders[test], claims[test]))
            )
        cpu = time.process_time() - began
        order = np.concatenate([part[0] for part in parts])
        mean, logs, inside = (np.concatenate([part[i] for part in parts]) for i in (1, 2, 3))
        observed = claims[order]
        deviance = 2.0 * (xlogy(observed, observed / mean) - observed + mean)
        result[name] = {
            "deviance": float(deviance.mean()),
            "mlpd": float(logs.mean()),
            "coverage": float(inside.mean()),
            "cpu": cpu / N_FOLDS,
        }
    return result


def _predict(
    model: Any,
    given: tuple[np.ndarray, np.ndarray, np.ndarray],
    X: np.ndarray,
    exposure: np.ndarray,
    counts: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return means, log probabilities of the counts, and whether 90 % intervals contain them."""
    inputs, observed, units = given
    if isinstance(model, SparseBayesCountRegressor):
        model.fit(inputs, observed, exposure=units)
        mean = model.predict(X, exposure=exposure)
        logs = model.log_predictive_density(X, counts, exposure=exposure)
        lower, upper = model.predict_interval(X, 0.9, exposure=exposure).T
    else:
        # Rates weighted by exposure have the likelihood of counts with an offset.
        model.fit(inputs, observed / units, sample_weight=units)
        mean = exposure * model.predict(X)
        logs = poisson.logpmf(counts, mean)
        lower, upper = poisson.ppf([[0.05], [0.95]], mean)
    return mean, logs, (lower <= counts) & (counts <= upper)


def main() -> None:
    """Run the job of the command line."""
    job = json.loads(sys.argv[1])
    try:
        record = run(job)
    except Exception as error:
        traceback.print_exc()
        record = {**job, "status": "failed", "error": repr(error)}
    print(json.dumps(record))


if __name__ == "__main__":
    main()
