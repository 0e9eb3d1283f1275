"""Models of relvec that the commands offer by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from relvec.cli.errors import UsageError, suggest_name
from relvec.cli.limits import LIMITS

__all__ = ["MODELS", "SAMPLED", "make_model", "make_sampled_model", "model_title"]


def _rvm(task: str, **options: Any) -> Any:
    from relvec import RVMClassifier, RVMRegressor

    if task == "counts":
        from relvec import SparseBayesCountRegressor
        from relvec.bases import KernelBasis

        centers = options.pop("centers", None)
        basis = None if centers is None else KernelBasis(centers=centers)
        return SparseBayesCountRegressor(basis, likelihood="auto", **options)
    return RVMRegressor(**options) if task == "regression" else RVMClassifier(**options)


def _select(task: str, **options: Any) -> Any:
    from relvec import DRVMRegressor, PFCVMClassifier

    if task == "counts":
        raise UsageError("--model select is not available for counts; use auto, rvm or linear.")
    return DRVMRegressor(**options) if task == "regression" else PFCVMClassifier(**options)


def _linear(task: str, **options: Any) -> Any:
    from relvec import SparseBayesClassifier, SparseBayesRegressor
    from relvec.bases import LinearBasis

    options.pop("centers", None)
    if task == "counts":
        from relvec import SparseBayesCountRegressor

        return SparseBayesCountRegressor(LinearBasis(), likelihood="auto", **options)
    if task == "regression":
        return SparseBayesRegressor(LinearBasis(), **options)
    return SparseBayesClassifier(LinearBasis(), **options)


MODELS: dict[str, tuple[Callable[..., Any], str]] = {
    "rvm": (_rvm, "relevance vector machine"),
    "linear": (_linear, "sparse linear model"),
    "select": (_select, "RVM with feature selection"),
}
"""Constructor and title of each model, by name."""

SAMPLED = {"rvm": "sampled_rvm", "linear": "sampled_linear"}
"""Names of the sampled variants of models."""

BASELINES = {
    "mean": "mean (no features)",
    "class_prior": "class prior (no features)",
    "ridge": "ridge regression",
    "mean_rate": "mean rate (no features)",
    "poisson": "Poisson regression",
    "logistic": "logistic regression",
}
"""Titles of the baselines, by name."""

AUTO = ("linear", "rvm")
"""Models that `--model auto` selects from."""


def make_model(
    name: str, task: str, n_rows: int, seed: int, more: Mapping[str, Any] | None = None
) -> Any:
    """Make an unfitted estimator by name; `more` are further options of a regressor.

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
    options: dict[str, Any] = {"random_state": seed} | dict(more or {})
    if n_rows > LIMITS.many_rows:
        options["centers"] = LIMITS.n_centers
    return MODELS[name][0](task, **options)


def make_sampled_model(name: str, task: str, n_rows: int, seed: int, **options: Any) -> Any:
    """Make the unfitted sampled variant of a model; `options` are those of the sampler.

    Examples
    --------
    >>> make_sampled_model("rvm", "regression", 100, 0, n_chains=2)
    SampledRVMRegressor(n_chains=2, random_state=0)
    """
    from relvec.bases import LinearBasis
    from relvec.estimators import sampled_classification, sampled_regression

    options["random_state"] = seed
    is_regression = task == "regression"
    kind: Any
    if name == "linear":
        kind = (
            sampled_regression.SampledSparseBayesRegressor
            if is_regression
            else sampled_classification.SampledSparseBayesClassifier
        )
        return kind(LinearBasis(), **options)
    if n_rows > LIMITS.many_rows:
        options["centers"] = LIMITS.n_centers
    kind = (
        sampled_regression.SampledRVMRegressor
        if is_regression
        else sampled_classification.SampledRVMClassifier
    )
    return kind(**options)


def model_title(name: str) -> str:
    """Title of a model in summaries."""
    for plain, sampled in SAMPLED.items():
        if name == sampled:
            return f"{MODELS[plain][1]}, sampled"
    if name == "search":
        return "kernel search"
    return MODELS[name][1] if name in MODELS else BASELINES.get(name, name)
