"""Figures 1 and 2 of Tipping (2001): sinc by linear splines, without and with noise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVR

from relvec import RVMRegressor
from relvec.kernels import LinearSpline
from reproduce.engine import Cell, Experiment, Kind, Results, Settings, Task
from reproduce.pictures import COLOURS, draw_line_fit, sheet
from reproduce.published import find, load

__all__ = ["EXPERIMENT", "fit_clean", "fit_noisy"]

PROTOCOL = """
Section 4.1: 100 points of [−10, 10] and the linear spline kernel (29).

- **Figure 1**: no noise; σ is fixed at 0.01, and so is ε of the support vector machine, whose C is
  not printed and is 1000 here. Errors are the largest at 1000 points.
- **Figure 2**: noise uniform on [−0.2, 0.2], one draw in the paper, 100 here. Errors are root mean
  squares to the truth at 1000 points. C and ε of the support vector machine are chosen by 5-fold
  cross-validation on a grid; the paper's grid is not printed.
- Ours is `RVMRegressor(kernel=LinearSpline())`.
"""
EXAMPLES = ("tipping2001", "examples")
N_DRAWS = 100
MODELS = ("RVM", "SVM")
SVM_GRID = {"C": (0.1, 0.3, 1.0, 3.0, 10.0, 100.0), "epsilon": (0.03, 0.06, 0.1, 0.13, 0.16, 0.2)}
HARD = 1000.0
"""C of a machine that has to follow data without noise."""


def _read(folder: Path | None) -> dict[str, np.ndarray]:
    with np.load(find(folder, "tipping_sinc.npz"), allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


def _judge(model: str, data: dict[str, np.ndarray], y: np.ndarray, options: Any) -> dict[str, Any]:
    """Fit and compare with the truth; `options` are those of the model."""
    x, x_test = data["x"][:, np.newaxis], data["x_test"][:, np.newaxis]
    kernel = LinearSpline()
    if model == "RVM":
        fitted = RVMRegressor(kernel=kernel, **options).fit(x, y)
        curve, vectors = fitted.predict(x_test), fitted.relevance_
    else:
        machine = SVR(kernel="precomputed", **options)
        if not options:
            machine = GridSearchCV(machine, SVM_GRID, cv=5, scoring="neg_mean_squared_error")
        machine.fit(kernel(x), y)
        curve = machine.predict(kernel(x_test, x))
        vectors = getattr(machine, "best_estimator_", machine).support_
    difference = curve - data["f_test"]
    return {
        "largest": float(np.abs(difference).max()),
        "rms": float(np.sqrt(np.mean(difference**2))),
        "n_vectors": len(vectors),
        "vectors": np.asarray(vectors),
        "curve": curve,
    }


def fit_clean(folder: Path | None, model: str, sigma: float) -> dict[str, Any]:
    """Fit data without noise."""
    data = _read(folder)
    options = {"noise_variance": sigma**2} if model == "RVM" else {"epsilon": sigma, "C": HARD}
    return _judge(model, data, data["f"], options)


def fit_noisy(folder: Path | None, model: str, draw: int) -> dict[str, Any]:
    """Fit one draw of the noise."""
    data = _read(folder)
    return _judge(model, data, data["f"] + data["noise_unif_fig2"][draw], {})


def _tasks(settings: Settings, results: Results) -> list[Task]:
    sigma = load(settings.folder, *EXAMPLES)["sinc_noise_free"]["sigma_fixed"]
    n = settings.at_most(N_DRAWS)
    tasks = [Task(f"clean/{model}", fit_clean, (model, sigma)) for model in MODELS]
    return tasks + [
        Task(f"noisy/{model}/{draw}", fit_noisy, (model, draw))
        for model in MODELS
        for draw in range(n)
    ]


def _cells(results: Results, settings: Settings) -> list[Cell]:
    printed = load(settings.folder, *EXAMPLES)
    clean, noisy = printed["sinc_noise_free"], printed["sinc_unif_02"]
    cells = []
    for model in MODELS:
        name = model.lower()
        ours = [results[f"clean/{model}"]]
        cells += [
            Cell.of(
                "Figure 1, no noise",
                "largest error",
                model,
                clean[f"{name}_max_error"],
                [each["largest"] for each in ours],
                kind=Kind.ERROR,
                runs=1,
                unit=1e-4,
            ),
            Cell.of(
                "Figure 1, no noise",
                "vectors",
                model,
                clean[f"{name}_vectors"],
                [each["n_vectors"] for each in ours],
                kind=Kind.SIZE,
                runs=1,
            ),
        ]
    for model in MODELS:
        name = model.lower()
        for column, entry, kind in (
            ("rms", "rms", Kind.ERROR),
            ("vectors", "n_vectors", Kind.SIZE),
        ):
            cells.append(
                Cell.of(
                    "Figure 2, uniform noise",
                    column,
                    model,
                    noisy[f"{name}_{column}"],
                    results.column(f"noisy/{model}", entry),
                    kind=kind,
                    runs=1,
                )
            )
    return cells


def _figures(results: Results, settings: Settings) -> dict[str, Figure]:
    data = _read(settings.folder)
    figure, panels = sheet(2, 2, sharex=True)
    noisy = data["f"] + data["noise_unif_fig2"][0]
    for row, (key, y) in zip(panels, (("clean/{}", data["f"]), ("noisy/{}/0", noisy)), strict=True):
        for axes, model, colour in zip(row, ("SVM", "RVM"), COLOURS[1::-1], strict=True):
            fit = results[key.format(model)]
            draw_line_fit(
                axes,
                truth=(data["x_test"], data["f_test"]),
                data=(data["x"], y),
                curve=(data["x_test"], np.asarray(fit["curve"])),
                vectors=fit["vectors"],
                title=f"{model}: {fit['n_vectors']} vectors, rms {fit['rms']:.3g}",
                colour=colour,
            )
    return {"tipping_sinc": figure}


EXPERIMENT = Experiment(
    source="Tipping 2001, Figures 1 and 2",
    title="sinc by linear splines, without and with noise",
    protocol=PROTOCOL,
    stages=(_tasks,),
    cells=_cells,
    figures=_figures,
)
