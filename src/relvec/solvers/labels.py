"""The problem a classification solver is given and the answer it returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from relvec._typing import IndexArray, Matrix, Vector
from relvec.dictionaries.base import Dictionary
from relvec.laplace import Labels, Mode, bound_degrees, find_mode
from relvec.priors.base import GammaHyperprior
from relvec.solvers.base import Certificate, Monitor

__all__ = ["LabelProblem", "LabelSolution", "LabelSolver", "LabelState"]

LOG_RANGE = 30.0
"""Precisions may exceed the smallest allowed by a factor of e to this power."""


@dataclass(frozen=True)
class LabelProblem:
    """Maximise the (penalised) Laplace evidence of two classes over the precisions."""

    dictionary: Dictionary
    labels: Labels
    min_gain: Vector = 1e-3  # type: ignore[assignment]  # broadcast below
    """Per atom, or one number for all: log evidence an atom must bring to be in the model."""
    smoothness: float = 0.0
    """Price ``c`` of one effective degree of freedom."""
    is_prior: bool = True
    """Whether degrees of freedom are counted at the largest curvature, which makes the price a
    prior, or at the curvature of the model itself."""
    hyperprior: GammaHyperprior = GammaHyperprior()
    largest_logit: float = 100.0
    """Bound on the prior standard deviation of what one atom adds to a logit, over the
    training rows. Separable classes would ask for more and more."""

    def __post_init__(self) -> None:
        """Give every atom its price."""
        n_atoms = self.dictionary.shape[1]
        prices = np.broadcast_to(np.asarray(self.min_gain, float), (n_atoms,))
        object.__setattr__(self, "min_gain", prices)

    def evaluate(
        self,
        active: IndexArray,
        log_precision: Vector,
        atoms: Matrix,
        start: Vector | None = None,
    ) -> LabelState:
        """Find the mode and the objective of a model whose active atoms are given."""
        mode = find_mode(atoms, log_precision, self.labels, start)
        objective = mode.log_evidence - float(self.min_gain[active].sum())
        if self.smoothness:
            objective -= self.smoothness * self.degrees(mode)
        return LabelState(active, log_precision, mode, objective)

    def degrees(self, mode: Mode) -> float:
        """Degrees of freedom that have a price."""
        if not self.is_prior:
            return mode.degrees
        k = mode.n_atoms
        return bound_degrees(
            mode.atoms[:, :k], mode.precision[:k], self.labels.weight, self.labels.has_intercept
        )[0]

    def gradient(self, mode: Mode, *, exact: bool) -> Vector:
        """Derivative of the objective in the log precisions."""
        c = self.smoothness
        if not c or not self.is_prior:
            return mode.gradient(c, exact=exact)
        k = mode.n_atoms
        slope = bound_degrees(
            mode.atoms[:, :k], mode.precision[:k], self.labels.weight, self.labels.has_intercept
        )[1]
        result: Vector = mode.gradient(0.0, exact=exact) + c * slope
        return result


@dataclass(frozen=True)
class LabelState:
    """An active set with its log precisions, evaluated."""

    active: IndexArray
    """Ascending."""
    log_precision: Vector
    mode: Mode
    objective: float

    def start_for(self, active: IndexArray) -> Vector:
        """Weights of this state for another active set; zero for atoms it does not have."""
        n_extra = len(self.mode.weights) - len(self.active)
        start = np.zeros(len(active) + n_extra)
        _, there, here = np.intersect1d(
            active, self.active, assume_unique=True, return_indices=True
        )
        start[there] = self.mode.weights[here]
        if n_extra:
            start[-1] = self.mode.weights[-1]
        return start


@dataclass(frozen=True)
class LabelSolution:
    """The answer of a classification solver."""

    state: LabelState
    n_iter: int
    converged: bool
    certificate: Certificate
    """Derivatives of the Laplace evidence at the end: exact ones if the solver is."""
    trace: tuple[float, ...] = ()
    """Objective after each accepted step; it never falls."""


class LabelSolver(Protocol):
    """Anything that turns a `LabelProblem` into a `LabelSolution`."""

    def solve(
        self,
        problem: LabelProblem,
        *,
        warm_start: tuple[IndexArray, Vector] | None = None,
        monitor: Monitor | None = None,
    ) -> LabelSolution:
        """Maximise the objective of `problem`."""
        ...
