"""The samplers: each returns chains of the linear predictor and of the noise.

A new sampler of the library is one more line of `METHODS`.
"""

from __future__ import annotations

import importlib
import importlib.util
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from bench.sampling.problems import (
    NOISE_RATE,
    NOISE_SHAPE,
    SLAB_DF,
    SLAB_SCALE,
    Regression,
    find_global_scale,
)

__all__ = ["METHODS", "NEEDED", "Chains", "Length", "Method", "find_missing"]

NEEDED = {"jax": "jax", "numpyro": "numpyro", "arviz": "arviz"}
"""Modules, and the distributions that provide them."""


class Length(NamedTuple):
    """Chains, warm-up steps of NUTS, steps left out at the start of ours, and draws kept."""

    n_chains: int = 4
    n_warmup: int = 1000
    n_burn: int = 200
    n_draws: int = 1000


class Chains(NamedTuple):
    """Draws of all chains after warm-up, and CPU seconds."""

    predictor: np.ndarray
    """Linear predictor at the training rows, shape (n_chains, n_draws, n_rows)."""
    noise: np.ndarray
    """Noise standard deviation, shape (n_chains, n_draws)."""
    warmup_cpu: float
    draws_cpu: float
    compile_cpu: float = 0.0
    n_divergences: int | None = None
    n_leapfrog: float | None = None
    """Mean number of leapfrog steps of a draw."""


class Method(NamedTuple):
    """A sampler, and the model it samples: only rows of one model are compared."""

    model: str
    run: Callable[[Regression, int, Length], Chains]
    needs_numpyro: bool = False


def find_missing() -> list[str]:
    """Return what has to be installed for this suite."""
    return [name for module, name in NEEDED.items() if importlib.util.find_spec(module) is None]


def _horseshoe(**options: Any) -> Any:
    def make(moments: Any) -> Any:
        from relvec.priors import InverseGamma
        from relvec.sampling import HorseshoeSampler

        scale = find_global_scale(moments.n_atoms)
        noise = InverseGamma(NOISE_SHAPE, NOISE_RATE)
        return HorseshoeSampler(moments, global_scale=scale, noise=noise, **options)

    return make


def _collapsed(moments: Any) -> Any:
    """Return the sampler of `SampledSparseBayesRegressor(LinearBasis())`."""
    from relvec.priors import InverseGamma
    from relvec.sampling import BetaBinomialSize, CollapsedSampler, PrecisionGrid

    return CollapsedSampler(
        moments,
        grid=PrecisionGrid(1e-8, 0.1, n_levels=8),
        size_prior=BetaBinomialSize(),
        noise_prior=InverseGamma(NOISE_SHAPE, NOISE_RATE),
    )


def _relvec(
    make: Callable[[Any], Any], thin: int = 1
) -> Callable[[Regression, int, Length], Chains]:
    """Run any `relvec.sampling.Sampler`, with so many steps for each draw."""

    def run(data: Regression, seed: int, length: Length) -> Chains:
        from relvec.dictionaries import DenseDictionary
        from relvec.moments import compute_moments

        importlib.import_module("relvec.sampling")  # imports are not part of warm-up
        began = time.process_time()
        targets = data.y[:, np.newaxis]
        [moments] = compute_moments(DenseDictionary(data.X), targets, None, centre=False)
        sampler = make(moments)
        warmup_cpu, draws_cpu = time.process_time() - began, 0.0
        weights = np.zeros((length.n_chains, length.n_draws, data.X.shape[1]))
        noise = np.empty(weights.shape[:2])
        for chain in range(length.n_chains):
            rng = np.random.default_rng([seed, chain])
            began = time.process_time()
            state = sampler.init(rng)
            for _ in range(length.n_burn * thin):
                state = sampler.step(state, rng)
            warmup_cpu += time.process_time() - began
            began = time.process_time()
            for i in range(length.n_draws):
                for _ in range(thin):
                    state = sampler.step(state, rng)
                draw = sampler.draw(state, rng)
                weights[chain, i, draw.active] = draw.weights
                noise[chain, i] = np.sqrt(draw.noise_variance)
            draws_cpu += time.process_time() - began
        predictor = (weights / moments.column_norm) @ data.X.T
        return Chains(predictor, noise, warmup_cpu, draws_cpu)

    return run


def _nuts(*, has_slab: bool, target_accept: float) -> Any:
    def run(data: Regression, seed: int, length: Length) -> Chains:
        from bench.sampling.nuts import run_nuts

        return run_nuts(data, seed, length, has_slab=has_slab, target_accept=target_accept)

    return run


FINNISH, PLAIN = "regularised (Finnish) horseshoe", "horseshoe"
SELECTION = "selection of columns (spike and grid of precisions), another model"
THIN = 8
"""Steps of the collapsed sampler for a draw, of which each changes one column at most."""
METHODS = {
    "relvec HorseshoeSampler, slab": Method(
        FINNISH, _relvec(_horseshoe(slab_scale=SLAB_SCALE, slab_df=SLAB_DF))
    ),
    "NumPyro NUTS, slab, target_accept 0.9": Method(
        FINNISH, _nuts(has_slab=True, target_accept=0.9), needs_numpyro=True
    ),
    "NumPyro NUTS, slab, target_accept 0.99": Method(
        FINNISH, _nuts(has_slab=True, target_accept=0.99), needs_numpyro=True
    ),
    "relvec HorseshoeSampler": Method(PLAIN, _relvec(_horseshoe())),
    "NumPyro NUTS, target_accept 0.9": Method(
        PLAIN, _nuts(has_slab=False, target_accept=0.9), needs_numpyro=True
    ),
    "relvec CollapsedSampler": Method(SELECTION, _relvec(_collapsed, THIN)),
}
