"""Moves that leave the posterior over models invariant: each is a Markov kernel of its own."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.special import expit

from relvec._typing import Vector
from relvec.sampling.state import ModelState, draw_index

__all__ = ["Move", "flip_informed", "redraw_pair", "redraw_presence", "redraw_slot"]

Move = Callable[[ModelState, np.random.Generator], ModelState]

SMALLEST_CHANCE = 0.01
"""Weight of uncorrelated partners in the choice of a pair."""


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


def redraw_pair(state: ModelState, rng: np.random.Generator) -> ModelState:
    """Replace two atoms of the model whose weights are correlated by two others.

    Configurational-bias Monte Carlo (Siepmann & Frenkel 1992): both atoms are removed, and two are
    drawn one after the other, each from its conditional distribution. The proposal has the density
    ``p(model) / (Z_1 Z_2)``, with the sums ``Z`` of the odds of all candidates. ``Z_1`` is that of
    the way back, so that ``Z_2`` and the choice of the pair remain in the Metropolis-Hastings
    ratio.
    """
    if state.size < 2:
        return state
    fixed, n = state.n_fixed, len(state.active)
    first = fixed + int(rng.integers(state.size))
    chances = _pair_chances(state, first)
    second = fixed + draw_index(chances, rng)
    chance = float(chances[second - fixed])
    halfway = state.remove(second)
    _, before = _entry_weights(halfway)
    rest = halfway.remove(first - (second < first))
    weights, _ = _entry_weights(rest)
    atom = draw_index(weights, rng)
    grown = rest.add(atom, rest.draw_level(atom, rng))
    weights, after = _entry_weights(grown)
    atom = draw_index(weights, rng)
    proposal = grown.add(atom, grown.draw_level(atom, rng))
    # the atoms drawn are the last two, in this order
    back = float(_pair_chances(proposal, n - 2)[-1])
    log_ratio = after - before + math.log(back / chance)
    return proposal if math.log1p(-rng.random()) < log_ratio else state


def _entry_weights(state: ModelState) -> tuple[Vector, float]:
    """Return odds of atoms that may enter, relative to the largest, and the log of their sum."""
    odds = state.log_odds.copy()
    odds[state.active] = -np.inf
    largest = float(odds.max())
    weights = np.exp(odds - largest)
    return weights, largest + math.log(float(weights.sum()))


def _pair_chances(state: ModelState, slot: int) -> Vector:
    """Return probabilities of the partners of an atom: squared correlations of their weights."""
    row, own = state.inverse[slot, state.n_fixed :], state.inverse.diagonal()[state.n_fixed :]
    chances = row**2 / (own * state.inverse[slot, slot]) + SMALLEST_CHANCE
    chances[slot - state.n_fixed] = 0.0
    return np.asarray(chances / chances.sum())
