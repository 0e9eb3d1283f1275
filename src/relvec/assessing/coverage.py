"""Coverage of predictive intervals outside the range of the training inputs."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import KFold
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed

from relvec._checks import check_integer, check_probability
from relvec._typing import ArrayLike, BoolArray, IndexArray, Vector
from relvec.assessing.held_out_metrics import CoverageOutside, HeldOutMetrics
from relvec.assessing.held_out_range import select_outside
from relvec.assessing.refit import RowScores, check_regressor, predict_after_fit
from relvec.describing import get_final_estimator

__all__ = ["assess_rows_outside", "coverage_outside"]


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
            f"{target.shape}{'' if np.isfinite(target).all() else ' with NaN or infinite values'}."
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
