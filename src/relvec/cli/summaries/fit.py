"""The one screen of `relvec fit`."""

from __future__ import annotations

from typing import Any

from relvec.cli.console import visible
from relvec.cli.errors import listed
from relvec.cli.limits import LIMITS
from relvec.cli.models import MODELS, words_for
from relvec.cli.summaries.parts import (
    bars,
    figure,
    legend,
    pairs,
    percent,
    size,
    table,
    with_error,
)

__all__ = ["CV_COLUMNS", "MEANINGS", "cv_tables", "fit_screen", "relevance_parts"]

CV_COLUMNS = {
    "regression": (
        ("rmse", "error (rms)", ""),
        ("r2", "R²", "decimals"),
        ("log_density", "log density", ""),
    ),
    "classification": (("error", "wrong", "share"), ("log_loss", "log loss", "")),
}
MEANINGS = {
    "r2": "R² is the share of the variance that is explained.",
    "log_density": "log density is how probable the model held the true values, error bars "
    "included: higher is better.",
    "log_loss": "log loss is minus the log of the probability that the true class was given: "
    "lower is better.",
}
"""Words of the tables that not everyone knows."""
DECIDES = {"regression": "log density", "classification": "log loss"}


def fit_screen(facts: dict[str, Any]) -> list[Any]:
    """Headline, errors next to baselines, what was learnt, what matters."""
    parts: list[Any] = ["", headline(facts)]
    if "cross_validation" in facts:
        parts += cv_tables(facts)
    else:
        parts.append("(not cross-validated: nothing is known about rows it has not seen)")
    return [*parts, "", pairs(learnt(facts)), *relevance_parts(facts)]


def headline(facts: dict[str, Any]) -> str:
    """What was asked of what."""
    kinds = [column["kind"] for column in facts["columns"]]
    asked = "a number" if facts["task"] == "regression" else f"{len(facts['classes'])} classes"
    counts = {"numbers": "number", "dates": "date", "levels": "level"}
    of = ", ".join(f"{word} {kinds.count(k)}" for word, k in counts.items() if k in kinds)
    return (
        f"{visible(facts['target'])} ({asked}) from {len(kinds)} "
        f"{'column' if len(kinds) == 1 else 'columns'} ({of}), {facts['rows']['used']} rows"
    )


def cv_tables(facts: dict[str, Any]) -> list[Any]:
    """Errors of all models on the same folds, and what they are."""
    results = facts["cross_validation"]
    columns = CV_COLUMNS[facts["task"]]
    rows = []
    for name, summary in results["models"].items():
        mark = " ←" if name == facts["model"] else ""
        cells = [with_error(summary.get(key), form) for key, _, form in columns]
        rows.append([words_for(name) + mark, *cells])
    headers = ["on unseen rows", *(words for _, words, _ in columns)]
    folds = f"Means of {results['folds']} folds of unseen rows ± standard error."
    meanings = [MEANINGS[key] for key, _, _ in columns if key in MEANINGS]
    return [table(headers, rows), legend(folds, *meanings)]


def learnt(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """What there is to know about the fitted model."""
    # a model of kernels may have become a linear one, which has terms
    what = "vectors kept" if "vector_rows" in facts else "terms kept"
    of = f" of {facts['rows']['used']} rows" if what == "vectors kept" else ""
    lines = [("model", _chosen(facts)), (what, f"{facts['vectors']}{of}")]
    if facts.get("noise_std") is not None:
        lines.append(
            ("noise level", f"{figure(facts['noise_std'])} (how far rows lie from the model, rms)")
        )
    ours = facts.get("cross_validation", {}).get("models", {}).get(facts["model"], {})
    if "coverage" in ours:
        lines.append(("95 % intervals", f"hold {percent(ours['coverage'])} of unseen rows"))
    if "confidence" in ours and "accuracy" in ours:
        lines.append(
            (
                "calibration",
                f"gives its choices {percent(ours['confidence'])} on average; "
                f"{percent(ours['accuracy'])} are right",
            )
        )
    if "output" in facts:
        lines.append(("saved", f"{facts['output']} ({size(facts['bytes'])})"))
    return lines


def _chosen(facts: dict[str, Any]) -> str:
    ours = [name for name in facts.get("cross_validation", {}).get("models", ()) if name in MODELS]
    how = f", the best of {len(ours)} by {DECIDES[facts['task']]}" if len(ours) > 1 else ""
    form = " that became linear in the columns" if facts.get("scale_kind") == "linear" else ""
    return words_for(facts["model"]) + form + how


def relevance_parts(facts: dict[str, Any]) -> list[Any]:
    """Which columns matter, which do not, and how that was found."""
    rises = facts.get("relevance", {})
    positive = [name for name, rise in rises.items() if rise and rise > 0]
    if not positive:
        return []
    none = [name for name in rises if name not in positive]
    n_shown = LIMITS.shown_relevance
    error = "error" if facts["task"] == "regression" else "log loss"
    on = "unseen" if "cross_validation" in facts else "training"
    words = [f"How much the {error} rises if a column's values are shuffled among {on} rows."]
    words += _sentence("Smaller rises", positive[n_shown:]) + _sentence("No rise", none)
    shown = {name: rises[name] for name in positive[:n_shown]}
    return [bars(shown, f"{error} rises by"), legend(*words)]


def _sentence(what: str, names: list[str]) -> list[str]:
    return [f"{what}: {listed(names)}."] if names else []
