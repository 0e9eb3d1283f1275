"""Parallel tempering: invariance, exchanges, and the choice of powers."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from relvec.sampling import CollapsedSampler, PrecisionGrid
from relvec.sampling.state import make_state
from relvec.sampling.tempering import TemperedSampler, tune_powers
from relvec.testing import check_sampler
from relvec.testing._enumeration import Enumeration, sampled_problems
from tests.helpers_sampling import make_moments

GRID = PrecisionGrid(0.01, 0.1, n_levels=2)
POWERS = np.array([1.0, 0.5, 0.2])


def make_tempered(moments):
    return TemperedSampler(CollapsedSampler(moments, grid=GRID), POWERS)


@pytest.mark.slow
def test_conformance():
    check_sampler(make_tempered, n_steps=2000)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["alternating", "random"])
def test_every_power_has_its_own_posterior(scheme):
    problem = sampled_problems()[0]
    sampler = CollapsedSampler(problem.moments, grid=GRID)
    tempered = TemperedSampler(sampler, POWERS, scheme=scheme)
    exact = [
        Enumeration(*problem.prepare(), replace(sampler.target, power=float(power)))
        for power in POWERS
    ]
    assert not np.allclose(exact[0].inclusion, exact[2].inclusion, atol=0.05)
    rng, n = np.random.default_rng(0), 1500
    found = np.zeros((3, 4))
    for _ in range(n):  # from exact draws, exchanges must not change the distribution
        state = tempered.init(rng)
        replicas = []
        for replica, known in zip(state.replicas, exact, strict=True):
            at = rng.choice(len(known.probability), p=known.probability)
            inside, levels = (
                np.array(each[at], dtype=int) for each in (known.inside, known.levels)
            )
            replicas.append(make_state(replica.target, inside, levels))
        state = replace(state, replicas=tuple(replicas))
        for _ in range(3):
            state = tempered.step(state, rng)
        for count, replica in zip(found, state.replicas, strict=True):
            count[replica.active] += 1.0 / n
    for share, known in zip(found, exact, strict=True):
        p = known.inclusion
        assert (np.abs(share - p) < 4.0 * np.sqrt(p * (1.0 - p) / n)).all()


def make_state_and_sampler():
    rng = np.random.default_rng(0)
    moments = make_moments(rng.normal(size=(20, 5)), rng.normal(size=20))
    return make_tempered(moments), rng


def test_exchanged_models_are_under_the_power_of_their_place():
    sampler, rng = make_state_and_sampler()
    state = sampler.init(rng)
    for number in range(60):
        state = sampler.step(state, rng)
        assert [each.target.power for each in state.replicas] == POWERS.tolist()
        tried = ~np.isnan(state.acceptance)
        assert tried.tolist() == [number % 2 == 0, number % 2 == 1]
        assert sorted(state.label) == [0, 1, 2]
    assert state.n_round_trips > 0
    assert state.label.tolist() != [0, 1, 2] or state.n_steps == 60
    assert state.log_posterior == state.replicas[0].log_posterior
    assert np.array_equal(sampler.draw(state, rng).active, state.active)
    assert state.size == len(state.level)


def test_one_power_is_the_plain_sampler():
    sampler, _ = make_state_and_sampler()
    tempered = TemperedSampler(sampler.sampler, np.ones(1))
    one, other = np.random.default_rng(1), np.random.default_rng(1)
    state, plain = tempered.init(one), sampler.sampler.init(other)
    for _ in range(20):
        state, plain = tempered.step(state, one), sampler.sampler.step(plain, other)
        assert np.array_equal(state.active, plain.active)
    assert state.n_round_trips == 0


@pytest.mark.parametrize(
    "powers", [[], [0.5, 0.2], [1.0, 1.0], [1.0, -0.5], [1.0, math.nan], [[1.0]]]
)
def test_bad_powers(powers):
    sampler, _ = make_state_and_sampler()
    with pytest.raises(ValueError, match="powers must descend from one"):
        TemperedSampler(sampler.sampler, powers)


def test_bad_scheme():
    sampler, _ = make_state_and_sampler()
    with pytest.raises(ValueError, match="scheme"):
        TemperedSampler(sampler.sampler, POWERS, scheme="odd")


@pytest.mark.parametrize(
    "options", [{"lowest": 1.0}, {"acceptance": 1.0}, {"lowest": 0.0}, {"n_powers": 1}]
)
def test_bad_tuning(options):
    sampler, rng = make_state_and_sampler()
    with pytest.raises(ValueError, match=next(iter(options))):
        tune_powers(sampler.sampler, rng, **options)


@pytest.mark.slow
def test_tuned_powers_have_equal_acceptance():
    rng = np.random.default_rng(0)
    x = np.linspace(-10.0, 10.0, 60)
    Phi = np.exp(-((x[:, np.newaxis] - x) ** 2) / 9.0)
    moments = make_moments(Phi, np.sinc(x / np.pi) + 0.05 * rng.normal(size=60))
    sampler = CollapsedSampler(moments)
    powers = tune_powers(sampler, rng, lowest=0.1, acceptance=0.4, n_steps=100)
    assert powers[0] == 1.0
    assert powers[-1] == pytest.approx(0.1)
    tempered = TemperedSampler(sampler, powers)
    state, rates = tempered.init(rng), []
    for _ in range(1500):
        state = tempered.step(state, rng)
        rates.append(state.acceptance)
    mean = np.nanmean(rates, axis=0)
    assert 0.2 < mean.min() <= mean.max() < 0.65
    assert len(tune_powers(sampler, rng, n_powers=3, n_rounds=1, n_steps=20)) == 3
