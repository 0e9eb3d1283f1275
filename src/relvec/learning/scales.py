"""Learn on which scales inputs matter, before any sparse model is fitted.

The evidence of a sparse model overfits scales: pushed to its end it predicts worse than the scales
it started from. A Gaussian process with the same kernel says how far the function varies along each
input, the sparse model follows. Its kernels are made somewhat wider, which few of them need.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import ndtri
from sklearn.base import BaseEstimator
from sklearn.gaussian_process.kernels import Kernel
from sklearn.utils import check_random_state

from relvec._checks import check_choice, check_integer, check_positive
from relvec._typing import BoolArray, IndexArray, Matrix, Vector
from relvec.kernels import ScaledInputs
from relvec.learning.label_process import LabelProcess
from relvec.learning.learnt import LearntScales, merged
from relvec.learning.process import Process
from relvec.learning.process_search import ProcessFit, ProcessSearch, largest_scales
from relvec.learning.rows import distinct_rows, in_own_order, input_moments
from relvec.learning.screening import screen_inputs

__all__ = ["KINDS", "MANY_INPUTS", "ScaleLearner", "entry_price"]

KINDS = ("auto", "isotropic", "ard", "kernel")
STARTS = (0.1, 0.5, 2.5)
"""Scales to start from, all inputs alike, divided by their number."""
MAX_TARGETS, MAX_LABELS = 500, 300
FIRST_STEPS = 8
"""Steps from each start, after which the best goes on."""
EXPECTED_NULLS = 1.5
"""Of inputs that do not matter, how many may be expected to stay."""
PATH_VALUES = 1 << 18
MANY_INPUTS = 100
"""With more inputs, those that have nothing to do with the target by themselves wait outside."""
NO_SIGNAL = -20.0
"""Log ratio of signal to noise of a process that explains nothing."""
TOO_MANY = 5000
"""With more than these, some always do."""
SCREENED = (20, 60, 200)
"""How many of many inputs may share a width."""
LARGE_START, SMALL_START = 60, 10
"""How many of many inputs are in the model from which others are taken out."""
ROUNDS = 4
"""How often inputs are taken out and let in again."""


class ScaleLearner(BaseEstimator):
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
    refine : int, default=0
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

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.gaussian_process.kernels import RBF
    >>> from relvec.learning import ScaleLearner
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-3, 3, size=(60, 3))
    >>> y = np.sin(2 * X[:, 1]) + 0.1 * rng.normal(size=60)
    >>> [learnt] = ScaleLearner().learn(RBF(0.5**0.5), X, y[:, None])
    >>> learnt.relevance.round(1)
    array([0. , 0.9, 0. ])
    """

    def __init__(
        self,
        kind: str = "ard",
        *,
        width: float | str = "auto",
        min_gain: float | str = "auto",
        refine: int = 0,
        max_rows: int | str = "auto",
        max_iter: int = 60,
        random_state: Any = 0,
    ) -> None:
        self.kind = kind
        self.width = width
        self.min_gain = min_gain
        self.refine = refine
        self.max_rows = max_rows
        self.max_iter = max_iter
        self.random_state = random_state

    def check(self) -> None:
        """Find misspelt options before any work is done."""
        check_choice("kind", self.kind, KINDS)
        if isinstance(self.width, str):
            check_choice("width", self.width, ("auto",))
        else:
            check_positive("width", self.width, also='or "auto"')
        check_integer("refine", self.refine, minimum=0)
        if isinstance(self.max_rows, str):
            check_choice("max_rows", self.max_rows, ("auto",))
        else:
            check_integer("max_rows", self.max_rows, minimum=2)
        check_integer("max_iter", self.max_iter, minimum=1)
        if isinstance(self.min_gain, str):
            check_choice("min_gain", self.min_gain, ("auto",))
        else:
            check_positive("min_gain", self.min_gain, allow_zero=True, also='or "auto"')

    def learn(
        self,
        kernel: Kernel,
        X: Matrix,
        targets: Matrix,
        sample_weight: Vector | None = None,
        explicit: Callable[[IndexArray], Matrix] | None = None,
        *,
        are_labels: bool = False,
    ) -> tuple[LearntScales, ...]:
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
        proposals : tuple of LearntScales
            One or several, between which the evidence of a sparse model should decide.
        """
        self.check()
        if targets.shape[1] > 1 and not are_labels and self.kind != "kernel":
            # each has a ratio of signal to noise of its own: one that is nearly free of noise
            # would speak for all
            return merged(
                [
                    self.learn(kernel, X, target[:, None], sample_weight, explicit)
                    for target in targets.T
                ]
            )
        rows, weight = distinct_rows(X, targets, sample_weight)
        chosen = self._choice(targets[rows], are_labels)
        chosen = chosen[in_own_order(X, targets, rows[chosen])]
        rows, weight = rows[chosen], weight[chosen]
        centre, spread = input_moments(X[rows], weight)
        varies = spread > 0.0
        scaled = (X[rows] - centre) / np.where(varies, spread, 1.0)
        process = (LabelProcess if are_labels else Process)(
            scaled, targets[rows], weight, None if explicit is None else explicit(rows)
        )
        if process.is_empty or not varies.any():
            return (self._nothing_learnt(kernel, spread, 0.0),)
        if self.kind == "kernel":
            return (self._learn_kernel(kernel, process, X[rows], spread),)
        largest = np.where(varies, largest_scales(scaled), 0.0)
        search = ProcessSearch(process, kernel, largest)
        if search.start(np.where(varies, 0.5 / varies.sum(), 0.0)).objective == -math.inf:
            raise ValueError(
                f"scales can only be learnt for kernels that are covariances; {kernel!r} is not "
                'one on these inputs. Use "rbf", "matern52" or another that is.'
            )
        price = entry_price(self.min_gain, int(varies.sum()))
        shared = self._shared(search, varies)
        isotropic = shared[0]
        null = search.valued(isotropic._replace(log_signal=NO_SIGNAL)).log_evidence
        fits = [("isotropic", fit) for fit in shared]
        if self.kind == "isotropic":
            fits = fits[:1]
        elif varies.sum() > 1:
            ard = "ard", self._ard(search, varies, price, isotropic)
            fits = [ard] if self.kind == "ard" else [*fits, ard]
        widths = (0.5, 1.0) if are_labels else (0.5,)
        if not isinstance(self.width, str):
            widths = (float(self.width),)
        # what a parameter of a process that explains noise gains, chosen from some, is more than
        # half a nat
        each = max(1.0, 0.5 * math.log(process.n_contrasts))
        proposals = []
        for place, (kind, fit) in enumerate(fits):
            group = f"{kind} {place}"
            n_scales = 1 if kind == "isotropic" else len(fit.inputs)
            if fit.log_evidence - null < each * (1.0 + n_scales):  # and one for the signal
                continue
            gain = self._gains(search, fit, varies)
            proposals += [
                self._result(kernel, fit, width, kind, group, spread, gain, price, search)
                for width in widths
            ]
        return tuple(proposals) or (self._nothing_learnt(kernel, spread, price),)

    # ------------------------------------------------------------------ stages

    def _shared(self, search: ProcessSearch, varies: BoolArray) -> list[ProcessFit]:
        """One width for all inputs, or for those of many that matter by themselves."""
        groups = [varies]
        if self.kind == "auto" and varies.sum() > MANY_INPUTS:
            screened = [screen_inputs(search.process, varies, most) for most in SCREENED]
            groups = screened if varies.sum() > TOO_MANY else [varies, *screened]
        return [
            search.climb(_best_start(search, group), self.max_iter, "common") for group in groups
        ]

    def _ard(
        self, search: ProcessSearch, varies: BoolArray, price: float, isotropic: ProcessFit
    ) -> ProcessFit:
        """Choose inputs from all of them and from those that matter by themselves."""

        def worth(fit: ProcessFit) -> float:
            return fit.objective - price * len(fit.inputs)

        n_inputs = int(varies.sum())
        fits = []
        if n_inputs <= MANY_INPUTS:
            fits.append(self._chosen(search, varies, varies, price, isotropic))
        for most in (LARGE_START, SMALL_START):
            if most < n_inputs and (most == SMALL_START or n_inputs > MANY_INPUTS):
                screened = screen_inputs(search.process, varies, most)
                start = search.climb(_best_start(search, screened), self.max_iter, "common")
                fits.append(self._chosen(search, varies, screened, price, start))
        return search.climb(max(fits, key=worth), self.max_iter)

    def _chosen(
        self,
        search: ProcessSearch,
        varies: BoolArray,
        begin: BoolArray,
        price: float,
        isotropic: ProcessFit,
    ) -> ProcessFit:
        """Climb from several widths, then take inputs out and in until nothing changes."""
        starts = [_best_start(search, begin), isotropic]
        first = [search.climb(start, FIRST_STEPS) for start in starts]
        fit = search.climb(max(first, key=lambda fit: fit.objective), self.max_iter)
        for _ in range(ROUNDS):
            before = fit.inputs
            fit = search.prune(fit, price)
            allowed = varies.copy()
            allowed[np.setdiff1d(before, fit.inputs)] = False  # they had their chance
            fit = search.enter(fit, price, allowed)
            if np.array_equal(before, fit.inputs):
                break
        return fit

    def _gains(self, search: ProcessSearch, fit: ProcessFit, varies: BoolArray) -> Vector:
        """What every input brings, or would bring: zero for those that promise nothing.

        Not known where many inputs share a width: each would have to be tried without.
        """
        gain = np.zeros(len(fit.scale))
        if len(fit.inputs) > MANY_INPUTS:
            return np.full(len(fit.scale), np.nan)
        if fit.log_evidence == -math.inf:
            return gain
        gain[fit.inputs] = search.losses(fit, fit.inputs)
        for k, trial in search.entries(fit, varies):
            gain[k] = max(0.0, trial.objective - fit.objective)
        return gain

    def _learn_kernel(
        self, kernel: Kernel, process: Process, X: Matrix, spread: Vector
    ) -> LearntScales:
        """Learn the free parameters of a kernel object, inputs in their own units."""
        process.X = X
        ones = np.ones(X.shape[1])
        search = ProcessSearch(process, kernel, ones, learns_kernel=True)
        start = search.start(ones)
        if start.objective == -math.inf:
            raise ValueError(
                f"a kernel can only be learnt if it is a covariance; {kernel!r} is not one on "
                "these inputs."
            )
        fit = search.climb(start, self.max_iter, "none")
        learnt = kernel.clone_with_theta(fit.theta) if len(fit.theta) else kernel
        return LearntScales(
            kernel=learnt,
            scale=ones,
            relevance=spread**2,
            spread=spread,
            gain=np.full(len(ones), np.nan),
            price=0.0,
            log_evidence=fit.log_evidence,
            kind="kernel",
            group="kernel",
            width=1.0,
            path=np.empty((0, len(ones))),
            path_objective=np.empty(0),
        )

    # ------------------------------------------------------------------ pieces

    def _choice(self, targets: Matrix, are_labels: bool) -> IndexArray:
        """Rows to learn from if there are too many, every class by its share."""
        n_rows, limit = len(targets), self.max_rows
        if isinstance(limit, str):
            limit = MAX_LABELS if are_labels else MAX_TARGETS
        if n_rows <= limit:
            return np.arange(n_rows)
        random_state = check_random_state(self.random_state)
        if not are_labels:
            return np.sort(random_state.choice(n_rows, limit, replace=False))
        chosen = []
        _, strata = np.unique(targets, axis=0, return_inverse=True)
        # one number a row, so that it does not matter which class is called what
        order = np.argsort(random_state.random_sample(n_rows), kind="stable")
        for stratum in np.unique(strata):
            mine = order[strata[order] == stratum]
            chosen.append(mine[: max(1, round(limit * len(mine) / n_rows))])
        return np.sort(np.concatenate(chosen))

    def _result(
        self,
        kernel: Kernel,
        fit: ProcessFit,
        width: float,
        kind: str,
        group: str,
        spread: Vector,
        gain: Vector,
        price: float,
        search: ProcessSearch,
    ) -> LearntScales:
        relevance = width * fit.scale
        scale = np.divide(relevance, spread**2, out=np.zeros_like(spread), where=spread > 0.0)
        # climbs that led nowhere are left out
        heights = np.array([*search.values, fit.objective])
        higher = np.flatnonzero(heights[:-1] >= np.maximum.accumulate(heights[:-1]))
        steps = [*(search.path[i] for i in higher), fit.scale]
        objectives = heights[[*higher, -1]]
        # of thousands of inputs only some steps are kept
        n_shown = min(len(steps), max(2, PATH_VALUES // len(fit.scale)))
        shown = np.unique(np.linspace(0, len(steps) - 1, n_shown).astype(np.intp))
        path = width * np.array([steps[i] for i in shown])
        return LearntScales(
            kernel=ScaledInputs(kernel, scale),
            scale=scale,
            relevance=relevance,
            spread=spread,
            gain=gain,
            price=price,
            log_evidence=fit.log_evidence,
            kind=kind,
            group=group,
            width=width,
            path=path,
            path_objective=objectives[shown],
        )

    def _nothing_learnt(self, kernel: Kernel, spread: Vector, price: float) -> LearntScales:
        """Where inputs say nothing of the targets, all that vary are alike."""
        varies = spread > 0.0
        relevance = np.where(varies, 1.0 / max(int(varies.sum()), 1), 0.0)
        scale = np.divide(relevance, spread**2, out=np.zeros_like(spread), where=varies)
        if self.kind == "kernel":
            scale = np.ones_like(spread)
        return LearntScales(
            kernel=kernel if self.kind == "kernel" else ScaledInputs(kernel, scale),
            scale=scale,
            relevance=relevance,
            spread=spread,
            gain=np.zeros(len(spread)),
            price=price,
            log_evidence=math.nan,
            kind="none",
            group="none",
            width=1.0,
            path=relevance[None],
            path_objective=np.array([math.nan]),
        )


def entry_price(min_gain: float | str, n_inputs: int) -> float:
    """Log evidence that an input must bring.

    What an input that does not matter gains is half the square of a normal deviate, if that is
    positive. The price is the quantile of which `EXPECTED_NULLS` of `n_inputs` are beyond.
    """
    if not isinstance(min_gain, str):
        return float(min_gain)
    share = min(EXPECTED_NULLS / n_inputs, 0.5)
    return 0.5 * float(ndtri(1.0 - share)) ** 2


def _best_start(search: ProcessSearch, inputs: BoolArray) -> ProcessFit:
    """Return the best of a few widths, all inputs alike."""
    scales = [np.where(inputs, start / inputs.sum(), 0.0) for start in STARTS]
    return max((search.start(scale) for scale in scales), key=lambda fit: fit.objective)
