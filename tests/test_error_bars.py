"""Error bars away from the data against conditioning done in full."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, Matern

from relvec._typing import Matrix, Vector
from relvec.bases.kernel import KernelAtoms
from relvec.error_bars import (
    Augmentation,
    Novelty,
    PivotTuning,
    choose_pivots,
    fit_novelty,
    kernel_diagonal,
)
from relvec.kernels import KernelLike, kernel_block
from relvec.posterior import Posterior, TrainingBlock, condition
from tests.helpers_dense import DenseMoments


def laplace(X: Matrix, Z: Matrix) -> Matrix:
    """A covariance given as a plain function, its variance not one."""
    return 2.5 * np.exp(-np.abs(X[:, None, :] - Z[None, :, :]).sum(axis=-1))


def indefinite(X: Matrix, Z: Matrix) -> Matrix:
    """Correlations above one: positive on the diagonal, no covariance."""
    return 1.0 + np.abs(X[:, None, 0] - Z[None, :, 0])


KERNELS: list[KernelLike] = [
    RBF(1.5),
    ConstantKernel(7.0) * Matern(2.0, nu=1.5),
    ConstantKernel(0.3) + RBF(1.0),
    DotProduct(1.0),
    laplace,
]


def inputs(n: int, d: int = 1, seed: int = 0, width: float = 5.0) -> Matrix:
    return np.random.default_rng(seed).uniform(-width, width, (n, d))


def conditional(kernel: KernelLike, X: Matrix, known: Matrix) -> Matrix:
    """Covariance of a process at `X` given its values at `known`."""
    cross = kernel_block(kernel, X, known)
    middle = kernel_block(kernel, known, known)
    return kernel_block(kernel, X, X) - cross @ np.linalg.solve(middle, cross.T)


# ------------------------------------------------------------------ pivots


@pytest.mark.parametrize("kernel", KERNELS)
def test_kernel_diagonal(kernel: KernelLike) -> None:
    X = inputs(150, 2)
    expected = np.array([kernel_block(kernel, x[None], x[None])[0, 0] for x in X])
    np.testing.assert_allclose(kernel_diagonal(kernel, X), expected, rtol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS)
def test_pivots_cover_the_inputs(kernel: KernelLike) -> None:
    X = inputs(50)
    pivots = choose_pivots(kernel, X)
    assert pivots is not None
    rows = pivots.rows
    assert len(np.unique(rows)) == len(rows) < PivotTuning.max_pivots
    diagonal = kernel_diagonal(kernel, X)
    share = conditional(kernel, X, X[rows]).diagonal() / diagonal
    assert share.max() < PivotTuning.tolerance + 1e-6
    assert pivots.unexplained == pytest.approx(share.max(), abs=1e-6)
    # and none of them is idle: without its last pivot something is uncovered
    assert (
        conditional(kernel, X, X[rows[:-1]]).diagonal() / diagonal
    ).max() >= PivotTuning.tolerance


@pytest.mark.parametrize("dimension", [1, 3, 20, 60])
def test_pivots_are_bounded_in_number_and_size(dimension: int) -> None:
    pivots = choose_pivots(RBF(0.01), inputs(200, dimension, width=500.0))
    assert pivots is not None
    expected = min(PivotTuning.max_pivots, max(32, PivotTuning.max_values // dimension))
    assert len(pivots.rows) == expected
    assert pivots.unexplained == pytest.approx(1.0, abs=1e-6)  # it says that they cover little


def test_equal_inputs_need_one_pivot() -> None:
    pivots = choose_pivots(RBF(1.0), np.ones((10, 2)))
    assert pivots is not None
    assert len(pivots.rows) == 1
    assert pivots.unexplained == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    "kernel", [indefinite, lambda X, Z: -RBF(1.0)(X, Z), lambda X, Z: 0.0 * RBF(1.0)(X, Z)]
)
def test_what_is_not_a_covariance_has_no_pivots(kernel: KernelLike) -> None:
    assert choose_pivots(kernel, inputs(30)) is None


# ------------------------------------------------------------------ novelty


def variance_of(novelty: Novelty, X: Matrix) -> Vector:
    """What novelty adds to the variance if the mean is left alone."""
    return novelty.amplitude * novelty.share(X)


@pytest.mark.slow
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("offset", [0.0, 0.3])
@settings(max_examples=15)
@given(seed=st.integers(0, 2**32 - 1), far=st.floats(0.5, 10.0))
def test_novelty_is_the_conditional_variance_of_the_process(
    kernel: KernelLike, offset: float, seed: int, far: float
) -> None:
    train = inputs(40, seed=seed)
    pivots = choose_pivots(kernel, train)
    assert pivots is not None
    novelty = Novelty(kernel, train[pivots.rows], 3.0, offset)
    X = inputs(12, seed=seed + 1, width=far)
    share = conditional(kernel, X, train[pivots.rows]).diagonal() / kernel_diagonal(kernel, X)
    np.testing.assert_allclose(novelty.unexplained(X), np.clip(share, 0, 1), atol=1e-7)
    expected = 3.0 * np.maximum(share - offset, 0.0) / (1.0 - offset)
    np.testing.assert_allclose(variance_of(novelty, X), expected, atol=1e-6)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("offset", [0.0, 0.2])
@pytest.mark.parametrize("width", [2.0, 12.0])
def test_novelty_covariance_is_psd_and_has_the_variance_on_its_diagonal(
    kernel: KernelLike, offset: float, width: float
) -> None:
    train = inputs(40)
    pivots = choose_pivots(kernel, train)
    assert pivots is not None
    novelty = Novelty(kernel, train[pivots.rows], 3.0, offset)
    X = inputs(25, seed=1, width=width)
    covariance = novelty.covariance(X)
    np.testing.assert_allclose(covariance, covariance.T, atol=1e-12)
    np.testing.assert_allclose(covariance.diagonal(), variance_of(novelty, X), atol=1e-9)
    assert np.linalg.eigvalsh(covariance).min() > -1e-9
    if offset == 0.0:
        root = np.sqrt(kernel_diagonal(kernel, X))
        expected = conditional(kernel, X, train[pivots.rows]) / np.multiply.outer(root, root)
        np.testing.assert_allclose(covariance, 3.0 * expected, atol=1e-6)


def test_novelty_is_nothing_at_the_pivots_and_everything_far_away() -> None:
    train = inputs(40)
    pivots = choose_pivots(RBF(1.0), train)
    assert pivots is not None
    novelty = Novelty(RBF(1.0), train[pivots.rows], 3.0)
    assert variance_of(novelty, train[pivots.rows]).max() < 1e-8
    assert variance_of(novelty, train).max() < 3.0 * (PivotTuning.tolerance + 1e-6)
    np.testing.assert_allclose(variance_of(novelty, np.array([[1e3], [-1e6]])), 3.0)
    away = variance_of(novelty, np.linspace(5.0, 12.0, 30)[:, None])
    assert (np.diff(away) > -1e-9).all()


def test_novelty_is_stored_without_its_factor() -> None:
    train = inputs(40)
    novelty = Novelty(RBF(1.0), train[:5], 3.0, 0.1)
    X = inputs(6, seed=2)
    before = variance_of(novelty, X)
    assert len(pickle.dumps(novelty)) == len(pickle.dumps(Novelty(RBF(1.0), train[:5], 3.0, 0.1)))
    np.testing.assert_array_equal(variance_of(pickle.loads(pickle.dumps(novelty)), X), before)


# ------------------------------------------------------------------ fitted novelty


def model(
    X: Matrix,
    t: Vector,
    kernel: KernelLike,
    centers: Matrix,
    weight: Vector | None = None,
    *,
    intercept: bool = True,
    noise: float | None = 0.05,
) -> tuple[Posterior, KernelAtoms]:
    atoms = KernelAtoms(kernel, centers)
    Phi = atoms.evaluate(X)
    posterior = condition(
        DenseMoments(Phi, t, weight, fit_intercept=intercept),
        np.arange(len(centers)),
        np.full(len(centers), -3.0),
        [TrainingBlock(Phi, t, weight)],
        has_intercept=intercept,
        noise_variance=noise,
    )
    return posterior, atoms


def smooth(X: Matrix, noise: float = 0.2, seed: int = 0) -> Vector:
    return np.sin(X).sum(axis=1) + noise * np.random.default_rng(seed).standard_normal(len(X))


def test_where_pivots_cover_the_inputs_little_is_left_of_novelty() -> None:
    X = inputs(120, width=3.0)
    t = smooth(X)
    posterior, atoms = model(X, t, RBF(1.5), X[:10])
    novelty = fit_novelty(RBF(1.5), X, atoms, t, None, posterior, 0.7)
    assert novelty is not None
    pivots = choose_pivots(RBF(1.5), X)
    assert pivots is not None
    assert pivots.unexplained < PivotTuning.tolerance
    np.testing.assert_array_equal(novelty.pivots, X[pivots.rows])
    assert novelty.amplitude == 0.7
    assert novelty.offset <= novelty.known < PivotTuning.tolerance + 1e-6
    np.testing.assert_array_equal(novelty.extrapolation(X), 0.0)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("noise", [0.05, 8.0])
def test_where_they_cannot_it_has_the_best_offset(weighted: bool, noise: float) -> None:
    """Best by the density of the training targets, each predicted from the others."""
    X = inputs(300, 8, width=3.0)
    t = smooth(X)
    weight = np.random.default_rng(3).integers(0, 3, 300).astype(float) if weighted else None
    every = np.ones(300) if weight is None else weight
    posterior, atoms = model(X, t, RBF(3.0), X[:10], weight, noise=noise)
    novelty = fit_novelty(RBF(3.0), X, atoms, t, weight, posterior, 0.7)
    assert novelty is not None
    pivots = choose_pivots(RBF(3.0), X[every > 0])
    assert pivots is not None
    assert pivots.unexplained > PivotTuning.tolerance
    np.testing.assert_array_equal(novelty.pivots, X[every > 0][pivots.rows])
    is_pivot = (X[:, None] == novelty.pivots).all(axis=-1).any(axis=1)
    others = np.flatnonzero((every > 0) & ~is_pivot)
    # by refits without one observation of each row, not by the closed form
    mean, variance = np.empty(len(others)), np.empty(len(others))
    design = np.c_[np.ones(300), atoms.evaluate(X)]
    precision = np.diag(np.r_[0.0, posterior.weight_precision])
    for place, row in enumerate(others):
        rest = every.copy()
        rest[row] -= 1.0
        covariance = np.linalg.inv((design.T * rest) @ design / noise + precision)
        mean[place] = design[row] @ covariance @ (design.T @ (rest * t)) / noise
        variance[place] = design[row] @ covariance @ design[row] + noise

    def density(offset: float) -> float:
        extra = variance_of(Novelty(RBF(3.0), novelty.pivots, 0.7, offset), X[others])
        total = variance + extra
        return -float(every[others] @ (np.log(total) + (t[others] - mean) ** 2 / total))

    share = Novelty(RBF(3.0), novelty.pivots, 1.0).unexplained(X[others])
    rivals = [density(float(offset)) for offset in np.linspace(0.0, share.max(), 41)]
    # the grid of the fit is finite: what it misses is small next to what it decides
    assert density(novelty.offset) >= max(rivals) - 0.02 * (max(rivals) - min(rivals))
    # where the noise explains all residuals nothing is novel; where it does not, all of it is
    assert (novelty.offset > 0.2) == (noise == 8.0)


def test_shares_beyond_a_limit() -> None:
    X = inputs(40)
    novelty = Novelty(RBF(1.0), X[:5], 3.0, 0.2, 0.4)
    new = inputs(30, seed=1, width=9.0)
    unexplained = novelty.unexplained(new)
    np.testing.assert_allclose(novelty.share(new), np.maximum(unexplained - 0.2, 0.0) / 0.8)
    np.testing.assert_allclose(novelty.extrapolation(new), np.maximum(unexplained - 0.4, 0.0) / 0.6)


def test_without_a_centre_the_mean_is_left_alone() -> None:
    X = inputs(40)
    novelty = Novelty(RBF(1.0), X[:5], 3.0, 0.2, 0.4)
    new = inputs(30, seed=1, width=9.0)
    fallback = novelty.fallback(new, np.full(30, 100.0))
    np.testing.assert_array_equal(fallback.shift, 0.0)
    np.testing.assert_allclose(fallback.variance(np.full(30, 2.0)), 2.0 + variance_of(novelty, new))


def test_many_rows_are_looked_at_in_part() -> None:
    tuning = PivotTuning(max_rows=20)
    X = np.sort(inputs(200), axis=0)
    t = smooth(X)
    posterior, atoms = model(X, t, RBF(0.05), X[:10])
    novelty = fit_novelty(RBF(0.05), X, atoms, t, None, posterior, 0.7, tuning=tuning)
    assert novelty is not None
    assert PivotTuning().max_rows > 1000
    assert len(novelty.pivots) == 20
    # evenly: the first and the last row are among them
    np.testing.assert_array_equal(np.sort(novelty.pivots, axis=0)[[0, -1]], X[[0, -1]])


@pytest.mark.parametrize(("dimension", "noise"), [(2, 0.05), (8, 0.05), (8, 8.0)])
def test_integer_weights_are_repetitions_for_novelty(dimension: int, noise: float) -> None:
    X = inputs(300, dimension, width=3.0)
    t = smooth(X)
    times = np.random.default_rng(0).integers(0, 3, 300)
    repeated_X, repeated_t = np.repeat(X, times, axis=0), np.repeat(t, times)
    kernel = RBF(3.0)
    by_weight, atoms = model(X, t, kernel, X[:5], times.astype(float), noise=noise)
    by_copies, _ = model(repeated_X, repeated_t, kernel, X[:5], noise=noise)
    one = fit_novelty(kernel, X, atoms, t, times.astype(float), by_weight, 0.7)
    two = fit_novelty(kernel, repeated_X, atoms, repeated_t, None, by_copies, 0.7)
    assert one is not None
    assert two is not None
    np.testing.assert_array_equal(np.unique(one.pivots, axis=0), np.unique(two.pivots, axis=0))
    assert one.offset == pytest.approx(two.offset, abs=1e-9)
    assert (one.offset > 0) == (noise == 8.0)


def test_pivots_of_one_kernel_are_chosen_once() -> None:
    X, kernel, other = inputs(60, width=3.0), RBF(1.5), RBF(0.5)
    t, covers = smooth(X), {}
    posterior, atoms = model(X, t, RBF(1.5), X[:10])
    sizes = []
    for each in (kernel, other):
        first = fit_novelty(each, X, atoms, t, None, posterior, 0.7, covers=covers)
        again = fit_novelty(each, X, atoms, t, None, posterior, 0.9, covers=covers)
        alone = fit_novelty(each, X, atoms, t, None, posterior, 0.9)
        assert first is not None
        assert again is not None
        assert alone is not None
        assert again.pivots is first.pivots
        sizes.append(len(again.pivots))
        np.testing.assert_array_equal(again.pivots, alone.pivots)
        assert (again.known, again.offset) == (alone.known, alone.offset)
        np.testing.assert_array_equal(again.share(3.0 * X), alone.share(3.0 * X))
    assert sizes[0] < sizes[1]


@pytest.mark.parametrize("kernel", [indefinite, lambda X, Z: -RBF(1.0)(X, Z)])
def test_novelty_needs_a_covariance(kernel: KernelLike) -> None:
    X = inputs(40)
    posterior, atoms = model(X, smooth(X), RBF(1.0), X[:5])
    assert fit_novelty(kernel, X, atoms, smooth(X), None, posterior, 0.7) is None


# ------------------------------------------------------------------ augmentation


def augmented(
    X: Matrix, t: Vector, kernel: KernelLike, weight: Vector | None, intercept: bool, k: int
) -> Augmentation:
    posterior, atoms = model(X, t, kernel, X[:k], weight, intercept=intercept)
    root = np.ones(len(t)) if weight is None else np.sqrt(weight)
    residual = (t - posterior.predict(atoms.evaluate(X))) * root
    return Augmentation(kernel, X, residual, root, atoms, posterior, 0.8)


@pytest.mark.parametrize("kernel", [RBF(1.0), ConstantKernel(3.0) * Matern(1.0), laplace])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("k", [0, 5])
def test_augmentation_is_a_refit_with_an_atom_at_the_test_input(
    kernel: KernelLike, weighted: bool, intercept: bool, k: int
) -> None:
    X = inputs(25)
    t = smooth(X) + 1.0
    weight = np.random.default_rng(1).integers(1, 4, 25).astype(float) if weighted else None
    augmentation = augmented(X, t, kernel, weight, intercept, k)
    posterior = augmentation.posterior
    new = np.linspace(-9.0, 9.0, 13)[:, None]
    shift, extra = augmentation.correction(new)
    mean = posterior.predict(augmentation.atoms.evaluate(new)) + shift
    variance = posterior.variance(augmentation.atoms.evaluate(new)) + extra
    every = np.ones(25) if weight is None else weight
    for row, x in enumerate(new):
        columns = [augmentation.atoms.evaluate(X), kernel_block(kernel, X, x[None])]
        here = [augmentation.atoms.evaluate(x[None])[0], kernel_block(kernel, x[None], x[None])[0]]
        precision = np.r_[posterior.weight_precision, 1 / 0.8]
        if intercept:
            columns, here = [np.ones((25, 1)), *columns], [np.ones(1), *here]
            precision = np.r_[0.0, precision]
        design, point = np.hstack(columns), np.concatenate(here)
        noise = posterior.noise_variance
        covariance = np.linalg.inv((design.T * every) @ design / noise + np.diag(precision))
        weights = covariance @ design.T @ (every * t) / noise
        assert mean[row] == pytest.approx(point @ weights, rel=1e-9, abs=1e-10)
        assert variance[row] == pytest.approx(point @ covariance @ point, rel=1e-9)


def test_augmentation_far_away_restores_the_prior_variance() -> None:
    X = inputs(25)
    augmentation = augmented(X, smooth(X), RBF(1.0), None, True, 5)
    shift, extra = augmentation.correction(np.array([[1e3]]))
    assert extra[0] == pytest.approx(0.8)
    assert shift[0] == pytest.approx(0.0, abs=1e-12)
