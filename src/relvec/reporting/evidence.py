"""What the evidence says of a model: against the model without vectors, and as AIC and BIC."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from relvec._typing import Vector
from relvec.describing import collect_weights, transform_inputs
from relvec.evidence import gaussian_objective
from relvec.reporting.subject import Subject

__all__ = ["EvidenceFacts", "evidence_facts"]


@dataclass(frozen=True)
class EvidenceFacts:
    """Figures of the fit itself; NaN for what is not known."""

    log_evidence: float
    null_log_evidence: float
    """Of the model without vectors: a constant, or the shares of the classes."""
    log_likelihood: float
    """At the posterior mean of the weights, over the rows of the fit."""
    n_parameters: float
    """Effective degrees of freedom, with the noise if it was estimated."""
    is_effective: bool
    """Whether degrees of freedom were weighed, or weights merely counted."""
    n_rows: int

    @property
    def log_evidence_gain(self) -> float:
        """Log evidence above that of the model without vectors, in nats.

        Not a Bayes factor: precisions and scales were chosen to make it large, and the model
        without vectors is among those compared, so that it is hardly ever negative.
        """
        return self.log_evidence - self.null_log_evidence

    @property
    def aic(self) -> float:
        """Akaike's criterion; smaller is better."""
        return 2.0 * (self.n_parameters - self.log_likelihood)

    @property
    def bic(self) -> float:
        """Schwarz's criterion; smaller is better."""
        return math.log(self.n_rows) * self.n_parameters - 2.0 * self.log_likelihood


def evidence_facts(subject: Subject) -> EvidenceFacts:
    """Collect the figures of a fit."""
    model, n_rows = subject.model, subject.n_rows
    dof, is_effective = _degrees(model)
    likelihood = null = math.nan
    if subject.is_classifier:
        if subject.are_training:
            likelihood = _class_likelihood(subject)
            null = _null_of_classes(model, subject)
    else:
        posterior = model.outputs_[0].posterior
        null = _null_of_numbers(model, posterior)
        dof += getattr(model, "noise_variance", None) is None  # then it was estimated too
        if subject.are_training:
            likelihood = _gaussian_likelihood(subject, posterior.noise_variance)
    return EvidenceFacts(float(model.log_evidence_), null, likelihood, dof, is_effective, n_rows)


def _degrees(model: Any) -> tuple[float, bool]:
    if hasattr(model, "effective_dof_"):
        return float(model.effective_dof_), True
    rows = collect_weights(model)
    intercepts = 0
    if model.fit_intercept:  # also those set to the shares of the classes are of the data
        # of a softmax model they sum to zero
        intercepts = sum(max(1, len(latent.coef) - 1) for latent in model.class_model_.models)
    known = [row.well_determined for row in rows if row.well_determined is not None]
    if len(known) < len(rows):
        return float(sum(len(row.mean) for row in rows) + intercepts), False
    return float(sum(gamma.sum() for gamma in known) + intercepts), True


def _gaussian_likelihood(subject: Subject, noise: float) -> float:
    seen = transform_inputs(subject.estimator, subject.X)
    residual = subject.y - np.asarray(subject.model.predict(seen))
    squares = float(residual @ residual)
    return -0.5 * (subject.n_rows * math.log(2.0 * math.pi * noise) + squares / noise)


def _class_likelihood(subject: Subject) -> float:
    seen = transform_inputs(subject.estimator, subject.X)
    probability = np.asarray(subject.model.predict_proba(seen, marginalise=False))
    index = np.searchsorted(subject.classes, subject.y)
    given = probability[np.arange(len(index)), index]
    return float(np.log(np.maximum(given, np.finfo(np.float64).tiny)).sum())


def _null_of_numbers(model: Any, posterior: Any) -> float:
    """Evidence of the intercept alone, with its own noise unless that was given."""
    n, variance = posterior.n_effective, posterior.target_variance
    if n <= 0.0 or variance <= 0.0:
        return math.nan
    noise = getattr(model, "noise_variance", None)
    return gaussian_objective(n, n * variance, 0.0, noise)


def _null_of_classes(model: Any, subject: Subject) -> float:
    """Evidence of the class shares alone; NaN where rows did not count alike."""
    if model.class_weight is not None:
        return math.nan
    counts = np.array([np.count_nonzero(subject.y == label) for label in subject.classes], float)
    models = model.class_model_.models
    is_given = models[0].given is not None
    if len(models[0].coef) > 1:  # one model of all classes
        return _null_of_counts(counts, model, is_given, 1.0)
    of = counts if len(models) > 1 else counts[1:]
    total = float(counts.sum())
    pairs = [np.array([total - count, count]) for count in of]
    return sum(_null_of_counts(pair, model, is_given, 0.5) for pair in pairs)


def _null_of_counts(counts: Vector, model: Any, is_given: bool, curvature: float) -> float:
    """Evidence of shares: at the maximum, and over the intercepts around it if these are fitted.

    Intercepts of classes sum to zero. Of two classes their difference is the parameter, for
    which the curvature is half that along the unit vector.
    """
    n = float(counts.sum())
    fits_shares = model.intercept_is_fitted_ or is_given
    shares = counts / n if fits_shares else np.full(len(counts), 1.0 / len(counts))
    with np.errstate(divide="ignore", invalid="ignore"):
        value = float(np.where(counts > 0.0, counts * np.log(shares), 0.0).sum())
    if model.intercept_is_fitted_:
        hessian = n * (np.diag(shares) - np.outer(shares, shares))
        bends = curvature * np.linalg.eigvalsh(hessian)[1:]
        value += 0.5 * float(np.log(2.0 * np.pi / bends).sum())
    return value
