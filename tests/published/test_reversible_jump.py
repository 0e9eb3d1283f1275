"""Chains of the reversible-jump sampler visit models as often as enumeration says."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import logsumexp

from relvec.priors import InverseGamma
from relvec.published import ReversibleJumpSampler
from relvec.published._births import LogNormalBirth, PriorBirth, log_normaliser
from tests.helpers_dense import DenseMoments, dense_log_evidence

NOISE = 0.4
N_BATCHES = 40
N_STEPS = 10000


def small_problem(m=4, n=12, seed=3):
    """Correlated atoms, of which several models are probable."""
    rng = np.random.default_rng(seed)
    Phi = rng.normal(size=(n, m)) + 0.7 * rng.normal(size=(n, 1))
    return Phi, 0.7 * Phi[:, 0] - 0.3 * Phi[:, m - 1] + 0.6 * rng.normal(size=n)


def small_sampler(m=4, n=12, **options):
    Phi, t = small_problem(m, n)
    moments = DenseMoments(Phi, t, fit_intercept=False)
    settings = {"noise_variance": NOISE, **options}
    return ReversibleJumpSampler(moments, **settings), Phi / moments.column_norm, t


def models_of(m, largest=None):
    sizes = range(1, (largest or m) + 1)
    return [model for size in sizes for model in combinations(range(m), size)]


def log_evidence(unit, t, model, alpha, noise=NOISE):
    precision = np.full(unit.shape[1], np.inf)
    precision[list(model)] = alpha
    return dense_log_evidence(unit[:, list(model)], t, alpha, noise, fit_intercept=False)


def visits(sampler, models, n_steps=N_STEPS, seed=0):
    """Return the fractions of steps in each model and their standard errors by batch means."""
    rng = np.random.default_rng(seed)
    state = sampler.init(rng)
    index = {model: place for place, model in enumerate(models)}
    visited = np.empty(n_steps, dtype=int)
    for step in range(n_steps):
        state = sampler.step(state, rng)
        visited[step] = index[tuple(sorted(state.active.tolist()))]
    each = np.array(
        [
            np.bincount(batch, minlength=len(models)) / len(batch)
            for batch in np.array_split(visited, N_BATCHES)
        ]
    )
    return each.mean(axis=0), each.std(axis=0, ddof=1) / math.sqrt(N_BATCHES), visited


def normalised(log_weight):
    return np.exp(np.asarray(log_weight) - logsumexp(log_weight))


def agree(found, error, exact):
    # A rare model may be visited in no batch: its error is at least that of independent visits.
    return np.all(np.abs(found - exact) <= 4.0 * np.maximum(error, np.sqrt(exact / N_STEPS)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "largest"),
    [
        ({}, None),
        ({"c": "bic"}, None),
        ({"replacements": False}, None),
        ({"max_atoms": 3}, 3),
        ({"max_atoms": 1}, 1),
        ({"raw_units": True}, None),
    ],
)
@pytest.mark.parametrize("selection_factor", [True, False])
def test_a_fixed_precision_gives_the_enumerated_models(options, largest, selection_factor):
    sampler, unit, t = small_sampler(
        birth="fixed", precision=0.3, selection_factor=selection_factor, **options
    )
    scale = sampler.moments.column_norm ** (-2.0 * options.get("raw_units", False))
    models = models_of(4, largest)
    c = 0.5 * math.log(12) if options.get("c") else 0.0
    with_factor = [
        log_evidence(unit, t, model, 0.3 * scale[list(model)])
        - len(model) * c / (1.0 + 0.3 * NOISE)
        for model in models
    ]
    without = [
        value - math.log(math.comb(4, len(model)))
        for value, model in zip(with_factor, models, strict=True)
    ]
    found, error, _ = visits(sampler, models)
    exact, other = normalised(with_factor), normalised(without)
    if not selection_factor:
        exact, other = other, exact
    assert agree(found, error, exact)
    if largest != 1:
        assert not agree(found, error, other)


@pytest.mark.slow
@pytest.mark.parametrize("birth", ["prior", "lognormal"])
@pytest.mark.parametrize("exact_prior", [True, False])
def test_sampled_precisions_give_the_integrated_models(birth, exact_prior):
    low, high, c = 0.05, 40.0, 1.0
    sampler, unit, t = small_sampler(
        2, birth=birth, bounds=(low, high), c=c, exact_prior=exact_prior, proposal_scale=1.0
    )
    x = np.linspace(math.log(low), math.log(high), 161)
    width = np.gradient(x)
    width[[0, -1]] *= 0.5
    # density of log alpha, on a grid
    log_prior = x + np.log(width) - c / (1.0 + NOISE * np.exp(x))
    log_prior -= log_normaliser(c, NOISE, low, high)
    if birth == "lognormal" and not exact_prior:
        log_prior += log_normaliser(c, NOISE, low, high)
    models, log_weight = models_of(2), []
    for model in models[:2]:
        values = [log_evidence(unit, t, model, np.exp([each])) for each in x]
        log_weight.append(logsumexp(np.array(values) + log_prior))
    both = [[log_evidence(unit, t, (0, 1), np.exp([a, b])) for a in x[::4]] for b in x[::4]]
    coarse = np.gradient(x[::4])
    coarse[[0, -1]] *= 0.5
    prior = log_prior[::4] - np.log(width[::4]) + np.log(coarse)
    log_weight.append(logsumexp(np.array(both) + np.add.outer(prior, prior)))
    found, error, _ = visits(sampler, models)
    assert agree(found, error, normalised(log_weight))


@pytest.mark.parametrize("selection_factor", [True, False])
def test_single_moves_satisfy_detailed_balance(selection_factor):
    # the probability of each move and its reverse, without simulation
    sampler, _, _ = small_sampler(birth="fixed", precision=0.3, selection_factor=selection_factor)
    m = 4
    for model in models_of(m):
        n = len(model)
        state = sampler.condition(np.array(model), np.full(n, 0.3), NOISE)
        rates = sampler._rates(n, m)
        for atom in sorted(set(range(m)) - set(model)):
            larger = tuple(sorted((*model, atom)))
            above = sampler.condition(np.array(larger), np.full(n + 1, 0.3), NOISE)
            forth = sampler.log_birth_ratio(state, atom, 0.3)
            back = sampler.log_death_ratio(above, larger.index(atom))
            assert forth == pytest.approx(-back, abs=1e-9)
            gain = sampler.log_posterior(above) - sampler.log_posterior(state)
            # rate of the move, times the choice of the atom, times min(1, ratio)
            birth = math.log(rates[0] / (m - n)) + min(0.0, forth)
            death = math.log(sampler._rates(n + 1, m)[1] / (n + 1)) + min(0.0, back)
            assert birth == pytest.approx(gain + death, abs=1e-9)
            for place, old in enumerate(model):
                swapped = tuple(sorted({*model, atom} - {old}))
                beside = sampler.condition(np.array(swapped), np.full(n, 0.3), NOISE)
                forth = sampler.log_replacement_ratio(state, place, atom, 0.3)
                gain = sampler.log_posterior(beside) - sampler.log_posterior(state)
                assert forth == pytest.approx(gain, abs=1e-9)


@pytest.mark.slow
def test_flows_between_models_balance():
    sampler, _, _ = small_sampler(birth="fixed", precision=0.3)
    models = models_of(4)
    _, _, visited = visits(sampler, models)
    flow = np.zeros((len(models), len(models)))
    np.add.at(flow, (visited[:-1], visited[1:]), 1.0)
    assert np.all(np.abs(flow - flow.T) <= 4.0 * np.sqrt(flow + flow.T + 1.0))


@pytest.mark.parametrize("raw_units", [True, False])
def test_ratios_are_differences_of_the_dense_posterior(raw_units):
    sampler, unit, t = small_sampler(c=1.3, raw_units=raw_units, exact_prior=True)
    scale = sampler.moments.column_norm**2 if raw_units else np.ones(4)
    alpha = np.array([0.02, 30.0])
    state = sampler.condition(np.array([2, 0]), alpha, NOISE)

    def posterior(atoms, alpha):
        alpha = np.asarray(alpha)
        value = log_evidence(unit, t, atoms, alpha / scale[list(atoms)])
        mass = log_normaliser(1.3, NOISE, 1e-10, 1e10)
        return value - (1.3 / (1.0 + NOISE * alpha)).sum() - len(alpha) * mass

    now = posterior((2, 0), alpha)
    assert sampler.log_posterior(state) == pytest.approx(now, abs=1e-9)
    change = posterior((2, 0), [0.02, 0.7]) - now + math.log(0.7 / 30.0)
    assert sampler.log_update_ratio(state, 1, 0.7) == pytest.approx(change, abs=1e-9)

    def log_proposal(value):
        # (2.111): within the bounds the truncation of five deviations is negligible
        x = math.log(value)
        return -x - 0.5 * (x / 2.0) ** 2 - 0.5 * math.log(2.0 * math.pi * 4.0)

    change = posterior((2, 0, 3), [*alpha, 0.7]) - now - log_proposal(0.7) + math.log(2.0 / 3.0)
    assert sampler.log_birth_ratio(state, 3, 0.7) == pytest.approx(change, abs=1e-9)
    change = posterior((2, 3), [0.02, 0.7]) - now - log_proposal(0.7) + log_proposal(30.0)
    assert sampler.log_replacement_ratio(state, 1, 3, 0.7) == pytest.approx(change, abs=1e-9)


@pytest.mark.slow
def test_weights_have_the_posterior_of_the_dense_formulas():
    sampler, unit, t = small_sampler()
    alpha = np.array([0.5, 3.0])
    state = sampler.condition(np.array([3, 1]), alpha, NOISE)
    design = unit[:, [3, 1]]
    covariance = np.linalg.inv(design.T @ design / NOISE + np.diag(alpha))
    mean = covariance @ design.T @ t / NOISE
    rng = np.random.default_rng(0)
    draws = np.array([sampler.draw(state, rng).weights for _ in range(8000)])
    error = np.sqrt(np.diag(covariance) / len(draws))
    assert np.all(np.abs(draws.mean(axis=0) - mean) < 4.0 * error)
    np.testing.assert_allclose(np.cov(draws.T), covariance, rtol=0.05, atol=0.02 * covariance.max())
    drawn = sampler.draw(state, rng)
    np.testing.assert_allclose(drawn.log_lam, np.log(alpha * NOISE))
    assert drawn.noise_variance == NOISE


def test_noise_is_drawn_from_its_conditional_given_weights():
    prior = InverseGamma(shape=2.0, rate=0.7)
    sampler, unit, t = small_sampler(noise_variance=None, noise=prior)
    state = sampler.condition(np.array([3, 1]), np.array([0.5, 3.0]), NOISE)
    weights = np.array([0.4, -1.1])
    rng = np.random.default_rng(1)
    draws = np.array([1.0 / sampler.draw_noise_variance(state, weights, rng) for _ in range(4000)])
    residual = t - unit[:, [3, 1]] @ weights
    shape, rate = 2.0 + 0.5 * len(t), 0.7 + 0.5 * residual @ residual  # (2.126)
    assert draws.mean() == pytest.approx(shape / rate, abs=4.0 * math.sqrt(shape / 4000) / rate)
    assert draws.var() == pytest.approx(shape / rate**2, rel=0.15)


@pytest.mark.slow
@pytest.mark.parametrize("c", [0.0, 3.0])
def test_sampled_noise_has_its_marginal_posterior(c):
    sampler, unit, t = small_sampler(
        1, birth="fixed", precision=0.5, noise_variance=None, noise_every=1, c=c
    )

    def density(x, power=0):
        noise = math.exp(x)
        value = log_evidence(unit, t, (0,), np.array([0.5]), noise) - c / (1.0 + 0.5 * noise)
        return x**power * math.exp(value + 15.0)

    total = quad(density, -6.0, 6.0)[0]
    exact = quad(density, -6.0, 6.0, args=(1,))[0] / total
    rng = np.random.default_rng(0)
    state, logs = sampler.init(rng), []
    for _ in range(8000):
        state = sampler.step(state, rng)
        logs.append(math.log(state.noise_variance))
    batches = [batch.mean() for batch in np.array_split(logs, N_BATCHES)]
    error = np.std(batches, ddof=1) / math.sqrt(N_BATCHES)
    assert abs(np.mean(logs) - exact) < 4.0 * error


@pytest.mark.parametrize("birth", ["prior", "fixed", "lognormal"])
def test_seeds_repeat_and_states_are_not_changed(birth):
    sampler, _, _ = small_sampler(birth=birth, noise_variance=None, noise_every=2)

    def run():
        rng = np.random.default_rng(5)
        state = sampler.init(rng)
        first, copies = state, (state.active.copy(), state.alpha.copy(), state.lower.copy())
        for _ in range(60):
            state = sampler.step(state, rng)
        for array, copy in zip((first.active, first.alpha, first.lower), copies, strict=True):
            np.testing.assert_array_equal(array, copy)
        return state

    one, two = run(), run()
    np.testing.assert_array_equal(one.active, two.active)
    np.testing.assert_array_equal(one.alpha, two.alpha)
    assert one.noise_variance == two.noise_variance
    assert one.n_steps == 60
    assert sum(one.proposed[:3]) == 60
    assert all(taken <= tried for taken, tried in zip(one.accepted, one.proposed, strict=True))
    assert sorted([*one.active, *one.inactive]) == [0, 1, 2, 3]


def test_without_jumps_all_atoms_stay():
    sampler, _, _ = small_sampler(jumps=False)
    rng = np.random.default_rng(0)
    state = sampler.init(rng)
    for _ in range(30):
        state = sampler.step(state, rng)
    assert state.active.tolist() == [0, 1, 2, 3]
    assert state.proposed == (0, 0, 0, 30, 0)
    assert state.accepted[3] > 0


def test_constant_atoms_never_enter():
    Phi, t = small_problem()
    Phi[:, 1] = 0.0
    sampler = ReversibleJumpSampler(DenseMoments(Phi, t), birth="prior")
    rng = np.random.default_rng(0)
    state = sampler.init(rng)
    for _ in range(50):
        state = sampler.step(state, rng)
        assert 1 not in state.active


@pytest.mark.parametrize("c", [0.0, 2.0])
def test_normaliser_is_the_integral(c):
    noise, low, high = 0.3, 0.1, 20.0
    exact = quad(lambda alpha: math.exp(-c / (1.0 + noise * alpha)), low, high)[0]
    assert log_normaliser(c, noise, low, high) == pytest.approx(math.log(exact), rel=1e-8)


def test_births_have_their_densities():
    rng = np.random.default_rng(0)
    prior = PriorBirth(2.0, 0.1, 20.0)
    draws = np.array([prior.propose(0.3, rng) for _ in range(4000)])
    mass = math.exp(prior.log_mass(0.3))
    mean = quad(lambda a: a * math.exp(-2.0 / (1.0 + 0.3 * a)) / mass, 0.1, 20.0)[0]
    assert abs(draws.mean() - mean) < 4.0 * draws.std() / math.sqrt(4000)
    truncated = LogNormalBirth(0.0, 0.1, 20.0, scale=2.0, is_normalised=False)
    # prior one, so the weight is minus the log density of the proposal
    total = quad(lambda a: math.exp(-truncated.log_weight(a, 0.3)), 0.1, 20.0)[0]
    assert total == pytest.approx(1.0, abs=1e-6)
    draws = np.array([truncated.propose(0.3, rng) for _ in range(1000)])
    assert draws.min() >= 0.1
    assert draws.max() <= 20.0


def test_options_are_checked():
    with pytest.raises(ValueError, match="updates=False"):
        small_sampler(birth="fixed", updates=True)
    with pytest.raises(ValueError, match="ascending order"):
        small_sampler(bounds=(2.0, 1.0))
    with pytest.raises(ValueError, match="birth"):
        small_sampler(birth="gamma")
    sampler, _, _ = small_sampler(max_atoms=2)
    with pytest.raises(ValueError, match="excludes the empty model"):
        sampler.init(np.random.default_rng(0), np.array([], dtype=int))
    Phi, t = small_problem()
    with pytest.raises(ValueError, match="no usable atom"):
        ReversibleJumpSampler(DenseMoments(0.0 * Phi, t))
