"""The same models by NumPyro's No-U-Turn sampler."""

from __future__ import annotations

import os
import time
from typing import Any

# Before JAX is imported: one thread, as for all methods.
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
from numpyro import distributions as dist
from numpyro.infer import NUTS

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

    `MCMC.run` compiles at every call, which would take most of the time. Warm-up and draws are
    therefore compiled ahead, once for all chains.
    """
    began = time.process_time()
    arguments = (jnp.asarray(data.X), jnp.asarray(data.y), has_slab)
    kernel = NUTS(horseshoe, target_accept_prob=target_accept)
    keys = jax.random.split(jax.random.PRNGKey(seed), length.n_chains)
    starts = [kernel.init(key, length.n_warmup, None, arguments, {}) for key in keys]

    def step(state: Any, _: None) -> tuple[Any, Any]:
        state = kernel.sample(state, arguments, {})
        return state, (state.z, state.diverging, state.num_steps)

    def warm(state: Any) -> Any:
        return jax.lax.fori_loop(0, length.n_warmup, lambda _, each: step(each, None)[0], state)

    def sample(state: Any) -> Any:
        return jax.lax.scan(step, state, None, length=length.n_draws)[1]

    warm_compiled = jax.jit(warm).lower(starts[0]).compile()
    sample_compiled = jax.jit(sample).lower(starts[0]).compile()
    compile_cpu, warmup_cpu, draws_cpu = time.process_time() - began, 0.0, 0.0
    predictor, noise, n_divergences, n_steps = [], [], 0, []
    constrain = jax.jit(jax.vmap(kernel.postprocess_fn(arguments, {})))
    for start in starts:
        began = time.process_time()
        warmed = jax.block_until_ready(warm_compiled(start))
        warmup_cpu += time.process_time() - began
        began = time.process_time()
        z, diverging, steps = jax.block_until_ready(sample_compiled(warmed))
        draws_cpu += time.process_time() - began
        sites = constrain(z)
        predictor.append(np.asarray(sites["predictor"], dtype=np.float64))
        noise.append(np.asarray(sites["sigma"], dtype=np.float64))
        n_divergences += int(diverging.sum())
        n_steps.append(float(steps.mean()))
    return Chains(
        np.array(predictor),
        np.array(noise),
        warmup_cpu,
        draws_cpu,
        compile_cpu,
        n_divergences,
        float(np.mean(n_steps)),
    )
