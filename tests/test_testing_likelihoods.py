"""The conformance check of likelihoods: it passes those there are, and catches every lie."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from scipy.stats import poisson

from relvec.likelihoods import (
    Bernoulli,
    BoundLikelihood,
    Gaussian,
    Likelihood,
    Poisson,
    Softmax,
    check_rows,
)
from relvec.likelihoods.poisson import BoundPoisson
from relvec.testing import check_likelihood


@pytest.mark.slow
@pytest.mark.parametrize(
    "likelihood",
    [Gaussian(), Gaussian(0.3), Bernoulli(), Softmax(2), Softmax(4), Poisson()],
    ids=repr,
)
def test_all_there_are_pass(likelihood):
    check_likelihood(likelihood)


class Lying(Poisson):
    """Counts with one of the methods of their bound likelihood replaced."""

    def __init__(self, lie="none"):
        self.lie = lie

    def bind(self, target, sample_weight=None, offset=None):
        kind = LIES.get(self.lie, BoundPoisson)
        return kind(self, *check_rows(target, sample_weight, offset))


class NoConstant(BoundPoisson):
    def log_density(self, f):
        return self.target * f - np.exp(f)


class WrongSlope(BoundPoisson):
    def slope(self, f):
        return 1.001 * (self.target - np.exp(f))


class WrongCurvature(BoundPoisson):
    def curvature(self, f):
        return 1.001 * super().curvature(f)

    def curvature_slope(self, f):
        return 1.001 * super().curvature_slope(f)


class WrongBend(BoundPoisson):
    def curvature_slope(self, f):
        return np.zeros_like(f)


class BelowFloor(BoundPoisson):
    def curvature(self, f):
        return np.exp(f) - 1e-8


class AboveCeiling(BoundPoisson):
    max_curvature = 1e3


class InfiniteNull(BoundPoisson):
    def null_latent(self):
        with np.errstate(divide="ignore"):
            rows = np.ones(len(self.target)) if self.weight is None else self.weight
            return float(np.log(np.average(self.target, weights=rows)))


class WrongNull(BoundPoisson):
    def null_latent(self):
        return super().null_latent() + 1.0


class WeightsForgotten(BoundPoisson):
    def null_latent(self):
        return float(np.log(max(self.target.mean(), 0.1)))


class WeightsCountOnce(BoundPoisson):
    @property
    def total_weight(self):
        return float(len(self.target))


class OffsetTwice(BoundPoisson):
    def log_density(self, f):
        return super().log_density(f + self.offset_or_zero)

    def slope(self, f):
        return super().slope(f + self.offset_or_zero)

    def curvature(self, f):
        return super().curvature(f + self.offset_or_zero)


class WeightsTwice(BoundPoisson):
    def curvature(self, f):
        return self.apply_weights(super().curvature(f))

    def curvature_slope(self, f):
        return self.apply_weights(super().curvature_slope(f))


class WrongFarAway(BoundPoisson):
    def slope(self, f):
        return np.where(np.abs(f) > 3.0, 0.0, super().slope(f))


class NullForgetsOffset(BoundPoisson):
    def null_latent(self):
        return super().null_latent() if self.offset is None else 4.0


class WrongQuadratic(BoundPoisson):
    def slope_and_curvature(self, f):
        return self.slope(f), 2.0 * self.curvature(f)


class NegativeReference(BoundPoisson):
    def reference_curvature(self):
        return -np.ones(len(self.target))


LIES = {
    "other densities|constants": NoConstant,
    "slope is not that of log_density": WrongSlope,
    "curvature is not minus the slope": WrongCurvature,
    "curvature_slope is not that of curvature": WrongBend,
    "is not between floor and ceiling|curvature is not": BelowFloor,
    "not between floor and ceiling": AboveCeiling,
    "must be finite on targets that are all the smallest": InfiniteNull,
    "not near the best constant": WrongNull,
    "do not count as repetitions": WeightsForgotten,
    "do not count as repetition": WeightsCountOnce,
    "an offset does not shift|contains the offset": OffsetTwice,
    "curvature is that of a row, whatever its weight": WeightsTwice,
    "slope is not that of log_densit": WrongFarAway,
    "not near the best constant, given an offset|an offset does not": NullForgetsOffset,
    "quadratic has another curvature": WrongQuadratic,
    "reference_curvature must be positive": NegativeReference,
}


@pytest.mark.parametrize("lie", LIES)
def test_lies_about_targets_are_caught(lie):
    with pytest.raises(AssertionError, match=lie):
        check_likelihood(Lying(lie))


class _Changed(NamedTuple):
    """A prediction that answers one question wrongly."""

    true: object
    lie: str

    def __getattr__(self, name):
        found = getattr(self.true, name)
        if name != self.lie:
            return found
        if name in ("mean", "variance"):
            return 1.3 * found
        return lambda *args, **more: found(*args, **more) + (2.0 if name != "log_density" else 0.3)


class BadlyPredicting(Poisson):
    def __init__(self, lie="none"):
        self.lie = lie

    def predict(self, mean, variance):
        true = super().predict(mean, variance)
        # of certain values it tells the truth, by which the rest is judged
        return _Changed(true, self.lie) if np.any(variance) else true


@pytest.mark.slow
@pytest.mark.parametrize(
    "lie", ["mean", "variance", "quantile", "interval", "log_density", "sample"]
)
def test_lies_about_new_targets_are_caught(lie):
    words = {"sample": "has a different mean than draws", "log_density": "log density"}
    with pytest.raises(AssertionError, match=words.get(lie, lie)):
        check_likelihood(BadlyPredicting(lie))


class DropsOffset(Poisson):
    def bind(self, target, sample_weight=None, offset=None):
        check_rows(target, sample_weight, offset)
        return super().bind(target, sample_weight)


class NegatesOffset(Poisson):
    def bind(self, target, sample_weight=None, offset=None):
        return super().bind(target, sample_weight, None if offset is None else -np.asarray(offset))


@pytest.mark.parametrize("likelihood", [DropsOffset(), NegatesOffset()], ids=repr)
def test_offsets_lost_or_turned_are_caught(likelihood):
    with pytest.raises(AssertionError, match="an offset must shift the latent function"):
        check_likelihood(likelihood)


class HiddenState(Poisson):
    """Keeps a number outside its parameters."""

    factor = 1.0

    def distribution(self, f):
        return poisson(self.factor * np.exp(f))

    def bind(self, target, sample_weight=None, offset=None):
        bound = super().bind(target, sample_weight, offset)
        object.__setattr__(bound, "_constant", bound._constant + np.log(self.factor))
        return bound


class Careless(Poisson):
    """Takes what it is given."""

    def bind(self, target, sample_weight=None, offset=None):
        return BoundPoisson(self, np.asarray(target, float), sample_weight, offset)


class Conjugate(Poisson):
    is_conjugate = True


class NotOne:
    """Derives from nothing."""


def test_other_lies_are_caught():
    hidden = HiddenState()
    hidden.factor = 2.0
    with pytest.raises(AssertionError, match="the clone"):
        check_likelihood(hidden)
    with pytest.raises(AssertionError, match="targets that are not finite"):
        check_likelihood(Careless())
    with pytest.raises(AssertionError, match="is_conjugate is True, but"):
        check_likelihood(Conjugate())
    with pytest.raises(AssertionError, match="must derive from relvec.likelihoods.Likelihood"):
        check_likelihood(NotOne())

    class Local(Poisson):
        pass

    with pytest.raises(AssertionError, match="cannot be pickled"):
        check_likelihood(Local())


class BoundLogVariance(BoundLikelihood):
    """Squares whose log variance is the function; the curvature is the expected one."""

    has_observed_curvature = False
    largest_latent = 5.0

    def log_density(self, f):
        return -0.5 * (np.log(2 * np.pi * self.target) + f + self.target * np.exp(-f))

    def slope(self, f):
        return 0.5 * (self.target * np.exp(-f) - 1.0)

    def curvature(self, f):
        return np.full(len(f), 0.5)

    def curvature_slope(self, f):
        return np.zeros(len(f))


class LogVariance(Likelihood):
    def bind(self, target, sample_weight=None, offset=None):
        return BoundLogVariance(self, *check_rows(target, sample_weight, offset))

    def distribution(self, f):
        from scipy.stats import chi2

        return chi2(1, scale=np.exp(f))


@pytest.mark.slow
def test_expected_curvature_and_defaults_of_the_base_pass():
    check_likelihood(LogVariance())
