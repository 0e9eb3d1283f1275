"""Scales of inputs of Tipping (2001) and his slides: Friedman's functions, sinc(x1) + 0.1 x2."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bench.report import Table
from relvec import RVMRegressor
from relvec.datasets import make_friedman
from relvec.learning import ScaleLearner
from relvec.learning.reference import InterleavedRVM
from reproduce import sinc_and_line
from reproduce.label_sets import Split
from reproduce.published import load
from reproduce.repetitions import HEAD, Line, Method, Target, printed_cells, repeat, share

__all__ = ["METHODS", "draw_friedman", "read_targets", "tables"]

N_TEST = 1000
N_REFERENCE = 20
"""Draws that the published scheme is fitted to."""
LEARNT, COMMON, SUPPORT = "η-RVR", "RVR", "SVR"
"""Names of the printed columns."""
METHODS = (
    Method("ard", lambda: RVMRegressor(scales="ard"), LEARNT),
    Method("joint steps", lambda: RVMRegressor(scales=ScaleLearner(refine=3)), LEARNT),
    Method(
        "joint steps, ric",
        lambda: RVMRegressor(scales=ScaleLearner(refine=3), prior="ric"),
        LEARNT,
    ),
    Method("isotropic", lambda: RVMRegressor(scales="isotropic"), COMMON),
    Method("InterleavedRVM", InterleavedRVM, LEARNT, N_REFERENCE, is_standardised=True),
)


def read_targets(folder: str | Path | None) -> dict[int, list[Target]]:
    """Return the printed figures by the number of Friedman's function."""
    found = {}
    for name, *figures in load(folder, "slides")["eta_rvr"]:
        columns = zip((SUPPORT, COMMON, LEARNT), figures[:3], figures[3:], strict=True)
        found[int(name.removeprefix("friedman"))] = [Target(*column) for column in columns]
    return found


def draw_friedman(kind: int, seed: int) -> Split:
    """Return 240 rows with noise, and 1000 without to be judged on."""
    random = np.random.RandomState(seed)
    X, y, truth = make_friedman(kind, random_state=random, return_truth=True)
    X_test, _ = truth.sample(N_TEST, random_state=random)
    return Split(X, y, X_test, truth(X_test))


def _frequencies(kind: int, lines: list[Line]) -> Table:
    n = len(lines[0].frequencies)
    rows = [[line.label, *(share(each) for each in line.frequencies)] for line in lines]
    title = f"Friedman #{kind}: percentage of draws in which each input is kept"
    return Table(title, ["", *(f"x{k + 1}" for k in range(n))], rows)


def tables(
    folder: str | Path | None, n_draws: int, seed: int, methods: tuple[Method, ...] = METHODS
) -> list[Table]:
    """Return the printed figures next to ours, and which inputs and columns are kept.

    Parameters
    ----------
    folder : str, Path or None
        Where the printed figures lie.
    n_draws : int
        Draws of each of Friedman's functions; half as many of the sinc.
    seed : int
        Of the first draw.
    methods : tuple of Method
        Lines for Friedman's functions.
    """
    result = []
    for kind, targets in read_targets(folder).items():
        draws = [draw_friedman(kind, seed + i) for i in range(n_draws)]
        lines = repeat(f"Friedman #{kind}", methods, draws, targets, "MSE")
        title = (
            f"Friedman #{kind}: mean squared error on {N_TEST} points without noise, vectors and "
            f"inputs kept; ours ± standard error; CPU seconds of a fit. Isotropic is held against "
            f"{COMMON}, the others against {LEARNT}"
        )
        rows = [printed_cells(target) for target in targets] + [line.cells for line in lines]
        result += [Table(title, ["", "MSE", *HEAD], rows), _frequencies(kind, lines)]
    return result + sinc_and_line.tables(folder, max(2, n_draws // 2), seed)
