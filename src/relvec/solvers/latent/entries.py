"""Entries with the covariance of all weights: units that gain whatever block they are in.

A unit is a pair of an atom and a block or, if blocks share precisions, an atom in all of them.
"""

from __future__ import annotations

import numpy as np

from relvec._typing import BoolArray, IndexArray, Matrix, Vector
from relvec.solvers.gaussian.tuning import DEFAULT
from relvec.solvers.latent.block_steps import Proposal
from relvec.solvers.latent.common_precision import best_common_precision
from relvec.solvers.latent.walk import Walk

__all__ = ["enter_jointly", "promising_units", "units_first"]


def units_first(walk: Walk, values: np.ndarray) -> np.ndarray:
    """Arrange statistics of shape (n_atoms, n_blocks) by unit, its weights in the second axis."""
    return values if walk.problem.tied > 1 else values.T.reshape(-1, 1)


def promising_units(walk: Walk, threshold: float) -> Proposal:
    """Find units that gain at fixed curvature: if shared, numbered like the atoms."""
    problem, mode = walk.problem, walk.state.mode
    q = problem.dictionary.rmatmat(mode.slope.reshape(-1, problem.n_blocks))
    admissible, s, priced = problem.entry(walk.state)
    # without the price, a unit gains only if its slope is larger than by chance
    allowed = np.any(units_first(walk, admissible), axis=1)
    allowed &= np.any(units_first(walk, q * q > s), axis=1)
    allowed[walk.state.active[: len(walk.state.active) // problem.tied]] = False
    units = np.flatnonzero(allowed)
    gain, log_precision = best_common_precision(
        units_first(walk, s)[units],
        np.square(units_first(walk, q)[units]),
        None if priced is None else tuple(units_first(walk, x)[units] for x in priced),
    )
    net = gain - np.maximum(problem.min_gain[units % walk.n_atoms], threshold)
    order = np.argsort(-net, kind="stable")
    order = order[net[order] > 0.0]
    best = float(net[order[0]]) if len(order) else 0.0
    return Proposal(units[order], log_precision[order], best)


def enter_jointly(walk: Walk, threshold: float) -> bool:
    """Take in the units that promise most, if the objective rises."""
    tuning, n_units = walk.tuning, len(walk.state.active) // walk.problem.tied
    units, log_precision, _ = promising_units(walk, threshold)
    most = max(3 * n_units, 12 + tuning.tried)
    new = ~_are_copies(walk, units[:most])
    units, log_precision = units[:most][new], log_precision[:most][new]
    if not len(units):
        return False
    batch = _unlike(walk, units, max(n_units // 2, 4))
    walk.hold(walk.problem.expanded(units[batch]))
    if len(batch) > 1 and _admit(walk, units[batch], log_precision[batch]):
        return True
    walk.hold(walk.problem.expanded(units[: tuning.tried]))
    for unit, value in zip(units[: tuning.tried], log_precision[: tuning.tried], strict=True):
        for weaker in range(tuning.weaker_jointly):
            if _admit(walk, np.array([unit]), np.array([value + weaker * np.log(4.0)])):
                return True
    return False


def _admit(walk: Walk, units: IndexArray, log_precision: Vector) -> bool:
    active, proposed = walk.enter(units, log_precision)
    return walk.step_towards(active, np.maximum(proposed, walk.bounds(active)[0]))


def _unlike(walk: Walk, units: IndexArray, size: int) -> IndexArray:
    """Positions of the first units, as many as may enter together, that are not alike."""
    head = units[: 3 * size]
    atoms = _of_length_one(walk, head)
    alike = np.abs(atoms.T @ atoms) > walk.tuning.alike
    chosen: list[int] = []
    for place in range(len(head)):
        if len(chosen) < size and not alike[place, chosen].any():
            chosen.append(place)
    return np.array(chosen, dtype=np.intp)


def _are_copies(walk: Walk, units: IndexArray) -> BoolArray:
    """Whether units have the same atom, up to a factor, as one in the model.

    Two copies share a weight in any proportion: a second one adds nothing but its price.
    """
    active = walk.state.active[: len(walk.state.active) // walk.problem.tied]
    product = _of_length_one(walk, units).T @ _of_length_one(walk, active)
    same_block = np.equal.outer(units // walk.n_atoms, active // walk.n_atoms)
    copies: BoolArray = np.any(
        (np.abs(product) > 1.0 - DEFAULT.copy_tolerance) & same_block, axis=1
    )
    return copies


def _of_length_one(walk: Walk, units: IndexArray) -> Matrix:
    """Atoms of some units, as an intercept leaves them, scaled."""
    atoms = walk.problem.dictionary.columns(units % walk.n_atoms)
    weight = walk.problem.likelihood.weight
    if walk.problem.has_intercept and len(units):
        atoms = atoms - np.average(atoms, axis=0, weights=weight)
    if weight is not None:
        atoms = atoms * np.sqrt(weight)[:, None]
    return atoms / np.maximum(np.linalg.norm(atoms, axis=0), 1e-300)
