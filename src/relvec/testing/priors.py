"""Conformance check for priors."""

from __future__ import annotations

import math
import numbers
import pickle
from typing import Any

import numpy as np
from sklearn.base import clone

from relvec.bases import LinearBasis
from relvec.estimators import SparseBayesRegressor
from relvec.priors import GammaHyperprior, Prior, RateHyperprior, resolve_prior
from relvec.testing._claims import require

SIZES = (1.0, 2.0, 10.0, 99.5, 1e3, 1e6)
"""Sample sizes, as sums of weights: they need not be whole."""


def check_prior(prior: Prior) -> None:
    """Check that a prior gives solvers numbers they can use, and survives being copied.

    The price of a degree of freedom must be finite, not negative, and must not fall as the
    sample grows; the rate of a Laplace prior must be a number or a density to learn it by; the
    numbers of the Gamma densities must define densities with a maximum.

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
    answers = _numbers(prior, name)
    require(_numbers(prior, name) == answers, f"{name} gives other numbers when asked again")
    require(repr(prior.get_params()) == before, f"{name} changes its parameters when asked")
    copies = {
        "the clone": clone(prior),
        "what get_params rebuilds": type(prior)(**prior.get_params(deep=False)),
        "the pickled copy": _pickled(prior, name),
    }
    for what, copy in copies.items():
        require(
            _numbers(copy, name) == answers,
            f"{what} of {name} gives other numbers: keep everything in parameters of __init__",
        )
    resolved = resolve_prior(prior, takes_laplace=True)
    require(resolved is prior, f"resolve_prior({name}) must return it unchanged")
    _check_fit(prior, name)


def _pickled(prior: Prior, name: str) -> Prior:
    try:
        copy: Prior = pickle.loads(pickle.dumps(prior))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise AssertionError(
            f"{name} cannot be pickled ({error}): define its class at the top of a module."
        ) from error
    return copy


def _numbers(
    prior: Prior, name: str
) -> tuple[tuple[float, ...], GammaHyperprior, float | RateHyperprior]:
    """Ask the prior for everything, and check each answer."""
    prices: list[float] = []
    for size in SIZES:
        price: Any = prior.smoothness(size)
        require(
            _is_usable(price),
            f"{name}.smoothness({size:g}) must be a finite number and not negative; got {price!r}",
        )
        require(
            not prices or price >= prices[-1],
            f"{name}.smoothness falls to {price!r} at {size:g} samples: a degree of freedom must "
            "not become cheaper as the sample grows",
        )
        prices.append(price)
    hyper: Any = prior.hyperprior()
    require(
        isinstance(hyper, GammaHyperprior),
        f"{name}.hyperprior() must return a GammaHyperprior; got {type(hyper).__name__}",
    )
    for field, value in hyper._asdict().items():
        require(
            _is_usable(value),
            f"{name}.hyperprior().{field} must be a finite number and not negative; got {value!r}",
        )
    require(
        not (hyper.shape > 0 and hyper.rate == 0),
        f"{name}.hyperprior() has shape {hyper.shape!r} and rate 0: such a density has no maximum "
        "and pushes every precision to infinity",
    )
    rate: Any = prior.laplace_rate()
    if isinstance(rate, RateHyperprior):
        for field, value in rate._asdict().items():
            require(
                _is_usable(value) and value > 0,
                f"{name}.laplace_rate().{field} must be a positive number; got {value!r}",
            )
    else:
        require(
            _is_usable(rate),
            f"{name}.laplace_rate() must be a finite number and not negative, or a RateHyperprior; "
            f"got {rate!r}",
        )
    require(
        not rate or not (any(prices) or hyper.shape or hyper.rate),
        f"{name} has a Laplace rate and a price on degrees of freedom or a Gamma density of the "
        "weight precisions: solvers take one of them",
    )
    return tuple(prices), hyper, rate


def _is_usable(value: Any) -> bool:
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    return is_number and math.isfinite(value) and value >= 0


def _check_fit(prior: Prior, name: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 4))
    y = 2.0 * X[:, 0] + 0.5 * rng.normal(size=40)
    model = SparseBayesRegressor(LinearBasis(), prior=prior).fit(X, y)
    mean, std = model.predict(X, return_std=True)
    require(
        bool(np.isfinite(mean).all() and np.isfinite(std).all() and (std > 0).all()),
        f"a model fitted with {name} does not predict finite numbers",
    )
