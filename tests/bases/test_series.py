"""Bases of series: scaling, products, tied evidence, reach."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import null_space
from scipy.sparse import csr_matrix
from sklearn.base import clone

from relvec import SparseBayesRegressor
from relvec.bases import (
    KernelBasis,
    KinkBasis,
    LinearBasis,
    PeriodicBasis,
    ProductBasis,
    RampBasis,
    SlopeWalkBasis,
    SmoothBasis,
    StepBasis,
    UnionBasis,
    WalkBasis,
)
from relvec.bases.series.scaling import FeatureScale
from relvec.estimators._solvers import bind_groups
from relvec.evidence import NOISE_FLOOR
from relvec.moments import compute_moments
from relvec.solvers import Problem, TiedSolver

X = np.sort(np.random.default_rng(0).uniform(2000.0, 2010.0, size=(90, 1)), axis=0)
T = X[:, 0]
Y = np.sin(T) + 0.3 * np.cos(2 * np.pi * T) + 0.2 * np.random.default_rng(1).normal(size=90)

BASES = {
    "smooth": SmoothBasis(1.5),
    "walk": WalkBasis(),
    "slope walk": SlopeWalkBasis(),
    "periodic": PeriodicBasis(1.0, length_scale=0.8),
    "ramp": RampBasis(),
    "product": PeriodicBasis(1.0, length_scale=0.8) * SmoothBasis(4.0),
    "sum": SmoothBasis(1.5) + PeriodicBasis(1.0) + PeriodicBasis(1.0) * RampBasis() + LinearBasis(),
}


@pytest.mark.parametrize("noise_variance", [0.04, None])
@pytest.mark.parametrize("name", BASES)
def test_evidence_of_tied_precisions_is_that_of_the_process(name, noise_variance):
    """The solver's objective against the dense covariance of the targets, intercept flat.

    The solver adds a small share of the sum of squares to the residual (`NOISE_FLOOR`).
    """
    bound = BASES[name].bind(X)
    [moments] = compute_moments(bound.dictionary, Y[:, None], None, centre=True)
    solver = bind_groups(TiedSolver(), bound)
    solution = solver.solve(Problem(moments, noise_variance=noise_variance))
    columns = bound.dictionary.columns(solution.active)
    norm = np.linalg.norm(columns - columns.mean(axis=0), axis=0)
    variance = solution.noise_variance * np.exp(-solution.log_lam) / norm**2
    if bound.has_spectrum is not None and not bound.parts:  # one variance for all columns
        own = variance if bound.is_flat is None else variance[~bound.is_flat[solution.active]]
        assert own == pytest.approx(own[:1].repeat(len(own)), rel=1e-9)
    contrasts = null_space(np.ones((1, len(Y))))
    covariance = (columns * variance) @ columns.T + solution.noise_variance * np.eye(len(Y))
    covariance, target = contrasts.T @ covariance @ contrasts, contrasts.T @ Y
    log_det = np.linalg.slogdet(2.0 * np.pi * covariance)[1]
    expected = -0.5 * (log_det + target @ np.linalg.solve(covariance, target))
    expected -= 0.5 * NOISE_FLOOR * moments.target_ss / solution.noise_variance
    assert solution.objective == pytest.approx(expected, rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("name", ["smooth", "periodic", "product"])
def test_covariance_of_the_atoms_in_units_of_the_inputs(name):
    """Columns times their transpose: the covariance function, between rows and new inputs."""
    Z = np.linspace(1998.0, 2012.0, 40)[:, None]
    atoms = BASES[name].bind(X).atoms
    difference = T[:, None] - Z[:, 0]
    smooth = {"smooth": 1.5, "product": 4.0}
    expected = np.ones(difference.shape)
    if name in smooth:
        expected *= np.exp(-0.5 * (difference / smooth[name]) ** 2)
    if name != "smooth":
        order = np.arange(1, 4 if name == "product" else 7)[: atoms.product.factors[0].n_harmonics]
        factor = atoms.product.factors[0]
        weight = np.exp(factor.log_spectrum())[: factor.n_harmonics]
        order = np.arange(1, factor.n_harmonics + 1)
        expected *= np.cos(2 * np.pi * difference[:, :, None] * order) @ weight
    found = atoms.evaluate(X) @ atoms.evaluate(Z).T
    assert found == pytest.approx(expected, abs=5e-3)


def test_increments_of_a_walk():
    """The variance of an increment is the distance, before and after the first input as well."""
    atoms = WalkBasis(n_terms=1000).bind(X).atoms
    Z = np.array([[1996.0], [1999.0], [2004.0], [2005.0], [2014.0]])
    columns, half_range = atoms.evaluate(Z), np.ptp(T) / 2
    for i in range(len(Z)):
        increments = np.sum((columns - columns[i]) ** 2, axis=1) * half_range
        assert increments == pytest.approx(np.abs(Z[:, 0] - Z[i, 0]), abs=0.02)


@pytest.mark.parametrize("basis", [SmoothBasis(1.5), WalkBasis(), SlopeWalkBasis()], ids=repr)
def test_columns_are_constant_beyond_the_reach(basis):
    atoms = basis.bind(X).atoms
    wander = atoms.parts[0] if isinstance(basis, SlopeWalkBasis) else atoms
    low, high = T.min() - 10.0, T.max() + 10.0
    end = wander.evaluate(np.array([[low - 1.0], [high + 1.0]]))
    far = wander.evaluate(np.array([[-1e9], [1e9]]))
    np.testing.assert_allclose(far, end, atol=1e-9)
    if not isinstance(basis, SmoothBasis):
        longer = clone(basis).set_params(extension=3.0).bind(X).atoms
        own = longer.parts[0] if isinstance(basis, SlopeWalkBasis) else longer
        near, away = own.evaluate(np.array([[high], [high + 10.0]]))
        assert np.sum((near - away) ** 2) > 1.0


def test_products():
    season, ramp, walk = PeriodicBasis(1.0), RampBasis(), WalkBasis()
    product = season * ramp
    assert isinstance(product, ProductBasis)
    assert product.part_name == "PeriodicBasis * RampBasis"
    assert len((product * walk).factors) == len((season * (ramp * walk)).factors) == 3
    several = season * (ramp + walk)
    assert isinstance(several, UnionBasis)
    assert len(several.bases) == 2
    columns = product.bind(X).atoms.evaluate(X)
    expected = season.bind(X).atoms.evaluate(X) * ramp.bind(X).atoms.evaluate(X)
    assert columns == pytest.approx(expected)
    bound = (season * walk + season * ramp + walk).bind(X)
    assert [part.name for part in bound.parts] == [
        "PeriodicBasis * WalkBasis",
        "PeriodicBasis * RampBasis",
        "WalkBasis",
    ]


def test_parameters_of_nested_products():
    basis = LinearBasis() + PeriodicBasis(1.0) * SmoothBasis()
    params = basis.get_params()
    assert params["basis1__factor0__period"] == 1.0
    copy = clone(basis).set_params(basis1__factor1__length_scale=3.0)
    assert copy.bases[1].factors[1].length_scale == 3.0
    assert basis.bases[1].factors[1].length_scale is None
    copy.bases[1].set_params(factor1=WalkBasis())
    assert isinstance(copy.bases[1].factors[1], WalkBasis)


def test_shapes_in_units_of_the_inputs():
    Z = np.array([[2000.0], [2004.0], [2008.0]])
    Z_range = 4.0  # half the range of Z
    assert StepBasis(2004.0).bind(Z).atoms.evaluate(Z).ravel().tolist() == [0.0, 0.0, 1.0]
    kink = KinkBasis(2002.0).bind(Z).atoms.evaluate(Z).ravel()
    assert kink * Z_range == pytest.approx([0.0, 2.0, 6.0])
    for origin, zero in (("start", 2000.0), ("centre", 2004.0), ("end", 2008.0), (2001.0, 2001.0)):
        ramp = RampBasis(origin).bind(Z).atoms
        assert ramp.evaluate(Z).ravel() * Z_range == pytest.approx(Z[:, 0] - zero)
        assert ramp.names(["year"]) == [f"ramp(year, {zero:.6g})"]


def test_names():
    names = (PeriodicBasis(1.0) * WalkBasis()).bind(X).atoms.names(["year"])
    assert names[0] == "cos 1 (year, period 1) x walk 1 (year)"
    assert SmoothBasis(1.5).bind(X).atoms.names(["year"])[2] == "smooth 3 (year, length-scale 1.5)"
    assert SlopeWalkBasis().bind(X).atoms.names(["year"])[-1].startswith("ramp(year, ")


def test_used_features():
    basis = SmoothBasis(feature=0) * SmoothBasis(feature=2) + StepBasis(0.0, feature=1)
    used = basis.bind(np.random.default_rng(0).normal(size=(20, 4))).atoms.find_used_features(4)
    assert used[0].tolist() == [True, False, True, False]
    assert used[-1].tolist() == [False, True, False, False]


def test_which_bases_have_a_prior_spectrum():
    for basis in (SmoothBasis(), WalkBasis(), PeriodicBasis(1.0), PeriodicBasis(1.0) * RampBasis()):
        assert basis.has_prior_spectrum
        assert (LinearBasis() + basis).has_prior_spectrum
    for basis in (RampBasis(), StepBasis(0.0) * RampBasis(), KernelBasis(), LinearBasis()):
        assert not basis.has_prior_spectrum


def test_harmonics_are_those_that_the_inputs_resolve():
    months = np.arange(60.0)[:, None]
    assert len(PeriodicBasis(12.0).bind(months).atoms) == 10
    assert len(PeriodicBasis(60.0).bind(months).atoms) == 12
    assert len(PeriodicBasis(2.5).bind(months).atoms) == 2
    assert len(PeriodicBasis(60.0, n_harmonics=8).bind(months).atoms) == 16


def test_constant_feature():
    constant = np.full((5, 1), 3.0)
    for basis in (SmoothBasis(), WalkBasis(), SlopeWalkBasis(), PeriodicBasis(2.0), RampBasis()):
        assert np.isfinite(basis.bind(constant).atoms.evaluate(np.array([[3.0], [4.0]]))).all()


@pytest.mark.parametrize(
    ("basis", "error", "match"),
    [
        (SmoothBasis(-1.0), ValueError, "length_scale must be a positive number or None"),
        (SmoothBasis(n_terms=0), ValueError, "n_terms must be an integer of at least 1"),
        (SmoothBasis(feature=1), ValueError, "uses feature 1, but X has 1 feature"),
        (SmoothBasis(feature="year"), TypeError, "feature must be an integer"),
        (WalkBasis(extension=-1.0), ValueError, "extension must be a non-negative number"),
        (PeriodicBasis(0.0), ValueError, "period must be a positive number"),
        (PeriodicBasis(1.0, n_harmonics=1.5), TypeError, "n_harmonics must be an integer"),
        (RampBasis("middle"), ValueError, "origin must be one of"),
        (StepBasis(np.inf), ValueError, "location must be finite"),
        (StepBasis("1974"), TypeError, "location must be a number"),
        (ProductBasis([]), ValueError, "needs at least one factor"),
        (ProductBasis([KernelBasis()]), TypeError, "ProductBasis multiplies SmoothBasis"),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_errors(basis, error, match):
    with pytest.raises(error, match=match):
        basis.bind(X)


def test_sparse_inputs():
    basis = SmoothBasis() + LinearBasis()
    with pytest.raises(TypeError, match="needs dense inputs; got a sparse matrix"):
        SparseBayesRegressor(basis).fit(csr_matrix(X), Y)


def test_only_bases_of_series_are_multiplied():
    with pytest.raises(TypeError, match="can be multiplied; got KernelBasis"):
        PeriodicBasis(1.0) * KernelBasis()
    with pytest.raises(TypeError, match="unsupported operand"):
        PeriodicBasis(1.0) * 2.0
    with pytest.raises(ValueError, match="needs numeric features"):
        SmoothBasis().bind(np.array([["a"], ["b"]], dtype=object))


@pytest.mark.parametrize(
    "basis",
    [
        SmoothBasis(1e-100),
        SmoothBasis(1e-320),
        SmoothBasis(extension=1e100),
        WalkBasis(extension=1e100),
        SmoothBasis() * SmoothBasis() * SmoothBasis() * SmoothBasis(),
    ],
)
def test_too_many_columns(basis):
    with pytest.raises(ValueError, match="columns; at most 4000 are possible. Give a longer"):
        basis.bind(X)


def test_periods_that_rows_cannot_resolve():
    hours = np.arange(48.0)[:, np.newaxis]
    for period in (1.0, 2.0):
        with pytest.raises(ValueError, match=r"longer than two steps between rows, 2; got"):
            PeriodicBasis(period).bind(hours)
    # one value has no steps, and with n_harmonics the period is used as it is
    assert len(PeriodicBasis(1.0).bind(np.ones((3, 1))).atoms) > 0
    assert len(PeriodicBasis(1.0, n_harmonics=2).bind(hours).atoms) == 4


@pytest.mark.parametrize("kind", [WalkBasis, SlopeWalkBasis])
def test_a_longer_interval_has_the_same_resolution(kind):
    times = np.arange(300.0)[:, np.newaxis]
    short, long = (kind(extension=each).bind(times).atoms for each in (0.5, 3.5))
    assert len(long) - 1 == pytest.approx(4 * (len(short) - 1), rel=0.02)
    short, long = (
        (PeriodicBasis(12.0) * kind(extension=each)).expand({0: FeatureScale.measure(times[:, 0])})
        for each in (0.5, 3.5)
    )
    assert long.n_columns == pytest.approx(4 * short.n_columns, rel=0.05)
