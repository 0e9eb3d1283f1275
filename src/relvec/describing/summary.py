"""What a fit came to, in a few numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from relvec._typing import Vector

__all__ = ["Summary", "summary_of", "traces_of"]


@dataclass(frozen=True, eq=False)
class Summary:
    """Numbers of a fit; of several targets there is one for each in every array."""

    n_kept: int
    """Vectors or terms in the model."""
    n_candidates: int
    classes: tuple[str, ...] | None
    """Names of the classes; None for a model that predicts numbers."""
    noise_std: Vector | None
    """Standard deviation of the noise; None for a model of classes."""
    effective_dof: Vector | None
    log_evidence: Vector
    converged: bool
    reached_max_active: bool
    """Whether the cap on atoms was reached, so that the noise level is not identified."""
    n_inputs: int | None
    """Inputs that were weighed; None if none were, or there is but one."""
    n_inputs_used: int

    @property
    def inputs_in_use(self) -> str | None:
        """How many inputs are in use, in words; None if they were not weighed."""
        return None if self.n_inputs is None else f"{self.n_inputs_used} of {self.n_inputs}"


def summary_of(model: Any) -> Summary | None:
    """Return what a fit came to; None before the fit.

    Examples
    --------
    >>> from relvec import RVMRegressor
    >>> summary_of(RVMRegressor()) is None
    True
    >>> X = np.linspace(-3, 3, 31)[:, None]
    >>> model = RVMRegressor(gamma=1.0, noise_variance=0.01).fit(X, np.exp(-(X[:, 0] ** 2)))
    >>> summary = summary_of(model)
    >>> summary.n_kept, summary.n_candidates, summary.noise_std
    (1, 31, array([0.1]))
    """
    if not hasattr(model, "relevance_"):
        return None
    has_noise = hasattr(model, "noise_variance_")
    classes = getattr(model, "classes_", None)
    relevance = np.asarray(getattr(model, "feature_relevance_", ()))
    is_weighed = len(relevance) > 1
    return Summary(
        n_kept=len(model.relevance_),
        n_candidates=model.n_atoms_,
        classes=None if classes is None else tuple(str(label) for label in classes),
        noise_std=np.atleast_1d(np.sqrt(model.noise_variance_)) if has_noise else None,
        effective_dof=np.atleast_1d(model.effective_dof_) if has_noise else None,
        log_evidence=np.atleast_1d(model.log_evidence_),
        converged=bool(np.all(model.converged_)),
        reached_max_active=bool(np.any(getattr(model, "reached_max_active_", False))),
        n_inputs=len(relevance) if is_weighed else None,
        n_inputs_used=int(np.count_nonzero(relevance)) if is_weighed else 0,
    )


def traces_of(model: Any) -> list[Vector]:
    """Return the objective after each step, for each target; nothing if it was not kept."""
    if hasattr(model, "trace_"):
        return [np.asarray(model.trace_)]
    solutions = [getattr(output, "solution", None) for output in getattr(model, "outputs_", ())]
    traces = [np.asarray(getattr(solution, "trace", ())) for solution in solutions]
    return traces if all(map(len, traces)) else []
