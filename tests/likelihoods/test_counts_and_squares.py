"""Negative binomial counts and squares: derivatives, limits, huge values, errors."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import nbinom, norm

from relvec.laplace import find_mode
from relvec.likelihoods import LogVariance, NegativeBinomial, Poisson
from relvec.testing import check_likelihood


@pytest.mark.slow
@pytest.mark.parametrize(
    "likelihood", [NegativeBinomial(), NegativeBinomial(0.3), NegativeBinomial(50.0), LogVariance()]
)
def test_conformance(likelihood):
    check_likelihood(likelihood)


def fourth_order(function, f, step=1e-3):
    """Central differences with an error of step^4."""
    near = function(f + step) - function(f - step)
    far = function(f + 2.0 * step) - function(f - 2.0 * step)
    return (8.0 * near - far) / (12.0 * step)


@pytest.mark.parametrize("likelihood", [NegativeBinomial(0.7), NegativeBinomial(9.0), Poisson()])
def test_derivatives_of_counts_to_1e_8(likelihood):
    f = np.linspace(-4.0, 4.0, 30)
    bound = likelihood.bind(np.arange(30) % 7)
    scale = 1.0 + np.exp(f)
    for function, derivative, sign in (
        (bound.log_density, bound.slope, 1.0),
        (bound.slope, bound.curvature, -1.0),
        (bound.curvature, bound.curvature_slope, 1.0),
    ):
        gap = np.abs(derivative(f) - sign * fourth_order(function, f)) / scale
        assert gap.max() < 1e-8


def test_derivatives_of_squares_to_1e_8():
    f = np.linspace(-3.0, 3.0, 30)
    bound = LogVariance().bind(np.linspace(0.1, 5.0, 30))
    gap = np.abs(bound.slope(f) - fourth_order(bound.log_density, f))
    assert (gap / (1.0 + bound.target * np.exp(-f))).max() < 1e-8
    # The curvature is the expectation of the observed one over squares of variance exp(f).
    squares = np.exp(f) * np.random.default_rng(0).normal(size=(100_000, 30)) ** 2
    observed = 0.5 * squares * np.exp(-f)
    assert observed.mean(axis=0) == pytest.approx(bound.curvature(f), abs=0.01)


def test_log_probability_against_scipy():
    f, shape = np.log([0.1, 1.0, 30.0]), 2.5
    counts = np.array([0.0, 3.0, 250.0])
    expected = nbinom.logpmf(counts, shape, shape / (shape + np.exp(f)))
    assert NegativeBinomial(shape).bind(counts).log_density(f) == pytest.approx(expected, abs=1e-10)


def test_large_shapes_approach_poisson():
    counts, f = np.arange(8), np.linspace(-1.0, 2.0, 8)
    limit = Poisson().bind(counts).log_density(f)
    assert NegativeBinomial(1e6).bind(counts).log_density(f) == pytest.approx(limit, abs=1e-4)


@pytest.mark.parametrize("mean", [1e7, 1e9, 1e13, 1e100])
@pytest.mark.parametrize("shape", [0.5, 20.0])
def test_huge_counts_are_gamma_distributed(mean, shape):
    """Far beyond the shape the Poisson part is negligible: mean times a Gamma variable."""
    inner = NegativeBinomial(shape).distribution(np.log([[mean]]))
    for level in (0.05, 0.5, 0.95):
        count = inner.ppf(level)
        assert inner.cdf(count) == pytest.approx(level, abs=1e-5)
        share = float(count[0, 0]) / mean
        expected = math.lgamma(shape)
        density = (shape - 1.0) * math.log(share) - shape * share + shape * math.log(shape)
        assert inner.logpmf(count)[0, 0] == pytest.approx(
            density - expected - math.log(mean), abs=1e-3
        )
    rng = np.random.RandomState(0)
    draws = NegativeBinomial(shape).distribution(np.full(4000, math.log(mean))).rvs(4000, rng)
    assert draws.mean() == pytest.approx(mean, rel=5.0 / math.sqrt(4000 * shape))


def test_predictive_probabilities_add_up_to_one():
    prediction = NegativeBinomial(1.5).predict(np.zeros(400), np.full(400, 0.3))
    assert logsumexp(prediction.log_density(np.arange(400))) == pytest.approx(0.0, abs=1e-6)


def test_exposures_are_offsets():
    hours = np.array([1.0, 2.0, 4.0, 8.0])
    counts = np.array([2, 3, 9, 20])
    bound = NegativeBinomial(1e6).bind(counts, offset=np.log(hours))
    assert bound.null_latent() == pytest.approx(math.log(34 / 15), abs=1e-4)


def test_squares_have_the_density_of_their_roots():
    f = np.array([-1.0, 0.5])
    bound = LogVariance().bind([0.3, 2.0])
    expected = norm.logpdf(np.sqrt(bound.target), scale=np.exp(0.5 * f))
    assert bound.log_density(f) == pytest.approx(expected, abs=1e-12)


def test_null_model_of_squares_is_their_mean():
    squares, offset = np.array([1.0, 2.0, 6.0]), np.log([1.0, 2.0, 3.0])
    assert LogVariance().bind(squares).null_latent() == pytest.approx(math.log(3.0))
    bound = LogVariance().bind(squares, sample_weight=[2.0, 1.0, 1.0], offset=offset)
    assert bound.null_latent() == pytest.approx(math.log((2.0 + 1.0 + 2.0) / 4.0))
    assert np.isfinite(LogVariance().bind(np.zeros(4)).null_latent())


@pytest.mark.parametrize(
    ("likelihood", "target", "match"),
    [
        (NegativeBinomial(), [0, -1], "non-negative integers"),
        (NegativeBinomial(), [0.5, 1], "non-negative integers"),
        (NegativeBinomial(0.0), [0, 1], "shape"),
        (NegativeBinomial(1e9), [0, 1], "use Poisson"),
        (NegativeBinomial("two"), [0, 1], "shape"),
        (LogVariance(), [1.0, -0.1], "must not be negative"),
    ],
)
def test_errors(likelihood, target, match):
    with pytest.raises((ValueError, TypeError), match=match):
        likelihood.bind(target)


def integrate(bound, column, log_alpha, mode, n_points=241):
    """Evidence of one atom and an intercept, by sums over a fine grid."""
    deviation = np.sqrt(mode.hessian.covariance.diagonal())
    grids = [
        np.linspace(m - 10 * s, m + 10 * s, n_points)
        for m, s in zip(mode.weights, deviation, strict=True)
    ]
    w, b = (each.ravel() for each in np.meshgrid(*grids, indexing="ij"))
    total = norm.logpdf(w, scale=math.exp(-0.5 * log_alpha))
    for x, t in zip(column, bound.target, strict=True):
        total = total + type(bound)(bound.recipe, np.full(len(w), t)).log_density(x * w + b)
    return logsumexp(total) + sum(math.log(grid[1] - grid[0]) for grid in grids)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("likelihood", "errors"),
    [
        # Largest errors in nats at 5 and at 50 rows.
        (Poisson(), (0.03, 0.002)),
        (NegativeBinomial(2.0), (0.08, 0.008)),
        (LogVariance(), (0.6, 0.25)),
    ],
)
def test_laplace_evidence_against_integration(likelihood, errors):
    """The error falls with the number of rows.

    That of squares is larger: their curvature is the expected one, not that of the sample.
    """
    for n, largest in zip((5, 50), errors, strict=True):
        for seed in range(4):
            rng = np.random.default_rng(seed)
            column = rng.normal(size=n)
            f = 0.6 * column + 1.0
            target = likelihood.predict(f, np.zeros(n)).sample(1, random_state=seed)[:, 0]
            bound = likelihood.bind(target)
            for log_alpha in (-1.0, 1.0):
                mode = find_mode(column[:, None], np.array([log_alpha]), bound)
                exact = integrate(bound, column, log_alpha, mode)
                assert mode.log_evidence == pytest.approx(exact, abs=largest)
