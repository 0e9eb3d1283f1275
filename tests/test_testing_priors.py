"""The check of priors must pass what is shipped and catch what it promises to catch."""

from __future__ import annotations

import math

import pytest

from relvec.priors import FlatPrior, GammaHyperprior, GammaPrior, Prior, SmoothnessPrior
from relvec.testing import check_prior


@pytest.mark.parametrize(
    "prior",
    [
        FlatPrior(),
        GammaPrior(),
        GammaPrior(shape=0.0, rate=2.0),
        GammaPrior(shape=0.0, rate=0.0, noise_shape=1.0, noise_rate=0.5),
        SmoothnessPrior("aic"),
        SmoothnessPrior("bic"),
        SmoothnessPrior("ric"),
        SmoothnessPrior(0.5),
    ],
    ids=repr,
)
def test_shipped_priors_pass(prior: Prior) -> None:
    check_prior(prior)


class Broken(Prior):
    def smoothness(self, n_samples: float) -> float:
        return 0.0


class NegativePrice(Broken):
    def smoothness(self, n_samples: float) -> float:
        return -1.0


class InfinitePrice(Broken):
    def smoothness(self, n_samples: float) -> float:
        return math.inf if n_samples > 100 else 1.0


class NoPrice(Broken):
    def smoothness(self, n_samples: float) -> float:
        return None


class FallingPrice(Broken):
    def smoothness(self, n_samples: float) -> float:
        return 1.0 / n_samples


class PlainTuple(Broken):
    def hyperprior(self) -> GammaHyperprior:
        return (0.0, 0.0, 0.0, 0.0)


class NegativeRate(Broken):
    def hyperprior(self) -> GammaHyperprior:
        return GammaHyperprior(rate=-1.0)


class NoMaximum(Broken):
    def hyperprior(self) -> GammaHyperprior:
        return GammaHyperprior(shape=1.0)


class Counts(Broken):
    calls = 0

    def smoothness(self, n_samples: float) -> float:
        self.calls += 1
        return float(self.calls)


class ChangesItself(Broken):
    def __init__(self, c: float = 1.0) -> None:
        self.c = c

    def smoothness(self, n_samples: float) -> float:
        self.c = 2.0
        return 1.0


class Hidden(Broken):
    def __init__(self, c: float = 1.0) -> None:
        self.c = c
        self.hidden = 0.0

    def smoothness(self, n_samples: float) -> float:
        return self.hidden


def with_hidden_state() -> Hidden:
    prior = Hidden()
    prior.hidden = 1.0
    return prior


@pytest.mark.parametrize(
    ("prior", "complaint"),
    [
        (NegativePrice(), r"NegativePrice\(\).smoothness\(1\) must be .* got -1.0"),
        (InfinitePrice(), r"smoothness\(1000\) must be a finite number.* got inf"),
        (NoPrice(), r"smoothness\(1\) must be a finite number.* got None"),
        (FallingPrice(), "must not become cheaper as the sample grows"),
        (PlainTuple(), "must return a GammaHyperprior; got tuple"),
        (NegativeRate(), r"hyperprior\(\).rate must be .* got -1.0"),
        (NoMaximum(), "has no maximum"),
        (Counts(), "gives other numbers when asked again"),
        (ChangesItself(), "changes its parameters when asked"),
        (with_hidden_state(), "the clone of Hidden.*keep everything in parameters"),
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
