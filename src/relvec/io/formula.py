"""A fitted model as a formula: all that its predictions need, and nothing of how it was found.

    u      = (x[inputs] - shift) * factor
    phi_j  = profile(u, vectors_j),  of one table after the other,  and one that is always 1
    a_p    = (phi[index_p] - centre_p) * scale_p
    mean   = offset + (design * a) @ weights
    cov    = spread * white @ white.T + constant,   factor @ white = design * a
    answer = link(mean, cov), after what `Extrapolation` says of both

The probabilities of a classifier are averages of those of its members, each mixed with the shares
of the classes as `Member` says.

The exporters write this down in other languages. `Formula.evaluate` is the same in NumPy, in any
precision, and says what rounding costs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import expit

from relvec._typing import IndexArray, Matrix, Vector
from relvec.kernels import KernelProfile

__all__ = ["Block", "Cover", "Extrapolation", "Formula", "Member", "Table"]

PRECISIONS = ("float32", "float64")
LARGEST_DISTANCE = 1e6
"""Of a mean from its centre, in standard deviations of the process: farther away changes nothing,
in any precision."""


class Table(NamedTuple):
    """Vectors that inputs are compared with, and how inputs are made comparable."""

    inputs: IndexArray
    shift: Vector
    factor: Vector
    vectors: Matrix
    """In the units of ``u = (x[inputs] - shift) * factor``."""

    def compared(self, X: Matrix, profile: KernelProfile, kind: Any) -> Matrix:
        """Return the kernel between rows of inputs and all vectors."""
        u = ((X[:, self.inputs] - self.shift) * self.factor).astype(kind)
        result: Matrix = profile.value(profile.compare(u, self.vectors.astype(kind)), np)
        return result

    def places(self) -> Matrix:
        """Return the vectors in the units of the inputs."""
        places: Matrix = self.vectors / np.where(self.factor == 0.0, 1.0, self.factor) + self.shift
        return places


class Cover(NamedTuple):
    """Vectors that stand for the training inputs."""

    table: Table
    cholesky: Matrix
    """Lower Cholesky factor of the kernel between them, with a kernel of one for equal inputs."""
    profile: KernelProfile
    """The same function for all covers of a formula, which need not be that of the model."""


class Extrapolation(NamedTuple):
    """What becomes of mean and variance at inputs that are unlike the training inputs.

    With ``r`` the share of the variance of a process that its values at the cover leave
    unexplained, ``rho = (r - offset)+ / (1 - offset)`` and ``tau = (r - known)+ / (1 - known)``.
    Without a centre ``rho amplitude`` is added to the variance. Else, with ``d = mean - centre``,
    ``pi = d^4 / (d^4 + 4 amplitude^2)``, ``absurd = d^4 / (d^4 + 16^4 amplitude^2)`` and ``omega =
    tau (1 - known^8 (1 - absurd)) pi``, a mean and its variance become::

        mean     - omega d
        (1 - rho) (variance + omega^2 d^2) + rho (amplitude + max(rho, pi) (1 - omega)^2 d^2)
    """

    cover: int
    amplitude: float
    offset: float
    known: float
    centre: float | None


class Member(NamedTuple):
    """One of the models whose probabilities are averaged.

    With ``rho`` as in `Extrapolation`, its probabilities ``p`` become ``kept p + (1 - kept)
    shares``, where ``kept = (1 - shrinkage) (1 - rho^8)``; without a cover ``rho`` is zero.
    """

    weight: float
    shrinkage: float = 0.0
    cover: int | None = None
    offset: float = 0.0


@dataclass(frozen=True, eq=False)
class Block:
    """Jointly normal values: one target, one logit, or the logits of all classes."""

    index: IndexArray
    """Which kernel value each weight multiplies; minus one is the one that is always 1."""
    centre: Vector
    scale: Vector
    weights: Vector
    """Means of the weights of the scaled kernel values."""
    design: Matrix
    """Which weights each value has, shape (n_values, n_weights)."""
    offset: Vector
    factor: Matrix
    """Lower Cholesky factor of the precision of the weights."""
    spread: float
    constant: float
    noise: float
    """Variance of a new target beyond that of the function."""
    extrapolation: Extrapolation | None


@dataclass(frozen=True, eq=False)
class Formula:
    """A fitted model, as the module describes it."""

    source: str
    n_features: int
    feature_names: tuple[str, ...] | None
    profile: KernelProfile
    kernel_tables: tuple[Table, ...]
    """Of a classifier, one for each member."""
    blocks: tuple[Block, ...]
    covers: tuple[Cover, ...]
    link: str
    """"identity" for targets; "logistic", "one_vs_rest" or "softmax" for classes."""
    has_std: bool = True
    """Whether variances are wanted; else they are not complete."""
    classes: np.ndarray | None = None
    shares: Vector | None = None
    """Of the classes; zero if they are not used."""
    members: tuple[Member, ...] = ()
    """Of a classifier: each has as many blocks as the others, one member after the other."""
    points: Matrix | None = None
    """Over which the logits of a softmax are averaged: a column for every two, one the negative
    of the other, in the order of the means of the logits."""

    @property
    def is_classifier(self) -> bool:
        """Whether answers are probabilities."""
        return self.classes is not None

    @property
    def n_kernels(self) -> int:
        """Number of kernel values."""
        return sum(len(table.vectors) for table in self.kernel_tables)

    @property
    def is_extrapolated(self) -> bool:
        """Whether means or variances change where little is known."""
        return any(block.extrapolation is not None for block in self.blocks)

    @property
    def falls_back(self) -> bool:
        """Whether means move to a centre where little is known: all that change there, or none."""
        given = [block.extrapolation for block in self.blocks]
        return any(each is not None and each.centre is not None for each in given)

    @property
    def cover_profile(self) -> KernelProfile | None:
        """The kernel of covers, if it is another function than that of the model."""
        profile = self.covers[0].profile if self.covers else self.profile
        return None if profile.is_same_function(self.profile) else profile

    def places(self, block: Block) -> IndexArray:
        """Return the kernel values that a block uses, counted from zero."""
        return np.where(block.index < 0, self.n_kernels, block.index)

    def evaluate(self, X: Any, precision: str = "float64") -> tuple[Matrix, Matrix]:
        """Return means and standard deviations of targets, or probabilities of classes twice.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        precision : {"float32", "float64"}, default="float64"
            Of the numbers in the formula and of all arithmetic.
        """
        kind = np.dtype(precision).type
        X = np.asarray(X, dtype=np.float64)
        each = [table.compared(X, self.profile, kind) for table in self.kernel_tables]
        phi = np.hstack([*each, np.ones((len(X), 1), kind)])
        unexplained = [self._unexplained(cover, X, kind) for cover in self.covers]
        moments = [self._moments(block, phi, unexplained, kind) for block in self.blocks]
        if not self.is_classifier:
            mean, variance = _columns(moments)
            noise = np.array([block.noise for block in self.blocks], kind)
            return mean, np.sqrt(variance + noise)
        assert self.shares is not None
        probability = np.zeros((len(X), len(self.shares)), kind)
        n_blocks = len(moments) // len(self.members)
        for number, member in enumerate(self.members):
            mine = moments[number * n_blocks : (number + 1) * n_blocks]
            kept = np.full((len(X), 1), kind(1.0 - member.shrinkage))
            if member.cover is not None:
                rho = _beyond(unexplained[member.cover], member.offset, kind)[:, None]
                kept = kept * (1.0 - rho**8)
            mixed = kept * self._linked(mine, kind) + (1.0 - kept) * self.shares.astype(kind)
            probability += kind(member.weight) * mixed
        return probability, probability

    def _linked(self, moments: list[tuple[Matrix, np.ndarray]], kind: Any) -> Matrix:
        """Probabilities of one member."""
        if self.link == "softmax":
            return self._averaged(*moments[0], kind)
        mean, variance = _columns(moments)
        odds = mean / np.sqrt(1.0 + kind(np.pi / 8.0) * variance)
        if self.link == "logistic":
            return np.hstack([expit(-odds), expit(odds)])
        log = -np.logaddexp(kind(0.0), -odds)
        probability: Matrix = np.exp(log - log.max(axis=1, keepdims=True))
        return probability / probability.sum(axis=1, keepdims=True)

    def _unexplained(self, cover: Cover, X: Matrix, kind: Any) -> Vector:
        phi = cover.table.compared(X, cover.profile, kind)
        white = solve_triangular(cover.cholesky.astype(kind), phi.T, lower=True)
        result: Vector = np.clip(1.0 - (white * white).sum(axis=0), 0.0, 1.0)
        return result

    def _moments(
        self, block: Block, phi: Matrix, unexplained: list[Vector], kind: Any
    ) -> tuple[Matrix, np.ndarray]:
        a = (phi[:, block.index] - block.centre.astype(kind)) * block.scale.astype(kind)
        rows = a[:, None, :] * block.design.astype(kind)
        mean = rows @ block.weights.astype(kind) + block.offset.astype(kind)
        flat = rows.reshape(-1, rows.shape[2]).T
        white = solve_triangular(block.factor.astype(kind), flat, lower=True).T.reshape(rows.shape)
        covariance = kind(block.spread) * (white @ white.transpose(0, 2, 1)) + kind(block.constant)
        if block.extrapolation is None:
            return mean, covariance
        share = unexplained[block.extrapolation.cover]
        return _extrapolated(block.extrapolation, share, mean, covariance, kind)

    def _averaged(self, mean: Matrix, covariance: np.ndarray, kind: Any) -> Matrix:
        assert self.points is not None
        values, vectors = np.linalg.eigh(covariance)
        scaled = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
        root = scaled @ vectors.transpose(0, 2, 1)
        rank = np.argsort(np.argsort(mean, axis=1), axis=1)
        moved = root @ self.points.astype(kind)[rank]
        result = np.zeros_like(mean)
        for sign in (1.0, -1.0):
            logits = mean[:, :, None] + kind(sign) * moved
            share = np.exp(logits - logits.max(axis=1, keepdims=True))
            result += (share / share.sum(axis=1, keepdims=True)).mean(axis=2)
        return result / 2.0

    @property
    def _tables(self) -> list[Table]:
        return [*self.kernel_tables, *(cover.table for cover in self.covers)]

    def tables(self) -> list[np.ndarray]:
        """Return all numbers but those that count something."""
        found = [cover.cholesky for cover in self.covers]
        for table in self._tables:
            found += [table.shift, table.factor, table.vectors]
        for block in self.blocks:
            found += [block.centre, block.scale, block.weights, block.offset, block.factor]
            found.append(np.array([block.spread, block.constant, block.noise]))
            if block.extrapolation is not None:
                _, *numbers = block.extrapolation
                found.append(np.array([number for number in numbers if number is not None]))
        return found

    def rounding(self, precision: str, *, inputs_too: bool = False) -> float:
        """Measure what a precision costs, over the region of all vectors.

        Parameters
        ----------
        precision : {"float32", "float64"}
            Of the numbers in the formula and of all arithmetic.
        inputs_too : bool, default=False
            Whether inputs are given in that precision as well.

        Returns
        -------
        error : float
            Largest error of a mean in units of its standard deviation, or of a standard deviation
            relative to itself, or of a probability.
        """
        X = self._region()
        first, second = self.evaluate(X)
        with np.errstate(all="ignore"):
            given = X.astype(precision) if inputs_too else X
            rough, rough_second = self.evaluate(given, precision)
        scale = 1.0 if self.is_classifier else second
        errors = np.maximum(np.abs(rough - first) / scale, np.abs(rough_second - second) / scale)
        return float(np.nan_to_num(errors, nan=np.inf).max())

    def _region(self) -> Matrix:
        """Return all vectors, inputs that they do not have in the middle, and rows between."""
        places = [(table.inputs, table.places()) for table in self._tables]
        low, high = np.full(self.n_features, np.inf), np.full(self.n_features, -np.inf)
        for inputs, rows in places:
            low[inputs] = np.minimum(low[inputs], rows.min(axis=0))
            high[inputs] = np.maximum(high[inputs], rows.max(axis=0))
        is_used = low <= high
        low, high = np.where(is_used, low, 0.0), np.where(is_used, high, 0.0)
        found = [np.random.default_rng(0).uniform(low, high, size=(256, len(low)))]
        for inputs, rows in places:
            full = np.tile(0.5 * (low + high), (len(rows), 1))
            full[:, inputs] = rows
            found.append(full)
        return np.vstack(found)


def _columns(moments: list[tuple[Matrix, np.ndarray]]) -> tuple[Matrix, Matrix]:
    """Means and variances of blocks of one value."""
    mean = np.column_stack([mean[:, 0] for mean, _ in moments])
    return mean, np.column_stack([covariance[:, 0, 0] for _, covariance in moments])


def _beyond(unexplained: Vector, limit: float, kind: Any) -> Vector:
    result: Vector = np.maximum(unexplained - kind(limit), 0.0) / kind(1.0 - limit)
    return result


def _extrapolated(
    given: Extrapolation, unexplained: Vector, mean: Matrix, covariance: np.ndarray, kind: Any
) -> tuple[Matrix, np.ndarray]:
    """Return means and covariances of inputs of which so much is unexplained."""
    amplitude = kind(given.amplitude)
    rho = _beyond(unexplained, given.offset, kind)[:, None, None]
    if given.centre is None:
        return mean, covariance + amplitude * rho * np.eye(mean.shape[1], dtype=kind)
    assert mean.shape[1] == 1, "several values have no centre"
    tau = _beyond(unexplained, given.known, kind)[:, None]
    away = mean - kind(given.centre)
    distance = np.minimum(np.abs(away) / kind(math.sqrt(given.amplitude)), kind(LARGEST_DISTANCE))
    implausible = distance**4 / (4.0 + distance**4)
    absurd = distance**4 / (65536.0 + distance**4)
    pull = (1.0 - kind(given.known**8) * (1.0 - absurd)) * tau * implausible
    moved, rest = (pull * away)[:, :, None], ((1.0 - pull) * away)[:, :, None]
    other = amplitude + np.maximum(rho, implausible[:, :, None]) * rest * rest
    return mean - pull * away, (1.0 - rho) * (covariance + moved * moved) + rho * other
