"""Conformance check for priors."""

from __future__ import annotations

import math
import numbers
import pickle
from typing import Any

import numpy as np
from sklearn.base import clone

from relvec._typing import Vector
from relvec.bases import LinearBasis
from relvec.estimators import SparseBayesRegressor
from relvec.priors import BoundPrior, InverseGamma, Prior, Statistics, resolve_prior
from relvec.testing._claims import require

SIZES = (1.0, 2.0, 10.0, 99.5, 1e3, 1e6)
"""Sample sizes, as sums of weights: they need not be whole."""
LOG_LAM = np.linspace(-29.5, 29.5, 60)
"""Log precisions at which densities are looked at."""
N_ATOMS = 5


def check_prior(prior: Prior) -> None:
    """Check that a prior answers what solvers ask, consistently, and survives being copied.

    Penalties must be finite, not negative, and must not fall as the sample grows; the derivatives
    of the density must agree with finite differences, and the best precision of an atom with
    trying many, the noise held or profiled out. A density that solvers would not see, because the
    bound prior does not have it, is an error.

    Parameters
    ----------
    prior : Prior
        The object to check.

    Raises
    ------
    AssertionError
        Naming the prior and what it does wrong.

    Examples
    --------
    >>> from relvec.priors import SmoothnessPrior
    >>> from relvec.testing import check_prior
    >>> check_prior(SmoothnessPrior("bic"))
    """
    name = repr(prior)
    require(isinstance(prior, Prior), f"{name} must derive from relvec.priors.Prior")
    before = repr(prior.get_params())
    answers = _answers(prior, name)
    _require_same(_answers(prior, name), answers, f"{name} gives other numbers when asked again")
    require(repr(prior.get_params()) == before, f"{name} changes its parameters when asked")
    copies = {
        "the clone": clone(prior),
        "what get_params rebuilds": type(prior)(**prior.get_params(deep=False)),
        "the pickled copy": _pickled(prior, name),
    }
    for what, copy in copies.items():
        _require_same(
            _answers(copy, name),
            answers,
            f"{what} of {name} gives other numbers: keep everything in parameters of __init__",
        )
    resolved = resolve_prior(prior, allow_density=True)
    require(resolved is prior, f"resolve_prior({name}) must return it unchanged")
    _check_nothing_ignored(prior, name)
    bound = prior.bind(100.0, np.ones(N_ATOMS))
    _check_density(bound, name)
    _check_take(bound, name)
    for noise in (0.5, None) if bound.is_removable else (0.5,):
        _check_best(bound, noise, name)
    _check_fit(prior, name)


def _pickled(prior: Prior, name: str) -> Prior:
    try:
        copy: Prior = pickle.loads(pickle.dumps(prior))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise AssertionError(
            f"{name} cannot be pickled ({error}): define its class at the top of a module."
        ) from error
    return copy


def _require_same(found: list[Vector], expected: list[Vector], claim: str) -> None:
    require(all(map(np.array_equal, found, expected)), claim)


def _answers(prior: Prior, name: str) -> list[Vector]:
    """Ask the prior for everything, and check each answer."""
    answers: list[Vector] = []
    for size in SIZES:
        bound: Any = prior.bind(size, np.ones(N_ATOMS))
        require(
            isinstance(bound, BoundPrior),
            f"{name}.bind must return a BoundPrior; got {type(bound).__name__}",
        )
        penalty = np.asarray(bound.penalty)
        require(
            isinstance(bound.penalty, float) or (penalty.ndim == 1 and penalty.dtype.kind == "f"),
            f"{name}.bind({size:g}).penalty must be a float, or an array of one for each atom; got "
            f"{bound.penalty!r}",
        )
        require(
            penalty.dtype.kind in "fi"
            and bool(np.isfinite(penalty).all() and (penalty >= 0).all()),
            f"{name}.bind({size:g}).penalty must be finite and not negative; got {bound.penalty!r}",
        )
        require(
            not answers or bool((penalty >= answers[-1]).all()),
            f"the penalty of {name} falls to {bound.penalty!r} at {size:g} samples: a degree of "
            "freedom must not become cheaper as the sample grows",
        )
        require(
            bound.is_penalised == bool(penalty.any()),
            f"{name}.bind({size:g}).is_penalised must say whether a penalty is positive",
        )
        answers.append(penalty)
    noise = bound.noise
    require(
        isinstance(noise, InverseGamma) and _is_usable(noise.shape) and _is_usable(noise.rate),
        f"{name}.bind(...).noise must be an InverseGamma of finite numbers; got {noise!r}",
    )
    answers.append(np.array([noise.shape, noise.rate]))
    answers.append(np.asarray(bound.log_density(LOG_LAM[:N_ATOMS], 1.0)))
    return answers


def _is_usable(value: Any) -> bool:
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    return is_number and math.isfinite(value) and value >= 0


def _check_nothing_ignored(prior: Prior, name: str) -> None:
    """A density written down must reach the solver."""
    bound = prior.bind(100.0, np.ones(N_ATOMS))
    known = {*dir(Prior), *prior.get_params(deep=False)}
    unheard = [each for each in dir(type(prior)) if each not in known and each[0] != "_"]
    if bound.is_penalised:  # which other methods may be about
        unheard = [each for each in unheard if each.startswith("log_") or "density" in each]
    require(
        bound.has_density or not unheard,
        f"{name} has {', '.join(unheard)}, which solvers do not ask: what its bind returns has no "
        "density. Derive from relvec.priors.SeparablePrior, or let bind return a BoundPrior "
        "that has the density",
    )
    if "noise" in prior.get_params(deep=False):
        noise = clone(prior).set_params(noise=InverseGamma(3.0, 2.0)).bind(100.0).noise
        require(
            (noise.shape, noise.rate) == (3.0, 2.0),
            f"{name} has a parameter noise, but what its bind returns does not have that density",
        )


def _check_density(bound: BoundPrior, name: str) -> None:
    """Derivatives against finite differences, and the behaviour at both ends."""
    noise, step = 0.5, 1e-4

    def value(log_lam: Vector) -> Vector:
        return np.array([bound.log_density(np.full(N_ATOMS, at), noise)[0] for at in log_lam])

    here = value(LOG_LAM)
    require(bool(np.isfinite(here).all()), f"the log density of {name} is not finite")
    if not bound.has_density:
        require(
            not here.any(),
            f"{name} has a log density, but has_density = False: solvers would not see it",
        )
        return
    slope, curvature = (
        np.array([bound.derivatives(np.full(N_ATOMS, at), noise)[order][0] for at in LOG_LAM])
        for order in (0, 1)
    )
    above, below = value(LOG_LAM + step), value(LOG_LAM - step)
    scale = 1.0 + np.abs(here)
    require(
        bool((np.abs((above - below) / (2.0 * step) - slope) < 1e-6 * scale + 1e-5).all()),
        f"the slope of the log density of {name} is not that of finite differences",
    )
    bend = (above - 2.0 * here + below) / step**2
    require(
        bool((np.abs(bend - curvature) < 1e-5 * scale + 1e-3 * np.abs(curvature) + 1e-5).all()),
        f"the curvature of the log density of {name} is not that of finite differences",
    )
    if bound.is_removable:
        require(
            abs(float(value(np.array([60.0]))[0])) < 1e-6,
            f"the log density of {name} must tend to zero for large log precisions, where an atom "
            "is absent; if it cannot, is_removable must be False",
        )
    require(
        float(bound.derivatives(np.full(N_ATOMS, -30.0), noise)[0][0]) > -0.5,
        f"the log density of {name} grows as fast towards zero precision as the evidence falls: "
        "there is no maximum",
    )


def _check_take(bound: BoundPrior, name: str) -> None:
    index = np.array([3, 1])
    part = bound.subset(index)
    log_lam = LOG_LAM[:N_ATOMS]
    penalty = np.broadcast_to(bound.penalty, (N_ATOMS,))
    require(
        np.array_equal(np.broadcast_to(part.penalty, (2,)), penalty[index])
        and np.allclose(
            part.log_density(log_lam[index], 0.5), bound.log_density(log_lam, 0.5)[index]
        ),
        f"take of {name} does not give the prior of these atoms",
    )


def _check_best(bound: BoundPrior, noise: float | None, name: str) -> None:
    """Best precision and gain against trying many, for atoms of every kind."""
    rng = np.random.default_rng(0)
    n, shape = 30.0, (40, N_ATOMS)
    s = rng.uniform(0.05, 1.0, shape)
    quadratic = rng.uniform(5.0, 40.0, shape)
    q = np.sqrt(s * quadratic * rng.uniform(0.0, 0.95, shape) ** 3)
    w = bound.penalty * s * rng.uniform(-0.3 if np.ndim(bound.penalty) else 0.1, 1.0, shape)
    known = Statistics(s, q, w if bound.is_penalised else None, quadratic)
    gain, lam = bound.best_precision(known, n, noise)

    def value(log_lam: Vector) -> Vector:
        x = np.exp(log_lam) + s
        taken = q * q / x
        fit = n * np.log1p(-taken / quadratic) if noise is None else -taken / noise
        density: Vector = bound.log_density(log_lam, noise)
        result: Vector = -0.5 * (fit + np.log1p(s * np.exp(-log_lam))) - w / x + density
        return result

    tried = np.array([value(np.full(shape, at)) for at in np.linspace(-15.0, 25.0, 2001)])
    enters = gain > 0.0 if bound.is_removable else np.isfinite(gain)
    best = tried.max(axis=0)
    how = "held" if noise is not None else "profiled out"
    missed = ~enters & (best > 1e-6) if bound.is_removable else ~enters
    require(
        not missed.any(),
        f"{name}.best leaves out an atom that gains {best[missed].max(initial=0.0):.3g}, the noise "
        f"{how}",
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        there = value(np.log(lam))
    require(
        bool(np.allclose(there[enters], gain[enters], rtol=1e-7, atol=1e-9)),
        f"{name}.best reports another gain than its precision brings, the noise {how}",
    )
    require(
        bool((gain[enters] >= best[enters] - 1e-7 * (1.0 + np.abs(best[enters]))).all()),
        f"{name}.best is not the best precision, the noise {how}",
    )
    hopeless = bound.has_no_gain(known, n, noise) & enters
    require(
        not bound.is_removable or not hopeless.any(),
        f"{name}.has_no_gain tells an atom is better left out that `best` lets in",
    )


def _check_fit(prior: Prior, name: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, N_ATOMS))
    y = 2.0 * X[:, 0] + 0.5 * rng.normal(size=40)
    model = SparseBayesRegressor(LinearBasis(), prior=prior).fit(X, y)
    mean, std = model.predict(X, return_std=True)
    require(
        bool(np.isfinite(mean).all() and np.isfinite(std).all() and (std > 0).all()),
        f"a model fitted with {name} does not predict finite numbers",
    )
