"""How often `compare_models` finds the model that generated the data.

Each of five models generates the targets in turn: linear, wide and narrow RBF kernels, periodic
kernels, linear and periodic. Functions are draws from the prior of the model: kernels at all rows
with independent normal weights, scaled to the variance of the setting. In the "weak" setting the
model is always linear and periodic, and one of the two has a variance of .05 to 1 times that of the
noise, the other one of twice that of the noise.

Run with: python -m bench.comparing [--cases 100] [--seed 5000]
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import Counter

import numpy as np
from sklearn.gaussian_process.kernels import RBF, ExpSineSquared

from relvec import SparseBayesRegressor, compare_models
from relvec.bases import KernelBasis, LinearBasis
from relvec.comparing import ModelComparison

PERIODIC = ExpSineSquared(1.0, 2.5)
KERNELS = {"wide": RBF(3.0), "narrow": RBF(0.7), "periodic": PERIODIC}
SETTINGS = {"100 rows, SNR 4": (100, 4.0), "60 rows, SNR 1.5": (60, 1.5), "weak": (100, None)}
"""Number of rows, and variance of the function relative to that of the noise."""


def make_candidates() -> dict[str, SparseBayesRegressor]:
    """Return the five models."""
    models = {name: SparseBayesRegressor(KernelBasis(kernel)) for name, kernel in KERNELS.items()}
    both = LinearBasis() + KernelBasis(PERIODIC)
    return {
        "linear": SparseBayesRegressor(LinearBasis()),
        **models,
        "linear+periodic": SparseBayesRegressor(both),
    }


def _standardise(values: np.ndarray) -> np.ndarray:
    return (values - values.mean()) / values.std()


def _draw_part(name: str, X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    if name == "linear":
        return _standardise(X[:, 0]) * rng.choice([-1.0, 1.0])
    return _standardise(KERNELS[name](X) @ rng.normal(size=len(X)))


def draw_data(
    truth: str, rng: np.random.Generator, n_rows: int, snr: float | None
) -> tuple[np.ndarray, np.ndarray]:
    """Draw inputs and targets from a model; `snr` None for a weak part."""
    X = rng.uniform(-5.0, 5.0, (n_rows, 1))
    parts = np.array([_draw_part(name, X, rng) for name in truth.split("+")])
    if snr is None:
        variances = [2.0, np.exp(rng.uniform(np.log(0.05), 0.0))]
        function = np.sqrt(rng.permutation(variances)) @ parts
    else:
        function = np.sqrt(snr) * _standardise(parts.sum(axis=0))
    return X, function + rng.normal(size=n_rows)


def judge(truth: str, comparison: ModelComparison) -> str:
    """Return whether the verdict is right, wrong or undecided."""
    if not comparison.decided:
        return "undecided"
    return "correct" if comparison.best_ == truth else "wrong"


def run(setting: str, n_cases: int, seed: int) -> Counter[tuple[str, str]]:
    """Count the verdicts of a setting by the model that generated the data."""
    n_rows, snr = SETTINGS[setting]
    models = make_candidates()
    truths = ["linear+periodic"] if snr is None else list(models)
    counts: Counter[tuple[str, str]] = Counter()
    for case in range(n_cases):
        truth = truths[case % len(truths)]
        X, y = draw_data(truth, np.random.default_rng([seed, case]), n_rows, snr)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            counts[truth, judge(truth, compare_models(models, X, y))] += 1
    return counts


def main() -> None:
    """Print the counts of all settings."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=100, help="cases per setting")
    parser.add_argument("--seed", type=int, default=6000, help="seed of the data")
    options = parser.parse_args()
    for setting in SETTINGS:
        start = time.process_time()
        counts = run(setting, options.cases, options.seed)
        total = Counter[str]()
        for (_, outcome), number in counts.items():
            total[outcome] += number
        print(f"{setting}: {dict(total)}, {time.process_time() - start:.0f} CPU s")
        for (truth, outcome), number in sorted(counts.items()):
            print(f"    {truth:16} {outcome:10} {number}")


if __name__ == "__main__":
    main()
