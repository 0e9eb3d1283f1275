"""Bases for inputs on a regular grid."""

import math

import numpy as np
import pytest

from relvec import SparseBayesRegressor
from relvec.bases import CosineBasis, KernelBasis, WaveletBasis
from relvec.bases.grid import find_regular_grid
from relvec.dictionaries import WaveletDictionary
from relvec.solvers.gaussian.shrinkage import shrink
from relvec.testing import check_basis

pytest.importorskip("pywt")


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def line(rng, n=13):
    return rng.permutation(n)[:, None] * 0.1 + 3.0


def image_grid(rng, shape=(4, 7)):
    axes = [np.arange(shape[0]) * 2.0, -1.0 + np.arange(shape[1]) * 0.3]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
    return grid[rng.permutation(len(grid))]


@pytest.mark.parametrize("grid", [line, image_grid, lambda rng: np.linspace(0, 1, 32)[:, None]])
@pytest.mark.parametrize(
    "basis",
    [
        CosineBasis(),
        WaveletBasis(),
        WaveletBasis("haar", 2),
        WaveletBasis("db3") + CosineBasis(),
        WaveletBasis("db3") + KernelBasis(gamma=1.0),
    ],
    ids=str,
)
def test_conformance(rng, basis, grid):
    check_basis(basis, grid(rng))


def test_rows_may_come_in_any_order(rng):
    X = image_grid(rng)
    grid, order = find_regular_grid(X, "Basis")
    assert grid.shape == (4, 7)
    np.testing.assert_allclose(grid.points(order), X, atol=1e-12)
    y = rng.normal(size=len(X))
    shuffled = rng.permutation(len(X))
    kwargs = {"prior": "bic", "noise_variance": 0.3, "fit_intercept": False}
    first = SparseBayesRegressor(WaveletBasis("db2"), **kwargs).fit(X, y)
    second = SparseBayesRegressor(WaveletBasis("db2"), **kwargs).fit(X[shuffled], y[shuffled])
    np.testing.assert_allclose(first.predict(X), second.predict(X), atol=1e-10)
    assert first.atom_names() == second.atom_names()


def test_rounded_time_stamps_are_a_grid(rng):
    stamps = 1.7e9 + np.round(np.arange(50) * 0.01, 3) + rng.uniform(-4e-6, 4e-6, 50)
    grid, order = find_regular_grid(stamps[:, None], "Basis")
    assert grid.shape == (50,)
    np.testing.assert_array_equal(order, np.arange(50))


@pytest.mark.parametrize("basis", [CosineBasis(), WaveletBasis()], ids=str)
def test_other_inputs_are_refused(rng, basis):
    name = type(basis).__name__
    with pytest.raises(ValueError, match=rf"{name} needs evenly spaced .* apart. .*denoise"):
        basis.bind(rng.uniform(size=(20, 1)))
    with pytest.raises(ValueError, match="X has 6 rows at 5 of the 5 points"):
        basis.bind(np.array([0.0, 1, 2, 3, 4, 4])[:, None])
    with pytest.raises(ValueError, match="27 rows at 27 of the 28 points of a grid of 4 x 7"):
        basis.bind(image_grid(rng)[:-1])
    bound = basis.bind(line(rng))
    with pytest.raises(ValueError, match="X has 2 features, but 1 were seen"):
        bound.atoms.evaluate(np.zeros((3, 2)))


def test_one_row_and_constant_columns(rng):
    assert CosineBasis().bind(np.array([[4.0]])).dictionary.shape == (1, 1)
    X = np.column_stack([np.full(8, 5.0), np.arange(8.0)])
    bound = WaveletBasis("haar").bind(X)
    np.testing.assert_allclose(bound.atoms.evaluate(X), bound.dictionary.columns(np.arange(8)))
    assert not bound.atoms.evaluate(X + np.array([1.0, 0.0])).any()


def test_cosines_between_and_beyond_grid_points():
    X = np.arange(8.0)[:, None] / 4.0
    atoms = CosineBasis().bind(X).atoms
    new = np.array([[0.1], [1.9], [5.0]])
    phase = np.pi * np.arange(8) * (new * 4.0 + 0.5) / 8
    expected = np.sqrt(np.where(np.arange(8), 2, 1) / 8) * np.cos(phase)
    np.testing.assert_allclose(atoms.evaluate(new), expected, atol=1e-12)


def test_wavelets_are_interpolated_and_end_with_the_grid(rng):
    X = np.arange(16.0)[:, None]
    bound = WaveletBasis("db2").bind(X)
    matrix = bound.dictionary.columns(np.arange(16))
    np.testing.assert_allclose(
        bound.atoms.evaluate(np.array([[2.25]]))[0], 0.75 * matrix[2] + 0.25 * matrix[3]
    )
    assert not bound.atoms.evaluate(np.array([[-0.1], [15.1], [99.0]])).any()
    X = image_grid(rng, (4, 4))
    bound = WaveletBasis("haar").bind(X)
    between = bound.atoms.evaluate(np.array([[1.0, -0.85]]))[0]  # the middle of the first cell
    corners = bound.atoms.evaluate(np.array([[0.0, -1.0], [0.0, -0.7], [2.0, -1.0], [2.0, -0.7]]))
    np.testing.assert_allclose(between, corners.mean(axis=0), atol=1e-12)


def test_names():
    atoms = WaveletBasis("haar", 2).bind(np.arange(8.0)[:, None] / 2).atoms
    assert atoms.names(["t"])[:3] == [
        "haar approximation at t=0",
        "haar approximation at t=2",
        "haar level 2 at t=0",
    ]
    assert CosineBasis().bind(np.arange(8.0)[:, None] / 2).atoms.names(["t"])[:3] == [
        "constant",
        "cosine 1 (period 8)",
        "cosine 2 (period 4)",
    ]
    grid = np.stack(np.meshgrid(range(4), range(4), indexing="ij"), axis=-1).reshape(-1, 2)
    assert WaveletBasis("haar", 1).bind(grid).atoms.names("ab")[4] == "haar level 1 ad at a=0, b=0"
    assert CosineBasis().bind(grid).atoms.names("ab")[1] == "cosine 0, 1 (periods inf, 8)"


@pytest.mark.parametrize("prior", ["aic", "bic", "ric"])
@pytest.mark.parametrize("solver", ["auto", "orthonormal"])
def test_estimator_keeps_what_the_textbook_keeps(rng, prior, solver):
    n, noise = 100, 0.5
    X = np.arange(n, dtype=float)[:, None]
    y = 4.0 * (X[:, 0] > 40) + math.sqrt(noise) * rng.normal(size=n)
    model = SparseBayesRegressor(
        WaveletBasis("db2"), prior=prior, solver=solver, noise_variance=noise, fit_intercept=False
    ).fit(X, y)
    c = {"aic": 1.0, "bic": math.log(n) / 2, "ric": math.log(n)}[prior]
    dictionary = WaveletDictionary(n, "db2")
    z = dictionary.analyse(y)
    np.testing.assert_array_equal(model.relevance_, np.flatnonzero(z**2 > (1 + 2 * c) * noise))
    mean, n_kept = shrink(z, noise, c)
    assert n_kept == len(model.coef_)
    np.testing.assert_allclose(model.coef_, mean[model.relevance_], atol=1e-10)
    np.testing.assert_allclose(model.predict(X), dictionary.synthesise(mean), atol=1e-10)


def test_flat_prior_charges_for_atoms(rng):
    X = np.arange(256.0)[:, None]
    y = 5.0 * np.cos(np.pi * 7 * (X[:, 0] + 0.5) / 256) + rng.normal(size=256)
    model = SparseBayesRegressor(CosineBasis()).fit(X, y)
    assert model.atom_names() == ["cosine 7 (period 73.1)"]
    assert model.noise_variance_ == pytest.approx(1.0, rel=0.2)


def test_solver_says_what_it_needs(rng):
    X, y = np.arange(64.0)[:, None], rng.normal(size=64)
    model = SparseBayesRegressor(WaveletBasis(), prior="bic", solver="orthonormal")
    with pytest.raises(ValueError, match="fit_intercept=False"):
        model.fit(X, y)
    model.set_params(fit_intercept=False)
    with pytest.raises(ValueError, match="no sample weights"):
        model.fit(X, y, sample_weight=np.linspace(1, 2, 64))
    assert model.fit(X, y).converged_


def test_large_signals_are_quick(rng):
    n = 1 << 15
    X = np.arange(n, dtype=float)[:, None]
    y = np.sin(X[:, 0] / 500.0) + 0.3 * rng.normal(size=n)
    model = SparseBayesRegressor(WaveletBasis(), prior="ric", fit_intercept=False).fit(X, y)
    assert model.noise_variance_ == pytest.approx(0.09, rel=0.03)
    assert model.n_columns_fetched_ == 0
