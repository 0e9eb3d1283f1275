"""Joint-distribution tests of the augmented sampler (Geweke 2004, "Getting it right").

Parameters and data are drawn from their joint distribution in two ways: directly, and by a chain
that alternates between a step of the sampler and new data given the parameters. If the sampler
leaves the posterior invariant, both have the same distribution.
"""

from __future__ import annotations

import numpy as np
import pytest

from relvec.dictionaries import DenseDictionary
from relvec.priors import InverseGamma
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

N_ROWS, N_ATOMS = 5, 3
PENALTY, CONSTANT = 0.5, 2.0
OFFSET = np.array([2.0, 1.5, 0.0, 1.0, 2.0])  # large: errors in its sign are seen
PHI = np.random.default_rng(0).normal(size=(N_ROWS, N_ATOMS))
ATOMS = prepare_atoms(DenseDictionary(PHI), scaling="deviation")
GRID = PrecisionGrid(0.5, 4.0, n_levels=2)
N_CLASSES = 3
NOISE = InverseGamma(5.0, 4.0)
DEGREES = np.array([2.0, 4.0, 20.0])


def draw_function(rng, noise=1.0):
    """Draw a latent function from its prior."""
    weights = np.zeros(N_ATOMS + 1)
    present = rng.uniform(size=N_ATOMS) < 1.0 / (1.0 + np.exp(PENALTY))
    precision = rng.choice(GRID.values, size=N_ATOMS)
    weights[:-1] = present * rng.normal(size=N_ATOMS) * np.sqrt(noise / precision)
    weights[-1] = rng.normal() * np.sqrt(noise / CONSTANT)
    return weights @ ATOMS.values, present.sum()


class Classes:
    """How data are drawn, and the augmentation of drawn data."""

    n_latent = 1

    def parameters(self, rng):
        return np.empty(0), 1.0

    def targets(self, latent, parameters, noise, rng):
        p = 1.0 / (1.0 + np.exp(-latent[:, 0] - OFFSET))
        return (rng.uniform(size=N_ROWS) < p).astype(float)

    def bind(self, target):
        return BernoulliAugmentation(target, offset=OFFSET)


class ManyClasses(Classes):
    n_latent = N_CLASSES

    def targets(self, latent, parameters, noise, rng):
        utility = latent + np.outer(OFFSET, [1.0, 0.0, -1.0]) + rng.gumbel(size=latent.shape)
        return utility.argmax(axis=1).astype(float)

    def bind(self, target):
        return SoftmaxAugmentation(target, N_CLASSES, offset=np.outer(OFFSET, [1.0, 0.0, -1.0]))


class Counts(Classes):
    def parameters(self, rng):
        return rng.normal(0.7, 0.8, size=1), 1.0

    def targets(self, latent, parameters, noise, rng):
        r, mean = np.exp(parameters[0]), np.exp(latent[:, 0] + OFFSET)
        return rng.poisson(mean * rng.standard_gamma(r, size=N_ROWS) / r).astype(float)

    def bind(self, target):
        return NegativeBinomialAugmentation(
            target, offset=OFFSET, log_shape_mean=0.7, log_shape_deviation=0.8
        )


class Robust(Classes):
    def parameters(self, rng):
        return np.log(rng.choice(DEGREES, size=1)), NOISE.rate / rng.standard_gamma(NOISE.shape)

    def targets(self, latent, parameters, noise, rng):
        t = rng.standard_t(np.exp(parameters[0]), size=N_ROWS)
        return latent[:, 0] + OFFSET + np.sqrt(noise) * t

    def bind(self, target):
        return StudentTAugmentation(target, offset=OFFSET, df=DEGREES, noise_prior=NOISE)


def bounded(values):
    # heavy tails (moments that do not exist) would spoil the standard errors
    return np.tanh(0.5 * np.asarray(values, dtype=float))


def statistics(latent, sizes, parameters, noise, target):
    f = bounded(latent)
    t = bounded(target)
    return np.concatenate(
        [
            f[0],
            f.mean(axis=0),
            f[1] ** 2,
            bounded(latent[:, 0]) * t,
            t**2,
            [np.sum(sizes), np.sum(np.square(sizes))],
            parameters,
            parameters**2,
            [np.log(noise), np.log(noise) ** 2],
        ]
    )


@pytest.mark.slow
@pytest.mark.parametrize("model", [Classes(), ManyClasses(), Counts(), Robust()])
def test_sampler_and_prior_agree(model):
    rng = np.random.default_rng(4)
    direct = []
    for _ in range(10_000):
        parameters, noise = model.parameters(rng)
        drawn = [draw_function(rng, noise) for _ in range(model.n_latent)]
        latent = np.column_stack([f for f, _ in drawn])
        target = model.targets(latent, parameters, noise, rng)
        direct.append(statistics(latent, [s for _, s in drawn], parameters, noise, target))
    options = {
        "grid": GRID,
        "size_prior": ExponentialSize(PENALTY),
        "n_moves": 2,
        "intercept_precision": CONSTANT,
    }
    state, chain = None, []
    n_steps = 4000 if model.n_latent == 1 else 2500
    for _ in range(n_steps):
        sampler = AugmentedSampler(ATOMS, model.bind(target), **options)
        state = sampler.init(rng) if state is None else sampler.step(state, rng)
        target = model.targets(state.latent, state.parameters, state.noise_variance, rng)
        sizes = [each.size for each in state.models]
        chain.append(
            statistics(state.latent, sizes, state.parameters, state.noise_variance, target)
        )
    direct, chain = np.array(direct), np.array(chain[n_steps // 10 :])
    batches = chain.reshape(30, -1, chain.shape[1]).mean(axis=1)
    error = np.sqrt(batches.var(axis=0, ddof=1) / 30 + direct.var(axis=0) / len(direct))
    difference = np.abs(chain.mean(axis=0) - direct.mean(axis=0))
    assert (difference <= 4.0 * error + 1e-12).all()
    # the test can see something: errors are small compared to the spread of each statistic
    spread = direct.std(axis=0)
    assert (error[spread > 0.0] < 0.15 * spread[spread > 0.0]).all()
