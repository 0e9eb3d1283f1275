"""Conformance checks for samplers, and for single moves of `relvec.sampling.moves`."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np

from relvec._typing import Matrix, Vector
from relvec.moments import Moments
from relvec.priors import InverseGamma
from relvec.sampling.base import Draw, Sampler
from relvec.sampling.state import ModelState, make_state
from relvec.sampling.target import Target, UnknownNoise
from relvec.testing._claims import require
from relvec.testing._enumeration import Enumeration, SampledProblem, sampled_problems
from relvec.testing._ranks import (
    N_ERRORS,
    SMALLEST_P,
    DrawPrior,
    MakeSampler,
    check_ranks,
    chi_squared,
)

N_BATCHES = 50


def check_sampler(
    make_sampler: MakeSampler,
    *,
    noise_prior: InverseGamma | None = None,
    draw_prior: DrawPrior | None = None,
    n_steps: int = 10_000,
    n_replications: int = 200,
) -> None:
    """Check that a sampler satisfies the protocol of `relvec.sampling.Sampler`, and its posterior.

    Of every sampler: steps and draws leave the state as it is, and depend on nothing but the state
    and the random numbers; draws have usable atoms, finite weights and positive noise; chains run
    without atoms, on a constant target and with fewer samples than atoms.

    Of samplers of discrete models, whose state has ``active``, ``level`` and ``target``, as those
    of `relvec.sampling.CollapsedSampler`: in long chains, inclusion probabilities and the first two
    moments of predictions and log noise variance agree with an enumeration of all models. If the
    state is a `ModelState`, models drawn from the enumerated posterior must have the same
    distribution after a few steps. The priors are taken from ``target``: that they are
    those that were meant is not checked, except for the prior of the noise variance.

    Of any sampler, if `draw_prior` is given: parameters drawn from the prior must be equally likely
    to have each rank among draws from the posterior of data simulated with them (Talts et al.
    2018). This sees the whole sampler, and priors too, but no shift below about a third of the
    posterior standard deviation, and little of atoms that are rarely in the model. Without
    `draw_prior`, the posterior of a sampler of continuous states is not checked. No check sees slow
    mixing on larger problems.

    Parameters
    ----------
    make_sampler : callable
        Function of moments that returns a sampler.
    noise_prior : InverseGamma, optional
        Prior of the noise variance that the samplers use; default, uniform over its logarithm.
    draw_prior : callable, optional
        Function of the number of atoms and of a random generator; it returns weights of atoms of
        unit norm, drawn from the prior, and a noise variance. All priors must be proper.
    n_steps : int, default=10_000
        Length of chains that are compared with an enumeration.
    n_replications : int, default=200
        Number of simulated data sets.

    Raises
    ------
    AssertionError
        If a requirement is violated; the message names the sampler, the problem and the
        requirement.

    Examples
    --------
    >>> from relvec.sampling import CollapsedSampler, PrecisionGrid
    >>> from relvec.testing import check_sampler
    >>> grid = PrecisionGrid(1e-3, 0.1, n_levels=2)
    >>> check_sampler(lambda moments: CollapsedSampler(moments, grid=grid), n_steps=1000)
    """
    problems = sampled_problems()
    for problem in (*problems, *_edge_cases(problems[0])):
        sampler = make_sampler(problem.moments)
        on = f"on {problem.name}, {type(sampler).__name__}"
        require(isinstance(sampler, Sampler), f"{on} must derive from relvec.sampling.Sampler")
        _check_protocol(sampler, problem.moments, on)
    for problem in problems:
        sampler = make_sampler(problem.moments)
        on = f"on {problem.name}, {type(sampler).__name__}"
        state = sampler.init(np.random.default_rng(0))
        if not all(hasattr(state, name) for name in ("active", "level", "target")):
            break
        _check_noise_prior(state.target, problem.moments, noise_prior or InverseGamma(), on)
        exact = Enumeration(*problem.prepare(), state.target)
        _check_long_run(sampler, exact, n_steps, on)
        if isinstance(state, ModelState):
            _check_stationary(sampler, exact, n_steps // 4, on)
    if draw_prior is not None:
        check_ranks(make_sampler, draw_prior, problems[0].prepare()[0], n_replications)


def _edge_cases(problem: SampledProblem) -> tuple[SampledProblem, ...]:
    atoms, target = problem.atoms, problem.target
    return (
        SampledProblem("no columns", atoms[:, :0], target),
        SampledProblem("constant columns", np.ones((len(target), 2)), target),
        SampledProblem("a constant target", atoms, np.full(len(target), 3.0)),
        SampledProblem("a target of zeros", atoms, np.zeros(len(target))),
    )


def _check_protocol(sampler: Sampler[Any], moments: Moments, on: str) -> None:
    rng = np.random.default_rng(1)
    some = np.flatnonzero(moments.usable)[:2]
    for state in (sampler.init(rng), sampler.init(rng, some), sampler.init(rng, some[:0])):
        for _ in range(12):
            before, seed = copy.deepcopy(state), int(rng.integers(2**32))
            first = _advance(sampler, state, seed)
            _require_same(
                _advance(sampler, state, seed),
                first,
                f"{on} gives different draws from the same state with the same random numbers: "
                "step or draw changes the state, or other random numbers are used",
            )
            _require_same(
                _advance(sampler, before, seed),
                first,
                f"{on} gives other draws from a copy of the state: step or draw changes the state",
            )
            for draw in first:
                _check_draw(draw, moments, on)
            state = sampler.step(state, rng)


def _advance(sampler: Sampler[Any], state: Any, seed: int) -> list[Draw]:
    """Return draws from a state, and from the state after a step."""
    rng = np.random.default_rng(seed)
    return [sampler.draw(state, rng), sampler.draw(sampler.step(state, rng), rng)]


def _require_same(found: list[Draw], expected: list[Draw], claim: str) -> None:
    for one, other in zip(found, expected, strict=True):
        fields: Any = zip(one, other, strict=True)
        require(all(np.array_equal(left, right) for left, right in fields), claim)


def _check_draw(draw: Draw, moments: Moments, on: str) -> None:
    active: Any = draw.active
    require(
        isinstance(active, np.ndarray) and active.ndim == 1 and active.dtype.kind == "i",
        f"{on} must draw `active` as an array of integers; got {active!r}",
    )
    require(
        len(np.unique(active)) == len(active)
        and bool(((active >= 0) & (active < moments.n_atoms)).all()),
        f"{on} must draw different atoms that exist; got {active!r}",
    )
    require(
        bool(moments.usable[active].all()),
        f"{on} draws unusable atoms (constant or zero columns): {active!r}",
    )
    for name, values in (("weights", draw.weights), ("log_lam", draw.log_lam)):
        require(
            np.shape(values) == active.shape and bool(np.isfinite(values).all()),
            f"{on} must draw one finite number of `{name}` per atom; got {values!r}",
        )
    noise = draw.noise_variance
    require(
        math.isfinite(noise) and noise > 0.0,
        f"{on} must draw a positive, finite noise variance; got {noise!r}",
    )
    require(
        math.isfinite(draw.log_posterior),
        f"{on} must return a finite log posterior; got {draw.log_posterior!r}",
    )


def _check_noise_prior(target: Target, moments: Moments, prior: InverseGamma, on: str) -> None:
    if not isinstance(target.noise, UnknownNoise):
        return
    shape = prior.shape + 0.5 * moments.n_effective
    require(
        math.isclose(target.noise.shape, shape, rel_tol=1e-9),
        f"{on} has the shape {target.noise.shape:g} of the noise variance; with {prior!r} and "
        f"{moments.n_effective:g} effective samples it is {shape:g}",
    )
    require(
        abs(target.rate - prior.rate) <= 1e-6 * (moments.target_ss + prior.rate),
        f"{on} has the rate {target.rate:g} of the noise variance; that of {prior!r} is "
        f"{prior.rate:g}",
    )


def _check_long_run(sampler: Sampler[Any], exact: Enumeration, n_steps: int, on: str) -> None:
    """Compare averages over a chain with expectations under the enumerated posterior."""
    rng, (n, n_atoms) = np.random.default_rng(2), exact.atoms.shape
    state = sampler.init(rng)
    for _ in range(n_steps // 10):
        state = sampler.step(state, rng)
    length = max(n_steps // N_BATCHES, 1)
    batches = np.zeros((N_BATCHES, n_atoms + 2 * n + 2))
    for batch in batches:
        for _ in range(length):
            state = sampler.step(state, rng)
            draw = sampler.draw(state, rng)
            fit = exact.atoms[:, draw.active] @ draw.weights
            noise = math.log(draw.noise_variance)
            batch[draw.active] += 1.0
            batch[n_atoms:] += np.concatenate([fit, fit**2, [noise, noise**2]])
    expected = np.concatenate([exact.inclusion, *exact.fit, exact.log_noise])
    what = (
        *(f"the inclusion probability of atom {i}" for i in range(n_atoms)),
        *(f"the mean of the prediction at sample {i}" for i in range(n)),
        *(f"the mean square of the prediction at sample {i}" for i in range(n)),
        "the mean of the log noise variance",
        "the mean square of the log noise variance",
    )
    _require_means(batches / length, expected, what, on)


def _require_means(batches: Matrix, expected: Vector, what: tuple[str, ...], on: str) -> None:
    mean = batches.mean(axis=0)
    # An event that never happened has no spread: its error is that of about one event.
    spread = batches.std(axis=0, ddof=1) / math.sqrt(len(batches))
    error = np.hypot(spread, 1e-3 * (np.abs(expected) + 1e-2))
    deviation = np.abs(mean - expected) / error
    worst = int(np.argmax(deviation))
    require(
        bool(deviation[worst] <= N_ERRORS),
        f"{on}: {what[worst]} is {mean[worst]:.4g} in a long chain, and {expected[worst]:.4g} by "
        f"enumeration, {deviation[worst]:.1f} standard errors apart",
    )


def _check_stationary(sampler: Sampler[Any], exact: Enumeration, n_chains: int, on: str) -> None:
    """Start chains from the enumerated posterior: a few steps must not change the distribution."""
    rng = np.random.default_rng(3)
    counts = np.zeros(len(exact.probability))
    for start in rng.choice(len(counts), size=n_chains, p=exact.probability):
        inside, levels = (np.array(each[start], dtype=int) for each in (exact.inside, exact.levels))
        state = make_state(exact.target, inside, levels)
        for _ in range(3):
            state = sampler.step(state, rng)
        counts[exact.find(state.active, state.level)] += 1.0
    p_value = chi_squared(counts, n_chains * exact.probability)
    require(
        p_value > SMALLEST_P,
        f"{on} does not leave its posterior invariant: after three steps from exact draws, models "
        f"have another distribution (chi-squared test, p = {p_value:.2g})",
    )
