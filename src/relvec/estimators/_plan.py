"""The plan of a fit: options resolved to objects, and the steps of the fit.

An estimator resolves its options to a plan. The plan learns length-scales, fits, and scores
held-out rows. Comparisons of several length-scales and cross-validation use the same plan with
other rows. Nothing here depends on estimators.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Generic, NamedTuple, Self, TypeVar

import numpy as np
from sklearn.utils import check_random_state

from relvec._checks import check_dense
from relvec._linalg import limit_blas_threads
from relvec._typing import IndexArray, Matrix, Vector
from relvec.bases.base import Basis, BoundBasis
from relvec.estimators._inputs import check_range
from relvec.estimators._length_scale_choice import choose_length_scales
from relvec.estimators._length_scales import (
    ScaledBasis,
    find_kernel,
    find_kernel_blocks,
    make_other_columns,
)
from relvec.estimators._options import check_options
from relvec.learning import LengthScaleLearner
from relvec.learning.kernel_sum import KernelBlock
from relvec.moments import SufficientStatistics
from relvec.priors import Prior, resolve_prior
from relvec.solvers import (
    Monitor,
    Progress,
)

__all__ = ["Data", "Plan", "PlanTuning", "make_monitor", "resolve_common_options"]

AnyFit = TypeVar("AnyFit")


class Data(NamedTuple):
    """Validated data: inputs, targets and sample weights."""

    X: Any
    targets: Matrix
    """One column per output, or class indicators."""
    weight: Vector | None
    groups: IndexArray
    """Class of each row; all zero in regression."""
    statistics: SufficientStatistics | None = None
    """Sufficient statistics in place of targets; `X` is then a sample of the training inputs."""
    row_variance: Matrix | None = None
    """Noise variance of each row and output, up to a factor common to all rows; None if the noise
    variance is constant."""

    def subset(self, rows: IndexArray) -> Data:
        """Return some of the rows."""
        weight = None if self.weight is None else self.weight[rows]
        variance = None if self.row_variance is None else self.row_variance[rows]
        part = Data(self.X[rows], self.targets[rows], weight, self.groups[rows])
        return part._replace(row_variance=variance)

    def find_noise_unit(self, number: int) -> float:
        """Return the noise variance of a row of average precision: the harmonic mean over rows."""
        if self.row_variance is None:
            return 1.0
        return 1.0 / float(np.average(1.0 / self.row_variance[:, number], weights=self.weight))

    def relative_precision(self, number: int) -> Vector | None:
        """Return ``h / v`` of each row, with the harmonic mean ``h`` of the noise variances ``v``.

        None if the noise variance is constant.
        """
        if self.row_variance is None:
            return None
        result: Vector = self.find_noise_unit(number) / self.row_variance[:, number]
        return result

    def regression_weight(self, number: int) -> Vector | None:
        """Return the weights of a regression on one output: frequency times relative precision.

        These weights sum to the number of observations. The common noise variance of the weighted
        regression is that of a row with ``v = h``.
        """
        precision = self.relative_precision(number)
        if precision is None or self.weight is None:
            return self.weight if precision is None else precision
        return self.weight * precision

    def mean_regression_weight(self) -> Vector | None:
        """Return the regression weights, averaged over outputs."""
        each = list(map(self.regression_weight, range(self.targets.shape[1])))
        return self.weight if self.row_variance is None else np.mean(np.array(each), axis=0)

    def log_precision(self, number: int) -> float:
        """Return the sum over observations of half the log relative precision, ``log(h / v) / 2``.

        The log density of targets with unequal noise exceeds that of the weighted regression by
        this: ``log N(t | f, sigma^2 v / h) = log N(t | f, sigma^2)^(h / v) + log(h / v) / 2``,
        apart from the constants ``log(2 pi sigma^2)``, which count observations.
        """
        precision = self.relative_precision(number)
        if precision is None:
            return 0.0
        each = np.log(precision)
        return 0.5 * float(each.sum() if self.weight is None else self.weight @ each)


@dataclass(frozen=True)
class PlanTuning:
    """Constants of fits that are not options."""

    n_comparison_rows: int = 1000
    """Rows on which sparse models compare candidate length-scales: enough to compare kinds of
    length-scales, at a fraction of the cost of a fit to many rows."""
    folds: int = 5
    """Folds of cross-validation."""
    false_positive_rate: float = 0.1
    """Probability that noise in many features is taken for a signal."""
    min_kernel_gain: float = 1e-3
    """Minimum gain in log evidence of a kernel, in nats: a tolerance only. Kernels overlap, so a
    useful one may gain next to nothing by itself."""
    n_joint_steps: int = 3
    """Joint steps of precisions and length-scales in one round of refinement. Few on purpose: at
    its maximum the evidence of a sparse model overfits the length-scales."""
    n_shape_rounds: int = 5
    """Largest number of rounds in which widths and centres of single kernels are moved; most fits
    end after a few."""
    n_shape_steps: int = 20
    """Steps of widths, centres and precisions in one round."""
    min_improvement: float = 0.01
    """Increase of the objective, in nats, that is worth another fit."""
    readmission_gain: float = 2.0
    """Gain in log evidence, in addition to the penalty, for which the sparse model adds a feature
    that the Gaussian process removed: both have used the same targets."""
    max_mean_copies: float = 3.0
    """Mean number of copies of rows from which on a warning is issued; bootstrap samples have
    fewer."""
    min_held_out_rows: int = 10
    """With fewer rows nothing is held out: a fold would be a row or two."""
    enough_held_out_rows: int = 1000
    """Held-out rows that determine the variance of errors to a few per cent."""
    max_held_out_rows: int = 5000
    """Of more rows a random sample of this size is used for cross-validation: with so many rows
    error bars are hardly ever too narrow."""
    narrow_factor: float = 1.0
    """Length-scale factor that is tried in addition to the default one if there is one feature."""
    max_linear_features: int = 1000
    """With more features no linear model of all of them is tried: the size of its covariance is the
    square of their number."""
    min_sparse_linear_features: int = 20
    """With fewer features no sparse linear model is tried: there is little to gain."""
    max_joint_features: int = 200
    """Largest number of features for which all are reconsidered jointly; with more, only those in
    the model."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Plan(ABC, Generic[AnyFit]):
    """Plan of a fit: the options of an estimator, resolved to objects."""

    basis: Basis
    prior: Prior
    solver: Any
    learner: LengthScaleLearner | None
    """Learner of the length-scales; None if they are not learnt."""
    min_gain: float | None
    """Log prior odds against the inclusion of an atom, in nats; None for the default."""
    error_bars: str
    low_memory: bool | None
    """Whether not to store the basis matrix; None to decide by its size."""
    random_state: Any
    monitor: Monitor | None
    tuning: PlanTuning = PlanTuning()
    are_labels: ClassVar[bool] = False
    """Whether targets are class indicators."""

    def run(self, data: Data) -> AnyFit:
        """Fit the basis as it is, or with learnt length-scales."""
        if self.learner is None:
            return self.adjust_by_held_out_rows(
                self.add_error_bars(self.fit(self.basis, data), data), data
            )
        return self.fit_best_candidate(self.learn_length_scales(data), data)

    def fit_best_candidate(self, candidates: list[ScaledBasis], data: Data) -> AnyFit:
        """Fit with the best of several candidate length-scales."""
        scaled, fit, held_out = choose_length_scales(self, candidates, data)
        fit = self.add_error_bars(self.attach_length_scales(scaled, fit, data), data)
        return self.adjust_by_held_out_rows(fit, data, held_out)

    def learn_length_scales(self, data: Data) -> list[ScaledBasis]:
        """Return the basis with each of the candidate length-scales."""
        assert self.learner is not None
        X, targets, weight = data.X, data.targets, data.mean_regression_weight()
        check_dense(X, "KernelBasis")
        if X.dtype == object:
            raise ValueError(
                f"length-scales can be learnt for numeric features; got objects such as "
                f"{X.flat[0]!r}. Use length_scales=None."
            )
        blocks = find_kernel_blocks(self.basis, self.learner.kind, X, weight)
        if blocks:
            return [self._learn_kernel_blocks(blocks, data)]
        place, kernel = find_kernel(self.basis, self.learner.kind)
        columns = make_other_columns(self.basis, [place], X, weight)
        with limit_blas_threads(0.0):
            candidates = self.learner.learn(
                kernel, X, targets, weight, columns, are_labels=self.are_labels
            )
        return list(map(partial(ScaledBasis, self.basis, place, kernel), candidates))

    def _learn_kernel_blocks(self, blocks: dict[int, KernelBlock], data: Data) -> ScaledBasis:
        """Return the basis with the kernels of several `KernelBasis` learnt together."""
        assert self.learner is not None
        X, weight, places = data.X, data.mean_regression_weight(), list(blocks)
        columns = make_other_columns(self.basis, places, X, weight)
        with limit_blas_threads(0.0):
            learnt = self.learner.learn_sum(
                list(blocks.values()),
                X,
                data.targets,
                weight,
                columns,
                are_labels=self.are_labels,
            )
        # Positions among the kernels become positions in the sum.
        placed = [block._replace(place=places[block.place]) for block in learnt.blocks]
        learnt = replace(learnt, blocks=tuple(placed))
        return ScaledBasis(self.basis, places[0], blocks[places[0]].kernel, learnt)

    def bind_basis(self, basis: Basis, data: Data) -> BoundBasis:
        """Bind a basis to the rows, and check the range of its atoms."""
        random_state = check_random_state(self.random_state)
        bound = basis.bind(data.X, sample_weight=data.weight, random_state=random_state)
        n_atoms = bound.dictionary.shape[1]
        if n_atoms:
            some = np.unique(np.linspace(0, n_atoms - 1, 8).astype(np.intp))
            check_range("X", bound.dictionary.columns(some), of="The basis bound to X")
        return bound

    @abstractmethod
    def fit(self, basis: Basis, data: Data) -> AnyFit:
        """Fit a basis to data."""

    def add_error_bars(self, fit: AnyFit, data: Data) -> AnyFit:
        """Add what only predictions need, not the choice of length-scales."""
        return fit

    def fit_candidate(self, scaled: ScaledBasis, data: Data) -> AnyFit:
        """Fit a candidate to data; the null model is one with an infinite penalty on atoms."""
        is_null = scaled.learnt.kind == "null"
        return (replace(self, min_gain=math.inf) if is_null else self).fit(scaled.basis, data)

    def evidence_weights(self, net: Vector) -> Vector:
        """Return the weights of models by their penalised evidence: by default 1 for the best."""
        return self.stacking_weights((), net)

    def stacking_weights(self, held_out: Sequence[Sequence[Any]], scores: Vector) -> Vector:
        """Return the weights of models by their held-out scores: by default 1 for the best."""
        return np.equal(np.arange(len(scores)), np.argmax(scores)).astype(np.float64)

    def combine_fits(self, fits: Sequence[AnyFit], weights: Vector) -> AnyFit:
        """Combine the fits of several candidates, best first: by default the best one."""
        return fits[0]

    def make_baseline_candidates(self, kernels: Sequence[ScaledBasis]) -> list[ScaledBasis]:
        """Return baseline models to compare with kernels: by default the null model."""
        return [kernels[0]._replace(learnt=kernels[0].learnt.as_null())]

    def null_advantage(self, n_others: int) -> float:
        """Total log predictive probability by which others must exceed the null model, in nats."""
        return 0.0

    def make_fold_plan(self) -> Self:
        """Return the plan for fits to training folds."""
        return self

    def order_rows(self, data: Data) -> IndexArray:
        """Return the rows in a random order that does not depend on the given order."""
        order = np.lexsort(data.X[:, :100].T[::-1])
        return order[np.random.RandomState(0).permutation(len(order))]

    def merge_equal_rows(self, data: Data) -> Data:
        """Return data in which rows that must be held out together are one row."""
        return data

    def adjust_by_held_out_rows(self, fit: AnyFit, data: Data, held_out: Any = None) -> AnyFit:
        """Adjust a fit by held-out predictions: calibration, comparison with simpler models."""
        return fit

    @abstractmethod
    def predict_held_out(self, fit: AnyFit, data: Data) -> Any:
        """Predict held-out rows."""

    @abstractmethod
    def score(self, held_out: Sequence[Any]) -> float:
        """Mean log predictive density or probability of held-out rows, from those of each fold."""

    @abstractmethod
    def attach_length_scales(self, scaled: ScaledBasis, fit: AnyFit, data: Data) -> AnyFit:
        """Add the length-scales to a fit, refined if that is an option."""

    def inclusion_penalties(self, bound: BoundBasis, is_penalised: bool) -> Vector:
        """Return the minimum gain of each atom: `min_gain`, or a default by the kind of atom.

        An irrelevant column increases the evidence with probability 0.32. Prior odds of one to the
        number of columns keep the expected number of false inclusions small. A smoothness prior
        penalises columns already.
        """
        localised = bound.is_localised
        if self.min_gain is not None:
            return np.full(len(localised), self.min_gain)
        if not getattr(self.solver, "uses_min_gain", True):
            return np.zeros(len(localised))
        explicit = free = self.tuning.min_kernel_gain
        if not is_penalised:
            explicit = max(math.log(max(int(np.count_nonzero(~localised)), 1)), free)
        return np.where(localised, free, explicit)


def resolve_common_options(
    estimator: Any, monitor: Monitor | None, *, allow_density: bool = False
) -> dict[str, Any]:
    """Resolve the options of all estimators to fields of a plan; raise if one is not valid."""
    check_options(estimator)
    basis = estimator._resolve_basis()
    gain, low_memory = estimator.min_gain, estimator.low_memory
    return {
        "basis": basis,
        "prior": resolve_prior(estimator.prior, allow_density=allow_density),
        "learner": estimator._resolve_learner(basis),
        "min_gain": None if isinstance(gain, str) else float(gain),
        "error_bars": estimator.error_bars,
        "low_memory": None if isinstance(low_memory, str) else bool(low_memory),
        "random_state": estimator.random_state,
        "monitor": monitor,
    }


def make_monitor(estimator: Any, context: Any) -> Monitor:
    """Return a monitor that calls scikit-learn's callbacks after every step."""

    def call_callbacks(progress: Progress) -> bool:
        task = context.subcontext(task_name=progress.stage)
        task.call_on_fit_task_begin(estimator=estimator)
        return bool(task.call_on_fit_task_end(estimator=estimator))

    return call_callbacks
