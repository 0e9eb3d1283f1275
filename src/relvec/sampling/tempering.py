"""Parallel tempering: chains with powers of the likelihood exchange their models.

Chain ``k`` samples ``prior * likelihood^power_k``, with ``1 = power_0 > power_1 > ...``. In the
flat posteriors of low powers models change freely; exchanges carry them to the posterior itself.
The prior is never raised to a power, so that all chains keep to models of reasonable size.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from relvec._checks import check_choice, check_integer, check_positive
from relvec._typing import IndexArray, Vector
from relvec.sampling.base import Draw, Sampler
from relvec.sampling.collapsed import CollapsedSampler
from relvec.sampling.state import ModelState
from relvec.sampling.target import Target

__all__ = ["TemperedSampler", "TemperedState", "tune_powers"]


@dataclass(frozen=True, eq=False)
class TemperedState:
    """One model for each power of the likelihood, and what is known of their exchanges."""

    replicas: tuple[ModelState, ...]
    """Models in descending order of their powers: the first is a draw from the posterior."""
    label: IndexArray
    """Number of the walker that is at each power. Exchanged models take their labels along."""
    is_returning: tuple[bool, ...]
    """Whether each walker has been at the lowest power since it was last at the highest."""
    n_steps: int = 0
    n_round_trips: int = 0
    """How often a walker has been at the lowest power and come back to the highest."""
    acceptance: tuple[float, ...] = ()
    """Acceptance probability of the exchange of each pair of neighbours in the last step; NaN if it
    was not tried."""

    @property
    def target(self) -> Target:
        """The posterior."""
        return self.replicas[0].target

    @property
    def active(self) -> IndexArray:
        """Atoms of the model that is a draw from the posterior."""
        return self.replicas[0].active

    @property
    def level(self) -> IndexArray:
        """Positions of their precisions in the grid."""
        return self.replicas[0].level

    @property
    def size(self) -> int:
        """Number of atoms."""
        return self.replicas[0].size

    @property
    def log_posterior(self) -> float:
        """Log probability of the model."""
        return self.replicas[0].log_posterior


class TemperedSampler(Sampler[TemperedState]):
    """Parallel tempering of a `CollapsedSampler`.

    A step moves every model once and then tries to exchange neighbours: the pairs (0, 1), (2, 3),
    ... in even steps and (1, 2), (3, 4), ... in odd ones. This order is not reversible, but leaves
    the posterior invariant, and carries models from one end to the other faster than pairs chosen
    at random (Syed et al. 2022). A step costs as much as one of the plain sampler for each power.

    Parameters
    ----------
    sampler : CollapsedSampler
        The sampler of the posterior.
    powers : ndarray of shape (n_powers,)
        Powers of the likelihood in descending order; the first is one. See `tune_powers`.
    scheme : {"alternating", "random"}, default="alternating"
        Whether even and odd pairs alternate, or are chosen at random.

    References
    ----------
    Syed, Bouchard-Côté, Deligiannidis & Doucet (2022). Non-reversible parallel tempering: a
    scalable highly parallel MCMC scheme. Journal of the Royal Statistical Society B 84.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.dictionaries import DenseDictionary
    >>> from relvec.moments import compute_moments
    >>> from relvec.sampling import CollapsedSampler
    >>> from relvec.sampling.tempering import TemperedSampler
    >>> rng = np.random.default_rng(0)
    >>> Phi = rng.normal(size=(60, 5))
    >>> target = Phi[:, :1] - Phi[:, 3:4] + 0.3 * rng.normal(size=(60, 1))
    >>> [moments] = compute_moments(DenseDictionary(Phi), target, None, centre=True)
    >>> sampler = TemperedSampler(CollapsedSampler(moments), np.array([1.0, 0.5, 0.25]))
    >>> state, present = sampler.init(rng), np.zeros(5)
    >>> for _ in range(400):
    ...     state = sampler.step(state, rng)
    ...     present[state.active] += 1 / 400
    >>> present.round(0)
    array([1., 0., 0., 1., 0.])
    """

    def __init__(
        self, sampler: CollapsedSampler, powers: Vector, *, scheme: str = "alternating"
    ) -> None:
        self.sampler = sampler
        self.powers = np.atleast_1d(np.asarray(powers, dtype=np.float64))
        bounds = np.append(self.powers, -1e-300)
        if self.powers.ndim != 1 or bounds[0] != 1.0 or not (np.diff(bounds) < 0.0).all():
            raise ValueError(
                "powers must descend from one and must not be negative, such as [1.0, 0.5, 0.25]; "
                f"got {powers!r}."
            )
        self.is_alternating = check_choice("scheme", scheme, SCHEMES) == "alternating"
        self._targets = tuple(replace(sampler.target, power=float(each)) for each in self.powers)

    def init(self, rng: np.random.Generator, active: IndexArray | None = None) -> TemperedState:
        """Return a state with given atoms, or others drawn at random, at every power."""
        n = len(self._targets)
        replicas = tuple(
            replace(self.sampler.init(rng, active), target=target) for target in self._targets
        )
        return TemperedState(replicas, np.arange(n), (False,) * n)

    def step(self, state: TemperedState, rng: np.random.Generator) -> TemperedState:
        """Return the state after one move at each power, and exchanges of neighbours."""
        replicas = [self.sampler.step(replica, rng) for replica in state.replicas]
        label, acceptance = state.label.copy(), [math.nan] * (len(replicas) - 1)
        parity = state.n_steps % 2 if self.is_alternating else int(rng.integers(2))
        for k in range(parity, len(replicas) - 1, 2):
            colder, hotter = replicas[k], replicas[k + 1]
            gain = (self.powers[k] - self.powers[k + 1]) * (
                hotter.log_likelihood - colder.log_likelihood
            )
            acceptance[k] = math.exp(min(float(gain), 0.0))
            if rng.random() < acceptance[k]:
                # what a state knows of its model does not depend on the power
                replicas[k] = replace(hotter, target=self._targets[k])
                replicas[k + 1] = replace(colder, target=self._targets[k + 1])
                label[k], label[k + 1] = label[k + 1], label[k]
        is_returning, n_round_trips = list(state.is_returning), state.n_round_trips
        n_round_trips += is_returning[label[0]]
        is_returning[label[0]] = False
        is_returning[label[-1]] = len(label) > 1
        return TemperedState(
            tuple(replicas),
            label,
            tuple(is_returning),
            state.n_steps + 1,
            n_round_trips,
            tuple(acceptance),
        )

    def draw(self, state: TemperedState, rng: np.random.Generator) -> Draw:
        """Draw noise variance and weights given the model at power one."""
        return self.sampler.draw(state.replicas[0], rng)


SCHEMES = ("alternating", "random")


def tune_powers(
    sampler: CollapsedSampler,
    rng: np.random.Generator,
    *,
    lowest: float = 0.1,
    acceptance: float = 0.4,
    n_powers: int | None = None,
    n_rounds: int = 4,
    n_steps: int = 250,
) -> Vector:
    """Return powers whose exchanges are all accepted equally often.

    Short runs measure how often the exchange of each pair of neighbours is rejected. The sum of the
    rejection rates from power one to a given power hardly depends on the powers in between, so that
    equal parts of it have equal rates (Syed et al. 2022, section 5). Chains that use the powers
    must not share their draws with these runs.

    Parameters
    ----------
    sampler : CollapsedSampler
        The sampler of the posterior.
    rng : numpy.random.Generator
        Random numbers.
    lowest : float, default=0.1
        The lowest power.
    acceptance : float, default=0.4
        Acceptance rate of exchanges, from which the number of powers follows.
    n_powers : int, optional
        Number of powers, in place of `acceptance`.
    n_rounds : int, default=4
        Number of runs; each is twice as long as the one before.
    n_steps : int, default=250
        Steps of the first run.

    Returns
    -------
    powers : ndarray of shape (n_powers,)
        In descending order, from one to `lowest`.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.dictionaries import DenseDictionary
    >>> from relvec.moments import compute_moments
    >>> from relvec.sampling import CollapsedSampler
    >>> from relvec.sampling.tempering import tune_powers
    >>> rng = np.random.default_rng(0)
    >>> Phi = rng.normal(size=(60, 5))
    >>> [moments] = compute_moments(DenseDictionary(Phi), Phi[:, :1], None, centre=True)
    >>> powers = tune_powers(CollapsedSampler(moments), rng, n_powers=3, n_steps=20)
    >>> powers[[0, -1]].round(3)
    array([1. , 0.1])
    """
    lowest = check_positive("lowest", lowest)
    acceptance = check_positive("acceptance", acceptance)
    if not (lowest < 1.0 and acceptance < 1.0):
        raise ValueError(
            "lowest and acceptance must be less than one; got "
            f"lowest={lowest:g} and acceptance={acceptance:g}."
        )
    n = 10 if n_powers is None else check_integer("n_powers", n_powers, minimum=2)
    log_powers, replicas = np.linspace(0.0, math.log(lowest), n), None
    for number in range(n_rounds):
        tempered = TemperedSampler(sampler, np.exp(log_powers))
        state = tempered.init(rng)
        if replicas is not None:  # go on with the models of the run before
            near = np.rint(np.linspace(0, len(replicas) - 1, n)).astype(int)
            models = zip(near, state.replicas, strict=True)
            started = tuple(replace(replicas[k], target=each.target) for k, each in models)
            state = replace(state, replicas=started)
        total, tried = np.zeros(n - 1), np.zeros(n - 1)
        for count in range(n_steps * 2**number):
            state = tempered.step(state, rng)
            if count >= n_steps * 2**number // 4:
                known = np.array(state.acceptance)
                tried += ~np.isnan(known)
                total += np.nan_to_num(known)
        replicas = state.replicas
        # A rate of zero would put two powers at the same place.
        rejected = 1.0 - total / np.maximum(tried, 1.0) + 1e-3
        barrier = np.concatenate([[0.0], np.cumsum(rejected)])
        if n_powers is None:
            n = max(2, 1 + math.ceil(barrier[-1] / (1.0 - acceptance)))
        log_powers = np.interp(np.linspace(0.0, barrier[-1], n), barrier, log_powers)
    return np.exp(log_powers)
