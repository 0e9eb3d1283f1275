"""Statistics of the check of samplers: ranks of prior draws, and the chi-squared test."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import chi2

from relvec._typing import Matrix, Vector
from relvec.dictionaries import DenseDictionary
from relvec.moments import Moments, compute_moments
from relvec.sampling.base import Sampler
from relvec.testing._claims import require

MakeSampler = Callable[[Moments], Sampler[Any]]
DrawPrior = Callable[[int, np.random.Generator], tuple[Vector, float]]

N_ERRORS = 5.0
"""Largest deviation in Monte Carlo standard errors; with about a hundred comparisons and fifty
batches a correct sampler exceeds it once in a thousand seeds."""

SMALLEST_P = 1e-6
"""Smallest p-value of a chi-squared statistic."""


def chi_squared(counts: Vector, expected: Vector) -> float:
    """Return the p-value of counts; rare cells are merged so that five are expected in each."""
    order = np.argsort(-expected)
    group = np.minimum(
        (np.cumsum(expected[order]) / 5.0).astype(int), int(expected.sum() / 5.0) - 1
    )
    _, group = np.unique(group, return_inverse=True)
    found, likely = (
        np.bincount(group, each[order]).astype(np.float64) for each in (counts, expected)
    )
    statistic = float(((found - likely) ** 2 / likely).sum())
    return float(chi2.sf(statistic, max(len(found) - 1, 1)))


def check_ranks(
    make_sampler: MakeSampler, draw_prior: DrawPrior, atoms: Matrix, n_replications: int
) -> None:
    """Simulation-based calibration (Talts et al. 2018): ranks of prior draws are uniform."""
    rng, n_draws, n_atoms = np.random.default_rng(4), 19, atoms.shape[1]
    ranks, name = np.zeros((n_replications, n_atoms + 2), dtype=int), ""
    for rank in ranks:
        weights, noise = draw_prior(n_atoms, rng)
        t = atoms @ weights + math.sqrt(noise) * rng.standard_normal(len(atoms))
        [moments] = compute_moments(DenseDictionary(atoms), t[:, np.newaxis], None, centre=False)
        sampler = make_sampler(moments)
        name, state = type(sampler).__name__, sampler.init(rng)
        values = np.zeros((n_draws, n_atoms + 2))
        for number, value in enumerate(values):
            for _ in range(10 if number else 50):
                state = sampler.step(state, rng)
            draw = sampler.draw(state, rng)
            value[draw.active] = draw.weights
            value[-2:] = draw.noise_variance, draw.weights @ draw.weights
        true = np.concatenate([weights, [noise, weights @ weights]])
        # atoms outside the model have the weight zero in both: such ties have a rank at random
        ties = (values == true).sum(axis=0)
        rank[:] = (values < true).sum(axis=0) + rng.integers(ties + 1)
    middle = np.arange(n_draws + 1) - n_draws / 2
    what = [f"the weight of atom {i}" for i in range(n_atoms)]
    for label, column in zip(
        (*what, "the noise variance", "the sum of squared weights"), ranks.T, strict=True
    ):
        counts = np.bincount(column // 2, minlength=10).astype(np.float64)
        p_value = chi_squared(counts, np.full(10, n_replications / 10))
        # means of the rank and of its squared distance from the middle, in standard errors
        shift, spread = (
            (known[column].mean() - known.mean()) / known.std() * math.sqrt(n_replications)
            for known in (middle, middle**2)
        )
        require(
            p_value > SMALLEST_P and max(abs(shift), abs(spread)) <= N_ERRORS,
            f"{name}: {label}, drawn from the prior, has ranks among draws from the posterior that "
            f"are not uniform (chi-squared test, p = {p_value:.2g}; mean rank {shift:.1f}, spread "
            f"{spread:.1f} standard errors from what they should be)",
        )
