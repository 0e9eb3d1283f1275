"""Learning of length-scales by a Gaussian process, before a sparse model is fitted.

The evidence of a sparse model overfits the length-scales: at its maximum the model predicts worse
than with the initial length-scales. A Gaussian process with the same kernel estimates how fast the
function varies along each feature (automatic relevance determination). The sparse model uses these
length-scales, somewhat increased: few kernels then suffice.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np
from scipy.special import ndtri
from sklearn.base import BaseEstimator
from sklearn.gaussian_process.kernels import Kernel

from relvec._checks import check_choice, check_integer, check_positive
from relvec._typing import IndexArray, Matrix, Vector
from relvec.kernels import Warped
from relvec.kernels.resolve import contains_kernel
from relvec.learning.kernel_parameters import find_parameters_at_bounds, learn_parameters
from relvec.learning.kernel_sum import KernelBlock
from relvec.learning.kernel_sum_search import learn_kernel_sum
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
    """Learn length-scales that maximise the evidence of a Gaussian process.

    The evidence (marginal likelihood) is that of Rasmussen & Williams (2006, eq. 5.8).

    Parameters
    ----------
    kind : {"auto", "ard", "isotropic", "kernel"}, default="ard"
        What to learn: one length-scale for each feature, with selection of features ("ard"); one
        length-scale for all features, in units of their standard deviations ("isotropic"); both,
        as candidates between which sparse models decide ("auto"); or the free parameters of a
        kernel object, with the features as they are ("kernel").
    scale_factor : float or "auto", default="auto"
        Ratio of the input scales ``eta = 1 / (2 length_scale^2)`` of the sparse model to those of
        the process. Below one the length-scales of the sparse model are longer: 0.5 increases them
        by a factor of the square root of two. "auto" is 0.5 in regression; in classification 0.5
        and 1 are both candidates.
    min_gain : float or "auto", default="auto"
        Minimum gain in log evidence of a feature. With "auto", one or two irrelevant features are
        expected to be selected, however many there are.
    n_refinements : int, default=0
        How often, in regression of one target, to take a few steps that maximise the evidence of
        the sparse model itself over its precisions and length-scales, and to fit it again. Three
        refinements make it sparser.
    max_rows : int or "auto", default="auto"
        Largest number of rows for the process; the cost grows with their third power. "auto" is
        500, or 300 in classification, which costs more (fewer for more than three classes, 200 for
        ten).
    max_iter : int, default=60
        Largest number of steps of the last ascent.
    random_state : int, RandomState instance or None, default=0
        Selects the rows if there are more.
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
        """Check all options."""
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
        """Learn the length-scales of the features of a kernel.

        Parameters
        ----------
        kernel : Kernel
            A covariance function.
        X : ndarray of shape (n_samples, n_features)
            Inputs.
        targets : ndarray of shape (n_samples, n_targets)
            Targets of a regression, or indicators of classes.
        sample_weight : ndarray of shape (n_samples,), default=None
            Frequency weights of the rows.
        explicit : callable, default=None
            Returns, for some rows, the columns that are in the model in addition to the kernels.
        are_labels : bool, default=False
            Whether targets are class indicators, 0 or 1; each class is modelled against the rest.

        Returns
        -------
        proposals : tuple of LearntLengthScales
            One or several candidates, between which the evidence of a sparse model decides.
        """
        self.check()
        if targets.shape[1] > 1 and not are_labels and self.kind != "kernel":
            # Targets have different signal-to-noise ratios: in a joint evidence, one target with
            # little noise would dominate the others.
            by_target = [
                self.learn(kernel, X, target[:, None], sample_weight, explicit)
                for target in targets.T
            ]
            return merge_targets(by_target)
        if self.kind != "kernel" and contains_kernel(kernel, Warped):
            raise ValueError(
                f"length_scales={self.kind!r} shifts and rescales features, but {kernel!r} is a "
                "kernel of transformed features. Transform the columns of X instead "
                '(FunctionTransformer), or use length_scales="kernel" or None.'
            )
        process, spread = self._make_process(
            X, targets, sample_weight, explicit, are_labels=are_labels
        )
        if self.kind == "kernel":
            return (self._learn_kernel(kernel, process, spread),)
        return self._learn_scales(kernel, process, spread)

    def learn_sum(
        self,
        blocks: Sequence[KernelBlock],
        X: Matrix,
        targets: Matrix,
        sample_weight: Vector | None = None,
        explicit: Callable[[IndexArray], Matrix] | None = None,
        *,
        are_labels: bool = False,
    ) -> LearntLengthScales:
        """Learn the parameters of several kernels whose sum is the covariance of one process.

        Each kernel has a variance of its own. Kernels that gain too little are removed.

        Parameters
        ----------
        blocks : sequence of KernelBlock
            The kernels, in the order of the sum.
        X, targets, sample_weight, explicit, are_labels
            As for `learn`.
        """
        self.check()
        process, spread = self._make_process(
            X, targets, sample_weight, explicit, are_labels=are_labels
        )
        return learn_kernel_sum(process, blocks, spread, self.max_iter, self.tuning)

    # ------------------------------------------------------------------ stages

    def _make_process(
        self,
        X: Matrix,
        targets: Matrix,
        sample_weight: Vector | None,
        explicit: Callable[[IndexArray], Matrix] | None,
        *,
        are_labels: bool,
    ) -> tuple[Process, Vector]:
        """Return the process of some rows, and the standard deviations of the features there."""
        process_class = LabelProcess if are_labels else Process
        most = self.max_rows
        if isinstance(most, str):
            most = process_class.affordable_rows(targets.shape[1])
        rows, weight = select_learning_rows(
            X, targets, sample_weight, most, self.random_state, are_labels=are_labels
        )
        inputs = X[rows]
        centre, spread = compute_feature_moments(inputs, weight)
        if self.kind != "kernel":  # the parameters of a kernel object have units of their own
            inputs = (inputs - centre) / np.where(spread > 0.0, spread, 1.0)
        columns = None if explicit is None else explicit(rows)
        return process_class(inputs, targets[rows], weight, columns), spread

    def _learn_kernel(self, kernel: Kernel, process: Process, spread: Vector) -> LearntLengthScales:
        """Learn the free parameters of a kernel object, with features in their own units."""
        ones = np.ones(len(spread))
        nothing = replace(build_unlearnt(kernel, spread, 0.0), kernel=kernel, scale=ones)
        if process.is_empty or not spread.any():
            return nothing
        search = ProcessSearch(process, kernel, ones, self.tuning, learns_kernel=True)
        fit = learn_parameters(search, ones, self.max_iter)
        if fit is None:
            raise ValueError(
                f"a kernel can only be learnt if it is a covariance function; {kernel!r} is not "
                "one on these inputs."
            )
        # Noise alone: the same process with a negligible signal variance, so constants cancel.
        null = search.evaluate(fit._replace(log_signal=search.tuning.null_log_signal)).log_evidence
        if fit.log_evidence - null < process.compute_min_gain(len(fit.theta)):
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
        """Learn one length-scale for all features and, unless isotropic, one for each."""
        n_features = int(np.count_nonzero(spread))
        if process.is_empty or not n_features:
            return (build_unlearnt(kernel, spread, 0.0),)
        largest = np.where(spread > 0.0, largest_scales(process.X), 0.0)
        search = ProcessSearch(process, kernel, largest, self.tuning)
        if search.start(np.where(search.varies, 0.5 / n_features, 0.0)).objective == -math.inf:
            raise ValueError(
                f"length-scales can only be learnt for covariance functions; {kernel!r} is not one "
                'on these inputs. Use "rbf", "matern52" or another covariance function.'
            )
        penalty = compute_feature_penalty(self.min_gain, n_features, search.tuning.expected_nulls)
        shared = self._fit_shared(search, n_features)
        # The process without signal, with the same constants in its evidence.
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
        """List the candidates: every fit with every scale factor."""
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
                # The signal variance is counted by `Process.compute_min_gain`.
                n_scales = 1 if kind == "isotropic" else len(fit.features)
                if fit.log_evidence - null < search.process.compute_min_gain(n_scales):
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
        """Fit one length-scale for all features, or for the best single ones of many features."""
        tuning, groups = search.tuning, [search.varies]
        if self.kind == "auto" and n_features > tuning.many_features:
            groups += map(search.find_best_single, tuning.screened_sizes)
            groups = groups[1:] if n_features > tuning.too_many_features else groups
        fits = []
        for group in groups:
            fits.append(search.maximise(search.find_best_start(group), self.max_iter, "common"))
        return fits

    def _fit_ard(self, search: ProcessSearch, penalty: float, isotropic: ProcessFit) -> ProcessFit:
        """Fit one length-scale per feature and select features.

        Ascents start from all features and from the best single ones, at several common
        length-scales. Then features are removed and added until the selection no longer changes.
        """
        tuning, n_features = search.tuning, int(search.varies.sum())
        first = [search.varies] if n_features <= tuning.many_features else []
        if n_features > max(tuning.many_features, tuning.large_start_size):
            first.append(search.find_best_single(tuning.large_start_size))
        if n_features > tuning.small_start_size:
            first.append(search.find_best_single(tuning.small_start_size))
        best, highest = isotropic, -math.inf
        for features in first:
            common = isotropic
            if features is not search.varies:
                common = search.maximise(search.find_best_start(features), self.max_iter, "common")
            # Two starts for the separate scales: a grid value and the common optimum; the evidence
            # has several local maxima, and a few steps tell which one is higher.
            fit = search.maximise(search.find_best_start(features), tuning.initial_steps)
            other = search.maximise(common, tuning.initial_steps)
            fit = search.maximise(fit if fit.objective >= other.objective else other, self.max_iter)
            for _ in range(tuning.max_selection_rounds):
                before = fit.features
                fit = search.remove_weak_features(fit, penalty)
                allowed = search.varies.copy()
                allowed[np.setdiff1d(before, fit.features)] = False  # just removed
                fit = search.add_features(fit, penalty, allowed)
                if np.array_equal(before, fit.features):
                    break
            # Models with different numbers of features are compared net of the penalty of each.
            penalised = fit.objective - penalty * len(fit.features)
            if penalised > highest:
                best, highest = fit, penalised
        return search.maximise(best, self.max_iter)


def compute_feature_penalty(
    min_gain: float | str, n_features: int, expected_nulls: float = 1.5
) -> float:
    """Compute the minimum gain in log evidence of a feature.

    An irrelevant feature gains ``z^2 / 2`` with a standard normal deviate ``z`` if ``z > 0``, else
    nothing: the scale is at the boundary of its range. The penalty is the quantile that is exceeded
    by `expected_nulls` of `n_features` irrelevant features on average.
    """
    if not isinstance(min_gain, str):
        return float(min_gain)
    # At most one half: z > 0 with that probability, and the quantile must not be negative.
    share = min(expected_nulls / n_features, 0.5)
    return 0.5 * float(ndtri(1.0 - share)) ** 2
