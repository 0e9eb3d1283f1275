"""Local maxima of the evidence, found by runs in random order, and the rank of the solution."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed

from relvec._checks import check_integer, check_positive
from relvec._typing import ArrayLike, BoolArray, IndexArray, Vector
from relvec.estimators._base import BaseSparseBayesRegressor
from relvec.estimators._plan import Data
from relvec.estimators._regression_plan import RegressionPlan
from relvec.published import RandomOrderSolver
from relvec.solvers import with_learnt_rate


class Optimum(NamedTuple):
    """Local maximum of the evidence that one run found."""

    objective: float
    error: float
    """Mean squared error to the true function or, if that is not known, to the target."""
    log_evidence: float
    noise_variance: float
    active: IndexArray
    """Basis functions in the model, as in `relevance_`."""
    converged: bool


@dataclass(frozen=True, eq=False)
class OptimaReport:
    """Local maxima found by runs in random order, and the solution of the estimator.

    Returned by `explore_optima`.

    Parameters
    ----------
    runs : tuple of Optimum
        Local maximum of each run.
    chosen : Optimum
        Solution of the estimator.
    has_truth : bool
        Whether errors are to the true function; if not, they are training errors.
    bad_gap : float
        Runs whose objective is more than this, in nats, below the best count as bad.
    bad_error : float or None
        If given, runs with a larger mean squared error count as bad instead.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec import RVMRegressor, explore_optima
    >>> x = np.linspace(-3, 3, 20)[:, np.newaxis]
    >>> y = np.sin(x[:, 0]) + 0.1 * np.cos(9 * x[:, 0])
    >>> report = explore_optima(RVMRegressor(gamma=1.0), x, y, n_runs=3, random_state=0)
    >>> len(report.objectives), report.n_unique <= 3
    (3, True)
    """

    runs: tuple[Optimum, ...]
    chosen: Optimum
    has_truth: bool
    bad_gap: float
    bad_error: float | None = None

    @cached_property
    def objectives(self) -> Vector:
        """Objective of each run, in nats."""
        return np.array([run.objective for run in self.runs])

    @cached_property
    def errors(self) -> Vector:
        """Mean squared error of each run."""
        return np.array([run.error for run in self.runs])

    @property
    def active_sets(self) -> list[IndexArray]:
        """Basis functions of each run."""
        return [run.active for run in self.runs]

    @property
    def best(self) -> Optimum:
        """The run with the largest objective."""
        return self.runs[int(np.argmax(self.objectives))]

    @property
    def n_unique(self) -> int:
        """Number of different sets of basis functions among the runs."""
        return len({tuple(run.active) for run in self.runs})

    @cached_property
    def is_bad(self) -> BoolArray:
        """Which runs found a bad maximum; see `bad_gap` and `bad_error`."""
        if self.bad_error is not None:
            return self.errors > self.bad_error
        best = max(self.best.objective, self.chosen.objective)
        return self.objectives < best - self.bad_gap

    @property
    def share_bad(self) -> float:
        """Fraction of runs that found a bad maximum."""
        return float(np.mean(self.is_bad))

    @property
    def rank(self) -> int:
        """Rank of the solution of the estimator by objective: 1 if no run has a larger one."""
        highest = self.chosen.objective + 1e-6  # smaller differences are rounding errors
        return 1 + int(np.count_nonzero(self.objectives > highest))

    def to_dict(self) -> dict[str, Any]:
        """Return one array per quantity, with an entry per run, for a data frame.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import RVMRegressor, explore_optima
        >>> x = np.linspace(-3, 3, 20)[:, np.newaxis]
        >>> y = np.sin(x[:, 0]) + 0.1 * np.cos(9 * x[:, 0])
        >>> report = explore_optima(RVMRegressor(gamma=1.0), x, y, n_runs=3, random_state=0)
        >>> list(report.to_dict())[:3]
        ['objective', 'error', 'log_evidence']
        """
        return {
            "objective": self.objectives,
            "error": self.errors,
            "log_evidence": np.array([run.log_evidence for run in self.runs]),
            "noise_variance": np.array([run.noise_variance for run in self.runs]),
            "n_active": np.array([len(run.active) for run in self.runs]),
            "is_bad": self.is_bad,
            "converged": np.array([run.converged for run in self.runs]),
        }

    def summary(self) -> str:
        """Return a summary of the runs in a few lines.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import RVMRegressor, explore_optima
        >>> x = np.linspace(-3, 3, 20)[:, np.newaxis]
        >>> y = np.sin(x[:, 0]) + 0.1 * np.cos(9 * x[:, 0])
        >>> report = explore_optima(RVMRegressor(gamma=1.0), x, y, n_runs=3, random_state=0)
        >>> print(report.summary())
        3 runs in random order: ...
        No run has a larger objective than the chosen solution.
        """
        n_runs = len(self.runs)
        what = "MSE to the truth" if self.has_truth else "training MSE"
        rule = (
            f"more than {self.bad_gap:g} nats below the best"
            if self.bad_error is None
            else f"{what} above {self.bad_error:g}"
        )
        best, chosen = self.best, self.chosen
        above = self.rank - 1
        lines = [
            f"{n_runs} runs in random order: {self.n_unique} different sets of basis functions, "
            f"{100 * self.share_bad:.3g} % bad ({rule})",
            f"{'':22}{'objective':>12}{what:>20}{'basis functions':>17}",
            f"{'chosen':22}{chosen.objective:12.3f}{chosen.error:20.4g}{len(chosen.active):17d}",
            f"{'best run':22}{best.objective:12.3f}{best.error:20.4g}{len(best.active):17d}",
            f"{'median of runs':22}{np.median(self.objectives):12.3f}"
            f"{np.median(self.errors):20.4g}"
            f"{np.median([len(run.active) for run in self.runs]):17.0f}",
            "No run has a larger objective than the chosen solution."
            if not above
            else f"{above} of {n_runs} runs have a larger objective than the chosen solution, the "
            f"best by {best.objective - chosen.objective:.3g} nats.",
        ]
        return "\n".join(lines)


def explore_optima(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    n_runs: int = 100,
    truth: ArrayLike | None = None,
    noise_every: int = 10,
    bad_gap: float = 10.0,
    bad_error: float | None = None,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> OptimaReport:
    """Map the local maxima of the evidence by many runs in random order.

    The estimator is cloned and fitted `n_runs` times with `RandomOrderSolver`, each time in another
    random order, and once as it is. All solutions are local maxima of the same objective, to the
    same accuracy.

    Parameters
    ----------
    estimator : SparseBayesRegressor or RVMRegressor
        The model; it is not changed. Its prior must not be a Gamma prior, which keeps all basis
        functions.
    X : array-like of shape (n_samples, n_features)
        Inputs.
    y : array-like of shape (n_samples,)
        Target.
    n_runs : int, default=100
        Number of runs.
    truth : array-like of shape (n_samples,), optional
        The target without noise, if it is known; errors are then computed to it.
    noise_every : int, default=10
        Steps between two estimates of the noise variance (see `RandomOrderSolver`).
    bad_gap : float, default=10.0
        Runs whose objective is more than this, in nats, below the best count as bad.
    bad_error : float, optional
        If given, runs with a larger mean squared error count as bad instead.
    n_jobs : int, optional
        Number of parallel jobs, as in scikit-learn.
    random_state : int, RandomState instance or None, default=None
        Seed of the random orders.

    Returns
    -------
    report : OptimaReport
        Local maxima of all runs; `summary` describes and `relvec.plotting.OptimaDisplay` plots
        them.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec import RVMRegressor, explore_optima
    >>> from relvec.kernels import LinearSpline
    >>> x = np.linspace(-10, 10, 40)[:, np.newaxis]
    >>> truth = np.sinc(x[:, 0] / np.pi)
    >>> y = truth + 0.07 * np.random.default_rng(0).normal(size=40)
    >>> model = RVMRegressor(LinearSpline(3.0), prior="bic")
    >>> report = explore_optima(model, x, y, n_runs=5, truth=truth, random_state=0)
    >>> report.rank  # no run has a larger objective
    1
    """
    n_runs = check_integer("n_runs", n_runs, minimum=1)
    check_positive("bad_gap", bad_gap)
    if bad_error is not None:
        bad_error = check_positive("bad_error", bad_error)
    if not isinstance(estimator, BaseSparseBayesRegressor):
        raise TypeError(
            "explore_optima needs an estimator with a parameter `solver`: RVMRegressor(), "
            f"SparseBayesRegressor() or DRVMRegressor(); got {estimator!r}."
        )
    target = np.asarray(y, dtype=np.float64)
    if target.ndim != 1:
        raise ValueError(
            f"explore_optima needs one target; got y of shape {target.shape}. Give one of its "
            "columns."
        )
    reference = target if truth is None else np.asarray(truth, dtype=np.float64)
    if reference.shape != target.shape:
        raise ValueError(f"truth must have the shape of y, {target.shape}; got {reference.shape}.")
    model = clone(estimator).set_params(warm_start=False)
    plan = model._resolve()
    data, _ = model._validate_training_data(X, target)
    seeds = check_random_state(random_state).randint(np.iinfo(np.int32).max, size=n_runs)
    chosen = _run(plan, data, reference)
    # error bars of runs are not used; "plain" is the fastest and does not change the mean
    plan = replace(plan, error_bars="plain")
    orders = (RandomOrderSolver(noise_every=noise_every, random_state=int(seed)) for seed in seeds)
    runs = Parallel(n_jobs=n_jobs)(
        delayed(_run)(replace(plan, solver=with_learnt_rate(order, plan.prior)), data, reference)
        for order in orders
    )
    return OptimaReport(tuple(runs), chosen, truth is not None, float(bad_gap), bad_error)


def _run(plan: RegressionPlan, data: Data, reference: Vector) -> Optimum:
    """Fit, and return the local maximum that was found."""
    fit = plan.run(data)
    (output,) = fit.outputs
    rows = fit.bound.source_row
    return Optimum(
        objective=float(output.objective),
        error=float(np.mean((output.predict_mean(data.X) - reference) ** 2)),
        log_evidence=float(output.posterior.log_evidence),
        noise_variance=float(output.posterior.noise_variance),
        active=rows[output.active] if (rows >= 0).all() else output.active,
        converged=bool(output.solution.converged),
    )
