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
"""Log precisions at which densities are compared."""
N_ATOMS = 5


def check_prior(prior: Prior) -> None:
    """Check that a prior satisfies the protocol of `relvec.priors.Prior`.

    Penalties must be finite and non-negative, and must not fall as the sample grows. Derivatives of
    the density must agree with finite differences; the best precision of an atom must agree with a
    grid search, with the noise held and profiled out. A density that solvers would ignore, because
    `bind` does not pass it on, is an error. Copies must agree with the original.

    Parameters
    ----------
    prior : Prior
        The prior to check.

    Raises
    ------
    AssertionError
        If a requirement is violated; the message names the prior and the requirement.

    Examples
    --------
    >>> from relvec.priors import SmoothnessPrior
    >>> from relvec.testing import check_prior
    >>> check_prior(SmoothnessPrior("bic"))
    """
    name = repr(prior)
    require(isinstance(prior, Prior), f"{name} must derive from relvec.priors.Prior")
    before = repr(prior.get_params())
    results = _results(prior, name)
    _require_same(
        _results(prior, name), results, f"{name}.bind gives different results when called again"
    )
    require(repr(prior.get_params()) == before, f"{name}.bind modifies the parameters of the prior")
    copies = {
        "the clone": clone(prior),
        "the copy from get_params": type(prior)(**prior.get_params(deep=False)),
        "the pickled copy": _pickled(prior, name),
    }
    for what, copy in copies.items():
        _require_same(
            _results(copy, name),
            results,
            f"{what} of {name} gives different results: store all state in parameters of __init__",
        )
    resolved = resolve_prior(prior, allow_density=True)
    require(resolved is prior, f"resolve_prior({name}) must return it unchanged")
    _check_nothing_ignored(prior, name)
    bound = prior.bind(100.0, np.ones(N_ATOMS))
    _check_density(bound, name)
    _check_subset(bound, name)
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


def _results(prior: Prior, name: str) -> list[Vector]:
    """Return penalties, noise prior and densities of a prior, after checking each of them."""
    results: list[Vector] = []
    for size in SIZES:
        bound: Any = prior.bind(size, np.ones(N_ATOMS))
        require(
            isinstance(bound, BoundPrior),
            f"{name}.bind must return a BoundPrior; got {type(bound).__name__}",
        )
        penalty = np.asarray(bound.penalty)
        require(
            isinstance(bound.penalty, float) or (penalty.ndim == 1 and penalty.dtype.kind == "f"),
            f"{name}.bind({size:g}).penalty must be a float, or an array of floats, one per atom; "
            f"got {bound.penalty!r}",
        )
        require(
            penalty.dtype.kind in "fi"
            and bool(np.isfinite(penalty).all() and (penalty >= 0).all()),
            f"{name}.bind({size:g}).penalty must be finite and non-negative; got {bound.penalty!r}",
        )
        require(
            not results or bool((penalty >= results[-1]).all()),
            f"the penalty of {name} falls to {bound.penalty!r} at {size:g} samples; the penalty "
            "per degree of freedom must not fall as the sample grows",
        )
        require(
            bound.is_penalised == bool(penalty.any()),
            f"{name}.bind({size:g}).is_penalised must be True if and only if a penalty is positive",
        )
        results.append(penalty)
    noise = bound.noise
    require(
        isinstance(noise, InverseGamma) and _is_usable(noise.shape) and _is_usable(noise.rate),
        f"{name}.bind(...).noise must be an InverseGamma of finite numbers; got {noise!r}",
    )
    results.append(np.array([noise.shape, noise.rate]))
    results.append(np.asarray(bound.log_density(LOG_LAM[:N_ATOMS], 1.0)))
    return results


def _is_usable(value: Any) -> bool:
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    return is_number and math.isfinite(value) and value >= 0


def _check_nothing_ignored(prior: Prior, name: str) -> None:
    """Check that a density that the class defines reaches the solver."""
    bound = prior.bind(100.0, np.ones(N_ATOMS))
    known = {*dir(Prior), *prior.get_params(deep=False)}
    ignored = [each for each in dir(type(prior)) if each not in known and each[0] != "_"]
    if bound.is_penalised:  # other methods may compute the penalty
        ignored = [each for each in ignored if each.startswith("log_") or "density" in each]
    require(
        bound.has_density or not ignored,
        f"{name} has {', '.join(ignored)}, which solvers do not use: the result of bind has no "
        "density. Derive from relvec.priors.SeparablePrior, or return a BoundPrior with the "
        "density from bind",
    )
    if "noise" in prior.get_params(deep=False):
        noise = clone(prior).set_params(noise=InverseGamma(3.0, 2.0)).bind(100.0).noise
        require(
            (noise.shape, noise.rate) == (3.0, 2.0),
            f"{name} has a parameter noise, but bind does not pass it to the BoundPrior",
        )


def _check_density(bound: BoundPrior, name: str) -> None:
    """Compare derivatives with finite differences, and check the limits of the density."""
    noise, step = 0.5, 1e-4

    def value(log_lam: Vector) -> Vector:
        return np.array([bound.log_density(np.full(N_ATOMS, at), noise)[0] for at in log_lam])

    here = value(LOG_LAM)
    require(bool(np.isfinite(here).all()), f"the log density of {name} is not finite")
    if not bound.has_density:
        require(
            not here.any(),
            f"{name} has a log density, but has_density is False: solvers would ignore it",
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
        f"the first derivative of the log density of {name} differs from finite differences",
    )
    second = (above - 2.0 * here + below) / step**2
    require(
        bool((np.abs(second - curvature) < 1e-5 * scale + 1e-3 * np.abs(curvature) + 1e-5).all()),
        f"the second derivative of the log density of {name} differs from finite differences",
    )
    if bound.is_removable:
        require(
            abs(float(value(np.array([60.0]))[0])) < 1e-6,
            f"the log density of {name} must tend to zero for large log precisions, where an atom "
            "is absent; otherwise set is_removable = False",
        )
    require(
        float(bound.derivatives(np.full(N_ATOMS, -30.0), noise)[0][0]) > -0.5,
        f"the log density of {name} grows at least as fast as the log evidence falls when the "
        "precision tends to zero: the objective has no maximum",
    )


def _check_subset(bound: BoundPrior, name: str) -> None:
    index = np.array([3, 1])
    part = bound.subset(index)
    log_lam = LOG_LAM[:N_ATOMS]
    penalty = np.broadcast_to(bound.penalty, (N_ATOMS,))
    require(
        np.array_equal(np.broadcast_to(part.penalty, (2,)), penalty[index])
        and np.allclose(
            part.log_density(log_lam[index], 0.5), bound.log_density(log_lam, 0.5)[index]
        ),
        f"bound.subset of {name} does not return the prior of the requested atoms",
    )


def _check_best(bound: BoundPrior, noise: float | None, name: str) -> None:
    """Compare best precision and gain with a grid search, for atoms of many kinds."""
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
        explained = q * q / x
        fit = n * np.log1p(-explained / quadratic) if noise is None else -explained / noise
        density: Vector = bound.log_density(log_lam, noise)
        result: Vector = -0.5 * (fit + np.log1p(s * np.exp(-log_lam))) - w / x + density
        return result

    tried = np.array([value(np.full(shape, at)) for at in np.linspace(-15.0, 25.0, 2001)])
    enters = gain > 0.0 if bound.is_removable else np.isfinite(gain)
    best = tried.max(axis=0)
    how = f"with the noise {'held' if noise is not None else 'profiled out'}"
    missed = ~enters & (best > 1e-6) if bound.is_removable else ~enters
    require(
        not missed.any(),
        f"{name}.best_precision excludes an atom that gains {best[missed].max(initial=0.0):.3g}, "
        f"{how}",
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        there = value(np.log(lam))
    require(
        bool(np.allclose(there[enters], gain[enters], rtol=1e-7, atol=1e-9)),
        f"{name}.best_precision: the gain is not that of the returned precision, {how}",
    )
    require(
        bool((gain[enters] >= best[enters] - 1e-7 * (1.0 + np.abs(best[enters]))).all()),
        f"{name}.best_precision: a grid search finds a better precision, {how}",
    )
    no_gain = bound.has_no_gain(known, n, noise) & enters
    require(
        not bound.is_removable or not no_gain.any(),
        f"{name}.has_no_gain is True for an atom that gains by best_precision",
    )


def _check_fit(prior: Prior, name: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, N_ATOMS))
    y = 2.0 * X[:, 0] + 0.5 * rng.normal(size=40)
    model = SparseBayesRegressor(LinearBasis(), prior=prior).fit(X, y)
    mean, std = model.predict(X, return_std=True)
    require(
        bool(np.isfinite(mean).all() and np.isfinite(std).all() and (std > 0).all()),
        f"a model fitted with {name} predicts values that are not finite, or a std of zero",
    )
