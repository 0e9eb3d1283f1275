"""The collapsed sampler against enumeration, and its joint distribution of data and parameters."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from relvec.priors import InverseGamma
from relvec.sampling import BetaBinomialSize, CollapsedSampler, ExponentialSize, PrecisionGrid
from relvec.sampling.collapsed import draw_weights, make_target
from relvec.sampling.state import make_state
from relvec.testing import check_sampler
from tests.helpers_sampling import make_moments, prepare, small_problem

COARSE = PrecisionGrid(0.3, 3.0, n_levels=2)
"""Prior standard deviations of weights near that of the noise: with larger ones, data that are
drawn anew change parameters only slowly."""


def enumerate_models(Phi, t, target):
    """Return inclusion probabilities and the mean of the fit by sums over all models."""
    log_joint, inside, fits = [], [], []
    n_atoms, n_levels = Phi.shape[1], len(target.precision)
    for size in range(n_atoms + 1):
        grid = np.array(list(itertools.product(target.precision, repeat=size)))
        prior = target.size_prior.log_probability(size, n_atoms) - size * math.log(n_levels)
        for active in itertools.combinations(range(n_atoms), size):
            A = Phi[:, active]
            H = A.T @ A + grid.reshape(len(grid), size, 1) * np.eye(size)
            mean = np.linalg.solve(H, np.broadcast_to((A.T @ t)[:, None], (len(grid), size, 1)))
            mean = mean[:, :, 0]
            error = target.rate + 0.5 * (t @ t - mean @ (A.T @ t))
            value = 0.5 * np.log(grid).sum(axis=1) - 0.5 * np.linalg.slogdet(H)[1] + prior
            noise = target.noise
            value += (
                -error / noise.variance
                if hasattr(noise, "variance")
                else -noise.shape * np.log(error)
            )
            log_joint.append(value)
            inside.append(np.tile(np.isin(np.arange(n_atoms), active), (len(grid), 1)))
            fits.append(mean @ A.T)
    value = np.concatenate(log_joint)
    p = np.exp(value - value.max())
    p /= p.sum()
    return p @ np.concatenate(inside), p @ np.concatenate(fits)


def problem(name):
    rng = np.random.default_rng(5)
    n, n_atoms = {"N < M": (6, 7), "twelve atoms": (20, 12)}.get(name, (16, 6))
    Phi = rng.normal(size=(n, n_atoms))
    Phi[:, -1] = Phi[:, 0] + 0.4 * Phi[:, -1]
    t = 3.0 + Phi[:, 0] - 0.7 * Phi[:, 1] + rng.normal(size=n)
    weight = rng.integers(1, 4, size=n).astype(float) if name == "weights" else None
    levels = 1 if name == "twelve atoms" else 2
    options = {
        "grid": PrecisionGrid(1e-2 if levels == 1 else 1e-3, 1e-2 if levels == 1 else 0.1, levels)
    }
    options |= {
        "known noise": {"noise_variance": 0.8},
        "beta-binomial": {"size_prior": BetaBinomialSize()},
        "sparse": {"size_prior": ExponentialSize(2.5)},
        "N < M": {"noise_prior": InverseGamma(2.0, 1.0)},
    }.get(name, {})
    return *prepare(Phi, t, weight), make_moments(Phi, t, weight), options


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["plain", "weights", "known noise", "beta-binomial", "sparse", "N < M", "twelve atoms"],
)
def test_long_run_equals_enumeration(name):
    Phi, t, moments, options = problem(name)
    sampler, rng = CollapsedSampler(moments, **options), np.random.default_rng(1)
    inclusion, fit = enumerate_models(Phi, t, sampler.target)
    state = sampler.init(rng)
    batches = np.zeros((40, len(inclusion) + len(fit)))
    for batch in batches:
        for _ in range(150):
            state = sampler.step(state, rng)
            batch[state.active] += 1.0 / 150
            batch[len(inclusion) :] += Phi[:, state.active] @ state.mean / 150
    expected = np.concatenate([inclusion, fit])
    error = batches.std(axis=0, ddof=1) / math.sqrt(40) + 1e-4
    assert (np.abs(batches.mean(axis=0) - expected) < 4.0 * error).all()


NOISE = InverseGamma(3.0, 2.0)


def draw_prior(n_atoms, rng):
    """Draw weights and noise variance from the prior of the sampler below."""
    noise = NOISE.rate / rng.gamma(NOISE.shape)
    inside = rng.random(n_atoms) < 1.0 / (1.0 + math.exp(1.0))
    precision = rng.choice(COARSE.values, size=n_atoms)
    return inside * rng.normal(size=n_atoms) * np.sqrt(noise / precision), noise


def proper(moments, **options):
    prior = ExponentialSize(1.0)
    return CollapsedSampler(moments, grid=COARSE, noise_prior=NOISE, size_prior=prior, **options)


@pytest.mark.slow
def test_conformance():
    # One of the problems has more columns than rows: models that interpolate are rare and far from
    # others, so that it takes long chains.
    check_sampler(CollapsedSampler, n_steps=40_000)


@pytest.mark.slow
def test_conformance_of_moves_of_several_atoms():
    moves = {"several": 0.5, "slot": 0.5}
    check_sampler(lambda moments: proper(moments, moves=moves), noise_prior=NOISE, n_steps=3000)


@pytest.mark.slow
def test_ranks_of_draws_from_the_prior_are_uniform():
    check_sampler(
        proper, noise_prior=NOISE, draw_prior=draw_prior, n_steps=1000, n_replications=100
    )


@pytest.mark.slow
def test_joint_distribution_of_data_and_parameters():
    # Geweke (2004): with data drawn anew given the parameters, parameters keep their prior
    rng = np.random.default_rng(0)
    Phi, _ = prepare(rng.normal(size=(8, 3)), np.zeros(8), centre=False)
    weights, noise = draw_prior(3, rng)
    active, rows = np.flatnonzero(weights), []
    level = np.zeros(len(active), dtype=int)
    for _ in range(4000):
        t = Phi @ weights + math.sqrt(noise) * rng.standard_normal(8)
        sampler = proper(make_moments(Phi, t, centre=False))
        state = make_state(sampler.target, active, level)
        for _ in range(2):
            state = sampler.step(state, rng)
        draw = sampler.draw(state, rng)
        active, level = state.active, state.level
        weights, noise = np.zeros(3), draw.noise_variance
        weights[active] = draw.weights
        scaled = float(weights @ weights) / noise
        rows.append([*(weights != 0.0), math.log(noise), math.log(noise) ** 2, scaled])
    batches = np.array(rows).reshape(40, 100, -1).mean(axis=1)
    prior = np.array(
        [
            [*(weights != 0.0), math.log(noise), math.log(noise) ** 2, weights @ weights / noise]
            for weights, noise in (draw_prior(3, rng) for _ in range(20_000))
        ]
    )
    error = batches.std(axis=0, ddof=1) / math.sqrt(40)
    error = np.hypot(error, prior.std(axis=0) / math.sqrt(20_000))
    assert (np.abs(batches.mean(axis=0) - prior.mean(axis=0)) < 4.0 * error).all()


def test_weights_are_drawn_from_their_conditional_distribution():
    _, _, target = small_problem()
    state, rng = (
        make_state(target, np.array([0, 2, 4]), np.array([6, 5, 6])),
        np.random.default_rng(0),
    )
    drawn = np.array([draw_weights(state, 0.3, rng) for _ in range(20_000)])
    assert np.allclose(drawn.mean(axis=0), state.mean, atol=0.02)
    assert np.allclose(np.cov(drawn.T), 0.3 * state.inverse, atol=0.02)


def test_weights_are_drawn_if_updates_have_lost_all_accuracy():
    _, _, target = small_problem()
    state = make_state(target, np.array([0, 2]), np.array([6, 5]))
    spoilt = replace(state, inverse=-state.inverse)
    drawn = draw_weights(spoilt, 0.3, np.random.default_rng(0))
    assert np.array_equal(drawn, draw_weights(state, 0.3, np.random.default_rng(0)))


def test_init():
    Phi, t = np.random.default_rng(0).normal(size=(10, 30)), np.arange(10.0)
    sampler, rng = CollapsedSampler(make_moments(Phi, t)), np.random.default_rng(0)
    sizes = {sampler.init(rng).size for _ in range(80)}
    assert min(sizes) == 0
    assert max(sizes) == 10
    assert np.array_equal(sampler.init(rng, np.array([4, 2])).active, [4, 2])


@pytest.mark.parametrize(
    ("moves", "match"),
    [
        ({"jump": 1.0}, "jump"),
        ({"slot": -1.0}, "slot"),
        ({"slot": 0.0}, "positive probability"),
        ({}, "positive probability"),
    ],
)
def test_bad_moves(moves, match):
    with pytest.raises(ValueError, match=match):
        CollapsedSampler(make_moments(np.eye(4), np.arange(4.0)), moves=moves)


def test_many_atoms_are_not_stored(monkeypatch):
    monkeypatch.setattr("relvec.sampling.collapsed.MAX_STORED", 2)
    moments = make_moments(np.random.default_rng(0).normal(size=(9, 3)), np.arange(9.0))
    assert make_target(moments).moments is moments
