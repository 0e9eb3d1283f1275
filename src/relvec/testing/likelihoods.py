"""Conformance check for likelihoods."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
from scipy.optimize import minimize
from sklearn.base import clone

from relvec._typing import Matrix, Vector
from relvec.laplace import find_mode
from relvec.likelihoods import BoundLikelihood, Likelihood
from relvec.testing._claims import require, require_close


def check_likelihood(likelihood: Likelihood) -> None:
    """Check that a likelihood is what solvers and predictions take it for.

    Its derivatives must be those of its log density; curvatures positive and within their bounds;
    the null model finite on degenerate targets; weights of rows must count as repetitions, and
    offsets shift the latent function; predictions must agree with draws; copies with the original.
    Targets to try are drawn from the likelihood's own predictions.

    Parameters
    ----------
    likelihood : Likelihood
        The object to check.

    Raises
    ------
    AssertionError
        Naming the likelihood and what it does wrong.

    Examples
    --------
    >>> from relvec.likelihoods import Poisson
    >>> from relvec.testing import check_likelihood
    >>> check_likelihood(Poisson())
    """
    name = repr(likelihood)
    require(isinstance(likelihood, Likelihood), f"{name} must derive from Likelihood")
    f = _latent_values(likelihood, 40)
    target = _drawn(likelihood, f)
    bound = likelihood.bind(target)
    require(isinstance(bound, BoundLikelihood), f"{name}.bind must return a BoundLikelihood")
    _check_copies(likelihood, f, target, name)
    _check_inputs(likelihood, target, name)
    for reach in (1.0, 4.0):
        _check_derivatives(bound, reach * f, name)
    _check_bounds(bound, name)
    _check_null(likelihood, target, name)
    _check_rows(likelihood, f, target, name)
    _check_prediction(likelihood, name)


def _latent_values(likelihood: Likelihood, n_rows: int) -> Matrix:
    shape = (n_rows,) if likelihood.n_latent == 1 else (n_rows, likelihood.n_latent)
    return np.random.default_rng(0).normal(size=shape)


def _certain(likelihood: Likelihood, f: Matrix) -> Any:
    """Prediction at latent values that are known."""
    k = likelihood.n_latent
    return likelihood.predict(f, np.zeros(len(f) if k == 1 else (len(f), k, k)))


def _drawn(likelihood: Likelihood, f: Matrix) -> Vector:
    draws: Vector = _certain(likelihood, f).sample(1, random_state=0)[:, 0]
    return draws


def _check_copies(likelihood: Likelihood, f: Matrix, target: Vector, name: str) -> None:
    before = repr(likelihood.get_params())
    value = likelihood.bind(target).log_density(f)
    try:
        pickled = pickle.loads(pickle.dumps(likelihood))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise AssertionError(
            f"{name} cannot be pickled ({error}): define its class at the top of a module."
        ) from error
    for what, copy in {"the clone": clone(likelihood), "the pickled copy": pickled}.items():
        claim = f"{what} of {name} has other densities: keep everything in parameters of __init__"
        require_close(copy.bind(target).log_density(f), value, claim)
    require(repr(likelihood.get_params()) == before, f"{name} changes its parameters when bound")


def _check_inputs(likelihood: Likelihood, target: Vector, name: str) -> None:
    broken = target.copy()
    broken[0] = np.nan
    wrong: dict[str, dict[str, Any]] = {
        "targets that are not finite": {"target": broken},
        "too few sample weights": {"target": target, "sample_weight": np.ones(3)},
        "too few offsets": {"target": target, "offset": np.ones(3)},
    }
    for what, given in wrong.items():
        try:
            likelihood.bind(**given)
        except ValueError:
            continue
        raise AssertionError(f"{name}.bind takes {what}: it must raise ValueError.")


def _differences(function: Any, f: Matrix, step: float = 1e-5) -> np.ndarray:
    """Derivative of a function of rows in each latent value, which are in the last axis."""
    units = [np.array(1.0)] if f.ndim == 1 else list(np.eye(f.shape[1]))
    each = [(function(f + step * u) - function(f - step * u)) / (2.0 * step) for u in units]
    return each[0] if f.ndim == 1 else np.stack(each, axis=-1)


def _check_derivatives(bound: BoundLikelihood, f: Matrix, name: str) -> None:
    certain = _certain(bound.recipe, f)
    claim = f"{name}: log_density, with its constants, is not that of predictions without doubt"
    require_close(bound.log_density(f), certain.log_density(bound.target), claim, 1e-8)
    slopes = _differences(bound.log_density, f)
    require_close(bound.slope(f), slopes, f"{name}: slope is not that of log_density", 1e-7)
    if bound.has_observed_curvature:
        curvature = -_differences(bound.slope, f)
        claim = f"{name}: curvature is not minus the slope of slope"
        require_close(bound.curvature(f), curvature, claim, 1e-7)
    bends = _differences(bound.curvature, f)
    claim = f"{name}: curvature_slope is not that of curvature"
    require_close(bound.curvature_slope(f), bends, claim, 1e-7)
    if bound.recipe.is_conjugate:
        require(not bends.any(), f"{name} is not conjugate: its curvature is not constant")
    slope, curvature = bound.slope_and_curvature(f)
    require_close(slope, bound.slope(f), f"{name}: quadratic has another slope")
    if f.ndim == 1:
        require_close(curvature, bound.curvature(f), f"{name}: quadratic has another curvature")
    else:
        shares = curvature[:, :, None] * (np.eye(f.shape[1]) - curvature[:, None, :])
        claim = f"{name}: quadratic must give y with the curvature diag(y) - y y'"
        require_close(shares, bound.curvature(f), claim)


def _check_bounds(bound: BoundLikelihood, name: str) -> None:
    far = min(float(bound.largest_latent), 30.0)
    for level in np.linspace(-far, far, 25):
        shape = (len(bound.target),) if bound.n_latent == 1 else (len(bound.target), bound.n_latent)
        f = np.zeros(shape)
        f[..., -1 if f.ndim > 1 else slice(None)] = level
        curvature = bound.curvature(f)
        values, floor = curvature, bound.min_curvature * (1.0 - 1e-9)
        if f.ndim > 1:  # one direction has none
            values, floor = np.linalg.eigvalsh(curvature).astype(np.float64), -1e-12
        claim = f"{name}: curvature at {level:.3g} is not between floor and ceiling"
        inside = (values >= floor).all() and (values <= bound.max_curvature + 1e-9).all()
        require(bool(np.isfinite(curvature).all() and inside), claim)
    reference = bound.reference_curvature()
    require(
        np.shape(reference)[0] == len(bound.target) and bool(np.isfinite(reference).all()),
        f"{name}: reference_curvature must be finite, with one entry for every row",
    )
    is_positive = bool((_diagonal(reference) > 0.0).all())
    require(is_positive, f"{name}: reference_curvature must be positive")


def _diagonal(curvature: np.ndarray) -> np.ndarray:
    """Curvature of each latent function, whether rows have one number or a matrix."""
    return curvature if curvature.ndim == 1 else np.einsum("nkk->nk", curvature)


def _check_null(likelihood: Likelihood, target: Vector, name: str) -> None:
    degenerate = {
        "targets that are all the smallest": np.full(8, target.min()),
        "targets that are all the largest": np.full(8, target.max()),
        "one row": target[:1],
    }
    for what, few in degenerate.items():
        bound = likelihood.bind(few)
        require(
            bool(np.isfinite(bound.null_latent()).all()),
            f"{name}.null_latent() must be finite on {what}",
        )
        diagonal = _diagonal(bound.reference_curvature())
        claim = f"{name}.reference_curvature() must be positive on {what}"
        require(bool((diagonal > 0.0).all()), claim)
    bound = likelihood.bind(target)
    null = np.asarray(bound.null_latent(), float)

    def value(shift: Any) -> float:
        return bound.total_log_density(np.broadcast_to(null + shift, _shape(bound)))

    units = np.eye(null.size).reshape(null.size, *null.shape)
    worse = [value(sign * unit) < value(0.0) for unit in units for sign in (-0.5, 0.5)]
    require(all(worse), f"{name}.null_latent() is not near the best constant")


def _shape(bound: BoundLikelihood) -> tuple[int, ...]:
    n = len(bound.target)
    return (n,) if bound.n_latent == 1 else (n, bound.n_latent)


def _level(bound: BoundLikelihood) -> Matrix:
    """Latent values of the model of intercepts alone, less what is common to all classes."""
    n = len(bound.target)
    sizes = None if bound.n_latent == 1 else (0,) * bound.n_latent
    mode = find_mode(np.empty((n, 0)), np.empty(0), bound, sizes=sizes, tol=1e-14)
    f = mode.latent
    return f if f.ndim == 1 else f - f.mean(axis=1, keepdims=True)


def _best_level(bound: BoundLikelihood, shift: Matrix) -> Matrix:
    """Latent values that a constant and these shifts make, at the best constant."""

    def loss(level: Vector) -> tuple[float, Vector]:
        f = shift + (level[0] if shift.ndim == 1 else level)
        slopes = bound.slope(f)
        return -bound.total_log_density(f), -np.atleast_1d(slopes.sum(axis=0))

    found = minimize(loss, np.zeros(bound.n_latent), jac=True, options={"gtol": 1e-8})
    f: Matrix = shift + (found.x[0] if shift.ndim == 1 else found.x)
    return f if f.ndim == 1 else f - f.mean(axis=1, keepdims=True)


def _check_rows(likelihood: Likelihood, f: Matrix, target: Vector, name: str) -> None:
    """Weights are repetitions, offsets shift the function."""
    count = np.arange(len(target)) % 3
    weighted = likelihood.bind(target, count.astype(float))
    repeated = likelihood.bind(np.repeat(target, count))
    claim = f"{name}: weights of rows do not count as repetitions"
    for one, two in (
        (weighted.total_log_density(f), repeated.total_log_density(np.repeat(f, count, axis=0))),
        (weighted.null_latent(), repeated.null_latent()),
        (
            weighted.apply_weights(weighted.slope(f)).sum(axis=0),
            repeated.slope(np.repeat(f, count, axis=0)).sum(axis=0),
        ),
        (weighted.total_weight, repeated.total_weight),
    ):
        require_close(np.asarray(one), np.asarray(two), claim, 1e-7)
    shift = np.random.default_rng(4).normal(size=f.shape)
    plain, moved = likelihood.bind(target), likelihood.bind(target, offset=shift)
    for what in ("log_density", "slope", "curvature", "curvature_slope"):
        expected = getattr(plain, what)(f)
        claim = f"{name}: {what} is that of a row, whatever its weight: solvers do the weighting"
        require_close(getattr(weighted, what)(f), expected, claim)
        claim = f"{name}: f contains the offset, {what} must not add it"
        require_close(getattr(moved, what)(f), expected, claim)
    found, best = _level(moved), _best_level(plain, shift)
    claim = f"{name}: an offset does not shift the latent function"
    require_close(found, best, claim, 1e-4)
    null = np.asarray(moved.null_latent(), float)
    units = np.eye(null.size).reshape(null.size, *null.shape)
    there = plain.total_log_density(shift + null)
    worse = [
        plain.total_log_density(shift + null + sign * u) < there for u in units for sign in (-1, 1)
    ]
    require(all(worse), f"{name}.null_latent() is not near the best constant, given an offset")


def _check_prediction(likelihood: Likelihood, name: str) -> None:
    """Compare with draws of the latent function and of targets given it."""
    rng, k = np.random.default_rng(1), likelihood.n_latent
    n_draws = 20_000 if k == 1 else 5_000  # classes have no heavy tails
    for centre, variance in ((0.3, 0.2), (-0.5, 0.5)):
        mean = np.full(1 if k == 1 else (1, k), centre)
        if k > 1:
            mean[0, 0] += 1.0
        covariance = np.array([variance]) if k == 1 else variance * np.eye(k)[None]
        prediction = likelihood.predict(mean, covariance)
        f = mean + np.sqrt(variance) * rng.normal(size=(n_draws, *mean.shape[1:]))
        inner = _certain(likelihood, f)
        draws = inner.sample(1, random_state=2)[:, 0]
        seen = draws if k == 1 else (draws[:, None] == np.arange(k)).astype(float)
        spread = seen.std(axis=0) + 1e-12
        # approximations in use are within 0.03 standard deviations, draws within 0.04
        gap = np.abs(prediction.mean[0] - seen.mean(axis=0)) / spread
        require(bool((gap < 0.08).all()), f"{name}: predicted mean is not that of draws")
        # heavy tails: given the latent value, and of what is expected given that
        ratio = prediction.variance[0] / (inner.variance.mean(axis=0) + inner.mean.var(axis=0))
        require(bool((np.abs(ratio - 1.0) < 0.15).all()), f"{name}: predicted variance is off")
        for level in (0.1, 0.5, 0.9):
            at = prediction.quantile(level)[0]
            holds = np.mean(draws <= at) >= level - 0.03 and np.mean(draws < at) <= level + 0.03
            require(bool(holds), f"{name}: the quantile at {level} is not that of draws")
        ends = [prediction.quantile(0.1)[0], prediction.quantile(0.9)[0]]
        require_close(prediction.interval(0.8)[0], np.array(ends), f"{name}: interval(0.8)", 1e-6)
        again = prediction.sample(n_draws, random_state=3)[0]
        claim = f"{name}: samples of the prediction are not like draws"
        require(abs(float(again.mean() - draws.mean())) < 0.08 * float(draws.std()), claim)
        for one in draws[:5]:
            expected = np.log(np.mean(np.exp(inner.log_density(np.full(n_draws, one)))))
            found = prediction.log_density(np.array([one]))[0]
            claim = f"{name}: predicted log density of {one:.3g} is not that of draws"
            require(bool(abs(found - expected) < 0.1), claim)
