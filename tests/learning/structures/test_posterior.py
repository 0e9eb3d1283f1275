import numpy as np
import pytest

from relvec.kernels.expansions import Harmonics, Line, SlopeWalk, Smooth, Walk
from relvec.learning.structures.columns import ColumnStore
from relvec.learning.structures.posterior import ColumnPosterior, KernelPosterior
from relvec.learning.structures.structure import Component, Structure


def make_data(n=60, seed=0):
    rng = np.random.default_rng(seed)
    u = np.sort(rng.uniform(-1, 1, n))
    return u[:, np.newaxis], np.sin(5 * u) + 0.3 * rng.normal(size=n)


STRUCTURE = Structure(
    (
        Component.of(Smooth(length_scale=0.4), log_variance=-0.5),
        Component.of(Harmonics(period=0.5), Line(origin=-1.0), log_variance=-2.0),
        Component.of(SlopeWalk(), log_variance=0.5),
    ),
    log_noise=-2.0,
)


def brute_force(structure, U, y, V, weight):
    noise = np.exp(structure.log_noise) / weight
    C = structure.covariance(U, U) + np.diag(noise)
    cross = structure.covariance(V, U)
    mean = cross @ np.linalg.solve(C, y)
    cov = structure.covariance(V, V) - cross @ np.linalg.solve(C, cross.T)
    evidence = -0.5 * (y @ np.linalg.solve(C, y) + np.linalg.slogdet(2 * np.pi * C)[1])
    return mean, np.diag(cov), evidence


@pytest.mark.parametrize("is_weighted", [False, True])
def test_process_against_brute_force(is_weighted):
    U, y = make_data()
    V = np.linspace(-1, 3, 15)[:, np.newaxis]
    weight = np.random.default_rng(1).integers(1, 4, size=60) * 1.0 if is_weighted else np.ones(60)
    posterior = KernelPosterior(STRUCTURE, U, y, weight if is_weighted else None)
    mean, variance, evidence = brute_force(STRUCTURE, U, y, V, weight)
    found = posterior.predict(V)
    np.testing.assert_allclose(found.mean, mean, atol=1e-8)
    np.testing.assert_allclose(found.variance, variance, atol=1e-8)
    if not is_weighted:
        assert np.isclose(posterior.log_evidence, evidence, atol=1e-8)


def test_columns_agree_with_the_process_within_their_reach():
    U, y = make_data()
    V = np.linspace(-1, 1.1, 15)[:, np.newaxis]
    exact = KernelPosterior(STRUCTURE, U, y).predict(V)
    columns = ColumnPosterior(STRUCTURE, ColumnStore(U, y)).predict(V)
    np.testing.assert_allclose(columns.mean, exact.mean, atol=0.02)
    np.testing.assert_allclose(columns.variance, exact.variance, rtol=0.05)


@pytest.mark.parametrize("kind", [KernelPosterior, ColumnPosterior])
def test_components_and_intercept_add_up(kind):
    U, y = make_data()
    posterior = (
        KernelPosterior(STRUCTURE, U, y)
        if kind is KernelPosterior
        else ColumnPosterior(STRUCTURE, ColumnStore(U, y))
    )
    rest = posterior.predict(U).mean - sum(part.mean for part in posterior.predict_components(U))
    # what is left is the diffuse line: constant and slope
    assert np.abs(np.diff(rest, 2) - 0.0).max() < 1.0
    line = np.polyfit(U[:, 0], rest, 1)
    np.testing.assert_allclose(np.polyval(line, U[:, 0]), rest, atol=1e-6)


def test_columns_of_small_gamma_keep_their_prior_variance():
    rng = np.random.default_rng(0)
    U = np.linspace(-1, 1, 120)[:, np.newaxis]
    y = np.cumsum(rng.normal(size=120)) / 10 + 0.3 * rng.normal(size=120)
    structure = Structure((Component.of(Walk(), log_variance=-0.3),), log_noise=np.log(0.09))
    store = ColumnStore(U, y)
    full = ColumnPosterior(structure, store)
    sparse = ColumnPosterior(structure, store, min_gamma=0.2)
    V = np.linspace(-1, 1.25, 40)[:, np.newaxis]
    assert sparse.n_used < 0.6 * full.n_used
    before, after = full.predict(V), sparse.predict(V)
    assert np.sqrt(np.mean((before.mean - after.mean) ** 2)) < 0.1 * y.std()
    # the bands do not shrink: variance of the columns left out is added
    assert (after.variance > 0.95 * before.variance).all()
    assert after.variance.mean() < 1.5 * before.variance.mean()


def test_gamma_is_between_zero_and_one():
    U, y = make_data()
    gamma = ColumnPosterior(STRUCTURE, ColumnStore(U, y)).well_determined
    assert (gamma > -1e-9).all()
    assert (gamma < 1.0 + 1e-9).all()
