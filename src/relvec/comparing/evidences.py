"""Evidences of fitted models: maximised, with a penalty, and with one precision per basis."""

from __future__ import annotations

import math
import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import is_classifier

from relvec._typing import Vector
from relvec.bases import SeriesBasis, UnionBasis
from relvec.bases.base import Basis
from relvec.comparing.sizes import count_parameters
from relvec.describing import get_final_estimator, transform_inputs
from relvec.estimators import SparseBayesClassifier, SparseBayesRegressor
from relvec.estimators.fitted import fitted_basis, fitted_precision
from relvec.learning.learnt import SPARSE_LINEAR

__all__ = ["Evidences", "measure_evidences"]

SHARED_OPTIONS = ("random_state", "low_memory")
REGRESSION_OPTIONS = ("fit_intercept", "noise", "noise_variance", "target_transform")


class Evidences(NamedTuple):
    """Evidences and size of a model fitted to all rows; None where they do not exist.

    Examples
    --------
    >>> from relvec.comparing import Evidences
    >>> Evidences(log_evidence=-50.0).penalised_evidence is None
    True
    """

    log_evidence: float | None = None
    """Maximised log evidence, `log_evidence_` of the model, in nats."""
    n_hyperparameters: int | None = None
    """Hyper-parameters that were fitted: weight precisions of the basis functions in the model,
    learnt length-scales or kernel parameters, the noise variance, and further parameters of the
    noise or of the transform of the target."""
    penalised_evidence: float | None = None
    """Log evidence minus ``0.5 log N`` for each of these (Schwarz 1978)."""
    tied_evidence: float | None = None
    """Penalised log evidence of the model with one precision for each basis; its hyper-parameters
    are these precisions, whether the basis is in the model or not, and the rest as above."""
    has_intercept: bool | None = None
    """Whether the tied evidence is that of contrasts, which do not depend on an intercept."""
    size: float | None = None
    """Number of relevance vectors, weights, rows or leaves that predictions need."""
    effective_dof: float | None = None
    """Effective degrees of freedom."""


def measure_evidences(
    estimator: Any, X: Any, y: np.ndarray, sample_weight: Vector | None = None
) -> Evidences:
    """Measure the evidences of a model fitted to these rows.

    Parameters
    ----------
    estimator : regressor, classifier or pipeline
        Fitted estimator.
    X : array-like or data frame of shape (n_samples, n_features)
        Training inputs.
    y : ndarray of shape (n_samples,)
        Training targets.
    sample_weight : ndarray of shape (n_samples,), optional
        Frequency weights of the fit.

    Examples
    --------
    >>> from relvec import SparseBayesRegressor
    >>> from relvec.bases import LinearBasis
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> y = X[:, 1] + 0.1 * np.random.default_rng(1).normal(size=50)
    >>> found = measure_evidences(SparseBayesRegressor(LinearBasis()).fit(X, y), X, y)
    >>> found.n_hyperparameters, found.size  # one precision and the noise variance
    (2, 1.0)
    """
    model = get_final_estimator(estimator)
    found = Evidences(size=count_parameters(model), effective_dof=_count_dof(model))
    value = getattr(model, "log_evidence_", None)
    if value is None or np.ndim(value):
        return found
    found = found._replace(log_evidence=float(value))
    if not hasattr(model, "weight_precision_"):
        return found
    penalty = 0.5 * math.log(len(y) if sample_weight is None else float(sample_weight.sum()))
    number = _count_precisions(model) + _count_others(model)
    found = found._replace(
        n_hyperparameters=number, penalised_evidence=float(value) - penalty * number
    )
    tied = _fit_tied(model, transform_inputs(estimator, X), y, sample_weight)
    if tied is None:
        return found
    number = _count_bases(model) + _count_others(tied, learnt_by=model)
    return found._replace(
        tied_evidence=float(tied.log_evidence_) - penalty * number,
        has_intercept=bool(tied.fit_intercept),
    )


def _fit_tied(model: Any, X: Any, y: np.ndarray, sample_weight: Vector | None) -> Any | None:
    """Fit the model with one precision for each basis, at its own length-scales."""
    if fitted_precision(model) == "tied" and not is_classifier(model):
        return model
    options = {name: getattr(model, name) for name in SHARED_OPTIONS if hasattr(model, name)}
    if not is_classifier(model) and hasattr(model, "outputs_"):
        more = {name: getattr(model, name) for name in REGRESSION_OPTIONS if hasattr(model, name)}
        # bands are not used, and would need more fits
        tied: Any = SparseBayesRegressor(
            fitted_basis(model),
            precision="tied",
            calibrate=False,
            error_bars="plain",
            **options,
            **more,
        )
    elif is_classifier(model) and len(model.classes_) == 2 and hasattr(model, "class_model_"):
        # the same intercept for all models, or their evidences would not be comparable
        tied = SparseBayesClassifier(
            fitted_basis(model),
            precision="tied",
            fit_intercept=True,
            average=False,
            error_bars="plain",
            class_weight=model.class_weight,
            **options,
        )
    else:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of the model itself are shown
        return tied.fit(X, y, sample_weight=sample_weight)


def _count_precisions(model: Any) -> int:
    """Count the prior precisions that were fitted."""
    if fitted_precision(model) == "tied":
        return _count_bases(model)
    learnt = getattr(model, "learnt_length_scales_", None)
    if learnt is not None and learnt.kind == "linear" and learnt.group != SPARSE_LINEAR:
        return 1  # ridge: all columns share a precision
    return int(np.count_nonzero(np.isfinite(model.weight_precision_)))


def _count_bases(model: Any) -> int:
    return len(_list_bases(model))


def _list_bases(model: Any) -> list[Basis]:
    basis = fitted_basis(model)
    return list(basis.bases) if isinstance(basis, UnionBasis) else [basis]


def _count_others(model: Any, learnt_by: Any = None) -> int:
    """Count the other hyper-parameters that were fitted: of kernels, noise and transform."""
    learnt = getattr(learnt_by or model, "learnt_length_scales_", None)
    number = 0
    if learnt is not None and learnt.kind not in ("linear", "none", "null"):
        number += learnt.n_scales
    if hasattr(model, "outputs_"):
        # length-scales of series that were not given
        series = [each for each in _list_bases(learnt_by or model) if isinstance(each, SeriesBasis)]
        number += sum(factor.is_unset for each in series for factor in each.factor_bases)
        number += int(model.noise_variance is None)
        number += int(np.isfinite(getattr(model, "df_", np.inf)))
        number += (
            int(np.count_nonzero(np.atleast_1d(getattr(model, "contamination_", 0.0))[:1])) * 2
        )
        # the Yeo-Johnson transform has a power and a scale, the logarithm has no parameters
        number += 2 * int(hasattr(getattr(model, "target_transform_", None), "power"))
    return number + int(np.isfinite(getattr(model, "shape_", np.inf)))


def _count_dof(model: Any) -> float | None:
    """Return the effective degrees of freedom of a model of relvec."""
    value = getattr(model, "effective_dof_", None)
    return float(value) if value is not None and not np.ndim(value) else None
