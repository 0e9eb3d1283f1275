"""How good predictions are, in figures that can be said in a sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Prediction", "measure", "predict_table"]


@dataclass(frozen=True)
class Prediction:
    """What a model says about rows: a number with its deviation, or probabilities of classes."""

    mean: np.ndarray | None = None
    std: np.ndarray | None = None
    proba: np.ndarray | None = None
    classes: np.ndarray | None = None
    extrapolating: np.ndarray | None = None
    """How far each row is beyond the training rows, from zero to one."""

    @property
    def labels(self) -> np.ndarray:
        """The most probable class of each row."""
        assert self.proba is not None
        assert self.classes is not None
        return self.classes[np.argmax(self.proba, axis=1)]


def predict_table(
    pipeline: Any, table: Any, *, with_std: bool = True, with_extrapolation: bool = False
) -> Prediction:
    """Ask a fitted pipeline, or a model without one."""
    steps = getattr(pipeline, "steps", None)
    inputs = pipeline[:-1].transform(table) if steps and len(steps) > 1 else table
    model = steps[-1][1] if steps else pipeline
    beyond = model.extrapolating(inputs) if with_extrapolation else None
    if hasattr(model, "classes_"):
        proba = model.predict_proba(inputs)
        return Prediction(proba=proba, classes=model.classes_, extrapolating=beyond)
    if with_std and hasattr(model, "noise_variance_"):
        mean, std = model.predict(inputs, return_std=True)
        return Prediction(mean=mean, std=std, extrapolating=beyond)
    return Prediction(mean=model.predict(inputs), extrapolating=beyond)


def measure(target: np.ndarray, said: Prediction) -> dict[str, float]:
    """All figures about predictions of known targets.

    Examples
    --------
    >>> said = Prediction(mean=np.array([1.0, 2.0]), std=np.array([1.0, 1.0]))
    >>> figures = measure(np.array([1.0, 3.0]), said)
    >>> figures["rmse"], figures["coverage"]
    (0.707..., 1.0)
    """
    return _of_numbers(target, said) if said.proba is None else _of_classes(target, said)


def _of_numbers(target: np.ndarray, said: Prediction) -> dict[str, float]:
    assert said.mean is not None
    residual = target - said.mean
    spread = float(np.var(target))
    figures = {
        "rmse": float(np.sqrt(np.mean(residual**2))),
        "mae": float(np.mean(np.abs(residual))),
        "r2": 1.0 - float(np.mean(residual**2)) / spread if spread > 0.0 else float("nan"),
    }
    if said.std is not None:
        z = residual / said.std
        density = -0.5 * z**2 - np.log(said.std) - 0.5 * np.log(2.0 * np.pi)
        figures["log_density"] = float(np.mean(density))
        figures["coverage"] = float(np.mean(np.abs(z) <= _quantile(0.95)))
    return figures


def _quantile(coverage: float) -> float:
    from scipy.special import ndtri

    return float(ndtri(0.5 * (1.0 + coverage)))


def _of_classes(target: np.ndarray, said: Prediction) -> dict[str, float]:
    assert said.proba is not None
    assert said.classes is not None
    where = {label: i for i, label in enumerate(said.classes.tolist())}
    column = np.array([where.get(label, -1) for label in target.tolist()])
    # a class that was not seen in training was given no probability at all
    # and the log loss of a sure mistake stays finite
    given = np.where(column >= 0, said.proba[np.arange(len(target)), column], 0.0)
    right = said.labels == target
    return {
        "error": float(np.mean(~right)),
        "log_loss": float(-np.mean(np.log(np.maximum(given, 1e-15)))),
        "accuracy": float(np.mean(right)),
        "confidence": float(np.mean(said.proba.max(axis=1))),
    }
