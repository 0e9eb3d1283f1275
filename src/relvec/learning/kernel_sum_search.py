"""Learning of the parameters of several kernels whose sum is the covariance of a process.

The evidence has many local maxima: one kernel may stand in for another, and in a period there are
as many as the data span periods. The search starts from the given parameters and from sums that are
built kernel by kernel, aperiodic kernels first and periodic ones first. Periods start at the peaks
of a periodogram in which the covariance of the other kernels is taken into account, so that several
periodic kernels start at different peaks and a trend hides none.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter

import numpy as np
from sklearn.gaussian_process.kernels import ConstantKernel, Kernel

from relvec._typing import Vector
from relvec.learning.kernel_parameters import (
    FREQUENCIES,
    PERIODS,
    find_spectral_peaks,
    is_one_of,
    place_periods,
)
from relvec.learning.kernel_sum import KernelBlock, KernelSum, SumFit
from relvec.learning.learnt import LearntBlock, LearntLengthScales, build_unlearnt
from relvec.learning.process import Process
from relvec.learning.tuning import LengthScaleTuning

__all__ = ["KernelSumSearch", "learn_kernel_sum"]

_BY_EVIDENCE = attrgetter("log_evidence")


class KernelSumSearch:
    """Search for the parameters of a sum of kernels, and for the kernels that are needed.

    Parameters
    ----------
    total : KernelSum
        Data and kernels.
    max_iter : int
        Largest number of steps of the last ascent.
    """

    def __init__(self, total: KernelSum, max_iter: int) -> None:
        self.total, self.tuning, self.max_iter = total, total.tuning, max_iter
        self.is_periodic = [
            any(is_one_of(name, PERIODS + FREQUENCIES) for name in names) for names in total.names
        ]

    def learn(self) -> SumFit | None:
        """Return the best local maximum with all kernels.

        None if the sum is not a covariance at the given parameters.
        """
        given = self.total.start()
        if given.log_evidence == -math.inf:
            return None
        steps, everyone = self.tuning.initial_steps, range(len(self.total.blocks))
        starts = [given, self._sweep(given, everyone)]
        ends = [self.total.maximise(start, steps) for start in starts]
        smooth = [number for number in everyone if not self.is_periodic[number]]
        periodic = [number for number in everyone if self.is_periodic[number]]
        empty = given._replace(log_signals=np.full_like(given.log_signals, -np.inf))
        ends.append(self._build(given, empty, [*smooth, *periodic]))
        if smooth and periodic:
            ends.append(self._build(given, empty, [*periodic, *smooth]))
            # A short length-scale follows every period too: then none is found in the residual.
            for factor in self.tuning.long_factors:
                ends.append(self._build(given, self._lengthen(given, smooth, factor), periodic))
        best = self.total.maximise(max(ends, key=_BY_EVIDENCE), self.max_iter)
        for _ in range(self.tuning.max_selection_rounds):
            better = self._shorten_periods(self._renew_kernels(given, best))
            if better.log_evidence - best.log_evidence < self.tuning.equal_evidence:
                return better
            best = better
        return best

    def remove_weak_blocks(self, fit: SumFit) -> tuple[SumFit, Vector]:
        """Remove the kernels that gain too little, the weakest first.

        Returns
        -------
        fit : SumFit
            Fit without these kernels; at least one stays.
        gain : ndarray of shape (n_blocks,)
            Gain in log evidence of each kernel over the others, when it was removed or at the end.
        """
        process, gain = self.total.process, np.zeros(len(self.total.blocks))
        while len(fit.active) > 1:
            without = {number: self._leave_out(fit, number) for number in fit.active}
            excess = {}
            for number, other in without.items():
                gain[number] = fit.log_evidence - other.log_evidence
                required = process.compute_min_gain(self.count_parameters([number]) - 1)
                excess[number] = gain[number] - required
            weakest = min(excess, key=excess.__getitem__)
            if excess[weakest] >= 0.0:
                return fit, gain
            fit = without[weakest]
        last = fit.active[0]
        gain[last] = fit.log_evidence - self.compute_null(fit)
        return self.total.maximise(fit, self.max_iter), gain

    def count_parameters(self, numbers: Sequence[int]) -> int:
        """Count the parameters of some kernels, variances included, for their penalty.

        A period counts as three: the information about a frequency grows as the cube of the sample
        size, so that it costs ``3 log(n) / 2`` where others cost ``log(n) / 2`` (Djuric 1996, A
        model selection rule for sinusoids in white Gaussian noise, IEEE Trans. Signal Process. 44).
        """
        names = [name for number in numbers for name in self.total.names[number]]
        n_periods = sum(is_one_of(name, PERIODS + FREQUENCIES) for name in names)
        return len(numbers) + len(names) + 2 * n_periods

    def compute_null(self, fit: SumFit) -> float:
        """Compute the log evidence without kernels, with the same constants."""
        signals = np.where(fit.log_signals > -np.inf, self.tuning.null_log_signal, -np.inf)
        return self.total.score(fit._replace(log_signals=signals)).log_evidence

    def _leave_out(self, fit: SumFit, number: int) -> SumFit:
        """Return the best fit without a kernel: the others may take its part."""
        bare = self.total.score(fit.change(number, -math.inf))
        starts = [bare, self._sweep(bare, bare.active)]
        ends = [self.total.maximise(start, self.tuning.removal_steps) for start in starts]
        return max(ends, key=_BY_EVIDENCE)

    # ------------------------------------------------------------------ initialisations

    def _lengthen(self, given: SumFit, numbers: Sequence[int], factor: float) -> SumFit:
        """Return some of the kernels, with length-scales of a factor times the spread of inputs."""
        signals = np.full_like(given.log_signals, -np.inf)
        signals[numbers] = self.tuning.initial_log_signal
        fit, spread = given._replace(log_signals=signals), self.total.process.X.std(axis=0)
        for number in numbers:
            theta, names = fit.thetas[number].copy(), self.total.names[number]
            for place, name in enumerate(names):
                if is_one_of(name, ("length_scale",)):
                    # One length-scale of all features is for distances, otherwise for a feature.
                    own = place - names.index(name)
                    is_shared = names.count(name) < len(spread)
                    unit = float(np.linalg.norm(spread)) if is_shared else float(spread[own])
                    theta[place] = math.log(factor * max(unit, np.finfo(np.float64).tiny))
            fit = fit.change(number, theta=np.clip(theta, *self.total.bounds[number]))
        return self.total.score(fit)

    def _build(self, given: SumFit, fit: SumFit, order: Sequence[int]) -> SumFit:
        """Add kernels to a fit one by one, each from several initialisations."""
        for number in order:
            trials = []
            for theta in self._list_starts(given, fit, number):
                trial = fit.change(number, self.tuning.initial_log_signal, theta)
                trials.append(self._sweep(trial, [number, *fit.active]))
            trials = sorted(trials, key=_BY_EVIDENCE, reverse=True)[: self.tuning.n_kernel_trials]
            ends = [self.total.maximise(trial, self.tuning.initial_steps) for trial in trials]
            fit = max(ends, key=_BY_EVIDENCE)
        return fit

    def _renew_kernels(self, given: SumFit, fit: SumFit) -> SumFit:
        """Take out each kernel in turn and add it again, if a better place for it is found."""
        for number in fit.active:
            without = self.total.score(fit.change(number, -math.inf))
            other = self.total.maximise(self._build(given, without, [number]), self.max_iter)
            if other.log_evidence > fit.log_evidence + self.tuning.negligible_change:
                fit = other
        return fit

    def _list_starts(self, given: SumFit, fit: SumFit, number: int) -> list[Vector]:
        """List initial log parameters of a kernel that is added to a fit."""
        theta = given.thetas[number]
        if not self.is_periodic[number]:
            return [theta]
        # Residual periodograms: given the kernels in the model, and given all others as they are.
        rest = given.change(number, -math.inf)
        process, peaks = self.total.process, []
        for other in [fit, rest] if rest.active != fit.active else [fit]:
            factor = self.total.whiten(other)
            found = find_spectral_peaks(
                process.X, process.targets, process.weight, self.tuning.n_peaks, factor
            )
            peaks.append(found)
        kernel, bounds = self.total.blocks[number].kernel, self.total.bounds[number]
        starts = [start for each in peaks for start in place_periods(kernel, theta, bounds, each)]
        return [theta, *{start.tobytes(): start for start in starts}.values()]

    def _sweep(self, fit: SumFit, numbers: Sequence[int]) -> SumFit:
        """Set each parameter and variance, one after the other, to the best of a few multiples.

        Periods are held: peaks of the periodogram are better values.
        """
        fit = self.total.score(fit)
        steps = [math.log(factor) for factor in self.tuning.parameter_factors]
        for number in numbers:
            low, high = self.total.bounds[number]
            for place, name in enumerate(self.total.names[number]):
                if is_one_of(name, PERIODS + FREQUENCIES):
                    continue
                trials = [fit]
                for step in steps:
                    theta = fit.thetas[number].copy()
                    theta[place] = np.clip(theta[place] + step, low[place], high[place])
                    trials.append(self.total.score(fit.change(number, theta=theta)))
                fit = max(trials, key=_BY_EVIDENCE)
            signals = np.clip(fit.log_signals[number] + steps, *self.total.process.signal_bounds)
            trials = [self.total.score(fit.change(number, each)) for each in signals]
            fit = max([fit, *trials], key=_BY_EVIDENCE)
        return fit

    def _shorten_periods(self, fit: SumFit) -> SumFit:
        """Return the fit with the shortest periods that explain the data as well.

        A function of some period also has all multiples of it as periods, and a periodogram may be
        highest at an overtone. Half and a third of each period are preferred unless they lose more
        than a nat; twice and three times must gain as much.
        """
        for number in [each for each in fit.active if self.is_periodic[each]]:
            for place, name in enumerate(self.total.names[number]):
                # Shorter periods first, each again while it succeeds.
                ratios = [0.5, 1.0 / 3.0, 2.0, 3.0] if is_one_of(name, PERIODS) else []
                for ratio in ratios:
                    while (other := self._rescale(fit, number, place, ratio)) is not None:
                        fit = other
        return fit

    def _rescale(self, fit: SumFit, number: int, place: int, ratio: float) -> SumFit | None:
        """Return the fit with a period times a ratio, or None if that is not preferred."""
        theta, (low, high) = fit.thetas[number].copy(), self.total.bounds[number]
        theta[place] += math.log(ratio)
        if not low[place] <= theta[place] <= high[place]:
            return None
        trial = self._sweep(fit.change(number, theta=theta), [number, *fit.active])
        trial = self.total.maximise(trial, self.tuning.initial_steps)
        allowed = self.tuning.equal_evidence if ratio < 1.0 else -self.tuning.equal_evidence
        is_moved = abs(trial.thetas[number][place] - theta[place]) > 0.5 * abs(math.log(ratio))
        if is_moved or trial.log_evidence <= fit.log_evidence - allowed:
            return None
        return self.total.maximise(trial, self.max_iter)


def learn_kernel_sum(
    process: Process,
    blocks: Sequence[KernelBlock],
    spread: Vector,
    max_iter: int,
    tuning: LengthScaleTuning | None = None,
) -> LearntLengthScales:
    """Learn a sum of kernels, and remove those that are not needed.

    Parameters
    ----------
    process : Process
        The data.
    blocks : sequence of KernelBlock
        The kernels.
    spread : ndarray of shape (n_features,)
        Standard deviations of the features.
    max_iter : int
        Largest number of steps of the last ascent.
    tuning : LengthScaleTuning, optional
        Constants of the search.

    Returns
    -------
    learnt : LearntLengthScales
        Of kind "none", with the kernels as they were given, if the sum does not explain the
        targets.
    """
    ones = np.ones(len(spread))
    as_given = [
        LearntBlock(place, block.name, block.kernel, 0.0, 0.0, block.is_held, is_kept=True)
        for place, block in enumerate(blocks)
    ]
    nothing = replace(
        build_unlearnt(blocks[0].kernel, spread, 0.0),
        kernel=_add_kernels([(block.kernel, 1.0) for block in blocks]),
        scale=ones,
        blocks=tuple(as_given),
    )
    if process.is_empty or not spread.any():
        return nothing
    total = KernelSum(process, blocks, tuning)
    search = KernelSumSearch(total, max_iter)
    fit = search.learn()
    if fit is None:
        raise ValueError(
            "kernels can only be learnt if they are covariance functions; the sum of "
            f"{[block.kernel for block in blocks]} is not one on these inputs."
        )
    fit, gain = search.remove_weak_blocks(fit)
    # The first variance is counted by `Process.compute_min_gain`.
    required = process.compute_min_gain(search.count_parameters(fit.active) - 1)
    if fit.log_evidence - search.compute_null(fit) < required:
        return nothing
    found = []
    for number, block in enumerate(as_given):
        is_kept = number in fit.active
        kernel = total.build_kernel(fit, number) if is_kept else block.kernel
        signal = math.exp(fit.log_signals[number])
        found.append(
            block._replace(kernel=kernel, signal=signal, gain=float(gain[number]), is_kept=is_kept)
        )
    return replace(
        nothing,
        kernel=_add_kernels([(block.kernel, block.signal) for block in found if block.is_kept]),
        blocks=tuple(found),
        relevance=spread**2,
        gain=np.full(len(spread), np.nan),
        kind="kernel",
        group="kernel",
        log_evidence=fit.log_evidence,
        path=np.empty((0, len(spread))),
        path_objective=np.empty(0),
        at_bounds=find_blocks_at_bounds(total, fit),
    )


def find_blocks_at_bounds(total: KernelSum, fit: SumFit) -> tuple[str, ...]:
    """Find the parameters at a bound beyond which the evidence would rise, with their kernels."""
    point = total.evaluate(fit)
    if point is None:
        return ()
    close, found = total.tuning.negligible_change, []
    for number in fit.active:
        (low, high), theta = total.bounds[number], fit.thetas[number]
        slope = point.thetas[number]
        # Derivative along the outward normal of the active bound; zero if no bound is active.
        at_high = np.where(theta > high - close, slope, 0.0) > total.tuning.negligible_loss
        at_low = np.where(theta < low + close, -slope, 0.0) > total.tuning.negligible_loss
        for place, name in enumerate(total.names[number]):
            of_block = f"{name} of {total.blocks[number].name}"
            if at_low[place] and total.is_raised[number][place]:
                found.append(f"{of_block} (at the distance between neighbouring inputs)")
            elif at_low[place] or at_high[place]:
                found.append(of_block)
    return tuple(dict.fromkeys(found))


def _add_kernels(parts: Sequence[tuple[Kernel, float]]) -> Kernel:
    """Return the sum of kernels, each times its variance."""
    first, *others = [ConstantKernel(variance) * kernel for kernel, variance in parts]
    return sum(others, first)
