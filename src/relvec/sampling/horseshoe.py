"""Sampler of the horseshoe and of the regularised (Finnish) horseshoe prior.

With unit-norm centred atoms, weights are in units of the noise standard deviation::

    w_i | sigma ~ N(0, sigma^2 d_i^2)      d_i^2 = c^2 eta_i^2 / (c^2 + eta_i^2)
    eta_i = tau lambda_i                   lambda_i ~ C+(0, 1),   tau ~ C+(0, global_scale)

(Carvalho, Polson and Scott 2010; Piironen and Vehtari 2017, eqs. 2.8 and 2.9). Without a slab ``c``
is infinite. All weights are in the model, most of them close to zero.

One step has four parts, of which only the last one factorises matrices:

1. local scales given weights, noise and ``tau``: independent exact draws (`local_scales`);
2. ``tau`` with all ``eta_i`` held. Prior scales do not change, so neither does the likelihood, and
   the step costs ``O(M)``;
3. the slab scale, if it has a prior;
4. all scales with weights and noise integrated out, by Hamiltonian Monte Carlo (Neal 2011); then
   the noise and the weights, jointly, from their exact distribution.

In the first part a scale that is small keeps its weight small, and a small weight its scale, so
that the first three parts alone mix slowly. Integrating out weights and noise (Johndrow, Orenstein
and Bhattacharya 2020 do so for ``tau``) removes that dependence, and it leaves a density that is
easy for Hamiltonian Monte Carlo: in ``log lambda_i`` the prior is a hyperbolic secant, and where
the posterior has its mass the likelihood of one scale has a curvature of the order of one, for weak
and for strong effects. So the step size is not adapted: the chain is Markovian from its start.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

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
GLOBAL_STEP = 0.5
"""Step of ``log tau`` and of ``log c`` in units of that of ``log lambda_i``: all atoms depend on
``tau``, so the data determine it better."""
STEP_AT_ONE = 1.3
"""Step size for one atom; it falls with the fourth root of their number, which holds the rate of
acceptance (Neal 2011, section 4.4). With 200 atoms about 0.8 of the steps are accepted."""


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

    The cost of a step does not depend on the number of rows: ``n_leapfrog + 1`` Cholesky
    factorisations of ``M`` or, if that is less, of the rank of the Gram matrix.

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
        ``1.3 M^(-1/4)``, at most 1.
    n_leapfrog : int, default=8
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
        n_leapfrog: int = 8,
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

        return replace(state, log_slab=slice_step(log_density, state.log_slab, rng, 1.0))

    def update_collapsed(self, state: HorseshoeState, rng: np.random.Generator) -> HorseshoeState:
        """Move all scales with weights and noise integrated out, then draw noise and weights."""
        place = np.append(state.log_eta - state.log_tau, state.log_tau)
        if self.slab_df is not None:
            place = np.append(place, state.log_slab)
        size = np.full(len(place), self.step_size * rng.uniform(0.7, 1.3))
        size[self.model.n_atoms :] *= GLOBAL_STEP
        momentum = rng.standard_normal(len(place))
        known, density, slope = self._differentiate(place)
        energy = density - 0.5 * float(momentum @ momentum)
        trial = place, known, density
        for _ in range(self.n_leapfrog):
            momentum = momentum + 0.5 * size * slope
            moved = trial[0] + size * momentum
            # A trajectory that diverges is rejected as a whole, as is its reverse.
            if not np.abs(moved).max() < FARTHEST:
                trial = place, known, -math.inf
                break
            known_there, density_there, slope = self._differentiate(moved)
            trial = moved, known_there, density_there
            momentum += 0.5 * size * slope
        change = trial[2] - 0.5 * float(momentum @ momentum) - energy
        if -rng.standard_exponential() < change:
            place, known, density = trial
        weights, noise_variance = self.model.draw(known, rng)
        log_eta, log_tau, log_slab = self._split(place)
        return HorseshoeState(log_eta, log_tau, log_slab, weights, noise_variance, density)

    def _split(self, place: Vector) -> tuple[Vector, float, float]:
        """Return ``log eta``, ``log tau`` and ``log c`` from the coordinates of the trajectory."""
        n_atoms = self.model.n_atoms
        log_tau = float(place[n_atoms])
        if self.slab_df is not None:
            log_slab = float(place[n_atoms + 1])
        else:
            log_slab = math.inf if self.slab_scale is None else math.log(self.slab_scale)
        return place[:n_atoms] + log_tau, log_tau, log_slab

    def _differentiate(self, place: Vector) -> tuple[Conditional, float, Vector]:
        """Return the posterior given all scales, their log density and its gradient."""
        n_atoms = self.model.n_atoms
        log_eta, log_tau, log_slab = self._split(place)
        log_scale = _log_scale(log_eta, log_slab)
        known = self.model.condition(log_scale)
        by_scale = self.model.slope(known)
        # 1 / d^2 = 1 / eta^2 + 1 / c^2: d log d / d log eta = d^2 / eta^2, the rest is that of c.
        by_eta = by_scale * np.exp(2.0 * (log_scale - log_eta))
        slope = np.empty(len(place))
        # The log density of log lambda is -log cosh, with derivative -tanh; the same for tau.
        slope[:n_atoms] = by_eta - np.tanh(place[:n_atoms])
        slope[n_atoms] = by_eta.sum() - math.tanh(log_tau - math.log(self.global_scale))
        if self.slab_df is not None and self.slab_scale is not None:
            ratio = 2.0 * (math.log(self.slab_scale) - log_slab)
            prior = self.slab_df * math.expm1(min(ratio, LARGEST_EXPONENT))
            slope[n_atoms + 1] = (by_scale - by_eta).sum() + prior
        density = known.log_marginal + self._log_prior(log_eta, log_tau, log_slab)
        return known, density, slope

    def _log_global_prior(self, log_tau: float) -> float:
        """Return the log density of ``log tau``: half-Cauchy in ``tau``."""
        return float(_log_half_cauchy_density(log_tau - math.log(self.global_scale)))

    def _log_slab_prior(self, log_slab: float) -> float:
        """Return the log density of ``log c``, up to a constant; zero if ``c`` is held."""
        if self.slab_df is None or self.slab_scale is None:
            return 0.0
        ratio = 2.0 * (math.log(self.slab_scale) - log_slab)
        return 0.5 * self.slab_df * (ratio - math.exp(min(ratio, LARGEST_EXPONENT)))

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
