"""Parts of density estimation: references, coordinates, quadrature, rounding, variances."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm, t

from relvec.dictionaries import DenseDictionary
from relvec.laplace import find_mode
from relvec.learning.density import fit_density
from relvec.learning.density.atoms import FREE, DensityAtoms
from relvec.learning.density.choose_margin import choose_margins
from relvec.learning.density.coordinates import Coordinates
from relvec.learning.density.grid import Axis, make_quadrature
from relvec.learning.density.margins import (
    ExponentialMargin,
    LogNormalMargin,
    NormalMargin,
    StudentMargin,
    TwoNormalsMargin,
    UniformMargin,
)
from relvec.learning.density.removed_widths import expect_variances
from relvec.learning.density.rounding import find_unit, spread_rounded, tabulate_rounded
from relvec.learning.density.sample import Sample
from relvec.learning.density.standard import STANDARD
from relvec.likelihoods import Poisson
from relvec.solvers.latent.problem import LatentProblem, LatentState

LINE = (-math.inf, math.inf)
MARGINS = [
    (NormalMargin(1.0, 2.0), (-math.inf, math.inf)),
    (StudentMargin(1.0, 0.5, 2.5), (-math.inf, math.inf)),
    (TwoNormalsMargin(-1.0, 0.3, 0.2, 5.0), (-math.inf, math.inf)),
    (UniformMargin(2.0, 3.0), (2.0, 5.0)),
    (ExponentialMargin(1.0, 2.0), (1.0, math.inf)),
    (ExponentialMargin(1.0, -2.0), (-math.inf, 1.0)),
    (LogNormalMargin(0.5, 0.7, 1.0, 1.0), (1.0, math.inf)),
    (LogNormalMargin(0.5, 0.7, 1.0, -1.0), (-math.inf, 1.0)),
]
NAMES = [f"{margin.name}-{margin.is_reversed}" for margin, _ in MARGINS]


def ones(x):
    return np.ones(len(x))


@pytest.mark.parametrize(("margin", "support"), MARGINS, ids=NAMES)
def test_a_margin_is_a_density_and_a_change_of_variable(margin, support):
    def density(x):
        return float(np.exp(margin.log_density(np.array([x])))[0])

    centre = float(margin.inverse(np.array([0.3]))[0])
    total = sum(quad(density, *ends)[0] for ends in ((support[0], centre), (centre, support[1])))
    assert total == pytest.approx(1.0, abs=1e-7)
    low = max(margin.standard.lower, -3.0) + 0.01
    score = np.linspace(low, min(margin.standard.upper, 3.0) - 0.01, 31)
    x = margin.inverse(score)
    assert margin.score(x) == pytest.approx(score, abs=1e-9)
    step = 1e-5
    slope = (margin.score(x + step) - margin.score(x - step)) / (2 * step)
    assert np.log(np.abs(slope)) == pytest.approx(margin.log_slope(x), abs=1e-5)
    assert margin.is_reversed == (slope[0] < 0)


def test_heavy_tailed_margins_are_the_densities_they_name():
    x = np.linspace(-9.0, 9.0, 13)
    student = StudentMargin(1.0, 2.0, 3.0)
    assert student.log_density(x) == pytest.approx(t(3.0, 1.0, 2.0).logpdf(x))
    mixed = TwoNormalsMargin(1.0, 0.5, 0.3, 4.0)
    expected = 0.7 * norm(1.0, 0.5).pdf(x) + 0.3 * norm(1.0, 2.0).pdf(x)
    assert mixed.log_density(x) == pytest.approx(np.log(expected))


def test_tangents_are_derivatives_of_the_log_density_in_the_parameters():
    x = np.linspace(-4.0, 6.0, 41)
    cases = [
        (NormalMargin, (1.0, 2.0)),
        (StudentMargin, (1.0, 2.0, 3.0)),
        (TwoNormalsMargin, (1.0, 0.5, 0.3, 4.0)),
    ]
    for kind, parameters in cases:
        margin = kind(*parameters)
        tangents = margin.tangents(margin.score(x))
        basis = np.column_stack([tangents, np.ones(len(x))])
        for place in range(len(parameters)):
            moved = [list(parameters), list(parameters)]
            moved[0][place] += 1e-5
            moved[1][place] -= 1e-5
            values = [kind(*each).log_density(x) for each in moved]
            derivative = (values[0] - values[1]) / 2e-5
            fitted = basis @ np.linalg.lstsq(basis, derivative, rcond=None)[0]
            assert fitted == pytest.approx(derivative, abs=1e-6 * np.abs(derivative).max())


@pytest.mark.parametrize("name", ["normal", "exponential", "uniform"])
def test_standard_densities_agree_with_themselves(name):
    standard = STANDARD[name]
    mass = np.array([0.01, 0.3, 0.9])
    score = standard.lower_quantile(mass)
    assert standard.lower_mass(score) == pytest.approx(mass)
    assert standard.upper_mass(score) == pytest.approx(1 - mass)
    assert standard.upper_quantile(1 - mass) == pytest.approx(score)
    axis = Axis(float(score[0]), float(score[2]), 16)
    rule = make_quadrature(axis, standard, 4)
    assert rule.masses.sum() == pytest.approx(1.0, abs=1e-12)
    assert rule.masses[0] == pytest.approx(0.01)
    assert rule.masses[-1] == pytest.approx(0.1)


def test_evidence_may_choose_heavy_tails_only_where_there_are_some():
    rng = np.random.default_rng(0)
    normal = rng.normal(size=500)
    assert [each.name for each in choose_margins(Sample(normal, ones(normal)), LINE)] == ["normal"]
    student = rng.standard_t(2, size=500)
    names = [each.name for each in choose_margins(Sample(student, ones(student)), LINE)]
    assert names == ["normal", "student_t"]
    wide = np.where(rng.random(500) < 0.1, 1.0, 0.1) * rng.normal(size=500)
    names = [each.name for each in choose_margins(Sample(wide, ones(wide)), LINE)]
    assert names == ["normal", "two_normals"]


def test_student_margin_is_the_maximum_of_the_likelihood():
    x = np.random.default_rng(1).standard_t(3, size=400)
    margin = choose_margins(Sample(x, ones(x)), LINE, "student_t")[0]
    df, location, scale = t.fit(x)
    best = t(df, location, scale).logpdf(x).sum()
    assert margin.log_density(x).sum() == pytest.approx(best, abs=0.05)


@pytest.mark.parametrize("kept", [0, 1])
def test_correlated_coordinates(kept):
    coordinates = Coordinates((NormalMargin(1.0, 2.0), NormalMargin(-1.0, 0.5)), 0.8, kept)
    X = np.random.default_rng(0).normal(size=(20, 2))
    U = coordinates.transform(X)
    assert coordinates.inverse(U) == pytest.approx(X)
    assert U[:, kept] == pytest.approx(coordinates.margins[kept].score(X[:, kept]))
    covariance = np.array([[4.0, 0.8], [0.8, 0.25]])
    squares = np.einsum("ni,ij,nj->n", X - [1, -1], np.linalg.inv(covariance), X - [1, -1])
    expected = -0.5 * squares - 0.5 * np.log(np.linalg.det(covariance))
    assert coordinates.log_slope(X) - 0.5 * (U**2).sum(axis=1) == pytest.approx(expected)


def test_sample_with_weights_is_the_sample_with_repetitions():
    rng = np.random.default_rng(2)
    x, weight = rng.normal(size=50), rng.integers(1, 4, size=50).astype(float)
    weighted, repeated = Sample(x, weight), np.repeat(x, weight.astype(int))
    plain = Sample(repeated, ones(repeated))
    assert weighted.total == plain.total
    assert weighted.std == pytest.approx(plain.std)
    assert weighted.bandwidth == pytest.approx(plain.bandwidth)
    levels = np.linspace(0.0, 1.0, 11)
    assert (weighted.quantile(levels) == plain.quantile(levels)).all()
    assert plain.std == pytest.approx(repeated.std(ddof=1))
    thin = Sample(rng.normal(size=5000), np.ones(5000)).thin(100)
    assert (len(thin.values), thin.total) == (100, pytest.approx(5000.0))
    # copies of few values are not thinned, just as their weights are not
    assert plain.thin(50) is plain
    assert len(plain.thin(49).values) == 49


@pytest.mark.parametrize(
    ("x", "unit"),
    [
        (np.array([1.0, 3.0, 3.0, 6.0, 1.0, 2.0]), 1.0),
        (np.round(np.random.default_rng(0).normal(size=300), 1), 0.1),
        (np.random.default_rng(0).normal(size=300), 0.0),
        (np.repeat(np.random.default_rng(0).normal(size=30), 3), 0.0),
        (np.array([0.0, 0.0, 1.0]), 1.0),
    ],
)
def test_unit_of_rounded_values(x, unit):
    assert find_unit(x, float(len(x))) == pytest.approx(unit, abs=1e-9)


def test_rounded_values_are_spread_inside_the_support():
    x = np.array([[0.0], [0.0], [1.0], [3.0], [1.0]])
    spread, weight = spread_rounded(x, np.ones(5), [(0.0, math.inf)])
    assert weight.sum() == pytest.approx(5.0)
    assert spread.min() >= 0.0
    assert spread.max() <= 3.5
    assert weight[spread[:, 0] < 0.5].sum() == pytest.approx(2.0)
    untouched = np.array([[0.1], [0.7], [2.0]])
    assert spread_rounded(untouched, np.ones(3), [(0.0, 9.0)])[0] is untouched


def test_weight_below_each_place_of_rounded_values():
    """Ends of intervals are exact; inside them a normal density is found, not a staircase."""
    unit = 0.1
    x = unit * np.arange(-40, 41)
    weight = 1e6 * np.diff(norm.cdf(np.append(x, x[-1] + unit) - 0.5 * unit))
    below = tabulate_rounded(x, weight, LINE)
    ends = x[1:] - 0.5 * unit
    assert below(ends) == pytest.approx(np.cumsum(weight)[:-1])
    place = np.linspace(-2.0, 2.0, 101)
    assert below.derivative()(place) == pytest.approx(1e6 * norm.pdf(place), rel=0.02)
    # gaps are empty, and nothing is beyond the end of the support
    below = tabulate_rounded(np.array([0.0, 0.0, 3.0, 1.0]), np.ones(4), (0.0, math.inf))
    assert below([0.0, 0.5, 1.5, 2.0, 2.5, 3.5]) == pytest.approx([0.0, 2.0, 3.0, 3.0, 3.0, 4.0])
    assert tabulate_rounded(np.array([0.1, 0.7, 2.0]), np.ones(3), LINE) is None


def test_two_values_of_large_weight_keep_their_weight():
    weight = np.full(2, 1e9)
    fitted = fit_density(np.array([[0.0], [1.0]]), weight, [LINE])
    assert fitted.total == pytest.approx(2e9)


def test_expected_variance_of_a_removed_width():
    """Against the evidence as a function of the variance, evaluated on a grid."""
    rng = np.random.default_rng(3)
    axis = Axis(0.0, 1.0, 64)
    atoms = DensityAtoms((axis,), (0.25, 0.0625), (UniformMargin(0.0, 1.0),))
    columns, groups = atoms.evaluate(axis.centres[:, None])[:, :-1], atoms.groups
    likelihood = Poisson().bind(rng.poisson(30.0, size=64))
    problem = LatentProblem(DenseDictionary(columns), likelihood)
    active = np.flatnonzero(groups != 1)
    known = np.where(groups[active] == FREE, -5.0, 1.0)
    mode = find_mode(columns[:, active], known, likelihood)
    state = LatentState(active, known, mode, mode.log_evidence)
    found = expect_variances(columns, groups, state)
    assert np.isnan(found[0])
    variances = np.linspace(1e-6, 8.0 * found[1], 60)
    evidences = []
    for variance in variances:
        log_precision = np.full(len(groups), -math.log(variance))
        log_precision[active] = known
        every = np.arange(len(groups))
        evidences.append(problem.evaluate(every, log_precision, columns).mode.log_evidence)
    weights = np.exp(np.array(evidences) - max(evidences))
    assert max(evidences[0], mode.log_evidence) >= max(evidences) - 0.1  # the best is about zero
    # the posterior has a longer tail than a normal density: the order of magnitude is right
    assert found[1] == pytest.approx(weights @ variances / weights.sum(), rel=0.6)


def test_evidence_does_not_depend_on_the_bins():
    x = np.random.default_rng(4).normal(size=(400, 1))
    fits = [fit_density(x, np.ones(400), [LINE], n_bins=n, widths=[0.25]) for n in (200, 400)]
    assert fits[0].log_evidence == pytest.approx(fits[1].log_evidence, abs=0.5)
    # that of a normal density with unknown mean and variance: maximum less log N of two parameters
    best = norm(x.mean(), x.std()).logpdf(x).sum()
    assert fits[0].log_evidence == pytest.approx(best - math.log(400), abs=3.0)


def test_evidence_follows_a_change_of_units():
    x = np.random.default_rng(5).gamma(3.0, size=(300, 1))
    fits = [fit_density(k * x, np.ones(300), [LINE]) for k in (1.0, 1000.0)]
    gap = fits[0].log_evidence - fits[1].log_evidence
    assert gap == pytest.approx(300 * math.log(1000.0), abs=0.05)
