"""Reversible-jump Metropolis-Hastings sampler of Schmolck (2008, section 2.7).

With ``selection_factor=False, exact_prior=False, raw_units=True, c="bic"`` it is the printed one.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from relvec._checks import check_bool, check_choice, check_integer, check_positive
from relvec._typing import IndexArray, Vector
from relvec.evidence import NOISE_FLOOR
from relvec.moments.base import Moments
from relvec.priors import InverseGamma, SmoothnessPrior
from relvec.published._active_factor import MOVES, Likelihood, ReversibleJumpState
from relvec.published._births import Birth, FixedBirth, LogNormalBirth, PriorBirth
from relvec.sampling.base import Draw, Sampler

__all__ = ["MOVES", "ReversibleJumpSampler", "ReversibleJumpState"]

_BIRTH, _DEATH, _REPLACEMENT, _UPDATE, _NOISE = range(len(MOVES))
_N_INITIAL = 10
"""Largest number of atoms of an initial state drawn at random."""


class ReversibleJumpSampler(Sampler[ReversibleJumpState]):
    """Reversible-jump sampler of atoms, precisions and noise (Schmolck, 2008).

    A step proposes the birth, the death or the replacement of an atom, updates the precision of
    one atom by Metropolis-Hastings, and every few steps draws the noise given drawn weights. The
    thesis reports that the chains do not mix. It is meant for comparisons.

    Parameters
    ----------
    moments : Moments
        Moments of dictionary and target.
    birth : {"prior", "fixed", "lognormal"}, default="lognormal"
        How the precision of a new atom is drawn: from its prior, at one value, or from a
        log-normal distribution around 1 (schemes 1 to 3 of the thesis).
    c : float or {"aic", "bic", "ric"}, default=0.0
        Constant of the smoothness prior, as in `relvec.priors.SmoothnessPrior`; 0 for none.
    bounds : (float, float), default=(1e-10, 1e10)
        Bounds of a precision.
    precision : float, default=1e-5
        The value of the scheme "fixed".
    proposal_scale : float, default=2.0
        Standard deviation ``s`` of the log-normal proposals, of births and of updates.
    jumps : bool, default=True
        Whether atoms enter and leave. Without jumps all atoms stay in the model.
    replacements : bool, default=True
        Whether jumps replace atoms (the "move" of the thesis) besides births and deaths.
    updates : bool, optional
        Whether precisions are updated; default, in all schemes except "fixed".
    max_atoms : int, optional
        Largest number of atoms in the model; default, all.
    noise_variance : float, optional
        Noise variance to hold; default, it is sampled.
    noise : InverseGamma, optional
        Prior of the noise variance; flat in its logarithm by default.
    noise_every : int, default=10
        Number of steps between draws of the noise.
    raw_units : bool, default=False
        Whether precisions are those of raw weights, as in the thesis, and not of unit-norm atoms.
        Smoothness prior, bounds and fixed value then depend on the units of the dictionary.
    selection_factor : bool, default=True
        Whether the acceptance ratio counts the atoms that a jump may choose. False is the printed
        ratio, which implies another prior: the probability of each model with ``n`` of ``M`` atoms
        is divided by ``binomial(M, n)``, so that all sizes instead of all models are equally
        probable a priori.
    exact_prior : bool, default=True
        Whether the smoothness prior is normalised in births of scheme "lognormal", and its
        dependence on the noise counts when noise is drawn. False is as printed.

    References
    ----------
    Schmolck (2008), Smooth relevance vector machines, thesis, University of Exeter, section 2.7.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.dictionaries import DenseDictionary
    >>> from relvec.moments import compute_moments
    >>> from relvec.published import ReversibleJumpSampler
    >>> rng = np.random.default_rng(0)
    >>> Phi = rng.normal(size=(50, 4))
    >>> target = 2.0 * Phi[:, 1] + 0.1 * rng.normal(size=50)
    >>> [moments] = compute_moments(DenseDictionary(Phi), target[:, np.newaxis], None, centre=True)
    >>> sampler = ReversibleJumpSampler(moments, birth="fixed")
    >>> state = sampler.init(rng)
    >>> for _ in range(300):
    ...     state = sampler.step(state, rng)
    >>> state.active
    array([1])
    """

    def __init__(
        self,
        moments: Moments,
        *,
        birth: str = "lognormal",
        c: float | str = 0.0,
        bounds: tuple[float, float] = (1e-10, 1e10),
        precision: float = 1e-5,
        proposal_scale: float = 2.0,
        jumps: bool = True,
        replacements: bool = True,
        updates: bool | None = None,
        max_atoms: int | None = None,
        noise_variance: float | None = None,
        noise: InverseGamma | None = None,
        noise_every: int = 10,
        raw_units: bool = False,
        selection_factor: bool = True,
        exact_prior: bool = True,
    ) -> None:
        check_choice("birth", birth, ("prior", "fixed", "lognormal"))
        self.moments = moments
        self.jumps = check_bool("jumps", jumps)
        self.replacements = check_bool("replacements", replacements)
        self.updates = birth != "fixed" if updates is None else check_bool("updates", updates)
        if self.updates and birth == "fixed":
            raise ValueError('birth="fixed" holds all precisions; pass updates=False.')
        self.selection_factor = check_bool("selection_factor", selection_factor)
        self.exact_prior = check_bool("exact_prior", exact_prior)
        self.proposal_scale = check_positive("proposal_scale", proposal_scale)
        self.noise_every = check_integer("noise_every", noise_every, minimum=1)
        self.noise_variance = noise_variance
        if noise_variance is not None:
            self.noise_variance = check_positive("noise_variance", noise_variance)
        self.noise = (noise or InverseGamma()).checked()
        self.atoms: IndexArray = np.flatnonzero(moments.usable)
        if not len(self.atoms):
            raise ValueError("the dictionary has no usable atom: all are constant or not finite.")
        n_atoms = len(self.atoms)
        limit = n_atoms if max_atoms is None else check_integer("max_atoms", max_atoms, minimum=1)
        self.max_atoms = min(limit, n_atoms)
        self._likelihood = Likelihood(moments, check_bool("raw_units", raw_units))
        self._birth = self._resolve_birth(birth, c, bounds, precision)
        sizes = range(1, self.max_atoms + 1)
        # one entry for each number of atoms; no jump leads to the empty model
        self._jump_rates = [(0.0, 0.0, 0.0), *(self._rates(n, n_atoms) for n in sizes)]

    def _resolve_birth(
        self, birth: str, c: float | str, bounds: tuple[float, float], precision: float
    ) -> Birth:
        low, high = (check_positive("bounds", bound) for bound in bounds)
        if not low < high:
            raise ValueError(f"bounds must be in ascending order; got {bounds!r}.")
        penalty = float(SmoothnessPrior(c).bind(self.moments.n_effective).penalty)
        common = (penalty, low, high)
        if birth == "prior":
            return PriorBirth(*common)
        if birth == "fixed":
            return FixedBirth(*common, check_positive("precision", precision))
        return LogNormalBirth(*common, self.proposal_scale, self.exact_prior)

    def _rates(self, n: int, n_atoms: int) -> tuple[float, float, float]:
        """Return the probabilities of birth, death and replacement, equation (2.102)."""
        if n == self.max_atoms:
            # (2.102) has death with probability 1, which needs a second atom.
            if n > 1:
                return 0.0, 1.0, 0.0
            return 0.0, 0.0, float(self.replacements and n_atoms > 1)
        if not self.replacements:
            return (0.5, 0.5, 0.0) if n > 1 else (1.0, 0.0, 0.0)
        third = 1.0 / 3.0
        return (third, third, third) if n > 1 else (0.5, 0.0, 0.5)

    def init(
        self, rng: np.random.Generator, active: IndexArray | None = None
    ) -> ReversibleJumpState:
        """Return a state with given atoms, or with up to ten atoms drawn at random.

        Without jumps all atoms are active. Precisions are log-uniform between their bounds, and the
        noise variance is a tenth of the variance of the target.
        """
        if active is None and not self.jumps:
            active = self.atoms[: self.max_atoms]
        elif active is None:
            size = int(rng.integers(1, min(self.max_atoms, _N_INITIAL) + 1))
            active = np.sort(rng.choice(self.atoms, size, replace=False))
        if isinstance(self._birth, FixedBirth):
            alpha = np.full(len(active), self._birth.value)
        else:
            low, high = math.log(self._birth.low), math.log(self._birth.high)
            alpha = np.exp(rng.uniform(low, high, len(active)))
        noise = self.noise_variance
        if noise is None:
            noise = max(0.1 * self.moments.target_ss / self.moments.n_effective, 1e-300)
        return self.condition(np.asarray(active, dtype=np.intp), alpha, noise)

    def condition(
        self, active: IndexArray, alpha: Vector, noise_variance: float
    ) -> ReversibleJumpState:
        """Return the state with given atoms, precisions and noise variance."""
        if not 1 <= len(active) <= self.max_atoms:
            raise ValueError(
                f"active must have 1 to {self.max_atoms} atoms; got {len(active)}. The sampler "
                "excludes the empty model."
            )
        inactive = np.setdiff1d(self.atoms, active)
        return self._likelihood.condition(active, inactive, alpha, noise_variance)

    def step(self, state: ReversibleJumpState, rng: np.random.Generator) -> ReversibleJumpState:
        """Return the next state: a jump, an update, and every few steps a draw of the noise."""
        n_steps = state.n_steps + 1
        if self.jumps:
            state = self._jump(state, rng)
        if self.updates:
            state = self._update(state, rng)
        if self.noise_variance is None and n_steps % self.noise_every == 0:
            state = self._draw_noise(state, rng)
        return replace(state, n_steps=n_steps)

    def _jump(self, state: ReversibleJumpState, rng: np.random.Generator) -> ReversibleJumpState:
        birth, death, replacement = self._jump_rates[len(state.active)]
        u = rng.random()
        if u < birth:
            place, alpha = self._newcomer(state, rng)
            log_ratio = self.log_birth_ratio(state, int(state.inactive[place]), alpha)
            return self._decide(state, _BIRTH, log_ratio, rng, None, place, alpha)
        position = int(rng.random() * len(state.active))
        if u < birth + death:
            log_ratio = self.log_death_ratio(state, position)
            return self._decide(state, _DEATH, log_ratio, rng, position)
        if not replacement:
            return state
        place, alpha = self._newcomer(state, rng)
        atom = int(state.inactive[place])
        log_ratio = self.log_replacement_ratio(state, position, atom, alpha)
        return self._decide(state, _REPLACEMENT, log_ratio, rng, position, place, alpha)

    def _newcomer(self, state: ReversibleJumpState, rng: np.random.Generator) -> tuple[int, float]:
        """Draw the position of an inactive atom, and its precision."""
        place = int(rng.random() * len(state.inactive))
        return place, self._birth.propose(state.noise_variance, rng)

    def _decide(
        self,
        state: ReversibleJumpState,
        move: int,
        log_ratio: float,
        rng: np.random.Generator,
        leaving: int | None = None,
        entering: int | None = None,
        alpha: float = math.nan,
    ) -> ReversibleJumpState:
        """Accept or reject that an active atom leaves and an inactive one enters."""
        if not _accept(log_ratio, rng):
            return _count(state, state, move, 0)
        active, inactive, precisions = state.active, state.inactive, state.alpha
        if leaving is not None:
            gone = active[leaving]
            active, precisions = np.delete(active, leaving), np.delete(precisions, leaving)
        if entering is not None:
            active = np.append(active, inactive[entering])
            precisions = np.append(precisions, alpha)
            inactive = np.delete(inactive, entering)
        if leaving is not None:
            inactive = np.append(inactive, gone)
        found = self._likelihood.condition(active, inactive, precisions, state.noise_variance)
        return _count(found, state, move, 1)

    def log_birth_ratio(self, state: ReversibleJumpState, atom: int, alpha: float) -> float:
        """Return the log acceptance ratio of the birth of an inactive atom, (2.103) to (2.116)."""
        gain = self._likelihood.absent(state, atom).log_gain(
            self._likelihood.scaled(atom, alpha, state.noise_variance), state.noise_variance
        )
        weight = self._birth.log_weight(alpha, state.noise_variance)
        return gain + weight + self._log_jump_ratio(len(state.active))

    def log_death_ratio(self, state: ReversibleJumpState, position: int) -> float:
        """Return the log acceptance ratio of a death: minus that of the reverse birth."""
        gain = self._likelihood.present(state, position).log_gain(
            float(state.lam[position]), state.noise_variance
        )
        weight = self._birth.log_weight(float(state.alpha[position]), state.noise_variance)
        return -gain - weight - self._log_jump_ratio(len(state.active) - 1)

    def _log_jump_ratio(self, n: int) -> float:
        """Return the log ratio of the proposals of a death from n + 1 atoms and a birth from n."""
        ratio = self._jump_rates[n + 1][1] / self._jump_rates[n][0]
        if self.selection_factor:
            # A birth chooses one of M - n atoms, and the death that undoes it one of n + 1. The
            # printed ratio d_j / b_i has the probabilities of the kinds of moves alone. It is the
            # correct one for a posterior divided by binomial(M, n): its ratio of n + 1 to n atoms
            # is (M - n) / (n + 1).
            ratio *= (len(self.atoms) - n) / (n + 1)
        return math.log(ratio)

    def log_replacement_ratio(
        self, state: ReversibleJumpState, position: int, atom: int, alpha: float
    ) -> float:
        """Return the log acceptance ratio of a replacement, (2.117) to (2.124)."""
        noise = state.noise_variance
        old, new = self._likelihood.exchanged(state, position, atom)
        gain = new.log_gain(self._likelihood.scaled(atom, alpha, noise), noise)
        gain -= old.log_gain(float(state.lam[position]), noise)
        # The sizes are equal, so the choices of atoms cancel.
        weight = self._birth.log_weight(alpha, noise)
        return gain + weight - self._birth.log_weight(float(state.alpha[position]), noise)

    def _update(self, state: ReversibleJumpState, rng: np.random.Generator) -> ReversibleJumpState:
        position = int(rng.random() * len(state.active))
        alpha = float(state.alpha[position]) * math.exp(self.proposal_scale * rng.standard_normal())
        if not _accept(self.log_update_ratio(state, position, alpha), rng):
            return _count(state, state, _UPDATE, 0)
        precisions = state.alpha.copy()
        precisions[position] = alpha
        found = self._likelihood.condition(
            state.active, state.inactive, precisions, state.noise_variance
        )
        return _count(found, state, _UPDATE, 1)

    def log_update_ratio(self, state: ReversibleJumpState, position: int, alpha: float) -> float:
        """Return the log acceptance ratio of another precision of an active atom."""
        if not self._birth.low <= alpha <= self._birth.high:
            return -math.inf
        noise, old = state.noise_variance, float(state.alpha[position])
        atom = self._likelihood.present(state, position)
        lam = self._likelihood.scaled(int(state.active[position]), alpha, noise)
        gain = atom.log_gain(lam, noise) - atom.log_gain(float(state.lam[position]), noise)
        gain -= self._birth.c * (1.0 / (1.0 + noise * alpha) - 1.0 / (1.0 + noise * old))
        # The proposal is symmetric in log alpha, and the prior is a density of alpha.
        return gain + math.log(alpha / old)

    def _draw_noise(
        self, state: ReversibleJumpState, rng: np.random.Generator
    ) -> ReversibleJumpState:
        weights = self._likelihood.draw_weights(state, rng)
        noise = self.draw_noise_variance(state, weights, rng)
        log_ratio = 0.0
        if self.exact_prior and self._birth.c:
            # (2.126) is the conditional of the likelihood alone. It is a proposal where the prior
            # of the precisions depends on the noise.
            log_ratio = self._birth.log_prior(state.alpha, noise)
            log_ratio -= self._birth.log_prior(state.alpha, state.noise_variance)
        if not _accept(log_ratio, rng):
            return _count(state, state, _NOISE, 0)
        found = self._likelihood.condition(state.active, state.inactive, state.alpha, noise)
        return _count(found, state, _NOISE, 1)

    def draw_noise_variance(
        self, state: ReversibleJumpState, weights: Vector, rng: np.random.Generator
    ) -> float:
        """Draw the noise variance given weights of the unit-norm atoms, equation (2.126)."""
        floor = NOISE_FLOOR * self.moments.target_ss + 1e-300
        error = self._likelihood.squared_error(state, weights) + floor
        shape = self.noise.shape + 0.5 * self.moments.n_effective
        return (self.noise.rate + 0.5 * error) / rng.gamma(shape)

    def draw(self, state: ReversibleJumpState, rng: np.random.Generator) -> Draw:
        """Return weights drawn given the state, and its noise variance."""
        return Draw(
            state.active,
            self._likelihood.draw_weights(state, rng),
            np.log(state.lam),
            state.noise_variance,
            self.log_posterior(state),
        )

    def log_posterior(self, state: ReversibleJumpState) -> float:
        """Return the log density of the stationary distribution, up to a constant."""
        value = self._likelihood.log_evidence(state)
        value += self._birth.log_prior(state.alpha, state.noise_variance)
        if not self.selection_factor:
            value -= _log_binomial(len(self.atoms), len(state.active))
        if self.noise_variance is None:
            value += self.noise.log_density(state.noise_variance)
        return value


def _log_binomial(m: int, n: int) -> float:
    return math.lgamma(m + 1) - math.lgamma(n + 1) - math.lgamma(m - n + 1)


def _accept(log_ratio: float, rng: np.random.Generator) -> bool:
    return log_ratio >= 0.0 or math.log1p(-rng.random()) < log_ratio


def _count(
    state: ReversibleJumpState, before: ReversibleJumpState, move: int, accepted: int
) -> ReversibleJumpState:
    """Return the state with the counts of `before` and of one more proposal."""
    proposed, taken = list(before.proposed), list(before.accepted)
    proposed[move] += 1
    taken[move] += accepted
    return replace(state, proposed=tuple(proposed), accepted=tuple(taken))
