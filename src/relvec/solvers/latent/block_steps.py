"""Trial models and candidate atoms of one block, from a regression at fixed curvature.

At the mode the log likelihood of a latent function ``f`` is approximated by a quadratic. This is a
regression with unit noise, with the curvatures ``b`` as weights of the rows and the working
response ``f + slope / b`` as target: one step of iteratively reweighted least squares (Tipping
2001, section 3).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from relvec._typing import BoolArray, IndexArray, Matrix, Vector
from relvec.likelihoods.base import WorkingResponse
from relvec.moments.gram import SufficientStatistics
from relvec.moments.weighted import WeightedMoments
from relvec.solvers.base import Problem
from relvec.solvers.gaussian.ascent import Schedule, ascend
from relvec.solvers.gaussian.newton import Objective, evaluate
from relvec.solvers.gaussian.screening import screen
from relvec.solvers.gaussian.state import State, compute_objective, evaluate_state
from relvec.solvers.groups import best_common_precision
from relvec.solvers.latent.problem import LatentProblem, LatentState
from relvec.solvers.latent.signs import ascend_signed, has_wrong_sign

__all__ = ["BlockCandidates", "find_block_model", "screen_blocks"]


class BlockCandidates(NamedTuple):
    """Trial model of a block, or candidate atoms for it, best first."""

    atoms: IndexArray
    """Numbered over all blocks: ``block * n_atoms + atom``."""
    log_precision: Vector
    """Their best log precisions at fixed curvature."""
    gain: float
    """Gain in log evidence, less penalties, of the model or of the best atom; zero if nothing
    gains."""


def find_block_model(
    latent: LatentProblem,
    state: LatentState,
    block: int,
    response: WorkingResponse,
    working: IndexArray,
    atoms: Matrix,
    schedule: Schedule,
) -> BlockCandidates:
    """Maximise the evidence of the regression of a block, with weights of the required signs.

    Only the atoms of the working set may be in the model. `working` has their numbers, ascending
    and including the active ones; `atoms` has their columns.
    """
    first = block * latent.dictionary.shape[1]
    statistics = SufficientStatistics(len(working))
    # Weighted least squares: rows weighted by B, target z = f + slope / B, unit noise. Centring
    # integrates the intercept out.
    statistics.update(atoms, response.target, response.curvature)
    moments = statistics.moments(centre=latent.has_intercept)
    prior, min_gain = latent.regression_prior.subset(working), latent.min_gain[working]
    problem = Problem(moments, min_gain=min_gain, prior=prior, noise_variance=1.0)
    in_block = np.isin(state.active, working + first)
    inside = np.searchsorted(working, state.active[in_block] - first)
    # The regression has unit columns and sigma^2 = 1: log lam = log alpha - 2 log |phi|
    # (docs/notation.md). The norms are those under the weights B.
    norms = 2.0 * np.log(moments.column_norm)
    start = State(inside, state.log_precision[in_block] - norms[inside])
    if latent.signs is None:
        end = ascend(problem, start, schedule, noise_variance=1.0)
    else:
        end = ascend_signed(problem, start, schedule, latent.signs[working])
        end = end._replace(objective=_value(problem, end))
    # Same quadratic approximation at both ends, so constants of the working response cancel.
    gain = end.objective - _value(problem, start)
    least, _ = latent.bounds(atoms[:, end.active])
    # Back to raw columns; separable classes would send the prior variance to infinity.
    log_precision = np.maximum(end.theta + norms[end.active], least)
    return BlockCandidates(working[end.active] + first, log_precision, gain)


def _value(problem: Problem, state: State) -> float:
    """Compute the objective of a regression at given precisions."""
    point = evaluate_state(problem, state)
    if point is None:
        return -np.inf
    return compute_objective(
        problem, state.active, point.quadratic, point.log_det, point.prior, 1.0
    )


def screen_blocks(
    problem: LatentProblem, state: LatentState, threshold: float, most: int
) -> list[BlockCandidates]:
    """Screen every atom of every block at fixed curvature.

    Returns for each block the `most` best atoms among those that gain more than `threshold` and
    their penalty. Atoms whose slope has the wrong sign are left out.
    """
    n_atoms, prior, found = problem.dictionary.shape[1], problem.regression_prior, []
    entry_penalty = (
        problem.compute_entry_penalty(state) if problem.is_penalty_at_reference else None
    )
    responses = problem.likelihood.working_responses(state.mode.latent)
    for k, (curvature, response) in enumerate(responses):
        in_block = state.active // n_atoms == k
        active = state.active[in_block] - k * n_atoms
        moments = WeightedMoments(
            problem.dictionary, response, curvature, centre=problem.has_intercept, active=active
        )
        # Precisions of columns of unit norm in the metric of B, as in find_block_model.
        theta = state.log_precision[in_block] - 2.0 * np.log(moments.column_norm[active])
        objective = Objective(moments.n_effective, moments.target_ss, prior.subset(active), 1.0)
        point = evaluate(moments.gram(active), moments.correlation[active], theta, objective)
        if point is None:  # not defined to working precision: no candidates
            found.append(BlockCandidates(np.empty(0, dtype=np.intp), np.empty(0), 0.0))
            continue
        all_statistics = screen(
            Problem(moments, prior=prior, noise_variance=1.0), active, point
        ).statistics
        # s below the resolution: the column is a linear combination of the active ones to rounding.
        admissible: BoolArray = moments.usable & (all_statistics.s > moments.resolution)
        admissible[active] = False
        if problem.signs is not None:
            # The weight of an entering atom is q / (lam + s): it has the sign of q.
            admissible &= ~has_wrong_sign(problem.signs, all_statistics.q)
        index = np.flatnonzero(admissible)
        statistics, norm = all_statistics.subset(index), moments.column_norm[index]
        if entry_penalty is not None:
            # s and r of raw columns scale with |phi|^2; divided by it, r / (a + s) has the
            # precision lam of the unit column.
            bound = tuple(x[index, k : k + 1] / norm[:, None] ** 2 for x in entry_penalty)
            square = np.square(statistics.q)[:, None]
            gain, log_unit = best_common_precision(statistics.s[:, None], square, bound)
        else:
            gain, lam = prior.subset(index).best_precision(statistics, moments.n_effective, 1.0)
            log_unit = np.log(np.maximum(lam, 1e-300))
        net = gain - np.maximum(problem.min_gain[index], threshold)
        order = np.argsort(-net, kind="stable")[:most]
        order = order[net[order] > 0.0]
        log_precision = log_unit[order] + 2.0 * np.log(norm[order])
        best = max(0.0, float(net.max(initial=0.0)))
        found.append(BlockCandidates(index[order] + k * n_atoms, log_precision, best))
    return found
