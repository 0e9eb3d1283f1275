"""Error bars away from the training data.

The kernels of a relevance vector machine are centred on training inputs and decay away from them.
So the posterior variance of the function *falls* to zero away from the data, where nothing is known
(Tipping 2001, appendix D.1; Rasmussen & Quiñonero-Candela 2005). This module has two remedies:

- `Novelty` adds the posterior variance of a stationary Gaussian process at the input, given its
  values at a few stored pivots that cover the training inputs. Where little is known and the mean
  of the sparse model is far from all targets, predictions fall back to the mean of the targets:
  kernels of long length-scale have large weights, which cancel near the data only. No training
  data are needed for predictions.
- `Augmentation` (RVM*) adds one kernel centred on the test input, with its weight integrated out.
  It also changes the mean, and needs the training inputs.
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
from relvec.kernels.definition import squeeze_object_column
from relvec.posterior import Posterior


@dataclass(frozen=True)
class PivotTuning:
    """Constants of the selection of pivots."""

    tolerance: float = 0.05
    """Largest fraction of the prior variance that may remain unexplained at a training input;
    larger values visibly widen the error bars at the training inputs."""
    finest_tolerance: float = 1e-8
    """Smallest such fraction, above rounding errors. Between the two limits the tolerance is the
    ratio of noise variance to amplitude: the pivots leave less unexplained than the noise adds."""
    tie_tolerance: float = 1e-9
    """Fractions of the variance that differ by less are equal; above rounding errors."""
    max_pivots: int = 128
    """Largest number of pivots, so that fitted models do not grow with the training set."""
    max_values: int = 1024
    """Largest number of stored values: pivots times features; at least 32 pivots are allowed."""
    max_full_rows: int = 500
    """Up to this many training inputs the whole kernel matrix is faster than single columns."""
    max_rows: int = 4000
    """Largest number of training inputs among which pivots are selected, to save time."""


_TUNING = PivotTuning()


def kernel_diagonal(kernel: KernelLike, X: Matrix, *, block_rows: int = 64) -> Vector:
    """Compute ``k(x, x)`` of every row; callables are evaluated in small blocks."""
    if isinstance(kernel, Kernel):
        return np.asarray(kernel.diag(squeeze_object_column(X)), dtype=np.float64)
    parts = [X[start : start + block_rows] for start in range(0, len(X), block_rows)]
    return np.concatenate([kernel_block(kernel, part, part).diagonal() for part in parts])


class Pivots(NamedTuple):
    """Training inputs that represent all training inputs."""

    rows: IndexArray
    unexplained: float
    """Largest fraction of the prior variance that remains unexplained at a training input."""


def choose_pivots(
    kernel: KernelLike,
    X: Matrix,
    tolerance: float = PivotTuning.tolerance,
    sample_weight: Vector | None = None,
    tuning: PivotTuning = _TUNING,
) -> Pivots | None:
    """Select pivots by a pivoted Cholesky factorisation of the correlation matrix of the inputs.

    Each pivot is the input with the largest unexplained variance, ``1 - sum_j L_ij^2`` after the
    pivots so far. The first one is nearest to the mean of the inputs; ties are broken in favour of
    the input farthest from the mean, so the order of the inputs has no effect. The selection stops
    when less than `tolerance` of the prior variance is unexplained at every input, or at the limit
    on pivots. Returns None if `kernel` is not a covariance on these inputs.
    """
    diagonal = kernel_diagonal(kernel, X)
    if not (diagonal > 0.0).all():
        return None
    # Correlations: with a unit diagonal, residuals are fractions of the prior variance.
    root = np.sqrt(diagonal)
    residual = np.ones(len(X))
    # Each pivot stores n_features values; 32 pivots are allowed whatever their number.
    limit = min(tuning.max_pivots, max(32, tuning.max_values // X.shape[1]), len(X))
    columns = np.empty((limit, len(X)))
    values = kernel_dictionary(kernel, X, X)
    # For few rows the whole matrix is evaluated at once: one call per pivot would be slower.
    whole = None
    if len(X) <= tuning.max_full_rows:
        whole = values.columns(np.arange(len(X))) / np.multiply.outer(root, root)

    def correlation(pivot: int) -> Vector:
        if whole is not None:
            return whole[:, pivot].copy()
        return np.asarray(values.columns(np.array([pivot]))[:, 0] / (root * root[pivot]))

    # Distances in the units of the kernel, if it has length-scales.
    scaled = kernel.scaled(X) if isinstance(kernel, ScaledInputs) else X
    distance = np.zeros(len(X))  # objects such as strings have no mean
    if scaled.dtype != object:
        distance = np.linalg.norm(
            scaled - np.average(scaled, axis=0, weights=sample_weight), axis=1
        )
    rows: list[int] = []
    while len(rows) < limit and (largest := float(residual.max())) >= tolerance:
        # The first pivot is the nearest to the mean: all residuals are one, hence all are tied.
        far, done = distance if rows else -distance, len(rows)
        tied = np.flatnonzero(residual > largest - tuning.tie_tolerance)
        pivot = int(tied[np.argmax(far[tied])])
        # Next column of the Cholesky factor, and the reduction of the unexplained variance.
        column = correlation(pivot)
        # L_ip = (C_ip - sum_j L_ij L_pj) / L_pp with L_pp^2 the unexplained variance of the pivot.
        column -= columns[:done, pivot] @ columns[:done]
        column /= math.sqrt(residual[pivot])
        columns[done] = column
        residual -= column**2
        # A residual of a positive semi-definite matrix is negative by rounding only.
        if residual.min() < -1e-6:
            return None
        rows.append(pivot)
    return Pivots(np.array(rows, dtype=np.intp), float(residual.max()))


@dataclass(frozen=True, eq=False)
class Novelty:
    """Additional variance at inputs that are unlike the training inputs.

    Let ``r(x) = 1 - k_p' K_pp^-1 k_p / k(x, x)`` be the fraction of the prior variance of a
    Gaussian process at ``x`` that its values at the pivots ``p`` leave unexplained (Rasmussen &
    Williams 2006, eq. 2.26, without noise). From it follow two fractions:

    - ``rho = (r - offset)+ / (1 - offset)``, the fraction of the prior variance that is added;
    - ``tau = (r - known)+ / (1 - known)``, the degree of extrapolation, zero at training inputs.

    If predictions fall back to a `centre`, let ``s`` and ``v`` be mean and variance of the sparse
    model, ``d = s - centre``, ``pi = d^4 / (d^4 + 4 amplitude^2)``, which is near one if the mean
    is implausibly far from the centre, and ``absurd = d^4 / (d^4 + 16^4 amplitude^2)``, which is
    near one only if it is absurdly far. The prediction is then::

        omega    = tau (1 - known^8 (1 - absurd)) pi
        mean     = s - omega d
        variance = (1 - rho) (v + omega^2 d^2) + rho (amplitude + max(rho, pi) (1 - omega)^2 d^2)

    This is the second moment, around that mean, of a mixture: with probability ``rho`` the function
    is that of a process around the centre, otherwise that of the sparse model. Without a centre the
    mean does not change, and ``rho amplitude`` is added to the variance.
    """

    kernel: KernelLike
    pivots: Matrix
    amplitude: float
    offset: float = 0.0
    known: float = 0.0
    """Fraction of the variance that counts as explained for `tau`: at least what is unexplained at
    any training input, and on average at a new input of the same distribution."""
    centre: float | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the Cholesky factor: it is quickly recomputed and would dominate the file."""
        return {key: value for key, value in self.__dict__.items() if key != "_factor"}

    def changed(self, **changes: Any) -> Novelty:
        """Return a copy with other parameters; the Cholesky factor of the pivots is kept."""
        other = replace(self, **changes)
        other.__dict__["_factor"] = self._factor
        return other

    @cached_property
    def _factor(self) -> Matrix:
        root = np.sqrt(kernel_diagonal(self.kernel, self.pivots))
        values = kernel_block(self.kernel, self.pivots, self.pivots)
        correlation = values / np.multiply.outer(root, root)
        # The jitter is below the finest tolerance of pivots, 1e-8, so it has no visible
        # effect.
        factor = shifted_cholesky(correlation, np.full(len(root), 1e-10))
        assert factor is not None, "pivots were chosen to be independent"
        return factor

    def _explained(self, X: Matrix) -> tuple[Matrix, Vector]:
        root = np.sqrt(kernel_diagonal(self.kernel, self.pivots))
        # k(x, x) may be zero at a new input, though not at pivots.
        own = np.sqrt(np.maximum(kernel_diagonal(self.kernel, X), 1e-300))
        cross = kernel_block(self.kernel, X, self.pivots) / np.multiply.outer(own, root)
        # L^-1 c(p, x) with C_pp = L L': its squared norm is c' C_pp^-1 c, the explained fraction.
        return solve_lower(self._factor, np.asfortranarray(cross.T)), own

    def unexplained(self, X: Matrix) -> Vector:
        """Compute ``r(x)``, the unexplained fraction of the prior variance at each input."""
        white, _ = self._explained(X)
        return np.clip(1.0 - np.einsum("ij,ij->j", white, white), 0.0, 1.0)

    def share(self, X: Matrix) -> Vector:
        """Compute ``rho(x)``, the fraction of the prior variance that is added to error bars."""
        return _share_beyond(self.unexplained(X), self.offset)

    def extrapolation(self, X: Matrix) -> Vector:
        """Compute ``tau(x)``: zero at the training inputs, one far away from them."""
        return _share_beyond(self.unexplained(X), self.known)

    def covariance(self, X: Matrix) -> Matrix:
        """Compute the covariance of the added process; its diagonal is ``rho amplitude``."""
        white, own = self._explained(X)
        # Posterior correlation given the pivots (R&W 2006, eq. 2.24, without noise).
        residual = kernel_block(self.kernel, X, X) / np.multiply.outer(own, own) - white.T @ white
        unexplained = np.clip(residual.diagonal(), 0.0, 1.0)
        variance = self.amplitude * _share_beyond(unexplained, self.offset)
        # Scaling both sides by a diagonal keeps it positive semi-definite and sets the diagonal.
        scale = np.sqrt(variance / np.maximum(unexplained, 1e-300))
        return residual * np.multiply.outer(scale, scale)

    def fallback(self, X: Matrix, mean: Vector) -> Fallback:
        """Compute how predictions with this mean fall back to the centre.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Inputs.
        mean : ndarray of shape (n_samples,)
            Predictive mean of the sparse model at these inputs.
        """
        unexplained = self.unexplained(X)
        share = _share_beyond(unexplained, self.offset)
        if self.centre is None:
            none = np.zeros(len(share))
            return Fallback(none, none, np.ones(len(share)), none, self.amplitude * share)
        away = mean - self.centre
        # Squared distance in units of the amplitude; the cap avoids overflow.
        # ratio^2 = d^4 / (4 amplitude^2), so that pi = ratio^2 / (1 + ratio^2).
        ratio = np.minimum((away / math.sqrt(2.0 * self.amplitude)) ** 2, 1e100)
        implausible = ratio**2 / (1.0 + ratio**2)
        # If the training inputs themselves are unexplained, novelty is no argument against a mean,
        # unless the mean is absurdly far from all targets.
        # 4 * 128^2 = 16^4 of the docstring.
        absurd = ratio**2 / (128.0**2 + ratio**2)
        telling = 1.0 - self.known**8 * (1.0 - absurd)
        pull = telling * _share_beyond(unexplained, self.known) * implausible
        # Variance between the two means of the mixture, in units of d^2: the sparse mean is omega d
        # away from the final mean, the centre (1 - omega) d.
        spread = (1.0 - share) * pull**2 + share * np.maximum(share, implausible) * (
            1.0 - pull
        ) ** 2
        return Fallback(
            pull, -pull * away, 1.0 - share, away * np.sqrt(spread), self.amplitude * share
        )


def _share_beyond(unexplained: Vector, limit: float | Matrix) -> Vector:
    """Rescale fractions of the variance: zero up to a limit, one at one."""
    return np.maximum(unexplained - limit, 0.0) / (1.0 - limit)


class Fallback(NamedTuple):
    """Corrections to the predictions of a sparse model at some inputs."""

    pull: Vector
    """``omega``: fraction of the distance to the centre by which the mean moves."""
    shift: Vector
    """Amount added to the mean."""
    kept: Vector
    """Fraction of the variance of the sparse model that remains."""
    spread: Vector
    """Standard deviation due to the difference of the two means; samples share one normal deviate
    for all inputs."""
    process: Vector
    """Variance of the process."""

    def variance(self, variance: Vector) -> Vector:
        """Compute the variance of a prediction."""
        return self.kept * variance + self.spread**2 + self.process


def _select_training_inputs(
    X: Matrix, sample_weight: Vector | None, max_rows: int
) -> tuple[Matrix, IndexArray, Vector]:
    """Select at most `max_rows` training inputs of positive weight; also their rows and weights."""
    rows = np.arange(len(X)) if sample_weight is None else np.flatnonzero(sample_weight > 0)
    if len(rows) > max_rows:
        rows = rows[np.linspace(0, len(rows) - 1, max_rows).astype(np.intp)]
    weight = np.ones(len(rows)) if sample_weight is None else sample_weight[rows]
    return X[rows], rows, weight


def fit_label_novelty(
    kernel: KernelLike, X: Matrix, sample_weight: Vector | None, logits: Matrix
) -> Novelty | None:
    """Fit the additional variance of logits away from the data; it is zero at the training inputs.

    The amplitude is the mean variance of the logits over the training inputs. Class labels do not
    tell how well single logits are known. So training inputs that the pivots leave unexplained
    count as explained, and so do new inputs that are no farther away. `logits` has one column per
    logit; the result is for all of them. Returns None if `kernel` is not a covariance or the logits
    do not vary.
    """
    centred = logits - np.average(logits, axis=0, weights=sample_weight)
    spread = np.average(centred**2, axis=0, weights=sample_weight).mean()
    inputs, _, weight = _select_training_inputs(X, sample_weight, _TUNING.max_rows)
    pivots = choose_pivots(kernel, inputs, sample_weight=weight)
    if pivots is None or not spread > 0.0:
        return None
    # Below one: `_share_beyond` divides by 1 - known.
    known = min(pivots.unexplained, 1.0 - _TUNING.tie_tolerance)
    return Novelty(kernel, inputs[pivots.rows], float(spread), known, known)


class Cover(NamedTuple):
    """Training inputs and their pivots, which do not depend on the targets."""

    inputs: Matrix
    rows: IndexArray
    weight: Vector
    novelty: Novelty
    """With amplitude one."""
    unexplained: Vector
    """Fraction of the variance that the pivots leave unexplained at each input."""
    most: float
    """The largest of these fractions."""


Covers = dict[tuple[int, float], tuple[KernelLike, Cover | None]]
"""Cache of covers of the same inputs, by kernel id and tolerance. Kernels are kept alive so that
their ids stay unique."""


def _cover(
    kernel: KernelLike,
    X: Matrix,
    sample_weight: Vector | None,
    tolerance: float,
    tuning: PivotTuning,
) -> Cover | None:
    """Select pivots among the training inputs; None if `kernel` is not a covariance."""
    inputs, rows, weight = _select_training_inputs(X, sample_weight, tuning.max_rows)
    pivots = choose_pivots(kernel, inputs, tolerance, weight, tuning)
    if pivots is None:
        return None
    novelty = Novelty(kernel, inputs[pivots.rows], 1.0)
    # Leave-one-out variance of each pivot given the others, 1 / (K^-1)_ii: how novel a new input of
    # the same distribution is. In many dimensions every input is unlike all others.
    apart = 1.0 / inverse_diagonal_from_cholesky(novelty._factor)
    n_different = len(inputs if inputs.dtype == object else np.unique(inputs, axis=0))
    # Mean over all distinct inputs; those that are not pivots count as zero.
    typical = float(apart.sum()) / n_different
    known = min(max(pivots.unexplained + tuning.tie_tolerance, typical), 1.0 - tuning.tie_tolerance)
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
    relative_precision: Vector | None = None,
    tuning: PivotTuning = _TUNING,
) -> Novelty | None:
    """Select pivots among the training inputs and fit the `offset` of the added variance.

    Returns None if `kernel` is not a covariance. Without `target` all training inputs count as
    explained. With `falls_back`, predictions fall back to the mean of the targets. Pivots are
    stored in `covers`, for other fits to the same inputs. `relative_precision` is that of the noise
    of each row; by default it is one.
    """
    # Variance that the pivots leave unexplained at training inputs should stay below the noise.
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
    # Pivots never cover the training inputs completely, in many dimensions not even nearly, so
    # training inputs look novel themselves. The offset is the fraction to ignore: it maximises the
    # leave-one-out predictive density of the training targets.
    weight = np.where(unexplained > 1e-6, weight, 0.0)  # at pivots all offsets are equivalent
    relative = 1.0 if relative_precision is None else 1.0 / relative_precision[rows]
    mean, variance = posterior.leave_one_out(
        atoms.evaluate(inputs), target[rows], relative_variance=relative
    )
    offsets = np.linspace(0.0, min(most, 0.99), 21)
    # Leave-one-out predictive variance for every offset on a grid, and its log density times two.
    total = variance + amplitude * _share_beyond(unexplained, offsets[:, None])
    score = -(np.log(total) + (target[rows] - mean) ** 2 / total) @ weight
    return novelty.changed(offset=float(offsets[np.argmax(score)]))


@dataclass(frozen=True, eq=False)
class Augmentation:
    """RVM*: a kernel centred on the test input, with the variance of the signal as prior variance.

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
        """Compute the change of mean and variance at each input.

        With sparsity and quality factors ``s`` and ``q`` of the new kernel, precision ``alpha* = 1
        / amplitude`` and ``e = phi*(x) - phi(x)' S Phi'phi*`` (the value of the kernel at its
        centre, less what the other atoms explain), the mean changes by ``e q / (alpha* + s)`` and
        the variance by ``e^2 / (alpha* + s)``.
        """
        posterior = self.posterior
        weight = self.root_weight**2
        columns = kernel_block(self.kernel, self.inputs, X)
        mean = np.zeros(len(X))
        if posterior.has_intercept:
            # The intercept has a flat prior: columns are centred, like the atoms of the model.
            mean = weight @ columns / weight.sum()
        centred = (columns - mean) * self.root_weight[:, None]
        unit = posterior.unit(self.atoms.evaluate(self.inputs)) * self.root_weight[:, None]
        # With G + Lam = L L': phi*' Phi S Phi' phi* is the squared norm of L^-1 Phi' phi*.
        white_cross = solve_lower(posterior.factor, np.asfortranarray(unit.T @ centred))
        white_here = posterior.whiten(self.atoms.evaluate(X))
        own = kernel_diagonal(self.kernel, X) - mean
        unexplained = own - np.einsum("ij,ij->j", white_here, white_cross)
        squared = np.einsum("ij,ij->j", centred, centred)
        # s = phi*' C^-1 phi* and q = phi*' C^-1 t by the Woodbury identity, C^-1 = (I - Phi S Phi')
        # / sigma^2; C^-1 t is the residual over sigma^2 (Tipping & Faul 2003, eqs. 24, 25).
        s = (squared - np.einsum("ij,ij->j", white_cross, white_cross)) / posterior.noise_variance
        q = (self.residual @ centred) / posterior.noise_variance
        # Precision of the new weight a posteriori; s >= 0 but for rounding.
        total = 1.0 / self.amplitude + np.maximum(s, 0.0)
        return unexplained * q / total, unexplained**2 / total
