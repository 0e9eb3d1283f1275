"""Predictions for a table, and metrics of their quality."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln, ndtri, xlogy

from relvec.cli.row_columns import RowValues
from relvec.comparing.row_scores import compute_class_log_probability, compute_normal_log_density
from relvec.describing import compute_quantile_residuals, lacks_noise, predict_distribution

__all__ = ["Prediction", "compute_metrics", "predict_table"]

COVERAGE = 0.95
"""Nominal coverage of the intervals that are evaluated."""


@dataclass(frozen=True)
class Prediction:
    """Predictions for rows: means with standard deviations and intervals, or probabilities."""

    mean: np.ndarray | None = None
    std: np.ndarray | None = None
    interval: np.ndarray | None = None
    """Lower and upper bound for each row."""
    log_density: np.ndarray | None = None
    """Log predictive density of the observed targets."""
    score: np.ndarray | None = None
    """Standardised residuals, or quantile residuals, of the observed targets."""
    exposure: np.ndarray | None = None
    """Exposure of each row, if the targets are counts."""
    proba: np.ndarray | None = None
    classes: np.ndarray | None = None
    extrapolating: np.ndarray | None = None
    """Degree of extrapolation of each row: 0 among the training rows, 1 far from them."""

    @property
    def labels(self) -> np.ndarray:
        """Most probable class of each row."""
        assert self.proba is not None
        assert self.classes is not None
        return self.classes[np.argmax(self.proba, axis=1)]


def predict_table(
    pipeline: Any,
    table: Any,
    *,
    with_std: bool = True,
    with_extrapolation: bool = False,
    coverage: float | None = None,
    target: np.ndarray | None = None,
    row_values: RowValues | None = None,
) -> Prediction:
    """Predict a table with a fitted pipeline, or with a bare model.

    Parameters
    ----------
    pipeline : estimator
        Fitted pipeline or model.
    table : DataFrame or ndarray
        Rows to predict.
    with_std : bool
        Predict standard deviations, if the model has them.
    with_extrapolation : bool
        Compute the degree of extrapolation.
    coverage : float, optional
        Predict intervals of this coverage, if the model has them.
    target : ndarray, optional
        Observed targets, for 95 % intervals and log predictive densities.
    row_values : RowValues, optional
        Noise variances or exposures of the rows.
    """
    steps = getattr(pipeline, "steps", None)
    features = pipeline[:-1].transform(table) if steps and len(steps) > 1 else table
    model = steps[-1][1] if steps else pipeline
    extrapolating = model.extrapolating(features) if with_extrapolation else None
    if hasattr(model, "classes_"):
        proba = model.predict_proba(features)
        return Prediction(proba=proba, classes=model.classes_, extrapolating=extrapolating)
    options = {} if row_values is None else row_values.predict_options(model.predict)
    is_known = row_values is not None or not lacks_noise(model)
    if not is_known:
        options["include_noise"] = False
        # without noise, standard deviations do not describe observed targets
        with_std = with_std and target is None
    found: dict[str, Any] = {"extrapolating": extrapolating}
    if _counts_events(model):
        n_rows = features.shape[0]
        found["exposure"] = np.ones(n_rows) if row_values is None else row_values.values
    if target is not None and is_known and with_std and hasattr(model, "log_predictive_density"):
        values = None if row_values is None else row_values.values
        return Prediction(
            **_evaluate(predict_distribution(model, features, values), target), **found
        )
    mean, std = _predict_moments(model, features, options, with_std=with_std)
    if coverage is not None and hasattr(model, "predict_interval"):
        found["interval"] = model.predict_interval(features, coverage, **options)
    return Prediction(mean, std, **found)


def _evaluate(distribution: Any, target: np.ndarray) -> dict[str, np.ndarray]:
    """Return predictions by predictive distributions, and how they compare with the targets."""
    return {
        "mean": np.asarray(distribution.mean),
        "std": np.sqrt(distribution.variance),
        "interval": distribution.interval(COVERAGE),
        "log_density": distribution.log_density(target),
        "score": compute_quantile_residuals(distribution, target),
    }


def _predict_moments(
    model: Any, features: Any, options: dict[str, Any], *, with_std: bool
) -> tuple[np.ndarray, np.ndarray | None]:
    if with_std and hasattr(model, "predict_interval"):
        mean, std = model.predict(features, return_std=True, **options)
        return mean, std
    # means depend on the exposure, but not on the noise
    exposure = {name: value for name, value in options.items() if name == "exposure"}
    return model.predict(features, **exposure), None


def _counts_events(model: Any) -> bool:
    return "exposure" in inspect.signature(model.predict).parameters


def compute_metrics(target: np.ndarray, prediction: Prediction) -> dict[str, float]:
    """Compute the metrics of predictions whose targets are known.

    Regression: RMSE, MAE, R² and, with predictive distributions, the mean log predictive density
    (MLPD) and the coverage of 95 % intervals. Counts: the mean Poisson deviance and the fraction
    of it that is explained (D²) besides. Classification: error rate, log loss, accuracy and the
    mean confidence, which is the mean probability of the predicted class.

    Examples
    --------
    >>> prediction = Prediction(mean=np.array([1.0, 2.0]), std=np.array([1.0, 1.0]))
    >>> metrics = compute_metrics(np.array([1.0, 3.0]), prediction)
    >>> metrics["rmse"], metrics["coverage"]
    (0.707..., 1.0)
    """
    return (
        _regression_metrics(target, prediction)
        if prediction.proba is None
        else _classification_metrics(target, prediction)
    )


def _regression_metrics(target: np.ndarray, prediction: Prediction) -> dict[str, float]:
    assert prediction.mean is not None
    residual = target - prediction.mean
    variance = float(np.var(target))
    metrics = {
        "rmse": float(np.sqrt(np.mean(residual**2))),
        "mae": float(np.mean(np.abs(residual))),
        "r2": 1.0 - float(np.mean(residual**2)) / variance if variance > 0.0 else float("nan"),
    }
    log_density, interval = prediction.log_density, prediction.interval
    if prediction.exposure is not None:
        mean = np.maximum(prediction.mean, np.finfo(float).tiny)
        rate = max(target.sum() / prediction.exposure.sum(), np.finfo(float).tiny)
        deviance, null = (
            2.0 * float(np.mean(xlogy(target, target / each) - target + each))
            for each in (mean, rate * prediction.exposure)
        )
        metrics["deviance"] = deviance
        metrics["d2"] = 1.0 - deviance / null if null > 0.0 else float("nan")
        if log_density is None:  # log probability of a Poisson distribution with this mean
            log_density = xlogy(target, mean) - mean - gammaln(target + 1.0)
    elif prediction.std is not None and log_density is None:
        # log density and interval of the Gaussian predictive distribution
        half = float(ndtri(0.5 + 0.5 * COVERAGE)) * prediction.std
        log_density = compute_normal_log_density(target, prediction.mean, prediction.std)
        interval = np.stack([prediction.mean - half, prediction.mean + half], axis=-1)
    if log_density is not None:
        metrics["mlpd"] = float(np.mean(log_density))
    if interval is not None:
        is_covered = (interval[:, 0] <= target) & (target <= interval[:, 1])
        metrics["coverage"] = float(np.mean(is_covered))
    return metrics


def _classification_metrics(target: np.ndarray, prediction: Prediction) -> dict[str, float]:
    assert prediction.proba is not None
    assert prediction.classes is not None
    log_probability = compute_class_log_probability(target, prediction.proba, prediction.classes)
    is_correct = prediction.labels == target
    return {
        "error_rate": float(np.mean(~is_correct)),
        "log_loss": float(-np.mean(log_probability)),
        "accuracy": float(np.mean(is_correct)),
        "confidence": float(np.mean(prediction.proba.max(axis=1))),
    }
