"""Several chains of a sampler: run, stored, continued until their diagnostics are good."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from relvec._linalg import limit_blas_threads
from relvec._typing import IndexArray, Matrix, Vector
from relvec.sampling.base import Draw, Sampler
from relvec.sampling.diagnostics import compute_ess_bulk, compute_ess_tail, compute_r_hat

__all__ = [
    "Chain",
    "ChainTuning",
    "StoredDraws",
    "join_chains",
    "resume_chains",
    "run_chains",
    "start_chains",
]

_GENERATOR = ("state", "inc", "has_uint32", "uinteger")
"""Numbers in the state of NumPy's default generator."""

Record = Callable[[Draw], Vector]
"""Function that returns the quantities of a draw whose convergence is monitored."""


@dataclass(frozen=True)
class ChainTuning:
    """How long chains run, and when they are taken to have converged."""

    n_draws: int = 500
    """Draws of each chain that are kept."""
    thin: int = 2
    """Steps between two draws, to begin with."""
    max_doublings: int = 4
    """How often chains are continued for twice as many steps if they have not converged."""
    max_r_hat: float = 1.01
    """Largest rank-normalised split R-hat of converged chains (Vehtari et al. 2021)."""
    min_ess: float = 400.0
    """Smallest effective sample size, of bulk and tails, of converged chains: 100 for each of four
    (Vehtari et al. 2021)."""


@dataclass(frozen=True, eq=False)
class Chain:
    """One chain: its state, its random numbers, and the draws since the last restart."""

    state: Any
    rng: np.random.Generator
    draws: tuple[Draw, ...] = ()
    records: Matrix = field(default_factory=lambda: np.empty((0, 0)))
    """Monitored quantities, one row per draw."""
    n_steps: int = 0
    """Steps since the start."""
    thin: int = 0
    """Steps between its draws; zero if it has none."""

    def pack(self, sampler: Sampler[Any]) -> dict[str, Any]:
        """Return what is needed to continue the chain, without its draws."""
        generator = self.rng.bit_generator.state
        numbers = generator["state"] | {
            each: generator[each] for each in ("has_uint32", "uinteger")
        }
        # 128-bit numbers of the generator as text
        packed = {f"rng_{name}": str(value) for name, value in numbers.items()}
        return sampler.pack(self.state) | packed | {"n_steps": self.n_steps, "thin": self.thin}


def start_chains(
    sampler: Sampler[Any], seed: Any, actives: Sequence[IndexArray | None]
) -> list[Chain]:
    """Return a chain for each set of atoms to start from; None starts at random.

    Every chain has random numbers of its own, so that the result does not depend on the number of
    processes.
    """
    seeds = np.random.SeedSequence(seed).spawn(len(actives))
    generators = [np.random.default_rng(each) for each in seeds]
    return [
        Chain(sampler.init(rng, active), rng)
        for rng, active in zip(generators, actives, strict=True)
    ]


def resume_chains(
    sampler: Sampler[Any], chains: Sequence[Chain], packed: Sequence[dict[str, Any]]
) -> list[Chain]:
    """Return chains in the place of newly started ones, continued from where they were packed."""
    resumed = []
    for chain, values in zip(chains, packed, strict=True):
        own = dict(values)
        numbers = {name: int(own.pop(f"rng_{name}")) for name in _GENERATOR}
        n_steps, thin = int(own.pop("n_steps")), int(own.pop("thin", 0))
        rng = np.random.default_rng()
        rng.bit_generator.state = {
            "bit_generator": "PCG64",
            "state": {name: numbers.pop(name) for name in ("state", "inc")},
            **numbers,
        }
        state = sampler.unpack(own, chain.state)
        resumed.append(Chain(state, rng, n_steps=n_steps, thin=thin))
    return resumed


def _continue_chain(
    sampler: Sampler[Any], chain: Chain, n_warmup: int, n_draws: int, thin: int, record: Record
) -> Chain:
    """Return the chain after a number of steps, with the draws made on the way."""
    state, rng, draws, records = chain.state, chain.rng, [], []
    with limit_blas_threads(0.0):
        for _ in range(n_warmup):
            state = sampler.step(state, rng)
        for _ in range(n_draws):
            for _ in range(thin):
                state = sampler.step(state, rng)
            draw = sampler.draw(state, rng)
            draws.append(draw)
            records.append(record(draw))
    n_steps = chain.n_steps + n_warmup + n_draws * thin
    return Chain(state, rng, tuple(draws), np.array(records), n_steps, thin)


def run_chains(
    sampler: Sampler[Any],
    chains: Sequence[Chain],
    record: Record,
    *,
    tuning: ChainTuning,
    judged: IndexArray | None = None,
    n_warmup: int | None = None,
    n_jobs: int | None = None,
    monitor: Callable[[int, float, float], bool] | None = None,
) -> list[Chain]:
    """Continue chains until they have converged, or for the longest time that is allowed.

    A round ends with `ChainTuning.n_draws` draws of each chain. If they do not pass the
    diagnostics, they count as warm-up, and the next round has twice as many steps between draws.

    Parameters
    ----------
    sampler : Sampler
        The sampler.
    chains : sequence of Chain
        Chains to continue. Steps between draws begin with those of earlier draws, if there were
        more of them.
    record : callable
        Quantities of a draw that are monitored.
    tuning : ChainTuning
        Numbers of draws and steps.
    judged : ndarray, optional
        Positions of the quantities on which the verdict depends; default, all of them.
    n_warmup : int, optional
        Steps before the first draw; default, as many as half of the first round.
    n_jobs : int, optional
        Number of processes.
    monitor : callable, optional
        Called after every round with its number, the largest R-hat and the smallest effective
        sample size; True stops.

    Returns
    -------
    chains : list of Chain
        With the draws of the last round.
    """
    thin = tuning.thin
    if tuning.max_doublings:  # otherwise the number of steps is fixed
        thin = max(thin, *(chain.thin for chain in chains))
    warmup = tuning.n_draws * thin // 2 if n_warmup is None else n_warmup
    with Parallel(n_jobs=n_jobs) as parallel:
        for number in range(tuning.max_doublings + 1):
            chains = parallel(
                delayed(_continue_chain)(sampler, chain, warmup, tuning.n_draws, thin, record)
                for chain in chains
            )
            r_hat, ess = worst_diagnostics(chains, judged)
            is_stopped = monitor is not None and monitor(number, r_hat, ess)
            if is_stopped or (r_hat <= tuning.max_r_hat and ess >= tuning.min_ess):
                break
            thin, warmup = 2 * thin, 0
    return list(chains)


def worst_diagnostics(
    chains: Sequence[Chain], judged: IndexArray | None = None
) -> tuple[float, float]:
    """Return the largest R-hat and the smallest effective sample size of what is monitored."""
    records = np.array([chain.records for chain in chains])
    if judged is not None:
        records = records[:, :, judged]
    if records.shape[1] < 4 or not records.shape[2]:
        return math.nan, math.nan
    r_hat = compute_r_hat(records)
    ess = np.minimum(compute_ess_bulk(records), compute_ess_tail(records))
    return float(np.nanmax(r_hat, initial=1.0)), float(np.nanmin(ess, initial=math.inf))


@dataclass(frozen=True, eq=False)
class StoredDraws:
    """Draws of all chains, one chain after the other, in flat arrays."""

    n_chains: int
    offset: IndexArray
    """Position of the first atom of each draw, and of the end."""
    active: IndexArray
    """Atoms of all draws."""
    weights: Vector
    """Their weights, of prepared atoms."""
    log_lam: Vector
    noise_variance: Vector
    """Noise variance of each draw."""
    log_posterior: Vector
    intercept: Vector
    parameters: Matrix
    """Further parameters of each draw."""

    def __len__(self) -> int:
        return len(self.noise_variance)

    @property
    def size(self) -> IndexArray:
        """Number of atoms of each draw."""
        return np.diff(self.offset)

    @property
    def draw_of_atom(self) -> IndexArray:
        """Draw to which each entry of `active` belongs."""
        return np.repeat(np.arange(len(self)), self.size)

    def by_chain(self, values: np.ndarray) -> np.ndarray:
        """Return values of all draws with an axis of chains in front."""
        return values.reshape(self.n_chains, -1, *values.shape[1:])

    def restricted(self, used: IndexArray) -> StoredDraws:
        """Return the draws with atoms numbered by their positions in the sorted array `used`."""
        return replace(self, active=np.searchsorted(used, self.active))


def join_chains(chains: Sequence[Chain]) -> StoredDraws:
    """Store the draws of chains in flat arrays."""
    draws = [draw for chain in chains for draw in chain.draws]
    sizes = [len(draw.active) for draw in draws]
    return StoredDraws(
        len(chains),
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp),
        np.concatenate([draw.active for draw in draws]).astype(np.intp),
        np.concatenate([draw.weights for draw in draws]),
        np.concatenate([draw.log_lam for draw in draws]),
        np.array([draw.noise_variance for draw in draws]),
        np.array([draw.log_posterior for draw in draws]),
        np.array([draw.intercept for draw in draws]),
        np.array([draw.parameters for draw in draws]).reshape(len(draws), -1),
    )
