"""Moves that leave the posterior over models invariant: each is a Markov kernel of its own."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.special import expit

from relvec._typing import Vector
from relvec.sampling.state import ModelState, draw_index, make_state

__all__ = ["Move", "flip_informed", "flip_several", "redraw_presence", "redraw_slot"]

N_FLIPS = 8.0
"""Expected number of changes that `flip_several` proposes at a time. The more, the more they get
into each other's way, and the fewer proposals are accepted."""
MAX_SHARE = 0.5
"""Largest factor of the probabilities of its changes."""

Move = Callable[[ModelState, np.random.Generator], ModelState]


def flip_informed(state: ModelState, rng: np.random.Generator) -> ModelState:
    """Add or remove an atom chosen by how probable its change is.

    Locally informed proposal (Zanella 2020) with the balancing function ``g(t) = t / (1 + t)``: the
    change of atom ``i`` is proposed with probability ``g(odds of the change) / Z``, its precision
    is drawn from its conditional distribution. All of ``g(t) = t g(1 / t)`` cancels in the
    Metropolis-Hastings ratio, except ``Z(state) / Z(proposal)``.
    """
    rates = state.flip_rates
    total = float(rates.sum())
    if not total > 0.0:
        return state
    atom = draw_index(rates, rng)
    slot = state.find_slot(atom)
    level = state.draw_level(atom, rng) if slot is None else -1
    proposal = state.add(atom, level) if slot is None else state.remove(slot)
    return proposal if rng.random() * float(proposal.flip_rates.sum()) < total else state


def flip_several(state: ModelState, rng: np.random.Generator) -> ModelState:
    """Add and remove several atoms at a time, each chosen by how probable its change is.

    The change of atom ``i`` is part of the proposal with probability ``c g(odds of the change)``,
    ``g(t) = t / (1 + t)``, independently of the others; ``c`` follows from the expected number of
    changes, `N_FLIPS`. Where many atoms make little difference,
    such as kernels that overlap, this changes the size of the model in a few steps, as
    `flip_informed` does in hundreds. The proposal is accepted by Metropolis-Hastings; all
    would be accepted if the odds of atoms did not depend on one another. Locally informed changes
    of several coordinates are those of Zhang, Liu & Liu (2022, "A Langevin-like sampler for
    discrete distributions"), with exact odds in place of gradients.

    The likelihoods that are compared are those of factorised models: rounding errors of earlier
    updates end here.
    """
    if state.n_updates:
        state = state.moved_to(state.target)
    forward = _flip_several_probability(state)
    chosen = (rng.random(len(forward)) < forward).nonzero()[0]
    if not len(chosen):
        return state
    leaves = np.isin(state.active, chosen)
    stays = ~leaves
    stays[: state.n_fixed] = False
    removed, removed_level = state.active[leaves], state.level[leaves]
    added = np.setdiff1d(chosen, removed, assume_unique=True)
    added_level = np.array([state.draw_level(int(atom), rng) for atom in added], dtype=np.intp)
    proposal = make_state(
        state.target,
        np.concatenate([state.active[stays], added]),
        np.concatenate([state.level[stays], added_level]),
    )
    back = _flip_several_probability(proposal)
    # probabilities of the changes, here and back, and of all atoms that do not change
    with np.errstate(divide="ignore"):  # an underflow on the way back: not accepted
        gain = proposal.log_posterior - state.log_posterior
        gain += float(np.log(back[chosen]).sum() - np.log(forward[chosen]).sum())
        gain += proposal.log_level_probability(removed, removed_level)
        gain -= state.log_level_probability(added, added_level)
        kept = np.log1p(-back) - np.log1p(-forward)
    gain += float(kept.sum() - kept[chosen].sum())
    return proposal if rng.random() < math.exp(min(gain, 0.0)) else state


def _flip_several_probability(state: ModelState) -> Vector:
    """Return the probability that `flip_several` proposes to change each atom."""
    rates = state.flip_rates
    total = float(rates.sum())
    return rates * (min(MAX_SHARE, N_FLIPS / total) if total > 0.0 else 0.0)


def redraw_slot(state: ModelState, rng: np.random.Generator) -> ModelState:
    """Replace an atom of the model, chosen at random, by one drawn from all that are not in it.

    A Gibbs step: atom and precision are drawn from their joint conditional distribution given the
    rest of the model, so that it is always accepted. It moves an atom to any distance.
    """
    if not state.size:
        return state
    rest = state.remove(state.n_fixed + int(rng.integers(state.size)))
    odds = rest.log_odds.copy()
    odds[rest.active] = -np.inf
    atom = draw_index(np.exp(odds - odds.max()), rng)
    return rest.add(atom, rest.draw_level(atom, rng))


def redraw_presence(state: ModelState, rng: np.random.Generator) -> ModelState:
    """Draw anew whether an atom, chosen at random, is in the model, and its precision.

    The random-scan Gibbs sampler: a reference, which wastes most steps on irrelevant atoms.
    """
    candidates = np.flatnonzero(state.target.movable)
    if not len(candidates):
        return state
    atom = int(candidates[rng.integers(len(candidates))])
    slot = state.find_slot(atom)
    rest = state if slot is None else state.remove(slot)
    if rng.random() < expit(rest.log_odds[atom]):
        return rest.add(atom, rest.draw_level(atom, rng))
    return rest
