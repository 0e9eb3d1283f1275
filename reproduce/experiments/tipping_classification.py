"""Section 4.4.2 of Tipping (2001): errors and vectors of classifiers on eight benchmarks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure

from bench.report import Table, number
from reproduce.common import digits
from reproduce.common.class_datasets import count_splits
from reproduce.common.classification_fits import C_VALUES, FACTORS, cross_validate_r, fit_split
from reproduce.common.plots import COLOURS, GREY, make_figure
from reproduce.common.published import load
from reproduce.common.ratios import Sample, compute_ratio
from reproduce.engine import Cell, Experiment, Kind, Results, Settings, Task

__all__ = ["EXPERIMENT", "MAIN", "RULES", "Rule", "choose"]

PROTOCOL = """
Section 4.4.2: error rates and numbers of vectors with Gaussian kernels exp(−|x − z|²/r²), r chosen
by 5-fold cross-validation. Pima is one split, the six data sets of the IDA collection are their
realisations 1 to 10, and the digits are ten binary models of one digit against the rest: all as in
the paper.

- Features are standardised on the training rows, except the pixels of the digits, which are between
  −1 and 1.
- r is one of 11 multiples, from 1/4 to 8 in steps of √2, of the square root of the summed
  variances. It minimises the log loss, which is smoother than the error rate. As is usual for these
  data sets, r is the same for all ten splits: the best on average on the first five training sets.
  These contain test rows of other splits; the second table has r chosen for each split, and chosen
  by the error rate. The paper says only "5-fold cross-validation".
- The digits are smoothed with a Gaussian of 0.75 pixels, and vectors are summed over the ten binary
  models. The paper states neither; its digits came from Schölkopf et al. (1999), whose images, as
  far as we know, were smoothed in this way. Cross-validation on training rows prefers smoothing.
  The published number of support vectors fits two readings: smoothed digits at r² = 128 and C = 10,
  summed over models, or our copy without smoothing, with vectors counted once if several models use
  them. Before this was decided we had seen test error rates of support vector machines at 17
  settings, and of the RVM on digits without smoothing; those of the RVM on smoothed digits only
  afterwards. The last table has all of them.
- r of the digits is chosen on 1500 random training rows; the predicted digit is that of the binary
  model with the highest probability.
- `RVMClassifier()` has its defaults, the same for all data sets. Tipping's model has a bias; ours
  fits an intercept only if kernels are wide, and otherwise sets it from the class frequencies. This
  rule was chosen with error rates on some of these data sets in view.
- C and r of the support vector machine are chosen by the same cross-validation of the error rate,
  on a grid.
- Splits are those of the paper, in training and in test rows. So the sampling of rows is the same
  in both, and published values have no standard error of their own. Ours have the standard error of
  the mean over splits. A single split has the binomial standard error of its test error rate, and
  none for its number of vectors.
- The normalised mean is the mean ratio to the support vector machine: ours to our SVM.
"""
TABLE = ("tipping2001", "classification")
SUMMARY = "normalised_mean"
UNIT, MEAN_UNIT = 0.1, 0.01
"""Units of the last published digits, of sets and of the mean over them."""
N_SPLITS = 10
N_CHOOSING = 5
"""Training sets on which a common r is chosen, as is usual for the IDA data sets."""
MODELS = ("RVM", "SVM")
SVM_FACTORS = FACTORS[::2]
QUICK_FACTORS: tuple[float, ...] = (2.0,)


class Rule(NamedTuple):
    """How r is chosen by cross-validation."""

    criterion: str
    is_common: bool
    """One r for all splits, by the mean over the first of them; otherwise one for each split."""

    @property
    def label(self) -> str:
        """Name shown in tables."""
        what = self.criterion.replace("_", " ")
        return f"{what}, {'common' if self.is_common else 'each split'}"


MAIN = Rule("log_loss", is_common=True)
RULES = (MAIN, Rule("error", True), Rule("log_loss", False), Rule("error", False))


class Sizes(NamedTuple):
    """Size of the experiment."""

    names: tuple[str, ...]
    """Two-class data sets."""
    n_splits: dict[str, int]
    factors: dict[str, tuple[float, ...]]
    """Candidates for r, largest first, by model."""


def _printed(settings: Settings) -> dict[str, dict[str, float]]:
    """Return the published values of each data set, by "RVM error" and the like."""
    return {
        name: {"SVM error": svm, "RVM error": rvm, "SVM n_vectors": n_svm, "RVM n_vectors": n_rvm}
        for name, _, _, svm, rvm, n_svm, n_rvm in load(settings.folder, *TABLE)["rows"]
    }


def _sizes(settings: Settings) -> Sizes:
    names = tuple(name for name in _printed(settings) if name not in (SUMMARY, digits.NAME))
    counts = {name: count_splits(settings.folder, name) for name in names}
    wide: dict[str, tuple[float, ...]] = {"RVM": FACTORS[::-1], "SVM": SVM_FACTORS[::-1]}
    if settings.is_quick:
        wide = dict.fromkeys(MODELS, QUICK_FACTORS[::-1])
    most = settings.at_most(N_SPLITS)
    return Sizes(names, {name: min(count, most) for name, count in counts.items()}, wide)


def _searches(settings: Settings, results: Results) -> list[Task]:
    sizes = _sizes(settings)
    tasks = [
        Task(
            f"search/{model}/{name}/{place}/{factor:.3g}",
            cross_validate_r,
            (model, name, place, factor),
        )
        for model in MODELS
        for name in sizes.names
        for place in range(sizes.n_splits[name])
        # support vector machines have no table of other choices, which all splits take part in
        if model == "RVM" or place < N_CHOOSING
        for factor in sizes.factors[model]
    ]
    return tasks + digits.search_tasks(settings)


def choose(values: np.ndarray, is_common: bool) -> list[int]:
    """Return which candidate each split gets.

    Parameters
    ----------
    values : ndarray of shape (n_splits, n_candidates)
        What cross-validation on the training part of each split finds, to be small.
    is_common : bool
        Whether all splits get the one that is best on average on the first of them.
    """
    if is_common:
        return [int(values[:N_CHOOSING].mean(axis=0).argmin())] * len(values)
    return [int(best) for best in values.argmin(axis=1)]


def _factors(results: Results, sizes: Sizes, name: str, rule: Rule) -> list[float]:
    """Return the factor of r of the RVM on each split."""
    values = [
        results.column(f"search/RVM/{name}/{place}", rule.criterion)
        for place in range(sizes.n_splits[name])
    ]
    return [sizes.factors["RVM"][best] for best in choose(np.array(values), rule.is_common)]


def _svm_choice(results: Results, sizes: Sizes, name: str) -> tuple[float, float]:
    """Return the factor of r, and C, of the SVM on a data set."""
    n = min(sizes.n_splits[name], N_CHOOSING)
    values = [
        np.ravel(results.column(f"search/SVM/{name}/{place}", "errors")) for place in range(n)
    ]
    best = choose(np.array(values), is_common=True)[0]
    return sizes.factors["SVM"][best // len(C_VALUES)], C_VALUES[best % len(C_VALUES)]


def _fits(settings: Settings, results: Results) -> list[Task]:
    sizes = _sizes(settings)
    tasks: dict[str, Task] = {}
    for name in sizes.names:
        for rule in RULES:
            for place, factor in enumerate(_factors(results, sizes, name, rule)):
                key = f"fit/RVM/{name}/{place}/{factor:.3g}"
                tasks[key] = Task(key, fit_split, ("RVM", name, place, factor, None))
        choice = _svm_choice(results, sizes, name)
        for place in range(sizes.n_splits[name]):
            key = f"fit/SVM/{name}/{place}"
            tasks[key] = Task(key, fit_split, ("SVM", name, place, *choice))
    return [*tasks.values(), *digits.fit_tasks(settings, results)]


def _sample(values: Sequence[dict[str, Any]]) -> Sample:
    error, vectors = (np.array([each[name] for each in values]) for name in Sample._fields[:2])
    return Sample(error, vectors, values[0]["n_test"])


def _by_rule(results: Results, sizes: Sizes, name: str, rule: Rule) -> list[dict[str, Any]]:
    factors = enumerate(_factors(results, sizes, name, rule))
    return [results[f"fit/RVM/{name}/{place}/{factor:.3g}"] for place, factor in factors]


def _samples(results: Results, settings: Settings) -> dict[str, dict[str, Sample]]:
    """Return the results of both models on each data set, in the order of the table."""
    sizes = _sizes(settings)
    found = {}
    for name in _printed(settings):
        if name == digits.NAME:
            both = {model: digits.combine(settings.folder, results, model) for model in MODELS}
            found[name] = {model: _sample([each._asdict()]) for model, each in both.items()}
        elif name != SUMMARY:
            found[name] = {
                "RVM": _sample(_by_rule(results, sizes, name, MAIN)),
                "SVM": _sample(results.under(f"fit/SVM/{name}")),
            }
    return found


def _label(name: str) -> str:
    if name == digits.NAME:
        return "U.S.P.S."
    return name.removeprefix("ida_").replace("_", " ").capitalize()


COLUMNS = (("error", "error %", Kind.ERROR), ("n_vectors", "vectors", Kind.SIZE))


def _cells(results: Results, settings: Settings) -> list[Cell]:
    printed, samples = _printed(settings), _samples(results, settings)
    cells = [
        Cell(
            line=_label(name),
            column=column,
            model=model,
            published=printed[name][f"{model} {what}"],
            ours=by_model[model].mean(what),
            standard_error=by_model[model].standard_error(what),
            published_error=0.0,
            n=len(by_model[model].error),
            kind=kind,
            unit=UNIT,
        )
        for name, by_model in samples.items()
        for model in MODELS
        for what, column, kind in COLUMNS
    ]
    for what, column, kind in COLUMNS:
        pairs = [compute_ratio(both["RVM"], both["SVM"], what) for both in samples.values()]
        ratios, errors = np.array(pairs).T
        cells.append(
            Cell(
                line="Normalised mean",
                column=f"{column.removesuffix(' %')} over SVM's",
                model="RVM",
                published=printed[SUMMARY][f"RVM {what}"],
                ours=float(ratios.mean()),
                standard_error=float(np.linalg.norm(errors)) / len(errors),
                published_error=0.0,
                n=len(ratios),
                kind=kind,
                unit=MEAN_UNIT,
            )
        )
    return cells


def _tables(results: Results, settings: Settings) -> list[Table]:
    sizes = _sizes(settings)
    rows = []
    for name in sizes.names:
        row = [_label(name)]
        for rule in RULES:
            values = _by_rule(results, sizes, name, rule)
            sample = _sample(values)
            if rule == MAIN:
                row.append(number(float(np.mean([each["r"] for each in values])), 2))
            error = f"{sample.mean('error'):.2f} ± {number(sample.standard_error('error'), 2)}"
            row.append(f"{error}; {number(sample.mean('n_vectors'))}")
        rows.append(row)
    title = (
        "RVM: r by the first rule; error % and vectors by the criterion of cross-validation, "
        f"averaged over the first {N_CHOOSING} training sets or for each"
    )
    choices = Table(title, ["", "r", *(rule.label for rule in RULES)], rows)
    return [choices, digits.table(settings.folder, results, settings)]


def _figures(results: Results, settings: Settings) -> dict[str, Figure]:
    printed, samples = _printed(settings), _samples(results, settings)
    figure, panels = make_figure(1, 2, width=4.5, height=3.6, sharey=True)
    places = np.arange(len(samples))[::-1]
    for axes, (what, column, _) in zip(panels[0], COLUMNS, strict=True):
        pairs = [compute_ratio(both["RVM"], both["SVM"], what) for both in samples.values()]
        ratios, errors = np.array(pairs).T
        old = [printed[name][f"RVM {what}"] / printed[name][f"SVM {what}"] for name in samples]
        axes.axvline(1.0, color=GREY, linewidth=1.0)
        axes.plot(old, places + 0.12, "D", color="0.2", fillstyle="none", label="printed")
        axes.errorbar(
            ratios,
            places - 0.12,
            xerr=2.0 * errors,
            fmt="o",
            color=COLOURS[0],
            label="ours, ± 2 se",
        )
        axes.set_xlabel(f"{column.removesuffix(' %')}: RVM over SVM")
        axes.grid(axis="y", color="0.92")
    panels[0, 1].set_xscale("log")
    panels[0, 0].set_yticks(places, [_label(name) for name in samples])
    panels[0, 0].legend(fontsize="small")
    return {"tipping_classification": figure}


EXPERIMENT = Experiment(
    source="Tipping 2001, section 4.4.2",
    title="classification benchmarks, error rates and numbers of vectors",
    protocol=PROTOCOL,
    stages=(_searches, _fits),
    cells=_cells,
    figures=_figures,
    tables=_tables,
)
