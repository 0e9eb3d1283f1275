"""What can be exported of models that were sampled: the mean of a regression."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from relvec._typing import Vector
from relvec.estimators._sampled_output import SampledOutput
from relvec.io.profiles import ExportError

__all__ = ["AverageFunction", "average_functions", "check_sampled"]


class AverageFunction(NamedTuple):
    """Mean of the functions drawn from a posterior: a weighted sum of all atoms visited."""

    weights: Vector
    intercept: float
    noise_variance: float
    """Mean noise variance, by which rounding errors are judged."""


def check_sampled(model: Any, *, std: bool) -> None:
    """Raise unless the mean of a sampled regressor is requested, and is a weighted sum of atoms.

    Parameters
    ----------
    model : estimator
        Fitted by sampling.
    std : bool
        Whether standard deviations are requested.
    """
    name = type(model).__name__
    outputs = getattr(model, "outputs_", ())
    if not all(isinstance(each, SampledOutput) for each in outputs) or not outputs:
        raise ExportError(
            f"{name} averages probabilities over models drawn from the posterior and cannot be "
            "exported. Export the model of highest evidence, evidence_model_, instead; or use "
            "relvec.io.save, and predict in Python or by relvec predict."
        )
    if any(each.functions.scaled is not None for each in outputs):
        raise ExportError(
            f"the length-scales of this {name} differ from draw to draw, so that its mean has no "
            "formula of moderate size. Export the model of highest evidence, evidence_model_, "
            'instead; or fit with sample_length_scales="fixed" and export the mean alone, with '
            "std=False (relvec export --mean-only)."
        )
    if std:
        raise ExportError(
            f"standard deviations of {name}, which are those of models drawn from the posterior, "
            "cannot be exported. Export the mean alone, with std=False (relvec export "
            "--mean-only), or the model of highest evidence, evidence_model_, with its standard "
            "deviations."
        )


def average_functions(output: SampledOutput) -> AverageFunction:
    """Return the mean of all drawn functions of one target."""
    functions = output.functions
    weights = np.asarray(functions.weights.mean(axis=0), dtype=np.float64).ravel()
    noise = float(output.noise_variance.mean())
    return AverageFunction(weights, float(functions.intercept.mean()), noise)
