"""Chains of samplers: their draws, and diagnostics of their mixing."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from relvec.sampling import Sampler

__all__ = ["Chain", "run_chain", "split_rhat"]


class Chain(NamedTuple):
    """Draws of a chain that are kept."""

    log_alpha: np.ndarray
    """Decimal logarithms of precisions, shape (n_draws, n_atoms); NaN outside the model."""
    curve: np.ndarray
    """Functions drawn, shape (n_draws, n_samples)."""
    log_noise: np.ndarray
    """Logarithms of the noise variance."""
    proposed: np.ndarray
    """Number of proposals of each kind of move; empty if the sampler does not count."""
    accepted: np.ndarray


def run_chain(
    sampler: Sampler[Any],
    design: np.ndarray,
    scale: np.ndarray,
    *,
    n_steps: int,
    every: int,
    seed: int,
    start: Any = None,
) -> Chain:
    """Run a chain.

    Parameters
    ----------
    sampler : Sampler
        Any sampler.
    design : ndarray of shape (n_samples, n_atoms)
        The unit-norm atoms.
    scale : ndarray of shape (n_atoms,)
        Precision of an atom in the units shown over that of the unit-norm atom.
    n_steps, every : int
        Number of steps, and of those from one draw that is kept to the next.
    seed : int
        Of the chain.
    start : object, optional
        State from which it starts; default, a random one.
    """
    rng = np.random.default_rng(seed)
    state = sampler.init(rng) if start is None else start
    log_alpha, curves, log_noise = [], [], []
    for step in range(1, n_steps + 1):
        state = sampler.step(state, rng)
        if step % every:
            continue
        drawn = sampler.draw(state, rng)
        row = np.full(design.shape[1], np.nan)
        log_lam = drawn.log_lam - np.log(drawn.noise_variance)
        row[drawn.active] = (log_lam + np.log(scale[drawn.active])) / np.log(10.0)
        log_alpha.append(row)
        curves.append(design[:, drawn.active] @ drawn.weights)
        log_noise.append(np.log(drawn.noise_variance))
    return Chain(
        np.array(log_alpha),
        np.array(curves),
        np.array(log_noise),
        np.array(getattr(state, "proposed", ()), dtype=float),
        np.array(getattr(state, "accepted", ()), dtype=float),
    )


def split_rhat(chains: np.ndarray) -> float:
    """Return the potential scale reduction of a quantity (Gelman et al., 2013, section 11.4).

    Each chain is cut in two halves, so that a drift counts. The value is 1 for chains that mix;
    infinite if they stay at different values, and 1 if all stay at the same one.

    Parameters
    ----------
    chains : ndarray of shape (n_chains, n_draws)
        Draws after warm-up.
    """
    n = chains.shape[1] // 2
    halves = np.concatenate([chains[:, :n], chains[:, n : 2 * n]])
    within = float(halves.var(axis=1, ddof=1).mean())
    between = float(halves.mean(axis=1).var(ddof=1))
    if within <= 0.0:
        return 1.0 if between <= 0.0 else np.inf
    return float(np.sqrt((n - 1) / n + between / within))
