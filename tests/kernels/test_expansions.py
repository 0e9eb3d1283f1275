"""Expansions of covariance functions: exact covariance, spectra, products."""

from __future__ import annotations

import numpy as np
import pytest

from relvec.kernels.expansions import (
    Harmonics,
    Kink,
    Line,
    Product,
    SlopeWalk,
    Smooth,
    Step,
    Walk,
)

U = np.random.default_rng(0).uniform(-1.0, 1.0, size=(40, 2))

FACTORS = [
    Smooth(length_scale=0.3, n_terms=60, half_width=2.2),
    Smooth(length_scale=0.2, n_terms=60, half_width=2.0, feature=1),
    Walk(n_terms=400),
    Walk(n_terms=400, start=-2.0, span=4.0),
    SlopeWalk(n_terms=60),
    SlopeWalk(n_terms=60, start=-2.0, span=4.0),
    Harmonics(period=0.4, length_scale=0.8, n_harmonics=6),
    Line(origin=-1.0),
    Step(origin=0.1),
    Kink(origin=-0.2, feature=1),
]
KINDS = [type(factor).__name__ for factor in FACTORS]


def expand(factor, V):
    """Covariance of the columns with their spectrum."""
    left, right = factor.columns(U), factor.columns(V)
    return (left * np.exp(factor.log_spectrum())) @ right.T


@pytest.mark.parametrize("factor", FACTORS, ids=KINDS)
def test_columns_are_an_expansion_of_the_covariance(factor):
    low, high = np.clip(factor.reach, -3.0, 3.0)
    V = np.linspace(low, high, 50)[:, None] * np.ones(2)
    # A walk of 400 terms leaves out 1 / (400 pi^2) of the variance per unit of time squared.
    tolerance = {Walk: 3e-3, Smooth: 2e-3}.get(type(factor), 1e-5)
    assert expand(factor, V) == pytest.approx(factor.covariance(U, V), abs=tolerance)
    own = np.diagonal(factor.covariance(V, V))
    assert factor.variance(V) == pytest.approx(own)


@pytest.mark.parametrize("factor", FACTORS, ids=KINDS)
def test_slopes_of_the_spectrum(factor):
    """Central differences; every learnt parameter, alone and in a product of three."""
    for product in (Product((factor,)), Product((FACTORS[0], factor, FACTORS[6]))):
        start = product.log_parameters
        slopes = product.spectrum_slopes()
        assert slopes.shape == (len(start), product.n_columns)
        for number in range(len(start)):
            step = np.zeros(len(start))
            step[number] = 1e-5
            up, down = (
                product.with_log_parameters(start + sign * step).log_spectrum() for sign in (1, -1)
            )
            assert slopes[number] == pytest.approx((up - down) / 2e-5, abs=1e-6, rel=1e-6)


def test_smooth_columns_have_the_prior_variance_at_their_reach():
    for length in (0.1, 0.3, 0.5):
        half_width = 2.0 + 2.0 * length
        smooth = Smooth(length_scale=length, n_terms=300, half_width=half_width)
        assert smooth.reach == pytest.approx((-2.0, 2.0))
        ends = np.array([[-2.0], [2.0]])
        variance = smooth.columns(ends) ** 2 @ np.exp(smooth.log_spectrum())
        assert variance == pytest.approx(1.0, abs=5e-4)


def test_walks_begin_at_their_start():
    early = np.array([[-3.0], [-2.0], [-1.9]])
    for kind in (Walk, SlopeWalk):
        variance = kind(start=-2.0, span=4.0).variance(early)
        assert variance[:2].tolist() == [0.0, 0.0]
        assert variance[2] > 0.0


def test_product_algebra():
    a, b, c = FACTORS[6], FACTORS[0], FACTORS[7]
    product = Product((a, b, c))
    columns = product.columns(U)
    assert columns.shape == (len(U), product.n_columns)
    expected = np.einsum("ni,nj,nk->nijk", a.columns(U), b.columns(U), c.columns(U))
    assert columns == pytest.approx(expected.reshape(len(U), -1))
    covariance = a.covariance(U, U) * b.covariance(U, U) * c.covariance(U, U)
    assert product.covariance(U, U) == pytest.approx(covariance)
    assert product.variance(U) == pytest.approx(np.diagonal(covariance))
    spectrum = np.exp(product.log_spectrum())
    assert (columns * spectrum) @ columns.T == pytest.approx(covariance, abs=2e-3)
    # The order of factors permutes columns.
    other = Product((c, a, b))
    again = (other.columns(U) * np.exp(other.log_spectrum())) @ other.columns(U).T
    assert again == pytest.approx((columns * spectrum) @ columns.T)
    assert len(product.log_parameters) == 2
    moved = product.with_log_parameters(np.log([0.5, 0.7]))
    assert [each.length_scale for each in moved.factors[:2]] == pytest.approx([0.5, 0.7])
    assert moved.column_key == product.column_key


def test_steps_and_kinks():
    V = np.array([[0.0], [0.1], [0.2], [0.5]])
    assert Step(origin=0.1).columns(V).ravel().tolist() == [0.0, 0.0, 1.0, 1.0]
    assert Kink(origin=0.1).columns(V).ravel() == pytest.approx([0.0, 0.0, 0.1, 0.4])
    assert Line(origin=0.1).columns(V).ravel() == pytest.approx([-0.1, 0.0, 0.1, 0.4])


def test_extremely_short_lengths_of_seasons_weigh_harmonics_equally():
    spectrum = Harmonics(period=1.0, length_scale=1e-100, n_harmonics=4).log_spectrum()
    np.testing.assert_allclose(spectrum, np.log(0.25), atol=1e-6)
