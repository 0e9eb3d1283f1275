"""Table 5.1 of Heimsæter (2021): samples and inputs chosen together (DRVM)."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.linear_model import LinearRegression

from bench.report import Table
from relvec import DRVMRegressor, RVMRegressor
from relvec.learning.reference import AlternatingDRVM
from reproduce.input_scales import draw_friedman
from reproduce.label_sets import Split
from reproduce.published import find, load
from reproduce.repetitions import HEAD, Line, Method, Target, printed_cells, repeat, share

__all__ = ["METHODS", "Problem", "draw_sinc", "problems", "read_splits", "read_targets", "tables"]

N_REFERENCE = 10
"""Repetitions of the published scheme."""
INTERVAL = (-10.0, 10.0)
PLAIN, CHOOSING = "RVM", "DRVM"
"""Names of the printed columns."""
METHODS = (
    Method("DRVMRegressor()", DRVMRegressor, CHOOSING),
    Method("RVMRegressor()", RVMRegressor, PLAIN),
    Method("AlternatingDRVM", AlternatingDRVM, CHOOSING, N_REFERENCE),
    Method("least squares", LinearRegression, None),
)
SPLITS = {"diabetes": "train_221", "boston": "train_253"}
"""Which rows of the files are for training."""
HAS_UNITS = ("AlternatingDRVM",)
"""Methods for which the units of inputs matter; the others are the same in any units."""


class Problem(NamedTuple):
    """Draws of one line of the table."""

    name: str
    """As in the published figures."""
    title: str
    inputs: list[str]
    draws: list[Split]
    is_standardised: bool = False


def read_targets(folder: str | Path | None) -> dict[str, list[Target]]:
    """Return the printed figures of both methods by the name of the problem."""
    found = {}
    for name, _, _, *figures in load(folder, "heimsaeter", "table_5_1")["rows"]:
        vectors, inputs, errors = figures[:2], figures[2:4], figures[4:]
        columns = zip((PLAIN, CHOOSING), errors, vectors, inputs, strict=True)
        found[name] = [Target(*column) for column in columns]
    return found


def draw_sinc(seed: int) -> Split:
    """Return 100 points with uniform noise, and 1000 without to be judged on."""
    x, x_test = (np.linspace(*INTERVAL, n)[:, np.newaxis] for n in (100, 1000))
    noise = np.random.default_rng(seed).uniform(-0.1, 0.1, len(x))
    truth, truth_test = (np.sinc(at[:, 0] / np.pi) for at in (x, x_test))
    return Split(x, truth + noise, x_test, truth_test)


def read_splits(
    folder: str | Path | None, name: str, n_draws: int
) -> tuple[list[str], list[Split]]:
    """Return names of the inputs of a data set, and its splits in halves, inputs as they are."""
    with np.load(find(folder, f"{name}.npz"), allow_pickle=False) as file:
        X, y = file["X"].astype(float), file["y"].astype(float)
        names = [str(each) for each in file["feature_names"]]
        rows = file[SPLITS[name]][:n_draws]
    splits = []
    for train in rows:
        test = np.setdiff1d(np.arange(len(y)), train)
        splits.append(Split(X[train], y[train], X[test], y[test]))
    return names, splits


def problems(folder: str | Path | None, n_draws: int, seed: int) -> list[Problem]:
    """Return the lines of the table; Boston twice, since the units of its inputs differ."""
    seeds = range(seed, seed + n_draws)
    diabetes, boston = (read_splits(folder, name, n_draws) for name in SPLITS)
    ten = [f"x{k + 1}" for k in range(10)]
    return [
        Problem("sinc_unif", "Sinc", ["x"], [draw_sinc(each) for each in seeds]),
        Problem("friedman1", "Friedman #1", ten, [draw_friedman(1, each) for each in seeds]),
        Problem("diabetes", "Diabetes", *diabetes),
        Problem("boston", "Boston", *boston),
        Problem("boston", "Boston, standardised", *boston, is_standardised=True),
    ]


def _frequencies(problem: Problem, lines: list[Line], words: str) -> Table:
    title = f"{problem.title}: percentage of repetitions in which each input is kept"
    if words:
        title += f"; the thesis: {words}"
    rows = [[line.label, *(share(each) for each in line.frequencies)] for line in lines]
    return Table(title, ["", *problem.inputs], rows)


def tables(
    folder: str | Path | None, n_draws: int, seed: int, methods: tuple[Method, ...] = METHODS
) -> list[Table]:
    """Return the printed figures next to ours, and how often each input is kept.

    Parameters
    ----------
    folder : str, Path or None
        Where the printed figures and the data lie.
    n_draws : int
        Repetitions; of data sets at most as many as there are splits.
    seed : int
        Of the first draw of sinc and of Friedman's function.
    methods : tuple of Method
        Lines for each problem.
    """
    printed = read_targets(folder)
    words = load(folder, "heimsaeter", "other")
    errors: list[Table] = []
    chosen: list[Table] = []
    for problem in problems(folder, n_draws, seed):
        targets = printed[problem.name]
        used = methods
        if problem.is_standardised:
            changed = [method for method in methods if method.label in HAS_UNITS]
            used = tuple(method._replace(is_standardised=True) for method in changed)
        lines = repeat(problem.title, used, problem.draws, targets, "RMSE")
        rows = [printed_cells(target) for target in targets] + [line.cells for line in lines]
        title = (
            f"{problem.title}: root mean squared error, vectors and inputs kept; ours ± standard "
            f"error; CPU seconds of a fit. {PLAIN}Regressor is held against {PLAIN}, the others "
            f"against {CHOOSING}"
        )
        errors.append(Table(title, ["", "RMSE", *HEAD], rows))
        if len(problem.inputs) > 1:
            choosing = [line for line in lines if line.target is not None]
            said = words.get(f"{problem.name}_features", "")
            chosen.append(_frequencies(problem, choosing, said))
    return errors + chosen
