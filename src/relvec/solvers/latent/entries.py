"""Additions that use the covariance of all weights, over all blocks.

A unit is a pair of an atom and a block or, if blocks share precisions, an atom in all of them.
"""

from __future__ import annotations

import numpy as np

from relvec._typing import IndexArray, Matrix, Vector
from relvec.laplace.hessian import Penalty
from relvec.laplace.mode import Mode
from relvec.likelihoods.base import BoundLikelihood
from relvec.solvers.gaussian.tuning import DEFAULT
from relvec.solvers.groups import best_common_precision
from relvec.solvers.latent.monotone import MonotoneSearch
from relvec.solvers.latent.signs import has_wrong_sign

__all__ = [
    "add_units_jointly",
    "compute_curvature_term",
    "find_candidate_units",
]


def find_candidate_units(
    search: MonotoneSearch, threshold: float = 0.0, *, exact: bool = False
) -> tuple[IndexArray, Vector, Vector]:
    """Find inactive units that gain, their log precisions and their gains, best first.

    Gains are less penalties, or less `threshold` if that is larger.

    At fixed curvature an atom gains if ``theta > s``, with ``theta = q^2`` for the slope ``q`` of
    the log likelihood in its weight, and ``s`` the curvature with all other weights integrated out
    (Tipping and Faul, 2003). If `exact`, ``theta`` also has the change of the curvature when the
    mode moves along the effect of the atom: the derivative of the Laplace evidence in the prior
    variance, at zero, is then exactly ``(theta - s) / 2``. Shared units are numbered like the
    atoms.
    """
    problem, mode, n_blocks = search.problem, search.state.mode, search.problem.n_blocks
    sides = mode.slope.reshape(-1, n_blocks)
    if exact:
        own = 0.0 if problem.is_penalty_prior else problem.penalty_of(search.state.active)
        drift = compute_curvature_term(mode, problem.likelihood, own)
        sides = np.hstack([sides, drift.reshape(-1, n_blocks)])
    products = problem.dictionary.rmatmat(sides)
    q = products[:, :n_blocks]
    # Square of the quality factor (Tipping & Faul 2003): at the mode X'slope = A w, so the slope in
    # the weight of an absent atom needs no correction for the other weights.
    theta = q * q
    admissible, s, entry_penalty = problem.compute_entry_statistics(search.state)
    if exact:
        # To first order in its prior variance v the atom has the weight v q. Its effect on the
        # latent functions, with the other weights adapting, changes -log|H| / 2 by -v q / 2 times
        # the product of the atom with the term computed below.
        theta = theta - q * products[:, n_blocks:]
        if entry_penalty is not None:
            # For small v = 1 / a the penalty r / (a + t) tends to r v, against (theta - s) v / 2.
            theta, entry_penalty = theta - 2.0 * entry_penalty[1], None
    # Without the penalty, a unit gains only if q^2 exceeds its expectation s under the model.
    allowed = admissible & (theta > s)
    if problem.signs is not None:
        allowed[:, 0] &= ~has_wrong_sign(problem.signs, q[:, 0])
    s, theta, is_free = (
        problem.arrange_by_unit(s),
        problem.arrange_by_unit(theta),
        problem.arrange_by_unit(allowed),
    )
    is_free = np.any(is_free, axis=1)
    # Shared units are numbered like atoms: the first block of the active set lists them all.
    is_free[search.state.active[: len(search.state.active) // problem.n_tied]] = False
    if exact:
        # Tied weights share one variance: the derivative at zero is the sum over the unit.
        is_free &= theta.sum(axis=1) > s.sum(axis=1)
    units = np.flatnonzero(is_free)
    s, theta = s[units], theta[units]
    if exact and problem.n_tied == 1:
        ratio = (theta / s)[:, 0]
        # Maximum of [log(a / (a + s)) + theta / (a + s)] / 2 at a = s^2 / (theta - s) (Tipping &
        # Faul 2003); the logarithm of a is formed from logarithms, since s^2 may underflow.
        gain = 0.5 * (ratio - 1.0 - np.log(ratio))
        log_precision = (2.0 * np.log(s) - np.log(theta - s))[:, 0]
    else:
        penalty = None
        if entry_penalty is not None:
            penalty = tuple(problem.arrange_by_unit(each)[units] for each in entry_penalty)
        gain, log_precision = best_common_precision(s, theta, penalty)
    net = gain - np.maximum(problem.min_gain[units % search.n_atoms], threshold)
    order = np.argsort(-net, kind="stable")
    return units[order], log_precision[order], net[order]


def compute_curvature_term(mode: Mode, likelihood: BoundLikelihood, c: Penalty) -> Matrix:
    """Derivative of twice the log volume in every latent value, with the other weights adapting.

    The log volume is ``log|H| / 2`` plus the penalty `c` per degree of freedom. `drift` is its
    derivative at fixed weights. The mode of the other weights follows a change of the latent
    values, which compensates part of it: ``drift - B X S X' drift``, with the posterior covariance
    ``S`` of the weights.
    """
    drift = mode.design.compute_volume_slope(mode.hessian, likelihood, mode.latent, c)
    # The other weights change by -S X'B phi per unit of the new weight: chain rule on drift.
    moved = mode.design.latent(mode.hessian.covariance @ mode.design.apply_transpose(drift))
    return drift - mode.design.apply_curvature(mode.hessian.rows, moved)


def add_units_jointly(search: MonotoneSearch, threshold: float) -> bool:
    """Add a batch of the best candidate units, or one of them, if the objective rises."""
    problem, tuning, n_atoms = search.problem, search.tuning, search.n_atoms
    units, log_precision, net = find_candidate_units(search, threshold)
    active = search.state.active[: len(search.state.active) // problem.n_tied]
    # Columns of candidates are loaded for the correlations: their number is bounded relative to the
    # size of the model.
    most = min(max(3 * len(active), 12 + tuning.n_single_trials), np.count_nonzero(net > 0.0))
    units, log_precision = units[:most], log_precision[:most]
    # A copy of an active atom can share its weight in any proportion: it only adds its penalty.
    atoms = _normalised_columns(search, units)
    is_copy = np.abs(atoms.T @ _normalised_columns(search, active)) > 1.0 - DEFAULT.copy_tolerance
    new = ~np.any(is_copy & np.equal.outer(units // n_atoms, active // n_atoms), axis=1)
    units, log_precision, atoms = units[new], log_precision[new], atoms[:, new]
    if not len(units):
        return False
    # A batch of the best units that are not strongly correlated with each other.
    size, batch = max(len(active) // 2, 4), [0]
    is_correlated = (
        np.abs(atoms[:, : 3 * size].T @ atoms[:, : 3 * size]) > tuning.max_batch_correlation
    )
    for place in range(1, len(is_correlated)):
        if len(batch) < size and not is_correlated[place, batch].any():
            batch.append(place)
    search.load_columns(problem.expand_units(units[batch]))
    if len(batch) > 1 and _try_entry(search, units[batch], log_precision[batch]):
        return True
    search.load_columns(problem.expand_units(units[: tuning.n_single_trials]))
    for unit, value in zip(
        units[: tuning.n_single_trials], log_precision[: tuning.n_single_trials], strict=True
    ):
        # The best precision assumes fixed curvature and may overshoot; prior variances 4, 16, ...
        # times smaller follow.
        for weaker in range(tuning.n_weaker_joint):
            if _try_entry(search, np.array([unit]), np.array([value + weaker * np.log(4.0)])):
                return True
    return False


def _try_entry(search: MonotoneSearch, units: IndexArray, log_precision: Vector) -> bool:
    active, proposed = search.insert_units(units, log_precision)
    least, _ = search.problem.bounds(search.columns(active))
    return search.step_towards(active, np.maximum(proposed, least))


def _normalised_columns(search: MonotoneSearch, units: IndexArray) -> Matrix:
    """Columns of the atoms of some units, centred if there is an intercept, with unit norm."""
    atoms = search.problem.dictionary.columns(units % search.n_atoms)
    weight = search.problem.likelihood.weight
    if search.problem.has_intercept and len(units):
        atoms = atoms - np.average(atoms, axis=0, weights=weight)
    if weight is not None:
        # Inner products under the sample weights.
        atoms = atoms * np.sqrt(weight)[:, None]
    return atoms / np.maximum(np.linalg.norm(atoms, axis=0), 1e-300)
