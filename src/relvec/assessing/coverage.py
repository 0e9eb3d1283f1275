"""Coverage of predictive intervals outside the range of the training inputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import KFold
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed

from relvec._checks import check_integer, check_probability
from relvec._typing import ArrayLike, BoolArray, IndexArray, Vector
from relvec.assessing.held_out_range import select_outside
from relvec.assessing.refit import RowScores, check_regressor, predict_after_fit
from relvec.describing import compute_critical_value, compute_wilson_interval, get_final_estimator

__all__ = [
    "CoverageOutside",
    "Estimate",
    "HeldOutMetrics",
    "assess_rows_outside",
    "coverage_outside",
]

LEVELS = (0.5, 0.95)
"""Coverages of the intervals in tables and plots."""


class Estimate(NamedTuple):
    """A metric and its standard error.

    Examples
    --------
    >>> Estimate(0.9, 0.03).standard_error
    0.03
    """

    value: float
    standard_error: float


@dataclass(frozen=True, eq=False)
class HeldOutMetrics:
    """Metrics of the predictive distributions of rows that a model was not fitted to.

    Standard errors take rows as independent.

    Parameters
    ----------
    error : ndarray of shape (n_rows,)
        Target minus predictive mean.
    quantile : ndarray of shape (n_rows,)
        Quantile residuals: standard normal if the predictive distributions are right; of Gaussian
        predictions the errors over their standard deviations.
    log_density : ndarray of shape (n_rows,)
        Log predictive density of the targets, in nats.

    Examples
    --------
    >>> import numpy as np
    >>> metrics = HeldOutMetrics(np.zeros(4), np.array([0.1, -3.0, 0.5, 1.0]), np.zeros(4))
    >>> metrics.coverage(0.95).value, metrics.coverage(0.5).value
    (0.75, 0.5)
    """

    error: Vector
    quantile: Vector
    log_density: Vector

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.error)

    @property
    def rmse(self) -> Estimate:
        """Root mean squared error."""
        squares = self.error**2
        rmse = float(np.sqrt(np.mean(squares)))
        # d sqrt(m) = dm / (2 sqrt(m))
        return Estimate(rmse, 0.5 * _standard_error(squares) / rmse if rmse > 0.0 else 0.0)

    @property
    def mlpd(self) -> Estimate:
        """Mean log predictive density, in nats."""
        return Estimate(float(np.mean(self.log_density)), _standard_error(self.log_density))

    def coverage(self, level: float) -> Estimate:
        """Return the share of targets in central intervals of a coverage, with binomial error.

        Parameters
        ----------
        level : float
            Nominal coverage, between 0 and 1.

        Examples
        --------
        >>> import numpy as np
        >>> z = np.random.default_rng(0).normal(size=1000)
        >>> HeldOutMetrics(z, z, z).coverage(0.5).standard_error
        0.016
        """
        inside = self._covered(check_probability("level", level))
        share = float(np.mean(inside))
        return Estimate(share, float(np.sqrt(share * (1.0 - share) / self.n_rows)))

    def coverage_interval(self, level: float) -> Vector:
        """Return the 95 % Wilson score interval of a coverage, as lower and upper end.

        Parameters
        ----------
        level : float
            Nominal coverage, between 0 and 1.

        Examples
        --------
        >>> import numpy as np
        >>> HeldOutMetrics(np.zeros(9), np.zeros(9), np.zeros(9)).coverage_interval(0.95).round(1)
        array([0.7, 1. ])
        """
        share = np.array([self.coverage(level).value])
        ends: Vector = compute_wilson_interval(share, self.n_rows, compute_critical_value(0.95))[
            :, 0
        ]
        return ends

    def _covered(self, level: float) -> BoolArray:
        return np.abs(self.quantile) <= compute_critical_value(level)


@dataclass(frozen=True, eq=False)
class CoverageOutside:
    """Error bars inside and outside the range of the training inputs.

    Returned by `coverage_outside`.

    Parameters
    ----------
    name : str
        Name of the estimator, for legends.
    inside : HeldOutMetrics
        Out-of-fold predictions of the rows inside, by cross-validation without the others.
    outside : HeldOutMetrics
        Predictions of the rows outside, of the estimator fitted to all rows inside.
    is_outside : ndarray of shape (n_samples,)
        Which rows are outside.
    held_out : str
        Description of the rows outside.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec import RVMRegressor, coverage_outside
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-5, 5, size=(80, 1))
    >>> y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=80)
    >>> result = coverage_outside(RVMRegressor(), X, y)
    >>> result.outside.n_rows, result.outside.rmse.value > result.inside.rmse.value
    (16, True)
    """

    name: str
    inside: HeldOutMetrics
    outside: HeldOutMetrics
    is_outside: BoolArray
    held_out: str

    def difference(self) -> dict[str, Estimate]:
        """Return outside minus inside of each metric, with the standard error of the difference.

        The rows differ, so their variances add up.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import RVMRegressor, coverage_outside
        >>> x = np.linspace(-5, 5, 50)[:, np.newaxis]
        >>> y = np.sin(x[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=50)
        >>> list(coverage_outside(RVMRegressor(gamma=0.5), x, y).difference())
        ['coverage of 50 %', 'coverage of 95 %', 'MLPD', 'RMSE']
        """
        pairs = zip(_collect(self.inside).items(), _collect(self.outside).values(), strict=True)
        return {
            label: Estimate(
                outside.value - inside.value,
                float(np.hypot(outside.standard_error, inside.standard_error)),
            )
            for (label, inside), outside in pairs
        }

    def compare(self, other: CoverageOutside) -> dict[str, Estimate]:
        """Return the mean differences to another estimator on the rows outside, paired by row.

        Positive differences of the MLPD, and negative ones of the squared error, are in favour of
        this estimator.

        Parameters
        ----------
        other : CoverageOutside
            Result of another estimator with the same data and the same rows held out.

        Returns
        -------
        differences : dict of str to Estimate
            Differences of coverages, MLPD and mean squared error, with paired standard errors.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import RVMRegressor, coverage_outside
        >>> x = np.linspace(-5, 5, 50)[:, np.newaxis]
        >>> y = np.sin(x[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=50)
        >>> novelty, plain = (
        ...     coverage_outside(RVMRegressor(gamma=0.5, error_bars=kind), x, y)
        ...     for kind in ("novelty", "plain")
        ... )
        >>> novelty.compare(plain)["MLPD"].value > 0.0
        True
        """
        if not np.array_equal(self.is_outside, other.is_outside):
            raise ValueError(
                "results can be compared row by row only if the same rows were held out: call "
                "coverage_outside with the same X, where, feature and share."
            )
        mine, theirs = self.outside, other.outside
        rows = {
            f"coverage of {100 * level:g} %": mine._covered(level).astype(np.float64)
            - theirs._covered(level)
            for level in LEVELS
        }
        rows["MLPD"] = mine.log_density - theirs.log_density
        rows["MSE"] = mine.error**2 - theirs.error**2
        return {
            key: Estimate(float(np.mean(each)), _standard_error(each)) for key, each in rows.items()
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the metrics inside and outside with their standard errors, for a data frame.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import RVMRegressor, coverage_outside
        >>> x = np.linspace(-5, 5, 50)[:, np.newaxis]
        >>> y = np.sin(x[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=50)
        >>> table = coverage_outside(RVMRegressor(gamma=0.5), x, y).to_dict()
        >>> list(table)
        ['metric', 'inside', 'inside_error', 'outside', 'outside_error']
        """
        inside, outside = _collect(self.inside), _collect(self.outside)
        return {
            "metric": list(inside),
            "inside": np.array([each.value for each in inside.values()]),
            "inside_error": np.array([each.standard_error for each in inside.values()]),
            "outside": np.array([each.value for each in outside.values()]),
            "outside_error": np.array([each.standard_error for each in outside.values()]),
        }

    def summary(self) -> str:
        """Return the metrics as a table in text.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import RVMRegressor, coverage_outside
        >>> x = np.linspace(-5, 5, 50)[:, np.newaxis]
        >>> y = np.sin(x[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=50)
        >>> print(coverage_outside(RVMRegressor(gamma=0.5), x, y).summary())
        RVMRegressor: held out: smallest and largest values of x0
                                  inside          outside
        rows                          40               10
        coverage of 50 %  ...
        """
        table = self.to_dict()
        lines = [
            f"{self.name}: held out: {self.held_out}",
            f"{'':18}{'inside':>16}{'outside':>17}",
            f"{'rows':18}{self.inside.n_rows:16d}{self.outside.n_rows:17d}",
        ]
        for label, *cells in zip(*table.values(), strict=True):
            inside, outside = (f"{cells[i]:.3g} ± {cells[i + 1]:.1g}" for i in (0, 2))
            lines.append(f"{label:18}{inside:>16}{outside:>17}")
        lines.append("± one standard error; rows are taken as independent.")
        return "\n".join(lines)


def _collect(metrics: HeldOutMetrics) -> dict[str, Estimate]:
    """Return all metrics by the name that tables give them."""
    shares = {f"coverage of {100 * level:g} %": metrics.coverage(level) for level in LEVELS}
    return {**shares, "MLPD": metrics.mlpd, "RMSE": metrics.rmse}


def _standard_error(values: Vector) -> float:
    """Return the standard error of a mean."""
    if len(values) < 2:
        return float("nan")
    return float(np.std(values, ddof=1) / np.sqrt(len(values)))


def coverage_outside(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    where: Any = "auto",
    feature: Any = None,
    share: float = 0.2,
    cv: int = 5,
    fit_params: dict[str, Any] | None = None,
    name: str | None = None,
    n_jobs: int | None = None,
    random_state: Any = 0,
) -> CoverageOutside:
    """Test error bars outside the range of the training inputs.

    The ends of the record are held out and the estimator is fitted to the rows between them. How
    often its 50 % and 95 % intervals cover the targets at the ends, its mean log predictive density
    (MLPD) and its RMSE there are compared with those of a cross-validation of the rows inside.

    Parameters
    ----------
    estimator : regressor or pipeline
        A regressor of relvec, or another whose `predict` takes ``return_std=True`` and then returns
        the standard deviation of new targets. It is not changed.
    X : array-like or data frame of shape (n_samples, n_features)
        Inputs.
    y : array-like of shape (n_samples,)
        Target.
    where : {"auto", "ends", "last", "first", "outermost"} or mask, default="auto"
        Rows to hold out: the smallest and largest values of a feature, the largest, the smallest,
        or the rows farthest from the mean of all inputs by Mahalanobis distance. "auto" is "ends"
        for one feature or if `feature` is given, and otherwise "outermost". A mask has one truth
        value per row.
    feature : str or int, optional
        Name or index of the feature whose ends are held out; not needed if there is only one.
    share : float, default=0.2
        Share of the rows that is held out. Equal values stay together.
    cv : int, default=5
        Number of folds of the rows inside.
    fit_params : dict, optional
        Arguments of `fit`, such as ``noise_variance``; those with one value per row are split with
        the rows.
    name : str, optional
        Name of the estimator, for legends; by default that of its class.
    n_jobs : int, optional
        Number of parallel jobs, as in scikit-learn.
    random_state : int, RandomState instance or None, default=0
        Seed of the folds.

    Returns
    -------
    result : CoverageOutside
        Metrics inside and outside; `summary` describes and
        `relvec.plotting.CoverageOutsideDisplay` plots them.

    See Also
    --------
    relvec.plotting.ExtrapolationDisplay : Predictions against the degree of extrapolation.

    Notes
    -----
    The standard errors take rows as independent. Errors outside are not: a function that continues
    differently from its extrapolation is wrong over the whole end. One record tests as many
    extrapolations as it has ends. To test a model, repeat with many records.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec import RVMRegressor, coverage_outside
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-10, 10, size=(100, 1))
    >>> y = np.sinc(X[:, 0] / np.pi) + 0.1 * rng.normal(size=100)
    >>> result = coverage_outside(RVMRegressor(), X, y)
    >>> result.inside.coverage(0.95).value > 0.85, result.outside.n_rows
    (True, 20)
    """
    check_regressor(estimator, "coverage_outside")
    cv = check_integer("cv", cv, minimum=2)
    share = check_probability("share", share)
    X = X if hasattr(X, "shape") else np.asarray(X)
    target = np.asarray(y, dtype=np.float64)
    if target.shape != (X.shape[0],) or not np.isfinite(target).all():
        raise ValueError(
            f"y must have one finite target for each of the {X.shape[0]} rows of X; got shape "
            f"{target.shape}."
        )
    is_outside, held_out = select_outside(X, where, feature, share)
    inside, outside = np.flatnonzero(~is_outside), np.flatnonzero(is_outside)
    if len(outside) < 2 or len(inside) < 2 * cv:
        raise ValueError(
            f"{len(outside)} rows are outside and {len(inside)} inside; at least 2 and {2 * cv} "
            f"(twice cv) are needed. Change share (now {share:g}) or cv, or give more rows."
        )
    seed = check_random_state(random_state).randint(np.iinfo(np.int32).max)
    folds = KFold(cv, shuffle=True, random_state=seed).split(inside)
    splits = [(inside, outside), *((inside[train], inside[test]) for train, test in folds)]
    options = {} if fit_params is None else fit_params
    found = Parallel(n_jobs=n_jobs)(
        delayed(predict_after_fit)(estimator, X, target, train, test, options)
        for train, test in splits
    )
    label = type(get_final_estimator(estimator)).__name__ if name is None else str(name)
    return CoverageOutside(label, _join(found[1:]), _join(found[:1]), is_outside, held_out)


def assess_rows_outside(
    estimator: Any,
    X: Any,
    y: Vector,
    is_outside: BoolArray,
    held_out: str,
    *,
    error: Vector,
    quantile: Vector,
    log_density: Vector,
    fit_params: dict[str, Any],
) -> CoverageOutside:
    """Refit without the rows outside, where out-of-fold scores of all rows are known already.

    The scores `error`, `quantile` and `log_density` are used for the rows inside.
    """
    inside, outside = np.flatnonzero(~is_outside), np.flatnonzero(is_outside)
    found = predict_after_fit(estimator, X, y, inside, outside, fit_params)
    known = HeldOutMetrics(error[inside], quantile[inside], log_density[inside])
    name = type(get_final_estimator(estimator)).__name__
    return CoverageOutside(name, known, _join([found]), is_outside, held_out)


def _join(scores: list[RowScores]) -> HeldOutMetrics:
    """Join the scores of folds, in the order of the rows."""
    order: IndexArray = np.argsort(np.concatenate([each.row for each in scores]))
    error, quantile, log_density = (
        np.concatenate([getattr(each, key) for each in scores])[order]
        for key in ("error", "quantile", "log_density")
    )
    return HeldOutMetrics(error, quantile, log_density)
