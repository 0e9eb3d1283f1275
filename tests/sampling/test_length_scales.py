"""Length-scale factors: the joint posterior of models and factors, by brute force."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

from relvec.bases import KernelAtoms, LinearBasis
from relvec.dictionaries import DenseDictionary
from relvec.moments import compute_moments
from relvec.sampling import (
    BetaBinomialSize,
    CollapsedSampler,
    ExponentialSize,
    LengthScaleSampler,
    PrecisionGrid,
    ScaledAtoms,
    group_features,
)
from relvec.sampling.length_scales import scale_atoms

X = np.linspace(-1.0, 1.0, 8)[:, None]
Y = np.sin(2.0 * X[:, 0]) + 0.3 * np.random.default_rng(0).normal(size=8)
CENTRES = np.array([[-0.8], [0.3]])
GRID = PrecisionGrid(0.05, 1.0, n_levels=2)
PRIOR_STD = 0.5


def make_sampler(weight, size_prior):
    atoms = KernelAtoms(RBF(0.7), CENTRES)
    [moments] = compute_moments(DenseDictionary(atoms.evaluate(X)), Y[:, None], weight, centre=True)
    plain = CollapsedSampler(moments, grid=GRID, size_prior=size_prior)
    scaled = ScaledAtoms(atoms, (np.array([0]),), 1)
    return LengthScaleSampler(plain, scaled, X, Y, weight, centre=True, prior_std=PRIOR_STD)


def enumerate_posterior(weight, size_prior):
    """Probabilities of models with precisions, and moments of the log factor, on a grid of it."""
    w = np.ones(8) if weight is None else weight
    factors = np.linspace(-2.5, 2.5, 401)

    def log_likelihood(active, precision, factor):
        columns = KernelAtoms(RBF(0.7 * math.exp(factor)), CENTRES).evaluate(X)
        columns = (columns - w @ columns / w.sum()) * np.sqrt(w)[:, None]
        columns /= np.linalg.norm(columns, axis=0)
        target = (Y - w @ Y / w.sum()) * np.sqrt(w)
        used = columns[:, list(active)]
        K = np.eye(8) + used @ np.diag(1.0 / np.array(precision)) @ used.T
        error = 0.5 * target @ np.linalg.solve(K, target)
        return -0.5 * np.linalg.slogdet(K)[1] - 0.5 * (w.sum() - 1.0) * math.log(error)

    table = {}
    for size in range(3):
        for active in itertools.combinations(range(2), size):
            for level in itertools.product(range(2), repeat=size):
                precision = [GRID.values[i] for i in level]
                values = [log_likelihood(active, precision, factor) for factor in factors]
                prior = size_prior.log_probability(size, 2) - size * math.log(2.0)
                table[active, level] = np.array(values) + prior - 0.5 * (factors / PRIOR_STD) ** 2
    largest = max(each.max() for each in table.values())
    table = {key: np.exp(each - largest) for key, each in table.items()}
    total = sum(each.sum() for each in table.values())
    mean = sum(each @ factors for each in table.values()) / total
    return {key: each.sum() / total for key, each in table.items()}, mean


@pytest.mark.slow
@pytest.mark.parametrize("size_prior", [BetaBinomialSize(), ExponentialSize(0.7)], ids=repr)
@pytest.mark.parametrize(
    "weight", [None, np.array([1, 2, 1, 0, 3, 1, 1, 2.0])], ids=["ones", "counts"]
)
def test_joint_posterior_equals_enumeration(weight, size_prior):
    sampler, rng = make_sampler(weight, size_prior), np.random.default_rng(1)
    state, n_steps = sampler.init(rng), 12_000
    exact, mean = enumerate_posterior(weight, size_prior)
    seen, factors = {key: np.zeros(n_steps) for key in exact}, np.empty(n_steps)
    for i in range(n_steps):
        state = sampler.step(state, rng)
        order = np.argsort(state.model.active)
        key = tuple(state.model.active[order]), tuple(state.model.level[order])
        seen[key][i], factors[i] = 1.0, state.parameters[0]

    def check(draws, expected):
        error = draws.reshape(20, -1).mean(axis=1).std(ddof=1) / math.sqrt(20)
        assert abs(draws.mean() - expected) < 4.0 * error + 1e-3

    for key, probability in exact.items():
        check(seen[key], probability)
    check(factors, mean)


def test_draws_are_functions_of_raw_atoms():
    # weights in units of the atoms at factors of one, and the intercept that belongs to them
    sampler, rng = make_sampler(None, ExponentialSize(0.0)), np.random.default_rng(2)
    state = sampler.init(rng, np.array([0, 1]))
    for _ in range(50):
        state = sampler.step(state, rng)
    while not len(state.model.active):
        state = sampler.step(state, rng)
    draw = sampler.draw(state, rng)
    moments = sampler.sampler.target.moments
    raw = draw.weights / moments.column_norm[draw.active]
    columns = sampler.atoms.subset(draw.active).at(state.parameters).evaluate(X)
    function = columns @ raw + draw.intercept
    # centred atoms: the mean over the training rows is that of the targets
    assert function.mean() == pytest.approx(Y.mean())


def test_linear_atoms_have_no_length_scale():
    atoms = LinearBasis().bind(X).atoms
    assert scale_atoms(atoms, np.array([2.0])) is atoms
    assert [each.tolist() for each in group_features("ard", [0, 2])] == [[0], [2]]
    assert [each.tolist() for each in group_features("shared", [0, 2])] == [[0, 2]]
