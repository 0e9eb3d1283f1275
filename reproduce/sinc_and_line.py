"""Section 4.3 of Tipping (2001): sinc(x1) + 0.1 x2 by kernels and explicit columns."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVR

from bench.report import Table, number
from relvec import SparseBayesRegressor
from relvec.bases import KernelBasis, PolynomialBasis
from relvec.datasets import make_sinc_and_line
from relvec.learning import ScaleLearner
from relvec.learning.reference import InterleavedRVM
from reproduce.published import load
from reproduce.repetitions import MOST_VECTORS, share

__all__ = ["COLUMNS", "SCHEMES", "Fit", "Scheme", "floor", "judge", "misses", "tables"]

N_TEST = 1000
N_REFERENCE = 20
"""Draws that the published scheme is fitted to."""
SVM_WIDTH = 3.0
"""Given in section 4.3; the other constants of the machine are not."""
SVM_GRID = {"C": (0.3, 1.0, 3.0, 10.0, 30.0, 100.0), "epsilon": (0.01, 0.03, 0.06, 0.1, 0.15)}
COLUMNS = ("x1", "x2", "x1sq", "x2sq", "x1x2")
"""Explicit columns, as the printed figures name their weights."""


class Fit(NamedTuple):
    """What came of one draw."""

    rms_train: float
    """To the truth, at the training inputs."""
    rms_test: float
    n_functions: int
    """Kernels and columns; a constant does not count."""
    weights: np.ndarray
    """Of the columns, zero for those left out."""
    eta: np.ndarray
    noise_std: float
    converged: bool


class Parts(NamedTuple):
    """What a fitted model consists of."""

    n_kernels: int
    weights: np.ndarray
    eta: np.ndarray


class Scheme(NamedTuple):
    """A way to fit, and how to read the model."""

    label: str
    make: Callable[[], Any]
    read: Callable[[Any, int], Parts]
    most_draws: int | None = None
    is_relevance: bool = True
    """Whether it is held against the printed relevance vector machine."""


def _read(model: Any, n_samples: int) -> Parts:
    """Take apart a model of kernels on all samples, followed by products of two inputs."""
    chosen = np.asarray(model.relevance_) - n_samples
    powers = np.zeros(len(COLUMNS))
    explicit = chosen >= 0
    powers[chosen[explicit]] = model.coef_[explicit]
    x1, x2, x1sq, x1x2, x2sq = powers
    weights = np.array([x1, x2, x1sq, x2sq, x1x2])
    return Parts(int(np.count_nonzero(~explicit)), weights, model.input_scale_)


def _read_reference(model: Any, n_samples: int) -> Parts:
    return Parts(len(model.relevance_), model.column_coef_, model.input_scales_)


def _read_support(model: Any, n_samples: int) -> Parts:
    eta = np.full(2, SVM_WIDTH**-2)
    return Parts(len(model.best_estimator_.support_), np.zeros(len(COLUMNS)), eta)


def _support() -> Any:
    machine = SVR(gamma=SVM_WIDTH**-2)
    return GridSearchCV(machine, SVM_GRID, cv=5, scoring="neg_mean_squared_error")


def _basis() -> Any:
    return KernelBasis() + PolynomialBasis(degree=2)


SCHEMES = (
    Scheme("ard", lambda: SparseBayesRegressor(_basis(), scales="ard"), _read),
    Scheme(
        "joint steps",
        lambda: SparseBayesRegressor(_basis(), scales=ScaleLearner(refine=3)),
        _read,
    ),
    Scheme(
        "InterleavedRVM",
        lambda: InterleavedRVM(columns="quadratic"),
        _read_reference,
        N_REFERENCE,
    ),
    Scheme("SVR, r = 3", _support, _read_support, N_REFERENCE, is_relevance=False),
)


def judge(scheme: Scheme, seed: int) -> Fit:
    """Fit one draw."""
    random = np.random.RandomState(seed)
    X, y, truth = make_sinc_and_line(random_state=random, return_truth=True)
    X_test, _ = truth.sample(N_TEST, random_state=random)
    model = scheme.make().fit(X, y)
    parts = scheme.read(model, len(X))
    rms = [math.sqrt(np.mean((model.predict(at) - truth(at)) ** 2)) for at in (X, X_test)]
    return Fit(
        *rms,
        n_functions=parts.n_kernels + int(np.count_nonzero(parts.weights)),
        weights=parts.weights,
        eta=np.asarray(parts.eta),
        noise_std=math.sqrt(getattr(model, "noise_variance_", math.nan)),
        converged=bool(np.all(getattr(model, "converged_", True))),
    )


def floor(noise_std: float, n_functions: float, n_samples: int) -> float:
    """Return the rms to the truth, at the samples, of an unbiased fit of so many functions.

    Noise of variance s^2 projected on k of N directions has the mean square s^2 k / N.
    """
    return noise_std * math.sqrt(n_functions / n_samples)


def misses(printed: dict[str, Any], fits: Sequence[Fit]) -> list[str]:
    """Return which printed figures are not reached.

    They are those of one draw, so the error may exceed them by the standard deviation of draws.
    """
    errors = [fit.rms_train for fit in fits]
    found = []
    if np.mean(errors) > printed["rvm_rms"] + np.std(errors, ddof=1):
        found.append("rms")
    if np.mean([fit.n_functions for fit in fits]) > MOST_VECTORS * printed["rvm_functions"]:
        found.append("functions")
    return found


def _mean(values: Sequence[float]) -> str:
    deviation = np.std(values, ddof=1) / math.sqrt(len(values))
    return f"{number(float(np.mean(values)))} ± {number(float(deviation), 2)}"


def _median(values: Sequence[float]) -> str:
    return number(float(np.median(values)))


def _error_cells(printed: dict[str, Any], scheme: Scheme, fits: Sequence[Fit]) -> list[str]:
    functions = [float(fit.n_functions) for fit in fits]
    cells = [
        scheme.label,
        _mean([fit.rms_train for fit in fits]),
        _mean([fit.rms_test for fit in fits]),
        number(float(np.mean([fit.rms_test**2 for fit in fits]))),
        _mean(functions),
    ]
    n = str(len(fits))
    if not scheme.is_relevance:
        return [*cells, "–", "–", n, "–", "–"]
    found = misses(printed, fits)
    return [
        *cells,
        number(floor(printed["noise_sd"], float(np.mean(functions)), printed["N"]), 2),
        _mean([fit.noise_std for fit in fits]),
        n,
        share(float(np.mean([fit.converged for fit in fits]))),
        "no: " + ", ".join(found) if found else "yes",
    ]


def _printed_errors(printed: dict[str, Any]) -> list[list[str]]:
    lowest = floor(printed["noise_sd"], printed["rvm_functions"], printed["N"])
    support, relevance = (
        [f"printed {name.upper()}", f"{printed[f'{name}_rms']:g}", "–", "–", f"{size:g}"]
        for name, size in (("svm", printed["svm_vectors"]), ("rvm", printed["rvm_functions"]))
    )
    sigma = f"{printed['rvm_sigma']:g}"
    return [
        [*support, "–", "–", "1", "–", "–"],
        [*relevance, number(lowest, 2), sigma, "1", "–", "–"],
    ]


def tables(
    folder: str | Path | None, n_draws: int, seed: int, schemes: tuple[Scheme, ...] = SCHEMES
) -> list[Table]:
    """Return the printed figures next to ours, then which columns and scales were found."""
    printed = load(folder, "tipping2001", "examples")["sinc_plus_linear"]
    errors = _printed_errors(printed)
    # what is printed of the columns are their weights; zero is one that was left out
    eta1, eta2 = printed["eta1"], printed["eta2"]
    chosen = [
        [
            "printed RVM",
            *(share(printed[f"w_{name}"] != 0.0) for name in COLUMNS),
            *(f"{each:g}" for each in (printed["w_x2"], eta1, eta2)),
            number(eta2 / eta1, 2),
            "–",
        ]
    ]
    for scheme in schemes:
        n = min(n_draws, scheme.most_draws or n_draws)
        fits = [judge(scheme, seed + i) for i in range(n)]
        errors.append(_error_cells(printed, scheme, fits))
        print(f"sinc and line, {': '.join(errors[-1][:2])}", file=sys.stderr, flush=True)
        if not scheme.is_relevance:
            continue
        shares = np.mean([fit.weights != 0.0 for fit in fits], axis=0)
        eta = np.array([fit.eta for fit in fits])
        chosen.append(
            [
                scheme.label,
                *(share(each) for each in shares),
                _median([fit.weights[COLUMNS.index("x2")] for fit in fits]),
                _median(eta[:, 0]),
                _median(eta[:, 1]),
                _median(eta[:, 1] / np.maximum(eta[:, 0], np.finfo(float).tiny)),
                share(float(np.mean(eta[:, 1] == 0.0))),
            ]
        )
    head = ["", "rms, training inputs", "fresh", "its square", "functions", "floor", "noise sd"]
    title = (
        f"sinc(x1) + 0.1 x2: rms to the truth ± standard error; floor: the least to expect of "
        f"so many functions, {printed['N']} samples and noise of {printed['noise_sd']:g}"
    )
    names = (name.replace("sq", "²") for name in COLUMNS)
    scales = ["weight of x2", "η1", "η2", "η2/η1", "η2 = 0"]
    return [
        Table(title, [*head, "draws", "conv. %", "reaches"], errors),
        Table(
            "sinc(x1) + 0.1 x2: percentage of draws in which each column is kept; medians of the "
            "weight of x2 (0.1 in truth), of the scales and of their ratio; percentage without η2",
            ["", *names, *scales],
            chosen,
        ),
    ]
