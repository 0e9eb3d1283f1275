"""Log evidence of a model and of the null model, log likelihood, AIC and BIC."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from relvec._typing import Vector
from relvec.describing import (
    collect_weights,
    has_simple_noise,
    is_kernel_search,
    models_counts,
    transform_inputs,
)
from relvec.evidence import gaussian_objective
from relvec.likelihoods import ScaleMixturePrediction
from relvec.reporting.subject import Subject

__all__ = ["EvidenceSummary", "compute_evidence_summary"]


@dataclass(frozen=True)
class EvidenceSummary:
    """Evidence and information criteria of a fit; NaN for what is not available.

    The evidence is the marginal likelihood of the training targets.
    """

    log_evidence: float
    null_log_evidence: float
    """Log evidence of the null model: the intercept alone, or the class frequencies."""
    log_likelihood: float
    """Log likelihood of the training rows at the posterior mean of the weights."""
    n_parameters: float
    """Effective degrees of freedom, plus one if the noise variance was estimated."""
    is_effective: bool
    """Whether `n_parameters` is the effective number, or the number of weights."""
    n_rows: int

    @property
    def log_evidence_gain(self) -> float:
        """Log evidence minus that of the null model, in nats.

        Not a log Bayes factor: the hyper-parameters were chosen to maximise the evidence, and the
        null model is among the models compared, so that the gain is hardly ever negative.
        """
        return self.log_evidence - self.null_log_evidence

    @property
    def aic(self) -> float:
        """Akaike information criterion; smaller is better."""
        return 2.0 * (self.n_parameters - self.log_likelihood)

    @property
    def bic(self) -> float:
        """Bayesian (Schwarz) information criterion; smaller is better."""
        return math.log(self.n_rows) * self.n_parameters - 2.0 * self.log_likelihood


def compute_evidence_summary(subject: Subject) -> EvidenceSummary:
    """Compute evidence and information criteria of a fit."""
    model, n_rows = subject.model, subject.n_rows
    if is_kernel_search(model):
        n_parameters = float(model.effective_dof_) + 1.0  # the noise variance
        return EvidenceSummary(
            float(model.log_evidence_), math.nan, math.nan, n_parameters, True, n_rows
        )
    dof, is_effective = _count_parameters(model)
    likelihood = null = math.nan
    if subject.is_classifier:
        if subject.are_training:
            likelihood = _class_likelihood(subject)
            null = _null_of_classification(model, subject)
    elif not subject.counts_events:
        output = model.outputs_[0]
        if has_simple_noise(output):
            null = _null_of_regression(model, output)
        elif not output.needs_row_variance and subject.are_training:
            null = _null_of_targets(subject, output)
        # the noise variance is a parameter too if it was estimated
        dof += getattr(model, "noise_variance", None) is None
        if subject.are_training:
            likelihood = _regression_likelihood(subject, output)
    return EvidenceSummary(float(model.log_evidence_), null, likelihood, dof, is_effective, n_rows)


def _count_parameters(model: Any) -> tuple[float, bool]:
    if hasattr(model, "effective_dof_"):
        return float(model.effective_dof_), True
    rows = collect_weights(model)
    intercepts = 0
    if models_counts(model):
        intercepts = int(bool(model.fit_intercept))
    elif model.fit_intercept:  # intercepts set from the class frequencies count as parameters too
        # Intercepts of a softmax model sum to zero, so there is one parameter less.
        intercepts = sum(max(1, len(latent.coef) - 1) for latent in model.class_model_.models)
    known = [row.well_determined for row in rows if row.well_determined is not None]
    if len(known) < len(rows):
        return float(sum(len(row.mean) for row in rows) + intercepts), False
    return float(sum(gamma.sum() for gamma in known) + intercepts), True


def _regression_likelihood(subject: Subject, output: Any) -> float:
    """Compute the log likelihood of the targets at the predicted function, with its noise."""
    inputs = transform_inputs(subject.estimator, subject.X)
    inputs = inputs if hasattr(inputs, "shape") else np.asarray(inputs)
    target, log_slope = subject.y, 0.0
    if output.transform is None:
        mean = np.asarray(subject.model.predict(inputs))
    else:  # the noise is that of the transformed target
        inputs = np.asarray(inputs, dtype=np.float64)
        mean, target = output.predict_latent(inputs), output.transform.forward(target)
        log_slope = float(output.transform.log_slope(subject.y).sum())
    noise = output.predict_noise(inputs, subject.row_values)
    # predictions have the calibrated noise, which was not fitted to these rows
    variances = noise.variance / output.noise_calibration
    density = ScaleMixturePrediction(mean, variances, noise.weight).log_density(target)
    return log_slope + float(density.sum())


def _class_likelihood(subject: Subject) -> float:
    transformed = transform_inputs(subject.estimator, subject.X)
    probability = np.asarray(subject.model.predict_proba(transformed, marginalise=False))
    index = np.searchsorted(subject.classes, subject.y)
    true_probability = probability[np.arange(len(index)), index]
    return float(np.log(np.maximum(true_probability, np.finfo(np.float64).tiny)).sum())


def _null_of_regression(model: Any, output: Any) -> float:
    """Compute the log evidence of the intercept alone, with its own noise unless that is fixed."""
    posterior = output.posterior
    n, variance = posterior.n_effective, posterior.target_variance
    if n <= 0.0 or variance <= 0.0:
        return math.nan
    noise = getattr(model, "noise_variance", None)
    return gaussian_objective(n, n * variance, 0.0, noise) + float(output.log_jacobian)


def _null_of_targets(subject: Subject, output: Any) -> float:
    """Compute the log evidence of the intercept alone, with constant noise, from the targets.

    The posterior of a model with unequal noise has weighted moments of the targets only.
    """
    target = subject.y if output.transform is None else output.transform.forward(subject.y)
    has_intercept = output.posterior.has_intercept
    centred = target - target.mean() if has_intercept else target
    n, squares = subject.n_rows - int(has_intercept), float(centred @ centred)
    if not squares > 0.0:
        return math.nan
    return gaussian_objective(float(n), squares, 0.0, None) + float(output.log_jacobian)


def _null_of_classification(model: Any, subject: Subject) -> float:
    """Compute the log evidence of the class frequencies alone; NaN with class weights."""
    if model.class_weight is not None:
        return math.nan
    counts = np.array([np.count_nonzero(subject.y == label) for label in subject.classes], float)
    models = model.class_model_.models
    is_given = models[0].fixed_intercept is not None
    if len(models[0].coef) > 1:  # softmax: one model for all classes
        return _null_of_counts(counts, model, is_given, 1.0)
    # one binary null model per class, or a single one for two classes
    positives = counts if len(models) > 1 else counts[1:]
    total = float(counts.sum())
    pairs = [np.array([total - count, count]) for count in positives]
    return sum(_null_of_counts(pair, model, is_given, 0.5) for pair in pairs)


def _null_of_counts(counts: Vector, model: Any, is_given: bool, curvature: float) -> float:
    """Compute the log evidence of class frequencies, by Laplace's method if intercepts are fitted.

    The intercepts of the classes sum to zero, so the Hessian has one eigenvalue of zero, which is
    left out. For two classes the parameter is the difference of the intercepts, for which the
    curvature is half of that along the unit vector (`curvature` = 0.5).
    """
    n = float(counts.sum())
    has_frequencies = model.intercept_is_fitted_ or is_given
    frequencies = counts / n if has_frequencies else np.full(len(counts), 1.0 / len(counts))
    with np.errstate(divide="ignore", invalid="ignore"):
        value = float(np.where(counts > 0.0, counts * np.log(frequencies), 0.0).sum())
    if model.intercept_is_fitted_:
        hessian = n * (np.diag(frequencies) - np.outer(frequencies, frequencies))
        curvatures = curvature * np.linalg.eigvalsh(hessian)[1:]
        value += 0.5 * float(np.log(2.0 * np.pi / curvatures).sum())
    return value
