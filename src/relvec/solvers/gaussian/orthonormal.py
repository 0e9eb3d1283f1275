"""Closed-form solution for orthonormal dictionaries.

Given the noise variance, the objective is a sum over atoms, and each precision has a closed form
(see `shrinkage`). What remains is a function of the noise variance alone, whose maxima are all
found (see `noise_profile`). The result is the global maximum.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from relvec._typing import IndexArray, Vector
from relvec.priors import Statistics
from relvec.solvers.base import (
    Candidate,
    Certificate,
    Monitor,
    Problem,
    Progress,
    Solution,
    WarmStart,
)
from relvec.solvers.gaussian.noise_profile import Curve, Group, NoiseOnly
from relvec.solvers.gaussian.reference import solve_trivial
from relvec.solvers.gaussian.shrinkage import entry_threshold


def find_unmet_condition(problem: Problem) -> str | None:
    """Return a message about the first unmet condition of the closed form; None if all are met."""
    if not problem.moments.is_orthonormal:
        return (
            'solver="orthonormal" needs prepared atoms that are orthonormal: an orthonormal basis '
            "by itself (WaveletBasis, CosineBasis), no sample weights, and fit_intercept=False "
            "(CosineBasis may have an intercept). Change these, or use "
            'solver="sequential", which needs none of them.'
        )
    if not problem.prior.is_removable:
        return (
            "The closed form has no Gamma prior on weight precisions: atoms are kept or switched "
            'off (infinite precision). Use solver="mackay" or solver="em".'
        )
    if problem.prior.has_density:
        return (
            "The closed form has no Laplace prior, nor any density of the precisions, under which "
            'the noise has no profile in closed form. Use solver="sequential", or a penalty on '
            'degrees of freedom such as prior="bic".'
        )
    penalties = problem.min_gain[problem.moments.usable]
    if len(penalties) and not (penalties == penalties[0]).all():
        return (
            "The closed form needs the same min_gain for every atom; got values from "
            f"{penalties.min():g} to {penalties.max():g}. Give one number, or use "
            'solver="sequential".'
        )
    return None


class OrthonormalSolver(BaseEstimator):
    """Closed-form solver for orthonormal atoms: no iteration over atoms.

    With a smoothness prior of penalty ``c``, an atom is kept if its squared coefficient exceeds
    ``(1 + 2 c) sigma^2`` (more with a positive `min_gain`); its posterior mean is shrunk. An
    estimated noise variance is the best of all local maxima of the evidence in the noise.
    `SequentialSolver` uses the same closed form whenever its conditions are met; this solver raises
    an error if they are not.

    Under a flat prior without penalties, with the noise estimated, a complete basis fits any data
    exactly. As in the other solvers the number of atoms is then capped at half the sample size, and
    the solution is marked by `reached_max_active`. A local maximum below the cap is preferred to a
    higher one at the cap.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec import SparseBayesRegressor
    >>> from relvec.bases import CosineBasis
    >>> x = np.arange(64.0)[:, np.newaxis]
    >>> noise = np.random.default_rng(0).normal(scale=0.1, size=64)
    >>> y = np.cos(np.pi * 3 * (x[:, 0] + 0.5) / 64) + noise
    >>> model = SparseBayesRegressor(CosineBasis(), prior="ric", solver="orthonormal").fit(x, y)
    >>> model.relevance_
    array([3])
    """

    def solve(
        self,
        problem: Problem,
        *,
        warm_start: WarmStart | None = None,
        monitor: Monitor | None = None,
    ) -> Solution:
        """Maximise the objective of `problem`.

        Parameters
        ----------
        problem : Problem
            A problem with orthonormal atoms and the same `min_gain` for every atom.
        warm_start : WarmStart, optional
            Ignored: there is no search.
        monitor : callable, optional
            Called once, at the end.
        """
        obstacle = find_unmet_condition(problem)
        if obstacle is not None:
            raise ValueError(obstacle)
        answer = solve_trivial(problem)
        if answer is not None:
            return answer
        solution = _ClosedForm(problem).solution()
        if monitor is not None:
            monitor(Progress("closed form", 1, solution.objective, len(solution.active)))
        return solution


class _NoiseMaximum(NamedTuple):
    """A local maximum of the objective in the noise variance."""

    noise: float
    objective: float
    n_active: int
    reached_max_active: bool


class _ClosedForm:
    """Closed form of one problem, with atoms sorted by the noise variance up to which they stay."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        moments, noise = problem.moments, problem.prior.noise
        usable = np.flatnonzero(moments.usable)
        # For orthonormal atoms z = Phi't are the coefficients of the data.
        squares = moments.correlation[usable] ** 2
        self.entry_penalty = float(problem.min_gain[usable[0]])
        self.penalty = np.broadcast_to(problem.prior.penalty, moments.correlation.shape)
        kinds, kind = np.unique(self.penalty[usable], return_inverse=True)
        thresholds = np.array([entry_threshold(c, self.entry_penalty) for c in kinds.tolist()])
        # As in the other solvers, a single sample supports no atom.
        cap = min(problem.active_cap, len(usable)) if moments.n_effective >= 2 else 0
        # Ascending order; of equal coefficients those of the first atoms are kept.
        breakpoints = squares / thresholds[kind]
        order = len(squares) - 1 - np.argsort(breakpoints[::-1], kind="stable")
        self.atoms, squares, kind = usable[order], squares[order], kind[order]
        # Atoms beyond the cap can never be kept; the noise has to explain them.
        first = len(squares) - cap
        self.excluded = float(breakpoints[order[first - 1]]) if first else 0.0
        """Noise variance below which atoms excluded by the cap would be kept."""
        # By Parseval's identity t't = sum z^2 + (squares outside the span of the atoms). A complete
        # basis leaves nothing outside, and the difference would be rounding error.
        outside = max(moments.n_effective - len(squares), 0.0)
        outside_ss = moments.target_ss - float(squares.sum()) if outside > 0.0 else 0.0
        self.curve = Curve(
            [
                Group(squares[first:][kind[first:] == number], c, self.entry_penalty)
                for number, c in enumerate(kinds.tolist())
            ],
            NoiseOnly(
                outside + first + 2.0 * noise.shape,
                max(outside_ss, 0.0) + float(squares[:first].sum()) + 2.0 * noise.rate,
            ),
        )

    def _evaluate_noise(self, noise: float) -> _NoiseMaximum:
        n_active = self.curve.n_kept(noise)
        constant = 0.5 * self.problem.moments.n_effective * math.log(2.0 * math.pi)
        reached_max_active = n_active == self.curve.size and self.excluded > noise
        return _NoiseMaximum(
            noise, self.curve.objective(noise) - constant, n_active, reached_max_active
        )

    def solution(self) -> Solution:
        """Return the best maximum in the noise variance, below the cap if there is one."""
        held = self.problem.noise_variance
        candidates = [
            self._evaluate_noise(s) for s in (self.curve.maxima() if held is None else [held])
        ]
        # At the cap the noise is not identifiable: these maxima come last whatever their value.
        candidates.sort(
            key=lambda each: (not each.reached_max_active, each.objective), reverse=True
        )
        best = candidates[0]
        active = np.sort(self.atoms[len(self.atoms) - best.n_active :])
        squares = self.problem.moments.correlation[active] ** 2
        # kappa = 1 / (1 + lam) = 1 - 1 / v, so lam = 1 / (v - 1) with v = u - 2 c.
        lam = 1.0 / (squares / best.noise - 2.0 * self.penalty[active] - 1.0)
        certificate = self._certificate(active, lam, best.noise)
        return Solution(
            active=active,
            log_lam=np.log(lam),
            noise_variance=best.noise,
            objective=best.objective,
            n_iter=1,
            converged=not best.reached_max_active and certificate.best_gain <= 1e-3,
            certificate=certificate,
            reached_max_active=best.reached_max_active,
            trace=(best.objective,),
            candidates=tuple(
                Candidate(f"noise variance {each.noise:.3g}", each.objective, each.n_active)
                for each in candidates
            ),
        )

    def _certificate(self, active: IndexArray, lam: Vector, noise: float) -> Certificate:
        """Derivatives at the solution, and the best gain of an atom left out."""
        problem, moments = self.problem, self.problem.moments
        c, noise_prior = self.penalty[active], problem.prior.noise
        # G = I: S = kappa, gamma = kappa and Q = c kappa^2 in
        # `relvec.evidence.gradient_and_hessian`, here with the sign and factor of dJ / d log lam.
        kappa = 1.0 / (1.0 + lam)
        mean = kappa * moments.correlation[active]
        gradient = 0.5 * (kappa + 2.0 * c * lam * kappa**2 - lam * mean**2 / noise)
        outside = moments.usable.copy()
        outside[active] = False
        z = moments.correlation[outside]
        # R = t't - mu' Phi't. An absent atom has s = 1, q = z and w = c, as it is orthogonal to
        # all.
        quadratic = moments.target_ss - float(mean @ moments.correlation[active])
        stats = Statistics(
            np.ones_like(z),
            z,
            self.penalty[outside] if problem.prior.is_penalised else None,
            max(quadratic, 0.0) + 2.0 * noise_prior.rate,
        )
        entry, _ = problem.prior.subset(np.flatnonzero(outside)).best_precision(
            stats, moments.n_effective + 2.0 * noise_prior.shape, problem.noise_variance
        )
        return Certificate(
            float(np.abs(gradient).max(initial=0.0)),
            max(float(entry.max(initial=-np.inf)) - self.entry_penalty, 0.0),
        )
