"""Comparison of models on the same rows: refits to every fold, evidence, verdict."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.parallel import Parallel, delayed

from relvec._compat import take_rows
from relvec._typing import ArrayLike, Vector
from relvec.comparing.assemble import build_comparison
from relvec.comparing.evidences import Evidences, measure_evidences
from relvec.comparing.inputs import (
    check_target,
    check_weight,
    find_task,
    name_models,
    read_prior,
)
from relvec.comparing.result import ModelComparison
from relvec.comparing.row_scores import score_rows
from relvec.comparing.splits import describe_rows, make_folds
from relvec.comparing.statistics import FoldScores

__all__ = ["compare_models"]


def compare_models(
    models: Any,
    X: Any,
    y: ArrayLike,
    *,
    cv: Any = 5,
    n_splits: int = 5,
    horizon: int | None = None,
    sample_weight: ArrayLike | None = None,
    prior: Any = None,
    n_jobs: int | None = None,
    random_state: Any = 0,
) -> ModelComparison:
    """Compare models by held-out rows and by evidence, and say which is the best, if any.

    Every model is cloned, and fitted to the training rows of every fold: structure, length-scales,
    noise, everything. Its predictive densities of held-out rows are compared with those of the best
    predictor row by row. It is also fitted to all rows, for its evidence and size.

    Parameters
    ----------
    models : mapping of str to estimator, or sequence of estimators or pairs (name, estimator)
        Regressors, or classifiers, of relvec or scikit-learn, or pipelines that end in one. They
        are not changed. Without names they have those of their classes.
    X : array-like or data frame of shape (n_samples, n_features)
        Inputs.
    y : array-like of shape (n_samples,)
        Targets or classes.
    cv : int, "rolling", splitter or list of pairs, default=5
        Which rows are held out: a number of shuffled folds (stratified by class); "rolling" for
        the rows after each of `n_splits` origins in the order of the first column of `X`, such as
        time, with all rows before the origin as training rows; a splitter of scikit-learn, such as
        ``TimeSeriesSplit()``, which is applied to the rows in the order they have; or a list of
        pairs, the training rows and the held-out rows of each fold, as row numbers or masks.
    n_splits : int, default=5
        Number of origins if `cv` is "rolling".
    horizon : int, optional
        Rows held out after each origin if `cv` is "rolling". Default, such that the first training
        window is half of the rows.
    sample_weight : array-like of shape (n_samples,), optional
        Frequency weights, for fits, scores and evidence.
    prior : mapping of str to float, or sequence of float, optional
        Prior probabilities of the models, up to a factor. Default, equal probabilities.
    n_jobs : int, optional
        Number of parallel jobs, as in scikit-learn.
    random_state : int, RandomState instance or None, default=0
        Seed of the shuffled folds.

    Returns
    -------
    comparison : ModelComparison
        Results of all models and the verdict; `relvec.plotting.ModelComparisonDisplay` plots them.

    Warns
    -----
    UserWarning
        If the evidence is highest for a model that predicts held-out rows distinctly worse than
        another.

    Notes
    -----
    Held-out rows decide first: a model is worse than the best predictor if its mean log predictive
    density (MLPD) is lower by more than two standard errors of the paired difference. Rows that
    share a training set are not independent, and neither are folds whose training sets overlap;
    the variance of a mean over `K` folds is ``(1 / K + n_test / n_train) max(S^2, s^2 / n_test)``,
    with the variance `S^2` between folds and `s^2` between rows (Nadeau & Bengio 2003).

    Models that remain are told apart by their posterior probability, if that of one of them is at
    least .9 and its MLPD is within one standard error of the best; otherwise the comparison is
    undecided. Probabilities come from the *tied evidence*:
    that of the same basis and length-scales with one precision for each basis, less ``0.5 log N``
    for every hyper-parameter that was fitted, which are these precisions, learnt length-scales and
    kernel parameters, the noise variance, and further parameters of noise and transform. The
    evidence with a precision for every basis function never decreases when basis functions are
    added, so that it cannot be compared between dictionaries of different size.

    References
    ----------
    C. Nadeau, Y. Bengio (2003), Inference for the generalization error, Machine Learning 52.

    G. Schwarz (1978), Estimating the dimension of a model, Annals of Statistics 6.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec import RVMRegressor, SparseBayesRegressor, compare_models
    >>> from relvec.bases import LinearBasis
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-5, 5, size=(60, 1))
    >>> y = 0.5 * X[:, 0] + 0.3 * rng.normal(size=60)
    >>> models = {"line": SparseBayesRegressor(LinearBasis()), "kernels": RVMRegressor(gamma=1.0)}
    >>> comparison = compare_models(models, X, y)
    >>> print(comparison.verdict.text)
    line is the best of these models. ...
    """
    named = name_models(models)
    task = find_task(named)
    target = check_target(y, X, task)
    weight = check_weight(sample_weight, target)
    probabilities = read_prior(prior, list(named))
    folds = make_folds(
        cv,
        X,
        target,
        is_classification=task == "classification",
        n_splits=n_splits,
        horizon=horizon,
        random_state=random_state,
    )
    data = _Rows(X, target, weight)
    pairs = [(name, fold) for name in named for fold in folds]
    scores = Parallel(n_jobs=n_jobs)(
        delayed(_score_fold)(name, named[name], data, *fold) for name, fold in pairs
    )
    fits = Parallel(n_jobs=n_jobs)(
        delayed(_fit_all)(name, model, data) for name, model in named.items()
    )
    comparison = build_comparison(
        task,
        {name: scores[i * len(folds) :][: len(folds)] for i, name in enumerate(named)},
        describe_rows(folds, weight),
        {name: evidences for name, (_, evidences) in zip(named, fits, strict=True)},
        prior=probabilities,
        n_rows=len(target),
        folds=_describe_folds(cv, len(folds)),
        estimators={name: fitted for name, (fitted, _) in zip(named, fits, strict=True)},
    )
    for each in comparison.disagreements:
        warnings.warn(each, UserWarning, stacklevel=2)
    return comparison


class _Rows(NamedTuple):
    """Inputs, targets and weights."""

    X: Any
    y: np.ndarray
    weight: Vector | None


def _score_fold(name: str, model: Any, data: _Rows, train: Any, test: Any) -> FoldScores:
    """Fit a model to the training rows of a fold, and score the held-out rows."""
    is_pairwise = bool(get_tags(model).input_tags.pairwise)
    columns = train if is_pairwise else None
    weight = None if data.weight is None else data.weight[train]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of the fit to all rows are shown
        try:
            fitted = _fit(clone(model), take_rows(data.X, train, columns), data.y[train], weight)
            return score_rows(fitted, take_rows(data.X, test, columns), data.y[test])
        except Exception as error:
            error.add_note(f"compare_models fitted {name!r} to {len(train)} training rows.")
            raise


def _fit_all(name: str, model: Any, data: _Rows) -> tuple[Any, Evidences]:
    """Fit a model to all rows, and measure its evidences."""
    try:
        fitted = _fit(clone(model), data.X, data.y, data.weight)
        return fitted, measure_evidences(fitted, data.X, data.y, data.weight)
    except Exception as error:
        error.add_note(f"compare_models fitted {name!r} to all rows.")
        raise


def _fit(model: Any, X: Any, y: np.ndarray, weight: Vector | None) -> Any:
    if weight is None:
        return model.fit(X, y)
    is_pipeline = isinstance(model, Pipeline)
    name = f"{model.steps[-1][0]}__sample_weight" if is_pipeline else "sample_weight"
    return model.fit(X, y, **{name: weight})


def _describe_folds(cv: Any, n_folds: int) -> str:
    if isinstance(cv, str):
        return f"{n_folds} rolling origins"
    if isinstance(cv, list):
        return f"{n_folds} given folds"
    if hasattr(cv, "split"):
        return f"{n_folds} folds of {type(cv).__name__}"
    return f"{n_folds} shuffled folds"
