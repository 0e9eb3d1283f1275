"""Summary statistics of a fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from relvec._typing import Vector

__all__ = ["FitSummary", "get_objective_traces", "summarise_fit"]


@dataclass(frozen=True, eq=False)
class FitSummary:
    """Summary statistics of a fit; arrays have one entry per target."""

    n_kept: int
    """Number of basis functions in the model."""
    n_candidates: int
    classes: tuple[str, ...] | None
    """Names of the classes; None for a regressor."""
    noise_std: Vector | None
    """Standard deviation of the noise; None for a classifier."""
    effective_dof: Vector | None
    log_evidence: Vector
    converged: bool
    reached_max_active: bool
    """Whether the fit reached the cap on the active set, so that the noise is not identifiable."""
    n_features: int | None
    """Number of features; None without feature relevances, or if there is only one feature."""
    n_features_used: int

    @property
    def features_used(self) -> str | None:
        """Number of relevant features as text, such as "3 of 10"; None if it was not learnt."""
        return None if self.n_features is None else f"{self.n_features_used} of {self.n_features}"


def summarise_fit(model: Any) -> FitSummary | None:
    """Summarise a fitted model; return None for an estimator that is not fitted.

    Examples
    --------
    >>> from relvec import RVMRegressor
    >>> summarise_fit(RVMRegressor()) is None
    True
    >>> X = np.linspace(-3, 3, 31)[:, None]
    >>> model = RVMRegressor(gamma=1.0, noise_variance=0.01).fit(X, np.exp(-(X[:, 0] ** 2)))
    >>> summary = summarise_fit(model)
    >>> summary.n_kept, summary.n_candidates, summary.noise_std
    (1, 31, array([0.1]))
    """
    if not hasattr(model, "relevance_"):
        return None
    has_noise = hasattr(model, "noise_variance_")
    classes = getattr(model, "classes_", None)
    relevance = np.asarray(getattr(model, "feature_relevance_", ()))
    has_relevance = len(relevance) > 1
    return FitSummary(
        n_kept=len(model.relevance_),
        n_candidates=model.n_atoms_,
        classes=None if classes is None else tuple(str(label) for label in classes),
        noise_std=np.atleast_1d(np.sqrt(model.noise_variance_)) if has_noise else None,
        effective_dof=np.atleast_1d(model.effective_dof_) if has_noise else None,
        log_evidence=np.atleast_1d(model.log_evidence_),
        converged=bool(np.all(model.converged_)),
        reached_max_active=bool(np.any(getattr(model, "reached_max_active_", False))),
        n_features=len(relevance) if has_relevance else None,
        n_features_used=int(np.count_nonzero(relevance)) if has_relevance else 0,
    )


def get_objective_traces(model: Any) -> list[Vector]:
    """Return the objective after each step, for each target; empty if it was not stored."""
    if hasattr(model, "trace_"):
        return [np.asarray(model.trace_)]
    solutions = [getattr(output, "solution", None) for output in getattr(model, "outputs_", ())]
    traces = [np.asarray(getattr(solution, "trace", ())) for solution in solutions]
    return traces if all(map(len, traces)) else []
