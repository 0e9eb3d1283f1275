"""Fits of one candidate on all draws of one problem, each in a process of its own."""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.classification.fits import cut_short
from bench.classification.metrics import log_loss
from bench.classification.problems import Draw
from bench.features.children import in_child
from bench.features.methods import METHODS, Method
from bench.features.problems import BENCHMARKS, GENES, SYNTHETIC, WIDE, Problem
from bench.measure import PeakMemory, cpu_clock

__all__ = ["fit_and_judge", "run"]

PROBLEMS: dict[str, Problem] = {**SYNTHETIC, **BENCHMARKS, **GENES, **WIDE}
WARM_UP = 20
"""Rows per class, and at most as many columns, of the untimed first fit."""
MEMORY_GB = 8.0
"""Address space of one fit: a method that asks for more has failed."""


def warm_up(method: Method, draw: Draw) -> None:
    """Pay for lazy imports and for waking the BLAS."""
    rows = np.concatenate([np.flatnonzero(draw.y == label)[:WARM_UP] for label in (0, 1)])
    few = draw.X[rows, :WARM_UP]
    method.make(few.shape[1]).fit(few, draw.y[rows])


def fit_and_judge(method: Method, draw: Draw) -> dict[str, Any]:
    """Return the cost of one fit, what it kept, and its quality on the test rows."""
    n_features = draw.X.shape[1]
    memory, start = PeakMemory(), cpu_clock()
    model = method.make(n_features).fit(draw.X, draw.y)
    cpu, peak = cpu_clock() - start, memory.above_start()
    memory, start = PeakMemory(), cpu_clock()
    label = np.asarray(model.predict(draw.X_test))
    predict_cpu, predict_peak = cpu_clock() - start, memory.above_start()
    kept, vectors = method.kept(model), method.vectors(model)
    if kept is not None and len(kept) == n_features:
        kept = None
    wrong = label != draw.y_test
    return {
        "cpu": cpu,
        "peak_mb": peak,
        "predict_cpu": predict_cpu,
        "predict_mb": predict_peak,
        "error": float(wrong.mean()),
        "wrong": np.flatnonzero(wrong).tolist(),
        "n_test": len(wrong),
        "log_loss": log_loss(np.asarray(model.predict_proba(draw.X_test)), draw.y_test),
        "kept": None if kept is None else [int(number) for number in kept],
        "n_kept": n_features if kept is None else len(kept),
        "n_vectors": None if vectors is None else int(vectors),
        "is_cut_short": cut_short(model),
    }


def run(case: dict[str, Any], limit: float) -> dict[str, Any]:
    """Return the records of all draws; who is over the limit is not tried on further ones."""
    problem, method = PROBLEMS[case["problem"]], METHODS[case["method"]]
    draws: list[dict[str, Any]] = []
    for seed in case["seeds"]:
        draw = problem.draw(seed)
        if not draws:
            warm_up(method, draw)
        record = in_child(lambda draw=draw: fit_and_judge(method, draw), limit, MEMORY_GB)
        if record["status"] != "ok":
            return {**record, "draws": draws, "stopped_at": seed}
        draws.append({**record, "seed": seed})
    return {"draws": draws}
