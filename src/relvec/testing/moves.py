"""Conformance check for a single move of a collapsed sampler."""

from __future__ import annotations

import itertools

import numpy as np

from relvec.sampling.collapsed import make_target
from relvec.sampling.moves import Move
from relvec.sampling.priors import PrecisionGrid
from relvec.sampling.state import make_state
from relvec.testing._claims import require
from relvec.testing._enumeration import Enumeration, sampled_problems

N_ERRORS = 5.0
"""Largest deviation in Monte Carlo standard errors; a correct move exceeds it on about one seed in
a thousand."""


def check_move(move: Move, *, n_transitions: int = 200, is_reversible: bool = True) -> None:
    """Check that a move of `relvec.sampling.CollapsedSampler` leaves the posterior invariant.

    On a problem with three atoms, two of them similar, and two precisions, 27 models in all, the
    transition matrix ``P`` is estimated by moves from every model. With the posterior ``pi`` by
    enumeration, ``pi P = pi`` must hold, and detailed balance ``pi_i P_ij = pi_j P_ji``, within
    Monte Carlo errors. Transitions are checked, not where they lead in many steps: a move may be
    correct and never leave a set of models, as one that never changes their size.

    Parameters
    ----------
    move : callable
        Function of a state and of a random generator that returns a state.
    n_transitions : int, default=200
        Moves from each model. Errors of probabilities below about ``1 / sqrt(27 n_transitions)``
        go unnoticed.
    is_reversible : bool, default=True
        Whether detailed balance must hold; invariance must hold in any case.

    Raises
    ------
    AssertionError
        If a requirement is violated.

    Examples
    --------
    >>> from relvec.sampling.moves import redraw_slot
    >>> from relvec.testing import check_move
    >>> check_move(redraw_slot, n_transitions=50)
    """
    name = getattr(move, "__name__", repr(move))
    problem = sampled_problems()[0]
    problem = problem._replace(atoms=problem.atoms[:, [0, 1, 3]])
    for noise_variance in (None, 1.0):
        target = make_target(
            problem.moments,
            grid=PrecisionGrid(0.03, 0.3, n_levels=2),
            noise_variance=noise_variance,
        )
        exact = Enumeration(*problem.prepare(), target)
        n, rng = len(exact.probability), np.random.default_rng(5)
        counts = np.zeros((n, n))
        for start, _ in itertools.product(range(n), range(n_transitions)):
            state = make_state(
                target, np.array(exact.inside[start], int), np.array(exact.levels[start], int)
            )
            state = move(state, rng)
            end = exact.find(state.active, state.level)
            counts[start, end] += 1.0
        share = counts / n_transitions
        # Laplace's rule keeps the error of transitions that were never seen above zero.
        smooth = (counts + 1.0) / (n_transitions + 2.0)
        pi = exact.probability[:, np.newaxis]
        flow, variance = pi * share, pi**2 * smooth * (1.0 - smooth) / n_transitions
        deviation = np.abs(flow.sum(axis=0) - exact.probability) / np.sqrt(variance.sum(axis=0))
        worst = int(np.argmax(deviation))
        require(
            bool(deviation[worst] <= N_ERRORS),
            f"{name} does not leave the posterior invariant: of the model of atoms "
            f"{exact.inside[worst]} at levels {exact.levels[worst]}, the probability is "
            f"{exact.probability[worst]:.4g} before and {flow.sum(axis=0)[worst]:.4g} after a "
            f"move, {deviation[worst]:.1f} standard errors apart",
        )
        if not is_reversible:
            continue
        deviation = np.abs(flow - flow.T) / np.sqrt(variance + variance.T)
        i, j = divmod(int(np.argmax(deviation)), n)
        require(
            bool(deviation[i, j] <= N_ERRORS),
            f"{name} violates detailed balance: between the models of atoms {exact.inside[i]} "
            f"and {exact.inside[j]}, the flows are {flow[i, j]:.4g} and {flow[j, i]:.4g}, "
            f"{deviation[i, j]:.1f} standard errors apart",
        )
