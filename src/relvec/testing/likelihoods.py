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
    """Check that a likelihood satisfies the protocol of `relvec.likelihoods.Likelihood`.

    Derivatives must agree with finite differences of the log density; curvatures must be positive
    and within their bounds; the null model must be finite for degenerate targets; sample weights
    must count as repetitions and offsets shift the latent function; predictions must agree with
    Monte Carlo draws; copies must agree with the original. Test targets are drawn from the
    predictions of the likelihood itself.

    Parameters
    ----------
    likelihood : Likelihood
        The likelihood to check.

    Raises
    ------
    AssertionError
        If a requirement is violated; the message names the likelihood and the requirement.

    Examples
    --------
    >>> from relvec.likelihoods import Poisson
    >>> from relvec.testing import check_likelihood
    >>> check_likelihood(Poisson())
    """
    name = repr(likelihood)
    require(
        isinstance(likelihood, Likelihood), f"{name} must derive from relvec.likelihoods.Likelihood"
    )
    f = _latent_values(likelihood, 40)
    target = _draw_targets(likelihood, f)
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


def _predict_at(likelihood: Likelihood, f: Matrix) -> Any:
    """Return the prediction at latent values of zero variance."""
    k = likelihood.n_latent
    return likelihood.predict(f, np.zeros(len(f) if k == 1 else (len(f), k, k)))


def _draw_targets(likelihood: Likelihood, f: Matrix) -> Vector:
    draws: Vector = _predict_at(likelihood, f).sample(1, random_state=0)[:, 0]
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
        claim = (
            f"{what} of {name} has different densities: store all state in parameters of __init__"
        )
        require_close(copy.bind(target).log_density(f), value, claim)
    require(
        repr(likelihood.get_params()) == before,
        f"{name}.bind modifies the parameters of the likelihood",
    )


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
        raise AssertionError(f"{name}.bind accepts {what}; it must raise ValueError.")


def _differences(function: Any, f: Matrix, step: float = 1e-5) -> np.ndarray:
    """Return central differences in each latent value, along the last axis."""
    units = [np.array(1.0)] if f.ndim == 1 else list(np.eye(f.shape[1]))
    each = [(function(f + step * u) - function(f - step * u)) / (2.0 * step) for u in units]
    return each[0] if f.ndim == 1 else np.stack(each, axis=-1)


def _check_derivatives(bound: BoundLikelihood, f: Matrix, name: str) -> None:
    certain = _predict_at(bound.recipe, f)
    claim = f"{name}: log_density (constants included) differs from predictions of zero variance"
    require_close(bound.log_density(f), certain.log_density(bound.target), claim, 1e-8)
    slopes = _differences(bound.log_density, f)
    require_close(
        bound.slope(f), slopes, f"{name}: slope is not the derivative of log_density", 1e-7
    )
    if bound.has_observed_curvature:
        curvature = -_differences(bound.slope, f)
        claim = f"{name}: curvature is not minus the derivative of slope"
        require_close(bound.curvature(f), curvature, claim, 1e-7)
    third = _differences(bound.curvature, f)
    claim = f"{name}: curvature_slope is not the derivative of curvature"
    require_close(bound.curvature_slope(f), third, claim, 1e-7)
    if bound.recipe.is_conjugate:
        claim = f"{name}.is_conjugate is True, but its curvature is not constant"
        require(not third.any(), claim)
    slope, curvature = bound.slope_and_curvature(f)
    require_close(slope, bound.slope(f), f"{name}: slope_and_curvature disagrees with slope")
    if f.ndim == 1:
        require_close(
            curvature, bound.curvature(f), f"{name}: slope_and_curvature disagrees with curvature"
        )
    else:
        shares = curvature[:, :, None] * (np.eye(f.shape[1]) - curvature[:, None, :])
        claim = f"{name}: slope_and_curvature must return y with curvature diag(y) - y y'"
        require_close(shares, bound.curvature(f), claim)


def _check_bounds(bound: BoundLikelihood, name: str) -> None:
    far = min(float(bound.largest_latent), 30.0)
    for level in np.linspace(-far, far, 25):
        shape = (len(bound.target),) if bound.n_latent == 1 else (len(bound.target), bound.n_latent)
        f = np.zeros(shape)
        f[..., -1 if f.ndim > 1 else slice(None)] = level
        curvature = bound.curvature(f)
        values, floor = curvature, bound.min_curvature * (1.0 - 1e-9)
        if f.ndim > 1:  # adding a constant to all logits changes nothing: one eigenvalue is zero
            values, floor = np.linalg.eigvalsh(curvature).astype(np.float64), -1e-12
        claim = (
            f"{name}: curvature at f = {level:.3g} is not within min_curvature and max_curvature"
        )
        inside = (values >= floor).all() and (values <= bound.max_curvature + 1e-9).all()
        require(bool(np.isfinite(curvature).all() and inside), claim)
    reference = bound.reference_curvature()
    require(
        np.shape(reference)[0] == len(bound.target) and bool(np.isfinite(reference).all()),
        f"{name}: reference_curvature must be finite, with one entry per row",
    )
    is_positive = bool((_diagonal(reference) > 0.0).all())
    require(is_positive, f"{name}: reference_curvature must be positive")


def _diagonal(curvature: np.ndarray) -> np.ndarray:
    """Return the curvature in each latent function, from one number or a matrix per row."""
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
            f"{name}.null_latent() must be finite for {what}",
        )
        diagonal = _diagonal(bound.reference_curvature())
        claim = f"{name}.reference_curvature() must be positive for {what}"
        require(bool((diagonal > 0.0).all()), claim)
    bound = likelihood.bind(target)
    null = np.asarray(bound.null_latent(), float)

    def value(shift: Any) -> float:
        return bound.total_log_density(np.broadcast_to(null + shift, _shape(bound)))

    units = np.eye(null.size).reshape(null.size, *null.shape)
    worse = [value(sign * unit) < value(0.0) for unit in units for sign in (-0.5, 0.5)]
    require(all(worse), f"{name}.null_latent() is not near the maximum-likelihood constant")


def _shape(bound: BoundLikelihood) -> tuple[int, ...]:
    n = len(bound.target)
    return (n,) if bound.n_latent == 1 else (n, bound.n_latent)


def _intercept_mode(bound: BoundLikelihood) -> Matrix:
    """Return the latent values of the intercept-only model, centred over the classes."""
    n = len(bound.target)
    sizes = None if bound.n_latent == 1 else (0,) * bound.n_latent
    mode = find_mode(np.empty((n, 0)), np.empty(0), bound, sizes=sizes, tol=1e-14)
    f = mode.latent
    return f if f.ndim == 1 else f - f.mean(axis=1, keepdims=True)


def _best_constant(bound: BoundLikelihood, shift: Matrix) -> Matrix:
    """Return ``shift`` plus the maximum-likelihood constant, centred over the classes."""

    def loss(level: Vector) -> tuple[float, Vector]:
        f = shift + (level[0] if shift.ndim == 1 else level)
        slopes = bound.slope(f)
        return -bound.total_log_density(f), -np.atleast_1d(slopes.sum(axis=0))

    found = minimize(loss, np.zeros(bound.n_latent), jac=True, options={"gtol": 1e-8})
    f: Matrix = shift + (found.x[0] if shift.ndim == 1 else found.x)
    return f if f.ndim == 1 else f - f.mean(axis=1, keepdims=True)


def _check_rows(likelihood: Likelihood, f: Matrix, target: Vector, name: str) -> None:
    """Check that sample weights count as repetitions, and that offsets shift the function."""
    count = np.arange(len(target)) % 3
    weighted = likelihood.bind(target, count.astype(float))
    repeated = likelihood.bind(np.repeat(target, count))
    claim = f"{name}: a row of weight two must count as two equal rows"
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
        claim = f"{name}: {what} must not depend on sample weights; solvers apply them"
        require_close(getattr(weighted, what)(f), expected, claim)
        claim = f"{name}: f includes the offset; {what} must not add it"
        require_close(getattr(moved, what)(f), expected, claim)
    found, best = _intercept_mode(moved), _best_constant(plain, shift)
    claim = f"{name}: an offset must shift the latent function"
    require_close(found, best, claim, 1e-4)
    null = np.asarray(moved.null_latent(), float)
    units = np.eye(null.size).reshape(null.size, *null.shape)
    best_value = plain.total_log_density(shift + null)
    worse = [
        plain.total_log_density(shift + null + sign * u) < best_value
        for u in units
        for sign in (-1, 1)
    ]
    require(all(worse), f"{name}.null_latent() ignores the offset")


def _check_prediction(likelihood: Likelihood, name: str) -> None:
    """Compare predictions with draws of the latent function, and of targets given it."""
    rng, k = np.random.default_rng(1), likelihood.n_latent
    n_draws = 20_000 if k == 1 else 5_000  # indicators of classes have no heavy tails
    for centre, variance in ((0.3, 0.2), (-0.5, 0.5)):
        mean = np.full(1 if k == 1 else (1, k), centre)
        if k > 1:
            mean[0, 0] += 1.0
        covariance = np.array([variance]) if k == 1 else variance * np.eye(k)[None]
        prediction = likelihood.predict(mean, covariance)
        f = mean + np.sqrt(variance) * rng.normal(size=(n_draws, *mean.shape[1:]))
        inner = _predict_at(likelihood, f)
        draws = inner.sample(1, random_state=2)[:, 0]
        observed = draws if k == 1 else (draws[:, None] == np.arange(k)).astype(float)
        spread = observed.std(axis=0) + 1e-12
        # Approximations in use have errors up to 0.03 standard deviations, draws up to 0.04.
        gap = np.abs(prediction.mean[0] - observed.mean(axis=0)) / spread
        require(bool((gap < 0.08).all()), f"{name}: the predictive mean differs from that of draws")
        # Law of total variance: less noisy than the sample variance if tails are heavy.
        ratio = prediction.variance[0] / (inner.variance.mean(axis=0) + inner.mean.var(axis=0))
        require(
            bool((np.abs(ratio - 1.0) < 0.15).all()),
            f"{name}: the predictive variance differs from that of draws",
        )
        for level in (0.1, 0.5, 0.9):
            at = prediction.quantile(level)[0]
            holds = np.mean(draws <= at) >= level - 0.03 and np.mean(draws < at) <= level + 0.03
            require(bool(holds), f"{name}: the quantile at {level} differs from that of draws")
        ends = [prediction.quantile(0.1)[0], prediction.quantile(0.9)[0]]
        require_close(
            prediction.interval(0.8)[0],
            np.array(ends),
            f"{name}: interval(0.8) differs from the quantiles 0.1, 0.9",
            1e-6,
        )
        again = prediction.sample(n_draws, random_state=3)[0]
        claim = f"{name}: sample() has a different mean than draws"
        require(abs(float(again.mean() - draws.mean())) < 0.08 * float(draws.std()), claim)
        for one in draws[:5]:
            expected = np.log(np.mean(np.exp(inner.log_density(np.full(n_draws, one)))))
            found = prediction.log_density(np.array([one]))[0]
            claim = f"{name}: the predictive log density of {one:.3g} differs from that of draws"
            require(bool(abs(found - expected) < 0.1), claim)
