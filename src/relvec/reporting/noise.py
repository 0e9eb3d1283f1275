"""What a report says about the noise of a regression."""

from __future__ import annotations

from dataclasses import dataclass

from relvec.describing import ResidualChecks, advise_on_noise, check_residuals, is_sampled
from relvec.reporting.predictions import PredictionSet
from relvec.reporting.subject import Subject

__all__ = ["NoiseAssessment", "assess_noise"]


@dataclass(frozen=True)
class NoiseAssessment:
    """Checks of the standardised residuals, and the option that helps."""

    checks: ResidualChecks | None
    """None if there are too few rows."""
    advice: str
    """A finding with the option that models it; empty if there is none."""


def assess_noise(subject: Subject, evaluated: PredictionSet) -> NoiseAssessment | None:
    """Check the noise of a regression by the residuals of its rows; None for other models.

    Parameters
    ----------
    subject : Subject
        Model and rows of the report.
    evaluated : PredictionSet
        Predictions of the training rows, or out-of-fold.
    """
    if subject.is_classifier or subject.counts_events:
        return None
    checks = None
    if len(evaluated.y) == subject.n_rows and not subject.is_pairwise:
        score = evaluated.standardised_residuals
        checks = check_residuals(subject.estimator, subject.X, subject.y, score)
    found = None if checks is None else advise_on_noise(checks, subject.estimator)
    if found is None:
        return NoiseAssessment(checks, "")
    if is_sampled(subject.model):
        option = f"{found.option}={found.value}" if found.value else found.option
        remedy = (
            f"RVMRegressor and SparseBayesRegressor have a model of it ({option}), which is not "
            "sampled."
        )
        if found.value == "robust":
            remedy = 'Use noise="student_t".'
        return NoiseAssessment(checks, f"{found.finding} {remedy}")
    value = f'"{found.value}"' if found.value else "True"
    return NoiseAssessment(checks, f"{found.finding} Use {found.option}={value}.")
