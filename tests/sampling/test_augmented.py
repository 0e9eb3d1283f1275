"""The augmented sampler against enumeration of all models with numerical integration."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.special import expit

from relvec.dictionaries import DenseDictionary
from relvec.sampling import (
    AugmentedSampler,
    BernoulliAugmentation,
    ExponentialSize,
    NegativeBinomialAugmentation,
    PrecisionGrid,
    SoftmaxAugmentation,
    StudentTAugmentation,
    prepare_atoms,
)

GRID = PrecisionGrid(0.1, 2.0, n_levels=2)


def make_sampler(n_rows=14, n_atoms=3, seed=0, **options):
    rng = np.random.default_rng(seed)
    Phi = rng.normal(size=(n_rows, n_atoms))
    labels = (rng.uniform(size=n_rows) < expit(2.0 * Phi[:, 0])).astype(float)
    weight = rng.integers(0, 3, size=n_rows).astype(float)
    weight[:2] = 1.0
    atoms = prepare_atoms(DenseDictionary(Phi), weight, scaling="deviation")
    options = {"grid": GRID, "size_prior": ExponentialSize(0.7), "n_moves": 3, **options}
    return AugmentedSampler(atoms, BernoulliAugmentation(labels, weight), **options)


def integrate_model(Phi, precision, augmentation, n_nodes=14):
    """Return the evidence of a logistic model and its expected probabilities, by quadrature.

    Gauss-Hermite nodes are placed around the mode of the posterior of the weights.
    """
    target, weight = augmentation.target, augmentation.weight
    mode = np.zeros(len(precision))
    for _ in range(50):
        y = expit(mode @ Phi)
        hessian = (Phi * (weight * y * (1 - y))) @ Phi.T + np.diag(precision)
        mode = mode + np.linalg.solve(hessian, Phi @ (weight * (target - y)) - precision * mode)
    root = np.linalg.inv(np.linalg.cholesky(hessian)).T
    nodes, shares = np.polynomial.hermite_e.hermegauss(n_nodes)
    z = np.array(list(itertools.product(nodes, repeat=len(mode))))
    log_share = np.log(np.array(list(itertools.product(shares, repeat=len(mode))))).sum(axis=1)
    w = mode + z @ root.T
    f = w @ Phi
    log_density = (target * f - np.logaddexp(0.0, f)) @ weight - 0.5 * (w**2 @ precision)
    log_density += 0.5 * (np.log(precision) - np.log(2.0 * np.pi)).sum()
    log_terms = log_density + log_share + 0.5 * (z**2).sum(axis=1)
    top = log_terms.max()
    terms = np.exp(log_terms - top)
    log_evidence = top + np.log(terms.sum()) + np.linalg.slogdet(root)[1]
    return log_evidence, terms @ expit(f) / terms.sum()


def enumerate_models(sampler):
    """Return exact inclusion probabilities and predictive probabilities."""
    levels, atoms = sampler.precision, sampler.atoms
    evidence, present, predicted = [], [], []
    for choice in itertools.product(range(-1, len(levels)), repeat=atoms.n_atoms):
        active = [i for i, level in enumerate(choice) if level >= 0]
        Phi = atoms.values[[*active, atoms.n_atoms]]
        precision = np.append(levels[[choice[i] for i in active]], sampler.fixed)
        log_evidence, probability = integrate_model(Phi, precision, sampler.augmentation)
        log_evidence += sampler.size_prior.log_probability(len(active), atoms.n_atoms)
        evidence.append(log_evidence - len(active) * np.log(len(levels)))
        present.append([level >= 0 for level in choice])
        predicted.append(probability)
    share = np.exp(np.array(evidence) - max(evidence))
    share /= share.sum()
    return share @ np.array(present), share @ np.array(predicted)


def batch_error(values, n_batches=25):
    """Standard error of the mean of a chain, from means of batches."""
    batches = values.reshape(n_batches, -1, values.shape[1]).mean(axis=1)
    return batches.std(axis=0, ddof=1) / np.sqrt(n_batches)


@pytest.mark.slow
@pytest.mark.parametrize("moves", [None, {"gibbs": 1.0}])
def test_logistic_posterior_is_that_of_numerical_integration(moves):
    sampler = make_sampler(moves=moves)
    exact_present, exact_predicted = enumerate_models(sampler)
    rng = np.random.default_rng(1)
    state = sampler.init(rng)
    present, predicted = np.zeros((5000, 4)), np.empty((5000, 14))
    for i in range(5000):
        state = sampler.step(state, rng)
        present[i, state.models[0].active] = 1.0
        predicted[i] = expit(state.latent[:, 0])
    error = batch_error(present[:, :3])
    assert (error < 0.03).all()
    assert (np.abs(present[:, :3].mean(axis=0) - exact_present) < 4 * error).all()
    error = batch_error(predicted)
    assert (error < 0.01).all()
    assert (np.abs(predicted.mean(axis=0) - exact_predicted) < 4 * error).all()


def test_states_are_not_changed_and_seeds_reproduce():
    sampler = make_sampler(n_atoms=8)
    state = sampler.init(np.random.default_rng(0))
    before = (state.latent.copy(), state.weights[0].copy(), state.models[0].active.copy())
    first = sampler.step(state, np.random.default_rng(5))
    for old, new in zip(
        before, (state.latent, state.weights[0], state.models[0].active), strict=True
    ):
        np.testing.assert_array_equal(old, new)
    second = sampler.step(state, np.random.default_rng(5))
    np.testing.assert_array_equal(first.latent, second.latent)
    np.testing.assert_array_equal(first.weights[0], second.weights[0])
    assert not np.array_equal(first.latent, state.latent)


def test_draws_hold_raw_weights_of_the_latent_functions():
    rng = np.random.default_rng(0)
    Phi = rng.normal(3.0, 2.0, size=(20, 4))
    atoms = prepare_atoms(DenseDictionary(Phi), scaling="deviation")
    sampler = AugmentedSampler(atoms, SoftmaxAugmentation(rng.integers(3, size=20), 3))
    # atom 1 of the first function, atoms 0 and 2 of the third
    state = sampler.init(rng, np.array([1, 10, 12]))
    assert [model.active.tolist() for model in state.models] == [[4, 1], [4], [4, 0, 2]]
    state = sampler.step(state, rng)
    draw = sampler.draw(state, rng)
    for k, raw in enumerate(sampler.to_raw(draw)):
        np.testing.assert_allclose(
            Phi[:, raw.active] @ raw.weights + raw.intercept, state.latent[:, k]
        )
    again = sampler.init(rng, draw.active)
    assert [set(m.active) for m in again.models] == [set(m.active) for m in state.models]


def test_log_posterior_of_the_smallest_model():
    sampler = make_sampler()
    state = sampler.init(np.random.default_rng(0), np.empty(0, dtype=int))
    [[w]] = state.weights
    d = sampler.fixed[0]
    expected = sampler.augmentation.log_density(state.latent, 1.0, state.parameters)
    expected += 0.5 * np.log(d / (2 * np.pi)) - 0.5 * d * w**2
    assert sampler.log_posterior(state) == pytest.approx(expected)


EDGES = {
    "separable": BernoulliAugmentation([0, 0, 0, 0, 1, 1, 1, 1]),
    "one class": BernoulliAugmentation(np.ones(8), [1, 3, 0, 1, 1, 50, 1, 1]),
    "one of three classes": SoftmaxAugmentation(np.zeros(8), 3),
    "no events": NegativeBinomialAugmentation(np.zeros(8)),
    "huge counts": NegativeBinomialAugmentation([0, 0, 1, 9_000_000, 2, 0, 1, 3]),
    "outlier": StudentTAugmentation([0, 0.1, -0.1, 1e8, 0, 0.2, 0.1, 0]),
    "constant": StudentTAugmentation(np.full(8, 3.0)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", EDGES)
def test_extreme_targets_stay_finite(name):
    Phi = np.column_stack([np.arange(8.0) - 3.5, np.ones(8), np.arange(8.0) % 2, np.arange(8.0)])
    scaling = "norm" if name in ("outlier", "constant") else "deviation"
    sampler = AugmentedSampler(prepare_atoms(DenseDictionary(Phi), scaling=scaling), EDGES[name])
    rng = np.random.default_rng(0)
    state = sampler.init(rng)
    for _ in range(300):
        state = sampler.step(state, rng)
        draw = sampler.draw(state, rng)
        assert np.isfinite(draw.weights).all()
        assert np.isfinite(draw.log_posterior)
        assert 0.0 < draw.noise_variance < np.inf
        assert 1 not in state.models[0].active  # a constant column
    assert np.isfinite(state.latent).all()


def test_four_rows():
    Phi = np.eye(4)
    sampler = AugmentedSampler(
        prepare_atoms(DenseDictionary(Phi)), BernoulliAugmentation([0, 1, 1, 0])
    )
    rng = np.random.default_rng(0)
    state = sampler.init(rng)
    for _ in range(50):
        state = sampler.step(state, rng)
    assert np.abs(state.latent).max() < 100.0


def test_models_of_all_atoms():
    # the beta-binomial prior has no odds of a model that is larger than that
    sampler = make_sampler(size_prior=None)
    rng = np.random.default_rng(0)
    state = sampler.init(rng, np.arange(3))
    odds = state.models[0].log_odds
    assert np.isfinite(odds[:3]).all()
    assert odds[3] == -np.inf
    for _ in range(20):
        state = sampler.step(state, rng)
    assert np.isfinite(state.latent).all()


def test_atoms_and_targets_must_have_the_same_rows():
    atoms = prepare_atoms(DenseDictionary(np.eye(4)))
    with pytest.raises(ValueError, match="atoms have 4 rows, the targets 3"):
        AugmentedSampler(atoms, BernoulliAugmentation([0, 1, 1]))
