"""Robust scales: consistency, efficiency and what outliers do."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm, truncnorm

from relvec.noise import clipped_scale, mad


def test_constants_are_those_of_the_normal_distribution():
    assert mad(np.array([norm.ppf(0.75)])) == pytest.approx(1.0)
    # At the fixed point the clipped variance is that of a truncated normal variable.
    quantiles = norm.ppf((np.arange(200_001) + 0.5) / 200_001)
    assert clipped_scale(quantiles) == pytest.approx(1.0, abs=1e-3)
    assert truncnorm(-3, 3).var() == pytest.approx(0.97333698)


def test_fixed_point():
    values = np.random.default_rng(0).standard_t(2, size=1001)
    scale = clipped_scale(values)
    kept = values[abs(values) < 3 * scale]
    assert math.sqrt((kept**2).mean() / 0.97333698) == pytest.approx(scale, rel=2e-3)


def test_standard_error():
    draws = np.random.default_rng(1).normal(size=(1500, 400))
    logs = np.log([clipped_scale(draw) for draw in draws])
    assert logs.mean() == pytest.approx(0.0, abs=0.005)
    assert logs.std() * math.sqrt(400) == pytest.approx(0.80, abs=0.06)


def test_far_values_do_not_matter():
    values = np.random.default_rng(2).normal(size=2000)
    spoiled = np.concatenate([values, np.full(200, 1e6)])
    assert clipped_scale(spoiled) == pytest.approx(clipped_scale(values), rel=1e-3)
    assert mad(spoiled) > 1.08 * mad(values)


def test_never_far_beyond_the_median():
    # A third of the values a little outside the core would otherwise pull the scale up.
    values = np.concatenate([np.full(600, 1.0), np.full(400, 3.5)])
    assert clipped_scale(values) <= 1.5 * mad(values) * (1 + 1e-12)


@pytest.mark.parametrize("values", [np.zeros(5), np.array([0.0, 0.0, 0.0, 7.0])])
def test_mostly_zero(values):
    assert clipped_scale(values) == 0.0


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_values(n):
    assert clipped_scale(np.ones(n)) > 0.0
