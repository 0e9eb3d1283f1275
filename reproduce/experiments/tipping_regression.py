"""Section 4.4.1 of Tipping (2001): regression benchmarks with one length-scale for all features."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bench.report import Table, number
from reproduce.common.plots import COLOURS, GREY, make_figure
from reproduce.common.ratios import Ratio, compute_ratio_of_means
from reproduce.common.regression_datasets import N_DRAWS, draw
from reproduce.common.regression_fits import (
    RVM_FACTORS,
    SVM_FACTORS,
    SVM_POINTS,
    compute_r,
    cross_validate_rvm,
    cross_validate_svm,
    fit_rvm,
    fit_svm,
)
from reproduce.common.regression_table import MEAN, MEAN_OVER, SETS, Printed, read_printed
from reproduce.engine import Cell, Experiment, Kind, Results, Settings, Task

__all__ = ["EXPERIMENT", "fit", "search"]

PROTOCOL = """
Section 4.4.1 and Appendix E.1: Gaussian kernels exp(−|x − z|²/r²), 100 repetitions of each data
set.

- **sinc**: 100 points of [−10, 10], noise of standard deviation 0.1 or uniform on [−0.1, 0.1]; RMSE
  with respect to the true function at 1000 points. The published errors, such as 0.378, cannot be
  RMSEs: a constant has 0.353. We read them as ten times the RMSE, which the paper does not state;
  the published values below are divided by ten.
- **Friedman's functions**: 240 training rows with noise, 1000 test rows without. The noise of #1
  has standard deviation 1, that of #2 and #3 a third of the standard deviation of the function.
  **Boston**: 481 training rows, 25 test rows. Mean squared errors, as the magnitude of the
  published values implies.
- The draws and splits are our own and the same for both models; those of the paper are not known.
- **Features** are standardised on the training rows. The paper does not give the units of its r;
  with one r for all features, units matter for Friedman #2, #3 and Boston.
- **r**: the paper says "chosen by 5-fold cross-validation". Ours is one of 13 multiples, from 1/4
  to 16 in steps of √2, of the square root of the number of features, chosen by the squared error.
  It is the same for all repetitions of a data set: the best on average on the first five training
  sets. (For Boston these contain test rows of other splits.) The range of candidates was set after
  seeing test errors of a few draws; all values chosen for the RVM are well inside it.
- **RVM**: `RVMRegressor(kernel="rbf", gamma=r**-2)`. **SVM**: scikit-learn's `SVR`; r (6 multiples,
  1/4 to 8), C (1, 10 or 100 standard deviations of the targets) and ε (0.1 to 0.4 of them) are
  chosen jointly in the same way; that grid was set after trial fits on a few draws.
- **Mean over the SVM's**: the mean over the five data sets without Friedman #1 of the ratio of the
  RVM's value to the SVM's, as in the paper: there to Tipping's SVM, here to ours. Standard errors
  of ratios are those of paired repetitions, to first order.
- The last table has the first 25 repetitions with the next smaller and the next larger r: the
  number of vectors depends on r much more than the error does. It was added after the results were
  seen, and does not affect the verdicts.
- Learnt length-scales (η-RVM) for Friedman #1 are a separate experiment.
"""
N_SEARCHED = 5
"""Number of training sets on which r is chosen."""
N_FOLDS = 5
N_BESIDE = 25
"""Repetitions at the values of r next to the chosen one."""
MODELS = ("RVM", "SVM")
VECTORS = "vectors"


def search(
    folder: Path | None, model: str, name: str, factor: float, place: int, n_folds: int
) -> dict[str, Any]:
    """Cross-validate one r on one training set; for the SVM, with all C and epsilon."""
    split = draw(folder, name, place)
    if model == "RVM":
        return {"errors": [cross_validate_rvm(split, factor, n_folds, seed=place)]}
    return {"errors": cross_validate_svm(split, factor, SVM_POINTS, n_folds, seed=place)}


def fit(
    folder: Path | None, model: str, name: str, place: int, chosen: tuple[float, ...]
) -> dict[str, Any]:
    """Fit one repetition with the chosen r (and C and epsilon), and evaluate the test rows."""
    split = draw(folder, name, place)
    found = fit_rvm(split, *chosen) if model == "RVM" else fit_svm(split, *chosen)
    error = math.sqrt(found.error) if SETS[name].is_root else found.error
    return {"error": error, "n_vectors": found.n_vectors, "converged": found.converged}


def _factors(model: str, settings: Settings) -> Sequence[float]:
    factors = RVM_FACTORS if model == "RVM" else SVM_FACTORS
    return factors[2::3] if settings.is_quick else factors


def _searches(settings: Settings, results: Results) -> list[Task]:
    n_folds, n_searched = (2, 1) if settings.is_quick else (N_FOLDS, N_SEARCHED)
    return [
        Task(
            f"search/{model}/{name}/{factor:.3g}/{place}",
            search,
            (model, name, factor, place, n_folds),
        )
        for model in MODELS
        for name in SETS
        for factor in _factors(model, settings)
        for place in range(n_searched)
    ]


def _curve(results: Results, settings: Settings, model: str, name: str) -> np.ndarray:
    """Return mean errors of the search: a row for each r, a column for each C and epsilon."""
    keys = (f"search/{model}/{name}/{factor:.3g}" for factor in _factors(model, settings))
    return np.array([np.mean(results.column(key, "errors"), axis=0) for key in keys])


def _choice(results: Results, settings: Settings, model: str, name: str) -> tuple[float, ...]:
    """Return the best r of the search; for the SVM, with C and epsilon."""
    errors = _curve(results, settings, model, name)
    row, column = np.unravel_index(errors.argmin(), errors.shape)
    factor = _factors(model, settings)[row]
    return (factor,) if model == "RVM" else (factor, *SVM_POINTS[column])


def _beside(factor: float) -> list[float]:
    """Return the next smaller and the next larger candidate, if there is one."""
    place = RVM_FACTORS.index(factor)
    return [*RVM_FACTORS[max(place - 1, 0) : place], *RVM_FACTORS[place + 1 : place + 2]]


def _fits_beside(settings: Settings, results: Results) -> list[Task]:
    return [
        Task(f"beside/{name}/{factor:.3g}/{place}", fit, ("RVM", name, place, (factor,)))
        for name in SETS
        for factor in _beside(*_choice(results, settings, "RVM", name))
        for place in range(settings.at_most(N_BESIDE))
    ]


def _fits(settings: Settings, results: Results) -> list[Task]:
    return [
        Task(
            f"fit/{model}/{name}/{place}",
            fit,
            (model, name, place, _choice(results, settings, model, name)),
        )
        for model in MODELS
        for name in SETS
        for place in range(settings.at_most(N_DRAWS))
    ]


def _ratio(results: Results, name: str, entry: str) -> Ratio:
    """Return the ratio of the RVM's value to the SVM's."""
    ours, reference = (results.column(f"fit/{model}/{name}", entry) for model in MODELS)
    return compute_ratio_of_means(ours, reference)


def _mean_cells(results: Results, printed: Printed) -> list[Cell]:
    """Return the cells of the line with means over sets."""
    cells = []
    for column, entry, figures, kind in (
        ("error over the SVM's", "error", printed.errors, Kind.ERROR),
        ("vectors over the SVM's", "n_vectors", printed.vectors, Kind.SIZE),
    ):
        ratios = [_ratio(results, name, entry) for name in MEAN_OVER]
        error = math.hypot(*(ratio.error for ratio in ratios)) / len(ratios)
        n = len(results.under(f"fit/RVM/{MEAN_OVER[0]}"))
        cells.append(
            Cell(
                "Mean over the SVM's",
                column,
                "RVM",
                published=figures["RVM"],
                ours=float(np.mean([ratio.value for ratio in ratios])),
                standard_error=error,
                published_error=error * math.sqrt(n / N_DRAWS),
                n=n,
                kind=kind,
                unit=0.01,
            )
        )
    return cells


def _cells(results: Results, settings: Settings) -> list[Cell]:
    printed = read_printed(settings.folder)
    cells = []
    for name, (title, is_root, _, unit) in SETS.items():
        for model in MODELS:
            of, key = printed[name], f"fit/{model}/{name}"
            column = "RMSE" if is_root else "mean squared error"
            cells += [
                Cell.of(
                    title,
                    column,
                    model,
                    of.errors[model],
                    results.column(key, "error"),
                    kind=Kind.ERROR,
                    runs=N_DRAWS,
                    unit=unit,
                ),
                Cell.of(
                    title,
                    VECTORS,
                    model,
                    of.vectors[model],
                    results.column(key, "n_vectors"),
                    kind=Kind.SIZE,
                    runs=N_DRAWS,
                    unit=0.1,
                ),
            ]
    return cells + _mean_cells(results, printed[MEAN])


def _mean(values: Sequence[float]) -> str:
    array = np.asarray(values, dtype=float)
    error = array.std(ddof=1) / math.sqrt(len(array))
    return f"{number(array.mean())} ± {number(error, 2)}"


def _table_beside(results: Results, settings: Settings) -> Table:
    """Return errors and numbers of vectors at the chosen r and at those next to it."""
    rows = []
    n = settings.at_most(N_BESIDE)
    for name, (title, *_) in SETS.items():
        X = draw(settings.folder, name, 0).X
        (chosen,) = _choice(results, settings, "RVM", name)
        for factor in sorted([chosen, *_beside(chosen)]):
            is_chosen = factor == chosen
            key = f"fit/RVM/{name}" if is_chosen else f"beside/{name}/{factor:.3g}"
            texts = (_mean(results.column(key, entry)[:n]) for entry in ("error", "n_vectors"))
            mark = " (chosen)" if is_chosen else ""
            rows.append([title, number(compute_r(factor, X)) + mark, *texts])
    title = f"RVM by r, first {n} repetitions, ± standard error"
    return Table(title, ["", "r", "error", "vectors"], rows)


def _tables(results: Results, settings: Settings) -> list[Table]:
    rows = []
    for name, (title, *_) in SETS.items():
        X = draw(settings.folder, name, 0).X
        (factor,) = _choice(results, settings, "RVM", name)
        svm_factor, c, e = _choice(results, settings, "SVM", name)
        done = [results.column(f"fit/{model}/{name}", "converged") for model in MODELS]
        rows.append(
            [
                title,
                number(compute_r(factor, X)),
                number(compute_r(svm_factor, X)),
                f"{c:g}",
                f"{e:g}",
                *(f"{100 * np.mean(each):.0f}" for each in done),
            ]
        )
    head = ["", "r RVM", "r SVM", "C / sd", "ε / sd", "RVM converged %", "SVM converged %"]
    title = "Chosen by cross-validation, standardised features"
    return [Table(title, head, rows), _table_beside(results, settings)]


def _draw_ratios(
    axes: Axes, printed: Sequence[float], ours: Sequence[Ratio], places: np.ndarray
) -> None:
    """Draw published and our ratios to the SVM, a row for each data set."""
    axes.axvline(1.0, color=GREY, linewidth=1.0)
    axes.plot(printed, places - 0.12, "D", color=COLOURS[1], fillstyle="none", label="printed")
    values, errors = zip(*ours, strict=True)
    axes.errorbar(
        values,
        places + 0.12,
        xerr=2.0 * np.asarray(errors),
        fmt="o",
        color=COLOURS[0],
        capsize=2.5,
        label="ours ± 2 standard errors",
    )


def _figures(results: Results, settings: Settings) -> dict[str, Figure]:
    printed = read_printed(settings.folder)
    figure, panels = make_figure(1, 2, height=3.4, sharey=True)
    places = np.arange(len(SETS))
    for axes, entry, index, words in zip(
        panels[0], ("error", "n_vectors"), (0, 1), ("error", "number of vectors"), strict=True
    ):
        lines = [printed[name][index] for name in SETS]
        shown = [line["RVM"] / line["SVM"] for line in lines]
        _draw_ratios(axes, shown, [_ratio(results, name, entry) for name in SETS], places)
        axes.set_xlim(left=0.0)
        axes.set_xlabel(f"{words}, RVM / SVM")
    panels[0, 0].set_yticks(places, [each.title for each in SETS.values()])
    panels[0, 0].invert_yaxis()
    panels[0, 1].legend(fontsize="small")
    return {"tipping_regression": figure}


EXPERIMENT = Experiment(
    source="Tipping 2001, Section 4.4.1",
    title="regression benchmarks, one length-scale for all features",
    protocol=PROTOCOL,
    stages=(_searches, _fits, _fits_beside),
    cells=_cells,
    figures=_figures,
    tables=_tables,
)
