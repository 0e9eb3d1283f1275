"""One density and sample size, in a process of its own.

Run by `bench.density.suite` as ``python -m bench.density.worker JOB`` with a JSON job; prints a
JSON record.
"""

from __future__ import annotations

import json
import sys
import time
import traceback
from typing import Any

import numpy as np

from bench.density import real
from bench.density.peers import PEERS, PEERS_OF_TWO
from bench.density.problems import PROBLEMS, DensityProblem
from relvec import SparseBayesDensity

N_TEST = 2000


def run(job: dict[str, Any]) -> dict[str, Any]:
    """Measure all methods on all draws of a job."""
    if job["part"] == "real":
        return {**job, "status": "ok", "draws": real.measure(job)}
    problem = PROBLEMS[job["problem"]]
    draws = [_measure(problem, job["n"], seed, with_peers=job["peers"]) for seed in job["seeds"]]
    return {**job, "status": "ok", "draws": draws}


def _measure(problem: DensityProblem, n: int, seed: int, *, with_peers: bool) -> dict[str, Any]:
    # The number of the problem, so that densities do not share their random numbers.
    rng = np.random.default_rng([seed, n, list(PROBLEMS).index(problem.name)])
    x, test = problem.draw(n, rng), problem.draw(N_TEST, rng)
    truth = problem.log_density(test)
    peers = PEERS if problem.n_variables == 1 else PEERS_OF_TWO
    result = {"relvec": _measure_relvec(problem, x, test, truth)}
    for name, fit in (peers if with_peers else {}).items():
        began = time.process_time()
        log_density = fit(x, problem.support)
        if name == "KDE cv":  # what is fitted; the others only store the data
            log_density(test[:1])
        cpu = time.process_time() - began
        result[name] = {
            "kl": integrate_divergence(problem, log_density),
            "ise": _integrate_error(problem, lambda at, f=log_density: np.exp(f(at))),
            "cpu": cpu,
        }
    return result


def _measure_relvec(
    problem: DensityProblem, x: np.ndarray, test: np.ndarray, truth: np.ndarray
) -> dict[str, Any]:
    began = time.process_time()
    model = SparseBayesDensity(problem.support).fit(_columns(x))
    cpu = time.process_time() - began
    band = model.pdf(_columns(test), coverage=0.95)[1]
    inside = (band[:, 0] <= np.exp(truth)) & (np.exp(truth) <= band[:, 1])
    return {
        "kl": integrate_divergence(problem, lambda at: model.score_samples(_columns(at))),
        "ise": _integrate_error(problem, lambda at: model.pdf(_columns(at))),
        "cpu": cpu,
        "coverage": float(inside.mean()),
        "integral": _integrate(model, problem) if problem.n_variables == 1 else None,
        "reference": model.reference_,
        "dof": model.effective_dof_,
    }


def _columns(x: np.ndarray) -> np.ndarray:
    return x.reshape(len(x), -1)


def integrate_divergence(problem: DensityProblem, log_density: Any) -> float:
    """Return the Kullback-Leibler divergence of an estimate from the truth, in nats.

    The integral of ``p log(p / q)`` by the midpoint rule, so that it has no sampling error.
    """
    ends = problem.support or (-8.0, 8.0)
    n_cells = 1500 if problem.n_variables == 1 else 140
    step = (ends[1] - ends[0]) / n_cells
    x = ends[0] + step * (np.arange(n_cells) + 0.5)
    if problem.n_variables > 1:
        x = np.stack(np.meshgrid(x, x), axis=-1).reshape(-1, 2)
    truth = problem.log_density(x)
    inside = truth > -80.0  # the rest adds less than exp(-70) and may underflow in the estimate
    parts = [
        np.exp(truth[part]) * (truth[part] - log_density(x[part]))
        for part in np.array_split(np.flatnonzero(inside), 8)
    ]
    return float(step**problem.n_variables * np.concatenate(parts).sum())


def _integrate_error(problem: DensityProblem, density: Any) -> float | None:
    """Return the integrated squared error of a density of one variable."""
    if problem.n_variables > 1:
        return None
    x = np.linspace(*problem.range, 2001)
    error = density(x) - np.exp(problem.log_density(x))
    return float(np.sum(error**2) * (x[1] - x[0]))


def _integrate(model: SparseBayesDensity, problem: DensityProblem) -> float:
    """Return the integral by the trapezoidal rule on a fine grid of quantiles, tails excluded."""
    if problem.support is not None:
        x = np.linspace(*problem.support, 40_001)
    else:
        lower, upper = model.ppf([1e-9, 1 - 1e-9])
        centre = np.linspace(*problem.range, 200_001)
        left = np.linspace(lower, centre[0], 100_001)[:-1]
        right = np.linspace(centre[-1], upper, 100_001)[1:]
        x = np.concatenate([left[left < centre[0]], centre, right[right > centre[-1]]])
    density = model.pdf(x[:, None])
    return float(np.sum(0.5 * (density[1:] + density[:-1]) * np.diff(x)))


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
