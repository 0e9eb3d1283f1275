"""Selection of features and learning of input scales of a Gaussian process.

The evidence is maximised over the logarithms of the input scales. Features that gain too little are
removed, and added again if they gain more than their penalty. All features are in units of their
standard deviations.
"""

from __future__ import annotations

import itertools
import math
from functools import cached_property
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from relvec._typing import BoolArray, IndexArray, Matrix, Vector
from relvec.learning.ascent import ascend
from relvec.learning.process import Process, ProcessPoint
from relvec.learning.rows import median_nearest_squared_distance
from relvec.learning.screening import score_single_features
from relvec.learning.tuning import LengthScaleTuning

__all__ = ["ProcessFit", "ProcessSearch", "largest_scales"]


class ProcessFit(NamedTuple):
    """Parameters of a Gaussian process, and its evidence."""

    scale: Vector
    """Input scale of every feature; zero if it is left out."""
    log_signal: float
    """Log signal-to-noise ratio."""
    log_explicit: float
    """Log ratio of the prior variance of explicit columns to the noise variance."""
    theta: Vector
    """Log parameters of the kernel, if they are learnt."""
    log_evidence: float = -math.inf
    objective: float = -math.inf
    """Log evidence less the penalty of unequal scales."""

    @property
    def features(self) -> IndexArray:
        """Indices of the features in the model."""
        return np.flatnonzero(self.scale)


class ProcessSearch:
    """Ascents, removals and additions of features for one process.

    Parameters
    ----------
    process : Process
        The data, with features in units of their standard deviations.
    kernel : Kernel or callable
        Kernel of the scaled features.
    largest : ndarray of shape (n_features,)
        Upper bounds of the scales, see `largest_scales`; zero for constant features.
    tuning : LengthScaleTuning, optional
        Constants of the search.
    learns_kernel : bool, default=False
        Whether the parameters of the kernel are learnt as well.
    """

    def __init__(
        self,
        process: Process,
        kernel: Any,
        largest: Vector,
        tuning: LengthScaleTuning | None = None,
        *,
        learns_kernel: bool = False,
    ) -> None:
        self.process, self.kernel, self.largest = process, kernel, largest
        self.varies: BoolArray = largest > 0.0
        self.tuning = LengthScaleTuning() if tuning is None else tuning
        self.theta = np.asarray(kernel.theta) if learns_kernel else np.empty(0)
        self.path: list[Vector] = []
        """Scales after every step that reached a new maximum."""
        self.values: list[float] = []
        """Objective after these steps."""

    # ------------------------------------------------------------------ initialisations

    def evaluate(self, fit: ProcessFit) -> ProcessFit:
        """Return the same parameters with their evidence; minus infinity if it is undefined."""
        return self._evaluate_with(fit, self.process)

    def _evaluate_with(self, fit: ProcessFit, process: Process) -> ProcessFit:
        point = process.evaluate(self.kernel, *fit[:4], slopes=False)
        value = -math.inf if point is None else point.log_evidence
        return fit._replace(
            log_evidence=value, objective=value - self._compute_scale_penalty(fit)[0]
        )

    def start(self, scale: Vector) -> ProcessFit:
        """Return an initial fit with given scales."""
        return self.evaluate(self._build_fit(scale))

    def _build_fit(self, scale: Vector) -> ProcessFit:
        scale = np.minimum(scale, self.largest)
        return ProcessFit(scale, self.tuning.initial_log_signal, 0.0, self.theta)

    def find_best_start(self, features: BoolArray) -> ProcessFit:
        """Return the best of a few common length-scales of some features.

        Shorter length-scales than usual are tried as well, down to the distance of a typical row
        from its nearest neighbour. They are used only if the evidence of the normal scores of the
        targets prefers them too: a short length-scale explains a single outlier well, but in the
        normal scores an outlier is not extreme.
        """
        common = [scale / features.sum() for scale in self.tuning.initial_scales]
        squared, largest = (
            median_nearest_squared_distance(self.process.X[:, features]),
            self.largest.max(),
        )
        # Beyond 1 / d^2, with d the distance of nearest neighbours, rows are nearly independent.
        largest = min(largest, 1.0 / squared) if squared > 0.0 else largest
        shorter: list[float] = []
        while (scale := self.tuning.initial_scale_ratio * [*common, *shorter][-1]) <= largest:
            shorter.append(scale)
        fits = [self._build_fit(np.where(features, scale, 0.0)) for scale in [*common, *shorter]]
        ranked = self.process.ranked()
        if shorter and ranked is not self.process:
            objectives = [self._evaluate_with(fit, ranked).objective for fit in fits]
            # The normal scores prefer a usual length-scale: shorter ones would fit an outlier.
            if int(np.argmax(objectives)) < len(common):
                fits = fits[: len(common)]
        return max(map(self.evaluate, fits), key=attrgetter("objective"))

    @cached_property
    def scores(self) -> Vector:
        """Scores of single features, see `score_single_features`."""
        return score_single_features(self.process, self.varies)

    def find_best_single(self, most: int) -> BoolArray:
        """Return which features have the `most` highest scores by themselves."""
        chosen = np.zeros(len(self.scores), dtype=bool)
        chosen[np.argsort(-self.scores, kind="stable")[:most]] = True
        return chosen & self.varies

    # ------------------------------------------------------------------ ascents

    def maximise(self, fit: ProcessFit, max_iter: int, move: str = "each") -> ProcessFit:
        """Maximise the objective with a fixed set of features.

        Parameters
        ----------
        fit : ProcessFit
            Initial parameters.
        max_iter : int
            Largest number of steps.
        move : {"each", "common", "none"}, default="each"
            Optimise every scale, one common factor of all scales, or no scale.
        """
        moves = _Coordinates(self, fit, move)

        def objective(vector: Vector) -> tuple[float, Vector] | None:
            trial = moves.fit_at(vector)
            point = self.process.evaluate(self.kernel, *trial[:4])
            if point is None:
                return None
            penalty, by_log_scale = self._compute_scale_penalty(trial)
            return point.log_evidence - penalty, moves.slopes(trial, point, by_log_scale)

        unit = 1.0
        while unit:
            # L-BFGS-B compares a rise with max(|f|, 1), f in units of `unit`: this makes it
            # absolute.
            tolerance = self.tuning.ascent_tol / max(abs(fit.objective), unit)
            end = ascend(
                objective, moves.begin, moves.bounds, max_iter, unit=unit, tolerance=tolerance
            )
            for vector, value in end.path:
                if not self.values or value >= self.values[-1]:
                    self.path.append(moves.fit_at(vector).scale)
                    self.values.append(value)
            if end.value > fit.objective:
                found = moves.fit_at(end.vector)
                # The objective is the log evidence less the penalty.
                evidence = self._compute_scale_penalty(found)[0] + end.value
                return found._replace(objective=end.value, log_evidence=evidence)
            # The first step has the length of the gradient; it was so long that the covariance was
            # not positive definite. Try again with a first step of length one.
            unit = end.steepness if end.steepness > unit else 0.0
        return fit

    def _compute_scale_penalty(self, fit: ProcessFit) -> tuple[float, Vector]:
        """Compute the penalty of unequal scales, and its derivative in the log scales.

        It is minus the log density of a normal prior of the log scales around their mean.
        """
        features = fit.features
        if not len(features):
            return 0.0, np.empty(0)
        # Deviations from the mean sum to zero, so the derivative through the mean vanishes.
        log_scale = np.log(fit.scale[features])
        deviation = log_scale - log_scale.mean()
        precision = self.tuning.log_scale_precision
        return 0.5 * precision * float(deviation @ deviation), precision * deviation

    # ------------------------------------------------------------------ feature selection

    def remove_features(self, fit: ProcessFit, out: IndexArray | int) -> ProcessFit:
        """Evaluate the model without some features, all other parameters held."""
        scale = fit.scale.copy()
        scale[out] = 0.0
        return self.evaluate(fit._replace(scale=scale))

    def compute_losses(self, fit: ProcessFit, features: IndexArray) -> Vector:
        """Compute the objective lost with each of some features, all other parameters held."""
        result = np.empty(len(features))
        for place, k in enumerate(features):
            result[place] = fit.objective - self.remove_features(fit, k).objective
        return result

    def remove_weak_features(self, fit: ProcessFit, penalty: float) -> ProcessFit:
        """Remove features that gain less than their penalty, the weakest first.

        The last feature always stays. If no loss is below the penalty with all other parameters
        held, the removal of the weakest feature is tried with the others adapting.
        """
        tuning = self.tuning
        while len(fit.features) > 1:
            features = fit.features[np.argsort(fit.scale[fit.features])[: tuning.n_removal_trials]]
            losses = self.compute_losses(fit, features)
            # All at once: losses are not additive, hence the check of the joint loss below.
            negligible = features[losses < min(tuning.negligible_loss, penalty)]
            if 0 < len(negligible) < len(fit.features):
                fewer = self.remove_features(fit, negligible)
                if fewer.objective > fit.objective - penalty * len(negligible):
                    fit = fewer
                    continue
            order = np.argsort(losses)
            n_cheap = int(np.count_nonzero(losses < penalty))
            # Remove half of the weak features at once or, if that fails, the weakest alone.
            for n_out in sorted({max(1, n_cheap // 2), 1}, reverse=True):
                trial = self.remove_features(fit, features[order[:n_out]])
                trial = self.maximise(trial, tuning.removal_steps)
                if fit.objective - trial.objective <= penalty * n_out + tuning.negligible_change:
                    fit = trial
                    break
            else:
                return fit
        return fit

    def find_entry_candidates(
        self, fit: ProcessFit, allowed: BoolArray
    ) -> list[tuple[int, ProcessFit]]:
        """Return the best features outside the model, each with the best fit that has it.

        Candidates have the largest derivative of the evidence in their scale, at zero.
        """
        point = self.process.evaluate(self.kernel, *fit[:4], everywhere=True)
        if point is None:
            return []
        slope = np.where(allowed & (fit.scale == 0.0), point.scale, -math.inf)
        order = np.argsort(-slope, kind="stable")[: self.tuning.n_entry_trials]
        # A first guess of a new scale: those of the features already in the model.
        typical = float(np.median(fit.scale[fit.features])) if len(fit.features) else 0.5
        # If the current features explain nothing, also try the initial signal-to-noise ratio.
        signals = (fit.log_signal, self.tuning.initial_log_signal)[: 1 + (fit.log_signal < 0.0)]
        found = []
        for k in order[slope[order] > 0.0]:
            trials = []
            for share, signal in itertools.product(self.tuning.entry_scale_factors, signals):
                scale = fit.scale.copy()
                scale[k] = min(share * typical, self.largest[k])
                trials.append(self.evaluate(fit._replace(scale=scale, log_signal=signal)))
            found.append((int(k), max(trials, key=attrgetter("objective"))))
        return sorted(found, key=lambda entry: -entry[1].objective)

    def add_features(self, fit: ProcessFit, penalty: float, allowed: BoolArray) -> ProcessFit:
        """Add features as long as one of the candidates gains more than its penalty."""
        tuning = self.tuning
        while True:
            for _, trial in self.find_entry_candidates(fit, allowed):
                if trial.objective - fit.objective < tuning.min_entry_fraction * penalty:
                    continue
                grown = self.maximise(trial, tuning.entry_steps)
                if grown.objective - fit.objective > penalty + tuning.negligible_change:
                    fit = grown
                    break
            else:
                return fit

    # ------------------------------------------------------------------ results

    def compute_gains(self, fit: ProcessFit) -> Vector:
        """Compute the gain of every feature, or its possible gain if it is left out.

        NaN if the model has many features: the model would have to be evaluated without each.
        """
        if len(fit.features) > self.tuning.many_features:
            return np.full(len(fit.scale), np.nan)
        gain = np.zeros(len(fit.scale))
        gain[fit.features] = self.compute_losses(fit, fit.features)
        for k, trial in self.find_entry_candidates(fit, self.varies):
            gain[k] = max(0.0, trial.objective - fit.objective)
        return gain

    def get_path(self, fit: ProcessFit) -> tuple[Matrix, Vector]:
        """Return scales and objectives along the search; with many features some steps only."""
        n_steps = len(self.path) + 1
        n_shown = min(n_steps, max(2, self.tuning.max_path_values // len(fit.scale)))
        shown = np.unique(np.linspace(0, n_steps - 1, n_shown).astype(np.intp))
        steps, objectives = [*self.path, fit.scale], [*self.values, fit.objective]
        return np.array(steps)[shown], np.array(objectives)[shown]


class _Coordinates:
    """Parameters of one ascent, as a vector.

    It contains the logarithms of the scales (or of one common factor), of g, of h if there are
    explicit columns, and of the kernel parameters.
    """

    def __init__(self, search: ProcessSearch, fit: ProcessFit, move: str) -> None:
        self.fit, self.features, self.each = fit, fit.features, move == "each"
        scale, largest = fit.scale[self.features], search.largest[self.features]
        smallest = math.log(search.tuning.smallest_scale)
        begin = low = high = np.empty(0)
        if self.each:
            begin, low, high = np.log(scale), np.full(len(scale), smallest), np.log(largest)
        elif move == "common" and len(scale):
            begin = np.zeros(1)
            # Bounds of a common log factor: the largest scale stays above the smallest allowed one,
            # and every scale below its own upper bound.
            low = np.array([smallest - math.log(scale.max())])
            high = np.array([float(np.log(largest / scale).min())])
        self.n_scales = len(begin)
        self.n_ratios = 1 if search.process.explicit is None else 2
        ratios = [fit.log_signal, fit.log_explicit][: self.n_ratios]
        of_ratios = np.tile(search.process.signal_bounds, (self.n_ratios, 1)).T
        of_theta = np.asarray(search.kernel.bounds).T if len(fit.theta) else np.empty((2, 0))
        self.begin = np.concatenate([begin, ratios, fit.theta])
        self.bounds = np.hstack([[low, high], of_ratios, of_theta])

    def fit_at(self, vector: Vector) -> ProcessFit:
        """Return the parameters of the process for a vector."""
        scale = np.zeros_like(self.fit.scale)
        moved = np.exp(vector[: self.n_scales])
        scale[self.features] = moved if self.each else self.fit.scale[self.features] * moved.prod()
        end = self.n_scales + self.n_ratios
        ratios = [*vector[self.n_scales : end].tolist(), 0.0]
        return ProcessFit(scale, ratios[0], ratios[1], vector[end:])

    def slopes(self, trial: ProcessFit, point: ProcessPoint, by_log_scale: Vector) -> Vector:
        """Compute the gradient in the vector; `by_log_scale` is that of the penalty."""
        # d / d log eta = eta d / d eta.
        by_scale = (trial.scale * point.scale)[self.features]
        # A common factor of all scales does not change the penalty of unequal scales.
        by_scale = by_scale - by_log_scale if self.each else np.full(self.n_scales, by_scale.sum())
        ratios = [point.log_signal, point.log_explicit][: self.n_ratios]
        return np.concatenate([by_scale, ratios, point.theta])


def largest_scales(X: Matrix) -> Vector:
    """Compute upper bounds of the scales, beyond which kernels separate all values of a feature.

    At the bound a Gaussian kernel ``exp(-eta d^2)`` falls by a factor of e^4 over the median gap
    ``d`` between neighbouring values. `X` is in units of standard deviations.
    """
    largest = np.empty(X.shape[1])
    for k, column in enumerate(X.T):
        gaps = np.diff(np.unique(column))
        gap = float(np.median(gaps)) if len(gaps) else 1.0
        # At least 1e-3 standard deviations: values that differ by rounding are not separated.
        largest[k] = 4.0 / max(gap, 1e-3) ** 2
    return largest
