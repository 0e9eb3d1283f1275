"""The same models by NumPyro's No-U-Turn sampler."""

from __future__ import annotations

import os
import time

# Before JAX is imported: one thread, as for all methods.
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
from numpyro import distributions as dist
from numpyro.infer import MCMC, NUTS

from bench.sampling.methods import Chains, Length
from bench.sampling.problems import (
    NOISE_RATE,
    NOISE_SHAPE,
    SLAB_DF,
    SLAB_SCALE,
    Regression,
    find_global_scale,
)

__all__ = ["run_nuts"]


def horseshoe(X: jax.Array, y: jax.Array, has_slab: bool) -> None:
    """Describe the model, non-centred: normal variates times scales (Piironen and Vehtari 2017)."""
    n_columns = X.shape[1]
    noise_variance = numpyro.sample("noise_variance", dist.InverseGamma(NOISE_SHAPE, NOISE_RATE))
    sigma = jnp.sqrt(noise_variance)
    tau = numpyro.sample("tau", dist.HalfCauchy(find_global_scale(n_columns)))
    local = numpyro.sample("local", dist.HalfCauchy(jnp.ones(n_columns)))
    eta = tau * local
    if has_slab:
        half = 0.5 * SLAB_DF
        slab_square = numpyro.sample("slab", dist.InverseGamma(half, half * SLAB_SCALE**2))
        eta = eta * jnp.sqrt(slab_square / (slab_square + eta**2))
    z = numpyro.sample("z", dist.Normal(jnp.zeros(n_columns), 1.0))
    predictor = numpyro.deterministic("predictor", X @ (sigma * eta * z))
    numpyro.deterministic("sigma", sigma)
    numpyro.sample("y", dist.Normal(predictor, sigma), obs=y)


def run_nuts(
    data: Regression, seed: int, length: Length, *, has_slab: bool, target_accept: float
) -> Chains:
    """Run chains one after the other, in single precision as NumPyro does by default.

    Everything is run twice; the second run is compiled already.
    """
    mcmc = MCMC(
        NUTS(horseshoe, target_accept_prob=target_accept),
        num_warmup=length.n_warmup,
        num_samples=length.n_draws,
        num_chains=length.n_chains,
        chain_method="sequential",
        progress_bar=False,
    )
    arguments = (jnp.asarray(data.X), jnp.asarray(data.y), has_slab)
    cpu: list[tuple[float, float]] = []
    for repeat in range(2):
        keys = jax.random.split(jax.random.PRNGKey(seed + repeat))
        began = time.process_time()
        mcmc.warmup(keys[0], *arguments, extra_fields=("diverging",))
        jax.block_until_ready(mcmc.post_warmup_state)
        warmed = time.process_time()
        mcmc.run(keys[1], *arguments, extra_fields=("diverging",))
        draws = jax.block_until_ready(mcmc.get_samples(group_by_chain=True))
        cpu.append((warmed - began, time.process_time() - warmed))
    return Chains(
        predictor=np.asarray(draws["predictor"], dtype=np.float64),
        noise=np.asarray(draws["sigma"], dtype=np.float64),
        warmup_cpu=cpu[1][0],
        draws_cpu=cpu[1][1],
        compile_cpu=max(sum(cpu[0]) - sum(cpu[1]), 0.0),
        n_divergences=int(np.sum(mcmc.get_extra_fields()["diverging"])),
    )
