"""Moves that leave the posterior over models invariant: each is a Markov kernel of its own."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import expit

from relvec.sampling.state import ModelState, draw_index

__all__ = ["Move", "flip_informed", "redraw_presence", "redraw_slot"]

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
