"""Bias–variance decomposition of the squared error of a regressor, over data sets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.parallel import Parallel, delayed

from relvec._checks import check_integer, check_positive, check_predictions
from relvec._typing import Matrix, Vector
from relvec.assessing._kernel import fix_learnt_kernel
from relvec.assessing.decomposition import BiasVariance, make_result
from relvec.assessing.refit import check_regressor, is_ours, refit, select_params
from relvec.describing import get_final_estimator, has_simple_noise, transform_inputs

__all__ = ["bias_variance_decomposition", "decompose_by_bootstrap"]

NAME = "bias_variance_decomposition"
BOOTSTRAP_STREAM = b"bias and variance"


def bias_variance_decomposition(
    estimator: Any,
    source: Any,
    *,
    function: Callable[[Any], Any] | None = None,
    X_test: Any = None,
    noise_variance: Any = None,
    n_fits: int = 100,
    fix_kernel: bool = False,
    fit_params: dict[str, Any] | None = None,
    name: str | None = None,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> BiasVariance:
    """Decompose the mean squared error of a regressor into squared bias, variance and noise.

    The estimator is fitted to many data sets. The variance is that of its predictions from one data
    set to the next; the bias is their mean minus the function. Both are estimated without bias of
    their own: the squared distance of the mean prediction from the function also contains a share
    of the variance, which is subtracted.

    Parameters
    ----------
    estimator : regressor or pipeline
        Any regressor with the interface of scikit-learn; it is not changed.
    source : callable or tuple of X and y
        A generator, called as ``source(random_state)`` with an integer, which returns a data set
        ``(X, y)``; it needs `function`. Or one data set, from which bootstrap samples are drawn:
        squared bias and noise then cannot be separated from data alone, and the noise is the
        estimate of the model.
    function : callable, optional
        The function without noise: maps inputs to values. For a generator.
    X_test : array-like of shape (n_points, n_features), optional
        Test inputs, for a generator. By default the inputs of one more data set of the generator,
        so that averages are those over its distribution of inputs.
    noise_variance : float or callable, optional
        Variance of the noise, or a function that maps inputs to variances. By default it is the
        mean squared difference of targets and function over all data sets of a generator; for
        bootstrap samples the estimate of the estimator, fitted to all rows, if it is one of relvec.
    n_fits : int, default=100
        Number of data sets or bootstrap samples, at least 2.
    fix_kernel : bool, default=False
        Whether length-scales are learnt once, from all rows, and kept in the fits to bootstrap
        samples. That is faster and leaves their variance out.
    fit_params : dict, optional
        Arguments of `fit`, for bootstrap samples; those with one value per row are resampled.
    name : str, optional
        Name of the estimator, for legends; by default that of its class.
    n_jobs : int, optional
        Number of parallel jobs, as in scikit-learn.
    random_state : int, RandomState instance or None, default=None
        Seed of the data sets. Estimators that are compared should have the same integer: they are
        then fitted to the same data sets.

    Returns
    -------
    result : BiasVariance
        Means over the test inputs and values at each, with standard errors; `summary` describes and
        `relvec.plotting.BiasVarianceDisplay` plots them.

    See Also
    --------
    coverage_outside : Error bars outside the range of the training inputs.
    evidence_curve : Criteria of model selection against the length-scale of the kernel.

    References
    ----------
    S. Geman, E. Bienenstock, R. Doursat (1992), Neural networks and the bias/variance dilemma,
    Neural Computation 4.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec import RVMRegressor, bias_variance_decomposition
    >>> def function(X):
    ...     return np.sin(X[:, 0])
    >>> def make(random_state):
    ...     rng = np.random.default_rng(random_state)
    ...     X = rng.uniform(-3, 3, size=(40, 1))
    ...     return X, function(X) + 0.2 * rng.normal(size=40)
    >>> grid = np.linspace(-3, 3, 50)[:, np.newaxis]
    >>> long, short = (
    ...     bias_variance_decomposition(
    ...         RVMRegressor(gamma=gamma),
    ...         make,
    ...         function=function,
    ...         X_test=grid,
    ...         n_fits=20,
    ...         random_state=0,
    ...     )
    ...     for gamma in (0.02, 5.0)
    ... )
    >>> long.squared_bias > short.squared_bias, long.variance < short.variance
    (True, True)
    """
    check_regressor(estimator, NAME)
    n_fits = check_integer("n_fits", n_fits, minimum=2)
    label = type(get_final_estimator(estimator)).__name__ if name is None else str(name)
    if not callable(source):
        X, y = _check_data(source, function, X_test)
        if fix_kernel and (not is_ours(estimator) or isinstance(estimator, Pipeline)):
            raise ValueError(
                "fix_kernel needs an estimator of relvec itself, not a pipeline or another "
                f"regressor; got {type(estimator).__name__}. Give its last step with transformed "
                "inputs, or omit fix_kernel."
            )
        seed = check_random_state(random_state).randint(np.iinfo(np.int32).max)
        result = decompose_by_bootstrap(
            estimator,
            X,
            y,
            n_fits=n_fits,
            seed=int(seed),
            noise_variance=noise_variance,
            fix_kernel=fix_kernel,
            fit_params={} if fit_params is None else fit_params,
            name=label,
            n_jobs=n_jobs,
        )
        if result is None:
            raise ValueError(
                f"no row is out of bag twice in {n_fits} bootstrap samples of {len(y)} rows. "
                "Increase n_fits."
            )
        return result
    if not callable(function):
        raise ValueError(
            f"{NAME} needs the function without noise for data sets of a generator; give "
            f"function=, a callable that maps inputs to values (got {function!r})."
        )
    if fix_kernel or fit_params:
        raise ValueError(
            "fix_kernel and fit_params are for bootstrap samples of one data set. Omit them for a "
            "generator."
        )
    return _decompose_by_generator(
        estimator, source, function, X_test, noise_variance, n_fits, label, n_jobs, random_state
    )


def _check_data(source: Any, function: Any, X_test: Any) -> tuple[Any, Vector]:
    """Return one data set from which bootstrap samples can be drawn."""
    if not isinstance(source, tuple | list) or len(source) != 2:
        raise TypeError(
            "source must be a function source(random_state) that returns X and y, or a pair "
            f"(X, y); got {type(source).__name__}."
        )
    if function is not None or X_test is not None:
        raise ValueError(
            "function and X_test are for a generator of data sets; bootstrap samples of one data "
            "set have out-of-bag rows. Give a function source(random_state) instead of (X, y)."
        )
    return source[0], _check_target(source[1])


def _check_target(y: Any) -> Vector:
    target = np.asarray(y, dtype=np.float64)
    if target.ndim != 1 or not np.isfinite(target).all():
        raise ValueError(
            f"{NAME} needs one finite target per row; got y of shape {target.shape}"
            f"{'' if target.ndim != 1 else ' with NaN or infinite values'}."
        )
    return target


def _decompose_by_generator(
    estimator: Any,
    make: Callable[[int], Any],
    function: Callable[[Any], Any],
    X_test: Any,
    noise_variance: Any,
    n_fits: int,
    name: str,
    n_jobs: int | None,
    random_state: Any,
) -> BiasVariance:
    largest = np.iinfo(np.int32).max
    seeds = check_random_state(random_state).randint(largest, size=n_fits + 1).tolist()
    points = _generate(make, seeds[-1])[0] if X_test is None else X_test
    points = points if hasattr(points, "shape") else np.asarray(points)
    truth = _evaluate("function", function, points)
    found = Parallel(n_jobs=n_jobs)(
        delayed(_fit_data_set)(estimator, make, function, points, seed) for seed in seeds[:-1]
    )
    predictions = np.array([each for each, _ in found])
    squares = np.array([each for _, each in found])
    noise = np.full(len(truth), squares.mean())
    if noise_variance is not None:
        noise = _given_noise(noise_variance, points, len(truth))
        squares = np.full(n_fits, noise.mean())
    return make_result(
        name, points, predictions, truth, noise, noise_of_fits=squares, is_separated=True
    )


def _generate(make: Callable[[int], Any], seed: int) -> tuple[Any, Vector]:
    """Return the inputs and targets of a data set."""
    made = make(seed)
    if not isinstance(made, tuple | list) or len(made) < 2:
        raise TypeError(f"source(random_state) must return X and y; got {type(made).__name__}.")
    X, y = made[0], _check_target(made[1])
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if n_rows != len(y):
        raise ValueError(
            f"source(random_state) must return as many rows of X as targets; got {n_rows} and "
            f"{len(y)}."
        )
    return X, y


def _evaluate(name: str, function: Callable[[Any], Any], X: Any) -> Vector:
    """Evaluate a function at inputs, and check that it returns one finite value for each."""
    values = np.asarray(function(X), dtype=np.float64)
    if values.shape != (X.shape[0],) or not np.isfinite(values).all():
        raise ValueError(
            f"{name} must return one finite value per input, shape ({X.shape[0]},); got shape "
            f"{values.shape}{'' if np.isfinite(values).all() else ' with other values'}."
        )
    return values


def _given_noise(noise_variance: Any, X: Any, n_points: int) -> Vector:
    if callable(noise_variance):
        values = _evaluate("noise_variance", noise_variance, X)
        if (values < 0.0).any():
            raise ValueError(
                f"noise_variance must return non-negative values; got {values.min():.4g}."
            )
        return values
    value = check_positive(
        "noise_variance", noise_variance, allow_zero=True, also="or a function of the inputs"
    )
    return np.full(n_points, value)


def _fit_data_set(
    estimator: Any, make: Callable[[int], Any], function: Any, points: Any, seed: int
) -> tuple[Vector, float]:
    """Fit to one data set; return predictions, and the mean square of the noise."""
    X, y = _generate(make, seed)
    noise = y - _evaluate("function", function, np.asarray(X) if isinstance(X, list) else X)
    prediction = _predict(refit(estimator, X, y), points)
    return prediction, float(np.mean(noise**2))


def _predict(fitted: Any, X: Any) -> Vector:
    """Return predictions, one finite number for each row."""
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    owner = type(get_final_estimator(fitted)).__name__
    predictions: Vector = check_predictions(owner, "target", fitted.predict(X), n_rows)
    return predictions


def decompose_by_bootstrap(
    estimator: Any,
    X: Any,
    y: Vector,
    *,
    n_fits: int,
    seed: int,
    noise_variance: Any = None,
    fix_kernel: bool = False,
    fit_params: dict[str, Any],
    name: str,
    fitted: Any = None,
    n_jobs: int | None = None,
) -> BiasVariance | None:
    """Decompose the out-of-bag error of fits to bootstrap samples.

    None if no row was out of bag at least twice. `fitted` is the estimator, fitted to all rows, if
    it is at hand.

    Raises
    ------
    RefitError
        If the model cannot be fitted to bootstrap samples.
    """
    n_rows, model, is_fixed = len(y), estimator, False
    if is_ours(estimator) and (fix_kernel or noise_variance is None):
        fitted = clone(estimator).fit(X, y, **fit_params) if fitted is None else fitted
    if fix_kernel:
        model, is_fixed = fix_learnt_kernel(fitted)
    # A separate random stream: data generated with the same seed would otherwise be resampled
    # by the very numbers they consist of.
    rng = np.random.default_rng([seed, *BOOTSTRAP_STREAM])
    counts = rng.multinomial(n_rows, np.full(n_rows, 1.0 / n_rows), size=n_fits)
    predictions = np.array(
        Parallel(n_jobs=n_jobs)(
            delayed(_fit_bootstrap_sample)(model, X, y, each, fit_params) for each in counts
        )
    )
    used = np.count_nonzero(counts == 0, axis=0) > 1
    if not used.any():
        return None
    points = _safe_indexing(X, np.flatnonzero(used))
    if noise_variance is not None:
        noise = _given_noise(noise_variance, points, int(used.sum()))
    else:
        noise = np.full(n_rows, _estimate_noise(fitted, X, fit_params, n_rows))[used]
    return make_result(
        name,
        points,
        predictions[:, used],
        y[used],
        noise,
        noise_of_fits=np.full(n_fits, noise.mean()),
        is_separated=False,
        kernel_fixed=is_fixed,
    )


def _fit_bootstrap_sample(
    model: Any, X: Any, y: Vector, count: Any, fit_params: dict[str, Any]
) -> Vector:
    """Fit to a bootstrap sample; return predictions of the rows that are not in it, else NaN."""
    if is_ours(model) and not isinstance(model, Pipeline):
        # A row that is drawn k times has frequency weight k, so the candidate basis functions do
        # not change.
        given = fit_params.get("sample_weight")
        weight = count.astype(np.float64) if given is None else count * np.asarray(given)
        fit = refit(model, X, y, **{**fit_params, "sample_weight": weight})
    else:
        rows = np.repeat(np.arange(len(y)), count)
        options = select_params(fit_params, rows, len(y))
        fit = refit(model, _safe_indexing(X, rows), y[rows], **options)
    prediction = _predict(fit, X)
    return np.where(count == 0, prediction, np.nan)


def _estimate_noise(fitted: Any, X: Any, fit_params: dict[str, Any], n_rows: int) -> Any:
    """Return the noise variance that a model estimated, in units of the target; NaN if it did not.

    One number, or one for each row.
    """
    if fitted is None or not len(getattr(get_final_estimator(fitted), "outputs_", ())):
        return np.nan
    model, inputs = get_final_estimator(fitted), transform_inputs(fitted, X)
    output = model.outputs_[0]
    if has_simple_noise(output) and output.transform is None:
        return float(model.noise_variance_)
    # The noise of a transformed target depends on the inputs too: var(y | f), averaged over f, is
    # var y - var E(y | f).
    rows = {
        name.rpartition("__")[2]: value
        for name, value in fit_params.items()
        if name.rpartition("__")[2] == "noise_variance" and np.shape(value) == (n_rows,)
    }
    total = model.predict(inputs, return_std=True, **rows)[1]
    function = model.predict(inputs, return_std=True, include_noise=False)[1]
    variances: Matrix = total**2 - function**2
    return variances
