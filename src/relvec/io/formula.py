"""A fitted model as a formula: all numbers that its predictions need.

    u      = (x[features] - shift) * factor
    phi_j  = profile(u, vectors_j),  for all tables in turn,  and a last one that is always 1
    a_p    = (phi[index_p] - centre_p) * scale_p
    mean   = offset + (design * a) @ weights
    cov    = spread * white @ white.T + constant,   factor @ white = design * a
    output = link(mean, cov), with mean and cov changed as in `Extrapolation`

The probabilities of a classifier are averages over its members, each mixed with the class prior
as in `Member`.

The exporters write this formula in other languages. `Formula.evaluate` computes it in NumPy, in
single or double precision, which measures rounding errors.
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

__all__ = ["Block", "Extrapolation", "Formula", "Member", "PivotSet", "Table"]

PRECISIONS = ("float32", "float64")
LARGEST_DISTANCE = 1e6
"""Cap on the distance of a mean from its centre, in standard deviations of the process. Beyond it
the result does not change, and powers stay finite in any precision."""


class Table(NamedTuple):
    """Vectors of kernels, and the shift and factor of the features before the comparison."""

    features: IndexArray
    shift: Vector
    factor: Vector
    vectors: Matrix
    """In the units of ``u = (x[features] - shift) * factor``."""

    def evaluate_kernel(self, X: Matrix, profile: KernelProfile, dtype: Any) -> Matrix:
        """Return the kernel between the rows of `X` and all vectors."""
        u = ((X[:, self.features] - self.shift) * self.factor).astype(dtype)
        result: Matrix = profile.value(profile.compare(u, self.vectors.astype(dtype)), np)
        return result

    def original_vectors(self) -> Matrix:
        """Return the vectors in the units of the features."""
        factor = np.where(self.factor == 0.0, 1.0, self.factor)
        vectors: Matrix = self.vectors / factor + self.shift
        return vectors


class PivotSet(NamedTuple):
    """Pivots: a subset of the training inputs that represents all of them (pivoted Cholesky)."""

    table: Table
    cholesky: Matrix
    """Lower Cholesky factor of the kernel between the pivots, scaled to one for equal inputs."""
    profile: KernelProfile
    """The same function for all sets of a formula; it may differ from the kernel of the model."""


class Extrapolation(NamedTuple):
    """Change of mean and variance at inputs far from the training inputs.

    Let ``r`` be the fraction of the variance of a Gaussian process that remains when its values at
    the pivots are known, ``rho = (r - offset)+ / (1 - offset)`` and ``tau = (r - known)+ / (1 -
    known)``. Without a centre ``rho amplitude`` is added to the variance. Else, with ``d = mean -
    centre``, ``pi = d^4 / (d^4 + 4 amplitude^2)``, ``extreme = d^4 / (d^4 + 16^4 amplitude^2)`` and
    ``omega = tau (1 - known^8 (1 - extreme)) pi``, a mean and its variance become::

        mean     - omega d
        (1 - rho) (variance + omega^2 d^2) + rho (amplitude + max(rho, pi) (1 - omega)^2 d^2)
    """

    pivot_set: int
    amplitude: float
    offset: float
    known: float
    centre: float | None


class Member(NamedTuple):
    """One of the models whose probabilities are averaged.

    With ``rho`` as in `Extrapolation`, its probabilities ``p`` become ``kept p + (1 - kept)
    class_prior``, where ``kept = (1 - shrinkage) (1 - rho^8)``; without pivots ``rho`` is zero.
    """

    weight: float
    shrinkage: float = 0.0
    pivot_set: int | None = None
    offset: float = 0.0


@dataclass(frozen=True, eq=False)
class Block:
    """Jointly normal values: one target, one logit, or the logits of all classes."""

    index: IndexArray
    """Position of the kernel value of each weight; -1 is the one that is always 1."""
    centre: Vector
    scale: Vector
    weights: Vector
    """Means of the weights of the scaled kernel values."""
    design: Matrix
    """1 where a value has a weight, or the contrasts of intercepts; shape (n_values, n_weights)."""
    offset: Vector
    factor: Matrix
    """Lower Cholesky factor of the precision of the weights."""
    spread: float
    constant: float
    noise: float
    """Noise variance of a new target."""
    extrapolation: Extrapolation | None


@dataclass(frozen=True, eq=False)
class Formula:
    """A fitted model, as described at the top of the module."""

    source: str
    n_features: int
    feature_names: tuple[str, ...] | None
    profile: KernelProfile
    kernel_tables: tuple[Table, ...]
    """One table; of a classifier, one for each member."""
    blocks: tuple[Block, ...]
    pivot_sets: tuple[PivotSet, ...]
    link: str
    """"identity" for targets; "logistic", "one_vs_rest" or "softmax" for classes."""
    has_std: bool = True
    """Whether standard deviations are part of the formula; if not, variances are not complete."""
    classes: np.ndarray | None = None
    class_prior: Vector | None = None
    """Prior probability of each class; zero if it is not used."""
    members: tuple[Member, ...] = ()
    """Models that a classifier averages. Each has the same number of blocks, in this order."""
    points: Matrix | None = None
    """Quasi-random normal points over which a softmax is averaged. Each column stands for a point
    and its negative; rows are in the order of the means of the logits."""

    @property
    def is_classifier(self) -> bool:
        """Whether the formula gives probabilities of classes."""
        return self.classes is not None

    @property
    def n_kernels(self) -> int:
        """Number of kernel values."""
        return sum(len(table.vectors) for table in self.kernel_tables)

    @property
    def is_extrapolated(self) -> bool:
        """Whether means or variances change far from the training inputs."""
        return any(block.extrapolation is not None for block in self.blocks)

    @property
    def has_mean_fallback(self) -> bool:
        """Whether means move to a centre far from the training inputs."""
        found = [block.extrapolation for block in self.blocks]
        return any(each is not None and each.centre is not None for each in found)

    @property
    def pivot_profile(self) -> KernelProfile | None:
        """The kernel of the pivots, if it is another function than that of the model."""
        profile = self.pivot_sets[0].profile if self.pivot_sets else self.profile
        return None if profile.is_same_function(self.profile) else profile

    def kernel_index(self, block: Block) -> IndexArray:
        """Return the positions of the kernel values that a block uses, counted from zero."""
        return np.where(block.index < 0, self.n_kernels, block.index)

    def evaluate(self, X: Any, precision: str = "float64") -> tuple[Matrix, Matrix]:
        """Return means and standard deviations of targets, or probabilities of classes twice.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        precision : {"float32", "float64"}, default="float64"
            Precision of the numbers in the formula and of all arithmetic.
        """
        dtype = np.dtype(precision).type
        X = np.asarray(X, dtype=np.float64)
        each = [table.evaluate_kernel(X, self.profile, dtype) for table in self.kernel_tables]
        phi = np.hstack([*each, np.ones((len(X), 1), dtype)])
        unexplained = [
            self._unexplained_fraction(pivot_set, X, dtype) for pivot_set in self.pivot_sets
        ]
        moments = [self._moments(block, phi, unexplained, dtype) for block in self.blocks]
        if not self.is_classifier:
            mean, variance = _stack_moments(moments)
            noise = np.array([block.noise for block in self.blocks], dtype)
            return mean, np.sqrt(variance + noise)
        assert self.class_prior is not None
        probability = np.zeros((len(X), len(self.class_prior)), dtype)
        n_blocks = len(moments) // len(self.members)
        for number, member in enumerate(self.members):
            member_moments = moments[number * n_blocks : (number + 1) * n_blocks]
            kept = np.full((len(X), 1), dtype(1.0 - member.shrinkage))
            if member.pivot_set is not None:
                rho = _compute_excess(unexplained[member.pivot_set], member.offset, dtype)[:, None]
                kept = kept * (1.0 - rho**8)
            mixed = kept * self._member_probabilities(member_moments, dtype) + (
                1.0 - kept
            ) * self.class_prior.astype(dtype)
            probability += dtype(member.weight) * mixed
        return probability, probability

    def _member_probabilities(self, moments: list[tuple[Matrix, np.ndarray]], dtype: Any) -> Matrix:
        """Return the probabilities of one member."""
        if self.link == "softmax":
            return self._average_softmax(*moments[0], dtype)
        mean, variance = _stack_moments(moments)
        # logistic function averaged over a normal logit (MacKay 1992)
        odds = mean / np.sqrt(1.0 + dtype(np.pi / 8.0) * variance)
        if self.link == "logistic":
            return np.hstack([expit(-odds), expit(odds)])
        log = -np.logaddexp(dtype(0.0), -odds)
        probability: Matrix = np.exp(log - log.max(axis=1, keepdims=True))
        return probability / probability.sum(axis=1, keepdims=True)

    def _unexplained_fraction(self, pivot_set: PivotSet, X: Matrix, dtype: Any) -> Vector:
        """Conditional variance of a process of unit variance given its values at the pivots."""
        phi = pivot_set.table.evaluate_kernel(X, pivot_set.profile, dtype)
        white = solve_triangular(pivot_set.cholesky.astype(dtype), phi.T, lower=True)
        result: Vector = np.clip(1.0 - (white * white).sum(axis=0), 0.0, 1.0)
        return result

    def _moments(
        self, block: Block, phi: Matrix, unexplained: list[Vector], dtype: Any
    ) -> tuple[Matrix, np.ndarray]:
        a = (phi[:, block.index] - block.centre.astype(dtype)) * block.scale.astype(dtype)
        rows = a[:, None, :] * block.design.astype(dtype)
        mean = rows @ block.weights.astype(dtype) + block.offset.astype(dtype)
        flat = rows.reshape(-1, rows.shape[2]).T
        white = solve_triangular(block.factor.astype(dtype), flat, lower=True).T.reshape(rows.shape)
        covariance = dtype(block.spread) * (white @ white.transpose(0, 2, 1)) + dtype(
            block.constant
        )
        if block.extrapolation is None:
            return mean, covariance
        fraction = unexplained[block.extrapolation.pivot_set]
        return _extrapolate(block.extrapolation, fraction, mean, covariance, dtype)

    def _average_softmax(self, mean: Matrix, covariance: np.ndarray, dtype: Any) -> Matrix:
        """Average the softmax over normal logits at quasi-random points."""
        assert self.points is not None
        values, vectors = np.linalg.eigh(covariance)
        scaled = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
        root = scaled @ vectors.transpose(0, 2, 1)
        rank = np.argsort(np.argsort(mean, axis=1), axis=1)
        moved = root @ self.points.astype(dtype)[rank]
        result = np.zeros_like(mean)
        for sign in (1.0, -1.0):
            logits = mean[:, :, None] + dtype(sign) * moved
            odds = np.exp(logits - logits.max(axis=1, keepdims=True))
            result += (odds / odds.sum(axis=1, keepdims=True)).mean(axis=2)
        return result / 2.0

    @property
    def _tables(self) -> list[Table]:
        return [*self.kernel_tables, *(pivot_set.table for pivot_set in self.pivot_sets)]

    def tables(self) -> list[np.ndarray]:
        """Return all numbers except positions."""
        found = [pivot_set.cholesky for pivot_set in self.pivot_sets]
        for table in self._tables:
            found += [table.shift, table.factor, table.vectors]
        for block in self.blocks:
            found += [block.centre, block.scale, block.weights, block.offset, block.factor]
            found.append(np.array([block.spread, block.constant, block.noise]))
            if block.extrapolation is not None:
                _, *numbers = block.extrapolation
                found.append(np.array([number for number in numbers if number is not None]))
        return found

    def measure_rounding_error(self, precision: str, *, inputs_too: bool = False) -> float:
        """Measure the rounding error of a precision over the region of all vectors.

        Parameters
        ----------
        precision : {"float32", "float64"}
            Precision of the numbers in the formula and of all arithmetic.
        inputs_too : bool, default=False
            Whether the inputs are rounded to that precision as well.

        Returns
        -------
        error : float
            Largest error of a mean in units of its standard deviation, or of a standard deviation
            relative to itself, or of a probability.
        """
        X = self._test_points()
        first, second = self.evaluate(X)
        with np.errstate(all="ignore"):
            rounded_X = X.astype(precision) if inputs_too else X
            rounded, rounded_second = self.evaluate(rounded_X, precision)
        scale = 1.0 if self.is_classifier else second
        errors = np.maximum(
            np.abs(rounded - first) / scale, np.abs(rounded_second - second) / scale
        )
        return float(np.nan_to_num(errors, nan=np.inf).max())

    def _test_points(self) -> Matrix:
        """Return all vectors, with other features in the middle of their range, and random rows."""
        tables = [(table.features, table.original_vectors()) for table in self._tables]
        low, high = np.full(self.n_features, np.inf), np.full(self.n_features, -np.inf)
        for features, rows in tables:
            low[features] = np.minimum(low[features], rows.min(axis=0))
            high[features] = np.maximum(high[features], rows.max(axis=0))
        is_used = low <= high
        low, high = np.where(is_used, low, 0.0), np.where(is_used, high, 0.0)
        found = [np.random.default_rng(0).uniform(low, high, size=(256, len(low)))]
        for features, rows in tables:
            full = np.tile(0.5 * (low + high), (len(rows), 1))
            full[:, features] = rows
            found.append(full)
        return np.vstack(found)


def _stack_moments(moments: list[tuple[Matrix, np.ndarray]]) -> tuple[Matrix, Matrix]:
    """Stack means and variances of blocks of one value."""
    mean = np.column_stack([mean[:, 0] for mean, _ in moments])
    return mean, np.column_stack([covariance[:, 0, 0] for _, covariance in moments])


def _compute_excess(unexplained: Vector, threshold: float, dtype: Any) -> Vector:
    """Excess of a fraction over a threshold: 0 up to it, 1 for a fraction of 1."""
    result: Vector = np.maximum(unexplained - dtype(threshold), 0.0) / dtype(1.0 - threshold)
    return result


def _extrapolate(
    extrapolation: Extrapolation,
    unexplained: Vector,
    mean: Matrix,
    covariance: np.ndarray,
    dtype: Any,
) -> tuple[Matrix, np.ndarray]:
    """Return means and covariances changed as in `Extrapolation`."""
    amplitude = dtype(extrapolation.amplitude)
    rho = _compute_excess(unexplained, extrapolation.offset, dtype)[:, None, None]
    if extrapolation.centre is None:
        return mean, covariance + amplitude * rho * np.eye(mean.shape[1], dtype=dtype)
    assert mean.shape[1] == 1, "several values have no centre"
    tau = _compute_excess(unexplained, extrapolation.known, dtype)[:, None]
    away = mean - dtype(extrapolation.centre)
    distance = np.minimum(
        np.abs(away) / dtype(math.sqrt(extrapolation.amplitude)), dtype(LARGEST_DISTANCE)
    )
    implausible = distance**4 / (4.0 + distance**4)
    extreme = distance**4 / (65536.0 + distance**4)
    pull = (1.0 - dtype(extrapolation.known**8) * (1.0 - extreme)) * tau * implausible
    moved, remaining = (pull * away)[:, :, None], ((1.0 - pull) * away)[:, :, None]
    other = amplitude + np.maximum(rho, implausible[:, :, None]) * remaining * remaining
    return mean - pull * away, (1.0 - rho) * (covariance + moved * moved) + rho * other
