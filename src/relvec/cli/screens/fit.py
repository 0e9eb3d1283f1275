"""The one screen of `relvec fit`."""

from __future__ import annotations

from typing import Any

from relvec.cli.models import MODELS, words_for
from relvec.cli.screens.parts import bars, figure, pairs, size, table, with_error
from relvec.cli.talk import visible

__all__ = ["CV_COLUMNS", "cv_table", "fit_screen", "relevance_bars"]

CV_COLUMNS = {
    "regression": (
        ("rmse", "error (rms)", False),
        ("mae", "mean |error|", False),
        ("r2", "R²", False),
        ("log_density", "log density", False),
    ),
    "classification": (
        ("error", "wrong", True),
        ("log_loss", "log loss", False),
        ("confidence", "said to be right", True),
    ),
}


def fit_screen(facts: dict[str, Any]) -> list[Any]:
    """Headline, errors next to baselines, what was learnt, what matters."""
    parts: list[Any] = ["", headline(facts)]
    if "cross_validation" in facts:
        parts.append(cv_table(facts))
    else:
        parts.append("(not cross-validated: nothing is known about rows it has not seen)\n")
    parts.append(pairs(learnt(facts)))
    if any(value and value > 0 for value in facts.get("relevance", {}).values()):
        parts.append(relevance_bars(facts))
    return parts


def headline(facts: dict[str, Any]) -> str:
    """What was asked of what."""
    kinds = [column["kind"] for column in facts["columns"]]
    asked = "a number" if facts["task"] == "regression" else f"{len(facts['classes'])} classes"
    return (
        f"{visible(facts['target'])} ({asked}) from {len(kinds)} "
        f"{'column' if len(kinds) == 1 else 'columns'} "
        f"({kinds.count('number')} of numbers, {kinds.count('level')} of levels), "
        f"{facts['rows']['used']} rows"
    )


def cv_table(facts: dict[str, Any]) -> Any:
    """Errors of all models on the same folds."""
    results = facts["cross_validation"]
    columns = CV_COLUMNS[facts["task"]]
    rows = []
    for name, summary in results["models"].items():
        mark = " ←" if name == facts["model"] else ""
        cells = [with_error(summary.get(key), percent=percent) for key, _, percent in columns]
        rows.append([words_for(name) + mark, *cells])
    headers = [f"on unseen rows, {results['folds']} folds", *(words for _, words, _ in columns)]
    return table(headers, rows)


def learnt(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """What there is to know about the fitted model."""
    what = "columns kept" if facts["model"] == "linear" else "vectors kept"
    of = f" of {facts['rows']['used']} rows" if what == "vectors kept" else ""
    lines = [("model", _chosen(facts)), (what, f"{facts['vectors']}{of}")]
    if facts.get("noise_std") is not None:
        lines.append(("noise level", f"{figure(facts['noise_std'])} (standard deviation)"))
    ours = facts.get("cross_validation", {}).get("models", {}).get(facts["model"], {})
    if "coverage" in ours:
        lines.append(
            ("95 % intervals", f"hold {100 * ours['coverage']['mean']:.1f} % of unseen rows")
        )
    if "confidence" in ours:
        lines.append(
            (
                "calibration",
                f"says {100 * ours['confidence']['mean']:.1f} % on average, is right in "
                f"{100 * ours['accuracy']['mean']:.1f} %",
            )
        )
    if "output" in facts:
        lines.append(("saved", f"{facts['output']} ({size(facts['bytes'])})"))
    return lines


def _chosen(facts: dict[str, Any]) -> str:
    ours = [name for name in facts.get("cross_validation", {}).get("models", ()) if name in MODELS]
    how = f", the best of {len(ours)} on the folds above" if len(ours) > 1 else ""
    return words_for(facts["model"]) + how


def relevance_bars(facts: dict[str, Any]) -> Any:
    """Which columns matter."""
    error = "error" if facts["task"] == "regression" else "log loss"
    return bars(facts["relevance"], f"{error} rises by, if shuffled")
