"""Bias–variance decomposition of the model of a report, by bootstrap samples of its rows."""

from __future__ import annotations

from relvec.assessing import BiasVariance
from relvec.assessing.bias_variance import decompose_by_bootstrap
from relvec.describing import transform_inputs
from relvec.reporting.subject import Subject

__all__ = ["compute_bias_variance"]


def compute_bias_variance(subject: Subject, n_fits: int, seed: int) -> BiasVariance | None:
    """Fit bootstrap samples and decompose their out-of-bag error; a learnt kernel is fixed.

    None if no row was out of bag at least twice.

    Raises
    ------
    RefitError
        If the model cannot be fitted to bootstrap samples.
    """
    model = subject.model
    return decompose_by_bootstrap(
        model,
        transform_inputs(subject.estimator, subject.X),
        subject.y,
        n_fits=n_fits,
        seed=seed,
        fix_kernel=True,
        fit_params=subject.fit_options(is_pipeline=False),
        name=type(model).__name__,
        fitted=model,
    )
