"""The checks of samplers and moves must pass what is shipped and catch what they promise to."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pytest

from relvec.priors import InverseGamma
from relvec.sampling import CollapsedSampler, ExponentialSize, PrecisionGrid
from relvec.sampling.state import draw_index
from relvec.sampling.target import UnknownNoise
from relvec.testing import check_move, check_sampler

GRID = PrecisionGrid(0.01, 0.1, n_levels=2)
NOISE = InverseGamma(3.0, 2.0)


class Sound(CollapsedSampler):
    """A good sampler that a subclass spoils."""

    def __init__(self, moments, **options):
        super().__init__(moments, grid=GRID, **options)


class WithoutAcceptance(Sound):
    """Always accepts the informed proposal."""

    def step(self, state, rng):
        atom = draw_index(state.flip_rates, rng) if self.target.n_movable else None
        if atom is None:
            return state
        slot = state.find_slot(atom)
        return state.add(atom, state.draw_level(atom, rng)) if slot is None else state.remove(slot)


class NoSizePrior(Sound):
    """Its target says that there is a size prior, its steps know of none."""

    def step(self, state, rng):
        free = replace(state, target=replace(self.target, size_prior=ExponentialSize(0.0)))
        return replace(super().step(free, rng), target=self.target)


class ShapeOfTheSample(Sound):
    """Uses N in place of N / 2 for the noise variance, and says so."""

    def __init__(self, moments):
        super().__init__(moments)
        self.target = replace(self.target, noise=UnknownNoise(2.0 * self.target.noise.shape))


class ShapeOfTheDraw(Sound):
    """Draws the noise variance with one degree of freedom too few, and says nothing."""

    def draw(self, state, rng):
        noise = state.error / rng.gamma(state.target.noise.shape - 1.0)
        return super().draw(state, rng)._replace(noise_variance=noise)


class WrongScale(Sound):
    """Draws weights as if the noise variance were one."""

    def draw(self, state, rng):
        found = super().draw(state, rng)
        weights = state.mean + (found.weights - state.mean) / math.sqrt(found.noise_variance)
        return found._replace(weights=weights)


class WrongOrder(Sound):
    def draw(self, state, rng):
        found = super().draw(state, rng)
        return found._replace(weights=found.weights[::-1].copy())


class Mutates(Sound):
    """Writes into the state that it is given."""

    def step(self, state, rng):
        state.mean[:] *= 1.1
        return super().step(state, rng)


class OwnRandomNumbers(Sound):
    def __init__(self, moments):
        super().__init__(moments)
        self._rng = np.random.default_rng(0)

    def draw(self, state, rng):
        return super().draw(state, self._rng)


class UnusableAtoms(Sound):
    def draw(self, state, rng):
        found, n = super().draw(state, rng), len(self.target.movable)
        return found._replace(active=np.arange(n), weights=np.zeros(n), log_lam=np.zeros(n))


class NoNoise(Sound):
    def draw(self, state, rng):
        return super().draw(state, rng)._replace(noise_variance=0.0)


class OnlyForever(Sound):
    """Never leaves the model in which it starts: every step is invariant."""

    def step(self, state, rng):
        return state


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sampler", "message"),
    [
        (WithoutAcceptance, "in a long chain"),
        (NoSizePrior, "in a long chain"),
        (ShapeOfTheSample, "has the shape 13 of the noise variance"),
        (ShapeOfTheDraw, "log noise variance"),
        (WrongScale, "mean square of the prediction"),
        (WrongOrder, "of the prediction"),
        (Mutates, "changes the state"),
        (OwnRandomNumbers, "other random numbers"),
        (UnusableAtoms, "unusable atoms"),
        (NoNoise, "positive, finite noise variance"),
        (OnlyForever, "in a long chain"),
    ],
)
def test_lies_are_found(sampler, message):
    with pytest.raises(AssertionError, match=re.escape(message)):
        check_sampler(sampler, n_steps=2000)


class Continuous:
    """A state without `active`, `level` and `target`, as that of samplers of continuous states."""

    def __init__(self, state):
        self.hidden = state


class Opaque(Sound):
    """Can only be checked by draws from the prior."""

    def __init__(self, moments):
        super().__init__(moments, noise_prior=NOISE, size_prior=ExponentialSize(-2.0))

    def init(self, rng, active=None):
        return Continuous(super().init(rng, active))

    def step(self, state, rng):
        return Continuous(super().step(state.hidden, rng))

    def draw(self, state, rng):
        return super().draw(state.hidden, rng)


class OpaqueScale(Opaque):
    def draw(self, state, rng):
        found = super().draw(state, rng)
        return found._replace(weights=2.0 * found.weights - state.hidden.mean)


class OpaqueNoise(Opaque):
    def draw(self, state, rng):
        found = super().draw(state, rng)
        return found._replace(noise_variance=1.5 * found.noise_variance)


def draw_prior(n_atoms, rng):
    noise = NOISE.rate / rng.gamma(NOISE.shape)
    inside = rng.random(n_atoms) < 1.0 / (1.0 + math.exp(-2.0))
    precision = rng.choice(GRID.values, size=n_atoms)
    return inside * rng.normal(size=n_atoms) * np.sqrt(noise / precision), noise


@pytest.mark.slow
def test_states_of_any_kind_are_checked_by_ranks():
    check_sampler(Opaque, draw_prior=draw_prior, n_replications=100)
    check_sampler(OpaqueScale)  # without draws from the prior its error cannot be seen


@pytest.mark.slow
@pytest.mark.parametrize("sampler", [OpaqueScale, OpaqueNoise])
def test_lies_are_found_by_ranks(sampler):
    with pytest.raises(AssertionError, match="ranks among draws from the posterior"):
        check_sampler(sampler, draw_prior=draw_prior, n_replications=150)


def always_accept(state, rng):
    atom = draw_index(state.flip_rates, rng)
    slot = state.find_slot(atom)
    return state.add(atom, state.draw_level(atom, rng)) if slot is None else state.remove(slot)


def level_at_random(state, rng):
    if not state.size:
        return state
    rest = state.remove(int(rng.integers(state.size)))
    weights = np.exp(rest.log_odds)
    weights[rest.active] = 0.0
    return rest.add(draw_index(weights, rng), int(rng.integers(2)))


@pytest.mark.slow
@pytest.mark.parametrize("move", [always_accept, level_at_random])
def test_wrong_moves_are_found(move):
    with pytest.raises(AssertionError, match=f"{move.__name__} does not leave the posterior"):
        check_move(move)


@pytest.mark.slow
def test_irreversible_moves_are_told_apart():
    def rotate(state, rng):
        return state

    check_move(rotate, n_transitions=20)
