"""Regressions of the papers: the data of a repetition, and what a model makes of them."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from contextlib import suppress
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np

from bench.report import number
from relvec.datasets import make_friedman
from reproduce.common.class_datasets import Split
from reproduce.common.published import find

__all__ = [
    "HEAD",
    "draw_friedman",
    "draw_sinc",
    "judge",
    "kept",
    "percent",
    "read_half",
    "read_names",
    "row",
]

N_TEST = 1000
INTERVAL = (-10.0, 10.0)
"""Inputs of sinc."""
HALVES = {"diabetes": "train_221", "boston": "train_253"}
"""Which rows of the files are for training."""
SCALES = ("learnt_length_scales_.scale", "input_scales_", "feature_weights_")
"""Where models keep the scales of their inputs."""


def draw_friedman(kind: int, seed: int) -> Split:
    """Return 240 rows with noise, and 1000 without to be judged on."""
    random = np.random.RandomState(seed)
    X, y, truth = make_friedman(kind, random_state=random, return_truth=True)
    X_test, _ = truth.sample(N_TEST, random_state=random)
    return Split(X, y, X_test, truth(X_test))


def draw_sinc(seed: int | None) -> Split:
    """Return 100 points with noise uniform on [-0.1, 0.1], or none, and 1000 without."""
    x, x_test = (np.linspace(*INTERVAL, n)[:, np.newaxis] for n in (100, N_TEST))
    truth, truth_test = (np.sinc(at[:, 0] / np.pi) for at in (x, x_test))
    if seed is None:
        return Split(x, truth, x_test, truth_test)
    noise = np.random.default_rng(seed).uniform(-0.1, 0.1, len(x))
    return Split(x, truth + noise, x_test, truth_test)


def read_half(folder: Path | None, name: str, place: int) -> Split:
    """Return a data set with one of its splits in halves, inputs as they are."""
    with np.load(find(folder, f"{name}.npz"), allow_pickle=False) as file:
        X, y = file["X"].astype(float), file["y"].astype(float)
        train = file[HALVES[name]][place]
    test = np.setdiff1d(np.arange(len(y)), train)
    return Split(X[train], y[train], X[test], y[test])


def read_names(folder: Path | None, name: str) -> list[str]:
    """Return the names of the inputs of a data set."""
    with np.load(find(folder, f"{name}.npz"), allow_pickle=False) as file:
        return [str(each) for each in file["feature_names"]]


def judge(model: Any, split: Split) -> dict[str, Any]:
    """Fit on the training rows and measure on the test rows.

    Parameters
    ----------
    model : regressor
        What to fit.
    split : Split
        Rows to learn from and rows to be judged on.

    Returns
    -------
    outcome : dict
        Errors, number of vectors (NaN if the model has none), scales of the inputs (NaN if it
        has none of them), the same in units of the inputs' standard deviations, CPU seconds of
        the fit, and whether it converged.
    """
    start = time.process_time()
    model.fit(split.X, split.y)
    seconds = time.process_time() - start
    square = float(np.mean((model.predict(split.X_test) - split.y_test) ** 2))
    scale = np.full(split.X.shape[1], math.nan)
    for name in SCALES:
        with suppress(AttributeError):
            scale = np.asarray(attrgetter(name)(model), dtype=float)
    vectors = getattr(model, "relevance_", None)
    return {
        "mse": square,
        "rmse": math.sqrt(square),
        "n_vectors": math.nan if vectors is None else len(vectors),
        "scale": scale,
        "relevance": scale * split.X.var(axis=0),
        "n_inputs": int(np.count_nonzero(scale)),
        "seconds": seconds,
        "converged": bool(np.all(getattr(model, "converged_", True))),
    }


def kept(outcomes: Sequence[dict[str, Any]]) -> np.ndarray:
    """Return whether each input is in the model, a row for each outcome."""
    return np.array([each["scale"] for each in outcomes]) != 0.0


def percent(share: float) -> str:
    """Return a share in percent."""
    return f"{100.0 * share:.0f}"


def _mean(outcomes: Sequence[dict[str, Any]], name: str) -> str:
    values = np.array([each[name] for each in outcomes], dtype=float)
    if np.isnan(values).any():
        return "–"
    text = number(float(values.mean()))
    if len(values) > 1 and np.ptp(values):
        text += f" ± {number(float(values.std(ddof=1)) / math.sqrt(len(values)), 2)}"
    return text


HEAD = ("vectors", "features", "draws", "fit s", "conv. %")
"""Names of the cells of a row after its label and its error."""


def row(label: str, outcomes: Sequence[dict[str, Any]], error: str) -> list[str]:
    """Return a row of a table: means of some outcomes, with standard errors.

    Parameters
    ----------
    label : str
        What was fitted.
    outcomes : sequence of dict
        Of `judge`.
    error : {"mse", "rmse"}
        Which error to show.
    """
    return [
        label,
        _mean(outcomes, error),
        _mean(outcomes, "n_vectors"),
        _mean(outcomes, "n_inputs"),
        str(len(outcomes)),
        number(float(np.mean([each["seconds"] for each in outcomes])), 2),
        percent(float(np.mean([each["converged"] for each in outcomes]))),
    ]
