"""Robust noise against the default on data with outliers: the table of the guide.

Run as ``python -m bench.noise.robust [DRAWS]``; prints a Markdown table. It takes about five CPU
minutes for ten draws.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from bench.noise.suite import format_mean
from relvec import RVMRegressor
from relvec.datasets import make_friedman

__all__ = ["CASES", "Case", "Result", "make_errors", "measure"]

FIRST_SEED = 500
"""Of draws that were not used to choose anything."""
N_ROWS, N_TEST = 200, 500
NOISES = ("constant", "robust")


class Case(NamedTuple):
    """A function and the distribution of the errors, in noise standard deviations."""

    name: str
    function: str
    share: float = 0.0
    """Fraction of outliers."""
    one_sided: bool = False
    df: float = np.inf
    """Degrees of freedom of Student-t noise."""


CASES = (
    Case("sinc, no outliers", "sinc"),
    Case("sinc, 10 %", "sinc", 0.1),
    Case("sinc, 20 %", "sinc", 0.2),
    Case("sinc, 10 %, all upwards", "sinc", 0.1, one_sided=True),
    Case("sinc, Student-t noise, 2 df", "sinc", df=2.0),
    Case("Friedman 1, no outliers", "friedman"),
    Case("Friedman 1, 10 %", "friedman", 0.1),
    Case("Friedman 1, 10 %, all upwards", "friedman", 0.1, one_sided=True),
    Case("Friedman 1, Student-t noise, 2 df", "friedman", df=2.0),
)


def _draw_sinc(seed: int, n: int) -> tuple[np.ndarray, np.ndarray, float]:
    X = np.random.default_rng(seed).uniform(-10.0, 10.0, (n, 1))
    return X, np.sinc(X[:, 0] / np.pi), 0.1


def _draw_friedman(seed: int, n: int) -> tuple[np.ndarray, np.ndarray, float]:
    X, truth = make_friedman(1, n_samples=n, noise=0.0, random_state=seed)
    return X, truth, 1.0


FUNCTIONS: dict[str, Callable[[int, int], tuple[np.ndarray, np.ndarray, float]]] = {
    "sinc": _draw_sinc,
    "friedman": _draw_friedman,
}
"""Inputs, true function and noise standard deviation for a seed and a number of rows."""


def make_errors(case: Case, rng: np.random.Generator, n: int) -> np.ndarray:
    """Draw errors in noise standard deviations; outliers are off by 10 to 40."""
    errors = rng.normal(size=n) if np.isinf(case.df) else rng.standard_t(case.df, n)
    is_outlier = rng.random(n) < case.share
    sign = 1.0 if case.one_sided else rng.choice([-1.0, 1.0], n)
    return errors + is_outlier * sign * rng.uniform(10.0, 40.0, n)


class Result(NamedTuple):
    """What is measured of one fit."""

    rmse: float
    """To the true function at new inputs, in noise standard deviations."""
    coverage: float
    """Of the true function there, by 95 % intervals."""
    gain: float
    """``noise_gain_``: zero if Gaussian noise was kept."""
    cpu: float
    """CPU seconds of the fit."""


def measure(case: Case, noise: str, seed: int) -> Result:
    """Fit one draw of a case."""
    X, truth, scale = FUNCTIONS[case.function](seed, N_ROWS + N_TEST)
    errors = make_errors(case, np.random.default_rng([seed, 1]), N_ROWS)
    began = time.process_time()
    model = RVMRegressor(noise=noise).fit(X[:N_ROWS], truth[:N_ROWS] + scale * errors)
    cpu = time.process_time() - began
    new, truth = X[N_ROWS:], truth[N_ROWS:]
    low, high = model.predict_interval(new, coverage=0.95, include_noise=False).T
    rmse = np.sqrt(np.mean((model.predict(new) - truth) ** 2)) / scale
    inside = (low <= truth) & (truth <= high)
    return Result(float(rmse), float(np.mean(inside)), float(model.noise_gain_), cpu)


def main(n_draws: int = 10) -> None:
    """Print the table, row by row."""
    head = [f"{what}, `{noise}`" for what in ("RMSE", "coverage") for noise in NOISES]
    print(f"| {' | '.join(['Data', *head, 'heavy tails found', 'CPU ratio'])} |")
    print("|---" * 7 + "|")
    for case in CASES:
        seeds = range(FIRST_SEED, FIRST_SEED + n_draws)
        found = {noise: [measure(case, noise, seed) for seed in seeds] for noise in NOISES}
        cells = [
            format_mean([getattr(each, which) for each in found[noise]], 2)
            for which in ("rmse", "coverage")
            for noise in NOISES
        ]
        cells.append(f"{sum(each.gain > 0.0 for each in found['robust'])} of {n_draws}")
        seconds = [sum(each.cpu for each in found[noise]) for noise in NOISES]
        cells.append(f"{seconds[1] / seconds[0]:.1f}")
        print(f"| {case.name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # of fits that stop at a limit
    main(*(int(argument) for argument in sys.argv[1:2]))
