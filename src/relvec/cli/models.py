"""The models that can be asked for by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from relvec.cli.errors import UsageError, suggestion
from relvec.cli.limits import LIMITS

__all__ = ["MODELS", "make_model", "words_for"]


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
    "select": (_select, "input-choosing machine"),
}
"""Name, maker and words; another model is another line."""

BASELINES = {
    "mean": "mean (no inputs)",
    "class shares": "class shares (no inputs)",
    "ridge": "ridge regression",
    "logistic": "logistic regression",
}
"""What other models are called on screens."""

AUTO = ("linear", "rvm")
"""What `auto` chooses from."""


def make_model(name: str, task: str, n_rows: int, seed: int) -> Any:
    """An unfitted estimator of this name.

    Examples
    --------
    >>> make_model("rvm", "regression", 100, 0)
    RVMRegressor(random_state=0)
    """
    if name not in MODELS:
        raise UsageError(
            f"--model {name} is not known; it can be auto, {', '.join(MODELS)}."
            + suggestion(name, ["auto", *MODELS])
        )
    options: dict[str, Any] = {"random_state": seed}
    if n_rows > LIMITS.many_rows:
        options["centers"] = LIMITS.n_centres
    return MODELS[name][0](task, **options)


def words_for(name: str) -> str:
    """What a model is called on screens."""
    return MODELS[name][1] if name in MODELS else BASELINES.get(name, name)
