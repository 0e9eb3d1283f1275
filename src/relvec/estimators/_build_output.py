"""Fitted outputs from the solution of a solver: posterior, and variance away from the data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from relvec._typing import IndexArray
from relvec.bases.base import BoundBasis
from relvec.error_bars import Augmentation, Covers, fit_novelty
from relvec.estimators._output import FittedOutput, RegressionFit, is_noise_negligible
from relvec.kernels.definition import decays
from relvec.learning import LearntLengthScales
from relvec.learning.prior_process import PriorProcess, fit_prior_process
from relvec.posterior import TrainingBlock, condition
from relvec.solvers import Problem, Solution

if TYPE_CHECKING:
    from relvec.estimators._plan import Data

__all__ = ["add_far_uncertainty", "build_output"]


def _training_blocks(
    bound: BoundBasis, active: IndexArray, data: Data, number: int
) -> Iterator[TrainingBlock]:
    """Evaluate the active atoms at the training rows, in blocks if they are many."""
    X, target, weight = data.X, data.targets[:, number], data.regression_weight(number)
    n_samples = len(target)
    size = max(1, (1 << 23) // max(len(active), 1))  # blocks of 64 megabytes
    if size >= n_samples:
        yield TrainingBlock(bound.dictionary.columns(active), target, weight)
        return
    atoms = bound.atoms.subset(active)
    for start in range(0, n_samples, size):
        rows = slice(start, start + size)
        part = None if weight is None else weight[rows]
        yield TrainingBlock(atoms.evaluate(X[rows]), target[rows], part)


def build_output(
    problem: Problem,
    solution: Solution,
    bound: BoundBasis,
    data: Data,
    number: int,
    *,
    has_intercept: bool,
) -> FittedOutput:
    """Compute the posterior of the weights of an output with the precisions of the solver.

    From statistics in place of targets the posterior is computed from the moments.
    """
    atoms, prior = bound.atoms.subset(solution.active), problem.prior
    blocks = None
    if data.statistics is None:
        blocks = _training_blocks(bound, solution.active, data, number)
    # Under Gamma and Laplace priors the solver estimates the noise variance jointly. Otherwise it
    # is recomputed from the residuals.
    is_joint = not prior.is_removable or prior.rate_hyperprior is not None
    is_found = is_joint and solution.noise_variance > 0.0
    is_held = is_found or problem.noise_variance is not None
    posterior = condition(
        problem.moments,
        solution.active,
        solution.log_lam,
        blocks,
        has_intercept=has_intercept,
        noise_variance=solution.noise_variance if is_held else None,
        noise_shape=prior.noise.shape,
        noise_rate=prior.noise.rate,
    )
    is_constant = posterior.target_variance == 0.0
    objective = posterior.log_evidence if is_constant else solution.objective
    output = FittedOutput(solution.active, atoms, posterior, solution, objective)
    if data.row_variance is None:
        return output
    log_precision = data.log_precision(number)
    return replace(
        output,
        posterior=replace(posterior, log_evidence=posterior.log_evidence + log_precision),
        objective=objective + log_precision,
        noise_unit=data.find_noise_unit(number),
        has_row_variance=True,
        is_noise_known=problem.noise_variance is not None,
    )


def add_far_uncertainty(
    fit: RegressionFit,
    data: Data,
    number: int,
    error_bars: str,
    process: PriorProcess | None = None,
    covers: Covers | None = None,
) -> FittedOutput:
    """Return an output of a fit with the variance that is added away from the training inputs.

    Parameters
    ----------
    fit : RegressionFit
        Fit with outputs made by `build_output`.
    data : Data
        Training data; with statistics in place of targets, a sample of the training inputs.
    number : int
        Index of the output.
    error_bars : {"novelty", "plain", "augmented"}
        Kind of error bars.
    process : PriorProcess or None
        Gaussian process whose variance is added, if it is known; otherwise it is fitted to the
        data.
    covers : dict, optional
        Cache that fits to the same inputs share; see `relvec.error_bars.fit_novelty`.
    """
    output = fit.outputs[number]
    kernel, learnt, falls_back = _find_far_kernel(fit, data)
    # no signal: nothing to be uncertain about
    posterior = output.posterior
    amplitude = posterior.target_variance - posterior.noise_variance
    # A difference of two variances: below 1e-12 it is rounding error.
    has_signal = amplitude > 1e-12 * posterior.target_variance
    if error_bars == "plain" or kernel is None or not has_signal:
        return output
    target = data.targets[:, number] if data.statistics is None else None
    if error_bars == "augmented" and not is_noise_negligible(posterior.noise_variance, amplitude):
        assert target is not None  # checked by estimators
        return _augment_output(output, kernel, amplitude, data, number)
    if process is None and target is not None:
        process = fit_prior_process(
            kernel,
            data.X,
            target,
            data.weight,
            learnt,
            relative_precision=data.relative_precision(number),
        )
    if process is not None:
        # At least the variance that the noise does not explain: error bars away from the data
        # should not be narrower than the spread of the targets.
        kernel, amplitude = process.kernel, max(process.variance, amplitude)
    novelty = fit_novelty(
        kernel,
        data.X,
        output.atoms,
        target,
        data.weight,
        posterior,
        amplitude,
        falls_back=falls_back,
        covers=covers,
        relative_precision=data.relative_precision(number),
    )
    return replace(output, novelty=novelty)


def _find_far_kernel(fit: RegressionFit, data: Data) -> tuple[Any, LearntLengthScales | None, bool]:
    """Return the kernel of the added variance, its length-scales, and whether means shrink.

    A null model predicts a constant and has no kernel. A linear model extrapolates linearly, and
    the kernels that it replaced determine the added variance.
    """
    learnt, atoms = None if fit.scaled is None else fit.scaled.learnt, fit.bound.atoms
    if learnt is not None and learnt.kind == "null":
        return None, learnt, False
    if learnt is not None and learnt.replaced is not None:
        kernel = learnt.replaced.kernel
        return kernel if decays(kernel, data.X[:1]) else None, learnt.replaced, False
    return atoms.decaying_kernel(), learnt, atoms.is_known_to_decay()


def _augment_output(
    output: FittedOutput, kernel: Any, amplitude: float, data: Data, number: int
) -> FittedOutput:
    """Return the output with a kernel added at each test input (RVM*).

    Rasmussen & Quiñonero-Candela (2005), Healing the relevance vector machine through augmentation.
    """
    target, weight = data.targets[:, number], data.regression_weight(number)
    root = np.ones(len(target)) if weight is None else np.sqrt(weight)
    # C^-1 t sigma^2 = t - Phi mu, times root weights; see `Augmentation.correction`.
    residual = (target - output.posterior.predict(output.atoms.evaluate(data.X))) * root
    augmentation = Augmentation(
        kernel, data.X, residual, root, output.atoms, output.posterior, amplitude
    )
    return replace(output, augmentation=augmentation)
