"""One sampler on one data set, or a model on several, in a process of its own.

Run by `bench.sampling.suite` as ``python -m bench.sampling.worker JOB`` with a JSON job; prints a
JSON record.
"""

from __future__ import annotations

import json
import sys
import traceback
import warnings
from typing import Any

import numpy as np

from bench.sampling import bands, ladder, large, published
from bench.sampling.methods import METHODS, Length
from bench.sampling.problems import draw_regression

__all__ = ["run"]


def run(job: dict[str, Any]) -> dict[str, Any]:
    """Run a sampler or fit sampled models, and measure them."""
    if job["problem"] in large.SIZES:
        return large.run(job)
    if job["problem"] in ladder.PROBLEMS:
        return ladder.run(job)
    if job["problem"] in published.PROBLEMS:
        return published.run(job)
    if job["method"] in bands.METHODS:
        return bands.run(job)
    data = draw_regression(job["problem"], job["seed"])
    length = Length(**job["length"])
    chains = METHODS[job["method"]].run(data, job["seed"], length)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # ArviZ announces its next version
        import arviz

        posterior = arviz.convert_to_dataset({"predictor": chains.predictor, "noise": chains.noise})
        ess, rhat = arviz.ess(posterior, method="bulk"), arviz.rhat(posterior)
    return {
        **job,
        "status": "ok",
        "ess_predictor": float(ess["predictor"].min()),
        "ess_noise": float(ess["noise"]),
        "rhat": max(float(rhat["predictor"].max()), float(rhat["noise"])),
        "warmup_cpu": chains.warmup_cpu,
        "draws_cpu": chains.draws_cpu,
        "compile_cpu": chains.compile_cpu,
        "n_divergences": chains.n_divergences,
        "n_leapfrog": chains.n_leapfrog,
        "noise_mean": float(chains.noise.mean()),
        "noise_std": float(chains.noise.std()),
        "norm_mean": float(np.linalg.norm(chains.predictor, axis=2).mean()),
    }


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
