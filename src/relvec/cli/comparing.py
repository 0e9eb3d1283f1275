"""`relvec compare`: our models and those of scikit-learn on the same folds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier, DummyRegressor
from threadpoolctl import threadpool_limits

from relvec.cli import models, peers
from relvec.cli.columns import split_names
from relvec.cli.console import CommandConsole, visible
from relvec.cli.drawing import draw_rows
from relvec.cli.encoding import build_pipeline
from relvec.cli.errors import UsageError, suggestion
from relvec.cli.limits import Limits
from relvec.cli.problem import Problem, state_problem
from relvec.cli.reading import read_blocks
from relvec.cli.sources import Source
from relvec.cli.summaries.fit import MEANINGS
from relvec.cli.summaries.parts import figure, legend, table, with_error
from relvec.cli.validation import (
    Folds,
    Outcome,
    check_folds,
    cross_validate,
    make_folds,
    say_many_folds,
)

__all__ = ["compare_command"]

MENU = ("rvm", "linear", "select", *peers.PEERS)
SIZES = {
    "rvm": "vectors",
    "select": "vectors",
    "linear": "weights",
    "ridge": "weights",
    "svm": "vectors",
    "gp": "rows",
    "boosting": "leaves",
}


def compare_command(
    console: CommandConsole,
    source: Source,
    *,
    target: str,
    task: str,
    names: Sequence[str],
    drop: Sequence[str],
    n_folds: int,
    max_rows: int,
    seed: int,
) -> None:
    """Cross-validate all models, and list them by their error."""
    check_folds(n_folds)
    names = _known(names)
    problem = state_problem(
        draw_rows(read_blocks(source), source, target=target, max_rows=max_rows, seed=seed),
        source,
        console,
        target=target,
        task=task,
        drop=drop,
    )
    folds = make_folds(problem, n_folds, seed)
    wanted = _possible(names or MENU, problem, folds, console)
    candidates = {name: _pipeline(name, problem, seed, console.limits) for name in wanted}
    candidates["none"] = build_pipeline(
        problem.columns,
        problem.n_rows,
        DummyRegressor() if problem.task == "regression" else DummyClassifier(strategy="prior"),
    )
    say_many_folds(n_folds, folds, len(folds) * len(candidates), console)
    # one thread each: threads that wait for a busy core are slower than none, and times compare
    with (
        threadpool_limits(1),
        console.progress("comparing", len(folds) * len(candidates)) as advance,
    ):
        outcomes = cross_validate(
            candidates,
            problem,
            folds,
            advance=advance,
            ask=peers.ask_peer,
            size_of=peers.size_of,
        )
    facts = problem.facts() | {
        "folds": len(folds),
        "models": _ranked(outcomes, problem.task),
        "notes": console.notes,
    }
    console.answer(facts, lambda: _screen(facts))


def _known(names: Sequence[str]) -> list[str]:
    """Models that were asked for, each once."""
    found = split_names(names, MENU)
    for name in found:
        if name not in MENU:
            raise UsageError(
                f"--model {name} is not known; it can be {', '.join(MENU)}."
                + suggestion(name, MENU)
            )
    return list(dict.fromkeys(found))


def _possible(
    names: Sequence[str], problem: Problem, folds: Folds, console: CommandConsole
) -> list[str]:
    """Models that can be fitted to all folds; what cannot, or not to all rows, is said."""
    wanted = list(names)
    n_rows, most = len(folds[0][0]), console.limits.gp_rows
    if "svm" in wanted and _smallest_class(problem, folds) < 2:
        wanted.remove("svm")
        console.note(
            "The support vector machine is left out: its probabilities need two rows of every "
            "class in each fold."
        )
    if "gp" in wanted and n_rows > most:
        console.note(
            f"The Gaussian process is fitted to {most} of {n_rows} rows, drawn "
            "by chance: its cost is the cube of their number."
        )
    return wanted


def _smallest_class(problem: Problem, folds: Folds) -> float:
    """Rows of the rarest class that a fold learns from."""
    if problem.task == "regression":
        return np.inf
    return min(np.unique(problem.target[train], return_counts=True)[1].min() for train, _ in folds)


def _pipeline(name: str, problem: Problem, seed: int, limits: Limits) -> Any:
    if name in models.MODELS:
        steps = [models.make_model(name, problem.task, problem.n_rows, seed)]
    else:
        steps = peers.PEERS[name](problem.task, seed, limits)
    return build_pipeline(problem.columns, problem.n_rows, *steps)


def _ranked(outcomes: dict[str, Outcome], task: str) -> dict[str, Any]:
    """What is known of each model, the smallest error first."""
    key = "rmse" if task == "regression" else "error"
    found: dict[str, dict[str, Any]] = {
        name: {
            "scores": outcome.summary(),
            "size": float(np.mean(outcome.sizes)),
            "size_of_what": SIZES.get(name, "weights"),
            "milliseconds_per_1000_rows": 1000.0 * float(np.median(outcome.seconds)),
        }
        for name, outcome in outcomes.items()
    }
    return dict(sorted(found.items(), key=lambda item: item[1]["scores"][key]["mean"]))


def _screen(facts: dict[str, Any]) -> list[Any]:
    is_regression = facts["task"] == "regression"
    rows = []
    for name, found in facts["models"].items():
        scores = found["scores"]
        if is_regression:
            cells = [with_error(scores["rmse"]), with_error(scores.get("log_density"))]
        else:
            cells = [with_error(scores["error"], "share"), with_error(scores["log_loss"])]
        size = "–" if name == "none" else _counted(found["size"], found["size_of_what"])
        rows.append(
            [_words(name, facts["task"]), *cells, size, figure(found["milliseconds_per_1000_rows"])]
        )
    headers = [
        "on unseen rows",
        *(("error (rms)", "log density") if is_regression else ("wrong", "log loss")),
        "keeps",
        "ms",
    ]
    asked = f"{visible(facts['target'])}, {facts['rows']['used']} rows, {facts['folds']} folds"
    words = (
        f"Means of {facts['folds']} folds of unseen rows ± standard error, the smallest "
        f"{'error' if is_regression else 'share of wrong classes'} first.",
        MEANINGS["log_density" if is_regression else "log_loss"],
        "keeps: what a prediction needs. ms: time for 1000 rows.",
    )
    return ["", asked, table(headers, rows), legend(*words)]


def _counted(number: float, what: str) -> str:
    """A number of things.

    Examples
    --------
    >>> _counted(2.6, "vectors"), _counted(1.0, "vectors"), _counted(1.2, "leaves")
    ('3 vectors', '1 vector', '1 leaf')
    """
    count = f"{number:.0f}"
    one = {"leaves": "leaf"}.get(what, what.removesuffix("s"))
    return f"{count} {one if count == '1' else what}"


def _words(name: str, task: str) -> str:
    if name == "none":
        return "no inputs at all"
    return models.words_for(name) if name in models.MODELS else peers.WORDS[task][name]
