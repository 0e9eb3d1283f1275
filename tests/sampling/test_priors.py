"""Priors of the size of the model, and of precisions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import betaln

from relvec.sampling import (
    BetaBinomialSize,
    CollapsedSampler,
    ExponentialSize,
    PrecisionGrid,
    SizePrior,
)
from tests.helpers_sampling import make_moments, small_problem

N_ATOMS = 6


@pytest.mark.parametrize(
    "prior", [ExponentialSize(1.3), BetaBinomialSize(), BetaBinomialSize(0.5, 4.0)], ids=repr
)
def test_odds_are_ratios_of_probabilities(prior):
    for size in range(N_ATOMS):
        ratio = prior.log_probability(size + 1, N_ATOMS) - prior.log_probability(size, N_ATOMS)
        assert prior.log_odds(size, N_ATOMS) == pytest.approx(ratio)


@given(a=st.floats(0.1, 20.0), b=st.floats(0.1, 20.0))
def test_beta_binomial_probabilities_of_all_models_add_up(a, b):
    prior = BetaBinomialSize(a, b)
    empty = betaln(a, b + N_ATOMS) - betaln(a, b)  # log probability of the model without atoms
    total = sum(
        math.comb(N_ATOMS, size) * math.exp(empty + prior.log_probability(size, N_ATOMS))
        for size in range(N_ATOMS + 1)
    )
    assert total == pytest.approx(1.0)


def test_uniform_sizes():
    prior = BetaBinomialSize()
    share = [
        math.comb(N_ATOMS, size) * math.exp(prior.log_probability(size, N_ATOMS))
        for size in range(N_ATOMS + 1)
    ]
    assert np.allclose(share, 1.0)


def test_user_defined_prior():
    class AtMostTwo(SizePrior):
        def log_odds(self, size, n_atoms):
            return 0.0 if size < 2 else -math.inf

    assert AtMostTwo().log_probability(2, 5) == 0.0
    assert AtMostTwo().log_probability(3, 5) == -math.inf


@pytest.mark.parametrize("name", ["a", "b"])
@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, "one"])
def test_bad_parameters_of_the_beta_prior(name, value):
    with pytest.raises((TypeError, ValueError), match=f"{name} must be"):
        BetaBinomialSize(**{name: value}).checked()


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_bad_penalties(value):
    with pytest.raises(ValueError, match="penalty must be a finite number"):
        ExponentialSize(value).checked()


@pytest.mark.parametrize("prior", [BetaBinomialSize(0.0), ExponentialSize(math.nan)], ids=repr)
def test_samplers_check_the_prior(prior):
    Phi, t, _ = small_problem()
    with pytest.raises(ValueError, match="must be"):
        CollapsedSampler(make_moments(Phi, t), size_prior=prior)


def test_grid():
    assert np.allclose(PrecisionGrid(1e-4, 1.0, 5).values, [1e-4, 1e-3, 1e-2, 0.1, 1.0])
    assert PrecisionGrid(0.1, 0.1, 1).values == pytest.approx([0.1])


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"low": 0.0}, "low must be"),
        ({"high": -1.0}, "high must be"),
        ({"low": 1.0, "high": 0.1}, "low must not exceed high"),
        ({"n_levels": 0}, "n_levels must be"),
        ({"n_levels": 2.5}, "n_levels must be"),
    ],
)
def test_bad_grid(options, match):
    with pytest.raises((TypeError, ValueError), match=match):
        assert len(PrecisionGrid(**options).values)
