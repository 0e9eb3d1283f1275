"""The plan of a regression with Gaussian noise."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np

from relvec._linalg import limit_blas_threads
from relvec.bases import KernelBasis
from relvec.bases.base import Basis, BoundBasis
from relvec.estimators._build_output import add_far_uncertainty, build_output
from relvec.estimators._calibrate import compare_before_fit, select_and_calibrate
from relvec.estimators._held_out import HeldOutPredictions, find_distinct_rows
from relvec.estimators._length_scales import ScaledBasis
from relvec.estimators._noise import fit_noise_model
from relvec.estimators._output import FittedOutput, RegressionFit
from relvec.estimators._plan import Data, Plan
from relvec.estimators._refine import refine_scales
from relvec.estimators._solvers import bind_groups
from relvec.estimators._sparse_linear import describe_selected_features
from relvec.estimators._target_transform import fit_transformed
from relvec.estimators._tune_atoms import tune_atoms
from relvec.learning.learnt import SPARSE_LINEAR
from relvec.learning.length_scale_uncertainty import measure_scale_uncertainty
from relvec.learning.prior_process import PriorProcess
from relvec.learning.prior_spectra import has_unset_parameters, learn_prior_spectra
from relvec.moments import Moments, compute_moments
from relvec.priors import FlatPrior
from relvec.solvers import (
    NullSolver,
    OddsLearner,
    Problem,
    RidgeSolver,
    Solver,
    TiedSolver,
    WarmStart,
)

__all__ = ["RegressionPlan"]


@dataclass(frozen=True, kw_only=True, eq=False)
class RegressionPlan(Plan[RegressionFit]):
    """Plan of a regression fit, with Gaussian noise."""

    solver: Solver
    fit_intercept: bool
    noise_variance: float | None
    """Fixed noise variance, in squared units of the target; None to estimate it."""
    is_row_variance_absolute: bool = False
    """Whether the noise variances of rows are given in squared units of the target, so that no
    common factor is estimated."""
    noise: str = "constant"
    """Distribution of the noise; see `relvec.estimators._noise`."""
    target_transform: str | None = None
    """Transform of the targets; see `relvec.estimators._target_transform`."""
    previous: tuple[FittedOutput, ...] = ()
    """Outputs of an earlier fit, for a warm start."""
    calibrate: bool = True
    """Whether to calibrate error bars by held-out rows."""
    fold_solver: Solver | None = None
    """Faster solver for fits to training folds; None for `solver`."""
    has_default_algorithm: bool = True
    """Whether prior and solver are the defaults, so that linear models may use others."""
    length_scale_uncertainty: bool | None = None
    """Whether error bars include the uncertainty of length-scales; None not to compute it."""

    tune_atoms: str | None = None
    """Whether widths, centres or both of single kernels are moved after a fit."""

    def run(self, data: Data) -> RegressionFit:
        """Fit with constant Gaussian noise, then the noise model; transform targets before."""
        if self.target_transform is not None:
            return fit_transformed(self, data)
        return fit_noise_model(self, super().run(data), data)

    def fit(self, basis: Basis, data: Data) -> RegressionFit:
        """Learn hyper-parameters of the basis that are not set, and fit each output."""
        basis = self.learn_spectra(basis, data)
        fit = replace(self.fit_bound(self.bind_basis(basis, data), data), basis=basis)
        return fit if self.tune_atoms is None else tune_atoms(self, fit, data)

    def learn_spectra(self, basis: Basis, data: Data) -> Basis:
        """Return the basis with the hyper-parameters of prior spectra, learnt from these rows."""
        if data.statistics is not None or not has_unset_parameters(basis):
            return basis
        weights = list(map(data.regression_weight, range(data.targets.shape[1])))
        noise = [
            data.find_noise_unit(number) if self.is_row_variance_absolute else self.noise_variance
            for number in range(len(weights))
        ]
        with limit_blas_threads(0.0):
            return learn_prior_spectra(
                basis, data.X, data.targets, weights, noise, random_state=self.random_state
            )

    def fit_bound(self, bound: BoundBasis, data: Data) -> RegressionFit:
        """Fit each output with the atoms of a basis that is bound to the inputs."""
        solver, outputs, problems = bind_groups(self.solver, bound), [], []
        with limit_blas_threads(float(math.prod(bound.dictionary.shape))):
            all_moments = self.compute_moments(bound, data)
            previous = self.previous if len(self.previous) == len(all_moments) else ()
            for number, moments in enumerate(all_moments):
                problem = self.make_problem(moments, bound, data.find_noise_unit(number))
                warm_start = _make_warm_start(previous[number], bound, data.X) if previous else None
                solution = solver.solve(problem, warm_start=warm_start, monitor=self.monitor)
                problems.append(problem)
                outputs.append(
                    build_output(
                        problem, solution, bound, data, number, has_intercept=self.fit_intercept
                    )
                )
        return RegressionFit(bound, tuple(outputs), tuple(problems), all_moments[0].n_fetched)

    def fit_best_candidate(self, candidates: list[ScaledBasis], data: Data) -> RegressionFit:
        """Fit the best of several candidate length-scales.

        A single candidate is compared with simpler models on held-out rows before it is fitted to
        all rows, where that is possible.
        """
        first = compare_before_fit(self, candidates[0], data) if len(candidates) == 1 else None
        if first is None:
            return super().fit_best_candidate(candidates, data)
        scaled, held_out, processes = first
        assert scaled is not None
        fit = self.attach_length_scales(scaled, self.fit_candidate(scaled, data), data)
        fit = self.add_error_bars(fit, data, processes)
        return select_and_calibrate(self, fit, data, held_out, are_scales_shared=True)

    def add_error_bars(
        self, fit: RegressionFit, data: Data, processes: Sequence[PriorProcess | None] = ()
    ) -> RegressionFit:
        """Add the variance away from the data, by `processes` if these are known."""
        each = itertools.zip_longest(range(len(fit.outputs)), processes)
        with limit_blas_threads(0.0):  # small problems: one thread is faster
            outputs = tuple(
                add_far_uncertainty(fit, data, number, self.error_bars, known)
                for number, known in each
            )
        return replace(fit, outputs=outputs)

    def compute_moments(self, bound: BoundBasis, data: Data) -> Sequence[Moments]:
        """Return the moments of the atoms and each target."""
        if data.statistics is not None:
            if len(bound.atoms) != data.statistics.n_atoms:
                raise ValueError(
                    f"The moments are of {data.statistics.n_atoms} atoms, but the basis bound to "
                    f"these inputs has {len(bound.atoms)}. Bind it to the same inputs as for the "
                    "moments."
                )
            return data.statistics.all_moments(centre=self.fit_intercept)
        make = partial(
            compute_moments,
            bound.dictionary,
            centre=self.fit_intercept,
            low_memory=self.low_memory,
        )
        if data.row_variance is None:
            all_moments = make(data.targets, data.weight)
        else:  # outputs have weights of their own, so they share no Gram matrix
            columns = enumerate(data.targets.T)
            all_moments = [
                make(target[:, None], data.regression_weight(number))[0]
                for number, target in columns
            ]
        if data.weight is not None:
            # rows of weight zero must not be centres either (precomputed kernels)
            rows = bound.source_row
            for moments in all_moments:
                moments.usable = moments.usable & ~((rows >= 0) & (data.weight[rows] == 0.0))
        return all_moments

    def make_problem(self, moments: Moments, bound: BoundBasis, noise_unit: float = 1.0) -> Problem:
        """Return the optimisation problem of one target.

        `noise_unit` is the noise variance of a row of average precision, in the units of the given
        noise variances of rows.
        """
        n_samples = moments.n_effective + float(self.fit_intercept)
        prior = self.prior.bind(n_samples, moments.column_norm, bound.groups)
        # a Laplace prior removes weak atoms itself
        is_penalised = prior.is_penalised or prior.rate_hyperprior is not None or prior.rate > 0.0
        penalties = self.inclusion_penalties(bound, is_penalised)
        if self.min_gain is None and prior.is_penalised:
            # orthonormal atoms have a closed form and need no tolerance
            if moments.is_orthonormal:
                penalties[:] = 0.0
            for part in moments.parts:
                if part.is_orthonormal:
                    penalties[part.atoms] = 0.0
        return Problem(
            moments=moments,
            min_gain=penalties,
            prior=prior,
            noise_variance=noise_unit if self.is_row_variance_absolute else self.noise_variance,
        )

    @property
    def is_noise_given(self) -> bool:
        """Whether the noise variance is given rather than estimated."""
        return self.noise_variance is not None or self.is_row_variance_absolute

    @property
    def is_calibrated(self) -> bool:
        """Whether to calibrate error bars; not if the noise variance is given."""
        return self.calibrate and not self.is_noise_given

    @property
    def is_posterior_calibrated(self) -> bool:
        """Whether to calibrate the posterior variance alone: if noise variances of rows are known.

        One known variance for all rows is an option of experts and taken as it is.
        """
        return self.calibrate and self.is_row_variance_absolute

    def merge_equal_rows(self, data: Data) -> Data:
        """Return the distinct rows with their counts: copies of a row are held out together."""
        rows, counts = find_distinct_rows(data)
        return data.subset(rows)._replace(weight=None if (counts == 1.0).all() else counts)

    def make_fold_plan(self) -> Self:
        """Return the plan for fits to training folds."""
        solver = self.solver if self.fold_solver is None else self.fold_solver
        # if it is only reported (False), it is not needed in folds (None)
        length_scale_uncertainty = self.length_scale_uncertainty or None
        return replace(
            self,
            solver=solver,
            previous=(),
            monitor=None,
            length_scale_uncertainty=length_scale_uncertainty,
        )

    def fit_candidate(self, scaled: ScaledBasis, data: Data) -> RegressionFit:
        """Fit a candidate: kernels, a linear or sparse linear model, or the null model."""
        return self.make_candidate_plan(scaled).fit(scaled.basis, data)

    def make_candidate_plan(self, scaled: ScaledBasis | None) -> Self:
        """Return the plan with the solver of a candidate, or of the basis as it is (None)."""
        simple: dict[str, Solver] = {
            "linear": RidgeSolver(),
            SPARSE_LINEAR: OddsLearner(self.solver),
            "null": NullSolver(),
        }
        solver = None if scaled is None else simple.get(scaled.learnt.group)
        if solver is None:
            return self
        return replace(
            self,
            solver=solver,
            prior=FlatPrior(noise=self.prior.noise),
            min_gain=0.0,
            previous=(),
            tune_atoms=None,
        )

    def make_baseline_candidates(self, kernels: Sequence[ScaledBasis]) -> list[ScaledBasis]:
        """Return the null model and, if length-scales are learnt by default, linear models.

        Away from the data the variance of the linear model is that of the kernels with all
        features (the first candidate), that of the sparse linear model is that of the kernels with
        selected features (the last).
        """
        assert self.learner is not None
        first, last, candidates = kernels[0], kernels[-1], super().make_baseline_candidates(kernels)
        n_features = np.count_nonzero(first.learnt.spread)
        is_default = self.learner.kind == "auto" and isinstance(self.basis, KernelBasis)
        if is_default and self.has_default_algorithm:
            if 0 < n_features <= self.tuning.max_linear_features:
                candidates.append(first._replace(learnt=first.learnt.as_linear()))
            if n_features >= self.tuning.min_sparse_linear_features:
                candidates.append(last._replace(learnt=last.learnt.as_linear(is_sparse=True)))
        return candidates

    def null_advantage(self, n_others: int) -> float:
        """Total log predictive density by which others must exceed the null model, in nats.

        If the features are unrelated to the targets, the ratio of the two predictive densities of
        held-out targets has mean one, so by Markov's inequality it exceeds ``1 / q`` with
        probability at most ``q``.
        """
        return math.log(n_others / self.tuning.false_positive_rate)

    def adjust_by_held_out_rows(
        self, fit: RegressionFit, data: Data, held_out: Sequence[HeldOutPredictions] | None = None
    ) -> RegressionFit:
        """Compare a fit with simpler models, and calibrate its error bars."""
        known = None if held_out is None else HeldOutPredictions.concatenate(held_out)
        return select_and_calibrate(self, fit, data, known)

    def predict_held_out(self, fit: RegressionFit, data: Data) -> HeldOutPredictions:
        """Predict held-out rows."""
        return HeldOutPredictions.predict(fit.outputs, data)

    def score(self, held_out: Sequence[HeldOutPredictions]) -> float:
        """Mean log predictive density (MLPD) of held-out rows, with calibrated error bars."""
        held = HeldOutPredictions.concatenate(held_out)
        density = held.log_density(calibrate=self.is_calibrated)
        return float(np.average(density, weights=held.weight))

    def attach_length_scales(
        self, scaled: ScaledBasis, fit: RegressionFit, data: Data
    ) -> RegressionFit:
        """Refine the length-scales by the evidence of the sparse model, and add them to the fit."""
        if scaled.learnt.group == SPARSE_LINEAR:
            scaled = scaled._replace(learnt=describe_selected_features(scaled.learnt, fit))
        fit = replace(fit, scaled=scaled)
        if not isinstance(self.solver, TiedSolver):  # refined by the precisions of single atoms
            fit = refine_scales(replace(self, previous=()), fit, data)
        return self.add_scale_uncertainty(fit, data)

    def add_scale_uncertainty(self, fit: RegressionFit, data: Data) -> RegressionFit:
        """Add the uncertainty of the length-scales to a fit, if the plan asks for it."""
        if self.length_scale_uncertainty is None or fit.scaled is None:
            return fit
        weights = list(map(data.regression_weight, range(len(fit.outputs))))
        std, uncertain = measure_scale_uncertainty(fit.scaled.learnt, data.X, fit.outputs, weights)
        if self.length_scale_uncertainty:
            pairs = zip(fit.outputs, uncertain, strict=True)
            outputs = tuple(replace(output, scale_uncertainty=each) for output, each in pairs)
            fit = replace(fit, outputs=outputs)
        return replace(fit, relevance_std=std)


def _make_warm_start(output: FittedOutput, bound: BoundBasis, X: Any) -> WarmStart | None:
    """Return the state of an earlier fit if its atoms are the same, else None."""
    active = output.active
    if not len(active) or active[-1] >= bound.dictionary.shape[1]:
        return None
    rows = slice(0, min(X.shape[0], 50))  # enough to detect other kernels or inputs
    before, now = output.atoms.evaluate(X[rows]), bound.atoms.subset(active).evaluate(X[rows])
    return WarmStart(active, output.solution.log_lam) if np.array_equal(before, now) else None
