"""Data sets of the problems, made of seeds."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

import relvec

Array = np.ndarray


class Data(NamedTuple):
    """What a model is fitted to, and where else it is asked: near the data and far from them."""

    X: Any
    y: Array
    X_new: Any
    weight: Array | None = None


def fractional(data: Data, seed: int = 7) -> Data:
    """Return the data with weights around one."""
    return data._replace(weight=np.random.default_rng(seed).uniform(0.2, 1.8, len(data.y)))


def partly_zero(data: Data, seed: int = 8) -> Data:
    """Return the data with weights of which a fifth are zero and the others whole numbers."""
    rng = np.random.default_rng(seed)
    n = len(data.y)
    return data._replace(weight=np.where(rng.random(n) < 0.2, 0.0, rng.integers(1, 4, n)))


def two_sets_of_rows(inside: Array) -> Array:
    """Return the rows, and five of them moved far away."""
    return np.concatenate([inside, 5.0 + 8.0 * inside[:5]])


# ------------------------------------------------------------------ regression


@cache
def sinc(n: int = 100, noise: float = 0.1, seed: int = 0) -> Data:
    """One input, sin(x) / x."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-10, 10, (n, 1))
    y = np.sinc(X[:, 0] / np.pi) + noise * rng.normal(size=n)
    return Data(X, y, two_sets_of_rows(np.linspace(-9.5, 9.5, 20)[:, np.newaxis]))


@cache
def friedman(n: int = 240, kind: int = 1, n_features: int | None = None) -> Data:
    """Friedman's functions; of the ten features of the first, five are irrelevant."""
    X, y = relvec.datasets.make_friedman(kind, n, n_features=n_features, random_state=n)
    X_new, _ = relvec.datasets.make_friedman(kind, 25, n_features=n_features, random_state=n + 1)
    return Data(X, y / y.std(), two_sets_of_rows(X_new))


@cache
def surface(n: int = 2000) -> Data:
    """Eight features, of which seven are relevant."""
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 8))
    a, b, c, d, e, f, g = X.T[:7]
    y = 3 * np.sin(a) + b * c + 0.5 * d**2 + np.cos(2 * e) + f - 0.3 * g
    return Data(X, y + 0.5 * rng.normal(size=n), two_sets_of_rows(rng.normal(size=(30, 8))))


@cache
def plane(n: int = 80, seed: int = 0) -> Data:
    """Two positive features."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0.1, 3.0, (n, 2))
    y = np.sin(2 * X[:, 0]) * X[:, 1] + 0.5 * X[:, 0] + 0.1 * rng.normal(size=n)
    return Data(X, y, two_sets_of_rows(rng.uniform(0.1, 3.0, (20, 2))))


@cache
def columns(
    n: int = 100, n_columns: int = 50, n_relevant: int = 4, noise: float = 1.0, seed: int = 0
) -> Data:
    """Explicit columns, a few of which matter."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_columns))
    coef = np.zeros(n_columns)
    coef[rng.choice(n_columns, n_relevant, replace=False)] = rng.choice([-2.0, -1.0, 1.0, 3.0], 4)[
        np.arange(n_relevant) % 4
    ]
    y = 0.7 + X @ coef + noise * rng.normal(size=n)
    return Data(X, y, two_sets_of_rows(rng.normal(size=(20, n_columns))))


@cache
def collinear_columns(n: int = 80) -> Data:
    """Columns that are equal, nearly equal, constant, zero, or sums of others."""
    data = columns(n, 12, 3)

    def widened(X: Array) -> Array:
        wiggle = 1e-7 * np.sin(np.arange(len(X)))
        more = [X[:, 0], -2.0 * X[:, 1], X[:, 2] + wiggle, X[:, 3] + X[:, 4]]
        return np.column_stack([X, *more, np.full(len(X), 3.0), np.zeros(len(X))])

    return Data(widened(data.X), data.y, widened(data.X_new))


@cache
def counts(n: int = 120, n_columns: int = 200) -> Data:
    """Columns of mostly zeros, as of words in texts; dense, for `as_sparse` to change."""
    rng = np.random.default_rng(5)
    X = rng.poisson(0.08, (n + 20, n_columns)).astype(float)
    y = 2.0 * X[:, 3] - 1.5 * X[:, 50] + X[:, 120] + 0.3 * rng.normal(size=n + 20)
    return Data(X[:n], y[:n], X[n:])


def as_sparse(data: Data, form: str) -> Data:
    """Return the data with their features as a sparse array."""
    from scipy.sparse import csr_array

    return data._replace(
        X=csr_array(data.X).asformat(form), X_new=csr_array(data.X_new).asformat(form)
    )


@cache
def line(n: int = 256, name: str = "HeaviSine", snr: float = 5.0) -> Data:
    """Signal on a regular grid, with new inputs between its points and beyond its ends."""
    signal = relvec.datasets.make_noisy_signal(name, n, snr=snr, random_state=n)
    x = np.arange(n) / n
    new = np.concatenate([x[3:40:5] + 0.3 / n, [-0.5, 1.7]])
    return Data(x[:, np.newaxis], signal.noisy / signal.clean.std(), new[:, np.newaxis])


@cache
def image_grid(rows: int = 12, across: int = 16) -> Data:
    """Image as points of a plane, in random order."""
    rng = np.random.default_rng(3)
    first, second = np.meshgrid(np.arange(rows), np.arange(across), indexing="ij")
    X = np.column_stack([first.ravel(), second.ravel()]).astype(float)
    y = np.where(X[:, 0] > 5, 2.0, 0.0) + np.cos(0.4 * X[:, 1]) + 0.2 * rng.normal(size=len(X))
    order = rng.permutation(len(X))
    return Data(X[order], y[order], np.array([[2.5, 3.5], [7.0, 1.0], [40.0, -9.0]]))


def several_outputs(data: Data) -> Data:
    """Return the data with three targets: as they are, bent, and noise alone."""
    noise = np.random.default_rng(11).normal(size=len(data.y))
    return data._replace(y=np.column_stack([data.y, 2.0 - data.y**2, noise]))


def constant_target(data: Data, value: float = 2.5) -> Data:
    """Return the data with a target that is the same everywhere."""
    return data._replace(y=np.full(len(data.y), value))


def noise_target(data: Data) -> Data:
    """Return the data with a target that has nothing to do with the features."""
    return data._replace(y=np.random.default_rng(12).normal(size=len(data.y)))


def repeated_rows(data: Data, seed: int = 4) -> Data:
    """Return the data with half of the inputs given twice, with targets of their own."""
    rng = np.random.default_rng(seed)
    half = len(data.y) // 2
    y = np.concatenate([data.y, data.y[:half] + 0.1 * rng.normal(size=half)])
    return data._replace(X=np.concatenate([data.X, data.X[:half]]), y=y)


def kernel_matrix(data: Data, gamma: float) -> Data:
    """Return the data with the kernel between inputs and training inputs as inputs."""

    def between(X: Array) -> Array:
        return np.exp(-gamma * ((X[:, np.newaxis] - data.X[np.newaxis]) ** 2).sum(axis=2))

    return data._replace(X=between(data.X), X_new=between(data.X_new))


# ------------------------------------------------------------------ classes


@cache
def ripley(n: int = 200) -> Data:
    """Two overlapping classes in the plane."""
    X, y = relvec.datasets.make_ripley_mixture(n, random_state=1)
    X_new, _ = relvec.datasets.make_ripley_mixture(24, random_state=2)
    return Data(X, y, two_sets_of_rows(X_new))


@cache
def ring(n: int = 120, n_features: int = 6) -> Data:
    """Two classes, told apart by a circle in the first two features."""
    X, y = relvec.datasets.make_ring(n, n_features, random_state=1)
    X_new, _ = relvec.datasets.make_ring(24, n_features, random_state=2)
    return Data(X, y, two_sets_of_rows(X_new))


@cache
def twonorm(n: int = 120, n_features: int = 8) -> Data:
    """Two Gaussian classes of which every input tells a little."""
    X, y = relvec.datasets.make_twonorm(n, n_features, random_state=1)
    X_new, _ = relvec.datasets.make_twonorm(24, n_features, random_state=2)
    return Data(X, y, two_sets_of_rows(X_new))


@cache
def uniforms(n: int = 200) -> Data:
    """One input, two overlapping uniform classes."""
    X, y = relvec.datasets.make_overlapping_uniforms(n, random_state=1)
    return Data(X, y, np.linspace(-3, 5, 25)[:, np.newaxis])


@cache
def gaussians(n: int = 150, n_classes: int = 3, spread: float = 0.7, n_features: int = 2) -> Data:
    """Classes around points of a circle; features beyond the second are irrelevant."""
    rng = np.random.default_rng(n + n_classes)
    y = rng.integers(0, n_classes, n)
    angle = 2 * np.pi * y / n_classes
    X = spread * rng.normal(size=(n, n_features))
    X[:, :2] += 1.5 * np.column_stack([np.cos(angle), np.sin(angle)])
    return Data(X, y, two_sets_of_rows(rng.normal(size=(24, n_features))))


def named_classes(data: Data) -> Data:
    """Return the data with words for labels, not in the order of the numbers."""
    return data._replace(y=np.array(["red", "green", "blue", "black"])[data.y])


def random_classes(data: Data) -> Data:
    """Return the data with two classes that have nothing to do with the features."""
    return data._replace(y=np.random.default_rng(13).integers(0, 2, len(data.y)))


def rare_class(data: Data) -> Data:
    """Return the data with only a tenth of the rows of class 1."""
    kept = np.ones(len(data.y), dtype=bool)
    kept[np.flatnonzero(data.y == 1)[len(data.y) // 20 :]] = False
    return data._replace(X=data.X[kept], y=data.y[kept])


def two_sides(data: Data, level: float | None = None) -> Data:
    """Return the data with the target cut into two classes, at its median or a level."""
    cut = np.median(data.y) if level is None else level
    return data._replace(y=(data.y > cut).astype(int))


# ------------------------------------------------------------------ signals


@cache
def signal(name: str = "Blocks", n: int = 512, snr: float = 5.0) -> Array:
    """Line with noise, of about unit variance."""
    made = relvec.datasets.make_noisy_signal(name, n, snr=snr, random_state=n)
    return made.noisy / made.clean.std()


@cache
def image(rows: int = 48, across: int = 40, channels: int = 0) -> Array:
    """Discs, an edge and a ramp with noise, grey or with channels."""
    rng = np.random.default_rng(rows + channels)
    first, second = np.meshgrid(np.linspace(0, 1, rows), np.linspace(0, 1, across), indexing="ij")
    disc = (first - 0.4) ** 2 + (second - 0.5) ** 2 < 0.06
    clean = np.where(disc, 1.0, 0.0) + 0.5 * (second > 0.7) + 0.3 * first
    if channels:
        clean = np.stack([clean * (1.0 + 0.3 * k) + 0.1 * k for k in range(channels)], axis=-1)
    return clean + 0.1 * rng.normal(size=clean.shape)


@cache
def volume(side: int = 16) -> Array:
    """Ball with noise."""
    rng = np.random.default_rng(side)
    axes = np.meshgrid(*3 * [np.linspace(-1, 1, side)], indexing="ij")
    ball = np.sum(np.square(axes), axis=0) < 0.5
    return ball + 0.2 * rng.normal(size=ball.shape)


def with_gaps(values: Array, seed: int = 6) -> Array:
    """Return the signal with a twentieth of its samples missing."""
    missing = np.random.default_rng(seed).random(values.shape) < 0.05
    return np.where(missing, np.nan, values)
