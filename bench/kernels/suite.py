"""The suite of kernel search: run its parts, keep their records, make tables and a page."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.accuracy.store import Store
from bench.classification.problems import VARIABLE, folder
from bench.kernels.methods import METHODS, NAMES, methods_of
from bench.kernels.problems import FILE, PARTS
from bench.kernels.tabulate import tables
from bench.report import README
from bench.runner import Record, run_worker

__all__ = [
    "DEFAULT_PARTS",
    "NAMES",
    "PACKAGES",
    "PAGE",
    "PARTS",
    "PROBLEMS",
    "run_part",
    "tables",
    "write_page",
]

PACKAGES = ("relvec", "scikit-learn", "statsmodels", "numpy", "scipy")
PAGE = README.with_name("KERNELS.md")
RESULTS = README.with_name("results")
PROBLEMS = tuple(problem for problems in PARTS.values() for problem in problems)
DEFAULT_PARTS = tuple(PARTS)
TITLES = {
    "series": "The last tenth of eight series",
    "structure": "Known structures",
    "regression": "Published sets of several features",
}
REPEATS = {"series": 1, "structure": 10, "regression": 5}
FIRST_DEVELOPMENT = {"series": 0, "structure": 0, "regression": 10}
"""First seeds, or splits, on which choices are made."""


def run_part(
    name: str,
    seed: int,
    repeats: int | None,
    quick: bool,
    *,
    methods: Sequence[str] | None = None,
    problems: Sequence[str] | None = None,
    is_development: bool = False,
) -> Iterator[Record]:
    """Yield the records of a part as they come, then those that earlier runs kept.

    No names of methods, instead of None, give only what is kept.
    """
    store = Store(folder_of(quick, is_development))
    measured = set()
    if is_development:
        seed = FIRST_DEVELOPMENT[name]
    elif name != "structure":  # splits are numbered
        seed = 0
    n_draws = 1 if name == "series" else repeats or (1 if quick else REPEATS[name])
    for problem, method in _choose(name, methods, problems, quick):
        job = {"part": name, "problem": problem, "method": method}
        draws = {"seeds": list(range(seed, seed + n_draws)), "is_development": is_development}
        record = run_worker("bench.kernels.worker", {**job, **draws})
        measured.add((problem, method))
        if record["status"] == "ok":
            store.write(record)
            record = store.read(**job)
        note = "" if record["status"] == "ok" else f": {record['error']}"
        print(f"kernels {name} {problem} {method}{note}", file=sys.stderr, flush=True)
        yield record
    for record in store.records():
        if record["part"] == name and (record["problem"], record["method"]) not in measured:
            yield record


def folder_of(quick: bool, is_development: bool) -> Path:
    """Return the folder of records."""
    kind = "-quick" if quick else ""
    return RESULTS / f"kernels{'-development' if is_development else ''}{kind}"


def _choose(
    name: str, methods: Sequence[str] | None, problems: Sequence[str] | None, quick: bool
) -> Iterator[tuple[str, str]]:
    """Yield problems and methods, leaving out, with a message, those that are not available."""
    if methods is not None and not methods:
        return
    chosen = [each for each in PARTS[name] if problems is None or each in problems]
    for problem in chosen[:2] if quick else chosen:
        file = {"series": FILE, "regression": f"{problem}.npz"}.get(name)
        where = folder()
        if file is not None and (where is None or not (where / file).is_file()):
            needed = f"it needs {file} in the folder of --data or {VARIABLE}"
            print(f"{name} {problem} left out: {needed}", file=sys.stderr)
            continue
        for method in methods_of(name, problem):
            if method not in (methods or NAMES):
                continue
            if METHODS[method].is_installed:
                yield problem, method
            else:
                print(f"{method} left out: not installed", file=sys.stderr)


def write_page(texts: dict[str, str], facts: str, path: Path = PAGE) -> None:
    """Write the page of the results."""
    parts = [INTRODUCTION, facts]
    parts += [f"## {TITLES[name]}\n\n{text}" for name, text in texts.items()]
    path.write_text("\n\n".join(parts).rstrip() + "\n", encoding="utf-8")


INTRODUCTION = """\
# Kernel search: `KernelSearchRegressor` against its peers

`python -m bench kernels --data FOLDER` fits `KernelSearchRegressor` and its peers to the same rows.
**relvec** is `KernelSearchRegressor()` at its defaults, **relvec interpretable** has
`mode="interpretable"` (the single best structure), **relvec fast** has `effort="fast"`.

- **The last tenth of eight series**: methods are fitted to the first 90 % and predict the rest
  (Lloyd et al. 2014). **relative RMSE** is the RMSE divided by the smallest of the nine methods
  that they compare; a value below one is better than all nine. Two of these, ABCD-accuracy and
  ABCD-interpretable, are automated kernel construction; their columns are the published ones, all
  else is measured here. **coverage** is the share of new values in 95 % intervals. **MLPD** is the
  mean log predictive density of new values, in units of the standard deviation of the training
  values; higher is better. After a logarithm predictions are medians.
- With `--development` methods are fitted to the first 80 % and predict the next 10 %; the last 10 %
  is not used. Errors are then relative to the best of the peers. Those results are not here.
- **GP smooth**: scikit-learn, a squared exponential and noise. **GP periodic**: a squared
  exponential, the product of a squared exponential with a periodic kernel, and noise. Time and
  targets are standardised; targets or their logarithms, whichever have the higher evidence; the
  period begins at the season of the calendar (month of the year, the eleven years of the solar
  cycle, day and week of internet traffic; wages: the strongest peak of the periodogram), and
  hyper-parameters are the best of five local optima on at most 500 rows; predictions are from all.
- **linear**: least squares. **seasonal naive**: the last season once more; of wages, whose
  increments have no season, the last value. **ETS**: exponential smoothing of statsmodels,
  all additive and multiplicative models that Hyndman's `ets` considers, the corrected AIC decides;
  intervals are those of 1000 simulated paths, and their mean and standard deviation make a Gaussian
  density. **SARIMAX** of statsmodels: 12 seasonal orders with one difference of each kind (or up to
  32 with one difference, for series without a fixed season), of targets or logarithms; AIC decides.
- Methods on regular grids know the calendar, which relvec is not told. mauna lacks five months.
  internet has 61 % of its hours; at New Year its clock goes back by a day, so that some times have
  two values, whose mean is taken. SARIMAX treats what is absent as missing; ETS and seasonal naive
  get linear interpolation. All are judged at the times of the test rows. Of the two seasons of
  internet, ETS has the day, seasonal naive the week, and SARIMAX has both as six harmonics each
  with ARIMA errors of three orders.
- **Known structures**: 100 times with noise of 0.2 standard deviations of the function (see
  `relvec.datasets.make_series`), and Friedman's first function (240 rows, ten features, noise one).
  **exact** counts the seeds on which the best structure is the true one, whatever the order of its
  terms. **RMSE** is that to the function in units of its standard deviation (of the noise, where
  that is one): in the range of the data, and over the next 40 %. **coverage** is the share of the
  function over the next 40 % (Friedman: at new inputs) in 95 % bands without noise. Medians over
  seeds; coverage and CPU seconds are means.
- **Published sets of several features**: the first five published splits. **RVMRegressor** at its
  defaults; **GP ARD** and **boosting** (HistGradientBoosting tuned by cross-validation, with a
  Gaussian of its cross-validated residuals) as on the page of [accuracy](ACCURACY.md). Standard
  errors over splits are in parentheses.
- CPU seconds are those of the fit with all its choices, on one thread, processes that it starts
  included."""
