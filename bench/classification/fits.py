"""One fit of one candidate on one draw: what it cost, what it kept, how good it is.

Few imports of its own, so that the memory of the process is that of the candidate.
"""

from __future__ import annotations

import resource
import sys
from typing import Any

import numpy as np

from bench.classification.methods import METHODS, Method
from bench.classification.metrics import error_rate, judge
from bench.classification.problems import PROBLEMS, Draw
from bench.measure import PeakMemory, cpu_clock, cpu_seconds, limit_cpu, unavoidable

__all__ = ["assess", "cut_short", "run", "timed_fit"]

WARM_UP = 60
"""Rows of the untimed first fit, which pays for lazy imports and for waking the BLAS."""

ALL_AT_ONCE = 0.25
"""A fit that took so many CPU seconds is timed once."""


def resident_mb() -> float:
    """Return the highest memory of this process since the mark was last reset."""
    unit = 1024**2 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def timed_fit(
    method: Method, draw: Draw, gamma: float, limit: float
) -> tuple[Any, dict[str, float]]:
    """Return the fitted classifier, and the CPU seconds and the memory it took."""
    few = np.linspace(0, len(draw.X) - 1, WARM_UP).astype(int)  # some sets are sorted by class
    method.make(gamma).fit(draw.X[few], draw.y[few])

    def fit() -> Any:
        return method.make(gamma).fit(draw.X, draw.y)

    limit_cpu(limit)
    memory = PeakMemory()
    start = cpu_clock()
    model = fit()
    first = cpu_clock() - start
    peak, resident = memory.above_start(), resident_mb()
    cpu = first if first > ALL_AT_ONCE else cpu_seconds(fit, total=first)
    limit_cpu(None)
    return model, {"cpu": cpu, "peak_mb": peak, "resident_mb": resident}


def assess(method: Method, model: Any, draw: Draw) -> dict[str, Any]:
    """Return the quality on the test rows, the size, and the time of a prediction."""
    ask = model.predict_proba if method.has_probability else model.predict
    answer = ask(draw.X_test)
    if method.has_probability:
        quality: dict[str, float | None] = dict(judge(answer, draw.y_test))
    else:
        one_hot = np.eye(2)[np.asarray(answer, dtype=int)]
        quality = {"error": error_rate(one_hot, draw.y_test), "log_loss": None, "ece": None}
    n_vectors = method.vectors(model)
    return {
        **quality,
        "n_vectors": len(draw.X) if n_vectors is None else int(n_vectors),
        "predict_cpu": 1000 * cpu_seconds(lambda: ask(draw.X_test)) / len(draw.X_test),
        "is_cut_short": cut_short(model),
    }


def cut_short(model: Any) -> bool:
    """Whether a relevance vector machine says that it stopped before it had converged."""
    if hasattr(model, "converged_"):
        return not model.converged_
    limit, taken = getattr(model, "max_iter", -1), getattr(model, "n_iter_", 0)
    return bool(0 < limit <= np.max(taken))


def run(case: dict[str, Any], limit: float) -> dict[str, Any]:
    """Return the record of one fit."""
    problem, method = PROBLEMS[case["problem"]], METHODS[case["method"]]
    draw = problem.draw(case["seed"])
    model, cost = timed_fit(method, draw, problem.gamma, limit)
    quality = assess(method, model, draw)
    floor: dict[str, Any] = {"kernel_cpu": None, "product_cpu": None}
    if method.is_sparse:
        floor = unavoidable(draw.X, problem.gamma, quality["n_vectors"])
    return {**cost, **quality, **floor}
