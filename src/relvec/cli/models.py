"""Models of relvec that the commands offer by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from relvec.cli.errors import UsageError, suggest_name
from relvec.cli.limits import LIMITS

__all__ = ["MODELS", "check_target_transform", "make_model", "model_title"]


def _rvm(task: str, **options: Any) -> Any:
    from relvec import RVMClassifier, RVMRegressor

    return RVMRegressor(**options) if task == "regression" else RVMClassifier(**options)


def _select(task: str, **options: Any) -> Any:
    from relvec import DRVMRegressor, PFCVMClassifier

    return DRVMRegressor(**options) if task == "regression" else PFCVMClassifier(**options)


def _linear(task: str, **options: Any) -> Any:
    from relvec import SparseBayesClassifier, SparseBayesRegressor
    from relvec.bases import LinearBasis

    options.pop("centers", None)
    if task == "regression":
        return SparseBayesRegressor(LinearBasis(), **options)
    return SparseBayesClassifier(LinearBasis(), **options)


MODELS: dict[str, tuple[Callable[..., Any], str]] = {
    "rvm": (_rvm, "relevance vector machine"),
    "linear": (_linear, "sparse linear model"),
    "select": (_select, "RVM with feature selection"),
}
"""Constructor and title of each model, by name."""

BASELINES = {
    "mean": "mean (no features)",
    "class_prior": "class prior (no features)",
    "ridge": "ridge regression",
    "logistic": "logistic regression",
}
"""Titles of the baselines, by name."""

AUTO = ("linear", "rvm")
"""Models that `--model auto` selects from."""


def check_target_transform(name: str) -> None:
    """Raise unless a transform of the target is known."""
    known = ["none", "auto", "log", "yeo-johnson"]
    if name not in known:
        raise UsageError(
            f"--target-transform must be one of {', '.join(known)}; got {name!r}."
            + suggest_name(name, known)
        )


def make_model(name: str, task: str, n_rows: int, seed: int, **more: Any) -> Any:
    """Make an unfitted estimator by name, with more options of its class.

    Examples
    --------
    >>> make_model("rvm", "regression", 100, 0)
    RVMRegressor(random_state=0)
    """
    if name not in MODELS:
        raise UsageError(
            f"--model must be one of auto, {', '.join(MODELS)}; got {name!r}."
            + suggest_name(name, ["auto", *MODELS])
        )
    options: dict[str, Any] = {"random_state": seed, **more}
    if n_rows > LIMITS.many_rows:
        options["centers"] = LIMITS.n_centers
    return MODELS[name][0](task, **options)


def model_title(name: str) -> str:
    """Title of a model in summaries."""
    return MODELS[name][1] if name in MODELS else BASELINES.get(name, name)
