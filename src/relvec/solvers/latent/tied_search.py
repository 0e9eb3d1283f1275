"""Search for the Laplace evidence over the precisions of groups of atoms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from relvec._typing import IndexArray, Matrix, Vector
from relvec.dictionaries.matrix import DenseDictionary
from relvec.laplace.mode import find_mode
from relvec.likelihoods.base import BoundLikelihood
from relvec.solvers.base import Monitor
from relvec.solvers.group_search import EntryStatistics, GroupPoint, GroupSearch
from relvec.solvers.latent.entries import compute_curvature_term
from relvec.solvers.latent.problem import LatentProblem, LatentState
from relvec.solvers.latent.tied_columns import TiedColumns

__all__ = ["LatentGroupPoint", "LatentGroupSearch"]


@dataclass(frozen=True)
class LatentGroupPoint(GroupPoint):
    """Log precisions of the groups and the mode there."""

    state: LatentState
    likelihood: BoundLikelihood

    def compute_shares(self) -> tuple[Vector, Vector]:
        """Return effective degrees of freedom and scaled squares of the weights of atoms."""
        mode, k = self.state.mode, len(self.labels)
        return mode.hessian.degrees_of_freedom, (mode.hessian.precision * mode.weights**2)[:k]

    def compute_gradient(self) -> Vector:
        """Return the exact derivative of the Laplace evidence in each log precision."""
        return self.state.mode.gradient(self.likelihood, exact=True)

    def compute_shrinkage(self) -> Matrix:
        """Return the posterior covariance in units of the prior standard deviations."""
        hessian, k = self.state.mode.hessian, len(self.labels)
        root = np.sqrt(hessian.precision[:k])
        return hessian.covariance[:k, :k] * np.multiply.outer(root, root)


class LatentGroupSearch(GroupSearch[LatentGroupPoint]):
    """Search over the precisions of groups, with the Laplace approximation inside."""

    def __init__(
        self, problem: LatentProblem, columns: TiedColumns, tol: float, monitor: Monitor | None
    ) -> None:
        self.problem, self.columns = problem, columns
        self.least, self.most = columns.least, columns.most
        super().__init__(columns.n_groups, tol, monitor)

    def evaluate(self, theta: Vector, start: LatentGroupPoint | None = None) -> LatentGroupPoint:
        """Find the mode at log precisions `theta`, from the weights of another point."""
        known = np.append(theta, 0.0)  # label -1: flat, always in the model
        active = np.flatnonzero(np.isfinite(known[self.columns.labels]))
        labels = self.columns.labels[active]
        log_precision = self.columns.flat[active] + known[labels]
        columns, likelihood = self.columns.columns, self.problem.likelihood
        mode = find_mode(
            columns if len(active) == columns.shape[1] else columns[:, active],
            log_precision,
            likelihood,
            None if start is None else start.state.get_initial_weights(active),
            has_intercept=self.problem.has_intercept,
        )
        state = LatentState(active, log_precision, mode, mode.log_evidence)
        return LatentGroupPoint(theta, labels, mode.log_evidence, state, likelihood)

    def compute_entry_statistics(self, outside: IndexArray) -> EntryStatistics:
        """Compute the statistics of weights outside the model, as `find_candidate_units` does."""
        mode, likelihood = self.point.state.mode, self.problem.likelihood
        places = np.flatnonzero(np.isin(self.columns.labels, outside))
        columns = self.columns.columns[:, places]
        q = mode.slope @ columns
        _, s, _ = mode.hessian.compute_entry_statistics(DenseDictionary(columns))
        # To first order in its prior variance v an atom has the weight v q, which changes the
        # curvature of the likelihood and with it the volume.
        curved = q * (compute_curvature_term(mode, likelihood, 0.0) @ columns)
        return EntryStatistics(self.columns.labels[places], s[:, 0], q * q - curved)
