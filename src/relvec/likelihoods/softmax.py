"""Several classes: the softmax likelihood of one logit per class."""

from __future__ import annotations

import numpy as np

from relvec._typing import IndexArray, Matrix, Vector
from relvec.likelihoods.bernoulli import FLATTEST, WorkingResponse, working_response

__all__ = [
    "class_responses",
    "curving_probabilities",
    "log_likelihood",
    "mean_probabilities",
    "probabilities",
]


def _log_sum(logits: Matrix) -> Vector:
    """Logarithm of the sum of the exponentials over the last axis.

    SciPy's function spends several times longer on cases that do not occur here.
    """
    largest = logits.max(axis=-1)
    sums = np.exp(logits - largest[..., None]) @ np.ones(logits.shape[-1])
    result: Vector = largest + np.log(sums)
    return result


def log_likelihood(logits: Matrix, target: IndexArray, weight: Vector | None = None) -> float:
    """Log probability of the classes `target`, coded from zero.

    Parameters
    ----------
    logits : ndarray of shape (n_samples, n_classes)
        Log probabilities up to a constant in each row.
    target : ndarray of shape (n_samples,)
        Class of each row.
    weight : ndarray of shape (n_samples,), optional
        How often each row counts.
    """
    each = logits[np.arange(len(target)), target] - _log_sum(logits)
    return float(each.sum() if weight is None else weight @ each)


def probabilities(logits: Matrix) -> Matrix:
    """Probability of every class, in the last axis."""
    result: Matrix = np.exp(logits - _log_sum(logits)[..., None])
    return result


def curving_probabilities(logits: Matrix) -> Matrix:
    """Probabilities to compute curvatures with: none is so small that its class has none.

    The curvature of a class that no row belongs to would vanish with its probability, and leave
    its intercept without a finite variance.
    """
    floored = np.maximum(probabilities(logits), FLATTEST)
    floored /= floored.sum(axis=1, keepdims=True)
    return floored


def class_responses(
    logits: Matrix, target: IndexArray, weight: Vector | None = None
) -> list[WorkingResponse]:
    """Quadratic approximation in the logit of each class, those of the others held.

    Given the other logits, one class against the rest is a logistic model whose logit is that
    of the class less the logarithm of the sum of the exponentials of the others.
    """
    result = []
    for k in range(logits.shape[1]):
        others = _log_sum(np.delete(logits, k, axis=1))
        curvature, response = working_response(
            logits[:, k] - others, (target == k).astype(np.float64), weight
        )
        result.append(WorkingResponse(curvature, response + others))
    return result


def mean_probabilities(logits: Matrix) -> Matrix:
    """Probabilities averaged over draws of the logits, shape (n_draws, n_rows, n_classes)."""
    result: Matrix = probabilities(logits).mean(axis=0)
    return result
