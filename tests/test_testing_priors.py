"""The check of priors must pass what is shipped and catch what it promises to catch."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from relvec import SparseBayesRegressor
from relvec.bases import LinearBasis
from relvec.priors import (
    BoundFlat,
    BoundSmoothness,
    FlatPrior,
    GammaPrior,
    InverseGamma,
    Prior,
    SmoothnessPrior,
)
from relvec.testing import check_prior
from tests.helpers_priors import HalfCauchy


@pytest.mark.slow
@pytest.mark.parametrize(
    "prior",
    [
        FlatPrior(),
        FlatPrior(noise=InverseGamma(2.0, 0.5)),
        GammaPrior(),
        GammaPrior(shape=0.0, rate=2.0),
        GammaPrior(shape=0.7, rate=2.0, measure="precision"),
        GammaPrior(shape=0.0, rate=0.0, noise=InverseGamma(1.0, 0.5)),
        SmoothnessPrior("aic"),
        SmoothnessPrior("bic"),
        SmoothnessPrior("ric"),
        SmoothnessPrior(0.5),
        SmoothnessPrior([1.0, 3.0], by=[0, 1, 0, 1, 1]),
        HalfCauchy(),
        HalfCauchy(0.3, noise=InverseGamma(1.0, 1.0)),
    ],
    ids=repr,
)
def test_shipped_priors_pass(prior: Prior) -> None:
    check_prior(prior)


class Broken(Prior):
    def bind(self, n_samples: float, column_norm: Any = None, groups: Any = None) -> Any:
        return BoundFlat()


class NegativePenalty(Broken):
    def bind(self, *given: Any) -> Any:
        return BoundSmoothness(-1.0)


class InfinitePenalty(Broken):
    def bind(self, n_samples: float, *given: Any) -> Any:
        return BoundSmoothness(math.inf if n_samples > 100 else 1.0)


class FallingPenalty(Broken):
    def bind(self, n_samples: float, *given: Any) -> Any:
        return BoundSmoothness(1.0 / n_samples)


class PlainNumber(Broken):
    def bind(self, *given: Any) -> Any:
        return 0.5


class Counts(Broken):
    calls = 0

    def bind(self, *given: Any) -> Any:
        type(self).calls += 1
        return BoundSmoothness(float(self.calls))


class ModifiesItself(Broken):
    def __init__(self, c: float = 1.0) -> None:
        self.c = c

    def bind(self, *given: Any) -> Any:
        self.c = 2.0
        return BoundFlat()


class Hidden(Broken):
    def __init__(self, c: float = 1.0) -> None:
        self.c = c
        self.hidden = 0.0

    def bind(self, *given: Any) -> Any:
        return BoundSmoothness(self.hidden)


class Ignored(Broken):
    """A half-Cauchy that solvers would never hear of."""

    def log_density(self, log_lam: np.ndarray) -> np.ndarray:
        return -np.log1p(np.exp(-log_lam))


class WrongSlope(HalfCauchy):
    def slope(self, log_lam: np.ndarray) -> np.ndarray:
        return 0.9 * super().slope(log_lam)


class WrongCurvature(HalfCauchy):
    def curvature(self, log_lam: np.ndarray) -> np.ndarray:
        return 0.5 * super().curvature(log_lam)


class NotZeroAtInfinity(HalfCauchy):
    def log_density(self, log_lam: np.ndarray) -> np.ndarray:
        return super().log_density(log_lam) + 1.0


class NoMaximum(HalfCauchy):
    """Over the log precision a vanishing precision is preferred."""

    def log_density(self, log_lam: np.ndarray) -> np.ndarray:
        return np.log1p(np.exp(-log_lam))

    def slope(self, log_lam: np.ndarray) -> np.ndarray:
        return -1.0 / (1.0 + np.exp(log_lam))

    def curvature(self, log_lam: np.ndarray) -> np.ndarray:
        return np.exp(log_lam) / (1.0 + np.exp(log_lam)) ** 2


class BoundWrong(BoundFlat):
    def best_precision(self, *given: Any) -> Any:
        gain, lam = super().best_precision(*given)
        return gain, 2.0 * lam


class WrongBest(Broken):
    def bind(self, *given: Any) -> Any:
        return BoundWrong()


class BoundIntegerPenalty(BoundFlat):
    penalty = 1
    is_penalised = True


class IntegerPenalty(Broken):
    def bind(self, *given: Any) -> Any:
        return BoundIntegerPenalty()


class PenaltyAlone(Broken):
    """Has a density as well, of which solvers hear nothing."""

    def log_density(self, log_lam: np.ndarray) -> np.ndarray:
        return -np.log1p(np.exp(-log_lam))

    def bind(self, *given: Any) -> Any:
        return BoundSmoothness(0.5)


class IgnoresNoise(Prior):
    def __init__(self, noise: InverseGamma | None = None) -> None:
        self.noise = noise

    def bind(self, *given: Any) -> Any:
        return BoundSmoothness(0.5)


class WrongFarAway(HalfCauchy):
    def log_density(self, log_lam: np.ndarray) -> np.ndarray:
        return super().log_density(log_lam) * np.where(np.abs(log_lam) > 13.0, 2.0, 1.0)


def with_hidden_state() -> Hidden:
    prior = Hidden()
    prior.hidden = 1.0
    return prior


@pytest.mark.parametrize(
    ("prior", "complaint"),
    [
        (NegativePenalty(), r"NegativePenalty\(\).bind\(1\).penalty must be .* got -1.0"),
        (InfinitePenalty(), r"bind\(1000\).penalty must be finite.* got inf"),
        (FallingPenalty(), "must not fall as the sample grows"),
        (PlainNumber(), "must return a BoundPrior; got float"),
        (Counts(), "gives different results when called again"),
        (ModifiesItself(), "bind modifies the parameters"),
        (with_hidden_state(), "the clone of Hidden.*store all state in parameters"),
        (Ignored(), "has log_density, which solvers do not use"),
        (WrongSlope(), "first derivative of the log density .* finite differences"),
        (WrongCurvature(), "second derivative of the log density .* finite differences"),
        (IntegerPenalty(), "penalty must be a float, or an array.*got 1"),
        (PenaltyAlone(), "has log_density, which solvers do not use"),
        (IgnoresNoise(), "has a parameter noise, but bind does not pass it"),
        (WrongFarAway(), "of the log density .* finite differences"),
        (NotZeroAtInfinity(), "must tend to zero for large log precisions"),
        (NoMaximum(), "the objective has no maximum"),
        (WrongBest(), "the gain is not that of the returned precision"),
        ("bic", "'bic' must derive from relvec.priors.Prior"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_broken_prior_is_caught(prior: Prior, complaint: str) -> None:
    with pytest.raises(AssertionError, match=complaint):
        check_prior(prior)


def test_a_prior_that_cannot_be_saved_is_caught() -> None:
    class Local(Broken):
        pass

    with pytest.raises(AssertionError, match="cannot be pickled.*top of a module"):
        check_prior(Local())


@pytest.mark.slow
@pytest.mark.parametrize("noise", [None, 0.25])
def test_a_density_of_ones_own_is_fitted_as_by_brute_force(noise: float | None) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 3))
    y = X @ np.array([1.0, 0.4, 0.0]) + 0.5 * rng.standard_normal(30)
    prior = HalfCauchy(0.5)
    options = {"min_gain": 0.0, "noise_variance": noise}
    model = SparseBayesRegressor(LinearBasis(), prior=prior, **options).fit(X, y)
    flat = SparseBayesRegressor(LinearBasis(), prior="flat", **options).fit(X, y)
    centred = (X - X.mean(axis=0)) / np.linalg.norm(X - X.mean(axis=0), axis=0)
    t = y - y.mean()

    def objective(theta: np.ndarray, active: list[int]) -> float:
        K = np.eye(30) + (centred[:, active] * np.exp(-theta)) @ centred[:, active].T
        R = float(t @ np.linalg.solve(K, t))
        s2 = R / 29 if noise is None else noise
        fit = 29 * math.log(2 * math.pi * s2) + R / s2 + np.linalg.slogdet(K)[1]
        return float(-0.5 * fit + prior.log_density(theta).sum())

    bounds = [(-9.0, 12.0)] * 3
    best = objective(np.empty(0), [])
    for active in ([0], [1], [2], [0, 1], [0, 2], [1, 2], [0, 1, 2]):
        for start in (-3.0, 0.0, 3.0):
            found = minimize(
                lambda v, a=active: -objective(v, a),
                np.full(len(active), start),
                bounds=bounds[: len(active)],
            )
            best = max(best, -float(found.fun))
    assert model.objective_ == pytest.approx(best, abs=1e-5)
    assert not np.allclose(model.predict(X), flat.predict(X), atol=1e-3)
