"""Figures 2.19 to 2.23 of Schmolck (2008): local optima of runs in random order."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.exceptions import ConvergenceWarning

from bench.report import Table, number
from relvec import SparseBayesRegressor
from relvec.bases import Basis, KernelBasis, WaveletBasis
from relvec.kernels import LinearSpline
from relvec.published import RandomOrderSolver
from reproduce.common import optima_plots as plots
from reproduce.common.published import find, load
from reproduce.common.run_statistics import (
    OVERSMOOTHED,
    Runs,
    join,
    n_unique,
    scaled_unique,
    summarise,
)
from reproduce.engine import Cell, Experiment, Kind, Results, Settings, Task

__all__ = ["EXPERIMENT", "best_of_default", "random_runs"]

PROTOCOL = """
Sections 2.6.6 and 2.6.7: many runs of algorithm 1 on the same data, which differ only in the order
of single steps (`RandomOrderSolver`, with the noise re-estimated every 10 steps as in the
algorithm). The prior is none or "BIC"; there is no intercept, and no penalty on atoms besides the
prior.

- **Sinc**, N = 64, SNR 5: sym8 wavelets with the largest number of levels, or linear splines of
  scale 3 on [−10, 10]. The thesis shows 1000 runs on one draw of the noise. Here there are 10
  draws, scaled to exactly the specified variance. Each model with splines has 1000 runs on the
  first draw and 50 on each of the others; with wavelets, where all runs end at the same optimum,
  there are 100 and 5. A draw counts as one repetition, and so does the thesis: the variation of
  runs on one draw is not the variation between draws. The smallest of 50 errors is slightly larger
  than that of 1000.
- Runs with an error above 0.05, half of that of the published oversmoothed curve, count as
  oversmoothed. Their number is per 1000 runs.
- **Unique solutions** are different sets of atoms. Their number is not proportional to the number
  of runs, so the number of the first draw is scaled by the ratio of other draws to the first one
  among the first 50 runs.
- Every run ends with joint Newton steps, so all local optima have the same accuracy; the thesis
  stopped when no log precision changed by more than 1e-6.
- **BlocksSinc**, N = 256, SNR 7: Haar wavelets and linear splines of scale 3, 512 atoms. The text
  says "spline", the list of figures "lspline"; the scale is not given. 32 runs with BIC on one
  draw, with at most 3000 steps before the Newton steps.
- **BlocksSinc without a prior**: the model grows until it has half as many atoms as samples, where
  our solver stops and reports no convergence; 4 runs of at most 1000 steps on each of 3 draws. The
  thesis gave up after 1 000 000 steps. Its range of "MSE" is above the variance of the signal, so
  it cannot be a mean; it is read as a sum over the 256 samples. The fraction of runs that do not
  converge has a binomial standard error.
- Other schedules, initialisations and caps were tried on these same draws before the settings above
  were fixed; the schedule is the published one although others agree better with the published
  values.
"""
SNR = {"sinc": 5.0, "blockssinc": 7.0}
N = {"sinc": 64, "blockssinc": 256}
N_DRAWS = 10
N_RUNS = 1000
N_OTHER = 50
CHUNK = 25
NOISE_EVERY = 10
OTHER_SCHEDULES = (20, 40)
N_SCHEDULE = 20
MAX_STEPS = {"sinc": {"flat": 10000, "bic": 10000}, "blockssinc": {"flat": 1000, "bic": 3000}}
SPLINES = {"bic": "lspline3_BIC", "flat": "lspline3_None"}
NAMES = {"bic": "BIC", "flat": "None"}
WORDS = {
    "sinc": "Sinc",
    "blockssinc": "BlocksSinc",
    "symmlet": "symmlet",
    "lspline": "lspline 3.0",
    "union": "Haar and lspline",
}
PICTURES = {
    "2_19": ("sinc", "symmlet", "bic"),
    "2_20": ("sinc", "lspline", "bic"),
    "2_22": ("sinc", "lspline", "flat"),
    "2_23": ("blockssinc", "union", "bic"),
}
SAME = 1e-6
"""Objectives closer than this are equal."""


def _basis(dictionary: str) -> Basis:
    if dictionary == "symmlet":
        return WaveletBasis("sym8", level=6)
    splines = KernelBasis(LinearSpline(3.0))
    return splines if dictionary == "lspline" else WaveletBasis("haar", level=8) + splines


def _data(folder: Path | None, signal: str, draw: int) -> tuple[np.ndarray, ...]:
    """Return inputs, truth and noisy samples."""
    n = N[signal]
    with np.load(find(folder, "schmolck_signals.npz"), allow_pickle=False) as file:
        truth, noise = file[f"{signal}_{n}"], file[f"unit_noise_{n}"][draw]
    x = np.linspace(-10.0, 10.0, n)[:, np.newaxis]
    return x, truth, truth + noise * truth.std(ddof=1) / SNR[signal]


def _fit(dictionary: str, prior: str, x: np.ndarray, y: np.ndarray, **options: Any) -> Any:
    model = SparseBayesRegressor(
        _basis(dictionary),
        prior=prior,
        fit_intercept=False,
        min_gain=0.0,
        error_bars="plain",
        calibrate=False,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # counted
        return model.set_params(**options).fit(x, y)


def _end(model: Any, x: np.ndarray, truth: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """Return the optimum of a run."""
    curve = model.predict(x)
    return {
        "objective": float(model.objective_),
        "mse": float(np.mean((curve - truth) ** 2)),
        "data_mse": float(np.mean((curve - y) ** 2)),
        "noise": float(model.noise_variance_),
        "steps": int(model.n_iter_),
        "converged": bool(model.converged_),
        "atoms": model.relevance_.tolist(),
        "log_alpha": np.round(np.log10(model.weight_precision_), 2).tolist(),
        "curve": np.round(curve, 4).tolist(),
    }


def random_runs(
    folder: Path | None,
    signal: str,
    dictionary: str,
    prior: str,
    draw: int,
    noise_every: int,
    seeds: Sequence[int],
    keeps_curves: bool,
) -> dict[str, Any]:
    """Run once for each seed; return the optima by quantity, one entry for each run."""
    x, truth, y = _data(folder, signal, draw)
    ends = []
    for seed in seeds:
        solver = RandomOrderSolver(
            noise_every=noise_every, random_state=seed, max_iter=MAX_STEPS[signal][prior]
        )
        ends.append(_end(_fit(dictionary, prior, x, y, solver=solver), x, truth, y))
    dropped = () if keeps_curves else ("curve", "log_alpha")
    return {name: [end[name] for end in ends] for name in ends[0] if name not in dropped}


def best_of_default(
    folder: Path | None, signal: str, dictionary: str, prior: str, draw: int
) -> dict[str, Any]:
    """Fit once with the default solver."""
    x, truth, y = _data(folder, signal, draw)
    return _end(_fit(dictionary, prior, x, y), x, truth, y)


def _plan(settings: Settings) -> list[tuple[str, str, str, int, int, int]]:
    """Return signal, dictionary, prior, draw, steps between noise estimates, number of runs."""
    n_draws = settings.at_most(N_DRAWS)
    first, other = (4, 2) if settings.is_quick else (N_RUNS, N_OTHER)
    found = []
    for draw in range(n_draws):
        n = other if draw else first
        found += [("sinc", "lspline", prior, draw, NOISE_EVERY, n) for prior in SPLINES]
        found.append(("sinc", "symmlet", "bic", draw, NOISE_EVERY, max(n // 10, 2)))
        schedule = min(N_SCHEDULE, other)
        for steps in OTHER_SCHEDULES:
            found += [("sinc", "lspline", prior, draw, steps, schedule) for prior in SPLINES]
    n_mixed = 1 if settings.is_quick else 32
    found.append(("blockssinc", "union", "bic", 0, NOISE_EVERY, n_mixed))
    n_flat = 1 if settings.is_quick else 4
    found += [
        ("blockssinc", "union", "flat", draw, NOISE_EVERY, n_flat)
        for draw in range(min(3, n_draws))
    ]
    return found


def _title(signal: str, dictionary: str, prior: str) -> str:
    return f"{WORDS[signal]}, {WORDS[dictionary]}, {NAMES[prior]}"


def _key(signal: str, dictionary: str, prior: str, draw: int, steps: int) -> str:
    return f"{signal}/{dictionary}/{prior}/every{steps}/draw{draw}"


def _tasks(settings: Settings, results: Results) -> list[Task]:
    tasks = []
    for *what, n in _plan(settings):
        signal, dictionary, prior, draw, steps = what
        size = CHUNK if signal == "sinc" else 2
        shown = draw == 0 and steps == NOISE_EVERY
        for start in range(0, n, size):
            seeds = tuple(range(start, min(start + size, n)))
            tasks.append(Task(f"{_key(*what)}/{start}", random_runs, (*what, seeds, shown)))
        if steps == NOISE_EVERY:
            task = Task(
                f"default/{_key(*what)}", best_of_default, (signal, dictionary, prior, draw)
            )
            tasks.append(task)
    return tasks


def _draws(
    results: Results, settings: Settings, *which: str, steps: int = NOISE_EVERY
) -> list[Runs]:
    """Return the runs on each draw."""
    return [
        join(results.under(_key(*what)))
        for *what, _ in _plan(settings)
        if tuple(what[:3]) == which and what[4] == steps
    ]


COLUMNS = {
    "min_MSE": ("smallest MSE", Kind.ERROR),
    "min_data_MSE": ("smallest MSE, to the data", Kind.PLAIN),
    "mean_MSE": ("mean MSE", Kind.ERROR),
    "max_MSE": ("largest MSE", Kind.ERROR),
    "max_data_MSE": ("largest MSE, to the data", Kind.PLAIN),
    "oversmoothed_runs": ("oversmoothed of 1000", Kind.ERROR),
    "mean_MSE_without": ("mean MSE of the others", Kind.ERROR),
}


def _cells(results: Results, settings: Settings) -> list[Cell]:
    other = load(settings.folder, "schmolck", "other")
    printed, mixed = other["sinc_local_minima"], other["blockssinc_local_minima"]
    line = _title("sinc", "symmlet", "bic")
    runs = _draws(results, settings, "sinc", "symmlet", "bic")
    values = {"MSE": "mse", "data_MSE": "data_mse"}
    cells = []
    for name, entry in values.items():
        column, kind = ("MSE", Kind.ERROR) if name == "MSE" else ("MSE to the data", Kind.PLAIN)
        ours = [float(np.mean(each[entry])) for each in runs]
        wanted = printed["symmlet_BIC"][name]
        cells.append(Cell.of(line, column, "sRVM", wanted, ours, kind=kind, runs=1))
    sizes = [float(np.mean([len(atoms) for atoms in each["atoms"]])) for each in runs]
    wanted = printed["symmlet_BIC"]["S"]
    cells.append(Cell.of(line, "S", "sRVM", wanted, sizes, kind=Kind.SIZE, runs=1))
    for prior, name in SPLINES.items():
        model, row = ("sRVM" if prior == "bic" else "RVM"), printed[name]
        line = _title("sinc", "lspline", prior)
        draws = _draws(results, settings, "sinc", "lspline", prior)
        found = [summarise(runs) for runs in draws]
        for entry, (column, kind) in COLUMNS.items():
            if entry in row:
                ours = [each[entry] for each in found if np.isfinite(each[entry])]
                unit = 1.0 if entry == "oversmoothed_runs" else 1e-4
                cells.append(
                    Cell.of(line, column, model, row[entry], ours, kind=kind, runs=1, unit=unit)
                )
        ours = scaled_unique(draws)
        wanted = row["unique_solutions"]
        column = "unique solutions"
        cells.append(Cell.of(line, column, model, wanted, ours, kind=Kind.PLAIN, runs=1, unit=1.0))
    return cells + _mixed_cells(_draws(results, settings, "blockssinc", "union", "flat"), mixed)


def _share_error(n_found: int, n: int) -> float:
    """Return the standard error of a fraction, which is not zero at 0 and 1.

    Two successes and two failures are added (Agresti and Coull, 1998).
    """
    share = (n_found + 2) / (n + 4)
    return math.sqrt(share * (1.0 - share) / (n + 4))


def _mixed_cells(draws: Sequence[Runs], printed: dict[str, Any]) -> list[Cell]:
    """Return the cells of the union of two bases without a prior."""
    line, n = _title("blockssinc", "union", "flat"), N["blockssinc"]
    failed = ~np.concatenate([np.asarray(runs["converged"], dtype=bool) for runs in draws])
    wanted = printed["runs"] - printed["None_converged"]
    cells = [
        Cell(
            line,
            "runs not converged",
            "RVM",
            published=wanted,
            ours=printed["runs"] * float(failed.mean()),
            standard_error=printed["runs"] * _share_error(int(failed.sum()), len(failed)),
            published_error=printed["runs"] * _share_error(wanted, printed["runs"]),
            n=len(failed),
            kind=Kind.ERROR,
        )
    ]
    ends = zip(("smallest", "largest"), printed["None_MSE_range"], (np.min, np.max), strict=True)
    for word, wanted, of in ends:
        ours = [n * float(of(runs["mse"])) for runs in draws]
        column = f"{word} total squared error"
        cells.append(Cell.of(line, column, "RVM", wanted, ours, kind=Kind.PLAIN, runs=1))
    return cells


def _tables(results: Results, settings: Settings) -> list[Table]:
    return [_default_table(results, settings), _schedule_table(results, settings)]


def _default_table(results: Results, settings: Settings) -> Table:
    """Compare the default solver with the best of all random runs."""
    groups: dict[tuple[str, str, str], list[tuple[dict[str, Any], Runs]]] = {}
    for *what, _ in _plan(settings):
        if what[4] == NOISE_EVERY:
            pair = (results[f"default/{_key(*what)}"], join(results.under(_key(*what))))
            groups.setdefault((what[0], what[1], what[2]), []).append(pair)
    rows = []
    for (signal, dictionary, prior), pairs in groups.items():
        gaps = [ours["objective"] - max(runs["objective"]) for ours, runs in pairs]
        medians = [np.median(runs["objective"]) - max(runs["objective"]) for _, runs in pairs]
        rows.append(
            [
                _title(signal, dictionary, prior),
                f"{sum(gap > -SAME for gap in gaps)} of {len(gaps)}",
                f"{min(gaps):+.3f}",
                f"{max(gaps):+.3f}",
                f"{min(medians):+.1f}",
                f"{n_unique(pairs[0][1]['atoms'])} of {len(pairs[0][1]['atoms'])}",
                number(float(np.mean([ours["mse"] for ours, _ in pairs]))),
                number(float(np.mean([len(ours["atoms"]) for ours, _ in pairs]))),
                str(sum(ours["mse"] > OVERSMOOTHED for ours, _ in pairs)),
            ]
        )
    head = ["", "no run better", "smallest", "largest", "median run, smallest"]
    head += ["unique solutions", "MSE", "S", "oversmoothed"]
    title = (
        "The default solver and the best of all random runs on each draw, difference in nats; "
        "unique solutions on the first draw; error, size and failures of the default solver"
    )
    return Table(title, head, rows)


def _schedule_table(results: Results, settings: Settings) -> Table:
    """Tabulate the fraction of oversmoothed runs by the interval between noise estimates."""
    rows = []
    for prior in SPLINES:
        for steps in (NOISE_EVERY, *OTHER_SCHEDULES):
            draws = _draws(results, settings, "sinc", "lspline", prior, steps=steps)
            found = [summarise(runs) for runs in draws]
            cells = [_title("sinc", "lspline", prior), str(steps)]
            for entry in ("oversmoothed_runs", "mean_MSE", "mean_MSE_without"):
                values = np.array([each[entry] for each in found])
                cells.append(f"{number(values.mean())} ± {number(values.std(ddof=1), 2)}")
            rows.append(cells)
    title = "Oversmoothed runs by the interval between noise estimates (± standard error of draws)"
    head = ["", "steps between estimates", "oversmoothed of 1000", "mean MSE", "of the others"]
    return Table(title, head, rows)


def _figures(results: Results, settings: Settings) -> dict[str, Figure]:
    shown = {}
    for picture, (signal, dictionary, prior) in PICTURES.items():
        runs = join(results.under(_key(signal, dictionary, prior, 0, NOISE_EVERY)))
        x, truth, y = _data(settings.folder, signal, 0)
        n_atoms = N[signal] * (2 if dictionary == "union" else 1)
        ends = plots.Ends(x[:, 0], truth, y, runs, OVERSMOOTHED, n_atoms)
        figure = plots.draw_ends(ends, _title(signal, dictionary, prior), prior == "bic")
        shown[f"schmolck_local_optima_{picture}"] = figure
        if picture == "2_20":
            shown["schmolck_local_optima_2_21"] = plots.draw_sorted(ends)
    return shown


EXPERIMENT = Experiment(
    source="Schmolck 2008, Figures 2.19 to 2.23",
    title="local optima of runs in random order",
    protocol=PROTOCOL,
    stages=(_tasks,),
    cells=_cells,
    figures=_figures,
    tables=_tables,
)
