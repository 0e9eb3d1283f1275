"""Sampler of the horseshoe and of the regularised (Finnish) horseshoe prior.

With unit-norm centred atoms, weights are in units of the noise standard deviation::

    w_i | sigma ~ N(0, sigma^2 d_i^2)      d_i^2 = c^2 eta_i^2 / (c^2 + eta_i^2)
    eta_i = tau lambda_i                   lambda_i ~ C+(0, 1),   tau ~ C+(0, global_scale)

(Carvalho, Polson and Scott 2010; Piironen and Vehtari 2017, eqs. 2.8 and 2.9). Without a slab ``c``
is infinite. All weights are in the model, most of them close to zero.

Steps of two kinds alternate:

1. all scales move with weights and noise integrated out, by Hamiltonian Monte Carlo (Neal 2011);
   then the noise and the weights are drawn, jointly, from their exact distribution;
2. noise and weights are reflected within that distribution (`ScaleMixture.reflect`), at a small
   part of the cost. Pairs of draws have little of the variance that weights and noise have given
   the scales (Adler 1981 has a similar step).

Given the weights, a scale that is small keeps its weight small, and a small weight its scale, so
that Gibbs sampling mixes slowly. Integrating out weights and noise (Johndrow, Orenstein and
Bhattacharya 2020 do so for ``tau``) removes that dependence, and it leaves a density that is
easy for Hamiltonian Monte Carlo: in ``log lambda_i`` the prior is a hyperbolic secant, and where
the posterior has its mass the likelihood of one scale has a curvature of the order of one, for weak
and for strong effects. So the step size is not adapted: the chain is Markovian from its start.

The trajectory follows an approximate gradient, which needs the atoms of large scale only. Any
function of the place will do: the steps are shears, reversible and of unit Jacobian. The density
at the end is exact, in double precision, and so is the posterior; an approximation that is too
rough would lead to rejections only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from relvec._checks import check_integer, check_positive
from relvec._typing import IndexArray, Vector
from relvec.moments.base import Moments
from relvec.priors import InverseGamma
from relvec.sampling.base import Draw, Sampler
from relvec.sampling.collapsed import find_intercept
from relvec.sampling.local_scales import draw_log_inverse_square, slice_step
from relvec.sampling.scale_mixture import Conditional, ScaleMixture

__all__ = ["HorseshoeSampler", "HorseshoeState", "default_global_scale"]

LARGEST_EXPONENT = 300.0
"""Exponents are limited to it; densities are zero long before."""
FARTHEST = 500.0
"""Bound on the coordinates of a trajectory: logarithms of scales."""
START_SPREAD = 3.0
"""Largest distance of the first ``log tau`` from the logarithm of its prior scale."""
GLOBAL_STEP = 0.35
"""Step of ``log tau`` and of ``log c`` in units of that of ``log lambda_i``: all atoms depend on
``tau``, so the data determine it better."""
STRONG_STEP = 0.65
"""The same for the scales of strong atoms, where the curvature is about three."""
STEP_AT_ONE = 1.8
"""Step size for one atom; it falls with the fourth root of their number, which holds the rate of
acceptance (Neal 2011, section 4.4). With 200 atoms about 0.8 of the trajectories are accepted."""
VARIED = 0.7, 1.3
"""Range of the factor by which the step size is varied at random."""
GIBBS_SHARE = 0.02
"""Share of the steps in which the scales are also drawn given the weights. They do not mix faster
by it; a chain in a place that no trajectory leaves goes on."""
LEAST_STRONG = 2.5
"""Least prior scale, in units of the noise, of an atom that counts as strong. Atoms that are now in
the model and now out of it should not: they need large steps."""
EM_STEPS = 20
"""Steps that find the strong atoms; scales of weak ones fall by a factor in each."""
SMALLEST_RATIO = 1e-200
SMALLEST_PRECISION = math.exp(-LARGEST_EXPONENT)


@dataclass(frozen=True, eq=False)
class HorseshoeState:
    """State of the chain; arrays have one entry per usable atom."""

    log_eta: Vector
    """Logarithms of ``eta_i = tau lambda_i``, the prior scales before the slab limits them."""
    log_tau: float
    log_slab: float
    """Logarithm of the slab scale ``c``; infinite without a slab."""
    weights: Vector
    noise_variance: float
    log_posterior: float
    """Log density of ``log eta``, ``log tau`` and ``log c``, weights and noise integrated out."""
    is_fresh: bool = True
    """Whether the weights were drawn, not reflected."""


def default_global_scale(n_relevant: float, n_atoms: int) -> float:
    """Return the scale of ``tau`` at which so many atoms are expected to be relevant.

    Piironen and Vehtari (2017, eq. 3.12) give ``p_0 / (M - p_0) sigma / sqrt(N)`` for columns of
    unit variance. Such a column has norm ``sqrt(N)``, so that the weight of the unit-norm atom is
    ``sqrt(N)`` times larger, and in units of sigma the scale is ``p_0 / (M - p_0)``. An atom then
    keeps a share of ``1 - kappa_i = d_i^2 / (1 + d_i^2)`` of its weight if the atoms are
    orthogonal, and the shares add up to ``M tau / (1 + tau) = p_0`` in expectation.

    Examples
    --------
    >>> from relvec.sampling.horseshoe import default_global_scale
    >>> default_global_scale(5.0, 105)
    0.05
    """
    if n_atoms == 0:
        return 1.0
    # With half of the atoms relevant the scale is one, the half-Cauchy of Carvalho et al. (2010).
    expected = min(n_relevant, 0.5 * n_atoms)
    return expected / (n_atoms - expected)


class HorseshoeSampler(Sampler[HorseshoeState]):
    """Markov chain on the posterior under a horseshoe prior, from moments only.

    The cost of a step does not depend on the number of rows: one Cholesky factorisation of ``M``
    or, if that is less, of the rank of the Gram matrix, and `n_leapfrog` smaller ones, of the atoms
    of large scale. Every second step costs ``O(M rank)`` only.

    Parameters
    ----------
    moments : Moments
        Moments of all atoms and the target. Weights of unusable atoms are zero.
    n_relevant : float, default=5.0
        Expected number of relevant atoms, from which `global_scale` is derived.
    global_scale : float, optional
        Scale of the half-Cauchy prior of ``tau``, in units of the noise standard deviation for
        unit-norm atoms. Default, `default_global_scale`.
    slab_scale : float, optional
        Slab scale ``c`` in the same units: the standard deviation of weights that are not shrunk.
        In units of the noise for columns of unit variance, multiply by the root of the number of
        rows. None is the plain horseshoe.
    slab_df : float, optional
        Degrees of freedom ``nu`` of the slab: ``c^2 ~ InverseGamma(nu / 2, nu slab_scale^2 / 2)``,
        so that weights that are not shrunk have a Student t prior. None holds ``c`` at
        `slab_scale`.
    noise : InverseGamma, optional
        Prior of the noise variance; default, flat in its logarithm.
    step_size : float, optional
        Step size of Hamiltonian Monte Carlo in ``log lambda_i``, varied by 30 % at random. Default,
        ``1.8 M^(-1/4)``, at most 1.
    n_leapfrog : int, default=7
        Number of its steps.

    Notes
    -----
    The posterior does not depend on the unit of the target: all scales are relative to the noise.
    An improper noise prior is safe if the target is constant or interpolated; a share of 1e-10 of
    the sum of squares of the target then counts as noise.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.dictionaries import DenseDictionary
    >>> from relvec.moments import compute_moments
    >>> from relvec.sampling.horseshoe import HorseshoeSampler
    >>> rng = np.random.default_rng(0)
    >>> Phi = rng.normal(size=(50, 20))
    >>> target = 2.0 * Phi[:, 3] + 0.5 * rng.normal(size=50)
    >>> [moments] = compute_moments(DenseDictionary(Phi), target[:, np.newaxis], None, centre=True)
    >>> sampler = HorseshoeSampler(moments, n_relevant=2.0)
    >>> state, weights = sampler.init(rng), []
    >>> for _ in range(300):
    ...     state = sampler.step(state, rng)
    ...     weights.append(sampler.draw(state, rng).weights / moments.column_norm)
    >>> int(np.abs(np.mean(weights, axis=0)).argmax())
    3
    """

    def __init__(
        self,
        moments: Moments,
        *,
        n_relevant: float = 5.0,
        global_scale: float | None = None,
        slab_scale: float | None = None,
        slab_df: float | None = None,
        noise: InverseGamma | None = None,
        step_size: float | None = None,
        n_leapfrog: int = 7,
    ) -> None:
        noise = InverseGamma() if noise is None else noise.checked()
        self._moments, self.model = moments, ScaleMixture(moments, noise)
        n_relevant = check_positive("n_relevant", n_relevant)
        self.global_scale = (
            default_global_scale(n_relevant, self.model.n_atoms)
            if global_scale is None
            else check_positive("global_scale", global_scale)
        )
        if slab_scale is None and slab_df is not None:
            raise ValueError(f"slab_df needs a slab_scale; got slab_df={slab_df!r} alone.")
        self.slab_scale = None if slab_scale is None else check_positive("slab_scale", slab_scale)
        self.slab_df = None if slab_df is None else check_positive("slab_df", slab_df)
        count = max(self.model.n_atoms, 1)
        self.step_size = (
            min(STEP_AT_ONE * count**-0.25, 1.0)
            if step_size is None
            else check_positive("step_size", step_size)
        )
        self.n_leapfrog = check_integer("n_leapfrog", n_leapfrog, minimum=1)
        self._centre = math.log(self.global_scale)
        self._latest: tuple[Vector, float, Conditional] | None = None

    @cached_property
    def _strong(self) -> IndexArray:
        """Atoms whose scale the data determine: large after some steps of EM from large scales.

        Any set gives a valid sampler. It depends on the data only, not on the chain.
        """
        log_scale = np.zeros(self.model.n_atoms)
        for _ in range(EM_STEPS):
            slope = self.model.slope(self.model.condition(log_scale))
            # The posterior second moment of w_i / sigma is d_i^2 (1 + slope_i). With r as its ratio
            # to tau^2, the expected log density of log lambda, -log lambda - r / (2 lambda^2) -
            # log cosh log lambda, has its maximum where 2 lambda^4 = r (lambda^2 + 1).
            moment = np.exp(2.0 * log_scale) * np.maximum(1.0 + slope, 0.0)
            ratio = np.maximum(moment / self.global_scale**2, SMALLEST_RATIO)
            log_square = np.log(0.25 * (ratio + np.sqrt(ratio**2 + 8.0 * ratio)))
            log_scale = math.log(self.global_scale) + 0.5 * log_square
        return np.flatnonzero(log_scale > math.log(LEAST_STRONG))

    @cached_property
    def _sizes(self) -> Vector:
        """Steps of all coordinates, in units of that of ``log lambda_i``."""
        n_atoms = self.model.n_atoms
        sizes = np.ones(n_atoms + 1 + (self.slab_df is not None))
        sizes[self._strong] = STRONG_STEP
        sizes[n_atoms:] = GLOBAL_STEP
        return sizes

    def init(self, rng: np.random.Generator, active: IndexArray | None = None) -> HorseshoeState:
        """Return a state drawn from the prior of the scales, or with large scales of given atoms.

        Weights and noise are drawn from their posterior given the scales.
        """
        # A half-Cauchy variate may be so large that the first model interpolates the target; the
        # limit keeps starts dispersed, but within reach of the posterior.
        spread = float(np.clip(_log_half_cauchy(rng, 1)[0], -START_SPREAD, START_SPREAD))
        log_tau = math.log(self.global_scale) + spread
        log_lambda = _log_half_cauchy(rng, self.model.n_atoms)
        if active is not None:
            is_active = np.isin(self.model.active, active)
            # A prior scale of one noise standard deviation leaves half of a weight, see
            # `default_global_scale`; the others are held below the global scale.
            log_lambda = np.where(
                is_active,
                np.maximum(-log_tau, 0.0) + np.abs(log_lambda),
                -np.abs(log_lambda),
            )
        log_slab = math.inf
        if self.slab_scale is not None:
            log_slab = math.log(self.slab_scale)
        if self.slab_df is not None:
            half = 0.5 * self.slab_df
            gamma = max(rng.standard_gamma(half), np.finfo(np.float64).tiny)
            log_slab += 0.5 * math.log(half / gamma)
        log_eta = log_tau + log_lambda
        known = self.model.condition(_log_scale(log_eta, log_slab))
        weights, noise_variance = self.model.draw(known, rng)
        density = known.log_marginal + self._log_prior(log_eta, log_tau, log_slab)
        return HorseshoeState(log_eta, log_tau, log_slab, weights, noise_variance, density)

    def step(self, state: HorseshoeState, rng: np.random.Generator) -> HorseshoeState:
        """Return the next state of the chain; `state` is not changed."""
        if state.is_fresh:
            return self.reflect(state)
        if rng.random() < GIBBS_SHARE:
            state = self.update_local(state, rng)
            state = self.update_global(state, rng)
            state = self.update_slab(state, rng)
        return self.update_collapsed(state, rng)

    def draw(self, state: HorseshoeState, rng: np.random.Generator) -> Draw:
        """Return weights and noise variance of the state; they are part of the chain."""
        return Draw(
            active=self.model.active,
            weights=state.weights,
            log_lam=-2.0 * _log_scale(state.log_eta, state.log_slab),
            noise_variance=state.noise_variance,
            log_posterior=state.log_posterior,
            intercept=find_intercept(self._moments, self.model.active, state.weights),
            parameters=np.array([state.log_tau, state.log_slab])[: 1 + (self.slab_df is not None)],
        )

    def update_local(self, state: HorseshoeState, rng: np.random.Generator) -> HorseshoeState:
        """Draw all local scales given weights, noise, ``tau`` and slab."""
        # With v = 1 / eta^2 the prior precision of w_i / sigma is v + 1 / c^2, and lambda_i =
        # 1 / (tau v^(1/2)) has a half-Cauchy prior:
        #   p(v | rest) ~ (v + 1 / c^2)^(1/2) exp(-v w_i^2 / (2 sigma^2)) v^(-1/2) / (1 + tau^2 v).
        # y = tau^2 v = 1 / lambda_i^2 then has the density of `local_scales`.
        with np.errstate(divide="ignore"):
            log_square = 2.0 * np.log(np.abs(state.weights))
        log_b = log_square - math.log(2.0 * state.noise_variance) - 2.0 * state.log_tau
        log_a = 2.0 * (state.log_tau - state.log_slab)
        log_y = draw_log_inverse_square(log_b, log_a, rng)
        return replace(state, log_eta=state.log_tau - 0.5 * log_y)

    def update_global(self, state: HorseshoeState, rng: np.random.Generator) -> HorseshoeState:
        """Draw ``tau`` with all ``eta_i`` held, by slice sampling."""

        def log_density(log_tau: float) -> float:
            return self._log_prior(state.log_eta, log_tau, state.log_slab)

        # The density is log-concave in log tau; its width falls with the number of atoms.
        width = 4.0 / math.sqrt(1.0 + self.model.n_atoms)
        return replace(state, log_tau=slice_step(log_density, state.log_tau, rng, width))

    def update_slab(self, state: HorseshoeState, rng: np.random.Generator) -> HorseshoeState:
        """Draw the slab scale given weights, noise and ``eta``, if it has a prior."""
        if self.slab_df is None:
            return state
        half_squares = 0.5 * float(state.weights @ state.weights) / state.noise_variance
        doubled = -2.0 * state.log_eta

        def log_density(log_slab: float) -> float:
            # N(w_i; 0, sigma^2 / (1 / eta_i^2 + 1 / c^2)) as a function of c
            log_precision = np.logaddexp(doubled, -2.0 * log_slab)
            inverse = math.exp(min(-2.0 * log_slab, LARGEST_EXPONENT))
            fit = 0.5 * float(log_precision.sum()) - half_squares * inverse
            return fit + self._log_slab_prior(log_slab)

        log_slab = slice_step(log_density, state.log_slab, rng, 1.0)
        return replace(state, log_slab=log_slab)

    def reflect(self, state: HorseshoeState) -> HorseshoeState:
        """Reflect weights and noise within their distribution given the scales."""
        known = self._condition(state)
        weights, variance = self.model.reflect(known, state.weights, state.noise_variance)
        return replace(state, weights=weights, noise_variance=variance, is_fresh=False)

    def update_collapsed(self, state: HorseshoeState, rng: np.random.Generator) -> HorseshoeState:
        """Move all scales with weights and noise integrated out, then draw noise and weights."""
        place = np.append(state.log_eta - state.log_tau, state.log_tau)
        if self.slab_df is not None:
            place = np.append(place, state.log_slab)
        known = self._condition(state)
        density = self._find_density(place, known)
        momentum = rng.standard_normal(len(place))
        energy = density - 0.5 * float(momentum @ momentum)
        moved = place.copy()
        size = self._sizes * (self.step_size * rng.uniform(*VARIED))
        if self._follow(moved, momentum, size):
            log_eta, _, log_slab = self._split(moved)
            known_there = self.model.condition(_log_scale(log_eta, log_slab))
            density_there = self._find_density(moved, known_there)
            change = density_there - 0.5 * float(momentum @ momentum) - energy
            if -rng.standard_exponential() < change:
                place, known, density = moved, known_there, density_there
        weights, noise_variance = self.model.draw(known, rng)
        log_eta, log_tau, log_slab = self._split(place)
        self._latest = log_eta, log_slab, known
        return HorseshoeState(log_eta, log_tau, log_slab, weights, noise_variance, density)

    def _follow(self, place: Vector, momentum: Vector, size: Vector) -> bool:
        """Move place and momentum along a trajectory; return whether it stays within bounds."""
        last, strong = self.model.n_atoms, self._strong
        for k in range(self.n_leapfrog + 1):
            # Half a step at both ends: the place moves first, the momentum in the middle.
            is_end = k in (0, self.n_leapfrog)
            change = size * momentum
            if is_end:
                change *= 0.5
            change[strong] -= change[last]  # log eta is the coordinate, not log lambda
            place += change
            # A trajectory that diverges is rejected as a whole, as is its reverse.
            if not np.maximum.reduce(np.abs(place)) < FARTHEST:
                return False
            if k < self.n_leapfrog:
                momentum += size * self._find_force(place)
        return True

    def _condition(self, state: HorseshoeState) -> Conditional:
        """Return the posterior of weights and noise given the scales of the state.

        That of the latest state is kept: the next step of a chain begins where this one ended.
        """
        if self._latest is not None:
            log_eta, log_slab, known = self._latest
            if log_eta is state.log_eta and log_slab == state.log_slab:
                return known
        return self.model.condition(_log_scale(state.log_eta, state.log_slab))

    def _find_density(self, place: Vector, known: Conditional) -> float:
        """Return the log density of all scales, given the posterior at them."""
        return known.log_marginal + self._log_prior(*self._split(place))

    def _find_force(self, place: Vector) -> Vector:
        """Return the approximate gradient of the log density, a function of the place alone.

        Coordinates are ``log lambda_i`` of weak, ``log eta_i`` of strong atoms, and ``log tau``.
        """
        n_atoms = self.model.n_atoms
        log_eta, log_tau, log_slab = self._split(place)
        doubled = log_eta * -2.0
        np.minimum(doubled, LARGEST_EXPONENT, out=doubled)
        ratio = np.exp(doubled, out=doubled)  # 1 / eta^2
        variance = 1.0 / np.maximum(ratio + math.exp(-2.0 * log_slab), SMALLEST_PRECISION)
        by_scale = self.model.approximate_slope(variance)
        ratio *= variance
        ratio *= by_scale  # the derivative in log eta
        total = float(np.add.reduce(ratio))
        force = np.empty(len(place))
        # The log density of log lambda is -log cosh, with derivative -tanh; the same for tau.
        np.subtract(ratio, np.tanh(place[:n_atoms]), out=force[:n_atoms])
        by_tau = total - math.tanh(log_tau - self._centre)
        force[n_atoms] = by_tau - float(np.add.reduce(force[self._strong]))
        if self.slab_df is not None:
            by_slab = float(np.add.reduce(by_scale)) - total
            force[n_atoms + 1] = by_slab + self._slab_slope(log_slab)
        return force

    def _split(self, place: Vector) -> tuple[Vector, float, float]:
        """Return ``log eta``, ``log tau`` and ``log c`` from the coordinates of the trajectory."""
        n_atoms = self.model.n_atoms
        log_tau = float(place[n_atoms])
        if self.slab_df is not None:
            log_slab = float(place[n_atoms + 1])
        else:
            log_slab = math.inf if self.slab_scale is None else math.log(self.slab_scale)
        return place[:n_atoms] + log_tau, log_tau, log_slab

    def _log_global_prior(self, log_tau: float) -> float:
        """Return the log density of ``log tau``: half-Cauchy in ``tau``."""
        return float(_log_half_cauchy_density(log_tau - math.log(self.global_scale)))

    def _log_slab_prior(self, log_slab: float) -> float:
        """Return the log density of ``log c``, up to a constant; zero if ``c`` is held."""
        if self.slab_df is None or self.slab_scale is None:
            return 0.0
        ratio = 2.0 * (math.log(self.slab_scale) - log_slab)
        return 0.5 * self.slab_df * (ratio - math.exp(min(ratio, LARGEST_EXPONENT)))

    def _slab_slope(self, log_slab: float) -> float:
        """Return the derivative of `_log_slab_prior`."""
        if self.slab_df is None or self.slab_scale is None:
            return 0.0
        ratio = 2.0 * (math.log(self.slab_scale) - log_slab)
        return self.slab_df * math.expm1(min(ratio, LARGEST_EXPONENT))

    def _log_prior(self, log_eta: Vector, log_tau: float, log_slab: float) -> float:
        """Return the log density of all scales, as densities of their logarithms."""
        local = float(_log_half_cauchy_density(log_eta - log_tau).sum())
        return local + self._log_global_prior(log_tau) + self._log_slab_prior(log_slab)


def _log_half_cauchy(rng: np.random.Generator, size: int) -> Vector:
    """Draw logarithms of half-Cauchy variates."""
    # The ratio of two normal variates; tan(pi U / 2) is infinite if U rounds to one.
    return np.log(np.abs(rng.standard_normal(size))) - np.log(np.abs(rng.standard_normal(size)))


def _log_half_cauchy_density(x: Vector | float) -> Vector:
    """Return the log density of the logarithm of a half-Cauchy variate, up to a constant."""
    # 2 / pi lambda / (1 + lambda^2) = 1 / (pi cosh x), with x = log lambda
    return x - np.logaddexp(0.0, 2.0 * np.asarray(x))


def _log_scale(log_eta: Vector, log_slab: float) -> Vector:
    """Return ``log d``, where ``1 / d^2 = 1 / eta^2 + 1 / c^2``."""
    return -0.5 * np.logaddexp(-2.0 * log_eta, -2.0 * log_slab)
