"""Learn on which scales inputs matter, before any sparse model is fitted.

The evidence of a sparse model overfits scales: pushed to its end it predicts worse than the scales
it started from. A Gaussian process with the same kernel says how far the function varies along each
input, the sparse model follows. Its kernels are made somewhat wider, which few of them need.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np
from scipy.special import ndtri
from sklearn.base import BaseEstimator
from sklearn.gaussian_process.kernels import Kernel

from relvec._checks import check_choice, check_integer, check_positive
from relvec._typing import IndexArray, Matrix, Vector
from relvec.kernels import Warped
from relvec.kernels.resolve import is_made_of
from relvec.learning.kernel_parameters import find_parameters_at_bounds, learn_parameters
from relvec.learning.label_process import LabelProcess
from relvec.learning.learnt import (
    LearntLengthScales,
    build_unlearnt,
    merge_targets,
    scales_from_relevance,
)
from relvec.learning.process import Process
from relvec.learning.process_search import ProcessFit, ProcessSearch, largest_scales
from relvec.learning.rows import compute_feature_moments, select_learning_rows
from relvec.learning.tuning import LengthScaleTuning

__all__ = ["KINDS", "LengthScaleLearner", "compute_feature_penalty"]

KINDS = ("auto", "isotropic", "ard", "kernel")


@dataclass(eq=False, repr=False)
class LengthScaleLearner(BaseEstimator):
    """Scales of inputs that maximise the evidence of a Gaussian process.

    Parameters
    ----------
    kind : {"auto", "ard", "isotropic", "kernel"}, default="ard"
        One scale for each input; one width for all of them, each in units of its standard
        deviation; both, for sparse models to decide ("auto"); or the free parameters of a kernel
        object, inputs left as they are.
    width : float or "auto", default="auto"
        Factor of the scales of the process that gives those of the sparse model. Below one its
        kernels are wider than those of the process. "auto" is 0.5 for targets; for labels 0.5
        and 1 are both proposed.
    min_gain : float or "auto", default="auto"
        Log evidence that an input must bring to be kept. "auto" asks so much that of inputs that
        do not matter one or two stay, however many there are.
    n_refinements : int, default=0
        How often, in regression of one target, to go on with a few steps of the evidence of the
        sparse model itself in its precisions and scales, and to fit it again. Three times make it
        sparser.
    max_rows : int or "auto", default="auto"
        Rows that the process is shown; the cost grows with their third power. "auto" is 500, or
        300 for labels, which cost more.
    max_iter : int, default=60
        Steps of the last climb.
    random_state : int, RandomState instance or None, default=0
        Chooses the rows if there are more.
    tuning : LengthScaleTuning, optional
        Constants of the search.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.gaussian_process.kernels import RBF
    >>> from relvec.learning import LengthScaleLearner
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-3, 3, size=(60, 3))
    >>> y = np.sin(2 * X[:, 1]) + 0.1 * rng.normal(size=60)
    >>> [learnt] = LengthScaleLearner().learn(RBF(0.5**0.5), X, y[:, None])
    >>> learnt.relevance.round(1)
    array([0. , 0.9, 0. ])
    """

    kind: str = "ard"
    _: KW_ONLY
    scale_factor: float | str = "auto"
    min_gain: float | str = "auto"
    n_refinements: int = 0
    max_rows: int | str = "auto"
    max_iter: int = 60
    random_state: Any = 0
    tuning: LengthScaleTuning | None = None

    def check(self) -> None:
        """Find misspelt options before any work is done."""
        check_choice("kind", self.kind, KINDS)
        check_integer("n_refinements", self.n_refinements, minimum=0)
        check_integer("max_iter", self.max_iter, minimum=1)
        for name in ("scale_factor", "min_gain", "max_rows"):
            value = getattr(self, name)
            if isinstance(value, str):
                check_choice(name, value, ("auto",))
            elif name == "max_rows":
                check_integer(name, value, minimum=2)
            else:
                check_positive(name, value, allow_zero=name == "min_gain", also='or "auto"')

    def learn(
        self,
        kernel: Kernel,
        X: Matrix,
        targets: Matrix,
        sample_weight: Vector | None = None,
        explicit: Callable[[IndexArray], Matrix] | None = None,
        *,
        are_labels: bool = False,
    ) -> tuple[LearntLengthScales, ...]:
        """Learn the scales of the inputs of a kernel.

        Parameters
        ----------
        kernel : Kernel
            A covariance.
        X : ndarray of shape (n_samples, n_features)
            Inputs.
        targets : ndarray of shape (n_samples, n_targets)
            What is to be explained: targets of a regression, or indicators of classes.
        sample_weight : ndarray of shape (n_samples,), default=None
            How often each row counts.
        explicit : callable, default=None
            Gives, for some rows, the columns that stand beside the kernels in the model.
        are_labels : bool, default=False
            Whether targets are indicators of classes, 0 or 1, each told apart from the rest.

        Returns
        -------
        proposals : tuple of LearntLengthScales
            One or several, between which the evidence of a sparse model should decide.
        """
        self.check()
        if targets.shape[1] > 1 and not are_labels and self.kind != "kernel":
            # each has a ratio of signal to noise of its own: one that is nearly free of noise
            # would speak for all
            by_target = [
                self.learn(kernel, X, target[:, None], sample_weight, explicit)
                for target in targets.T
            ]
            return merge_targets(by_target)
        process_of = LabelProcess if are_labels else Process
        most = process_of.max_rows if isinstance(self.max_rows, str) else self.max_rows
        rows, weight = select_learning_rows(
            X, targets, sample_weight, most, self.random_state, are_labels=are_labels
        )
        if self.kind != "kernel" and is_made_of(kernel, Warped):
            raise ValueError(
                f"scales={self.kind!r} moves and stretches inputs, of which {kernel!r} takes a "
                "function. Take that of the columns of X instead (FunctionTransformer), or use "
                'length_scales="kernel" or None.'
            )
        inputs = X[rows]
        centre, spread = compute_feature_moments(inputs, weight)
        if self.kind != "kernel":  # which has units of its own
            inputs = (inputs - centre) / np.where(spread > 0.0, spread, 1.0)
        columns = None if explicit is None else explicit(rows)
        process = process_of(inputs, targets[rows], weight, columns)
        if self.kind == "kernel":
            return (self._learn_kernel(kernel, process, spread),)
        return self._learn_scales(kernel, process, spread)

    # ------------------------------------------------------------------ stages

    def _learn_kernel(self, kernel: Kernel, process: Process, spread: Vector) -> LearntLengthScales:
        """Learn the free parameters of a kernel object, inputs in their own units."""
        ones = np.ones(len(spread))
        nothing = replace(build_unlearnt(kernel, spread, 0.0), kernel=kernel, scale=ones)
        if process.is_empty or not spread.any():
            return nothing
        search = ProcessSearch(process, kernel, ones, self.tuning, learns_kernel=True)
        fit = learn_parameters(search, ones, self.max_iter)
        if fit is None:
            raise ValueError(
                f"a kernel can only be learnt if it is a covariance; {kernel!r} is not one on "
                "these inputs."
            )
        null = search.evaluate(fit._replace(log_signal=search.tuning.null_log_signal)).log_evidence
        if fit.log_evidence - null < _compute_min_evidence(process, len(fit.theta)):
            return nothing
        return LearntLengthScales(
            kernel=kernel.clone_with_theta(fit.theta) if len(fit.theta) else kernel,
            scale=ones,
            relevance=spread**2,
            spread=spread,
            gain=np.full(len(ones), np.nan),
            kind="kernel",
            group="kernel",
            log_evidence=fit.log_evidence,
            path=np.empty((0, len(ones))),
            path_objective=np.empty(0),
            at_bounds=find_parameters_at_bounds(search, fit),
        )

    def _learn_scales(
        self, kernel: Kernel, process: Process, spread: Vector
    ) -> tuple[LearntLengthScales, ...]:
        """Learn a width for all inputs and, if they may be chosen, a scale for each."""
        n_features = int(np.count_nonzero(spread))
        if process.is_empty or not n_features:
            return (build_unlearnt(kernel, spread, 0.0),)
        largest = np.where(spread > 0.0, largest_scales(process.X), 0.0)
        search = ProcessSearch(process, kernel, largest, self.tuning)
        if search.start(np.where(search.varies, 0.5 / n_features, 0.0)).objective == -math.inf:
            raise ValueError(
                f"scales can only be learnt for kernels that are covariances; {kernel!r} is not "
                'one on these inputs. Use "rbf", "matern52" or another that is.'
            )
        penalty = compute_feature_penalty(self.min_gain, n_features, search.tuning.expected_nulls)
        shared = self._fit_shared(search, n_features)
        null = search.evaluate(
            shared[0]._replace(log_signal=search.tuning.null_log_signal)
        ).log_evidence
        fits = {"isotropic": shared}
        if self.kind != "isotropic" and n_features > 1:
            chosen = {"ard": [self._fit_ard(search, penalty, shared[0])]}
            fits = chosen if self.kind == "ard" else fits | chosen
        proposals = self._list_proposals(search, fits, null, spread, penalty)
        return tuple(proposals) or (build_unlearnt(kernel, spread, penalty),)

    def _list_proposals(
        self,
        search: ProcessSearch,
        fits: dict[str, list[ProcessFit]],
        null: float,
        spread: Vector,
        penalty: float,
    ) -> list[LearntLengthScales]:
        """Return what was found, each with the widths that come into question."""
        scale_factors = (
            search.process.scale_factors
            if isinstance(self.scale_factor, str)
            else (float(self.scale_factor),)
        )
        proposals: list[LearntLengthScales] = []
        number = 0
        for kind, of_kind in fits.items():
            for fit in of_kind:
                group, number = f"{kind} {number}", number + 1
                n_scales = 1 if kind == "isotropic" else len(fit.features)
                if fit.log_evidence - null < _compute_min_evidence(search.process, n_scales):
                    continue
                gain, (path, objectives) = search.compute_gains(fit), search.get_path(fit)
                for scale_factor in scale_factors:
                    proposals.append(
                        LearntLengthScales(
                            **scales_from_relevance(
                                search.kernel, scale_factor * fit.scale, spread
                            ),
                            gain=gain,
                            penalty=penalty,
                            log_evidence=fit.log_evidence,
                            kind=kind,
                            group=group,
                            scale_factor=scale_factor,
                            path=scale_factor * path,
                            path_objective=objectives,
                        )
                    )
        return proposals

    def _fit_shared(self, search: ProcessSearch, n_features: int) -> list[ProcessFit]:
        """One width for all inputs, or for those of many that matter by themselves."""
        tuning, groups = search.tuning, [search.varies]
        if self.kind == "auto" and n_features > tuning.many_features:
            groups += map(search.find_best_single, tuning.screened_sizes)
            groups = groups[1:] if n_features > tuning.too_many_features else groups
        fits = []
        for group in groups:
            fits.append(search.maximise(search.find_best_start(group), self.max_iter, "common"))
        return fits

    def _fit_ard(self, search: ProcessSearch, penalty: float, isotropic: ProcessFit) -> ProcessFit:
        """Choose inputs from all of them and from those that matter by themselves.

        Climb from several widths, then take inputs out and in until nothing changes.
        """
        tuning, n_features = search.tuning, int(search.varies.sum())
        first = [search.varies] if n_features <= tuning.many_features else []
        if n_features > max(tuning.many_features, tuning.large_start_size):
            first.append(search.find_best_single(tuning.large_start_size))
        if n_features > tuning.small_start_size:
            first.append(search.find_best_single(tuning.small_start_size))
        best, highest = isotropic, -math.inf
        for inputs in first:
            common = isotropic
            if inputs is not search.varies:
                common = search.maximise(search.find_best_start(inputs), self.max_iter, "common")
            fit = search.maximise(search.find_best_start(inputs), tuning.initial_steps)
            other = search.maximise(common, tuning.initial_steps)
            fit = search.maximise(fit if fit.objective >= other.objective else other, self.max_iter)
            for _ in range(tuning.max_selection_rounds):
                before = fit.features
                fit = search.remove_weak_features(fit, penalty)
                allowed = search.varies.copy()
                allowed[np.setdiff1d(before, fit.features)] = False  # they had their chance
                fit = search.add_features(fit, penalty, allowed)
                if np.array_equal(before, fit.features):
                    break
            penalised = fit.objective - penalty * len(fit.features)
            if penalised > highest:
                best, highest = fit, penalised
        return search.maximise(best, self.max_iter)


def _compute_min_evidence(process: Process, n_parameters: int) -> float:
    """Log evidence that a kernel must bring, by the number of its parameters and the signal's.

    What a parameter of a process that explains noise gains, chosen from some, is more than half a
    nat.
    """
    return max(1.0, 0.5 * math.log(process.n_contrasts)) * (1.0 + n_parameters)


def compute_feature_penalty(
    min_gain: float | str, n_features: int, expected_nulls: float = 1.5
) -> float:
    """Log evidence that an input must bring.

    What an input that does not matter gains is half the square of a normal deviate, if that is
    positive. The penalty is the quantile of which `expected_nulls` of `n_features` are beyond.
    """
    if not isinstance(min_gain, str):
        return float(min_gain)
    share = min(expected_nulls / n_features, 0.5)
    return 0.5 * float(ndtri(1.0 - share)) ** 2
