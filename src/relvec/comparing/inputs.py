"""Checks of the arguments of `compare_models`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_classifier, is_regressor
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.multiclass import check_classification_targets

from relvec._typing import Vector
from relvec.describing import get_final_estimator

__all__ = ["check_target", "check_weight", "find_task", "name_models", "read_prior"]


def name_models(models: Any) -> dict[str, Any]:
    """Return models by name, and raise unless they are estimators with different names."""
    if isinstance(models, Mapping):
        pairs = [(name, each) for name, each in models.items()]
    elif isinstance(models, Sequence) and not isinstance(models, str):
        pairs = [each if isinstance(each, tuple) else (None, each) for each in models]
    else:
        raise TypeError(
            "models must be a dict of name and estimator, or a list; got "
            f"{type(models).__name__}. For one estimator use cross_validate of scikit-learn."
        )
    if not pairs:
        raise ValueError("models is empty. Give at least two estimators.")
    for pair in pairs:
        _check_pair(pair)
    kinds = [type(get_final_estimator(each)).__name__ for name, each in pairs if name is None]
    total, used = Counter(kinds), Counter[str]()
    named: dict[str, Any] = {}
    for name, each in pairs:
        if name is None:
            kind = type(get_final_estimator(each)).__name__
            used[kind] += 1
            name = f"{kind} {used[kind]}" if total[kind] > 1 else kind
        if name in named:
            raise ValueError(f"Two models have the name {name!r}. Give each its own.")
        named[name] = each
    if len(named) < 2:
        raise ValueError(
            f"models has one entry, {next(iter(named))!r}. Give at least two estimators."
        )
    return named


def _check_pair(pair: Any) -> None:
    if len(pair) != 2 or not (pair[0] is None or isinstance(pair[0], str)):
        raise TypeError(f"models must contain estimators or pairs (name, estimator); got {pair!r}.")
    estimator = pair[1]
    if isinstance(estimator, type):
        raise TypeError(
            f"models must contain estimators, not classes; got {estimator.__name__}. Write "
            f"{estimator.__name__}()."
        )
    if not isinstance(estimator, BaseEstimator) and not hasattr(estimator, "get_params"):
        raise TypeError(
            "models must contain regressors or classifiers with the methods of scikit-learn; got "
            f"{estimator!r} of type {type(estimator).__name__}."
        )


def find_task(models: Mapping[str, Any]) -> str:
    """Return whether all models are regressors or all are classifiers."""
    classifiers = [name for name, each in models.items() if is_classifier(each)]
    regressors = [name for name, each in models.items() if is_regressor(each)]
    neither = [name for name in models if name not in classifiers and name not in regressors]
    if neither:
        raise TypeError(
            f"models must contain regressors or classifiers; {neither[0]!r} is neither: "
            f"{models[neither[0]]!r}."
        )
    if classifiers and regressors:
        raise ValueError(
            f"models mixes classifiers ({', '.join(classifiers)}) and regressors "
            f"({', '.join(regressors)}), whose scores cannot be compared. Compare them separately."
        )
    return "classification" if classifiers else "regression"


def check_target(y: Any, X: Any, task: str) -> np.ndarray:
    """Return the targets as an array with one dimension."""
    check_consistent_length(X, y)
    target = np.asarray(y)
    if target.ndim != 1:
        raise ValueError(
            f"compare_models needs one target; got y of shape {target.shape}. Give one of its "
            "columns."
        )
    if task == "classification":
        check_classification_targets(target)
        return target
    return np.asarray(check_array(target, ensure_2d=False, dtype=np.float64, input_name="y"))


def check_weight(sample_weight: Any, y: np.ndarray) -> Vector | None:
    """Return the sample weights as an array; None without."""
    if sample_weight is None:
        return None
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != y.shape or not np.isfinite(weight).all() or (weight < 0.0).any():
        raise ValueError(
            "sample_weight must hold one finite, non-negative number for each of the "
            f"{len(y)} rows; got {sample_weight!r}."
        )
    return weight


def read_prior(prior: Any, names: list[str]) -> dict[str, float]:
    """Return the prior probabilities of models, with sum one."""
    if prior is None:
        prior = np.ones(len(names))
    if isinstance(prior, Mapping):
        if set(prior) != set(names):
            raise ValueError(
                f"prior must have one entry for each model, {names}; got {list(prior)}."
            )
        prior = [prior[name] for name in names]
    values = np.asarray(prior, dtype=np.float64)
    if values.shape != (len(names),) or not np.isfinite(values).all() or (values <= 0.0).any():
        raise ValueError(
            f"prior must hold one positive number for each of the {len(names)} models; got "
            f"{prior!r}. Leave out a model of probability zero."
        )
    return dict(zip(names, (values / values.sum()).tolist(), strict=True))
