"""Error bars away from the data.

The atoms of a relevance vector machine sit on the training inputs and decay away from
them, so the plain posterior variance of the function *falls* to zero where nothing is
known (Tipping 2001, appendix D.1). Two remedies live here, and nowhere else:

- `Novelty` adds the variance a stationary process would have at an input, given that it is known
  at a few stored pivots that cover the training inputs. Where little is known and the mean of the
  sparse model is far from all targets, it falls back to their mean: wide kernels carry large
  weights, which cancel among the data and nowhere else. No training data are needed at
  prediction time.
- `Augmentation` (RVM*) adds one atom centred on the test input itself, integrated out. It
  changes the mean as well and keeps the training inputs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from sklearn.gaussian_process.kernels import Kernel

from relvec._linalg import inverse_diagonal_from_cholesky, shifted_cholesky, solve_lower
from relvec._typing import IndexArray, Matrix, Vector
from relvec.bases.base import Atoms
from relvec.kernels import KernelLike, ScaledInputs, kernel_block, kernel_dictionary
from relvec.kernels.definition import unboxed
from relvec.posterior import Posterior


@dataclass(frozen=True)
class PivotTuning:
    """How many training inputs stand for all of them."""

    tolerance: float = 0.05
    finest_tolerance: float = 1e-8
    """Training inputs count as covered once the pivots leave less of the variance there
    unexplained than the noise adds, within these limits: above the first, error bars at the
    training inputs would be seen to be too wide; below the second are rounding errors."""
    tied: float = 1e-9
    """Shares of the variance that differ by less are equal."""
    max_pivots: int = 128
    max_values: int = 1024
    """More pivots, or numbers in them, would make a fitted model grow with the training set."""
    few_rows: int = 500
    """Up to this many training inputs the whole kernel matrix takes less time than its columns."""
    max_rows: int = 4000
    """Training inputs looked at when pivots are chosen, to save time."""


_TUNING = PivotTuning()


def kernel_diagonal(kernel: KernelLike, X: Matrix, *, block_rows: int = 64) -> Vector:
    """``k(x, x)`` of every row; functions of two arrays are asked in small blocks."""
    if isinstance(kernel, Kernel):
        return np.asarray(kernel.diag(unboxed(X)), dtype=np.float64)
    parts = [X[start : start + block_rows] for start in range(0, len(X), block_rows)]
    return np.concatenate([kernel_block(kernel, part, part).diagonal() for part in parts])


class Pivots(NamedTuple):
    """Training inputs that stand for all of them."""

    rows: IndexArray
    unexplained: float
    """Largest share of the prior variance they leave unexplained at a training input."""


def choose_pivots(
    kernel: KernelLike,
    X: Matrix,
    tolerance: float = PivotTuning.tolerance,
    sample_weight: Vector | None = None,
    tuning: PivotTuning = _TUNING,
) -> Pivots | None:
    """Cover the inputs by a pivoted Cholesky factorisation of their correlation matrix.

    Starts at the input nearest to their mean, and takes the one farthest from it where several
    are equally unexplained, so that their order does not matter. Stops when less than `tolerance`
    of the prior variance is unexplained at every input, or at the limit on pivots. Returns None
    where `kernel` is not a covariance on these inputs.
    """
    diagonal = kernel_diagonal(kernel, X)
    if not (diagonal > 0.0).all():
        return None
    root = np.sqrt(diagonal)
    residual = np.ones(len(X))
    limit = min(tuning.max_pivots, max(32, tuning.max_values // X.shape[1]), len(X))
    columns = np.empty((limit, len(X)))
    values = kernel_dictionary(kernel, X, X)
    # few rows are evaluated at once: a call for each pivot would take longer
    whole = None
    if len(X) <= tuning.few_rows:
        whole = values.columns(np.arange(len(X))) / np.multiply.outer(root, root)

    def correlation(pivot: int) -> Vector:
        if whole is not None:
            return whole[:, pivot].copy()
        return np.asarray(values.columns(np.array([pivot]))[:, 0] / (root * root[pivot]))

    # in the units of the kernel, where it knows them
    seen = kernel.scaled(X) if isinstance(kernel, ScaledInputs) else X
    distance = np.zeros(len(X))  # objects that are not numbers have no middle
    if seen.dtype != object:
        distance = np.linalg.norm(seen - np.average(seen, axis=0, weights=sample_weight), axis=1)
    rows: list[int] = []
    while len(rows) < limit and (largest := float(residual.max())) >= tolerance:
        far, done = distance if rows else -distance, len(rows)
        tied = np.flatnonzero(residual > largest - tuning.tied)
        pivot = int(tied[np.argmax(far[tied])])
        column = correlation(pivot)
        column -= columns[:done, pivot] @ columns[:done]
        column /= math.sqrt(residual[pivot])
        columns[done] = column
        residual -= column**2
        if residual.min() < -1e-6:
            return None
        rows.append(pivot)
    return Pivots(np.array(rows, dtype=np.intp), float(residual.max()))


@dataclass(frozen=True, eq=False)
class Novelty:
    """What is not known at inputs that are unlike the training inputs.

    With ``r(x)`` the share of the prior variance at ``x`` that the pivots leave unexplained,
    ``rho = (r - offset)+ / (1 - offset)`` is the share that error bars count, and ``tau = (r -
    known)+ / (1 - known)``, which is zero at all training inputs, the share by which an input is
    beyond them. If predictions fall back to a `centre`, the mean ``s`` and variance ``v`` of the
    sparse model become, with ``d = s - centre`` and ``pi = d^4 / (d^4 + 4 amplitude^2)``, which
    says how implausible that is::

        omega    = tau (1 - known^8) pi
        mean     = s - omega d
        variance = (1 - rho) (v + omega^2 d^2) + rho (amplitude + max(rho, pi) (1 - omega)^2 d^2)

    the second moment, around that mean, of a mixture: with probability ``rho`` the function is that
    of a process around the centre, else that of the sparse model. Without a centre the mean is
    left alone, and ``rho amplitude`` is added to the variance.
    """

    kernel: KernelLike
    pivots: Matrix
    amplitude: float
    offset: float = 0.0
    known: float = 0.0
    """Share of the variance that is left unexplained at any training input, and on average at a
    new one of the kind."""
    centre: float | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Leave the factor out: it is quickly recomputed and would dominate the file."""
        return {key: value for key, value in self.__dict__.items() if key != "_factor"}

    def changed(self, **changes: Any) -> Novelty:
        """Return a copy with other numbers; what the pivots are known by stays."""
        other = replace(self, **changes)
        other.__dict__["_factor"] = self._factor
        return other

    @cached_property
    def _factor(self) -> Matrix:
        root = np.sqrt(kernel_diagonal(self.kernel, self.pivots))
        values = kernel_block(self.kernel, self.pivots, self.pivots)
        correlation = values / np.multiply.outer(root, root)
        factor = shifted_cholesky(correlation, np.full(len(root), 1e-10))
        assert factor is not None, "pivots were chosen to be independent"
        return factor

    def _explained(self, X: Matrix) -> tuple[Matrix, Vector]:
        root = np.sqrt(kernel_diagonal(self.kernel, self.pivots))
        own = np.sqrt(np.maximum(kernel_diagonal(self.kernel, X), 1e-300))
        cross = kernel_block(self.kernel, X, self.pivots) / np.multiply.outer(own, root)
        return solve_lower(self._factor, np.asfortranarray(cross.T)), own

    def unexplained(self, X: Matrix) -> Vector:
        """``r(x)``: the share of the prior variance that is unknown at each input."""
        white, _ = self._explained(X)
        return np.clip(1.0 - np.einsum("ij,ij->j", white, white), 0.0, 1.0)

    def share(self, X: Matrix) -> Vector:
        """``rho(x)``: the share of the variance of the process that error bars count."""
        return _share_beyond(self.unexplained(X), self.offset)

    def extrapolation(self, X: Matrix) -> Vector:
        """``tau(x)``: zero at the training inputs, one where they say nothing."""
        return _share_beyond(self.unexplained(X), self.known)

    def covariance(self, X: Matrix) -> Matrix:
        """Covariance of the process between all inputs; its diagonal is ``rho amplitude``."""
        white, own = self._explained(X)
        residual = kernel_block(self.kernel, X, X) / np.multiply.outer(own, own) - white.T @ white
        unexplained = np.clip(residual.diagonal(), 0.0, 1.0)
        variance = self.amplitude * _share_beyond(unexplained, self.offset)
        scale = np.sqrt(variance / np.maximum(unexplained, 1e-300))
        return residual * np.multiply.outer(scale, scale)

    def fallback(self, X: Matrix, mean: Vector) -> Fallback:
        """Say how predictions with this mean fall back.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Inputs.
        mean : ndarray of shape (n_samples,)
            Of the sparse model there.
        """
        unexplained = self.unexplained(X)
        share = _share_beyond(unexplained, self.offset)
        if self.centre is None:
            none = np.zeros(len(share))
            return Fallback(none, none, np.ones(len(share)), none, self.amplitude * share)
        away = mean - self.centre
        # how far away in units of the process; beyond 1e50 of them it does not matter how far
        ratio = np.minimum((away / math.sqrt(2.0 * self.amplitude)) ** 2, 1e100)
        implausible = ratio**2 / (1.0 + ratio**2)
        # where training inputs are as novel as any, novelty says nothing against a mean
        telling = 1.0 - self.known**8
        pull = telling * _share_beyond(unexplained, self.known) * implausible
        spread = (1.0 - share) * pull**2 + share * np.maximum(share, implausible) * (
            1.0 - pull
        ) ** 2
        return Fallback(
            pull, -pull * away, 1.0 - share, away * np.sqrt(spread), self.amplitude * share
        )


def _share_beyond(unexplained: Vector, limit: float | Matrix) -> Vector:
    """Return what of shares of the variance lies beyond a limit, from zero there to one."""
    return np.maximum(unexplained - limit, 0.0) / (1.0 - limit)


class Fallback(NamedTuple):
    """What becomes of the predictions of a sparse model at some inputs."""

    pull: Vector
    """``omega``: the share of the way to the centre that the mean goes."""
    shift: Vector
    """What is added to the mean."""
    kept: Vector
    """Share of the variance of the sparse model that stays."""
    spread: Vector
    """Deviation between the two means, one normal deviate for all inputs."""
    process: Vector
    """Variance of the process."""

    def variance(self, variance: Vector) -> Vector:
        """Return the variance of a prediction."""
        return self.kept * variance + self.spread**2 + self.process


def _select_training_inputs(
    X: Matrix, sample_weight: Vector | None, max_rows: int
) -> tuple[Matrix, IndexArray, Vector]:
    """Training inputs that count, no more than are needed to find pivots; rows and weights."""
    rows = np.arange(len(X)) if sample_weight is None else np.flatnonzero(sample_weight > 0)
    if len(rows) > max_rows:
        rows = rows[np.linspace(0, len(rows) - 1, max_rows).astype(np.intp)]
    weight = np.ones(len(rows)) if sample_weight is None else sample_weight[rows]
    return X[rows], rows, weight


def fit_label_novelty(
    kernel: KernelLike, X: Matrix, sample_weight: Vector | None, logits: Matrix
) -> Novelty | None:
    """Doubt of logits away from the data: as much as they vary over them, none among them.

    Labels do not say how well single logits are known, so training inputs that the pivots cannot
    cover count as known, and so do about all new ones that are no farther away. `logits` has a
    column for each; the result is for any of them. Returns None where `kernel` is not a
    covariance or the logits do not vary.
    """
    centred = logits - np.average(logits, axis=0, weights=sample_weight)
    spread = np.average(centred**2, axis=0, weights=sample_weight).mean()
    inputs, _, weight = _select_training_inputs(X, sample_weight, _TUNING.max_rows)
    pivots = choose_pivots(kernel, inputs, sample_weight=weight)
    if pivots is None or not spread > 0.0:
        return None
    known = min(pivots.unexplained, 1.0 - _TUNING.tied)
    return Novelty(kernel, inputs[pivots.rows], float(spread), known, known)


class Cover(NamedTuple):
    """Training inputs and the pivots that stand for them, whatever the targets."""

    inputs: Matrix
    rows: IndexArray
    weight: Vector
    novelty: Novelty
    """Of amplitude one."""
    unexplained: Vector
    """Share of the variance that the pivots leave unexplained at each input."""
    most: float
    """The largest of them."""


Covers = dict[tuple[int, float], tuple[KernelLike, Cover | None]]
"""By kernel and tolerance, of the same inputs; kernels are kept so that no other has their id."""


def _cover(
    kernel: KernelLike,
    X: Matrix,
    sample_weight: Vector | None,
    tolerance: float,
    tuning: PivotTuning,
) -> Cover | None:
    """Choose pivots from the training inputs; None where `kernel` is not a covariance."""
    inputs, rows, weight = _select_training_inputs(X, sample_weight, tuning.max_rows)
    pivots = choose_pivots(kernel, inputs, tolerance, weight, tuning)
    if pivots is None:
        return None
    novelty = Novelty(kernel, inputs[pivots.rows], 1.0)
    # Pivots are known, but how novel they were is what new inputs of the kind are: in many
    # dimensions every row is unlike all others, and nothing can be told by that.
    apart = 1.0 / inverse_diagonal_from_cholesky(novelty._factor)
    n_different = len(inputs if inputs.dtype == object else np.unique(inputs, axis=0))
    typical = float(apart.sum()) / n_different
    known = min(max(pivots.unexplained + tuning.tied, typical), 1.0 - tuning.tied)
    novelty = novelty.changed(known=known)
    return Cover(inputs, rows, weight, novelty, novelty.unexplained(inputs), pivots.unexplained)


def fit_novelty(
    kernel: KernelLike,
    X: Matrix,
    atoms: Atoms,
    target: Vector | None,
    sample_weight: Vector | None,
    posterior: Posterior,
    amplitude: float,
    *,
    falls_back: bool = False,
    covers: Covers | None = None,
    tuning: PivotTuning = _TUNING,
) -> Novelty | None:
    """Choose pivots from the training inputs, and how much of what they leave unexplained counts.

    Returns None where `kernel` is not a covariance. Without `target` all of these inputs count as
    known. Predictions that fall back do so to the mean of the targets. What pivots are chosen is
    kept in `covers`, for other fits to the same inputs.
    """
    noise_share = posterior.noise_variance / amplitude
    tolerance = min(max(noise_share, tuning.finest_tolerance), tuning.tolerance)
    covers, key = {} if covers is None else covers, (id(kernel), tolerance)
    if key not in covers:
        covers[key] = kernel, _cover(kernel, X, sample_weight, tolerance, tuning)
    cover = covers[key][1]
    if cover is None:
        return None
    inputs, rows, weight, novelty, unexplained, most = cover
    centre = posterior.target_mean if falls_back else None
    novelty = novelty.changed(amplitude=amplitude, centre=centre)
    if target is None:
        return novelty.changed(offset=min(novelty.known, 0.99))
    # Pivots never cover the training inputs wholly, in many dimensions not even nearly, so that
    # these look novel themselves. How much of that is real is what best predicts the training
    # targets, each from the others.
    weight = np.where(unexplained > 1e-6, weight, 0.0)  # a pivot says nothing about the others
    mean, variance = posterior.leave_one_out(atoms.evaluate(inputs), target[rows])
    offsets = np.linspace(0.0, min(most, 0.99), 21)
    total = variance + amplitude * _share_beyond(unexplained, offsets[:, None])
    score = -(np.log(total) + (target[rows] - mean) ** 2 / total) @ weight
    return novelty.changed(offset=float(offsets[np.argmax(score)]))


@dataclass(frozen=True, eq=False)
class Augmentation:
    """RVM*: an atom at the test input itself, whose prior variance is the signal's.

    Rasmussen and Quiñonero-Candela (2005), Healing the relevance vector machine through
    augmentation. Needs the training inputs at prediction time.
    """

    kernel: KernelLike
    inputs: Matrix
    residual: Vector
    """Weighted ``t - Phi mu`` at the training inputs."""
    root_weight: Vector
    atoms: Atoms
    posterior: Posterior
    amplitude: float

    def correction(self, X: Matrix) -> tuple[Vector, Vector]:
        """Change of mean and of variance at each input."""
        posterior = self.posterior
        weight = self.root_weight**2
        columns = kernel_block(self.kernel, self.inputs, X)
        mean = np.zeros(len(X))
        if posterior.has_intercept:
            mean = weight @ columns / weight.sum()
        centred = (columns - mean) * self.root_weight[:, None]
        unit = posterior.unit(self.atoms.evaluate(self.inputs)) * self.root_weight[:, None]
        white_cross = solve_lower(posterior.factor, np.asfortranarray(unit.T @ centred))
        white_here = posterior.whiten(self.atoms.evaluate(X))
        own = kernel_diagonal(self.kernel, X) - mean
        unexplained = own - np.einsum("ij,ij->j", white_here, white_cross)
        squared = np.einsum("ij,ij->j", centred, centred)
        s = (squared - np.einsum("ij,ij->j", white_cross, white_cross)) / posterior.noise_variance
        q = (self.residual @ centred) / posterior.noise_variance
        total = 1.0 / self.amplitude + np.maximum(s, 0.0)
        return unexplained * q / total, unexplained**2 / total
