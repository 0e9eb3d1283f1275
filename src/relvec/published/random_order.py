"""Sequential updates in random order, as in Schmolck's (2008) smooth relevance vector machine.

The local maximum that a run finds depends on the order, so many runs explore the local maxima of
the evidence (marginal likelihood); a deterministic search can be compared with them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from sklearn.utils import check_random_state

from relvec._checks import check_bool
from relvec._typing import Vector
from relvec.published._solver import Run
from relvec.published.textbook import SingleSteps, TextbookSolver
from relvec.solvers.base import Monitor, Problem, Relay, Solution, WarmStart
from relvec.solvers.gaussian import reference
from relvec.solvers.gaussian.ascent import Schedule, ascend
from relvec.solvers.gaussian.reference import Fit
from relvec.solvers.gaussian.state import State


@dataclass(kw_only=True, eq=False, repr=False)
class RandomOrderSolver(TextbookSolver):
    """Add, re-estimate or delete one atom at a time, in random order (Schmolck, 2008).

    Every step picks at random an atom that is in the model or would gain by entering, and sets its
    precision to the maximum of the objective. Meant for exploring the local maxima of the evidence
    (see `relvec.explore_optima`), not for finding the best one.

    Parameters
    ----------
    noise_every : int, default=10
        Number of steps between re-estimates of the noise. With a small number the noise is
        re-estimated while few atoms are in the model; more runs then end in local maxima with a
        large noise and few atoms.
    random_state : int, RandomState instance or None, default=None
        Determines the order; pass an int for reproducible runs.
    polish : bool, default=True
        Finish with joint Newton steps in precisions and noise, so that the result is a maximum to
        the same accuracy as that of the default solver.
    max_iter : int, default=10000
        Maximum number of steps.
    tol : float, default=0.01
        The run has converged when no atom would enter or leave, and neither a log precision nor
        the log noise would change by more than this.

    Notes
    -----
    The run starts from the atom with the largest normalised projection on the target and a noise
    variance of a tenth of that of the target. The noise is re-estimated at fixed weight precisions,
    by maximising the objective. ``min_gain`` is applied as in `TextbookSolver`.

    References
    ----------
    Schmolck (2008), Smooth relevance vector machines, thesis, University of Exeter,
    algorithm 1 and section 2.6.6.

    Examples
    --------
    >>> from relvec.published import RandomOrderSolver
    >>> RandomOrderSolver(noise_every=40, random_state=0)
    RandomOrderSolver(noise_every=40, random_state=0)
    """

    max_iter: int = 10000
    tol: float = 0.01
    noise_every: int = 10
    random_state: Any = None
    polish: bool = True

    uses_min_gain = True

    def solve(
        self,
        problem: Problem,
        *,
        warm_start: WarmStart | None = None,
        monitor: Monitor | None = None,
    ) -> Solution:
        """Maximise the objective of `problem`, once.

        The arguments are those of `TextbookSolver.solve`.
        """
        check_bool("polish", self.polish)
        relay = Relay(monitor)
        end = super().solve(problem, warm_start=warm_start, monitor=relay)
        if not self.polish or relay.is_stop_requested or not end.n_iter:
            return end
        polished = ascend(
            problem,
            State(end.active, end.log_lam),
            Schedule(),
            noise_variance=problem.noise_variance,
            stage="polish",
            monitor=monitor,
        )
        n_iter, trace = end.n_iter + polished.n_rounds, end.trace + polished.trace
        return polished.solution(n_iter, problem, trace=trace)

    def _run(self, problem: Problem) -> Run:
        return _RandomSteps(problem, self)


class _RandomSteps(SingleSteps):
    """The steps of the textbook algorithm, with the atom chosen at random."""

    stage = "random order"

    def __init__(self, problem: Problem, solver: RandomOrderSolver) -> None:
        super().__init__(problem, solver)
        self.random = check_random_state(solver.random_state)

    def choose(self, wanted: Vector, gain: Vector, change: Vector) -> int:
        """Choose at random among the atoms that are in the model or would gain by entering."""
        if self.n_steps == 0 and not (change < np.inf).all():
            return super().choose(wanted, gain, change)
        # Finite wanted precision: stays or enters. Positive change with an infinite one: leaves.
        eligible = np.flatnonzero(np.isfinite(wanted) | (change > 0.0))
        return int(self.random.choice(eligible)) if len(eligible) else 0

    def with_noise(self, fit: Fit, alpha: Vector) -> tuple[Fit, float]:
        """Maximise the objective over the noise at fixed precisions of the weights."""
        if self.problem.noise_variance is not None or not len(alpha):
            noise = reference.best_noise(self.problem, fit)
        else:
            present = float(np.log(fit.lam[0] / alpha[0]))
            noise = _best_noise(self.problem, fit, alpha, present)
            noise = reference.bounded_noise(self.problem, noise)
        return reference.condition(self.problem, fit.active, alpha * noise), noise


def _best_noise(problem: Problem, fit: Fit, alpha: Vector, present: float) -> float:
    """Maximise over the log noise in the eigenbasis of ``A^-1/2 G A^-1/2``."""
    prior, moments = problem.prior.subset(fit.active), problem.moments
    scale = 1.0 / np.sqrt(alpha)
    scaled = moments.gram(fit.active) * np.multiply.outer(scale, scale)
    # One decomposition for all noise variances: at fixed alpha, lam = alpha sigma^2 and A^-1/2 (G +
    # sigma^2 A) A^-1/2 = V (diag(values) + sigma^2 I) V'.
    values, vectors = np.linalg.eigh(scaled)
    values = np.maximum(values, 0.0)
    projection = (vectors.T @ (scale * moments.correlation[fit.active])) ** 2
    count = moments.n_effective + 2.0 * prior.noise.shape
    rate = 2.0 * prior.noise.rate
    # sum_i c_i gamma_i = sum_j (sum_i c_i V_ij^2) values_j / (values_j + sigma^2).
    degrees = np.broadcast_to(prior.penalty, values.shape) @ vectors**2

    def cost(log_noise: float) -> float:
        noise = np.exp(log_noise)
        total = values + noise
        # R = t'K^-1 t by the Woodbury identity: t't - t'Phi (G + sigma^2 A)^-1 Phi't; rounding may
        # make it negative.
        quadratic = max(moments.target_ss - float((projection / total).sum()), 0.0) + rate
        # -2 J up to constants: N log sigma^2 + R / sigma^2 + log|K|, log|K| = sum log(1 + values /
        # sigma^2) by the determinant lemma.
        value = count * log_noise + quadratic / noise + float(np.log(total / noise).sum())
        # lam = alpha sigma^2 changes with the noise
        value -= 2.0 * float(prior.log_density(np.log(alpha) + log_noise, noise).sum())
        return float(value + 2.0 * float(degrees @ (values / total)))

    # A bounded search needs an interval: centred on the present log noise.
    reach = (
        present - 6.0,
        present + 6.0,
    )  # by a factor of e^6 at most
    return float(np.exp(minimize_scalar(cost, bounds=reach, method="bounded").x))
