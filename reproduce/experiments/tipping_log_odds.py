"""Figure 10 of Tipping (2001): outputs of classifiers and the true log odds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.optimize import minimize
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from bench.report import Table, number
from relvec import RVMClassifier
from relvec.datasets import make_overlapping_uniforms
from reproduce.common.plots import COLOURS, GREY, make_figure
from reproduce.engine import Cell, Experiment, Results, Settings, Task

__all__ = ["EXPERIMENT", "fit", "judge", "rescaled"]

PROTOCOL = """
Appendix D.2: class C+1 is uniform on [0, 1], class C−1 on [0.5, 1.5], with 1000 rows and Gaussian
kernels with r = 0.1. The true log odds are zero on [0.5, 1] (the paper once says 1.5) and infinite
elsewhere. The Bayes error rate is 25 %, and the smallest possible cross-entropy is ln(2)/2.

The paper gives a plot but no numbers. It is drawn again for the first draw: the outputs y(x) of
both models without a sigmoid, that of the SVM rescaled. Where only one class occurs our log odds
are nearly unbounded: they leave the plot, as the true ones do.

- The paper states that "no setting of the sigmoid parameters A and B" turns the SVM's output into
  the log odds. This is checked over 20 draws: A and B minimise the expected cross-entropy, which
  requires the true distribution. Error rates and cross-entropies are expectations under the true
  distribution.
- C of the support vector machine is not given; it is chosen by 5-fold cross-validation of the error
  rate.
"""
WIDTH = 0.1
N_ROWS = 1000
N_DRAWS = 20
SEED = 20100
MODELS = ("RVM", "SVM")
C_VALUES = (0.1, 1.0, 10.0, 100.0)
"""Candidates for C."""
GRID = (np.arange(600) + 0.5) / 400.0
"""Midpoints of cells of [0, 1.5]; no cell is cut by an end of a class."""
DENSITIES = np.array([(GRID > 0.5), (GRID < 1.0)]) / 2.0
"""Density of each class times its prior probability; C+1 is the second."""
OVERLAP = DENSITIES.all(axis=0)
LIMIT = 10.0
"""Largest log odds that are drawn."""


def _expected(values: np.ndarray) -> float:
    """Integrate over the inputs a quantity of each class."""
    return float(np.sum(values * DENSITIES) * (GRID[1] - GRID[0]))


def _entropy(odds: np.ndarray) -> float:
    """Expected cross-entropy in nats."""
    return _expected(np.array([np.logaddexp(0.0, odds), np.logaddexp(0.0, -odds)]))


def rescaled(output: np.ndarray) -> np.ndarray:
    """Return A y + B with the smallest expected cross-entropy."""
    scale = 1.0 / float(np.abs(output).max())
    best = minimize(lambda ab: _entropy(ab[0] * scale * output + ab[1]), (1.0, 0.0))
    odds: np.ndarray = best.x[0] * scale * output + best.x[1]
    return odds


def judge(odds: np.ndarray) -> dict[str, float]:
    """Compare log odds on the grid with the truth; the error is in percent."""
    return {
        "error": 100.0 * _expected(np.array([odds > 0.0, odds <= 0.0])),
        "entropy": _entropy(odds),
        "overlap": float(np.sqrt(np.mean(odds[OVERLAP] ** 2))),
    }


def fit(folder: Path | None, model: str, seed: int) -> dict[str, Any]:
    """Fit one draw; the output is on the grid."""
    X, y = make_overlapping_uniforms(N_ROWS, random_state=seed)
    if model == "RVM":
        machine: Any = RVMClassifier(gamma=WIDTH**-2).fit(X, y)
        output = machine.decision_function(GRID[:, np.newaxis], marginalise=False)
        return judge(output) | {"output": output.round(4), "n_vectors": len(machine.relevance_)}
    cut = StratifiedKFold(5, shuffle=True, random_state=seed)
    search = GridSearchCV(SVC(gamma=WIDTH**-2), {"C": C_VALUES}, cv=cut, scoring="accuracy")
    machine = search.fit(X, y).best_estimator_
    output = machine.decision_function(GRID[:, np.newaxis])
    # the decision is the machine's own; only what is said of odds needs A and B
    found = judge(rescaled(output)) | {"error": judge(output)["error"]}
    return found | {"output": output.round(4), "n_vectors": len(machine.support_)}


def _tasks(settings: Settings, results: Results) -> list[Task]:
    n = settings.draws(N_DRAWS, quick=3)
    return [
        Task(f"{model}/{draw}", fit, (model, SEED + draw)) for model in MODELS for draw in range(n)
    ]


def _cells(results: Results, settings: Settings) -> list[Cell]:
    return []


def _tables(results: Results, settings: Settings) -> list[Table]:
    least = judge(np.where(OVERLAP, 0.0, np.where(GRID < 0.5, 1e3, -1e3)))
    columns = ("error", "entropy", "overlap", "n_vectors")
    rows = [["truth", *(number(least[name]) for name in columns[:-1]), "–"]]
    for model, label in (("RVM", "RVM"), ("SVM", "SVM, the best A and B")):
        row = [label]
        for name in columns:
            values = np.asarray(results.column(model, name), dtype=float)
            error = float(values.std(ddof=1)) / np.sqrt(len(values))
            row.append(f"{number(float(values.mean()))} ± {number(error, 2)}")
        rows.append(row)
    n = len(results.under("RVM"))
    title = f"Expectations under the true distribution, mean ± standard error over {n} draws"
    head = ["", "error %", "cross-entropy", "RMSE of log odds in [0.5, 1]", "vectors"]
    return [Table(title, head, rows)]


def _figures(results: Results, settings: Settings) -> dict[str, Figure]:
    rvm, svm = (np.asarray(results[f"{model}/0"]["output"]) for model in MODELS)
    figure, panels = make_figure(1, 1, width=6.5, height=4.0)
    axes = panels[0, 0]
    ends = np.array([0.0, 0.5, 0.5, 1.0, 1.0, 1.5])
    truth = np.array([4.0, 4.0, 0.0, 0.0, -4.0, -4.0]) * LIMIT
    axes.plot(ends, truth, color=GREY, linewidth=3.0, label="true log odds, ±∞ outside [0.5, 1]")
    axes.plot(GRID, rvm, color=COLOURS[0], linewidth=1.8, label="RVM")
    scale = 0.75 * LIMIT / float(np.abs(svm).max())
    axes.plot(GRID, scale * svm, "--", color=COLOURS[1], linewidth=1.5, label="SVM, rescaled")
    axes.axhline(0.0, color="0.85", linewidth=0.8, zorder=0)
    axes.set(xlim=(0.0, 1.5), ylim=(-LIMIT, LIMIT), xlabel="x", ylabel="output y(x), log odds")
    axes.legend(frameon=False, loc="lower left")
    return {"tipping_log_odds": figure}


EXPERIMENT = Experiment(
    source="Tipping 2001, Figure 10",
    title="outputs of classifiers and the true log odds",
    protocol=PROTOCOL,
    stages=(_tasks,),
    cells=_cells,
    figures=_figures,
    tables=_tables,
)
