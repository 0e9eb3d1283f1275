"""Each move alone leaves the enumerated posterior invariant."""

from __future__ import annotations

import numpy as np
import pytest

from relvec.sampling import moves
from relvec.sampling.collapsed import make_target
from relvec.sampling.moves import flip_informed, flip_several, redraw_presence, redraw_slot
from relvec.sampling.priors import ExponentialSize
from relvec.sampling.state import make_state
from relvec.testing import check_move
from tests.helpers_sampling import fix_last, make_moments, small_problem

MOVES = [flip_informed, flip_several, redraw_slot, redraw_presence]


@pytest.mark.slow
@pytest.mark.parametrize("move", MOVES)
def test_detailed_balance(move):
    # a missing factor of the acceptance of several changes is seen by as many transitions only
    check_move(move, n_transitions=1500 if move is flip_several else 200)


@pytest.mark.parametrize("move", MOVES)
def test_without_atoms_nothing_moves(move):
    rng = np.random.default_rng(0)
    for Phi in (np.empty((6, 0)), np.ones((6, 2))):
        target = make_target(make_moments(Phi, rng.normal(size=6)))
        state = make_state(target, np.arange(0), np.arange(0))
        assert len(move(state, rng).active) == 0


@pytest.mark.parametrize("move", MOVES)
def test_fixed_atoms_stay(move):
    target, rng = fix_last(small_problem()[2], 0.1, 0.2), np.random.default_rng(0)
    state = make_state(target, np.array([1]), np.array([2]))
    for _ in range(50):
        state = move(state, rng)
        assert np.array_equal(state.active[:2], [4, 5])
        assert len(np.unique(state.active)) == len(state.active)


def test_several_atoms_change_at_a_time():
    # overlapping kernels of a target that is noise: the odds of most of them are near one
    rng, x = np.random.default_rng(0), np.linspace(-10.0, 10.0, 40)
    Phi = np.exp(-((x[:, np.newaxis] - x) ** 2) / 9.0)
    target = make_target(make_moments(Phi, rng.normal(size=40)), size_prior=ExponentialSize(0.0))
    state, changes = make_state(target, np.arange(0, 40, 4), np.full(10, 3)), []
    for _ in range(100):
        moved = flip_several(state, rng)
        changes.append(len(np.setxor1d(moved.active, state.active)))
        assert len(np.unique(moved.active)) == len(moved.active)
        assert moved is state or moved.n_updates == 0
        state = moved
    assert np.mean(changes) > 1.0
    assert max(changes) > 3


def test_several_atoms_change_from_models_without_rounding_errors():
    target, rng = small_problem()[2], np.random.default_rng(0)
    state = make_state(target, np.array([1, 4]), np.array([2, 0]))
    updated = state.remove(0).add(0, 1)
    assert flip_several(updated, rng).n_updates == 0


@pytest.mark.slow
def test_detailed_balance_of_few_changes_at_a_time(monkeypatch):
    # so few that their number is held, and the factor of the probabilities depends on the model
    monkeypatch.setattr(moves, "N_FLIPS", 0.4)
    check_move(flip_several, n_transitions=400)


@pytest.mark.parametrize("move", [redraw_slot])
def test_replaced_atoms_keep_the_size_of_the_model(move):
    rng = np.random.default_rng(0)
    state = make_state(small_problem()[2], np.array([1, 4]), np.array([2, 0]))
    visited = set()
    for _ in range(200):
        state = move(state, rng)
        assert state.size == 2
        visited.update(state.active.tolist())
    assert visited == set(range(6))
