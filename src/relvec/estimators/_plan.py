"""What a fit does, resolved once: below this line no estimator is known.

An estimator turns its options into a plan; the plan learns scales, fits and scores. Trials of
several scales and cross-validation use the same plan with other rows.
"""

from __future__ import annotations

import itertools
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
from relvec.bases import KernelBasis
from relvec.bases.base import Basis, BoundBasis
from relvec.estimators._calibrate import calibrated, compared_first
from relvec.estimators._held_out import HeldOut, distinct_rows
from relvec.estimators._inputs import check_range
from relvec.estimators._length_scale_choice import choose_scales
from relvec.estimators._length_scales import ScaledBasis, find_kernel, other_columns
from relvec.estimators._options import check_options
from relvec.estimators._output import FittedOutput, RegressionFit, finish_output, widened
from relvec.estimators._refine import refine_scales
from relvec.estimators._sparse_linear import with_chosen
from relvec.learning import LengthScaleLearner
from relvec.learning.learnt import SPARSE_LINEAR
from relvec.learning.length_scale_uncertainty import measure_scale_uncertainty
from relvec.learning.prior_process import PriorProcess
from relvec.moments import Moments, SufficientStatistics, compute_moments
from relvec.priors import FlatPrior, Prior, resolve_prior
from relvec.solvers import (
    Monitor,
    NullSolver,
    OddsLearner,
    Problem,
    Progress,
    RidgeSolver,
    Solver,
    WarmStart,
)

__all__ = ["Data", "Plan", "PlanTuning", "RegressionPlan", "monitor_of", "resolve_shared"]

AnyFit = TypeVar("AnyFit")


class Data(NamedTuple):
    """Validated rows."""

    X: Any
    targets: Matrix
    """One column for each output, or indicators of classes."""
    weight: Vector | None
    groups: IndexArray
    """Class of each row; all zero in regression."""
    statistics: SufficientStatistics | None = None
    """What is known of the targets where the rows are not at hand: `X` stands for them then."""

    def subset(self, rows: IndexArray) -> Data:
        """Return some of the rows."""
        weight = None if self.weight is None else self.weight[rows]
        return Data(self.X[rows], self.targets[rows], weight, self.groups[rows])


@dataclass(frozen=True)
class PlanTuning:
    """Numbers of a fit that are not options."""

    compared_rows: int = 1000
    """Rows on which sparse models decide between proposals of scales: enough to tell kinds of
    scales apart, at a fraction of the cost of a fit to many rows."""
    folds: int = 5
    """Folds of the cross-validation that decides where inputs were chosen from many."""
    false_signals: float = 0.1
    """Share of fits to noise in many inputs that may be taken for a signal."""
    localised_gain: float = 1e-3
    """Least gain of an atom whose entry is free but for a tolerance: kernels overlap, so a useful
    one may gain next to nothing by itself."""
    joint_steps: int = 3
    """Steps of precisions and scales in one round of refinement. Few on purpose: pushed to its
    end, the evidence of a sparse model overfits scales."""
    worthwhile: float = 0.01
    """Rise of the objective, in nats, that is worth another fit."""
    overruling_gain: float = 2.0
    """Log evidence, besides its penalty, for which the sparse model takes in an input that the
    process left out: it has seen the targets once already."""
    many_copies: float = 3.0
    """Copies of rows, on average, above which the user is warned: bootstrap samples have fewer."""
    fewest_rows: int = 10
    """Rows below which nothing is held out: a fold would be a row or two."""
    enough_rows: int = 1000
    """Held-out rows that tell the variance of errors to a few per cent."""
    most_rows: int = 5000
    """Of more rows, some stand for all where rows are held out: with so many, error bars are
    hardly ever too narrow."""
    narrow_width: float = 1.0
    """Width factor that is tried besides the usual one if there is one input."""
    linear_inputs: int = 1000
    """With more inputs no linear model of all of them is tried: its covariance is of their number
    squared."""
    choice_inputs: int = 20
    """With fewer inputs no linear model that chooses some of them is tried: there is little to gain
    by it."""
    weighed_inputs: int = 200
    """Inputs that are weighed against each other at once; among more, only those in the model."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Plan(ABC, Generic[AnyFit]):
    """The options of a fit as objects."""

    basis: Basis
    prior: Prior
    solver: Any
    learner: LengthScaleLearner | None
    """Who learns the scales of inputs; None if they are given."""
    min_gain: float | None
    """Log prior odds against every atom; None for a default by kind of atom."""
    error_bars: str
    low_memory: bool | None
    """Whether to store no dictionary; None to decide by its size."""
    random_state: Any
    monitor: Monitor | None
    tuning: PlanTuning = PlanTuning()
    are_labels: ClassVar[bool] = False
    """Whether targets are indicators of classes."""

    def run(self, data: Data) -> AnyFit:
        """Fit the basis as it is, or with the scales that are learnt for it."""
        if self.learner is None:
            return self.conclude(self.finish(self.fit(self.basis, data), data), data)
        return self.settle(self.learn(data), data)

    def settle(self, proposals: list[ScaledBasis], data: Data) -> AnyFit:
        """Fit the best of several proposals of scales."""
        scaled, fit, held_out = choose_scales(self, proposals, data)
        fit = self.finish(self.finish_scales(scaled, fit, data), data)
        return self.conclude(fit, data, held_out)

    def learn(self, data: Data) -> list[ScaledBasis]:
        """Return the basis with the scales that come into question."""
        assert self.learner is not None
        X, targets, weight = data.X, data.targets, data.weight
        check_dense(X, "KernelBasis")
        if X.dtype == object:
            raise ValueError(
                f"scales can be learnt for inputs that are numbers; got objects such as "
                f"{X.flat[0]!r}. Use length_scales=None of RVMRegressor and RVMClassifier."
            )
        place, kernel = find_kernel(self.basis, self.learner.kind)
        columns = other_columns(self.basis, place, X, weight)
        with limit_blas_threads(0.0):
            proposals = self.learner.learn(
                kernel, X, targets, weight, columns, are_labels=self.are_labels
            )
        return list(map(partial(ScaledBasis, self.basis, place, kernel), proposals))

    def bound(self, basis: Basis, data: Data) -> BoundBasis:
        """Return a basis bound to the rows, whose atoms are of a size that can be squared."""
        random_state = check_random_state(self.random_state)
        bound = basis.bind(data.X, sample_weight=data.weight, random_state=random_state)
        n_atoms = bound.dictionary.shape[1]
        if n_atoms:
            some = np.unique(np.linspace(0, n_atoms - 1, 8).astype(np.intp))
            check_range("X", bound.dictionary.columns(some), of="The basis bound to X")
        return bound

    @abstractmethod
    def fit(self, basis: Basis, data: Data) -> AnyFit:
        """Fit a basis to some rows."""

    def finish(self, fit: AnyFit, data: Data) -> AnyFit:
        """Return a fit with all that predictions need, besides what a choice of scales needs."""
        return fit

    def fit_scaled(self, scaled: ScaledBasis, data: Data) -> AnyFit:
        """Fit a proposal to some rows; the null model is one into which no atom may come."""
        is_null = scaled.learnt.kind == "null"
        return (replace(self, min_gain=math.inf) if is_null else self).fit(scaled.basis, data)

    def evidence_weights(self, net: Vector) -> Vector:
        """Return the weights of models by their penalised evidence: here the best has all."""
        return self.stacking_weights((), net)

    def stacking_weights(self, held_out: Sequence[Sequence[Any]], scores: Vector) -> Vector:
        """Return the weights of models by their held-out predictions: here the best has all."""
        return np.equal(np.arange(len(scores)), np.argmax(scores)).astype(np.float64)

    def joined(self, fits: Sequence[AnyFit], weights: Vector) -> AnyFit:
        """Return what is made of fits with several proposals, the best of which is the first."""
        return fits[0]

    def simple_proposals(self, kernels: Sequence[ScaledBasis]) -> list[ScaledBasis]:
        """Return the models that are no sums of kernels, next to those that are."""
        return [kernels[0]._replace(learnt=kernels[0].learnt.as_null())]

    def null_advantage(self, n_others: int) -> float:
        """Log probability of all held-out targets by which others must surpass the null model."""
        return 0.0

    def quickened(self) -> Self:
        """Return the plan of the same model for fits to some of the rows."""
        return self

    def ordered_rows(self, data: Data) -> IndexArray:
        """Return the rows in an order at random, whatever that in which they are given."""
        order = np.lexsort(data.X[:, :100].T[::-1])
        return order[np.random.RandomState(0).permutation(len(order))]

    def grouped(self, data: Data) -> Data:
        """Return rows that are to be held out one by one."""
        return data

    def conclude(self, fit: AnyFit, data: Data, held_out: Any = None) -> AnyFit:
        """Return a finished fit with what `held_out` predictions say of it."""
        return fit

    @abstractmethod
    def predict_held_out(self, fit: AnyFit, data: Data) -> Any:
        """Predict other rows than those of a fit."""

    @abstractmethod
    def score(self, held_out: Sequence[Any]) -> float:
        """Mean log probability of the targets of held-out rows, from their predictions by fold."""

    @abstractmethod
    def finish_scales(self, scaled: ScaledBasis, fit: AnyFit, data: Data) -> AnyFit:
        """Say with a fit which scales it has."""

    def inclusion_penalties(self, bound: BoundBasis, is_penalised: bool) -> Vector:
        """Log-evidence each atom must bring: `min_gain`, or a default by kind of atom.

        A null column raises the evidence with probability 0.32. Prior odds of one to the number of
        columns against each make the expected number of false ones small; a smoothness prior
        penalises them already.
        """
        localised = bound.is_localised
        if self.min_gain is not None:
            return np.full(len(localised), self.min_gain)
        if not getattr(self.solver, "uses_min_gain", True):
            return np.zeros(len(localised))
        explicit = free = self.tuning.localised_gain
        if not is_penalised:
            explicit = max(math.log(max(int(np.count_nonzero(~localised)), 1)), free)
        return np.where(localised, free, explicit)


@dataclass(frozen=True, kw_only=True, eq=False)
class RegressionPlan(Plan[RegressionFit]):
    """A fit with Gaussian noise."""

    solver: Solver
    fit_intercept: bool
    noise_variance: float | None
    """Held noise variance; None to estimate it."""
    previous: tuple[FittedOutput, ...] = ()
    """Outputs of an earlier fit to continue from."""
    calibrate: bool = True
    """Whether held-out rows say how wide error bars are."""
    fold_solver: Solver | None = None
    """Finds quickly what `solver` would find, in fits to some of the rows; None is `solver`."""
    is_open: bool = True
    """Whether the prior and the solver may be others, as they are the defaults."""
    length_scale_uncertainty: bool | None = None
    """Whether error bars contain what is not known of the scales; None if that is not asked."""

    def fit(self, basis: Basis, data: Data) -> RegressionFit:
        """Fit every target on the shared dictionary."""
        bound = self.bound(basis, data)
        outputs, problems = [], []
        with limit_blas_threads(float(math.prod(bound.dictionary.shape))):
            all_moments = self.moments(bound, data)
            previous = self.previous if len(self.previous) == len(all_moments) else ()
            for number, moments in enumerate(all_moments):
                problem = self.problem(moments, bound)
                warm_start = _warm_start(previous[number], bound, data.X) if previous else None
                solution = self.solver.solve(problem, warm_start=warm_start, monitor=self.monitor)
                problems.append(problem)
                outputs.append(
                    finish_output(
                        problem,
                        solution,
                        bound,
                        data.X,
                        data.targets[:, number] if data.statistics is None else None,
                        data.weight,
                        has_intercept=self.fit_intercept,
                    )
                )
        return RegressionFit(bound, tuple(outputs), tuple(problems), all_moments[0].n_fetched)

    def settle(self, proposals: list[ScaledBasis], data: Data) -> RegressionFit:
        """Fit the best of several proposals; of one and its rivals, held-out rows tell it first."""
        first = compared_first(self, proposals[0], data) if len(proposals) == 1 else None
        if first is None:
            return super().settle(proposals, data)
        scaled, held_out, processes = first
        assert scaled is not None
        fit = self.finish_scales(scaled, self.fit_scaled(scaled, data), data)
        fit = self.finish(fit, data, processes)
        return calibrated(self, fit, data, held_out, are_scales_shared=True)

    def finish(
        self, fit: RegressionFit, data: Data, processes: Sequence[PriorProcess | None] = ()
    ) -> RegressionFit:
        """Widen the error bars away from the data, by `processes` if they are known."""
        each = itertools.zip_longest(range(len(fit.outputs)), processes)
        with limit_blas_threads(0.0):  # few rows and inputs stand for all
            outputs = tuple(
                widened(fit, data, number, self.error_bars, known) for number, known in each
            )
        return replace(fit, outputs=outputs)

    def moments(self, bound: BoundBasis, data: Data) -> Sequence[Moments]:
        """Return what the solver sees of the atoms, for each target."""
        if data.statistics is not None:
            if len(bound.atoms) != data.statistics.n_atoms:
                raise ValueError(
                    f"The moments are of {data.statistics.n_atoms} atoms, but the basis bound to "
                    f"these inputs has {len(bound.atoms)}. Bind it to the same inputs as for the "
                    "moments."
                )
            return data.statistics.all_moments(centre=self.fit_intercept)
        all_moments = compute_moments(
            bound.dictionary,
            data.targets,
            data.weight,
            centre=self.fit_intercept,
            low_memory=self.low_memory,
        )
        if data.weight is not None:
            # a row of no weight must not lend its atom either (precomputed kernels)
            rows = bound.source_row
            for moments in all_moments:
                moments.usable = moments.usable & ~((rows >= 0) & (data.weight[rows] == 0.0))
        return all_moments

    def problem(self, moments: Moments, bound: BoundBasis) -> Problem:
        """Return what the solver is given of one target."""
        n_samples = moments.n_effective + float(self.fit_intercept)
        prior = self.prior.bind(n_samples, moments.column_norm, bound.groups)
        # a Laplace prior removes weak atoms by its rate
        is_penalised = prior.is_penalised or prior.rate_hyperprior is not None or prior.rate > 0.0
        penalties = self.inclusion_penalties(bound, is_penalised)
        if self.min_gain is None and prior.is_penalised:
            # orthonormal atoms need no tolerance: there is no search
            if moments.is_orthonormal:
                penalties[:] = 0.0
            for part in moments.parts:
                if part.is_orthonormal:
                    penalties[part.atoms] = 0.0
        return Problem(
            moments=moments,
            min_gain=penalties,
            prior=prior,
            noise_variance=self.noise_variance,
        )

    @property
    def is_calibrated(self) -> bool:
        """Whether error bars are; not if the noise is given, which is all that is known of it."""
        return self.calibrate and self.noise_variance is None

    def grouped(self, data: Data) -> Data:
        """Return rows that differ: copies of one row are held out together."""
        rows, counts = distinct_rows(data)
        return data.subset(rows)._replace(weight=None if (counts == 1.0).all() else counts)

    def quickened(self) -> Self:
        """Return the plan of the same model for fits to some of the rows."""
        solver = self.solver if self.fold_solver is None else self.fold_solver
        length_scale_uncertainty = (
            self.length_scale_uncertainty or None
        )  # uncertainty that is only reported takes time
        return replace(
            self,
            solver=solver,
            previous=(),
            monitor=None,
            length_scale_uncertainty=length_scale_uncertainty,
        )

    def fit_scaled(self, scaled: ScaledBasis, data: Data) -> RegressionFit:
        """Fit a proposal: kernels, a linear model of all inputs or of some, or none at all."""
        simple: dict[str, Solver] = {
            "linear": RidgeSolver(),
            SPARSE_LINEAR: OddsLearner(self.solver),
            "null": NullSolver(),
        }
        solver = simple.get(scaled.learnt.group)
        if solver is None:
            return super().fit_scaled(scaled, data)
        plan = replace(
            self, solver=solver, prior=FlatPrior(noise=self.prior.noise), min_gain=0.0, previous=()
        )
        return plan.fit(scaled.basis, data)

    def simple_proposals(self, kernels: Sequence[ScaledBasis]) -> list[ScaledBasis]:
        """Return the null model and, next to kernels of learnt scales by default, linear ones.

        Away from the data the one of all inputs is as uncertain as kernels of all of them, the
        sparse one as those of chosen inputs, which are the last.
        """
        assert self.learner is not None
        first, last, proposals = kernels[0], kernels[-1], super().simple_proposals(kernels)
        n_inputs = np.count_nonzero(first.learnt.spread)
        is_asked = self.learner.kind == "auto" and isinstance(self.basis, KernelBasis)
        if is_asked and self.is_open:
            if 0 < n_inputs <= self.tuning.linear_inputs:
                proposals.append(first._replace(learnt=first.learnt.as_linear()))
            if n_inputs >= self.tuning.choice_inputs:
                proposals.append(last._replace(learnt=last.learnt.as_linear(is_sparse=True)))
        return proposals

    def null_advantage(self, n_others: int) -> float:
        """Log density of all held-out targets by which others must surpass the null model.

        Where inputs say nothing, the ratio of the densities of targets that either did not see is
        one on average, so it exceeds ``1 / q`` with probability `q` at most.
        """
        return math.log(n_others / self.tuning.false_signals)

    def conclude(
        self, fit: RegressionFit, data: Data, held_out: Sequence[HeldOut] | None = None
    ) -> RegressionFit:
        """Compare with simpler models, and calibrate the error bars."""
        known = None if held_out is None else HeldOut.joined(held_out)
        return calibrated(self, fit, data, known)

    def predict_held_out(self, fit: RegressionFit, data: Data) -> HeldOut:
        """Predict other rows than those of a fit."""
        return HeldOut.of(fit.outputs, data)

    def score(self, held_out: Sequence[HeldOut]) -> float:
        """Mean log density of held-out targets, over all outputs, with calibrated error bars."""
        held = HeldOut.joined(held_out)
        density = held.log_density(calibrate=self.is_calibrated)
        return float(np.average(density, weights=held.weight))

    def finish_scales(self, scaled: ScaledBasis, fit: RegressionFit, data: Data) -> RegressionFit:
        """Refine the scales with the evidence of the sparse model, if the learner is to."""
        if scaled.learnt.group == SPARSE_LINEAR:
            scaled = scaled._replace(learnt=with_chosen(scaled.learnt, fit))
        fit = refine_scales(replace(self, previous=()), replace(fit, scaled=scaled), data)
        assert fit.scaled is not None
        if self.length_scale_uncertainty is None:
            return fit
        weights = [data.weight] * len(fit.outputs)
        std, uncertain = measure_scale_uncertainty(fit.scaled.learnt, data.X, fit.outputs, weights)
        if self.length_scale_uncertainty:
            pairs = zip(fit.outputs, uncertain, strict=True)
            outputs = tuple(replace(output, scale_uncertainty=each) for output, each in pairs)
            fit = replace(fit, outputs=outputs)
        return replace(fit, relevance_std=std)


def _warm_start(output: FittedOutput, bound: BoundBasis, X: Any) -> WarmStart | None:
    """Continue from an earlier fit if it speaks of the same atoms."""
    active = output.active
    if not len(active) or active[-1] >= bound.dictionary.shape[1]:
        return None
    rows = slice(0, min(X.shape[0], 50))  # a few tell other kernels and other inputs
    before, now = output.atoms.evaluate(X[rows]), bound.atoms.subset(active).evaluate(X[rows])
    return WarmStart(active, output.solution.log_lam) if np.array_equal(before, now) else None


def resolve_shared(
    estimator: Any, monitor: Monitor | None, *, allow_density: bool = False
) -> dict[str, Any]:
    """Turn the options that all estimators have into fields of a plan; say which are wrong."""
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


def monitor_of(estimator: Any, context: Any) -> Monitor:
    """Return a monitor that calls scikit-learn's callbacks after every step."""

    def tell(progress: Progress) -> bool:
        task = context.subcontext(task_name=progress.stage)
        task.call_on_fit_task_begin(estimator=estimator)
        return bool(task.call_on_fit_task_end(estimator=estimator))

    return tell
