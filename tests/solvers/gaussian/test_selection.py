"""Which columns matter? Explicit designs with known answers (spec 01 §3)."""

from __future__ import annotations

import numpy as np
import pytest

from relvec import SparseBayesRegressor
from relvec._typing import Matrix, Vector
from relvec.bases import LinearBasis


def design(n: int, p: int, k: int, noise: float, seed: int) -> tuple[Matrix, Vector, Vector]:
    rng = np.random.default_rng(seed)
    Phi = rng.standard_normal((n, p))
    true = np.sort(rng.choice(p, k, replace=False))
    weights = rng.choice([-1.0, 1.0], k) * rng.uniform(1.0, 2.0, k)
    return Phi, 5.0 + Phi[:, true] @ weights + noise * rng.standard_normal(n), true


@pytest.mark.slow
@pytest.mark.parametrize("effort", ["fast", "balanced"])
@pytest.mark.parametrize("seed", range(3))
def test_twelve_of_five_thousand_columns_from_two_hundred_rows(effort: str, seed: int) -> None:
    X, y, true = design(200, 5000, 12, 0.5, seed)
    model = SparseBayesRegressor(LinearBasis(), effort=effort).fit(X, y)
    found = set(model.relevance_.tolist())
    assert set(true.tolist()) <= found
    assert len(found) <= 13
    assert np.sqrt(model.noise_variance_) == pytest.approx(0.5, rel=0.1)
    assert not model.reached_max_active_
    assert model.converged_


@pytest.mark.slow
@pytest.mark.parametrize("low_memory", [False, True])
def test_twenty_of_five_hundred_columns_from_many_rows(low_memory: bool) -> None:
    X, y, true = design(20_000, 500, 20, 2.0, 7)
    model = SparseBayesRegressor(LinearBasis(), low_memory=low_memory).fit(X, y)
    found = set(model.relevance_.tolist())
    assert set(true.tolist()) <= found
    assert len(found) <= 22
    assert np.sqrt(model.noise_variance_) == pytest.approx(2.0, rel=0.02)


def test_the_flat_entry_penalty_keeps_a_third_of_the_null_columns() -> None:
    """Why explicit columns have penalties: plain evidence admits a null column when z^2 > 1."""
    X, y, true = design(2000, 200, 5, 1.0, 3)
    free = SparseBayesRegressor(LinearBasis(), min_gain=0.0).fit(X, y)
    false = set(free.relevance_.tolist()) - set(true.tolist())
    assert 30 <= len(false) <= 95  # 32 % of 195 is 62
    penalised = SparseBayesRegressor(LinearBasis()).fit(X, y)
    assert set(penalised.relevance_.tolist()) == set(true.tolist())


def test_correlated_columns_share_no_credit_with_a_proxy() -> None:
    """A noisy copy of a true column stays out once the column itself is in."""
    rng = np.random.default_rng(4)
    X, y, true = design(400, 50, 4, 0.5, 4)
    proxies = X[:, true] + 0.5 * rng.standard_normal((400, 4))
    model = SparseBayesRegressor(LinearBasis()).fit(np.c_[X, proxies], y)
    np.testing.assert_array_equal(model.relevance_, true)


def test_bic_selects_too() -> None:
    X, y, true = design(300, 100, 6, 1.0, 5)
    model = SparseBayesRegressor(LinearBasis(), prior="ric").fit(X, y)
    found = set(model.relevance_.tolist())
    assert set(true.tolist()) <= found
    assert len(found) <= 9


def test_weak_columns_are_found_when_there_are_enough_rows() -> None:
    rng = np.random.default_rng(6)
    X = rng.standard_normal((5000, 40))
    y = 0.1 * X[:, 3] + rng.standard_normal(5000)
    model = SparseBayesRegressor(LinearBasis()).fit(X, y)
    assert model.relevance_.tolist() == [3]
    assert model.coef_[0] == pytest.approx(0.1, abs=0.05)
