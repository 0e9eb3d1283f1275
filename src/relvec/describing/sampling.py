"""What models that sample their posterior tell: convergence, sizes, inclusion probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from relvec._typing import ArrayLike
from relvec.describing.models import get_final_estimator
from relvec.describing.names import check_feature_names, format_class_label

__all__ = [
    "Inclusion",
    "PosteriorRange",
    "SamplingSummary",
    "is_sampled",
    "list_basis_inclusion",
    "list_feature_inclusion",
    "shorten_chains",
    "summarise_sampling",
]

SHORT_CHAINS = {"n_chains": 2, "n_draws": 200, "max_doublings": 1}
"""Longest chains of refits: predictions need fewer draws than convergence diagnostics."""


class PosteriorRange(NamedTuple):
    """Posterior mean and 95 % interval of a quantity, from draws."""

    mean: float
    low: float
    high: float


class Inclusion(NamedTuple):
    """Posterior probability that a feature or a basis function is in the model."""

    name: str
    probability: float


@dataclass(frozen=True)
class SamplingSummary:
    """Convergence of the chains of a sampled model, and posterior of its size and noise."""

    n_chains: int
    n_draws: int
    """Draws of each chain that are kept."""
    n_steps: int
    """Steps of each chain."""
    r_hat: float
    """Largest R-hat of all monitored quantities; NaN if all of them are constant."""
    ess: float
    """Smallest effective sample size of all monitored quantities."""
    converged: bool
    n_candidates: int
    """Number of candidate basis functions, of all classes if each has its own."""
    n_active: PosteriorRange
    """Number of basis functions in the model."""
    noise_std: PosteriorRange | None
    """Standard deviation of the noise; None for a classifier."""

    @property
    def verdict(self) -> str:
        """Whether the chains have converged, with the remedy if they have not."""
        if self.converged:
            return "converged"
        return "not converged: predictions are averages over too few independent models"


def is_sampled(estimator: Any) -> bool:
    """Whether an estimator, or the last step of a pipeline, has sampled its posterior.

    Examples
    --------
    >>> from relvec import RVMRegressor
    >>> is_sampled(RVMRegressor())
    False
    """
    model = get_final_estimator(estimator)
    return hasattr(model, "traces_") and hasattr(model, "inclusion_probability_")


def summarise_sampling(estimator: Any) -> SamplingSummary:
    """Summarise the chains of a fitted model that has sampled its posterior."""
    model = get_final_estimator(estimator)
    traces = model.traces_
    n_chains, n_draws = np.shape(traces["n_active"])
    noise = traces.get("noise_std")
    return SamplingSummary(
        n_chains=n_chains,
        n_draws=n_draws,
        n_steps=int(model.n_iter_),
        r_hat=float(model.r_hat_),
        ess=float(model.ess_),
        converged=bool(model.converged_),
        n_candidates=int(np.size(model.inclusion_probability_)),
        n_active=_find_range(traces["n_active"]),
        noise_std=None if noise is None else _find_range(noise),
    )


def _find_range(draws: ArrayLike) -> PosteriorRange:
    values = np.asarray(draws, dtype=np.float64)
    return PosteriorRange(float(values.mean()), *np.quantile(values, [0.025, 0.975]).tolist())


def list_feature_inclusion(estimator: Any, names: Sequence[str] | None = None) -> list[Inclusion]:
    """List all features with the probability that the model depends on them, highest first.

    Parameters
    ----------
    estimator : estimator
        Fitted by sampling, or a pipeline that ends in such a model.
    names : sequence of str, optional
        Names of the features that reach the model; by default those of the fit.
    """
    model = get_final_estimator(estimator)
    probability = np.asarray(model.feature_inclusion_probability_)
    given = getattr(model, "feature_names_in_", None) if names is None else names
    labels = check_feature_names(given, len(probability))
    order = np.argsort(-probability, kind="stable")
    return [Inclusion(labels[i], float(probability[i])) for i in order]


def list_basis_inclusion(
    estimator: Any, names: Sequence[str] | None = None, n_most: int = 20
) -> list[Inclusion]:
    """List the basis functions that are in the model with the highest probability.

    Parameters
    ----------
    estimator : estimator
        Fitted by sampling, or a pipeline that ends in such a model.
    names : sequence of str, optional
        Names of the features that reach the model; by default those of the fit.
    n_most : int, default=20
        Number of basis functions.
    """
    model = get_final_estimator(estimator)
    probability = np.atleast_2d(model.inclusion_probability_)
    given = getattr(model, "feature_names_in_", None) if names is None else names
    labels = check_feature_names(given, int(model.n_features_in_))
    order = np.argsort(-probability, axis=None, kind="stable")[:n_most]
    logits, members = np.unravel_index(order, probability.shape)
    atoms = [str(name) for name in model.candidate_atoms_.subset(members).names(labels)]
    if len(probability) > 1:  # one logit for each class
        classes = [format_class_label(each) for each in model.classes_]
        atoms = [f"{name} · {classes[k]}" for name, k in zip(atoms, logits, strict=True)]
    found = probability.ravel()[order].tolist()
    return [Inclusion(*each) for each in zip(atoms, found, strict=True)]


def shorten_chains(estimator: Any) -> Any:
    """Return an unfitted clone with short chains, for refits such as those of cross-validation.

    The Monte Carlo error of two chains of 200 draws adds a few percent to the variance of the
    predicted function. Other estimators are cloned as they are.

    Examples
    --------
    >>> from relvec import RVMRegressor
    >>> shorten_chains(RVMRegressor(gamma=1.0))
    RVMRegressor(gamma=1.0)
    """
    copy = clone(estimator)
    model = get_final_estimator(copy)
    given = model.get_params(deep=False)
    if set(SHORT_CHAINS) <= set(given):
        shorter = {name: min(most, given[name]) for name, most in SHORT_CHAINS.items()}
        model.set_params(**shorter, warm_start=False)
    return copy
